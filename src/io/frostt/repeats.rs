//! Entries that are in a file more than once.

use crate::algebra::Value;
use crate::par::Threads;
use crate::tensor::Tensor;
use crate::{Index, Result};

/// The entries sorted by their indices, the last mode fastest; repeated ones folded by `add` in the order given. What stands so
/// is not touched.
pub(super) fn summed<T: Value, I: Index>(
    threads: &Threads,
    x: Tensor<T, I>,
    add: impl Fn(T, T) -> T,
) -> Result<Tensor<T, I>> {
    if increases(&x) { Ok(x) } else { x.folded(threads, Some(add)) }
}

/// The first entry that repeats another, and that other: the earlier one first.
pub(super) fn first<T: Value, I: Index>(threads: &Threads, x: &Tensor<T, I>) -> Result<Option<(usize, usize)>> {
    if increases(x) {
        return Ok(None);
    }
    let modes: Vec<usize> = (0..x.order()).collect();
    let order = x.order_by(threads, &modes)?;
    let same = |a: usize, b: usize| x.all_indices().iter().all(|list| list[a] == list[b]);
    // Of equal entries the earlier one comes first, so that the first repeat stands behind what it repeats.
    let repeats = order.windows(2).filter(|pair| same(pair[0], pair[1])).map(|pair| (pair[0], pair[1]));
    Ok(repeats.min_by_key(|&(_, later)| later))
}

/// Whether each entry stands behind the one before: sorted, and none repeated.
fn increases<T: Value, I: Index>(x: &Tensor<T, I>) -> bool {
    let lists = x.all_indices();
    let place = |e: usize| lists.iter().map(move |list| list[e]);
    (1..x.nnz()).all(|e| place(e - 1).lt(place(e)))
}
