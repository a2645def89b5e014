//! A binary operator with one operand given, which is a unary one, or with its operands exchanged.

use super::{BinaryOp, Machine, UnaryOp, V};

/// f(b) = x ∘ b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BindFirst<O: BinaryOp>(pub O, pub O::A);
/// f(a) = a ∘ y.
/// ```
/// use sparring::algebra::{BindSecond, Host, Minus, UnaryOp, V};
/// assert_eq!(BindSecond(Minus::new(), 2.0).apply::<Host>(V(5.0)).0, 3.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BindSecond<O: BinaryOp>(pub O, pub O::B);

impl<O: BinaryOp> UnaryOp for BindFirst<O> {
    type A = O::B;
    type Out = O::Out;
    #[inline(always)]
    fn apply<M: Machine>(self, b: V<M, O::B>) -> V<M, O::Out> {
        self.0.apply(V::lit(self.1), b)
    }
}
impl<O: BinaryOp> UnaryOp for BindSecond<O> {
    type A = O::A;
    type Out = O::Out;
    #[inline(always)]
    fn apply<M: Machine>(self, a: V<M, O::A>) -> V<M, O::Out> {
        self.0.apply(a, V::lit(self.1))
    }
}

/// f(a, b) = b ∘ a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flipped<O>(pub O);

impl<O: BinaryOp> BinaryOp for Flipped<O> {
    type A = O::B;
    type B = O::A;
    type Out = O::Out;
    #[inline(always)]
    fn apply<M: Machine>(self, a: V<M, O::B>, b: V<M, O::A>) -> V<M, O::Out> {
        self.0.apply(b, a)
    }
}
