//! Patterns whose invariants the caller promises: no pass over the entries.

use super::Pattern;
use crate::Index;
use crate::par::Storage;

impl<I: Index> Pattern<I> {
    /// From arrays that are not looked at, except in debug builds: for those that were checked where they come from.
    /// O(1).
    /// # Safety
    /// Kernels read memory where these numbers lead, so that all of it must hold:
    /// 1. `row_ptr` has nrows + 1 numbers, the first 0, none below the one before, the last `col_idx.len()`;
    /// 2. every column is below ncols, and ncols at most [`Index::MAX_LEN`];
    /// 3. no column stands twice in a row;
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
