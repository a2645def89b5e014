//! Allocation of large arrays, with failure reported as an error, and parallel filling by the threads of the caller's
//! pool.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;
use sparring::par::{Threads, filled};
use sparring::{Error, Result};

/// Minimum numbers per task.
const BLOCK: usize = 1 << 14;

/// An empty vector with capacity for `len` numbers.
pub(crate) fn reserved<T: Copy + Default>(len: usize, what: &'static str) -> Result<Vec<T>> {
    let mut list = filled(len, T::default(), what)?;
    list.clear();
    Ok(list)
}

/// Collects the first `len` numbers.
pub(crate) fn collected<T: Copy + Default>(
    len: usize,
    numbers: impl Iterator<Item = T>,
    what: &'static str,
) -> Result<Vec<T>> {
    let mut list = reserved(len, what)?;
    list.extend(numbers.take(len));
    Ok(list)
}

/// Reserves capacity for `more` numbers.
pub(crate) fn grow<T>(list: &mut Vec<T>, more: usize, what: &'static str) -> Result<()> {
    list.try_reserve(more)
        .map_err(|_| Error::OutOfMemory { what, bytes: (list.len() + more) as u128 * size_of::<T>() as u128 })
}

/// Calls `change` with every number and its position, in parallel.
pub(crate) fn for_each<T: Send>(list: &mut [T], change: impl Fn(usize, &mut T) + Sync) {
    Threads::current()
        .install(|| list.par_iter_mut().with_min_len(BLOCK).enumerate().for_each(|(p, number)| change(p, number)));
}

/// The list of `value(p)` for p below `n`, computed in parallel.
pub(crate) fn listed<T: Copy + Default + Send>(
    n: usize,
    value: impl Fn(usize) -> T + Sync,
    what: &'static str,
) -> Result<Vec<T>> {
    let mut list = filled(n, T::default(), what)?;
    for_each(&mut list, |p, to| *to = value(p));
    Ok(list)
}

/// Parallel sort.
pub(crate) fn sort<K: Ord + Send>(keys: &mut [K]) {
    Threads::current().install(|| keys.par_sort_unstable());
}
