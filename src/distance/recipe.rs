//! How a distance is built on a semiring: the norms of a row, ⊗, and the finalizer of the sum.

use super::float::Float;
use crate::algebra::{
    Arith, MulOp, Num, Number, Plus, Ring, Trace, Union, V, Value, emit_contract_as, emit_functions, emit_split,
};

/// Which of the two matrices a row belongs to. It matters only to distances that are not symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left matrix, whose rows query.
    X,
    /// The right matrix, whose rows are queried.
    Y,
}

/// Sums over a row's nonzero entries.
pub struct Row<M: Arith, W: Float> {
    /// Σ [`first`](Recipe::first).
    pub first: V<M, W>,
    /// Σ [`second`](Recipe::second).
    pub second: V<M, W>,
    /// Number of entries.
    pub nnz: V<M, W>,
    /// Number of columns of the matrix.
    pub ncols: V<M, W>,
}

impl<M: Arith, W: Float> Clone for Row<M, W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M: Arith, W: Float> Copy for Row<M, W> {}

/// The transformations of rows that leave their distance unchanged. Numbers too large or too small for the sums are
/// first scaled by powers of two, and rows whose mean is large relative to their spread are centred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Invariance {
    /// Nothing.
    None,
    /// Each row may be scaled: d(s x, t y) = d(x, y).
    Rows,
    /// Each row may be scaled and shifted in all columns: d(s x + a, t y + b) = d(x, y).
    RowsAndMeans,
    /// Both rows may be scaled: d(s x, s y) = s^degree d(x, y).
    Degree(f64),
    /// d(x, y) = (Σ|x − y|^p)^(power/p): depends only on the difference of the rows, with that degree.
    Norm {
        /// The exponent of a difference.
        p: f64,
        /// 1 for a norm, 2 for its square.
        power: i32,
    },
}

/// The key of two rows that share no column, whose sum is 0, as a function of y's norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisjointOrder {
    /// Unknown.
    Unknown,
    /// Nondecreasing in y's first norm, whatever x is: rows in order of their norm are in order of their distance.
    /// Equal first norms imply equal second norms.
    Increasing,
    /// As above, but nonincreasing.
    Decreasing,
}

/// The two norms of a row.
pub type Norms<M, W> = (V<M, W>, V<M, W>);

/// A distance whose ⊕ is +, in the one-pass form: norms of rows, one sum over the common columns, a finalizer.
///
/// With x' and y' the prepared [`entry`](Self::entry) of each stored value,
/// `d(x, y) = finish(key(norms(x), norms(y), Σ_{x∩y} x' ⊗ y'))`. Every function is written once for CPU and GPU.
///
/// Why one pass is enough: if ⊕ is +, `Σ_{x∪y} x⊗y = Σ x⊗0 + Σ 0⊗y + Σ_{x∩y} (x⊗y − x⊗0 − 0⊗y)`, and the first two sums
/// are functions of one row each. Entries of value 0 are dropped beforehand, so results never depend on stored zeros.
///
/// Source: Nolet et al. 2022, Table 1 and §2.2 (norms and expansions); the one-pass form is ours.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the recipe of a one-pass distance",
    note = "a ⊗ by `op!` in `Union(Plus::new(), …)` is enough for most distances; `Recipe` adds norms and a finalizer"
)]
pub trait Recipe: Copy + Send + Sync + 'static {
    /// The type of the arithmetic.
    type W: Float;
    /// ⊗ on prepared entries that share a column.
    type Term: MulOp<A = Self::W, B = Self::W, Out = Self::W>;
    /// ⊗ on the union of prepared entries, for pairs that are [`near`](Self::near).
    type Exact: MulOp<A = Self::W, B = Self::W, Out = Self::W>;

    /// Whether [`key`](Self::key) depends on the number of shared columns.
    const COUNTS: bool = false;
    /// d(x, y) = d(y, x), for the norms and entries of either side.
    const SYMMETRIC: bool = true;
    /// d(x, x) = 0.
    const ZERO_SELF: bool = true;
    /// ⊗ takes a few instructions, and x' ⊗ 0 = 0 for every finite x': a frequent column may be stored dense, zeros
    /// included.
    const CHEAP: bool = false;
    /// 0 ⊗ y' = 0 for every finite y': several rows may be processed side by side although some lack a column.
    const ANNIHILATES: bool = false;
    /// Whether ⊗ is so long that computing a batch of terms before adding them pays.
    const STAGED: bool = false;
    /// Whether [`near`](Self::near) may hold.
    const REFINES: bool = false;

    /// The order of rows that share no column, for entries within the domain: with it neighbours are found without
    /// examining all rows. Rows that differ only in their number must have equal keys, also where they are
    /// [`near`](Self::near).
    const DISJOINT_ORDER: DisjointOrder = DisjointOrder::Unknown;

    /// ⊗ of the sum over common columns.
    fn term(self) -> Self::Term;
    /// ⊗ of the exact form.
    fn exact(self) -> Self::Exact;
    /// Summed over a row.
    fn first<M: Arith>(self, _side: Side, _x: V<M, Self::W>) -> V<M, Self::W> {
        V::lit(Self::W::ZERO)
    }
    /// Summed over a row, once the sum of `first` is known.
    fn second<M: Arith>(
        self,
        _x: V<M, Self::W>,
        _first: V<M, Self::W>,
        _nnz: V<M, Self::W>,
        _ncols: V<M, Self::W>,
    ) -> V<M, Self::W> {
        V::lit(Self::W::ZERO)
    }
    /// The entry that ⊗ takes.
    fn entry<M: Arith>(self, _side: Side, x: V<M, Self::W>, _row: Row<M, Self::W>) -> V<M, Self::W> {
        x
    }
    /// The norms of the row.
    fn norms<M: Arith>(self, _side: Side, row: Row<M, Self::W>) -> Norms<M, Self::W> {
        (row.first, V::lit(Self::W::ZERO))
    }
    /// The key by which neighbours are ranked, smallest first; `shared` is the number of common columns if
    /// [`COUNTS`](Self::COUNTS).
    #[inline(always)]
    fn key<M: Arith>(
        self,
        x: Norms<M, Self::W>,
        y: Norms<M, Self::W>,
        sum: V<M, Self::W>,
        _shared: V<M, Self::W>,
    ) -> V<M, Self::W> {
        x.0 + y.0 + sum
    }
    /// Whether cancellation requires the pair to be recomputed over its union; evaluated if [`REFINES`](Self::REFINES).
    #[inline(always)]
    fn near<M: Arith>(self, key: V<M, Self::W>, x: Norms<M, Self::W>, y: Norms<M, Self::W>) -> V<M, bool> {
        key.lt(cancelled::<M, Self::W>() * (x.0 + y.0))
    }
    /// A lower bound, if known, on the keys of all rows that share with x only a subset of its columns: `part` is Σ a²
    /// over x's entries a in the subset, and `slack` a bound on rounding, relative to 1.
    fn at_least(self, _x: [Self::W; 2], _part: f64, _slack: f64) -> Option<f64> {
        None
    }
    /// The key from the sum over the union.
    fn exact_key<M: Arith>(self, _x: Norms<M, Self::W>, _y: Norms<M, Self::W>, sum: V<M, Self::W>) -> V<M, Self::W> {
        sum
    }
    /// The distance of a key; increasing in it.
    fn finish<M: Arith>(self, key: V<M, Self::W>) -> V<M, Self::W> {
        key
    }
    /// The transformations of rows that keep sums from overflowing, underflowing or cancelling.
    fn invariance(self) -> Invariance {
        Invariance::None
    }
}

/// A constant.
#[inline(always)]
pub(crate) fn c<M: Arith, W: Float>(x: f64) -> V<M, W> {
    V::lit(x.cast::<W>())
}

/// Fraction of the norms below which a difference is recomputed: it has lost about half of its digits there.
#[inline(always)]
pub(crate) fn cancelled<M: Arith, W: Float>() -> V<M, W> {
    c(if size_of::<W>() == 4 { 1e-3 } else { 1e-6 })
}

/// CUDA text of a recipe: `struct Ring` (+ and ⊗), `struct Exact` (+ and the exact ⊗), and `struct Recipe`, whose
/// functions are named as in this trait, with a suffix `x` or `y` where they depend on the side, and `_0` and `_1` for
/// the two norms. `struct Split` exists where an expensive part of ⊗ depends on x' alone; kernels compute it once per
/// entry of x.
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "for a GPU"))]
pub(crate) fn emit_recipe<R: Recipe>(recipe: R) -> String {
    type T<R> = V<Trace, <R as Recipe>::W>;
    let cuda = R::W::CUDA;
    let arg = |name: &'static str| -> T<R> { Trace::parameter(name) };
    let row = || Row { first: arg("first"), second: arg("second"), nnz: arg("nnz"), ncols: arg("ncols") };
    let (x, y) = (|| (arg("x0"), arg("x1")), || (arg("y0"), arg("y1")));
    let mut f = emit_functions();
    let names = [
        (Side::X, ["first_x", "entry_x", "norm_x_0", "norm_x_1"]),
        (Side::Y, ["first_y", "entry_y", "norm_y_0", "norm_y_1"]),
    ];
    for (side, [first, entry, norm_0, norm_1]) in names {
        f.add::<R::W, _>(first, &["x"], || recipe.first(side, arg("x")));
        f.add::<R::W, _>(entry, &["x", "first", "second", "nnz", "ncols"], || recipe.entry(side, arg("x"), row()));
        f.add::<R::W, _>(norm_0, &["first", "second", "nnz", "ncols"], || recipe.norms(side, row()).0);
        f.add::<R::W, _>(norm_1, &["first", "second", "nnz", "ncols"], || recipe.norms(side, row()).1);
    }
    f.add::<R::W, _>("second", &["x", "first", "nnz", "ncols"], || {
        recipe.second(arg("x"), arg("first"), arg("nnz"), arg("ncols"))
    });
    f.add::<R::W, _>("key", &["x0", "x1", "y0", "y1", "sum", "shared"], || {
        recipe.key(x(), y(), arg("sum"), arg("shared"))
    });
    f.add::<R::W, _>("near", &["key", "x0", "x1", "y0", "y1"], || recipe.near(arg("key"), x(), y()));
    f.add::<R::W, _>("exact_key", &["x0", "x1", "y0", "y1", "sum"], || recipe.exact_key(x(), y(), arg("sum")));
    f.add::<R::W, _>("finish", &["key"], || recipe.finish(arg("key")));
    let flags = format!(
        "  using W = {cuda};\n  static constexpr bool counts = {}, symmetric = {}, zero_self = {}, refines = {};\n",
        R::COUNTS,
        R::SYMMETRIC,
        R::ZERO_SELF,
        R::REFINES
    );
    let plus = Plus::<R::W>::new();
    format!(
        "{}{}{}struct Recipe {{\n{flags}{}}};\n",
        emit_contract_as("Ring", Ring(plus, recipe.term())),
        emit_split(recipe.term()),
        emit_contract_as("Exact", Union(plus, recipe.exact())),
        f.text()
    )
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::emit_recipe;
    use crate::algebra::AbsDiff;
    use crate::distance::{Correlation, Jaccard, JensenShannon, KullbackLeibler, Manhattan, Minkowski, OnePass};

    /// The printed text of a distance of each family, as a kernel gets it; `UPDATE_SNAPSHOTS=1` rewrites the snapshot.
    #[test]
    fn text_is_that_of_the_snapshot() {
        let mut text = String::new();
        macro_rules! recipes {
            ($($recipe:expr;)*) => {
                $(writeln!(text, "// {}\n{}", stringify!($recipe), emit_recipe($recipe)).unwrap();)*
            };
        }
        recipes! {
            Correlation::<f64>::new();
            Manhattan::<f64>::new();
            Minkowski::<f64>::new(2.5);
            Minkowski::<f32, u32>::new(3);
            JensenShannon::<f64>::new(true);
            KullbackLeibler::<f32>::new(false);
            Jaccard::<f32>::new();
            OnePass(AbsDiff::<f64>::new());
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/distance.cu");
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some_and(|v| v == "1") {
            std::fs::write(path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap();
        for (line, (kept, printed)) in (1..).zip(kept.lines().zip(text.lines())) {
            assert_eq!(kept, printed, "tests/snapshots/distance.cu:{line}: UPDATE_SNAPSHOTS=1 rewrites it");
        }
        assert_eq!(kept.len(), text.len(), "one is longer");
    }
}
