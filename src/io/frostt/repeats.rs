//! Duplicate entries.

use super::value::FrosttValue;
use crate::algebra::Value;
use crate::par::Threads;
use crate::sparse::sums::{Sums, overflow};
use crate::tensor::Tensor;
use crate::{Index, Result};

/// Sorts the entries lexicographically, the last mode fastest, and sums duplicates in their order. Sorted entries
/// without duplicates are returned as they are.
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) if a sum overflows the type;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(super) fn summed<T: FrosttValue, I: Index>(threads: &Threads, x: Tensor<T, I>) -> Result<Tensor<T, I>> {
    if x.increases() {
        return Ok(x);
    }
    let sums = Sums::default();
    let made = x.folded(threads, Some(|sum: T, again| sums.keep(sum, sum.checked_repeated(again))))?;
    if sums.overflowed() { Err(overflow::<T>("a sum of repeated entries")) } else { Ok(made) }
}

/// The first duplicate in file order: the positions of the earlier entry and of its duplicate.
pub(super) fn first<T: Value, I: Index>(threads: &Threads, x: &Tensor<T, I>) -> Result<Option<(usize, usize)>> {
    if x.increases() {
        return Ok(None);
    }
    let modes: Vec<usize> = (0..x.order()).collect();
    let order = x.order_by(threads, &modes)?;
    let same = |a: usize, b: usize| x.all_indices().iter().all(|list| list[a] == list[b]);
    // The sort is stable, so the first duplicate directly follows the entry it duplicates.
    let repeats = order.windows(2).filter(|pair| same(pair[0], pair[1])).map(|pair| (pair[0], pair[1]));
    Ok(repeats.min_by_key(|&(_, later)| later))
}
