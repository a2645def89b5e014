//! How a distance is made of a semiring: what is kept of a row, ⊗, and what becomes of the sum.

use super::float::Float;
use crate::algebra::{
    Machine, MulOp, Num, Number, Plus, Ring, Trace, Union, V, Value, emit_contract_as, emit_functions, emit_split,
};

/// Which of the two matrices a row belongs to. It matters only to distances that are not symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left matrix, whose rows ask.
    X,
    /// The right matrix, whose rows answer.
    Y,
}

/// Sums over a row's entries that are not 0.
pub struct Row<M: Machine, W: Float> {
    /// Σ [`first`](Recipe::first).
    pub first: V<M, W>,
    /// Σ [`second`](Recipe::second).
    pub second: V<M, W>,
    /// Number of entries.
    pub nnz: V<M, W>,
    /// Number of columns, entries or not.
    pub ncols: V<M, W>,
}

impl<M: Machine, W: Float> Clone for Row<M, W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M: Machine, W: Float> Copy for Row<M, W> {}

/// What may be done to rows without changing what their distance says: numbers too large or too small for the sums are
/// scaled by powers of two first, and rows whose mean is large beside their spread are centred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Invariance {
    /// Nothing.
    None,
    /// Each row may be scaled: d(s x, t y) = d(x, y).
    Rows,
    /// Each row may be scaled, and moved in all columns: d(s x + a, t y + b) = d(x, y).
    RowsAndMeans,
    /// Both rows may be scaled: d(s x, s y) = s^degree d(x, y).
    Degree(f64),
    /// d(x, y) = (Σ|x − y|^p)^(power/p): of both rows only the difference matters, and of that degree.
    Norm {
        /// The exponent of a difference.
        p: f64,
        /// 1 for a norm, 2 for its square.
        power: i32,
    },
}

/// What is known of the key of two rows that share no column, whose sum is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// Nothing.
    Unknown,
    /// It grows with y's first norm, or stays, whatever x is: rows in order of their norm are in order of their
    /// distance. The second norm of y is the same wherever the first is.
    Grows,
    /// As above, but it falls.
    Falls,
}

/// Two numbers kept for each row: its norms.
pub type Norms<M, W> = (V<M, W>, V<M, W>);

/// A distance whose ⊕ is +, in the one-pass form: norms of rows, one sum over the common columns, a finalizer.
///
/// With x' and y' the prepared [`entry`](Self::entry) of each stored value,
/// `d(x, y) = finish(key(norms(x), norms(y), Σ_{x∩y} x' ⊗ y'))`. Every function is written once for both machines.
///
/// Why one pass is enough: if ⊕ is +, `Σ_{x∪y} x⊗y = Σ x⊗0 + Σ 0⊗y + Σ_{x∩y} (x⊗y − x⊗0 − 0⊗y)`, and the first two sums
/// belong to rows. Entries of value 0 are dropped before, so results never depend on stored zeros.
///
/// Source: Nolet et al. 2022, Table 1 and §2.2 (norms and expansions); the one-pass form is ours.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no recipe of a distance in one pass",
    note = "a ⊗ by `op!` in `Union(Plus::new(), …)` is enough for most distances; `Recipe` adds norms and a finalizer"
)]
pub trait Recipe: Copy + Send + Sync + 'static {
    /// What is computed with.
    type W: Float;
    /// ⊗ on prepared entries that share a column.
    type Term: MulOp<A = Self::W, B = Self::W, Out = Self::W>;
    /// ⊗ on the union of prepared entries, for pairs that are [`near`](Self::near).
    type Exact: MulOp<A = Self::W, B = Self::W, Out = Self::W>;

    /// Whether [`key`](Self::key) looks at the number of shared columns.
    const COUNTS: bool = false;
    /// d(x, y) = d(y, x), for the norms and entries of either side.
    const SYMMETRIC: bool = true;
    /// d(x, x) = 0.
    const ZERO_SELF: bool = true;
    /// ⊗ is an instruction or a few, and x' ⊗ 0 = 0 for every finite x': a column that most rows have may be kept
    /// dense, zeros and all.
    const CHEAP: bool = false;
    /// 0 ⊗ y' = 0 for every finite y': rows of which some lack a column may be taken side by side.
    const ANNIHILATES: bool = false;
    /// Whether ⊗ is so long that a processor computes many at a time before it adds any.
    const STAGED: bool = false;
    /// Whether [`near`](Self::near) may hold.
    const REFINES: bool = false;

    /// What is known of rows that share no column, for entries that the metric takes: then neighbours are found without
    /// looking at all of them. Rows that are equal but for their place must have equal keys, also where they are
    /// [`near`](Self::near).
    const APART: Apart = Apart::Unknown;

    /// ⊗ of the sum over common columns.
    fn term(self) -> Self::Term;
    /// ⊗ of the exact form.
    fn exact(self) -> Self::Exact;
    /// Summed over a row.
    fn first<M: Machine>(self, _side: Side, _x: V<M, Self::W>) -> V<M, Self::W> {
        V::lit(Self::W::ZERO)
    }
    /// Summed over a row when the sum of `first` is known.
    fn second<M: Machine>(
        self,
        _x: V<M, Self::W>,
        _first: V<M, Self::W>,
        _nnz: V<M, Self::W>,
        _ncols: V<M, Self::W>,
    ) -> V<M, Self::W> {
        V::lit(Self::W::ZERO)
    }
    /// The entry that ⊗ sees.
    fn entry<M: Machine>(self, _side: Side, x: V<M, Self::W>, _row: Row<M, Self::W>) -> V<M, Self::W> {
        x
    }
    /// What is kept of the row.
    fn norms<M: Machine>(self, _side: Side, row: Row<M, Self::W>) -> Norms<M, Self::W> {
        (row.first, V::lit(Self::W::ZERO))
    }
    /// What neighbours are ranked by, smallest first; `shared` is the number of common columns if
    /// [`COUNTS`](Self::COUNTS).
    #[inline(always)]
    fn key<M: Machine>(
        self,
        x: Norms<M, Self::W>,
        y: Norms<M, Self::W>,
        sum: V<M, Self::W>,
        _shared: V<M, Self::W>,
    ) -> V<M, Self::W> {
        x.0 + y.0 + sum
    }
    /// Whether so much of the norms cancelled that the pair is computed again over its union; looked at if
    /// [`REFINES`](Self::REFINES).
    #[inline(always)]
    fn near<M: Machine>(self, key: V<M, Self::W>, x: Norms<M, Self::W>, y: Norms<M, Self::W>) -> V<M, bool> {
        key.lt(cancelled::<M, Self::W>() * (x.0 + y.0))
    }
    /// A number below the keys of all rows that share with x none but some of its columns, if one is known: `part` is Σ
    /// a² over x's entries a in those, and `slack` what rounding may take of 1.
    fn at_least(self, _x: [Self::W; 2], _part: f64, _slack: f64) -> Option<f64> {
        None
    }
    /// The key from the sum over the union.
    fn exact_key<M: Machine>(self, _x: Norms<M, Self::W>, _y: Norms<M, Self::W>, sum: V<M, Self::W>) -> V<M, Self::W> {
        sum
    }
    /// The distance that belongs to a key; grows with it.
    fn finish<M: Machine>(self, key: V<M, Self::W>) -> V<M, Self::W> {
        key
    }
    /// What may be done to rows so that sums neither overflow nor vanish nor cancel.
    fn invariance(self) -> Invariance {
        Invariance::None
    }
}

/// A constant.
#[inline(always)]
pub(crate) fn c<M: Machine, W: Float>(x: f64) -> V<M, W> {
    V::lit(x.cast::<W>())
}

/// Part of the norms below which a difference is computed again: it has lost about half of its digits there.
#[inline(always)]
pub(crate) fn cancelled<M: Machine, W: Float>() -> V<M, W> {
    c(if size_of::<W>() == 4 { 1e-3 } else { 1e-6 })
}

/// CUDA text of a recipe: `struct Ring` (+ and ⊗), `struct Exact` (+ and the exact ⊗), and `struct Recipe`, whose
/// functions have the names of this trait, an `x` or `y` behind those that know a side, and `_0` and `_1` for the two
/// norms. `struct Split`, where a part of ⊗ that takes long reads x' alone, which kernels compute once for an entry of
/// x.
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

    /// The text that is kept of a distance of each family, as a kernel gets it; `UPDATE_SNAPSHOTS=1` writes it anew.
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
            assert_eq!(kept, printed, "tests/snapshots/distance.cu:{line}: UPDATE_SNAPSHOTS=1 writes it anew");
        }
        assert_eq!(kept.len(), text.len(), "one is longer");
    }
}
