//! What a caller may ask for beside the metric.

/// What distances are computed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// f64, whatever the entries are.
    #[default]
    Double,
    /// The type of the entries: f32 for f32.
    Entries,
}

/// How neighbours are looked for. The results are the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// As the columns that pairs share say: all of Y at once where few pairs share any, else by tiles.
    #[default]
    Auto,
    /// Tiles of rows of Y one after the other, every pair looked at.
    Tiles,
    /// All of Y at once: rows that share a column are looked at, and of the others as many as are wanted, in order of
    /// their norms. Where a measure's norms do not tell that order ([`Apart`](super::Apart)), with
    /// [`Options::unchecked`], and where memory does not allow it, by tiles. On a GPU the pairs that share a column are
    /// the entries of a product, X·Yᵀ, which takes their memory; with [`Options::memory_budget`] it is by tiles.
    Shared,
}

/// Settings of distances and neighbours; [`Asked`](crate::backend::Asked) has a method for each.
///
/// ```
/// use sparring::distance::{Options, Precision};
/// let options = Options { precision: Precision::Entries, exclude_self: true, ..Options::default() };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Whether rows are divided by their sums first, for metrics that know it (Hellinger, Jensen–Shannon, KL).
    /// By default only Jensen–Shannon does, as in SciPy.
    pub normalize: Option<bool>,
    /// What is computed in.
    pub precision: Precision,
    /// Skips the search for entries that the metric cannot take: NaN, infinities, and below zero where the domain ends
    /// there. Distances from rows with such entries are then NaN, or whatever comes of them.
    pub unchecked: bool,
    /// Leaves each row out of its own neighbours. Only for the rows of one matrix among themselves.
    pub exclude_self: bool,
    /// Bytes that results, prepared rows and scratch memory may take together, beside the matrices; refused before it
    /// is taken. What lies within a radius is counted while it is found, twice: there, and in the result.
    pub memory_budget: Option<u64>,
    /// How neighbours are looked for.
    pub search: Search,
}
