//! Distances of sets, from the sizes of the sets and of their intersection, which are counted without rounding.

use super::plain;
use crate::algebra::{Arith, Times, V};
use crate::distance::float::Float;
use crate::distance::recipe::{DisjointOrder, Norms, Recipe, Row, Side, c};

/// The sizes of two sets of columns.
struct Sets<M: Arith, W: Float> {
    /// |x|, |y|.
    x: V<M, W>,
    y: V<M, W>,
    /// |x ∩ y|.
    both: V<M, W>,
    /// Columns of the matrix.
    ncols: V<M, W>,
}

impl<M: Arith, W: Float> Sets<M, W> {
    /// Columns in exactly one of the two.
    #[inline(always)]
    fn differ(&self) -> V<M, W> {
        (self.x - self.both) + (self.y - self.both)
    }
}

/// a / b, and 0 where b = 0.
#[inline(always)]
fn ratio<M: Arith, W: Float>(a: V<M, W>, b: V<M, W>) -> V<M, W> {
    let none = b.eq(c(0.0));
    none.select(c(0.0), a / none.select(c(1.0), b))
}

macro_rules! sets {
    ($($(#[$m:meta])* $name:ident [$zero_self:literal, $order:ident $(, $least:expr)?] |$s:ident| $key:expr;)*) => {
        plain! { $($(#[$m])* $name;)* }
        $(impl<W: Float> Recipe for $name<W> {
            type W = W;
            type Term = Times<W>;
            type Exact = Times<W>;
            const CHEAP: bool = true;
            const ZERO_SELF: bool = $zero_self;
            const DISJOINT_ORDER: DisjointOrder = DisjointOrder::$order;
            fn term(self) -> Times<W> {
                Times::new()
            }
            fn exact(self) -> Times<W> {
                Times::new()
            }
            #[inline(always)]
            fn entry<M: Arith>(self, _: Side, _: V<M, W>, _: Row<M, W>) -> V<M, W> {
                c(1.0)
            }
            #[inline(always)]
            fn norms<M: Arith>(self, _: Side, row: Row<M, W>) -> Norms<M, W> {
                (row.nnz, row.ncols)
            }
            #[inline(always)]
            fn key<M: Arith>(self, x: Norms<M, W>, y: Norms<M, W>, sum: V<M, W>, _: V<M, W>) -> V<M, W> {
                let $s = Sets { x: x.0, y: y.0, both: sum, ncols: x.1 };
                $key
            }
            $(
                /// Attained by the subset of x that has exactly those columns.
                fn at_least(self, x: [W; 2], part: f64, slack: f64) -> Option<f64> {
                    let least: fn(f64, f64) -> f64 = $least;
                    Some(least(x[0].as_f64(), part) - slack)
                }
            )?
        })*
    };
}
sets! {
    /// 1 − 2 |x∩y| / (|x| + |y|), Dice–Sørensen; 0 for two empty rows.
    Dice [true, Increasing, |x, part| 1.0 - 2.0 * part / (x + part)] |s| ratio(s.differ(), s.x + s.y);
    /// 1 − |x∩y| / |x∪y|; 0 for two empty rows.
    Jaccard [true, Increasing, |x, part| 1.0 - part / x] |s| ratio(s.differ(), s.x + s.y - s.both);
    /// (k − |x∩y|) / k, k the number of columns. Not 0 for x and x unless x is full.
    RussellRao [false, Increasing] |s| ratio(s.ncols - s.both, s.ncols);
    /// Fraction of the columns that are in exactly one of the two.
    Matching [true, Increasing] |s| ratio(s.differ(), s.ncols);
    /// 2 R / (k + R), R columns in exactly one of the two. (Where k + R is rounded, as in f32, it need not grow with
    /// R.)
    RogersTanimoto [true, Unknown] |s| { let r = s.differ(); ratio(r + r, s.ncols + r) };
    /// The formula of [`RogersTanimoto`], as in the libraries that have both names.
    SokalMichener [true, Unknown] |s| { let r = s.differ(); ratio(r + r, s.ncols + r) };
    /// 2 R / (|x∩y| + 2 R), R columns in exactly one of the two; 0 for two empty rows.
    SokalSneath [true, Increasing] |s| { let r = s.differ(); ratio(r + r, s.both + r + r) };
    /// (R − |x∩y| + k) / (k + R). Not 0 for x and x unless x is full.
    Kulsinski [false, Increasing] |s| { let r = s.differ(); ratio(r - s.both + s.ncols, s.ncols + r) };
    /// 2 p q / (|x∩y| · o + p q), with p columns only in x, q only in y, o in neither; 0 where p q = 0.
    Yule [true, Increasing] |s| {
        let (p, q) = (s.x - s.both, s.y - s.both);
        let neither = s.ncols - s.x - s.y + s.both;
        let mixed = p * q;
        ratio(mixed + mixed, mixed.eq(c(0.0)).select(c(0.0), s.both * neither + mixed))
    };
}
