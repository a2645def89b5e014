//! Patterns whose invariants the caller guarantees, without a pass over the entries.

use super::Pattern;
use crate::Index;
use crate::par::Storage;

impl<I: Index> Pattern<I> {
    /// From arrays validated by the caller; only debug builds check them. O(1).
    /// # Safety
    /// Kernels use these numbers as unchecked indices, so all of the following must hold:
    /// 1. `row_ptr` has nrows + 1 elements, starts at 0, never decreases and ends at `col_idx.len()`;
    /// 2. every column is below ncols, and ncols is at most [`Index::MAX_LEN`];
    /// 3. no row repeats a column;
    /// 4. if `sorted`, columns increase within each row.
    #[must_use]
    pub unsafe fn from_storage_unchecked(
        nrows: usize,
        ncols: usize,
        row_ptr: Storage<usize>,
        col_idx: Storage<I>,
        sorted: bool,
    ) -> Self {
        Self::from_storage_parts(nrows, ncols, row_ptr, col_idx, sorted)
    }
}
