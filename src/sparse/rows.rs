//! Compressed rows as a matrix keeps them.

use std::sync::Arc;

use crate::Index;
use crate::par::Storage;
use crate::pattern::Pattern;

/// A pattern, which others may share, and one value per entry.
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
    /// The same values with another pattern of as many entries.
    pub(super) fn at(&self, pattern: Arc<Pattern<I>>) -> Self {
        debug_assert_eq!(pattern.nnz(), self.values.len());
        Self { pattern, values: Arc::clone(&self.values) }
    }
}
