//! What entries a metric takes.

use std::fmt;

use crate::Error;
use crate::algebra::Real;

/// What entries a metric takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Any finite number.
    Reals,
    /// Finite numbers that are not negative.
    NonNegative,
    /// Any finite number; only whether it is 0 matters.
    Sets,
}

impl Domain {
    /// Whether the domain has `x`.
    #[inline]
    pub fn takes<T: Real>(self, x: T) -> bool {
        // Without branches, so that many are looked at together.
        x.as_f64().is_finite() & ((self != Self::NonNegative) | (x >= T::ZERO))
    }
    /// The error for a value that it does not have.
    pub(crate) fn refuses<T: fmt::Debug>(self, value: T, row: usize, column: usize) -> Error {
        let takes = if self == Self::NonNegative { "finite numbers that are not negative" } else { "finite numbers" };
        let message = format!(
            "row {row}, column {column} holds {value:?}, but the metric takes {takes} (rows and columns are counted from 0)"
        );
        Error::Argument { name: "entries", message }
    }
}
