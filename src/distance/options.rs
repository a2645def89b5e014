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
    /// Skips the search for entries that the metric cannot take: NaN, infinities, and below zero where the domain ends there.
    /// Distances from rows with such entries are then NaN, or whatever comes of them.
    pub unchecked: bool,
    /// Leaves each row out of its own neighbours. Only for the rows of one matrix among themselves.
    pub exclude_self: bool,
    /// Bytes that results, prepared rows and scratch memory may take together, beside the matrices; refused before it is taken. What lies
    /// within a radius is counted while it is found, twice: there, and in the result.
    pub memory_budget: Option<u64>,
}
