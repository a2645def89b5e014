//! Distances from differences of entries: Manhattan and its relatives, Canberra, Hamming, Minkowski.

use std::marker::PhantomData;

use super::plain;
use crate::algebra::{AbsDiff, Arith, BinaryOp, Mismatch, Real, V};
use crate::distance::float::Float;
use crate::distance::recipe::{DisjointOrder, Invariance, Norms, Recipe, Row, Side, c, cancelled};
use crate::op;

op! {
    /// |a − b| − |a| − |b|, which is −2 min(|a|, |b|) for equal signs and otherwise 0: no rounding at all.
    pub ManhattanTerm<T: Real> (a, b) -> T {{
        let least = a.abs().min(b.abs());
        let signs_differ = a.lt(V::lit(T::ZERO)).ne(b.lt(V::lit(T::ZERO)));
        signs_differ.select(V::lit(T::ZERO), -(least + least))
    }}
}
op! {
    /// The smaller of two nonnegative numbers.
    pub Lesser<T: Real> (a, b) -> T { a.min(b) }
}
op! {
    /// |a − b| / (|a| + |b|), 0 for two zeros: the ⊗ of Canberra.
    pub CanberraDiff<T: Real> (a, b) -> T {{
        let sum = a.abs() + b.abs();
        a.abs_diff(b) / sum.eq(V::lit(T::ZERO)).select(V::lit(T::ONE), sum)
    }}
}
op! {
    /// |a − b| / (|a| + |b|) − 2, and 0 where b = 0.
    pub CanberraTerm<T: Real> (a, b) -> T {{
        let none = b.eq(V::lit(T::ZERO));
        let two = V::lit(T::ONE) + V::lit(T::ONE);
        none.select(V::lit(T::ZERO), a.abs_diff(b) / (a.abs() + b.abs()) - two)
    }}
}
op! {
    /// [a ≠ b] − 2, and 0 where b = 0.
    pub HammingTerm<T: Real> (a, b) -> T {{
        let one = V::<_, T>::lit(T::ONE);
        let shared = a.ne(b).select(-one, -(one + one));
        b.eq(V::lit(T::ZERO)).select(V::lit(T::ZERO), shared)
    }}
}
/// An exponent.
pub trait Exponent: Copy + Send + Sync + 'static {
    /// Its value.
    fn number(self) -> f64;
    /// x to its power, for nonnegative x.
    fn of<M: Arith, W: Float>(self, x: V<M, W>) -> V<M, W>;
}

impl Exponent for f64 {
    fn number(self) -> f64 {
        self
    }
    #[inline(always)]
    fn of<M: Arith, W: Float>(self, x: V<M, W>) -> V<M, W> {
        x.powf(c(self))
    }
}

/// An integer exponent, at least 1: a few multiplications instead of a logarithm and an exponential.
impl Exponent for u32 {
    fn number(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn of<M: Arith, W: Float>(self, x: V<M, W>) -> V<M, W> {
        // Unrolled, so that the powers of a term's left entry are computed once for a column.
        match self {
            0 | 1 => x,
            2 => x * x,
            3 => x * x * x,
            4 => (x * x) * (x * x),
            _ => {
                // From the highest bit down: square, and multiply where the bit is set.
                let mut power = x;
                for bit in (0..self.ilog2()).rev() {
                    power = power * power;
                    if self >> bit & 1 == 1 {
                        power = power * x;
                    }
                }
                power
            }
        }
    }
}

/// ⊗ with an exponent.
macro_rules! with_exponent {
    ($($(#[$m:meta])* $name:ident |$p:ident, $a:ident, $b:ident| $body:expr;)*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T, P>(P, PhantomData<T>);
        impl<T, P> $name<T, P> {
            /// The operator.
            pub const fn new(p: P) -> Self {
                Self(p, PhantomData)
            }
        }
        impl<T: Float, P: Exponent> BinaryOp for $name<T, P> {
            type A = T;
            type B = T;
            type Out = T;
            #[inline(always)]
            fn apply<M: Arith>(self, $a: V<M, T>, $b: V<M, T>) -> V<M, T> {
                let $p = self.0;
                $body
            }
        }
    )*};
}
with_exponent! {
    /// |a − b|^p: the ⊗ of Minkowski.
    PowDiff |p, a, b| p.of(a.abs_diff(b));
    /// |a − b|^p − (|a|^p + |b|^p).
    MinkowskiTerm |p, a, b| p.of(a.abs_diff(b)) - (p.of(a.abs()) + p.of(b.abs()));
}

plain! {
    /// Σ |x − y|.
    Manhattan;
    /// Σ |x − y| / Σ (x + y), for nonnegative rows; 0 for two empty rows.
    BrayCurtis;
    /// 1 − Σ min(x, y) / Σ max(x, y), for nonnegative rows: weighted Jaccard; 0 for two empty rows.
    Ruzicka;
    /// Σ |x − y| / (|x| + |y|), where 0/0 = 0.
    Canberra;
    /// Fraction of the columns where x ≠ y.
    Hamming;
    /// Number of columns where x ≠ y.
    HammingCount;
}

impl<W: Float> Recipe for Manhattan<W> {
    type W = W;
    type Term = ManhattanTerm<W>;
    type Exact = AbsDiff<W>;
    const CHEAP: bool = true;
    const ANNIHILATES: bool = true;
    const REFINES: bool = true;
    const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
    fn invariance(self) -> Invariance {
        Invariance::Norm { p: 1.0, power: 1 }
    }
    fn term(self) -> ManhattanTerm<W> {
        ManhattanTerm::new()
    }
    fn exact(self) -> AbsDiff<W> {
        AbsDiff::new()
    }
    #[inline(always)]
    fn first<M: Arith>(self, _: Side, x: V<M, W>) -> V<M, W> {
        x.abs()
    }
    #[inline(always)]
    fn finish<M: Arith>(self, key: V<M, W>) -> V<M, W> {
        key.max(c(0.0))
    }
}

/// Distances in [0, 1] from Σ min(x, y) of nonnegative rows; `whole` is the denominator.
macro_rules! of_multisets {
    ($name:ident |$both:ident, $sum:ident| $whole:expr) => {
        impl<W: Float> Recipe for $name<W> {
            type W = W;
            type Term = Lesser<W>;
            type Exact = AbsDiff<W>;
            const CHEAP: bool = true;
            const ANNIHILATES: bool = true;
            const REFINES: bool = true;
            const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
            fn invariance(self) -> Invariance {
                Invariance::Degree(0.0)
            }
            fn term(self) -> Lesser<W> {
                Lesser::new()
            }
            fn exact(self) -> AbsDiff<W> {
                AbsDiff::new()
            }
            #[inline(always)]
            fn first<M: Arith>(self, _: Side, x: V<M, W>) -> V<M, W> {
                x
            }
            #[inline(always)]
            fn key<M: Arith>(self, x: Norms<M, W>, y: Norms<M, W>, $sum: V<M, W>, _: V<M, W>) -> V<M, W> {
                let $both = x.0 + y.0;
                let whole = $whole;
                let none = whole.le(c(0.0));
                none.select(c(0.0), ($both - ($sum + $sum)) / none.select(c(1.0), whole))
            }
            #[inline(always)]
            fn near<M: Arith>(self, key: V<M, W>, _: Norms<M, W>, _: Norms<M, W>) -> V<M, bool> {
                key.lt(cancelled())
            }
            #[inline(always)]
            fn exact_key<M: Arith>(self, x: Norms<M, W>, y: Norms<M, W>, difference: V<M, W>) -> V<M, W> {
                let $both = x.0 + y.0;
                let $sum = c::<M, W>(0.5) * ($both - difference);
                let whole = $whole;
                let none = whole.le(c(0.0));
                none.select(c(0.0), difference / none.select(c(1.0), whole))
            }
            #[inline(always)]
            fn finish<M: Arith>(self, key: V<M, W>) -> V<M, W> {
                key.max(c(0.0))
            }
        }
    };
}
of_multisets!(
    BrayCurtis | both,
    sum | {
        let _ = sum;
        both
    }
);
of_multisets!(Ruzicka | both, sum | both - sum);

impl<W: Float> Recipe for Canberra<W> {
    type W = W;
    type Term = CanberraTerm<W>;
    type Exact = CanberraDiff<W>;
    const STAGED: bool = true;
    const REFINES: bool = true;
    const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
    fn invariance(self) -> Invariance {
        Invariance::Degree(0.0)
    }
    fn term(self) -> CanberraTerm<W> {
        CanberraTerm::new()
    }
    fn exact(self) -> CanberraDiff<W> {
        CanberraDiff::new()
    }
    #[inline(always)]
    fn norms<M: Arith>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
        (row.nnz, c(0.0))
    }
    #[inline(always)]
    fn finish<M: Arith>(self, key: V<M, W>) -> V<M, W> {
        key.max(c(0.0))
    }
}

macro_rules! hamming {
    ($name:ident |$count:ident, $ncols:ident| $key:expr) => {
        impl<W: Float> Recipe for $name<W> {
            type W = W;
            type Term = HammingTerm<W>;
            type Exact = Mismatch<W>;
            const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
            fn term(self) -> HammingTerm<W> {
                HammingTerm::new()
            }
            fn exact(self) -> Mismatch<W> {
                Mismatch::new()
            }
            #[inline(always)]
            fn norms<M: Arith>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
                (row.nnz, row.ncols)
            }
            #[inline(always)]
            fn key<M: Arith>(self, x: Norms<M, W>, y: Norms<M, W>, sum: V<M, W>, _: V<M, W>) -> V<M, W> {
                let ($count, $ncols) = (x.0 + y.0 + sum, x.1);
                $key
            }
        }
    };
}
hamming!(Hamming | count, ncols | count / ncols.max(c(1.0)));
hamming!(
    HammingCount | count,
    ncols | {
        let _ = ncols;
        count
    }
);

/// (Σ |x − y|^p)^(1/p); `P` is f64, or u32 for integer exponents.
#[derive(Clone, Copy, Debug)]
pub struct Minkowski<W, P = f64> {
    p: P,
    _w: PhantomData<W>,
}

impl<W, P> Minkowski<W, P> {
    /// The recipe, for p > 0.
    #[must_use]
    pub const fn new(p: P) -> Self {
        Self { p, _w: PhantomData }
    }
}

impl<W: Float, P: Exponent> Recipe for Minkowski<W, P> {
    type W = W;
    type Term = MinkowskiTerm<W, P>;
    type Exact = PowDiff<W, P>;
    const REFINES: bool = true;
    const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Increasing;
    fn invariance(self) -> Invariance {
        Invariance::Norm { p: self.p.number(), power: 1 }
    }
    fn term(self) -> Self::Term {
        MinkowskiTerm::new(self.p)
    }
    fn exact(self) -> Self::Exact {
        PowDiff::new(self.p)
    }
    #[inline(always)]
    fn first<M: Arith>(self, _: Side, x: V<M, W>) -> V<M, W> {
        self.p.of(x.abs())
    }
    #[inline(always)]
    fn finish<M: Arith>(self, key: V<M, W>) -> V<M, W> {
        key.max(c(0.0)).powf(c(1.0 / self.p.number()))
    }
}
