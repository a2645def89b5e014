//! The specification of a query, and the checks before any row is read.

use super::measure::Measure;
use super::options::Options;
use crate::{Error, Result};

/// A query: a measure, and the settings.
#[derive(Clone, Copy)]
pub struct QuerySpec<'a> {
    /// The operation, as error messages name it.
    pub op: &'static str,
    /// The measure.
    pub measure: &'a dyn Measure,
    /// The settings.
    pub options: Options,
}

impl std::fmt::Debug for QuerySpec<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} by {}: {:?}", self.op, self.measure.name(), self.options)
    }
}

impl QuerySpec<'_> {
    /// Refuses rows of different lengths, and `exclude_self` with Y.
    pub(crate) fn check(&self, x: (usize, usize), y: Option<(usize, usize)>) -> Result<()> {
        if let Some(y) = y.filter(|y| y.1 != x.1) {
            return Err(Error::Shape { op: self.op, lhs: x, rhs: y });
        }
        if self.options.exclude_self && y.is_some() {
            let message = "it applies only where X is compared with itself, not with a separate Y".into();
            return Err(Error::Argument { name: "exclude_self", message });
        }
        Ok(())
    }
}

/// Refuses a NaN radius.
pub(crate) fn check_radius(radius: f64) -> Result<()> {
    if radius.is_nan() { Err(Error::Argument { name: "radius", message: "it is NaN".into() }) } else { Ok(()) }
}
