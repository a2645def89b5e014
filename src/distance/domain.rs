//! The entries that a metric accepts.

use std::fmt;

use crate::Error;
use crate::algebra::Real;

/// The entries that a metric accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Any finite number.
    Reals,
    /// Finite, nonnegative numbers.
    NonNegative,
    /// Any finite number; only whether it is 0 matters.
    Sets,
}

impl Domain {
    /// Whether the domain contains `x`.
    #[inline]
    pub fn takes<T: Real>(self, x: T) -> bool {
        // Branch-free, so that the loop over many vectorizes.
        x.as_f64().is_finite() & ((self != Self::NonNegative) | (x >= T::ZERO))
    }
    /// The error for a value outside the domain.
    pub(crate) fn refuses<T: fmt::Debug>(self, value: T, row: usize, column: usize) -> Error {
        let takes = if self == Self::NonNegative { "finite numbers that are not negative" } else { "finite numbers" };
        let message = format!(
            "row {row}, column {column} holds {value:?}, but the metric takes {takes} (rows and columns are counted from 0)"
        );
        Error::Argument { name: "entries", message }
    }
}
