//! Options of distances and neighbours besides the metric.

/// The arithmetic of distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// f64, whatever the type of the entries.
    #[default]
    Double,
    /// The type of the entries: f32 for f32.
    Entries,
}

/// The search strategy for neighbours. Results are bitwise the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// By the number of shared columns: all of Y at once where few pairs share any, otherwise by tiles.
    #[default]
    Auto,
    /// Tiles of rows of Y one after another; every pair is computed.
    Tiles,
    /// All of Y at once: rows that share a column are examined, and as many of the others as needed, in order of their
    /// norms. Tiles are used where the measure's norms do not determine that order
    /// ([`DisjointOrder`](super::DisjointOrder)), with [`Options::unchecked`], and where memory does not allow the
    /// index. On a GPU the pairs that share a column are the entries of a product, X·Yᵀ, which takes that much memory;
    /// with [`Options::memory_budget`] it is by tiles.
    Shared,
}

/// Settings of distances and neighbours; [`QueryBuilder`](crate::backend::QueryBuilder) has a method for each.
///
/// ```
/// use sparring::distance::{Options, Precision};
/// let options = Options { precision: Precision::Entries, exclude_self: true, ..Options::default() };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Whether rows are divided by their sums first, for the metrics that support it (Hellinger, Jensen–Shannon, KL).
    /// By default only Jensen–Shannon does so, as in SciPy.
    pub normalize: Option<bool>,
    /// The arithmetic.
    pub precision: Precision,
    /// Skips the check of the metric's domain: NaN, infinities, and negative entries where they are not allowed.
    /// Distances of rows with such entries are NaN or arbitrary.
    pub unchecked: bool,
    /// Excludes each row from its own neighbours. Only where a matrix is compared with itself.
    pub exclude_self: bool,
    /// Byte limit for results, prepared rows and scratch memory together, besides the matrices; a request that exceeds
    /// it is refused before it allocates. Neighbours within a radius are counted twice as they are found: in the
    /// buffers and in the result.
    pub memory_budget: Option<u64>,
    /// The search strategy for neighbours.
    pub search: Search,
}
