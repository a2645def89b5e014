//! Arrays as long as what is generated: memory is asked for, never taken for granted, and the threads of the caller's
//! pool fill it.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;
use sparring::par::{Threads, filled};
use sparring::{Error, Result};

/// Numbers that a thread takes at a time, at least.
const BLOCK: usize = 1 << 14;

/// An empty vector with room for `len` numbers.
pub(crate) fn reserved<T: Copy + Default>(len: usize, what: &'static str) -> Result<Vec<T>> {
    let mut list = filled(len, T::default(), what)?;
    list.clear();
    Ok(list)
}

/// The first `len` numbers.
pub(crate) fn collected<T: Copy + Default>(
    len: usize,
    numbers: impl Iterator<Item = T>,
    what: &'static str,
) -> Result<Vec<T>> {
    let mut list = reserved(len, what)?;
    list.extend(numbers.take(len));
    Ok(list)
}

/// Makes room for `more` numbers.
pub(crate) fn grow<T>(list: &mut Vec<T>, more: usize, what: &'static str) -> Result<()> {
    list.try_reserve(more)
        .map_err(|_| Error::OutOfMemory { what, bytes: (list.len() + more) as u128 * size_of::<T>() as u128 })
}

/// Calls `change` with every number and its position, by all threads.
pub(crate) fn for_each<T: Send>(list: &mut [T], change: impl Fn(usize, &mut T) + Sync) {
    Threads::current()
        .install(|| list.par_iter_mut().with_min_len(BLOCK).enumerate().for_each(|(p, number)| change(p, number)));
}

/// `value(p)` for every p below `n`, by all threads.
pub(crate) fn listed<T: Copy + Default + Send>(
    n: usize,
    value: impl Fn(usize) -> T + Sync,
    what: &'static str,
) -> Result<Vec<T>> {
    let mut list = filled(n, T::default(), what)?;
    for_each(&mut list, |p, to| *to = value(p));
    Ok(list)
}

/// Sorts by all threads.
pub(crate) fn sort<K: Ord + Send>(keys: &mut [K]) {
    Threads::current().install(|| keys.par_sort_unstable());
}
