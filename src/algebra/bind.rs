//! Binary operators with a bound operand, or with exchanged operands.

use super::{Arith, At, BinaryOp, MulOp, Ring, Semiring, UnaryOp, V};

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
    fn apply<M: Arith>(self, b: V<M, O::B>) -> V<M, O::Out> {
        self.0.apply(V::lit(self.1), b)
    }
}
impl<O: BinaryOp> UnaryOp for BindSecond<O> {
    type A = O::A;
    type Out = O::Out;
    #[inline(always)]
    fn apply<M: Arith>(self, a: V<M, O::A>) -> V<M, O::Out> {
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
    fn apply<M: Arith>(self, a: V<M, O::B>, b: V<M, O::A>) -> V<M, O::Out> {
        self.0.apply(b, a)
    }
}

/// ⊗ of the transposed product: b ⊗ a at (j, k, i).
///
/// (A ⊕.⊗ B)ᵀ = Bᵀ ⊕.⊗′ Aᵀ, where ⊗′ is ⊗ with exchanged operands and exchanged row and column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransposedMul<X>(pub X);

impl<X: MulOp> MulOp for TransposedMul<X> {
    type A = X::B;
    type B = X::A;
    type Out = X::Out;
    #[inline(always)]
    fn mul<M: Arith>(self, a: V<M, X::B>, b: V<M, X::A>, at: At<M>) -> V<M, X::Out> {
        self.0.mul(b, a, At { i: at.j, k: at.k, j: at.i })
    }
}

/// The semiring of the transposed product.
pub(crate) fn transposed_ring<R: Semiring>(ring: R) -> Ring<R::Add, TransposedMul<R::Mul>> {
    Ring(ring.add(), TransposedMul(ring.mul()))
}
