//! The one-pass form of any NAMM whose ⊕ is +.

use crate::algebra::{Arith, At, MulOp, V};
use crate::distance::float::Float;
use crate::distance::recipe::{Norms, Recipe, Row, Side, cancelled};

/// a ⊗ b − (a ⊗ 0 + 0 ⊗ b): the contribution of a common column besides the one-sided sums of both rows.
#[derive(Clone, Copy, Debug)]
pub struct OnePassTerm<X>(X);

impl<W: Float, X: MulOp<A = W, B = W, Out = W>> MulOp for OnePassTerm<X> {
    type A = W;
    type B = W;
    type Out = W;
    #[inline(always)]
    fn mul<M: Arith>(self, a: V<M, W>, b: V<M, W>, at: At<M>) -> V<M, W> {
        let zero = V::lit(W::ZERO);
        let at = || At { i: at.i, k: at.k, j: at.j };
        self.0.mul(a, b, at()) - (self.0.mul(a, zero, at()) + self.0.mul(zero, b, at()))
    }
}

/// Σ x ⊗ y over the union, for a ⊗ with 0 ⊗ 0 = 0 that does not depend on positions.
#[derive(Clone, Copy, Debug)]
pub struct OnePass<X>(pub X);

impl<X> OnePass<X> {
    /// x ⊗ 0 or 0 ⊗ x.
    #[inline(always)]
    fn one_sided<M: Arith, W: Float>(self, side: Side, x: V<M, W>) -> V<M, W>
    where
        X: MulOp<A = W, B = W, Out = W>,
    {
        let zero = V::lit(W::ZERO);
        let at = At { i: V::lit(0), k: V::lit(0), j: V::lit(0) };
        match side {
            Side::X => self.0.mul(x, zero, at),
            Side::Y => self.0.mul(zero, x, at),
        }
    }
}

impl<W: Float, X: MulOp<A = W, B = W, Out = W>> Recipe for OnePass<X> {
    type W = W;
    type Term = OnePassTerm<X>;
    type Exact = X;
    const SYMMETRIC: bool = false;
    const ZERO_SELF: bool = false;
    const REFINES: bool = true;
    fn term(self) -> OnePassTerm<X> {
        OnePassTerm(self.0)
    }
    fn exact(self) -> X {
        self.0
    }
    #[inline(always)]
    fn first<M: Arith>(self, side: Side, x: V<M, W>) -> V<M, W> {
        self.one_sided(side, x)
    }
    /// One-sided terms may cancel in the first sum, whose magnitude then says nothing about its rounding error. This
    /// sum of magnitudes does.
    #[inline(always)]
    fn second<M: Arith>(self, x: V<M, W>, _: V<M, W>, _: V<M, W>, _: V<M, W>) -> V<M, W> {
        self.one_sided(Side::X, x).abs() + self.one_sided(Side::Y, x).abs()
    }
    #[inline(always)]
    fn norms<M: Arith>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
        (row.first, row.second)
    }
    /// NaN keys count as near: ∞ − ∞ arises where an entry's one-sided term is ∞ but its term with the other row is
    /// finite.
    #[inline(always)]
    fn near<M: Arith>(self, key: V<M, W>, x: Norms<M, W>, y: Norms<M, W>) -> V<M, bool> {
        !(cancelled::<M, W>() * (x.1 + y.1)).le(key.abs())
    }
}
