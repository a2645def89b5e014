//! Entries that are in a file more than once.

use super::value::FrosttValue;
use crate::algebra::Value;
use crate::par::Threads;
use crate::sparse::sums::{Sums, beyond};
use crate::tensor::Tensor;
use crate::{Index, Result};

/// The entries sorted by their indices, the last mode fastest; repeated ones added up in the order given.
/// What stands so is not touched.
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) if the type does not hold a sum;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(super) fn summed<T: FrosttValue, I: Index>(threads: &Threads, x: Tensor<T, I>) -> Result<Tensor<T, I>> {
    if x.increases() {
        return Ok(x);
    }
    let sums = Sums::default();
    let made = x.folded(threads, Some(|sum: T, again| sums.keep(sum, sum.checked_repeated(again))))?;
    if sums.are_beyond() { Err(beyond::<T>("a sum of repeated entries")) } else { Ok(made) }
}

/// The first entry that repeats another, and that other: the earlier one first.
pub(super) fn first<T: Value, I: Index>(threads: &Threads, x: &Tensor<T, I>) -> Result<Option<(usize, usize)>> {
    if x.increases() {
        return Ok(None);
    }
    let modes: Vec<usize> = (0..x.order()).collect();
    let order = x.order_by(threads, &modes)?;
    let same = |a: usize, b: usize| x.all_indices().iter().all(|list| list[a] == list[b]);
    // Of equal entries the earlier one comes first, so that the first repeat stands behind what it repeats.
    let repeats = order.windows(2).filter(|pair| same(pair[0], pair[1])).map(|pair| (pair[0], pair[1]));
    Ok(repeats.min_by_key(|&(_, later)| later))
}
