//! What a caller may ask for beside the metric.

use super::measure::Measure;
use crate::{Error, Result};

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
    /// Bytes that results and scratch memory may take together; refused before anything is computed.
    pub memory_budget: Option<u64>,
}

/// What is asked of rows: a measure, and the settings.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The operation, as errors name it.
    pub op: &'static str,
    /// What is asked of two rows.
    pub measure: &'a dyn Measure,
    /// The settings.
    pub options: Options,
}

impl std::fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} by {}: {:?}", self.op, self.measure.name(), self.options)
    }
}

impl Question<'_> {
    /// Refuses rows of different lengths, and `exclude_self` with Y.
    pub(crate) fn check(&self, x: (usize, usize), y: Option<(usize, usize)>) -> Result<()> {
        if let Some(y) = y.filter(|y| y.1 != x.1) {
            return Err(Error::Shape { op: self.op, lhs: x, rhs: y });
        }
        if self.options.exclude_self && y.is_some() {
            let message =
                "a row is left out of its own neighbours where X is compared with itself, not with a Y".into();
            return Err(Error::Argument { name: "exclude_self", message });
        }
        Ok(())
    }
}

/// Refuses a radius that is NaN.
pub(crate) fn check_radius(radius: f64) -> Result<()> {
    if radius.is_nan() { Err(Error::Argument { name: "radius", message: "it is NaN".into() }) } else { Ok(()) }
}
