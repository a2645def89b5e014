//! What is asked of rows, and what is refused before they are looked at.

use super::measure::Measure;
use super::options::Options;
use crate::{Error, Result};

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
