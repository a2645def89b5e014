//! What a piece of text holds.

/// Consecutive entries, indices from 0.
#[derive(Debug)]
pub(super) struct Block<T> {
    pub(super) places: Places,
    pub(super) values: Vec<T>,
    /// For each mode one more than the largest index.
    pub(super) dims: Vec<usize>,
}

impl<T> Block<T> {
    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        match &self.places {
            Places::Narrow(lists) => lists.first().map_or(0, Vec::len),
            Places::Wide(lists) => lists.first().map_or(0, Vec::len),
        }
    }
}

/// One list of indices for each mode, as wide as those of the piece need.
#[derive(Debug)]
pub(super) enum Places {
    Narrow(Vec<Vec<u32>>),
    Wide(Vec<Vec<u64>>),
}

impl Places {
    /// Gives the memory of a mode's list back.
    pub(super) fn forget(&mut self, mode: usize) {
        match self {
            Self::Narrow(lists) => lists[mode] = Vec::new(),
            Self::Wide(lists) => lists[mode] = Vec::new(),
        }
    }
}
