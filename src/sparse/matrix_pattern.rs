//! The pattern of a matrix, in the storage form of the matrix.

use std::borrow::Cow;
use std::sync::Arc;

use super::hyper_rows::HyperRows;
use super::row_major::{pattern_of_row_major, row_major_indices};
use super::vector_pattern::VectorPattern;
use crate::par::Threads;
use crate::pattern::Pattern;
use crate::{Index, Result};

/// The pattern of a matrix, shared with it: compressed rows, hypersparse rows, or a bitmap over row-major indices.
///
/// Clones share the storage. A structural mask holds one.
#[derive(Clone, Debug)]
pub struct MatrixPattern<I: Index = u32>(Form<I>);

#[derive(Clone, Debug)]
enum Form<I: Index> {
    Rows(Arc<Pattern<I>>),
    /// Row-major index i·n + j is (i, j).
    RowMajor((usize, usize), Arc<VectorPattern<I>>),
    Hyper(HyperRows<(), I>),
}

impl<I: Index> From<Arc<Pattern<I>>> for MatrixPattern<I> {
    fn from(rows: Arc<Pattern<I>>) -> Self {
        Self(Form::Rows(rows))
    }
}

impl<I: Index> MatrixPattern<I> {
    /// From row-major indices; the length of the pattern is nrows·ncols.
    pub(crate) fn of_row_major(shape: (usize, usize), indices: Arc<VectorPattern<I>>) -> Self {
        debug_assert_eq!(shape.0 * shape.1, indices.len());
        Self(Form::RowMajor(shape, indices))
    }
    /// From hypersparse rows.
    pub(crate) fn of_hyper(rows: HyperRows<(), I>) -> Self {
        Self(Form::Hyper(rows))
    }
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match &self.0 {
            Form::Rows(rows) => rows.shape(),
            Form::RowMajor(shape, _) => *shape,
            Form::Hyper(rows) => rows.shape(),
        }
    }
    /// Entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        match &self.0 {
            Form::Rows(rows) => rows.nnz(),
            Form::RowMajor(_, indices) => indices.nnz(),
            Form::Hyper(rows) => rows.nnz(),
        }
    }
    /// As compressed rows.
    ///
    /// Cost: O(1), for a bitmap O(nrows + nrows·ncols / 64 + nnz), for hypersparse rows O(nrows + nnz).
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn rows(&self) -> Result<Cow<'_, Arc<Pattern<I>>>> {
        Ok(match &self.0 {
            Form::Rows(rows) => Cow::Borrowed(rows),
            Form::RowMajor(shape, indices) => Cow::Owned(Arc::new(pattern_of_row_major(*shape, indices.indices())?)),
            Form::Hyper(rows) => Cow::Owned(rows.compress()?.pattern),
        })
    }
    /// The row-major pattern, if stored in that form.
    pub(crate) fn as_row_major(&self) -> Option<&Arc<VectorPattern<I>>> {
        match &self.0 {
            Form::Rows(_) | Form::Hyper(_) => None,
            Form::RowMajor(_, indices) => Some(indices),
        }
    }
    /// The hypersparse rows, if stored in that form.
    pub(crate) fn as_hyper(&self) -> Option<&HyperRows<(), I>> {
        match &self.0 {
            Form::Hyper(rows) => Some(rows),
            _ => None,
        }
    }
    /// The pattern over row-major indices.
    ///
    /// Cost: O(nrows + nnz), plus sorting for unsorted rows.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::IndexOverflow`](crate::Error::IndexOverflow) if
    /// nrows·ncols does not fit `I`.
    pub(crate) fn row_major(&self, threads: &Threads) -> Result<Cow<'_, Arc<VectorPattern<I>>>> {
        if let Form::RowMajor(_, indices) = &self.0 {
            return Ok(Cow::Borrowed(indices));
        }
        let rows = self.rows()?;
        let indices =
            if rows.is_sorted() { row_major_indices(&rows)? } else { row_major_indices(&rows.sorted(threads)?)? };
        Ok(Cow::Owned(Arc::new(indices)))
    }
}
