//! The pattern of a matrix: row pointers and column indices, validated once, shared through `Arc`.

mod scan;
mod unchecked;

use crate::par::{Storage, Threads, out_of_memory};
use crate::{Error, Index, Result};

/// The pattern of an nrows × ncols matrix in CSR form.
///
/// Invariants, checked by every constructor: `row_ptr` has nrows + 1 elements, starts at 0, never
/// decreases and ends at `col_idx.len()`; every column is below ncols; no row repeats a column.
/// Columns increase within each row if and only if [`is_sorted`](Self::is_sorted).
#[derive(Clone, Debug)]
pub struct Pattern<I: Index = u32> {
    nrows: usize,
    ncols: usize,
    row_ptr: Storage<usize>,
    col_idx: Storage<I>,
    sorted: bool,
}

impl<I: Index> PartialEq for Pattern<I> {
    /// The same entries in the same order.
    fn eq(&self, other: &Self) -> bool {
        self.shape() == other.shape() && self.row_ptr == other.row_ptr && self.col_idx == other.col_idx
    }
}
impl<I: Index> Eq for Pattern<I> {}

impl<I: Index> Pattern<I> {
    /// From row pointers and columns that increase within each row.
    /// # Errors
    /// [`Error::Length`], [`Error::RowPointer`], [`Error::IndexRange`], [`Error::NotSorted`],
    /// [`Error::Duplicate`], [`Error::IndexOverflow`], each for the first violation.
    pub fn new(nrows: usize, ncols: usize, row_ptr: Vec<usize>, col_idx: Vec<I>) -> Result<Self> {
        check_sorted(nrows, ncols, &row_ptr, &col_idx)?;
        Ok(Self { nrows, ncols, row_ptr: row_ptr.into(), col_idx: col_idx.into(), sorted: true })
    }

    /// From row pointers and columns in any order within each row.
    /// # Errors
    /// As [`new`](Self::new), but columns need not be sorted.
    pub fn from_unsorted(nrows: usize, ncols: usize, row_ptr: Vec<usize>, col_idx: Vec<I>) -> Result<Self> {
        Self::from_storage(nrows, ncols, row_ptr.into(), col_idx.into())
    }

    /// From arrays that may belong to another owner, without a copy; columns in any order within each row.
    ///
    /// Cost: O(nrows + nnz), once, for validation on the threads of the caller's pool. The duplicate check of unsorted
    /// rows takes a stamp array over the columns, or sorts a copy of each row if ncols > nnz.
    /// # Errors
    /// As [`from_unsorted`](Self::from_unsorted).
    pub fn from_storage(nrows: usize, ncols: usize, row_ptr: Storage<usize>, col_idx: Storage<I>) -> Result<Self> {
        let fits = check_ncols::<I>(ncols).is_ok() && row_ptr.len().checked_sub(1) == Some(nrows);
        let sorted = fits && scan::is_sorted(&row_ptr, &col_idx, ncols);
        if !sorted {
            check_rows(nrows, ncols, &row_ptr, &col_idx)?;
            scan::check_distinct(&row_ptr, &col_idx, ncols)?;
        }
        Ok(Self { nrows, ncols, row_ptr, col_idx, sorted })
    }

    /// From rows that may repeat columns, which violates the invariants: only for kernels that gather by column and
    /// accumulate, such as y = A·x. Such patterns never reach the user.
    /// # Errors
    /// As [`from_unsorted`](Self::from_unsorted), but for [`Error::Duplicate`].
    pub(crate) fn of_entries(
        threads: &Threads,
        (nrows, ncols): (usize, usize),
        row_ptr: Storage<usize>,
        col_idx: Storage<I>,
    ) -> Result<Self> {
        let fits = check_ncols::<I>(ncols).is_ok() && row_ptr.len().checked_sub(1) == Some(nrows);
        if !fits || !scan::is_within(threads, &row_ptr, &col_idx, ncols) {
            check_rows(nrows, ncols, &row_ptr, &col_idx)?;
        }
        Ok(Self { nrows, ncols, row_ptr, col_idx, sorted: false })
    }

    /// From parts known to satisfy the invariants; checked in debug builds.
    pub(crate) fn from_parts(nrows: usize, ncols: usize, row_ptr: Vec<usize>, col_idx: Vec<I>, sorted: bool) -> Self {
        Self::from_storage_parts(nrows, ncols, row_ptr.into(), col_idx.into(), sorted)
    }
    /// As [`from_parts`](Self::from_parts), from arrays that may belong to another owner.
    pub(super) fn from_storage_parts(
        nrows: usize,
        ncols: usize,
        row_ptr: Storage<usize>,
        col_idx: Storage<I>,
        sorted: bool,
    ) -> Self {
        debug_assert!(check_rows(nrows, ncols, &row_ptr, &col_idx).is_ok());
        debug_assert!(
            !sorted || (0..nrows).all(|r| col_idx[row_ptr[r]..row_ptr[r + 1]].windows(2).all(|w| w[0] < w[1]))
        );
        Self { nrows, ncols, row_ptr, col_idx, sorted }
    }

    /// The nrows × ncols pattern without entries.
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::IndexOverflow`] if ncols does not fit `I`.
    pub fn empty(nrows: usize, ncols: usize) -> Result<Self> {
        check_ncols::<I>(ncols)?;
        let len = nrows.checked_add(1).ok_or_else(|| out_of_memory::<usize>("row pointers", nrows))?;
        let row_ptr = crate::par::filled(len, 0, "row pointers")?;
        Ok(Self { nrows, ncols, row_ptr: row_ptr.into(), col_idx: Storage::default(), sorted: true })
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
    /// Entries.
    #[inline]
    pub fn nnz(&self) -> usize {
        self.col_idx.len()
    }
    /// Row pointers: row i is `row_ptr[i]..row_ptr[i + 1]`.
    #[inline]
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }
    /// Column indices, row by row.
    #[inline]
    pub fn col_idx(&self) -> &[I] {
        &self.col_idx
    }
    /// Columns of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[I] {
        &self.col_idx[self.row_ptr[i]..self.row_ptr[i + 1]]
    }
    /// Position of the entry (i, j) in `col_idx`, or `None` if there is no such entry or it is out of bounds.
    #[inline]
    pub(crate) fn find(&self, i: usize, j: usize) -> Option<usize> {
        if i >= self.nrows {
            return None;
        }
        let (cols, j) = (self.row(i), I::new(j)?);
        let at = if self.sorted { cols.binary_search(&j).ok()? } else { cols.iter().position(|&c| c == j)? };
        Some(self.row_ptr[i] + at)
    }
    /// Whether columns increase within every row.
    #[inline]
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }
    /// Entries in the longest row.
    pub(crate) fn longest_row(&self) -> usize {
        self.row_ptr.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
    }
    /// Row pointers and columns; arrays of another owner are copied.
    pub fn into_parts(self) -> (Vec<usize>, Vec<I>) {
        (self.row_ptr.into_vec(), self.col_idx.into_vec())
    }
    /// Whether the row pointers or columns lie in memory of another owner.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.row_ptr.is_foreign() || self.col_idx.is_foreign()
    }
}

pub(crate) fn check_ncols<I: Index>(ncols: usize) -> Result<()> {
    if ncols > I::MAX_LEN {
        return Err(Error::IndexOverflow { what: "number of columns", needed: ncols as u128, max: I::MAX_LEN as u128 });
    }
    Ok(())
}

/// Checks that row indices fit `I`, which coordinates and transposes require.
pub(crate) fn check_nrows<I: Index>(nrows: usize) -> Result<()> {
    if nrows > I::MAX_LEN {
        return Err(Error::IndexOverflow { what: "number of rows", needed: nrows as u128, max: I::MAX_LEN as u128 });
    }
    Ok(())
}

/// Checks that the indices of a vector of this length fit `I`.
pub(crate) fn check_len<I: Index>(len: usize) -> Result<()> {
    if len > I::MAX_LEN {
        return Err(Error::IndexOverflow { what: "length of a vector", needed: len as u128, max: I::MAX_LEN as u128 });
    }
    Ok(())
}

/// The checks of [`Pattern::new`].
pub(crate) fn check_sorted<I: Index>(nrows: usize, ncols: usize, row_ptr: &[usize], col_idx: &[I]) -> Result<()> {
    check_rows(nrows, ncols, row_ptr, col_idx)?;
    for row in 0..nrows {
        let cols = &col_idx[row_ptr[row]..row_ptr[row + 1]];
        if let Some(p) = cols.windows(2).position(|w| w[0] >= w[1]) {
            let column = cols[p + 1].get();
            if cols[p] == cols[p + 1] {
                return Err(Error::Duplicate { row, column });
            }
            return Err(Error::NotSorted { row, position: row_ptr[row] + p + 1, column });
        }
    }
    Ok(())
}

fn check_rows<I: Index>(nrows: usize, ncols: usize, row_ptr: &[usize], col_idx: &[I]) -> Result<()> {
    check_ncols::<I>(ncols)?;
    let expected = nrows.checked_add(1).ok_or(Error::IndexOverflow {
        what: "number of rows",
        needed: nrows as u128,
        max: usize::MAX as u128 - 1,
    })?;
    if row_ptr.len() != expected {
        return Err(Error::Length { what: "row_ptr", found: row_ptr.len(), expected });
    }
    if row_ptr[0] != 0 {
        return Err(Error::RowPointer { row: 0, found: row_ptr[0], expected: "0".into() });
    }
    if let Some(row) = row_ptr.windows(2).position(|w| w[0] > w[1]) {
        return Err(Error::RowPointer {
            row: row + 1,
            found: row_ptr[row + 1],
            expected: format!("at least {}", row_ptr[row]),
        });
    }
    if row_ptr[nrows] != col_idx.len() {
        return Err(Error::RowPointer {
            row: nrows,
            found: row_ptr[nrows],
            expected: format!("{}, the number of entries", col_idx.len()),
        });
    }
    if let Some(position) = col_idx.iter().position(|j| j.get() >= ncols) {
        return Err(Error::IndexRange {
            axis: "column",
            position,
            index: col_idx[position].get() as u128,
            bound: ncols,
        });
    }
    Ok(())
}
