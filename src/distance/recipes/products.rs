//! Distances from products of entries: dot, cosine, correlation, Euclidean, Hellinger.

use super::{of_distributions, plain};
use crate::algebra::{Arith, Real, SquaredDiff, Times, V};
use crate::distance::float::Float;
use crate::distance::recipe::{DisjointOrder, Invariance, Norms, Recipe, Row, Side, c, cancelled};
use crate::op;

op! {
    /// ½ (a − b)²: the exact ⊗ of cosine, correlation and Hellinger, whose entries are normalized or square roots.
    pub HalfSquaredDiff<T: Real> (a, b) -> T { { let d = a.abs_diff(b); d * d * V::lit(T::from_f64(0.5)) } }
}

plain! {
    /// Σ x y, a similarity: the nearest neighbours have the largest.
    Dot;
    /// 1 − Σ x y / (‖x‖ ‖y‖), in [0, 2]. Two zero rows have distance 0, and a zero row has distance 1 from any other.
    Cosine;
    /// The cosine distance of x − x̄ and y − ȳ, where the mean is over all columns. Rows without variance count as zero
    /// rows of [`Cosine`].
    Correlation;
    /// √Σ (x − y)².
    Euclidean;
    /// Σ (x − y)².
    SquaredEuclidean;
}

impl<W: Float> Recipe for Dot<W> {
    type W = W;
    type Term = Times<W>;
    type Exact = Times<W>;
    const CHEAP: bool = true;
    const ANNIHILATES: bool = true;
    const ZERO_SELF: bool = false;
    const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
    fn term(self) -> Times<W> {
        Times::new()
    }
    fn exact(self) -> Times<W> {
        Times::new()
    }
    #[inline(always)]
    fn key<M: Arith>(self, _: Norms<M, W>, _: Norms<M, W>, sum: V<M, W>, _: V<M, W>) -> V<M, W> {
        -sum
    }
    #[inline(always)]
    fn finish<M: Arith>(self, key: V<M, W>) -> V<M, W> {
        // Not −0 for rows without a common column.
        c::<M, W>(0.0) - key
    }
}

/// Clamps a cosine distance to its range.
#[inline(always)]
fn within<M: Arith, W: Float>(key: V<M, W>) -> V<M, W> {
    key.max(c(0.0)).min(c(2.0))
}

impl<W: Float> Recipe for Cosine<W> {
    type W = W;
    type Term = Times<W>;
    type Exact = HalfSquaredDiff<W>;
    const CHEAP: bool = true;
    const ANNIHILATES: bool = true;
    const REFINES: bool = true;
    const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Decreasing;
    fn invariance(self) -> Invariance {
        Invariance::Rows
    }
    fn term(self) -> Times<W> {
        Times::new()
    }
    fn exact(self) -> HalfSquaredDiff<W> {
        HalfSquaredDiff::new()
    }
    #[inline(always)]
    fn first<M: Arith>(self, _: Side, x: V<M, W>) -> V<M, W> {
        x * x
    }
    #[inline(always)]
    fn entry<M: Arith>(self, _: Side, x: V<M, W>, row: Row<M, W>) -> V<M, W> {
        x / row.first.sqrt()
    }
    #[inline(always)]
    fn norms<M: Arith>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
        (row.nnz.eq(c(0.0)).select(c(1.0), c(0.0)), c(0.0))
    }
    #[inline(always)]
    fn key<M: Arith>(self, x: Norms<M, W>, y: Norms<M, W>, sum: V<M, W>, _: V<M, W>) -> V<M, W> {
        c::<M, W>(1.0) - sum - x.0 * y.0
    }
    #[inline(always)]
    fn near<M: Arith>(self, key: V<M, W>, _: Norms<M, W>, _: Norms<M, W>) -> V<M, bool> {
        key.lt(cancelled())
    }
    /// Cauchy–Schwarz: part is the squared norm of the shared part of x/‖x‖.
    fn at_least(self, _: [W; 2], part: f64, slack: f64) -> Option<f64> {
        Some(1.0 - part.sqrt() - slack)
    }
    #[inline(always)]
    fn finish<M: Arith>(self, key: V<M, W>) -> V<M, W> {
        within(key)
    }
}

impl<W: Float> Correlation<W> {
    /// Mean, norm of the deviations, and whether these are only the round-off of a constant row.
    #[inline(always)]
    fn spread<M: Arith>(row: Row<M, W>) -> (V<M, W>, V<M, W>, V<M, bool>) {
        let mean = row.first / row.ncols.max(c(1.0));
        let squares = row.second + (row.ncols - row.nnz) * mean * mean;
        let round_off = c::<M, W>(if size_of::<W>() == 4 { 1.2e-7 } else { 2.3e-16 }) * row.nnz * mean;
        (mean, squares.sqrt(), squares.le(round_off * round_off * row.ncols))
    }
}

impl<W: Float> Recipe for Correlation<W> {
    type W = W;
    type Term = Times<W>;
    type Exact = HalfSquaredDiff<W>;
    const CHEAP: bool = true;
    const ANNIHILATES: bool = true;
    const REFINES: bool = true;
    fn invariance(self) -> Invariance {
        Invariance::RowsAndMeans
    }
    fn term(self) -> Times<W> {
        Times::new()
    }
    fn exact(self) -> HalfSquaredDiff<W> {
        HalfSquaredDiff::new()
    }
    #[inline(always)]
    fn first<M: Arith>(self, _: Side, x: V<M, W>) -> V<M, W> {
        x
    }
    #[inline(always)]
    fn second<M: Arith>(self, x: V<M, W>, first: V<M, W>, _: V<M, W>, ncols: V<M, W>) -> V<M, W> {
        let d = x - first / ncols.max(c(1.0));
        d * d
    }
    #[inline(always)]
    fn entry<M: Arith>(self, _: Side, x: V<M, W>, row: Row<M, W>) -> V<M, W> {
        let (_, norm, constant) = Self::spread(row);
        constant.select(c(0.0), x / norm)
    }
    #[inline(always)]
    fn norms<M: Arith>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
        let (mean, norm, constant) = Self::spread(row);
        (constant.select(c(0.0), row.ncols.sqrt() * mean / norm), constant.select(c(1.0), c(0.0)))
    }
    #[inline(always)]
    fn key<M: Arith>(self, x: Norms<M, W>, y: Norms<M, W>, sum: V<M, W>, _: V<M, W>) -> V<M, W> {
        c::<M, W>(1.0) - (sum - x.0 * y.0) - x.1 * y.1
    }
    #[inline(always)]
    fn near<M: Arith>(self, key: V<M, W>, x: Norms<M, W>, y: Norms<M, W>) -> V<M, bool> {
        key.lt(cancelled::<M, W>() * (c::<M, W>(1.0) + (x.0 * y.0).abs()))
    }
    #[inline(always)]
    fn exact_key<M: Arith>(self, x: Norms<M, W>, y: Norms<M, W>, sum: V<M, W>) -> V<M, W> {
        // Two constant rows have distance 0, as their entries are 0; a constant row is near no other.
        let d = x.0 - y.0;
        sum - c::<M, W>(0.5) * d * d
    }
    #[inline(always)]
    fn finish<M: Arith>(self, key: V<M, W>) -> V<M, W> {
        within(key)
    }
}

macro_rules! euclidean {
    ($name:ident $power:literal $finish:expr) => {
        impl<W: Float> Recipe for $name<W> {
            type W = W;
            type Term = Times<W>;
            type Exact = SquaredDiff<W>;
            const CHEAP: bool = true;
            const ANNIHILATES: bool = true;
            const REFINES: bool = true;
            const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
            fn invariance(self) -> Invariance {
                Invariance::Norm { p: 2.0, power: $power }
            }
            fn term(self) -> Times<W> {
                Times::new()
            }
            fn exact(self) -> SquaredDiff<W> {
                SquaredDiff::new()
            }
            #[inline(always)]
            fn first<M: Arith>(self, _: Side, x: V<M, W>) -> V<M, W> {
                x * x
            }
            #[inline(always)]
            fn key<M: Arith>(self, x: Norms<M, W>, y: Norms<M, W>, sum: V<M, W>, _: V<M, W>) -> V<M, W> {
                x.0 + y.0 - (sum + sum)
            }
            /// Attained by the row that equals x in exactly those columns.
            fn at_least(self, x: [W; 2], part: f64, slack: f64) -> Option<f64> {
                let all = x[0].as_f64();
                Some(all - part - slack * all)
            }
            #[inline(always)]
            fn finish<M: Arith>(self, key: V<M, W>) -> V<M, W> {
                let f: fn(V<M, W>) -> V<M, W> = $finish;
                f(key.max(c(0.0)))
            }
        }
    };
}
euclidean!(Euclidean 1 |d| d.sqrt());
euclidean!(SquaredEuclidean 2 |d| d);

of_distributions! {
    /// √(½ Σ (√x − √y)²), for nonnegative rows; with `normalize`, rows divided by their sums first.
    Hellinger;
}

impl<W: Float> Recipe for Hellinger<W> {
    type W = W;
    type Term = Times<W>;
    type Exact = HalfSquaredDiff<W>;
    const CHEAP: bool = true;
    const ANNIHILATES: bool = true;
    const REFINES: bool = true;
    const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
    fn invariance(self) -> Invariance {
        if self.normalize { Invariance::Rows } else { Invariance::Degree(0.5) }
    }
    fn term(self) -> Times<W> {
        Times::new()
    }
    fn exact(self) -> HalfSquaredDiff<W> {
        HalfSquaredDiff::new()
    }
    #[inline(always)]
    fn first<M: Arith>(self, _: Side, x: V<M, W>) -> V<M, W> {
        x
    }
    #[inline(always)]
    fn entry<M: Arith>(self, _: Side, x: V<M, W>, row: Row<M, W>) -> V<M, W> {
        if self.normalize { (x / row.first).sqrt() } else { x.sqrt() }
    }
    #[inline(always)]
    fn norms<M: Arith>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
        let one = row.nnz.eq(c(0.0)).select(c(0.0), c(1.0));
        (if self.normalize { one } else { row.first }, c(0.0))
    }
    #[inline(always)]
    fn key<M: Arith>(self, x: Norms<M, W>, y: Norms<M, W>, sum: V<M, W>, _: V<M, W>) -> V<M, W> {
        c::<M, W>(0.5) * (x.0 + y.0) - sum
    }
    #[inline(always)]
    fn finish<M: Arith>(self, key: V<M, W>) -> V<M, W> {
        key.max(c(0.0)).sqrt()
    }
}
