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
