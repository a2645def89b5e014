//! Distances of distributions: Jensen–Shannon and Kullback–Leibler.

use super::of_distributions;
use crate::algebra::{Arith, Real, Times, V};
use crate::distance::float::Float;
use crate::distance::recipe::{DisjointOrder, Invariance, Norms, Recipe, Row, Side, c, cancelled};
use crate::op;

op! {
    /// h(a) + h(b) − h(a + b) with h(x) = x ln x, h(0) = 0: the contribution of a common column to Jensen–Shannon.
    pub JensenShannonTerm<T: Real> (a, b) -> T { a.x_ln_x() + b.x_ln_x() - (a + b).x_ln_x() }
}
op! {
    /// a ln(a/μ) + b ln(b/μ), μ = (a + b)/2, 0 ln 0 = 0: the ⊗ of Jensen–Shannon.
    pub JensenShannonDiff<T: Real> (a, b) -> T {{
        let zero = V::lit(T::ZERO);
        let sum = a + b;
        let part = (a - b) / sum.eq(zero).select(V::lit(T::ONE), sum);
        let of = |x: V<_, T>, part: V<_, T>| x.eq(zero).select(zero, x * x.eq(zero).select(zero, part).ln_1p());
        of(a, part) + of(b, -part)
    }}
}
op! {
    /// a (ln a − b), where b is the logarithm of y's entry; 0 for a = 0.
    pub KlTerm<T: Real> (a, b) -> T {{
        let none = a.eq(V::lit(T::ZERO));
        none.select(a, a * (none.select(V::lit(T::ONE), a).ln() - b))
    }}
}

of_distributions! {
    /// √(½ Σ (x ln(x/μ) + y ln(y/μ))), μ = (x + y)/2, for nonnegative rows.
    ///
    /// With `normalize`, rows are divided by their sums first. Two empty rows then have distance 0, and an empty row
    /// has distance √ln 2, the largest, from any other.
    JensenShannon;
    /// Σ x ln(x/y) over x's columns, +∞ where y lacks one of them: relative entropy. Not symmetric.
    KullbackLeibler;
    /// Σ x ln(x/y) over the common columns alone, as in the paper's Table 1. Not symmetric, may be negative, and rows
    /// that share nothing have distance 0: for comparison with the paper, not for neighbours.
    KullbackLeiblerIntersection;
}

impl<W: Float> Recipe for JensenShannon<W> {
    type W = W;
    type Term = JensenShannonTerm<W>;
    type Exact = JensenShannonDiff<W>;
    const STAGED: bool = true;
    const REFINES: bool = true;
    const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
    fn invariance(self) -> Invariance {
        if self.normalize { Invariance::Rows } else { Invariance::Degree(0.5) }
    }
    fn term(self) -> JensenShannonTerm<W> {
        JensenShannonTerm::new()
    }
    fn exact(self) -> JensenShannonDiff<W> {
        JensenShannonDiff::new()
    }
    #[inline(always)]
    fn first<M: Arith>(self, _: Side, x: V<M, W>) -> V<M, W> {
        x
    }
    #[inline(always)]
    fn entry<M: Arith>(self, _: Side, x: V<M, W>, row: Row<M, W>) -> V<M, W> {
        if self.normalize { x / row.first } else { x }
    }
    #[inline(always)]
    fn norms<M: Arith>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
        let ln2 = c::<M, W>(std::f64::consts::LN_2);
        let empty = row.nnz.eq(c(0.0));
        if self.normalize { (empty.select(c(0.0), ln2), empty.select(ln2, c(0.0))) } else { (row.first * ln2, c(0.0)) }
    }
    #[inline(always)]
    fn key<M: Arith>(self, x: Norms<M, W>, y: Norms<M, W>, sum: V<M, W>, _: V<M, W>) -> V<M, W> {
        x.0 + y.0 + sum + x.1.abs_diff(y.1)
    }
    #[inline(always)]
    fn finish<M: Arith>(self, key: V<M, W>) -> V<M, W> {
        (c::<M, W>(0.5) * key.max(c(0.0))).sqrt()
    }
}

impl<W: Float> Recipe for KullbackLeibler<W> {
    type W = W;
    type Term = Times<W>;
    type Exact = KlTerm<W>;
    const COUNTS: bool = true;
    const SYMMETRIC: bool = false;
    const REFINES: bool = true;
    const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
    fn invariance(self) -> Invariance {
        if self.normalize { Invariance::Rows } else { Invariance::Degree(1.0) }
    }
    fn term(self) -> Times<W> {
        Times::new()
    }
    fn exact(self) -> KlTerm<W> {
        KlTerm::new()
    }
    #[inline(always)]
    fn first<M: Arith>(self, _: Side, x: V<M, W>) -> V<M, W> {
        x
    }
    #[inline(always)]
    fn second<M: Arith>(self, x: V<M, W>, first: V<M, W>, _: V<M, W>, _: V<M, W>) -> V<M, W> {
        if self.normalize { (x / first).x_ln_x() } else { x.x_ln_x() }
    }
    #[inline(always)]
    fn entry<M: Arith>(self, side: Side, x: V<M, W>, row: Row<M, W>) -> V<M, W> {
        x_or_ln_y(self.normalize, side, x, row)
    }
    #[inline(always)]
    fn norms<M: Arith>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
        (row.nnz, row.second)
    }
    /// Σ x ln x − Σ x ln y, if y has all of x's columns.
    #[inline(always)]
    fn key<M: Arith>(self, x: Norms<M, W>, _: Norms<M, W>, sum: V<M, W>, shared: V<M, W>) -> V<M, W> {
        let all = x.1 - sum;
        // NaN stays NaN.
        shared.eq(x.0).select(all, all + V::lit(W::TOP))
    }
    #[inline(always)]
    fn near<M: Arith>(self, key: V<M, W>, x: Norms<M, W>, _: Norms<M, W>) -> V<M, bool> {
        // An upper bound on Σ |x ln x|: each negative term is at least −1/e.
        key.abs().lt(cancelled::<M, W>() * (x.1 + c::<M, W>(2.0 / std::f64::consts::E) * x.0))
    }
}

impl<W: Float> Recipe for KullbackLeiblerIntersection<W> {
    type W = W;
    type Term = KlTerm<W>;
    type Exact = KlTerm<W>;
    const SYMMETRIC: bool = false;
    const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
    fn invariance(self) -> Invariance {
        if self.normalize { Invariance::Rows } else { Invariance::Degree(1.0) }
    }
    fn term(self) -> KlTerm<W> {
        KlTerm::new()
    }
    fn exact(self) -> KlTerm<W> {
        KlTerm::new()
    }
    #[inline(always)]
    fn first<M: Arith>(self, _: Side, x: V<M, W>) -> V<M, W> {
        x
    }
    #[inline(always)]
    fn entry<M: Arith>(self, side: Side, x: V<M, W>, row: Row<M, W>) -> V<M, W> {
        x_or_ln_y(self.normalize, side, x, row)
    }
    #[inline(always)]
    fn key<M: Arith>(self, _: Norms<M, W>, _: Norms<M, W>, sum: V<M, W>, _: V<M, W>) -> V<M, W> {
        sum
    }
}

/// The prepared entry of the Kullback–Leibler forms.
#[inline(always)]
fn x_or_ln_y<M: Arith, W: Float>(normalize: bool, side: Side, x: V<M, W>, row: Row<M, W>) -> V<M, W> {
    let x = if normalize { x / row.first } else { x };
    if side == Side::X { x } else { x.ln() }
}
