//! Monoids, the operators ⊕. The laws of each built-in are listed in `builtin.rs` and tested.

use std::f64::consts::LN_2;

use super::words::zero;
use super::{Arith, BinaryOp, Int, Num, Number, Real, V, Value};
use crate::op;

/// An associative, commutative operator with an identity.
///
/// The exception is [`Any`], which is not commutative and has a left identity only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a monoid",
    label = "expected ⊕: an associative operator with an identity",
    note = "give the operator its identity: `sparring::op! {{ Name<T: Num> (a, b) -> T {{ a + b }} identity T::ZERO }}`"
)]
pub trait Monoid: BinaryOp<A = <Self as BinaryOp>::Out, B = <Self as BinaryOp>::Out> {
    /// e with e ⊕ x = x.
    const IDENTITY: Self::Out;
    /// t with t ⊕ x = t for every x: a fold may stop there.
    const TERMINAL: Option<Self::Out> = None;
    /// Whether x ⊕ y = y for all x and y: a fold is its last value.
    const IS_LAST: bool = false;
    /// `sum` ⊕ (a ⊗ b), a step of a fold of products; rounded once for + of × of floats, in every interpreter.
    #[inline(always)]
    fn fold<X: BinaryOp<Out = Self::Out>, M: Arith>(
        self,
        times: X,
        a: V<M, X::A>,
        b: V<M, X::B>,
        sum: V<M, Self::Out>,
    ) -> V<M, Self::Out> {
        self.apply(sum, times.apply(a, b))
    }
}

op! { @struct [/// a + b, wrapping; for bool, or.
] [pub] Plus [T: {Number}] [] }
op! { @binary Plus [T: {Number}] [] (a: T, b: T) -> T { a + b } }
impl<T: Number> Monoid for Plus<T> {
    const IDENTITY: T = T::ZERO;
    #[inline(always)]
    fn fold<X: BinaryOp<Out = T>, M: Arith>(self, times: X, a: V<M, X::A>, b: V<M, X::B>, sum: V<M, T>) -> V<M, T> {
        times.add_to(a, b, sum)
    }
}
op! { @struct [/// a · b, wrapping; for bool, and.
] [pub] Times [T: {Number}] [] }
op! { @monoid Times [T: {Number}] T, T::ONE }
impl<T: Number> BinaryOp for Times<T> {
    type A = T;
    type B = T;
    type Out = T;
    #[inline(always)]
    fn apply<M: Arith>(self, a: V<M, T>, b: V<M, T>) -> V<M, T> {
        a * b
    }
    #[inline(always)]
    fn add_to<M: Arith>(self, a: V<M, T>, b: V<M, T>, sum: V<M, T>) -> V<M, T> {
        a.multiply_add(b, sum)
    }
}
op! { /// The minimum. A fold from the identity skips NaN.
pub Min<T: Num> (a, b) -> T { a.min(b) } identity T::TOP, terminal T::BOTTOM }
op! { /// The maximum. A fold from the identity skips NaN.
pub Max<T: Num> (a, b) -> T { a.max(b) } identity T::BOTTOM, terminal T::TOP }
op! { /// The maximum of non-negative numbers, with identity 0.
pub MaxFromZero<T: Num> (a, b) -> T { a.max(b) } identity T::ZERO, terminal T::TOP }
op! { @struct [/// Any of the values; the implementation returns the last one.
///
/// The identity, 0, is a left identity only: folds in parts must skip empty parts.
] [pub] Any [T: {Value}] [] }
op! { @binary Any [T: {Value}] [] (a: T, b: T) -> T { b } }
impl<T: Value> Monoid for Any<T> {
    const IDENTITY: T = zero();
    const IS_LAST: bool = true;
}

op! { /// Logical or of truth values; a monoid on bool.
pub Lor<T: Number> (a, b) -> bool { a.nonzero() | b.nonzero() } }
op! { /// Logical and of truth values; a monoid on bool.
pub Land<T: Number> (a, b) -> bool { a.nonzero() & b.nonzero() } }
op! { /// Exclusive or of truth values; a monoid on bool.
pub Lxor<T: Number> (a, b) -> bool { a.nonzero() ^ b.nonzero() } }
op! { /// Equality of truth values; a monoid on bool.
pub Lxnor<T: Number> (a, b) -> bool { a.nonzero().eq(b.nonzero()) } }
impl Monoid for Lor<bool> {
    const IDENTITY: bool = false;
    const TERMINAL: Option<bool> = Some(true);
}
impl Monoid for Land<bool> {
    const IDENTITY: bool = true;
    const TERMINAL: Option<bool> = Some(false);
}
impl Monoid for Lxor<bool> {
    const IDENTITY: bool = false;
}
impl Monoid for Lxnor<bool> {
    const IDENTITY: bool = true;
}

op! { /// a | b, bit by bit.
pub Bor<T: Int> (a, b) -> T { a | b } identity T::ZERO, terminal T::ONES }
op! { /// a & b, bit by bit.
pub Band<T: Int> (a, b) -> T { a & b } identity T::ONES, terminal T::ZERO }
op! { /// a ^ b, bit by bit.
pub Bxor<T: Int> (a, b) -> T { a ^ b } identity T::ZERO }
op! { /// !(a ^ b), bit by bit.
pub Bxnor<T: Int> (a, b) -> T { !(a ^ b) } identity T::ONES }

op! { /// ln(eᵃ + eᵇ): the sum of two numbers given by their logarithms.
///
/// Computed as max(a, b) + ln(1 + e^−|a − b|), which does not overflow; a = b, infinities included, gives
/// a + ln 2. NaN stays NaN.
pub LogAddExp<T: Real> (a, b) -> T {
    a.eq(b).select(a + V::lit(T::from_f64(LN_2)), a.max(b) + (-(a - b).abs()).exp().ln_1p())
} identity T::BOTTOM }
