//! Dense row-major matrices.

use super::out_of_memory;
use crate::algebra::Value;
use crate::par::filled;
use crate::{Error, Result};

/// A dense nrows × ncols matrix; row i is `values[i·ncols..(i + 1)·ncols]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense<T> {
    nrows: usize,
    ncols: usize,
    values: Vec<T>,
}

impl<T> Dense<T> {
    /// From its values in row-major order.
    /// # Errors
    /// [`Error::Length`] if there are not nrows·ncols values; [`Error::IndexOverflow`] if nrows·ncols overflows.
    /// # Example
    /// ```
    /// use sparring::sparse::Dense;
    /// let a = Dense::new(2, 2, vec![1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(a.row(1), [3.0, 4.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn new(nrows: usize, ncols: usize, values: Vec<T>) -> Result<Self> {
        let expected = nrows.checked_mul(ncols).ok_or(Error::IndexOverflow {
            what: "number of values",
            needed: nrows as u128 * ncols as u128,
            max: usize::MAX as u128,
        })?;
        if values.len() != expected {
            return Err(Error::Length { what: "values", found: values.len(), expected });
        }
        Ok(Self { nrows, ncols, values })
    }
    /// Rows.
    #[inline]
    pub fn nrows(&self) -> usize {
        self.nrows
    }
    /// Columns.
    #[inline]
    pub fn ncols(&self) -> usize {
        self.ncols
    }
    /// Rows and columns.
    #[inline]
    pub fn shape(&self) -> (usize, usize) {
        (self.nrows, self.ncols)
    }
    /// Values in row-major order.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// Values in row-major order, mutable.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
    /// The values in row-major order.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }
    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.ncols..][..self.ncols]
    }
    /// Row `i`, mutable.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.values[i * self.ncols..][..self.ncols]
    }
    /// The value at (i, j), or `None` if out of bounds.
    pub fn get(&self, i: usize, j: usize) -> Option<&T> {
        if i < self.nrows && j < self.ncols { self.values.get(i * self.ncols + j) } else { None }
    }
}

impl<T: Value> Dense<T> {
    /// The matrix with every value `x`.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn filled(nrows: usize, ncols: usize, x: T) -> Result<Self> {
        let len = nrows.checked_mul(ncols).ok_or_else(|| out_of_memory::<T>("a dense matrix", usize::MAX))?;
        Ok(Self { nrows, ncols, values: filled(len, x, "a dense matrix")? })
    }
}
