//! Value types: their codes in C, and the caller's arrays of values.

use std::ffi::c_void;
use std::sync::Arc;

use sparring::algebra::{Array, Slice, Type};
use sparring::num_complex::Complex;
use sparring::par::{Storage, filled};
use sparring::runtime::Matrix;
use sparring::{Csr, Pattern};

use crate::guard::{Fail, Fallible};
use crate::memory::{check_any, choice, copied, input, output, possible};

/// Type of the values of a matrix.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringType {
    /// bool, or any one-byte type in which 0 is false.
    SPARRING_BOOL = 1,
    /// int8_t; sums and products of integers wrap.
    SPARRING_I8 = 2,
    /// uint8_t.
    SPARRING_U8 = 3,
    /// int16_t.
    SPARRING_I16 = 4,
    /// uint16_t.
    SPARRING_U16 = 5,
    /// int32_t.
    SPARRING_I32 = 6,
    /// uint32_t.
    SPARRING_U32 = 7,
    /// int64_t.
    SPARRING_I64 = 8,
    /// uint64_t.
    SPARRING_U64 = 9,
    /// float.
    SPARRING_F32 = 10,
    /// double.
    SPARRING_F64 = 11,
    /// float _Complex, std::complex<float>: two floats.
    SPARRING_COMPLEX_F32 = 12,
    /// double _Complex, std::complex<double>: two doubles.
    SPARRING_COMPLEX_F64 = 13,
}

use SparringType::*;

macro_rules! types {
    ($($variant:ident $t:ty, $code:ident, $foreign:ty, $from:expr;)*) => {
        /// The types available in C.
        pub(crate) const TYPES: &[Type] = &[$(Type::$variant),*];
        /// The type of a code, checked.
        pub(crate) fn value_type(code: u32) -> Fallible<Type> {
            type_of("type", code)
        }
        /// The same for the argument of that name.
        pub(crate) fn type_of(name: &'static str, code: u32) -> Fallible<Type> {
            choice(name, code, &[$(($code as u32, Type::$variant)),*])
        }
        /// The code of a type; 0 if it does not exist in C.
        pub(crate) fn code(ty: Type) -> u32 {
            match ty {
                $(Type::$variant => $code as u32,)*
                Type::Struct(_) => 0,
            }
        }
        /// The name of a type in C.
        pub(crate) fn named(ty: Type) -> &'static str {
            match ty {
                $(Type::$variant => stringify!($code),)*
                Type::Struct(of) => of.name,
            }
        }
        /// A copy of the caller's values.
        /// # Safety
        /// As for [`input`], of that type.
        pub(crate) unsafe fn input_values(ty: Type, p: *const c_void, len: usize) -> Fallible<Array> {
            match ty {
                $(Type::$variant => {
                    // SAFETY: the caller's promise; every bit pattern is a number, and a C bool is read as a byte.
                    let values = unsafe { input(p.cast::<$foreign>(), len, "values")? };
                    Ok(Array::of(copied::<$t, $foreign>(values, "values", $from)?))
                })*
                Type::Struct(of) => Err(Fail::of_type("values", format!("{} is not a C type", of.name))),
            }
        }
        /// The caller's values without a copy; bool is copied.
        /// # Safety
        /// As for [`input`], of that type, during `'a`.
        pub(crate) unsafe fn lent_values<'a>(
            ty: Type,
            p: *const c_void,
            len: usize,
            name: &'static str,
        ) -> Fallible<Values<'a>> {
            if ty == Type::Bool {
                // SAFETY: the caller's promise, for bytes.
                let bytes = unsafe { input(p.cast::<u8>(), len, name)? };
                return Ok(Values::Own(Array::of(copied(bytes, name, |x| x != 0)?)));
            }
            match ty {
                $(Type::$variant => {
                    // SAFETY: the caller's promise; every bit pattern is a number, and bool was above.
                    Ok(Values::Lent(Slice::of(unsafe { input(p.cast::<$t>(), len, name)? })))
                })*
                Type::Struct(of) => Err(Fail::of_type(name, format!("{} is not a C type", of.name))),
            }
        }
        /// Values of a matrix over the caller's array, which `lent` owns.
        /// # Safety
        /// `p` points to `len` values of that type, not written until `lent` is dropped, unless it is NULL or badly
        /// aligned.
        pub(crate) unsafe fn foreign_values<L: Send + Sync + 'static>(
            ty: Type,
            p: *const c_void,
            len: usize,
            lent: L,
            pattern: Arc<Pattern>,
        ) -> Fallible<Matrix> {
            if ty == Type::Bool {
                // SAFETY: the caller's promise, for bytes.
                check_bools(unsafe { input(p.cast::<u8>(), len, "values")? })?;
            }
            match ty {
                $(Type::$variant => {
                    check_any(p.cast::<$t>(), len, "values")?;
                    // SAFETY: 1. aligned and not too large by `check_any`; 2. valid, alive and unmodified by the
                    // caller's promise; 3. every bit pattern is a number, and bytes of bools were checked.
                    let values = unsafe { Storage::foreign(p.cast::<$t>(), len, lent) };
                    Ok(Csr::with_storage(pattern, values)?.into())
                })*
                Type::Struct(of) => Err(Fail::of_type("values", format!("{} is not a C type", of.name))),
            }
        }
        /// A zeroed array for C to fill, and its address.
        pub(crate) fn zeros(ty: Type, len: usize) -> Fallible<(Array, *mut c_void)> {
            match ty {
                $(Type::$variant => {
                    possible::<$t>(len, "nnz")?;
                    let mut values = filled(len, <$foreign>::default(), "values")?;
                    let at = values.as_mut_ptr().cast();
                    Ok((Array::of(values), at))
                })*
                Type::Struct(of) => Err(Fail::of_type("type", format!("{} is not a C type", of.name))),
            }
        }
        /// Copies the values into the caller's array.
        /// # Safety
        /// As for [`output`], of the type of the values.
        pub(crate) unsafe fn output_values(values: Slice<'_>, p: *mut c_void, capacity: u64) -> Fallible {
            $(if let Some(values) = values.get::<$t>() {
                // SAFETY: the caller's promise.
                return unsafe { output(values, p.cast::<$t>(), capacity, "values") };
            })*
            Ok(())
        }
    };
}
types! {
    Bool bool, SPARRING_BOOL, u8, |x| x != 0;
    I8 i8, SPARRING_I8, i8, |x| x;
    U8 u8, SPARRING_U8, u8, |x| x;
    I16 i16, SPARRING_I16, i16, |x| x;
    U16 u16, SPARRING_U16, u16, |x| x;
    I32 i32, SPARRING_I32, i32, |x| x;
    U32 u32, SPARRING_U32, u32, |x| x;
    I64 i64, SPARRING_I64, i64, |x| x;
    U64 u64, SPARRING_U64, u64, |x| x;
    F32 f32, SPARRING_F32, f32, |x| x;
    F64 f64, SPARRING_F64, f64, |x| x;
    ComplexF32 Complex<f32>, SPARRING_COMPLEX_F32, Complex<f32>, |x| x;
    ComplexF64 Complex<f64>, SPARRING_COMPLEX_F64, Complex<f64>, |x| x;
}

/// The address of the values.
pub(crate) fn address(values: Slice<'_>) -> *const c_void {
    values.as_ptr().cast()
}

/// The caller's values, or a copy of them.
pub(crate) enum Values<'a> {
    Own(Array),
    Lent(Slice<'a>),
}

impl Values<'_> {
    pub(crate) fn slice(&self) -> Slice<'_> {
        match self {
            Self::Own(values) => values.slice(),
            Self::Lent(values) => *values,
        }
    }
}

/// Rejects bytes other than 0 and 1.
fn check_bools(bytes: &[u8]) -> Fallible {
    match bytes.iter().position(|&byte| byte > 1) {
        None => Ok(()),
        Some(p) => Err(Fail::argument("values", format!("byte {p} is {}, neither 0 nor 1", bytes[p]))),
    }
}

/// The values that C has written to [`zeros`], without a copy.
pub(crate) fn written(ty: Type, values: Array) -> Array {
    match values.into_vec::<u8>() {
        // Bytes become bools in place: the standard library collects in place for equal sizes.
        Ok(bytes) if ty == Type::Bool => Array::of(bytes.into_iter().map(|byte| byte != 0).collect::<Vec<bool>>()),
        Ok(bytes) => Array::of(bytes),
        Err(values) => values,
    }
}

/// Rejects values of another type than the first operand.
pub(crate) fn same_type(other: (&str, &Matrix), first: (&str, &Matrix)) -> Fallible {
    let (found, expected) = (other.1.ty(), first.1.ty());
    if found == expected {
        return Ok(());
    }
    let message = format!("values are {}, those of {} are {}", named(found), first.0, named(expected));
    Err(Fail::of_type(other.0, message))
}
