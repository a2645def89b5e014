//! Compressed rows, the default storage of a matrix.

use std::sync::Arc;

use crate::Index;
use crate::par::Storage;
use crate::pattern::Pattern;

/// A pattern, possibly shared, and one value per entry.
#[derive(Debug)]
pub(crate) struct Rows<T, I: Index> {
    pub(crate) pattern: Arc<Pattern<I>>,
    pub(crate) values: Arc<Storage<T>>,
}

impl<T, I: Index> Clone for Rows<T, I> {
    fn clone(&self) -> Self {
        Self { pattern: Arc::clone(&self.pattern), values: Arc::clone(&self.values) }
    }
}

impl<T, I: Index> Rows<T, I> {
    /// The same values with another pattern of the same number of entries.
    pub(super) fn at(&self, pattern: Arc<Pattern<I>>) -> Self {
        debug_assert_eq!(pattern.nnz(), self.values.len());
        Self { pattern, values: Arc::clone(&self.values) }
    }
}
