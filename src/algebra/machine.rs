//! The machine an operator runs on: [`Host`] computes, `Trace` records.
//!
//! Each scalar function is one [`Function`], one line in `cuda/prelude.cuh`, and has one meaning, the one given by
//! [`Number`], [`Num`], [`Bits`] and [`Real`].

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use num_traits::Float;

use super::{Bits, DeviceFunction, Function, Num, Number, Real, Value};

/// A [`Function`] beside the host code that is its meaning: made where the two stand together, by nobody else.
#[derive(Clone, Copy, Debug)]
pub struct Builtin(pub(super) Function);

/// An interpreter of scalar formulas.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no machine that runs formulas",
    label = "this is `Host`, which computes, or `Trace`, which records",
    note = "in an operator of your own the machine stays a parameter: `fn apply<M: Machine>(self, a: V<M, T>) -> V<M, T>`; `op!` writes it"
)]
pub trait Machine: Copy + 'static {
    /// A scalar of type `T` on this machine.
    type Repr<T: Value>: Copy;
    /// A constant.
    fn lit<T: Value>(x: T) -> Self::Repr<T>;
    /// A function of one scalar, `f` on the host.
    fn op1<T: Value, U: Value>(function: Builtin, f: impl Fn(T) -> U, a: Self::Repr<T>) -> Self::Repr<U>;
    /// A function of two scalars, `f` on the host.
    fn op2<T: Value, S: Value, U: Value>(
        function: Builtin,
        f: impl Fn(T, S) -> U,
        a: Self::Repr<T>,
        b: Self::Repr<S>,
    ) -> Self::Repr<U>;
    /// A function of three scalars, `f` on the host.
    fn op3<T: Value, S: Value, R: Value, U: Value>(
        function: Builtin,
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
    fn op1<T: Value, U: Value>(_: Builtin, f: impl Fn(T) -> U, a: T) -> U {
        f(a)
    }
    #[inline(always)]
    fn op2<T: Value, S: Value, U: Value>(_: Builtin, f: impl Fn(T, S) -> U, a: T, b: S) -> U {
        f(a, b)
    }
    #[inline(always)]
    fn op3<T: Value, S: Value, R: Value, U: Value>(_: Builtin, f: impl Fn(T, S, R) -> U, a: T, b: S, c: R) -> U {
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
        V(M::op2(Builtin(Function::Eq), |a: T, b: T| a == b, self.0, b.0))
    }
    /// a ≠ b.
    #[inline(always)]
    pub fn ne(self, b: Self) -> V<M, bool> {
        V(M::op2(Builtin(Function::Ne), |a: T, b: T| a != b, self.0, b.0))
    }
    /// A function of your own: `f` on the host, and on the device the text that comes with its name.
    #[inline(always)]
    pub fn call1<U: Value>(self, function: DeviceFunction<1>, f: impl Fn(T) -> U) -> V<M, U> {
        V(M::op1(function.into(), f, self.0))
    }
    /// A function of your own, of two scalars.
    #[inline(always)]
    pub fn call2<S: Value, U: Value>(self, function: DeviceFunction<2>, f: impl Fn(T, S) -> U, b: V<M, S>) -> V<M, U> {
        V(M::op2(function.into(), f, self.0, b.0))
    }
    /// A function of your own, of three scalars.
    #[inline(always)]
    pub fn call3<S: Value, R: Value, U: Value>(
        self,
        function: DeviceFunction<3>,
        f: impl Fn(T, S, R) -> U,
        b: V<M, S>,
        c: V<M, R>,
    ) -> V<M, U> {
        V(M::op3(function.into(), f, self.0, b.0, c.0))
    }
}

/// What [`value!`](crate::value!) writes: fields of a struct, and a struct of its fields.
#[doc(hidden)]
impl<M: Machine, T: Value> V<M, T> {
    /// Field `INDEX`, `f` on the host.
    #[inline(always)]
    pub fn field<const INDEX: usize, U: Value>(self, f: impl Fn(T) -> U) -> V<M, U> {
        const { assert!(T::TYPE.has_field(INDEX, U::TYPE), "no such field") };
        V(M::op1(Builtin(Function::Field(INDEX)), f, self.0))
    }
    /// The struct of one field.
    #[inline(always)]
    pub fn of1<A: Value>(f: impl Fn(A) -> T, a: V<M, A>) -> Self {
        const { assert!(T::TYPE.has_fields(&[A::TYPE]), "no such fields") };
        V(M::op1(Builtin(Function::Make), f, a.0))
    }
    /// The struct of two fields.
    #[inline(always)]
    pub fn of2<A: Value, B: Value>(f: impl Fn(A, B) -> T, a: V<M, A>, b: V<M, B>) -> Self {
        const { assert!(T::TYPE.has_fields(&[A::TYPE, B::TYPE]), "no such fields") };
        V(M::op2(Builtin(Function::Make), f, a.0, b.0))
    }
    /// The struct of three fields.
    #[inline(always)]
    pub fn of3<A: Value, B: Value, C: Value>(f: impl Fn(A, B, C) -> T, a: V<M, A>, b: V<M, B>, c: V<M, C>) -> Self {
        const { assert!(T::TYPE.has_fields(&[A::TYPE, B::TYPE, C::TYPE]), "no such fields") };
        V(M::op3(Builtin(Function::Make), f, a.0, b.0, c.0))
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
    ($bound:ident $meaning:ident: $($(#[$m:meta])* $name:ident $function:ident $f:ident ($($b:ident)?) -> $out:ty;)*) => {
        impl<M: Machine, T: $bound> V<M, T> {$(
            $(#[$m])*
            #[inline(always)]
            pub fn $name(self $(, $b: Self)?) -> V<M, $out> {
                methods!(@call $function, <T as $meaning>::$f, self $(, $b)?)
            }
        )*}
    };
    (@call $function:ident, $f:expr, $a:ident) => { V(M::op1(Builtin(Function::$function), $f, $a.0)) };
    (@call $function:ident, $f:expr, $a:ident, $b:ident) => { V(M::op2(Builtin(Function::$function), $f, $a.0, $b.0)) };
}
methods! { Num Num:
    /// The smaller, by the comparison `b < a`.
    min Min minimum (b) -> T;
    /// The larger, by the comparison `a < b`.
    max Max maximum (b) -> T;
    /// |a|, wrapping.
    abs Abs wrapping_abs () -> T;
    /// |a − b|, wrapping; right for unsigned integers too.
    abs_diff AbsDiff abs_diff (b) -> T;
}
methods! { Real Float:
    /// √a.
    sqrt Sqrt sqrt () -> T;
    /// eᵃ.
    exp Exp exp () -> T;
    /// ln a.
    ln Ln ln () -> T;
    /// ln(1 + a).
    ln_1p Ln1p ln_1p () -> T;
    /// aᵇ.
    powf Pow powf (b) -> T;
    /// Largest integer not above a.
    floor Floor floor () -> T;
    /// Smallest integer not below a.
    ceil Ceil ceil () -> T;
}
methods! { Real Real:
    /// a ln a, 0 for 0.
    x_ln_x XLnX x_ln_x () -> T;
}
impl<M: Machine, T: Num> V<M, T> {
    /// a < b.
    #[inline(always)]
    pub fn lt(self, b: Self) -> V<M, bool> {
        V(M::op2(Builtin(Function::Lt), |a: T, b: T| a < b, self.0, b.0))
    }
    /// a ≤ b.
    #[inline(always)]
    pub fn le(self, b: Self) -> V<M, bool> {
        V(M::op2(Builtin(Function::Le), |a: T, b: T| a <= b, self.0, b.0))
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
}
impl<M: Machine, T: Number> V<M, T> {
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
        V(M::op3(Builtin(Function::MulAdd), <T as Float>::mul_add, self.0, b.0, c.0))
    }
}
impl<M: Machine, T: Number> V<M, T> {
    /// a · b + c: rounded once if these are floats.
    #[inline(always)]
    pub fn multiply_add(self, b: Self, c: Self) -> Self {
        if T::FUSED { V(M::op3(Builtin(Function::MulAdd), T::multiply_add, self.0, b.0, c.0)) } else { self * b + c }
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
    ($($op:ident $method:ident $bound:ident $function:ident $f:ident;)*) => {$(
        impl<M: Machine, T: $bound> $op for V<M, T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                V(M::op2(Builtin(Function::$function), <T as $bound>::$f, self.0, b.0))
            }
        }
    )*};
}
operator! {
    Add add Number Add wrapping_add;
    Sub sub Number Sub wrapping_sub;
    Mul mul Number Mul wrapping_mul;
    Div div Number Div total_div;
}
/// Numbers beside scalars: `a + 1`, `0.5 * a`.
macro_rules! literals {
    ($($op:ident $method:ident;)*) => {$(
        literals!(@ $op $method, Number, i32, from_i32);
        literals!(@ $op $method, Real, f64, from_f64);
    )*};
    (@ $op:ident $method:ident, $bound:ident, $t:ident, $from:ident) => {
        impl<M: Machine, T: $bound> $op<$t> for V<M, T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: $t) -> Self {
                $op::$method(self, V::lit(T::$from(b)))
            }
        }
        impl<M: Machine, T: $bound> $op<V<M, T>> for $t {
            type Output = V<M, T>;
            #[inline(always)]
            fn $method(self, b: V<M, T>) -> V<M, T> {
                $op::$method(V::lit(T::$from(self)), b)
            }
        }
    };
}
literals! { Add add; Sub sub; Mul mul; Div div; }

impl<M: Machine, T: Number> Neg for V<M, T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        V(M::op1(Builtin(Function::Neg), T::wrapping_neg, self.0))
    }
}

operator! {
    BitAnd bitand Bits BitAnd bit_and;
    BitOr bitor Bits BitOr bit_or;
    BitXor bitxor Bits BitXor bit_xor;
}
impl<M: Machine, T: Bits> Not for V<M, T> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        V(M::op1(Builtin(Function::BitNot), T::bit_not, self.0))
    }
}
