//! The hypersparse form of a matrix: when it applies, and conversions.

use std::sync::Arc;

use super::csr::Csr;
use super::hyper::HyperCsr;
use super::hyper_rows::HyperRows;
use super::matrix_pattern::MatrixPattern;
use super::other_form::{Form, OtherForm};
use super::rows::Rows;
use super::{copied, reserved};
use crate::pattern::{Pattern, check_nrows};
use crate::{Index, Result};

/// Matrices with fewer rows are stored as compressed rows: their row pointers take at most 8 MiB.
pub(super) const LEAST: usize = 1 << 20;
/// A matrix is stored as hypersparse rows if at most 1/`FEW` of its rows are non-empty.
const FEW: usize = 16;

/// Whether a matrix with at most `live` non-empty rows is stored as hypersparse rows.
pub(crate) fn suits_hyper(nrows: usize, live: usize) -> bool {
    nrows >= LEAST && live <= nrows / FEW
}

impl<T, I: Index> Csr<T, I> {
    /// From hypersparse rows, converted to compressed rows if too many rows are non-empty ([`suits_hyper`]).
    ///
    /// Cost: O(1), or O(nrows + nnz) for the conversion.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn from_hyper(rows: HyperRows<T, I>) -> Result<Self> {
        if !suits_hyper(rows.shape().0, rows.labels().len()) {
            return rows.compress().map(Self::of_rows);
        }
        let compress = |form: &Form<T, I>| match form {
            Form::Hyper(rows) => rows.compress(),
            Form::RowMajor(_) | Form::Edited(_) => unreachable!("a matrix that was made of hypersparse rows"),
        };
        Ok(Self::of_other(OtherForm { form: Form::Hyper(rows), compress }))
    }
    /// The nrows × ncols matrix without entries.
    ///
    /// Cost: O(min(nrows, 2²⁰)).
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::IndexOverflow`](crate::Error::IndexOverflow) if
    /// ncols does not fit `I`.
    pub fn empty(nrows: usize, ncols: usize) -> Result<Self> {
        if nrows < LEAST {
            return Self::with_pattern(Arc::new(Pattern::empty(nrows, ncols)?), Vec::new());
        }
        let rows = Rows { pattern: Arc::new(Pattern::empty(0, ncols)?), values: Arc::default() };
        Self::from_hyper(HyperRows::new(nrows, Arc::default(), rows))
    }
    /// The matrix as hypersparse rows.
    ///
    /// Cost: O(1), for other forms O(nrows + nnz).
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn to_hyper(&self) -> Result<HyperRows<T, I>> {
        match self.as_hyper() {
            Some(rows) => Ok(rows.clone()),
            None => HyperRows::of(self.as_rows()?),
        }
    }
    /// The matrix of the stored rows.
    pub(crate) fn of_stored(rows: &HyperRows<T, I>) -> Self {
        Self::of_rows(rows.rows().clone())
    }
    /// The matrix of `nrows` rows whose row `labels[r]` is row r of this one; labels increase.
    ///
    /// Cost: O(rows), plus O(nnz) if some rows are empty.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn labelled(&self, nrows: usize, labels: Arc<Vec<I>>) -> Result<Self> {
        Self::from_hyper(HyperRows::new(nrows, labels, self.as_rows()?.clone()).without_empty_rows()?)
    }
    pub(super) fn has_same_hyper(&self, other: &Self) -> bool {
        match (self.as_hyper(), other.as_hyper()) {
            (Some(a), Some(b)) => {
                Arc::ptr_eq(a.labels(), b.labels())
                    && Arc::ptr_eq(&a.rows().pattern, &b.rows().pattern)
                    && Arc::ptr_eq(&a.rows().values, &b.rows().values)
            }
            _ => false,
        }
    }
    /// The matrix as hypersparse rows with a hash map.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn to_hyper_csr(&self) -> Result<HyperCsr<T, I>> {
        let rows = self.to_hyper()?;
        HyperCsr::new(rows.shape().0, copied(rows.labels(), "labels of rows")?, Self::of_stored(&rows))
    }
}

impl<I: Index> HyperRows<(), I> {
    /// A pattern as hypersparse rows.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn of_pattern(pattern: &MatrixPattern<I>) -> Result<Self> {
        if let Some(rows) = pattern.as_hyper() {
            return Ok(rows.clone());
        }
        let pattern = pattern.rows()?.into_owned();
        let values = Arc::new(vec![(); pattern.nnz()].into());
        Self::of(&Rows { pattern, values })
    }
}

impl<T, I: Index> TryFrom<HyperCsr<T, I>> for Csr<T, I> {
    type Error = crate::Error;
    /// In the form chosen by the number of non-empty rows; without a copy if hypersparse.
    fn try_from(a: HyperCsr<T, I>) -> Result<Self> {
        let nrows = a.shape().0;
        check_nrows::<I>(nrows)?;
        let mut labels = reserved(a.rows().len(), "labels of rows")?;
        labels.extend_from_slice(a.rows());
        a.compact().labelled(nrows, Arc::new(labels))
    }
}
