//! The machine an operator runs on: [`Host`] computes, `Trace` prints.
//!
//! Each scalar function has one name here, one line in `cuda/prelude.cuh` under the same name, and one
//! meaning, the one given by [`Num`], [`Int`] and [`Real`].

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use super::{Bits, Num, Real, Value};

/// An interpreter of scalar formulas.
pub trait Machine: Copy + 'static {
    /// A scalar of type `T` on this machine.
    type Repr<T: Value>: Copy;
    /// A constant.
    fn lit<T: Value>(x: T) -> Self::Repr<T>;
    /// The unary function `f`, called `sr::name` on the device.
    fn op1<T: Value, U: Value>(name: &'static str, f: impl Fn(T) -> U, a: Self::Repr<T>) -> Self::Repr<U>;
    /// The binary function `f`, called `sr::name` on the device.
    fn op2<T: Value, S: Value, U: Value>(
        name: &'static str,
        f: impl Fn(T, S) -> U,
        a: Self::Repr<T>,
        b: Self::Repr<S>,
    ) -> Self::Repr<U>;
    /// The ternary function `f`, called `sr::name` on the device.
    fn op3<T: Value, S: Value, R: Value, U: Value>(
        name: &'static str,
        f: impl Fn(T, S, R) -> U,
        a: Self::Repr<T>,
        b: Self::Repr<S>,
        c: Self::Repr<R>,
    ) -> Self::Repr<U>;
    /// `a` where `c` holds, else `b`; both are evaluated.
    fn select<T: Value>(c: Self::Repr<bool>, a: Self::Repr<T>, b: Self::Repr<T>) -> Self::Repr<T>;
    /// Conversion, as Rust's `as` between numbers.
    fn cast<T: Num, U: Num>(f: impl Fn(T) -> U, a: Self::Repr<T>) -> Self::Repr<U>;
}

/// A scalar of type `T` on machine `M`: what operator bodies compute with.
#[repr(transparent)]
pub struct V<M: Machine, T: Value>(pub M::Repr<T>);

impl<M: Machine, T: Value> Clone for V<M, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<M: Machine, T: Value> Copy for V<M, T> {}

/// The processor: formulas are plain arithmetic, inlined and vectorized like any other.
#[derive(Clone, Copy, Debug)]
pub struct Host;

impl Machine for Host {
    type Repr<T: Value> = T;
    #[inline(always)]
    fn lit<T: Value>(x: T) -> T {
        x
    }
    #[inline(always)]
    fn op1<T: Value, U: Value>(_: &'static str, f: impl Fn(T) -> U, a: T) -> U {
        f(a)
    }
    #[inline(always)]
    fn op2<T: Value, S: Value, U: Value>(_: &'static str, f: impl Fn(T, S) -> U, a: T, b: S) -> U {
        f(a, b)
    }
    #[inline(always)]
    fn op3<T: Value, S: Value, R: Value, U: Value>(_: &'static str, f: impl Fn(T, S, R) -> U, a: T, b: S, c: R) -> U {
        f(a, b, c)
    }
    #[inline(always)]
    fn select<T: Value>(c: bool, a: T, b: T) -> T {
        if c { a } else { b }
    }
    #[inline(always)]
    fn cast<T: Num, U: Num>(f: impl Fn(T) -> U, a: T) -> U {
        f(a)
    }
}

impl<M: Machine, T: Value> V<M, T> {
    /// The constant `x`.
    #[inline(always)]
    pub fn lit(x: T) -> Self {
        V(M::lit(x))
    }
    /// a = b.
    #[inline(always)]
    pub fn eq(self, b: Self) -> V<M, bool> {
        V(M::op2("eq", |a: T, b: T| a == b, self.0, b.0))
    }
    /// a ≠ b.
    #[inline(always)]
    pub fn ne(self, b: Self) -> V<M, bool> {
        V(M::op2("ne", |a: T, b: T| a != b, self.0, b.0))
    }
    /// A function of your own: `f` on the host, `sr::name` on the device, where you must supply it.
    #[inline(always)]
    pub fn call1<U: Value>(self, name: &'static str, f: impl Fn(T) -> U) -> V<M, U> {
        V(M::op1(name, f, self.0))
    }
    /// A function of your own: `f` on the host, `sr::name` on the device, where you must supply it.
    #[inline(always)]
    pub fn call2<S: Value, U: Value>(self, name: &'static str, f: impl Fn(T, S) -> U, b: V<M, S>) -> V<M, U> {
        V(M::op2(name, f, self.0, b.0))
    }
    /// A function of your own: `f` on the host, `sr::name` on the device, where you must supply it.
    #[inline(always)]
    pub fn call3<S: Value, R: Value, U: Value>(
        self,
        name: &'static str,
        f: impl Fn(T, S, R) -> U,
        b: V<M, S>,
        c: V<M, R>,
    ) -> V<M, U> {
        V(M::op3(name, f, self.0, b.0, c.0))
    }
}

impl<M: Machine> V<M, bool> {
    /// `a` where this holds, else `b`; both are evaluated.
    #[inline(always)]
    pub fn select<T: Value>(self, a: V<M, T>, b: V<M, T>) -> V<M, T> {
        V(M::select(self.0, a.0, b.0))
    }
}

macro_rules! methods {
    ($bound:ident: $($(#[$m:meta])* $name:ident $cuda:literal $f:ident ($($b:ident)?) -> $out:ty;)*) => {
        impl<M: Machine, T: $bound> V<M, T> {$(
            $(#[$m])*
            #[inline(always)]
            pub fn $name(self $(, $b: Self)?) -> V<M, $out> {
                methods!(@call $cuda, T::$f, self $(, $b)?)
            }
        )*}
    };
    (@call $cuda:literal, $f:expr, $a:ident) => { V(M::op1($cuda, $f, $a.0)) };
    (@call $cuda:literal, $f:expr, $a:ident, $b:ident) => { V(M::op2($cuda, $f, $a.0, $b.0)) };
}
methods! { Num:
    /// The smaller, by the comparison `b < a`.
    min "min" lesser (b) -> T;
    /// The larger, by the comparison `a < b`.
    max "max" greater (b) -> T;
    /// |a|, wrapping.
    abs "abs" magnitude () -> T;
    /// |a − b|, wrapping; right for unsigned integers too.
    abs_diff "abs_diff" gap (b) -> T;
}
methods! { Real:
    /// √a.
    sqrt "sqrt" root () -> T;
    /// eᵃ.
    exp "exp" exponential () -> T;
    /// ln a.
    ln "log" logarithm () -> T;
    /// ln(1 + a).
    ln_1p "log1p" logarithm_1p () -> T;
    /// a ln a, 0 for 0.
    x_ln_x "x_ln_x" times_logarithm () -> T;
    /// aᵇ.
    powf "pow" power (b) -> T;
    /// Largest integer not above a.
    floor "floor" floored () -> T;
    /// Smallest integer not below a.
    ceil "ceil" ceiled () -> T;
}
impl<M: Machine, T: Num> V<M, T> {
    /// a < b.
    #[inline(always)]
    pub fn lt(self, b: Self) -> V<M, bool> {
        V(M::op2("lt", |a: T, b: T| a < b, self.0, b.0))
    }
    /// a ≤ b.
    #[inline(always)]
    pub fn le(self, b: Self) -> V<M, bool> {
        V(M::op2("le", |a: T, b: T| a <= b, self.0, b.0))
    }
    /// a > b.
    #[inline(always)]
    pub fn gt(self, b: Self) -> V<M, bool> {
        b.lt(self)
    }
    /// a ≥ b.
    #[inline(always)]
    pub fn ge(self, b: Self) -> V<M, bool> {
        b.le(self)
    }
    /// a ≠ 0.
    #[inline(always)]
    pub fn nonzero(self) -> V<M, bool> {
        self.ne(V::lit(T::ZERO))
    }
}
impl<M: Machine, T: Num> V<M, T> {
    /// As a number of another type: wrapping between integers, saturating from floats, NaN becomes 0;
    /// to bool, a ≠ 0.
    #[inline(always)]
    pub fn cast<U: Num>(self) -> V<M, U> {
        V(M::cast(T::cast::<U>, self.0))
    }
}
impl<M: Machine, T: Real> V<M, T> {
    /// a · b + c, rounded once on every machine.
    #[inline(always)]
    pub fn mul_add(self, b: Self, c: Self) -> Self {
        V(M::op3("fma", T::fused, self.0, b.0, c.0))
    }
}
impl<M: Machine> V<M, u64> {
    /// An index as a number of another type, wrapping.
    #[inline(always)]
    pub fn index_as<T: Num>(self) -> V<M, T> {
        V(M::cast(T::from_index, self.0))
    }
}

macro_rules! operator {
    ($($op:ident $method:ident $bound:ident $cuda:literal $f:ident;)*) => {$(
        impl<M: Machine, T: $bound> $op for V<M, T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                V(M::op2($cuda, T::$f, self.0, b.0))
            }
        }
    )*};
}
operator! {
    Add add Num "add" plus;
    Sub sub Num "sub" minus;
    Mul mul Num "mul" times;
    Div div Num "div" over;
}
impl<M: Machine, T: Num> Neg for V<M, T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        V(M::op1("neg", T::negated, self.0))
    }
}

operator! {
    BitAnd bitand Bits "bit_and" and;
    BitOr bitor Bits "bit_or" or;
    BitXor bitxor Bits "bit_xor" xor;
}
impl<M: Machine, T: Bits> Not for V<M, T> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        V(M::op1("bit_not", T::not, self.0))
    }
}
