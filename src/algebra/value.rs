//! Value types of sparse matrices, and their arithmetic.
//!
//! Integers wrap. [`minimum`](Num::minimum) and [`maximum`](Num::maximum) are defined by the comparison `b < a`, not by
//! IEEE's fmin, so that CPU and GPU agree bitwise. Division of integers is total: x/0 is 0 for x = 0, otherwise the
//! largest or smallest value by the sign of x. Conversion between numbers is Rust's `as`: integers wrap, floats are
//! truncated towards zero and saturate, NaN becomes 0; any number but 0 is `true`.

use std::fmt::Debug;

use num_complex::Complex;
use num_traits::Float;

use super::types::{Type, Word, WordOf};

/// A value type. [`value!`](crate::value!) defines custom structs.
///
/// # Safety
/// `TYPE` must have the size, the alignment and, for a struct, the fields of this type (`#[repr(C)]`), and `Word` its
/// size and alignment: arrays of words are reinterpreted as arrays of values, and device code relies on `TYPE`. `CUDA`
/// must keep its default or an equivalent name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a sparse matrix",
    label = "not a scalar type",
    note = "bool, the integers i8 to u64, f32, f64 and Complex are; `sparring::value! {{ struct Name {{ field: f64 }} }}` makes one of a struct"
)]
pub unsafe trait Value: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// The type as data.
    const TYPE: Type;
    /// The type-erased value.
    type Word: Word;
    /// Name of the type in CUDA C++.
    const CUDA: &'static str = Self::TYPE.cuda();
}

/// The intermediate of a conversion between number types.
///
/// Widening is exact, so `a as wide as b` equals `a as b`, rounded once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wide {
    /// From a signed integer.
    Signed(i64),
    /// From an unsigned integer or bool.
    Unsigned(u64),
    /// From a float.
    Float(f64),
}

/// A type with addition and multiplication: numbers, bool as the two-element lattice, complex numbers. Arithmetic
/// wraps.
///
/// The operators `+ − · /` in operator bodies mean these functions. Rust's own operators panic at an overflow and are
/// not defined for bool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not support arithmetic",
    label = "neither a number, nor bool, nor complex",
    note = "bool, the integers i8 to u64, f32, f64, Complex<f32> and Complex<f64> have it; of a struct made by `value!`, compute with \
            the fields"
)]
pub trait Number: Value + Default {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// a + b, wrapping (bool: or).
    fn wrapping_add(self, b: Self) -> Self;
    /// a + b, `None` on integer overflow (bool: or).
    #[inline(always)]
    fn checked_add(self, b: Self) -> Option<Self> {
        Some(self.wrapping_add(b))
    }
    /// a − b, wrapping (bool: xor).
    fn wrapping_sub(self, b: Self) -> Self;
    /// a · b, wrapping (bool: and).
    fn wrapping_mul(self, b: Self) -> Self;
    /// a / b, total (bool: a).
    fn total_div(self, b: Self) -> Self;
    /// −a, wrapping (bool: a).
    fn wrapping_neg(self) -> Self;
    /// Converts a real number: saturating for integers, NaN becomes 0; for bool, x ≠ 0.
    fn from_f64(x: f64) -> Self;
    /// Converts an integer, wrapping; for bool, x ≠ 0.
    fn from_i32(x: i32) -> Self;
    /// Whether [`multiply_add`](Self::multiply_add) is fused, rounded once: for f32 and f64.
    const FUSED: bool = false;
    /// a · b + c; rounded once for f32 and f64.
    #[inline(always)]
    fn multiply_add(self, b: Self, c: Self) -> Self {
        self.wrapping_mul(b).wrapping_add(c)
    }
}

/// An ordered number type: all except complex numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an ordered number",
    label = "this needs a type of numbers with an order",
    note = "bool, the integers i8 to u64, f32 and f64 are such types; complex numbers and structs have no order: use operators and \
            semirings that need none, such as `PlusTimes`"
)]
pub trait Num: Number + PartialOrd {
    /// Identity of min: +∞ for floats, else the largest value.
    const TOP: Self;
    /// Identity of max: −∞ for floats, else the smallest value.
    const BOTTOM: Self;
    /// |a|, wrapping.
    fn wrapping_abs(self) -> Self;
    /// |a − b|: the difference of the larger and the smaller, wrapping (bool: xor).
    fn abs_diff(self, b: Self) -> Self;
    /// `b` if b < a, else `a`.
    #[inline(always)]
    fn minimum(self, b: Self) -> Self {
        if b < self { b } else { self }
    }
    /// `b` if a < b, else `a`.
    #[inline(always)]
    fn maximum(self, b: Self) -> Self {
        if self < b { b } else { self }
    }
    /// Converts an index or a count, wrapping.
    fn from_index(i: u64) -> Self;
    /// As f64, for checks and printing.
    fn as_f64(self) -> f64;
    /// The first step of a conversion.
    fn widen(self) -> Wide;
    /// The second step of a conversion.
    fn narrow(x: Wide) -> Self;
    /// Converts to another number type, as by `as`; to bool, x ≠ 0 (so NaN is true).
    #[inline(always)]
    fn cast<U: Num>(self) -> U {
        U::narrow(self.widen())
    }
}

/// Types with `&`, `|`, `^`, `!`: bitwise for integers, logical for bool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no bits to combine",
    label = "this needs an integer or bool",
    note = "`&`, `|`, `^` and `!` exist for bool and the integers i8 to u64"
)]
pub trait Bits: Num {
    /// Every bit set: identity of `&`; for bool, true.
    const ONES: Self;
    /// a & b.
    fn bit_and(self, b: Self) -> Self;
    /// a | b.
    fn bit_or(self, b: Self) -> Self;
    /// a ^ b.
    fn bit_xor(self, b: Self) -> Self;
    /// !a.
    fn bit_not(self) -> Self;
}

/// An integer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer",
    label = "this needs one of i8 to u64",
    note = "for bool use `Lor`, `Land`, `Lxor`, `Lxnor` in place of the bitwise operators"
)]
pub trait Int: Bits {}

/// A floating-point number, with the functions of [`num_traits::Float`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a real number",
    label = "this needs f32 or f64",
    note = "roots, logarithms and powers exist for f32 and f64: convert with `Cast`, or with `.cast::<f64>()` in the formula"
)]
pub trait Real: Num + Float {
    /// a ln a, 0 for 0; within 4 units in the last place of ln a, times a.
    fn x_ln_x(self) -> Self;
}

macro_rules! bits {
    ($t:ty, $ones:expr) => {
        impl Bits for $t {
            const ONES: Self = $ones;
            #[inline(always)]
            fn bit_and(self, b: Self) -> Self {
                self & b
            }
            #[inline(always)]
            fn bit_or(self, b: Self) -> Self {
                self | b
            }
            #[inline(always)]
            fn bit_xor(self, b: Self) -> Self {
                self ^ b
            }
            #[inline(always)]
            fn bit_not(self) -> Self {
                !self
            }
        }
    };
}
/// The second step of a conversion, for every number type but bool.
macro_rules! narrow {
    ($x:expr, $t:ty) => {
        match $x {
            Wide::Signed(x) => x as $t,
            Wide::Unsigned(x) => x as $t,
            Wide::Float(x) => x as $t,
        }
    };
}
macro_rules! int {
    ($($t:ident $variant:ident $wide:ident;)*) => {$(
        // SAFETY: the type is the one of that name, and the word is made of its size and alignment.
        unsafe impl Value for $t {
            const TYPE: Type = Type::$variant;
            type Word = WordOf<{ align_of::<Self>() }, 1>;
        }
        impl Number for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)] fn wrapping_add(self, b: Self) -> Self { self.wrapping_add(b) }
            #[inline(always)] fn checked_add(self, b: Self) -> Option<Self> { self.checked_add(b) }
            #[inline(always)] fn wrapping_sub(self, b: Self) -> Self { self.wrapping_sub(b) }
            #[inline(always)] fn wrapping_mul(self, b: Self) -> Self { self.wrapping_mul(b) }
            #[inline(always)] fn total_div(self, b: Self) -> Self {
                if b != 0 { self.wrapping_div(b) }
                else if self == 0 { 0 }
                else if self > 0 { <$t>::MAX }
                else { <$t>::MIN }
            }
            #[inline(always)] fn wrapping_neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)] fn from_f64(x: f64) -> Self { x as $t }
            #[inline(always)] fn from_i32(x: i32) -> Self { x as $t }
        }
        impl Num for $t {
            const TOP: Self = <$t>::MAX;
            const BOTTOM: Self = <$t>::MIN;
            #[inline(always)] #[allow(unused_comparisons)]
            fn wrapping_abs(self) -> Self { if self < 0 { self.wrapping_neg() } else { self } }
            #[inline(always)] fn abs_diff(self, b: Self) -> Self {
                if self < b { b.wrapping_sub(self) } else { self.wrapping_sub(b) }
            }
            #[inline(always)] fn from_index(i: u64) -> Self { i as $t }
            #[inline(always)] fn as_f64(self) -> f64 { self as f64 }
            #[inline(always)] fn widen(self) -> Wide { Wide::$wide(self.into()) }
            #[inline(always)] fn narrow(x: Wide) -> Self { narrow!(x, $t) }
        }
        impl Int for $t {}
        bits!($t, !0);
    )*};
}
int! {
    i8 I8 Signed;
    i16 I16 Signed;
    i32 I32 Signed;
    i64 I64 Signed;
    u8 U8 Unsigned;
    u16 U16 Unsigned;
    u32 U32 Unsigned;
    u64 U64 Unsigned;
}

/// The arithmetic of Rust's operators.
macro_rules! arithmetic {
    ($t:ty, $zero:expr, $one:expr, |$x:ident| $from:expr $(; $($more:tt)+)?) => {
        impl Number for $t {
            $($($more)+)?
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            #[inline(always)]
            fn wrapping_add(self, b: Self) -> Self {
                self + b
            }
            #[inline(always)]
            fn wrapping_sub(self, b: Self) -> Self {
                self - b
            }
            #[inline(always)]
            fn wrapping_mul(self, b: Self) -> Self {
                self * b
            }
            #[inline(always)]
            fn total_div(self, b: Self) -> Self {
                self / b
            }
            #[inline(always)]
            fn wrapping_neg(self) -> Self {
                -self
            }
            #[inline(always)]
            fn from_f64($x: f64) -> Self {
                $from
            }
            #[inline(always)]
            fn from_i32($x: i32) -> Self {
                $from
            }
        }
    };
}
macro_rules! real {
    ($($t:ident $variant:ident $complex:ident;)*) => {$(
        // SAFETY: the type is the one of that name, and the word is made of its size and alignment.
        unsafe impl Value for $t {
            const TYPE: Type = Type::$variant;
            type Word = WordOf<{ align_of::<Self>() }, 1>;
        }
        arithmetic!($t, 0.0, 1.0, |x| x as $t;
            const FUSED: bool = true;
            #[inline(always)]
            fn multiply_add(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            });
        impl Num for $t {
            const TOP: Self = <$t>::INFINITY;
            const BOTTOM: Self = <$t>::NEG_INFINITY;
            #[inline(always)] fn wrapping_abs(self) -> Self { self.abs() }
            #[inline(always)] fn abs_diff(self, b: Self) -> Self { (self - b).abs() }
            #[inline(always)] fn from_index(i: u64) -> Self { i as $t }
            #[inline(always)] fn as_f64(self) -> f64 { f64::from(self) }
            #[inline(always)] fn widen(self) -> Wide { Wide::Float(self.into()) }
            #[inline(always)] fn narrow(x: Wide) -> Self { narrow!(x, $t) }
        }
        impl Real for $t {
            #[inline(always)] fn x_ln_x(self) -> Self { super::log::$t(self) }
        }
        // SAFETY: a complex number is `repr(C)`, with its two parts in order.
        unsafe impl Value for Complex<$t> {
            const TYPE: Type = Type::$complex;
            type Word = WordOf<{ align_of::<$t>() }, 2>;
        }
        // num-complex uses the textbook formulas, with each operation rounded; `sr::complex` in `prelude.cuh` does the
        // same.
        arithmetic!(Complex<$t>, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), |x| Complex::new(x as $t, 0.0));
    )*};
}
real! {
    f32 F32 ComplexF32;
    f64 F64 ComplexF64;
}

// SAFETY: the type is the one of that name, and the word is made of its size and alignment.
unsafe impl Value for bool {
    const TYPE: Type = Type::Bool;
    type Word = WordOf<1, 1>;
}
impl Number for bool {
    const ZERO: Self = false;
    const ONE: Self = true;
    #[inline(always)]
    fn wrapping_add(self, b: Self) -> Self {
        self | b
    }
    #[inline(always)]
    fn wrapping_sub(self, b: Self) -> Self {
        self ^ b
    }
    #[inline(always)]
    fn wrapping_mul(self, b: Self) -> Self {
        self & b
    }
    #[inline(always)]
    fn total_div(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    fn wrapping_neg(self) -> Self {
        self
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x != 0.0
    }
    #[inline(always)]
    fn from_i32(x: i32) -> Self {
        x != 0
    }
}
impl Num for bool {
    const TOP: Self = true;
    const BOTTOM: Self = false;
    #[inline(always)]
    fn wrapping_abs(self) -> Self {
        self
    }
    #[inline(always)]
    fn abs_diff(self, b: Self) -> Self {
        self ^ b
    }
    #[inline(always)]
    fn from_index(i: u64) -> Self {
        i != 0
    }
    #[inline(always)]
    fn as_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
    #[inline(always)]
    fn widen(self) -> Wide {
        Wide::Unsigned(self.into())
    }
    #[inline(always)]
    fn narrow(x: Wide) -> Self {
        match x {
            Wide::Signed(x) => x != 0,
            Wide::Unsigned(x) => x != 0,
            Wide::Float(x) => x != 0.0,
        }
    }
}
bits!(bool, true);
