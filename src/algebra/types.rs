//! Value types as data, and words: values whose type is erased.

use std::mem::MaybeUninit;

use crate::{Error, Result};

/// Calls a macro with the given tokens, followed by each value type of a class as `Variant type`:
/// `for_each_type!(integers, table!(x,))`. The classes are `integers`, `floats`, `complex`; `bits`, integers and bool;
/// `reals`, integers and floats; `ordered`, these and bool; `numbers`, all of them.
macro_rules! for_each_type {
    (integers, $then:ident!($($before:tt)*)) => {
        $then! { $($before)*
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64 }
    };
    (floats, $then:ident!($($before:tt)*)) => {
        $then! { $($before)*
            F32 f32, F64 f64 }
    };
    (complex, $then:ident!($($before:tt)*)) => {
        $then! { $($before)*
            ComplexF32 $crate::num_complex::Complex<f32>, ComplexF64 $crate::num_complex::Complex<f64> }
    };
    (bits, $then:ident!($($before:tt)*)) => {
        $then! { $($before)*
            Bool bool,
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64 }
    };
    (reals, $then:ident!($($before:tt)*)) => {
        $then! { $($before)*
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F32 f32, F64 f64 }
    };
    (ordered, $then:ident!($($before:tt)*)) => {
        $then! { $($before)*
            Bool bool,
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F32 f32, F64 f64 }
    };
    (numbers, $then:ident!($($before:tt)*)) => {
        $then! { $($before)*
            Bool bool,
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F32 f32, F64 f64,
            ComplexF32 $crate::num_complex::Complex<f32>, ComplexF64 $crate::num_complex::Complex<f64> }
    };
}
pub(crate) use for_each_type;

/// The type of a value: one of the eleven GraphBLAS types, a complex number, or a struct defined by
/// [`value!`](crate::value!).
///
/// ```
/// use sparring::algebra::{Type, Value};
/// assert_eq!((f64::TYPE, f64::TYPE.name(), f64::TYPE.size()), (Type::F64, "f64", 8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    /// Two f32.
    ComplexF32,
    /// Two f64.
    ComplexF64,
    /// A struct, by its definition.
    Struct(&'static StructType),
}

/// A struct of scalars as a type.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    /// Its name, in Rust and on the device.
    pub name: &'static str,
    /// Name, type and byte offset of each field, in order.
    pub fields: &'static [(&'static str, Type, usize)],
    /// Size in bytes.
    pub size: usize,
    /// Alignment.
    pub align: usize,
}

impl Type {
    /// All types except structs: bool, signed and unsigned integers, floats, complex numbers.
    pub const ALL: &'static [Type] = {
        use Type::{Bool, ComplexF32, ComplexF64, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        &[Bool, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, ComplexF32, ComplexF64]
    };
    /// The ordered types, which are those of the GraphBLAS specification.
    pub const ORDERED: &'static [Type] = Self::ALL.split_at(11).0;
    /// Its name in Rust.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::ComplexF32 => "complex_f32",
            Self::ComplexF64 => "complex_f64",
            Self::Struct(s) => s.name,
        }
    }
    /// Its name in CUDA C++.
    #[must_use]
    pub const fn cuda(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "signed char",
            Self::I16 => "short",
            Self::I32 => "int",
            Self::I64 => "long long",
            Self::U8 => "unsigned char",
            Self::U16 => "unsigned short",
            Self::U32 => "unsigned int",
            Self::U64 => "unsigned long long",
            Self::F32 => "float",
            Self::F64 => "double",
            Self::ComplexF32 => "sr::complex<float>",
            Self::ComplexF64 => "sr::complex<double>",
            Self::Struct(s) => s.name,
        }
    }
    /// Whether it is an integer, signed or not.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        self.is_signed() && !matches!(self, Self::F32 | Self::F64)
            || matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::U64)
    }
    /// Whether it has negative numbers: a signed integer or a float.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::F32 | Self::F64)
    }
    /// Size of a value in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::ComplexF32 => 8,
            Self::ComplexF64 => 16,
            Self::Struct(s) => s.size,
        }
    }
    /// Whether it is a struct whose field `index` has type `of`; a constant expression can compare size and name only.
    pub(crate) const fn has_field(self, index: usize, of: Type) -> bool {
        let Self::Struct(s) = self else { return false };
        if index >= s.fields.len() {
            return false;
        }
        let ((_, ty, _), mut i) = (s.fields[index], 0);
        let (a, b) = (ty.name().as_bytes(), of.name().as_bytes());
        while i < a.len() && i < b.len() && a[i] == b[i] {
            i += 1;
        }
        i == a.len() && i == b.len() && ty.size() == of.size()
    }
    /// Whether it is a struct of exactly these fields; compared as by [`has_field`](Self::has_field).
    pub(crate) const fn has_fields(self, of: &[Type]) -> bool {
        let Self::Struct(s) = self else { return false };
        let mut i = 0;
        while i < of.len() {
            if !self.has_field(i, of[i]) {
                return false;
            }
            i += 1;
        }
        s.fields.len() == of.len()
    }
    /// Alignment of a value.
    #[must_use]
    pub const fn align(self) -> usize {
        match self {
            Self::Struct(s) => s.align,
            Self::ComplexF32 | Self::ComplexF64 => self.size() / 2,
            _ => self.size(),
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Type {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|t| t.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|t| t.name()).collect();
            Error::Unsupported { what: format!("value type '{name}'"), why: format!("known are {}", known.join(", ")) }
        })
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type-erased value: an array of units of the value's alignment. Words can only be copied. Code that moves values
/// without computing on them is compiled for words, once per size.
pub trait Word: sealed::Sealed + Copy + Send + Sync + 'static {}

/// An unsigned integer whose size equals its alignment.
pub trait Unit: sealed::Sealed + Copy + Send + Sync + 'static {}
impl<U: Unit, const N: usize> sealed::Sealed for [MaybeUninit<U>; N] {}
impl<U: Unit, const N: usize> Word for [MaybeUninit<U>; N] {}

/// The unit of an alignment.
pub trait HasUnit {
    /// The unit.
    type Unit: Unit;
}
/// An alignment as a type.
#[derive(Clone, Copy, Debug)]
pub struct Aligned<const ALIGN: usize>;

macro_rules! units {
    ($($align:literal $unit:ident;)*) => {$(
        impl sealed::Sealed for $unit {}
        impl Unit for $unit {}
        impl HasUnit for Aligned<$align> {
            type Unit = $unit;
        }
    )*};
}
units! { 1 u8; 2 u16; 4 u32; 8 u64; }

/// The word type for this size and alignment.
pub type WordOf<const ALIGN: usize, const UNITS: usize> = [MaybeUninit<<Aligned<ALIGN> as HasUnit>::Unit>; UNITS];
