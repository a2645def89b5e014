//! Where a matrix has entries, in the form that the matrix has.

use std::borrow::Cow;
use std::sync::Arc;

use super::hyper_rows::HyperRows;
use super::row_major::{places_of_rows, rows_of_places};
use super::vector_pattern::VectorPattern;
use crate::par::Threads;
use crate::pattern::Pattern;
use crate::{Index, Result};

/// Where a matrix has entries, shared with the matrix: as compressed rows, all of them or those that have entries, or
/// by its places.
///
/// Clones share it. It is what a structural mask holds.
#[derive(Clone, Debug)]
pub struct MatrixPattern<I: Index = u32>(Form<I>);

#[derive(Clone, Debug)]
enum Form<I: Index> {
    Rows(Arc<Pattern<I>>),
    /// Place i·n + j is (i, j).
    Places((usize, usize), Arc<VectorPattern<I>>),
    Hyper(HyperRows<(), I>),
}

impl<I: Index> From<Arc<Pattern<I>>> for MatrixPattern<I> {
    fn from(rows: Arc<Pattern<I>>) -> Self {
        Self(Form::Rows(rows))
    }
}

impl<I: Index> MatrixPattern<I> {
    /// Of as many places as the shape has.
    pub(crate) fn of_places(shape: (usize, usize), places: Arc<VectorPattern<I>>) -> Self {
        debug_assert_eq!(shape.0 * shape.1, places.len());
        Self(Form::Places(shape, places))
    }
    /// Of the rows that have entries.
    pub(crate) fn of_hyper(rows: HyperRows<(), I>) -> Self {
        Self(Form::Hyper(rows))
    }
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match &self.0 {
            Form::Rows(rows) => rows.shape(),
            Form::Places(shape, _) => *shape,
            Form::Hyper(rows) => rows.shape(),
        }
    }
    /// Entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        match &self.0 {
            Form::Rows(rows) => rows.nnz(),
            Form::Places(_, places) => places.nnz(),
            Form::Hyper(rows) => rows.nnz(),
        }
    }
    /// As compressed rows.
    ///
    /// Cost: O(1), of a bitmap O(nrows + places / 64 + nnz), of hypersparse rows O(nrows + nnz).
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn rows(&self) -> Result<Cow<'_, Arc<Pattern<I>>>> {
        Ok(match &self.0 {
            Form::Rows(rows) => Cow::Borrowed(rows),
            Form::Places(shape, places) => Cow::Owned(Arc::new(rows_of_places(*shape, places.indices())?)),
            Form::Hyper(rows) => Cow::Owned(rows.compress()?.pattern),
        })
    }
    /// The places, if it has that form.
    pub(crate) fn as_places(&self) -> Option<&Arc<VectorPattern<I>>> {
        match &self.0 {
            Form::Rows(_) | Form::Hyper(_) => None,
            Form::Places(_, places) => Some(places),
        }
    }
    /// The rows that have entries, if it has that form.
    pub(crate) fn as_hyper(&self) -> Option<&HyperRows<(), I>> {
        match &self.0 {
            Form::Hyper(rows) => Some(rows),
            _ => None,
        }
    }
    /// The places of the entries.
    ///
    /// Cost: O(nrows + nnz); of rows that are not sorted, sorting them.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::IndexOverflow`](crate::Error::IndexOverflow) if an
    /// index cannot name all places.
    pub(crate) fn places(&self, threads: &Threads) -> Result<Cow<'_, Arc<VectorPattern<I>>>> {
        if let Form::Places(_, places) = &self.0 {
            return Ok(Cow::Borrowed(places));
        }
        let rows = self.rows()?;
        let places = if rows.is_sorted() { places_of_rows(&rows)? } else { places_of_rows(&rows.sorted(threads)?)? };
        Ok(Cow::Owned(Arc::new(places)))
    }
}
