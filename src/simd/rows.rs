//! Rows of B, accessed repeatedly by the entries of A.

use std::ops::Range;

use super::prefetch;
use crate::{Index, Pattern};

/// Rows of a pattern with a value (or `()`) for each entry.
pub(crate) struct RowsOf<'a, I: Index, Y> {
    row_ptr: &'a [usize],
    cols: &'a [I],
    values: &'a [Y],
    nrows: usize,
}

impl<I: Index, Y> Clone for RowsOf<'_, I, Y> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<I: Index, Y> Copy for RowsOf<'_, I, Y> {}

impl<'a, I: Index> RowsOf<'a, I, ()> {
    /// The columns alone.
    #[inline(always)]
    pub(crate) fn without_values(pattern: &'a Pattern<I>) -> Self {
        // SAFETY: a slice of `()` occupies no memory, so any length is valid.
        let values = unsafe { std::slice::from_raw_parts(std::ptr::NonNull::<()>::dangling().as_ptr(), pattern.nnz()) };
        Self::new(pattern, values)
    }
}

impl<'a, I: Index, Y> RowsOf<'a, I, Y> {
    /// # Panics
    /// If there is not one value per entry.
    #[inline(always)]
    pub(crate) fn new(pattern: &'a Pattern<I>, values: &'a [Y]) -> Self {
        assert!(values.len() == pattern.nnz());
        debug_assert_eq!(pattern.row_ptr().len(), pattern.nrows() + 1);
        Self { row_ptr: pattern.row_ptr(), cols: pattern.col_idx(), values, nrows: pattern.nrows() }
    }

    /// Columns and values of row `k`.
    ///
    /// One comparison instead of the five of slicing, which spilled registers in the loop over a row of A.
    /// # Panics
    /// If there is no row `k`.
    #[inline(always)]
    pub(crate) fn row(&self, k: usize) -> (&'a [I], &'a [Y]) {
        assert!(k < self.nrows);
        // SAFETY: 1. row_ptr has nrows + 1 entries (Pattern's invariant), and k < nrows; 2. row_ptr never decreases and
        // ends at the number of columns (Pattern's invariant), which is the number of values (checked in `new`).
        unsafe {
            let range = *self.row_ptr.get_unchecked(k)..*self.row_ptr.get_unchecked(k + 1);
            (self.cols.get_unchecked(range.clone()), self.values.get_unchecked(range))
        }
    }

    /// The first entry of row `k`.
    /// # Panics
    /// If there is no row `k`.
    #[inline(always)]
    pub(crate) fn start(&self, k: usize) -> usize {
        assert!(k < self.nrows);
        // SAFETY: as in `row`.
        unsafe { *self.row_ptr.get_unchecked(k) }
    }

    /// The columns from `ahead` entries after the beginning of row `k`, to the last of all rows.
    /// # Panics
    /// If there is no row `k`.
    #[inline(always)]
    pub(crate) fn columns_after(&self, k: usize, ahead: usize) -> &'a [I] {
        assert!(k < self.nrows);
        // SAFETY: as in `row`.
        let start = unsafe { *self.row_ptr.get_unchecked(k) };
        self.cols.get(start + ahead..).unwrap_or(&[])
    }

    /// Columns and values of the sorted row `k` within the columns of `part`.
    /// # Panics
    /// If there is no row `k`.
    #[cold]
    pub(crate) fn part_of_row(&self, k: usize, part: &Range<usize>) -> (&'a [I], &'a [Y]) {
        let (cols, values) = self.row(k);
        let range = within(cols, part);
        (&cols[range.clone()], &values[range])
    }

    /// Prefetches the pointer of row `k`, for a later [`prefetch`](Self::prefetch).
    #[inline(always)]
    pub(crate) fn prefetch_pointer(&self, k: usize) {
        prefetch(self.row_ptr, k);
    }

    /// Prefetches the columns of row `k`, if it exists, up to a few cache lines.
    #[inline(always)]
    pub(crate) fn prefetch_all(&self, k: usize) {
        const LINES: usize = 8;
        if k < self.nrows {
            // SAFETY: as in `row`.
            let (start, end) = unsafe { (*self.row_ptr.get_unchecked(k), *self.row_ptr.get_unchecked(k + 1)) };
            (start..end).step_by(64 / size_of::<I>()).take(LINES).for_each(|q| prefetch(self.cols, q));
        }
    }

    /// Prefetches the beginning of row `k`, if it exists.
    #[inline(always)]
    pub(crate) fn prefetch(&self, k: usize) {
        if k < self.nrows {
            // SAFETY: as in `row`.
            let start = unsafe { *self.row_ptr.get_unchecked(k) };
            prefetch(self.cols, start);
            if size_of::<Y>() > 0 {
                prefetch(self.values, start);
            }
        }
    }
}

/// The range of a sorted row whose columns lie in `part`.
pub(crate) fn within<I: Index>(row: &[I], part: &Range<usize>) -> Range<usize> {
    let start = row.partition_point(|j| j.get() < part.start);
    start..row.partition_point(|j| j.get() < part.end)
}
