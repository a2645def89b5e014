//! Scalar types: what a sparse matrix may hold, and the arithmetic each kind has.
//!
//! Integers wrap. `min` and `max` are the comparison `b < a`, not IEEE's fmin, so that every machine
//! gives the same bits. Division of integers is total: x/0 is 0 for x = 0, otherwise the largest or
//! smallest value by sign. Conversion between numbers is Rust's `as`: integers wrap, a float becomes the
//! nearest integer towards zero that the type holds and NaN becomes 0; anything but 0 is `true`.

use std::fmt::Debug;

use num_complex::Complex;

use super::types::{Type, Word, WordOf};

/// A scalar type. [`value!`](crate::value!) makes one of a struct of your own.
///
/// # Safety
/// `TYPE` has the size, the alignment and, of a struct, the fields of this type (`#[repr(C)]`), and `Word` its size and
/// alignment: arrays of words are taken for arrays of values, and device code for what `TYPE` says.
pub unsafe trait Value: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// The type as data.
    const TYPE: Type;
    /// The memory of a value.
    type Word: Word;
    /// Name of the type in CUDA C++.
    const CUDA: &'static str = Self::TYPE.cuda();
    /// The value as a CUDA C++ expression.
    fn literal(self) -> String;
    /// Appends the CUDA C++ text that must stand before the type's first use, unless it is there already.
    ///
    /// Numbers need none; [`crate::value!`] writes it for a struct.
    fn define(_definitions: &mut Vec<String>) {}
}

/// A number on its way from one type to another.
///
/// Widening into it loses nothing, so that `a as wide as b` is `a as b`, rounded once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wide {
    /// From a signed integer.
    Signed(i64),
    /// From an unsigned integer or bool.
    Unsigned(u64),
    /// From a float.
    Float(f64),
}

/// A number (or bool, as the two-element lattice): ordered, with wrapping arithmetic.
pub trait Num: Value + PartialOrd + Default {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Identity of min: +∞ for floats, else the largest value.
    const TOP: Self;
    /// Identity of max: −∞ for floats, else the smallest value.
    const BOTTOM: Self;
    /// a + b, wrapping (bool: or).
    fn plus(self, b: Self) -> Self;
    /// a − b, wrapping (bool: xor).
    fn minus(self, b: Self) -> Self;
    /// a · b, wrapping (bool: and).
    fn times(self, b: Self) -> Self;
    /// a / b, total (bool: a).
    fn over(self, b: Self) -> Self;
    /// −a, wrapping (bool: a).
    fn negated(self) -> Self;
    /// |a|, wrapping.
    fn magnitude(self) -> Self;
    /// |a − b|: the difference of the larger and the smaller, wrapping (bool: xor).
    fn gap(self, b: Self) -> Self;
    /// `b` if b < a, else `a`.
    #[inline(always)]
    fn lesser(self, b: Self) -> Self {
        if b < self { b } else { self }
    }
    /// `b` if a < b, else `a`.
    #[inline(always)]
    fn greater(self, b: Self) -> Self {
        if self < b { b } else { self }
    }
    /// From a position or a count, wrapping.
    fn from_index(i: u64) -> Self;
    /// As f64, for checks and printing.
    fn to_f64(self) -> f64;
    /// From f64: saturating for integers, NaN becomes 0; for bool, x ≠ 0.
    fn from_f64(x: f64) -> Self;
    /// The first half of a conversion.
    fn widen(self) -> Wide;
    /// The second half of a conversion.
    fn narrow(x: Wide) -> Self;
    /// As a number of another type, by the rules of `as`; to bool, x ≠ 0 (so NaN is true).
    #[inline(always)]
    fn cast<U: Num>(self) -> U {
        U::narrow(self.widen())
    }
}

/// Types with `&`, `|`, `^`, `!`: integers bit by bit, bool as logic.
pub trait Bits: Num {
    /// Every bit set: identity of `&`; for bool, true.
    const ONES: Self;
    /// a & b.
    fn and(self, b: Self) -> Self;
    /// a | b.
    fn or(self, b: Self) -> Self;
    /// a ^ b.
    fn xor(self, b: Self) -> Self;
    /// !a.
    fn not(self) -> Self;
}

/// An integer.
pub trait Int: Bits {}

/// A floating-point number.
pub trait Real: Num {
    /// √a.
    fn root(self) -> Self;
    /// eᵃ.
    fn exponential(self) -> Self;
    /// ln a.
    fn logarithm(self) -> Self;
    /// ln(1 + a).
    fn logarithm_1p(self) -> Self;
    /// a ln a, 0 for 0; within 4 units in the last place of ln a, times a.
    fn times_logarithm(self) -> Self;
    /// aᵇ.
    fn power(self, b: Self) -> Self;
    /// Largest integer not above a.
    fn floored(self) -> Self;
    /// Smallest integer not below a.
    fn ceiled(self) -> Self;
    /// a · b + c, rounded once.
    fn fused(self, b: Self, c: Self) -> Self;
}

macro_rules! bits {
    ($t:ty, $ones:expr) => {
        impl Bits for $t {
            const ONES: Self = $ones;
            #[inline(always)]
            fn and(self, b: Self) -> Self {
                self & b
            }
            #[inline(always)]
            fn or(self, b: Self) -> Self {
                self | b
            }
            #[inline(always)]
            fn xor(self, b: Self) -> Self {
                self ^ b
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
        }
    };
}
/// The second half of a conversion, for every number but bool.
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
    ($($t:ident $variant:ident $cuda:literal $suffix:literal $signed:literal $wide:ident;)*) => {$(
        // SAFETY: the type is the one of that name, and the word is made of its size and alignment.
        unsafe impl Value for $t {
            const TYPE: Type = Type::$variant;
            type Word = WordOf<{ align_of::<Self>() }, 1>;
            fn literal(self) -> String {
                if $signed && self == <$t>::MIN {
                    // The literal of the smallest signed value would be its negated overflow in C++.
                    format!("({})({}{} - 1)", $cuda, self.wrapping_add(1), $suffix)
                } else {
                    format!("({})({self}{})", $cuda, $suffix)
                }
            }
        }
        impl Num for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const TOP: Self = <$t>::MAX;
            const BOTTOM: Self = <$t>::MIN;
            #[inline(always)] fn plus(self, b: Self) -> Self { self.wrapping_add(b) }
            #[inline(always)] fn minus(self, b: Self) -> Self { self.wrapping_sub(b) }
            #[inline(always)] fn times(self, b: Self) -> Self { self.wrapping_mul(b) }
            #[inline(always)] fn over(self, b: Self) -> Self {
                if b != 0 { self.wrapping_div(b) }
                else if self == 0 { 0 }
                else if self > 0 { <$t>::MAX }
                else { <$t>::MIN }
            }
            #[inline(always)] fn negated(self) -> Self { self.wrapping_neg() }
            #[inline(always)] #[allow(unused_comparisons)]
            fn magnitude(self) -> Self { if self < 0 { self.wrapping_neg() } else { self } }
            #[inline(always)] fn from_index(i: u64) -> Self { i as $t }
            #[inline(always)] fn to_f64(self) -> f64 { self as f64 }
            #[inline(always)] fn from_f64(x: f64) -> Self { x as $t }
            #[inline(always)] fn gap(self, b: Self) -> Self {
                if self < b { b.wrapping_sub(self) } else { self.wrapping_sub(b) }
            }
            #[inline(always)] fn widen(self) -> Wide { Wide::$wide(self.into()) }
            #[inline(always)] fn narrow(x: Wide) -> Self { narrow!(x, $t) }
        }
        impl Int for $t {}
        bits!($t, !0);
    )*};
}
int! {
    i8 I8 "signed char" "" true Signed;
    i16 I16 "short" "" true Signed;
    i32 I32 "int" "" true Signed;
    i64 I64 "long long" "ll" true Signed;
    u8 U8 "unsigned char" "u" false Unsigned;
    u16 U16 "unsigned short" "u" false Unsigned;
    u32 U32 "unsigned int" "u" false Unsigned;
    u64 U64 "unsigned long long" "ull" false Unsigned;
}

macro_rules! real {
    ($($t:ident $variant:ident $cuda:literal $suffix:literal;)*) => {$(
        // SAFETY: the type is the one of that name, and the word is made of its size and alignment.
        unsafe impl Value for $t {
            const TYPE: Type = Type::$variant;
            type Word = WordOf<{ align_of::<Self>() }, 1>;
            fn literal(self) -> String {
                if self.is_nan() { format!("sr::nan<{}>()", $cuda) }
                else if self == <$t>::INFINITY { format!("sr::inf<{}>()", $cuda) }
                else if self == <$t>::NEG_INFINITY { format!("(-sr::inf<{}>())", $cuda) }
                else { format!("({self:?}{})", $suffix) }
            }
        }
        impl Num for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const TOP: Self = <$t>::INFINITY;
            const BOTTOM: Self = <$t>::NEG_INFINITY;
            #[inline(always)] fn plus(self, b: Self) -> Self { self + b }
            #[inline(always)] fn minus(self, b: Self) -> Self { self - b }
            #[inline(always)] fn times(self, b: Self) -> Self { self * b }
            #[inline(always)] fn over(self, b: Self) -> Self { self / b }
            #[inline(always)] fn negated(self) -> Self { -self }
            #[inline(always)] fn magnitude(self) -> Self { self.abs() }
            #[inline(always)] fn from_index(i: u64) -> Self { i as $t }
            #[inline(always)] fn to_f64(self) -> f64 { f64::from(self) }
            #[inline(always)] fn from_f64(x: f64) -> Self { x as $t }
            #[inline(always)] fn gap(self, b: Self) -> Self { (self - b).abs() }
            #[inline(always)] fn widen(self) -> Wide { Wide::Float(self.into()) }
            #[inline(always)] fn narrow(x: Wide) -> Self { narrow!(x, $t) }
        }
        impl Real for $t {
            #[inline(always)] fn root(self) -> Self { self.sqrt() }
            #[inline(always)] fn exponential(self) -> Self { self.exp() }
            #[inline(always)] fn logarithm(self) -> Self { self.ln() }
            #[inline(always)] fn logarithm_1p(self) -> Self { self.ln_1p() }
            #[inline(always)] fn times_logarithm(self) -> Self { super::log::$t(self) }
            #[inline(always)] fn power(self, b: Self) -> Self { self.powf(b) }
            #[inline(always)] fn floored(self) -> Self { self.floor() }
            #[inline(always)] fn ceiled(self) -> Self { self.ceil() }
            #[inline(always)] fn fused(self, b: Self, c: Self) -> Self { self.mul_add(b, c) }
        }
    )*};
}
real! {
    f32 F32 "float" "f";
    f64 F64 "double" "";
}

// SAFETY: the type is the one of that name, and the word is made of its size and alignment.
unsafe impl Value for bool {
    const TYPE: Type = Type::Bool;
    type Word = WordOf<1, 1>;
    fn literal(self) -> String {
        self.to_string()
    }
}

impl Num for bool {
    const ZERO: Self = false;
    const ONE: Self = true;
    const TOP: Self = true;
    const BOTTOM: Self = false;
    #[inline(always)]
    fn plus(self, b: Self) -> Self {
        self | b
    }
    #[inline(always)]
    fn minus(self, b: Self) -> Self {
        self ^ b
    }
    #[inline(always)]
    fn times(self, b: Self) -> Self {
        self & b
    }
    #[inline(always)]
    fn over(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    fn negated(self) -> Self {
        self
    }
    #[inline(always)]
    fn magnitude(self) -> Self {
        self
    }
    #[inline(always)]
    fn from_index(i: u64) -> Self {
        i != 0
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x != 0.0
    }
    #[inline(always)]
    fn gap(self, b: Self) -> Self {
        self ^ b
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

macro_rules! complex {
    ($($t:ident $variant:ident;)*) => {$(
        // SAFETY: a complex number is `repr(C)`, its two parts one after the other.
        unsafe impl Value for Complex<$t> {
            const TYPE: Type = Type::$variant;
            type Word = WordOf<{ align_of::<$t>() }, 2>;
            fn literal(self) -> String {
                format!("{}{{{}, {}}}", Self::CUDA, self.re.literal(), self.im.literal())
            }
        }
    )*};
}
complex! { f32 ComplexF32; f64 ComplexF64; }
