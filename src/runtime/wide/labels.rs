//! The used indices of a dimension.

use std::sync::Arc;

use crate::par::{collected, reserved};
use crate::{Error, Index, Result};

/// The largest dimension, that of `GrB_INDEX_MAX` + 1.
const MOST: usize = 1 << 60;

/// Whether a dimension exceeds that of ordinary columns and vectors, and is therefore stored by its used indices.
pub(in crate::runtime) fn is_wide(n: usize) -> bool {
    n > u32::MAX_LEN
}
/// Whether a dimension of a result that was computed from used indices is stored by all its indices again. Columns and
/// the indices of vectors cost nothing more then; rows have row pointers, of at most 8 MiB.
pub(super) fn is_expanded(n: usize, has_row_pointers: bool) -> bool {
    n <= if has_row_pointers { 1 << 20 } else { u32::MAX_LEN }
}

/// Rejects a dimension beyond 2⁶⁰.
/// # Errors
/// [`Error::IndexOverflow`].
pub(super) fn check_dimension(what: &'static str, n: u128) -> Result<usize> {
    let max = MOST as u128;
    if n <= max { Ok(n as usize) } else { Err(Error::IndexOverflow { what, needed: n, max }) }
}

/// The used indices of a dimension, increasing; the rank of an index is its position. `None` for all indices, which are
/// their own ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::runtime) struct Labels(Option<Arc<Vec<usize>>>);

impl Labels {
    /// These indices, in any order and possibly with duplicates.
    /// # Errors
    /// [`Error::IndexOverflow`] for 2³² different ones or more.
    pub(super) fn of(mut used: Vec<usize>) -> Result<Self> {
        if !used.is_sorted_by(|i, j| i < j) {
            used.sort_unstable();
            used.dedup();
        }
        let (needed, max) = (used.len() as u128, u32::MAX_LEN as u128);
        if needed > max {
            return Err(Error::IndexOverflow { what: "used indices of a dimension", needed, max });
        }
        Ok(Self(Some(Arc::new(used))))
    }
    /// The used indices; `None` for all.
    pub(super) fn used(&self) -> Option<&[usize]> {
        self.0.as_deref().map(Vec::as_slice)
    }
    /// Whether all indices are used.
    pub(super) fn is_all(&self) -> bool {
        self.0.is_none()
    }
    /// The number of ranks, given the dimension.
    pub(super) fn len(&self, n: usize) -> usize {
        self.0.as_ref().map_or(n, |used| used.len())
    }
    /// The rank of an index, if it is used.
    pub(super) fn rank(&self, index: usize) -> Option<usize> {
        match &self.0 {
            None => Some(index),
            Some(used) => used.binary_search(&index).ok(),
        }
    }
    /// The index of a rank.
    pub(super) fn index(&self, rank: usize) -> usize {
        self.0.as_ref().map_or(rank, |used| used[rank])
    }
    /// The ranks of used indices.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn ranks(&self, of: impl ExactSizeIterator<Item = usize>) -> Result<Vec<usize>> {
        collected(of.len(), of.filter_map(|index| self.rank(index)), "ranks of indices")
    }
    /// The indices of ranks.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn indices(&self, ranks: &[u32]) -> Result<Vec<usize>> {
        collected(ranks.len(), ranks.iter().map(|&rank| self.index(rank.get())), "indices")
    }
    /// The labels with one more index.
    /// # Errors
    /// [`Error::OutOfMemory`]; those of [`of`](Self::of).
    pub(super) fn with(&self, index: usize) -> Result<Self> {
        let Some(used) = self.used().filter(|used| used.binary_search(&index).is_err()) else {
            return Ok(self.clone());
        };
        let mut more = reserved(used.len() + 1, "used indices")?;
        let at = used.partition_point(|&i| i < index);
        more.extend_from_slice(&used[..at]);
        more.push(index);
        more.extend_from_slice(&used[at..]);
        Self::of(more)
    }
}
