//! Matrices of hypersparse rows: when they are kept so, and between the two.

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

/// Matrices of fewer rows are kept as compressed rows: their row pointers take 8 MiB at most.
pub(super) const LEAST: usize = 1 << 20;
/// A matrix keeps the rows that have entries alone if at most one row in so many has any.
const FEW: usize = 16;

/// Whether a matrix of which `live` rows have entries, or at most as many, is kept as these rows alone.
pub(crate) fn suits_hyper(nrows: usize, live: usize) -> bool {
    nrows >= LEAST && live <= nrows / FEW
}

impl<T, I: Index> Csr<T, I> {
    /// Of rows that have entries, in the form that suits them.
    ///
    /// Cost: O(1), or O(nrows + nnz) where more than one row in 16 has entries.
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
    /// The rows that have entries.
    ///
    /// Cost: O(1), of other forms O(nrows + nnz).
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn to_hyper(&self) -> Result<HyperRows<T, I>> {
        match self.as_hyper() {
            Some(rows) => Ok(rows.clone()),
            None => HyperRows::of(self.as_rows()?),
        }
    }
    /// A matrix of the rows that are stored.
    pub(crate) fn of_stored(rows: &HyperRows<T, I>) -> Self {
        Self::of_rows(rows.rows().clone())
    }
    /// Its rows as those of a matrix of `nrows`, at increasing labels.
    ///
    /// Cost: O(rows), and O(nnz) if some have no entries.
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
    /// As a matrix that finds its rows by a map.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn to_hyper_csr(&self) -> Result<HyperCsr<T, I>> {
        let rows = self.to_hyper()?;
        HyperCsr::new(rows.shape().0, copied(rows.labels(), "labels of rows")?, Self::of_stored(&rows))
    }
}

impl<I: Index> HyperRows<(), I> {
    /// Where the entries of a matrix are, by the rows that have any.
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
    /// In the form that suits it; nothing is copied where that is hypersparse rows.
    fn try_from(a: HyperCsr<T, I>) -> Result<Self> {
        let nrows = a.shape().0;
        check_nrows::<I>(nrows)?;
        let mut labels = reserved(a.rows().len(), "labels of rows")?;
        labels.extend_from_slice(a.rows());
        a.compact().labelled(nrows, Arc::new(labels))
    }
}
