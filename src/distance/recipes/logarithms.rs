//! Distances of distributions: Jensen–Shannon and Kullback–Leibler.

use std::marker::PhantomData;

use crate::algebra::{Machine, Real, V};
use crate::distance::recipe::{Norms, Recipe, Row, Side, c};
use crate::op;

op! {
    /// h(a) + h(b) − h(a + b) with h(x) = x ln x, h(0) = 0: what a common column adds to Jensen–Shannon.
    pub JensenShannonTerm<T: Real> (a, b) -> T { a.x_ln_x() + b.x_ln_x() - (a + b).x_ln_x() }
}
op! {
    /// a ln(a/μ) + b ln(b/μ), μ = (a + b)/2, 0 ln 0 = 0: the ⊗ of Jensen–Shannon.
    pub JensenShannonDiff<T: Real> (a, b) -> T {{
        let zero = V::lit(T::ZERO);
        let sum = a + b;
        let part = (a - b) / sum.same(zero).select(V::lit(T::ONE), sum);
        let of = |x: V<_, T>, part: V<_, T>| x.same(zero).select(zero, x * x.same(zero).select(zero, part).ln_1p());
        of(a, part) + of(b, -part)
    }}
}
op! {
    /// a (ln a − b), where b is the logarithm of y's entry.
    pub KlTerm<T: Real> (a, b) -> T { a * (a.ln() - b) }
}

/// √(½ Σ (x ln(x/μ) + y ln(y/μ))), μ = (x + y)/2, for rows that are not negative.
///
/// With `normalize` rows are divided by their sums first; then two empty rows are at 0, and one empty row is at √ln 2, the
/// largest distance, from any other.
#[derive(Clone, Copy, Debug)]
pub struct JensenShannon<W> {
    normalize: bool,
    _w: PhantomData<W>,
}

impl<W> JensenShannon<W> {
    /// The recipe.
    #[must_use]
    pub const fn new(normalize: bool) -> Self {
        Self { normalize, _w: PhantomData }
    }
}

impl<W: Real> Recipe for JensenShannon<W> {
    type W = W;
    type Term = JensenShannonTerm<W>;
    type Exact = JensenShannonDiff<W>;
    const STAGED: bool = true;
    const REFINES: bool = true;
    fn term(self) -> JensenShannonTerm<W> {
        JensenShannonTerm::new()
    }
    fn exact(self) -> JensenShannonDiff<W> {
        JensenShannonDiff::new()
    }
    #[inline(always)]
    fn first<M: Machine>(self, _: Side, x: V<M, W>) -> V<M, W> {
        x
    }
    #[inline(always)]
    fn entry<M: Machine>(self, _: Side, x: V<M, W>, row: Row<M, W>) -> V<M, W> {
        if self.normalize { x / row.first } else { x }
    }
    #[inline(always)]
    fn norms<M: Machine>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
        let ln2 = c::<M, W>(std::f64::consts::LN_2);
        let empty = row.nnz.same(c(0.0));
        if self.normalize { (empty.select(c(0.0), ln2), empty.select(ln2, c(0.0))) } else { (row.first * ln2, c(0.0)) }
    }
    #[inline(always)]
    fn key<M: Machine>(self, x: Norms<M, W>, y: Norms<M, W>, sum: V<M, W>, _: V<M, W>) -> V<M, W> {
        x.0 + y.0 + sum + x.1.abs_diff(y.1)
    }
    #[inline(always)]
    fn finish<M: Machine>(self, key: V<M, W>) -> V<M, W> {
        (c::<M, W>(0.5) * key.max(c(0.0))).sqrt()
    }
}

/// A recipe of Kullback and Leibler: over x's entries, or over the common columns alone.
macro_rules! kl {
    ($(#[$m:meta])* $name:ident $counts:literal $zero_self:literal |$nnz:ident, $sum:ident, $shared:ident| $key:expr) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<W> {
            normalize: bool,
            _w: PhantomData<W>,
        }
        impl<W> $name<W> {
            /// The recipe.
            #[must_use]
            pub const fn new(normalize: bool) -> Self {
                Self { normalize, _w: PhantomData }
            }
        }
        impl<W: Real> Recipe for $name<W> {
            type W = W;
            type Term = KlTerm<W>;
            type Exact = KlTerm<W>;
            const COUNTS: bool = $counts;
            const SYMMETRIC: bool = false;
            const ZERO_SELF: bool = $zero_self;
            fn term(self) -> KlTerm<W> {
                KlTerm::new()
            }
            fn exact(self) -> KlTerm<W> {
                KlTerm::new()
            }
            #[inline(always)]
            fn first<M: Machine>(self, _: Side, x: V<M, W>) -> V<M, W> {
                x
            }
            #[inline(always)]
            fn entry<M: Machine>(self, side: Side, x: V<M, W>, row: Row<M, W>) -> V<M, W> {
                let x = if self.normalize { x / row.first } else { x };
                if side == Side::X { x } else { x.ln() }
            }
            #[inline(always)]
            fn norms<M: Machine>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
                (row.nnz, c(0.0))
            }
            #[inline(always)]
            fn key<M: Machine>(self, x: Norms<M, W>, _: Norms<M, W>, $sum: V<M, W>, $shared: V<M, W>) -> V<M, W> {
                let $nnz = x.0;
                $key
            }
        }
    };
}
kl! {
    /// Σ x ln(x/y) over x's columns, +∞ where y has none of them: relative entropy. Not symmetric.
    KullbackLeibler true true |nnz, sum, shared| {
        // Not a number stays so.
        shared.same(nnz).select(sum, sum + V::lit(W::TOP))
    }
}
kl! {
    /// Σ x ln(x/y) over the common columns alone, as in the paper's Table 1. Not symmetric, may be negative, and rows that share
    /// nothing are at 0: for comparison with the paper, not for neighbours.
    KullbackLeiblerIntersection false true |nnz, sum, shared| { let _ = (nnz, shared); sum }
}
