//! `sprs` matrices as ours and back (feature `sprs`).
//!
//! | from | to | copies |
//! | --- | --- | --- |
//! | `CsMatViewI<T, I, usize>`, rows | [`CsrView`] | nothing; row pointers only if the view starts within a larger matrix |
//! | `CsMatViewI<T, I, usize>`, columns | [`CsrView`] of the transpose | the same |
//! | `CsMatI<T, I, usize>`, rows | [`Csr`] | nothing: the arrays move |
//! | `CsMatI<T, I, usize>`, columns | [`Csr`] | one transpose |
//! | [`Csr`], sorted | `CsMatViewI<T, I, usize>` | nothing |
//! | [`Csr`], sorted | `CsMatI<T, I, usize>` | nothing; the pattern only if it is shared |
//!
//! Row pointers must be `usize`, as ours are. The structure is checked on the way in, by O(nnz) comparisons.

use std::borrow::Cow;
use std::sync::Arc;

use sprs::{CsMatI, CsMatViewI, SpIndex};

use super::copied;
use crate::algebra::Value;
use crate::par::Threads;
use crate::{Csr, Error, Index, Pattern, Result};

/// Compressed rows that someone else owns.
#[derive(Clone, Debug)]
pub struct CsrView<'a, T, I: Index = u32> {
    nrows: usize,
    ncols: usize,
    row_ptr: Cow<'a, [usize]>,
    col_idx: &'a [I],
    values: &'a [T],
}

impl<'a, T: Value, I: Index + SpIndex> CsrView<'a, T, I> {
    /// The rows of `a`; for a matrix stored by columns, these are the rows of its transpose.
    ///
    /// # Errors
    /// Those of [`Pattern::new`], should `a` have been made without checks.
    /// # Example
    /// ```
    /// use sparring::sparse::CsrView;
    /// let a = sprs::CsMatI::<f64, u32, usize>::new((1, 3), vec![0, 2], vec![0, 2], vec![1.0, 2.0]);
    /// let rows = CsrView::from_sprs(&a.view())?;
    /// assert_eq!(rows.row(0), (&[0, 2][..], &[1.0, 2.0][..]));
    /// assert!(std::ptr::eq(rows.row(0).1, a.data()));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn from_sprs(a: &CsMatViewI<'a, T, I, usize>) -> Result<Self> {
        let (nrows, ncols) = if a.is_csr() { a.shape() } else { (a.cols(), a.rows()) };
        let (indptr, col_idx, values) = (*a).into_raw_storage();
        let row_ptr = match indptr.first() {
            Some(0) => Cow::Borrowed(indptr),
            Some(&first) => {
                let mut own = super::reserved(indptr.len(), "row pointers")?;
                own.extend(indptr.iter().map(|p| p.wrapping_sub(first)));
                Cow::Owned(own)
            }
            // An empty list stands for no rows.
            None => Cow::Borrowed(&[0][..]),
        };
        super::pattern::check_sorted(nrows, ncols, &row_ptr, col_idx)?;
        if values.len() != col_idx.len() {
            return Err(Error::Length { what: "values", found: values.len(), expected: col_idx.len() });
        }
        Ok(Self { nrows, ncols, row_ptr, col_idx, values })
    }
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.nrows, self.ncols)
    }
    /// Entries, stored zeros included.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Row pointers, column indices, values.
    pub fn parts(&self) -> (&[usize], &'a [I], &'a [T]) {
        (&self.row_ptr, self.col_idx, self.values)
    }
    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&'a [I], &'a [T]) {
        let range = self.row_ptr[i]..self.row_ptr[i + 1];
        (&self.col_idx[range.clone()], &self.values[range])
    }
    /// A matrix of our own, for operations: copies everything.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_csr(&self) -> Result<Csr<T, I>> {
        let (row_ptr, cols) = (copied(&self.row_ptr, "row pointers")?, copied(self.col_idx, "column indices")?);
        let pattern = Pattern::from_parts(self.nrows, self.ncols, row_ptr, cols, true);
        Csr::with_pattern(Arc::new(pattern), copied(self.values, "values")?)
    }
}

impl<T: Value, I: Index + SpIndex> Csr<T, I> {
    /// From an `sprs` matrix: by rows, its arrays move; by columns, it is transposed.
    /// # Errors
    /// Those of [`Csr::new`], should `a` have been made without checks; [`Error::OutOfMemory`].
    pub fn from_sprs(a: CsMatI<T, I, usize>) -> Result<Self> {
        let (by_rows, (rows, cols)) = (a.is_csr(), a.shape());
        let (nrows, ncols) = if by_rows { (rows, cols) } else { (cols, rows) };
        let (mut row_ptr, col_idx, values) = a.into_raw_storage();
        if row_ptr.is_empty() {
            row_ptr = copied(&[0], "row pointers")?;
        }
        let first = row_ptr[0];
        row_ptr.iter_mut().for_each(|p| *p = p.wrapping_sub(first));
        let stored = Csr::new(nrows, ncols, row_ptr, col_idx, values)?;
        if by_rows { Ok(stored) } else { stored.transpose(&Threads::current()) }
    }
    /// An `sprs` view of this matrix, by rows.
    /// # Errors
    /// [`Error::Unsupported`] if rows are not sorted, or if a size does not fit what `sprs` allows.
    /// # Example
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<f64>::new(1, 3, vec![0, 2], vec![0, 2], vec![1.0, 2.0])?;
    /// assert_eq!(a.as_sprs()?.get(0, 2), Some(&2.0));
    /// assert_eq!(Csr::from_sprs(a.clone().into_sprs()?)?, a);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn as_sprs(&self) -> Result<CsMatViewI<'_, T, I, usize>> {
        CsMatViewI::try_new(self.shape(), self.row_ptr(), self.col_idx(), self.values()).map_err(|e| refused(&e.3))
    }
    /// An `sprs` matrix by rows: the arrays move, and a pattern that others share is copied.
    /// # Errors
    /// As [`as_sprs`](Self::as_sprs); [`Error::OutOfMemory`].
    pub fn into_sprs(self) -> Result<CsMatI<T, I, usize>> {
        let shape = self.shape();
        let (pattern, values) = self.into_parts();
        let (row_ptr, cols) = match Arc::try_unwrap(pattern) {
            Ok(pattern) => pattern.into_parts(),
            Err(shared) => (copied(shared.row_ptr(), "row pointers")?, copied(shared.col_idx(), "column indices")?),
        };
        CsMatI::try_new(shape, row_ptr, cols, values).map_err(|e| refused(&e.3))
    }
}

fn refused(e: &sprs::errors::StructureError) -> Error {
    Error::Unsupported { what: "this matrix in sprs".into(), why: e.to_string() }
}
