//! The parsed entries of a piece of text.

/// Consecutive entries, with zero-based indices.
#[derive(Debug)]
pub(super) struct Block<T> {
    pub(super) indices: IndexLists,
    pub(super) values: Vec<T>,
    /// Largest index plus 1 in each mode.
    pub(super) dims: Vec<usize>,
}

impl<T> Block<T> {
    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        match &self.indices {
            IndexLists::Narrow(lists) => lists.first().map_or(0, Vec::len),
            IndexLists::Wide(lists) => lists.first().map_or(0, Vec::len),
        }
    }
}

/// One index list per mode, as wide as the largest index of the piece requires.
#[derive(Debug)]
pub(super) enum IndexLists {
    Narrow(Vec<Vec<u32>>),
    Wide(Vec<Vec<u64>>),
}

impl IndexLists {
    /// Frees the list of a mode.
    pub(super) fn free(&mut self, mode: usize) {
        match self {
            Self::Narrow(lists) => lists[mode] = Vec::new(),
            Self::Wide(lists) => lists[mode] = Vec::new(),
        }
    }
}
