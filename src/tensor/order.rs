//! Sorting a tensor's entries by some modes, and summing duplicates.

use super::coo::gather;
use super::{Tensor, coo::mode_name};
use crate::algebra::{Host, Monoid, V, Value};
use crate::par::{Digit, Grouped, Threads, filled, for_each_part, grouped};
use crate::{Error, Index, Result};

/// Bins of a sort pass for one digit of an index. A mode of at most this many indices, or four times the number of
/// entries, is sorted in one pass; with more bins than that, another pass costs less.
const LEAST_BINS: usize = 1 << 16;

/// The pattern of a tensor: dimensions and indices, all that sorting reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern<'a, I> {
    pub(crate) dims: &'a [usize],
    /// One list for each dimension, all of one length.
    pub(crate) indices: &'a [Vec<I>],
}

impl<T: Value, I: Index> Tensor<T, I> {
    /// The pattern: dimensions and indices.
    pub(crate) fn pattern(&self) -> Pattern<'_, I> {
        Pattern { dims: self.dims(), indices: self.all_indices() }
    }
    /// Whether the entries are sorted lexicographically by their indices in `modes`.
    /// # Errors
    /// [`Error::Argument`] if there is no such mode.
    pub fn is_sorted_by(&self, modes: &[usize]) -> Result<bool> {
        self.pattern().is_sorted_by(modes)
    }

    /// Positions of the entries, sorted lexicographically by their indices in `modes`. A stable counting sort, the same
    /// for any number of threads. Cost: O(d·(nnz + bins)), one pass per mode, more where a mode is much longer than
    /// nnz.
    /// # Errors
    /// [`Error::Argument`] if there is no such mode; [`Error::OutOfMemory`].
    pub fn order_by(&self, threads: &Threads, modes: &[usize]) -> Result<Vec<usize>> {
        self.pattern().order_by(threads, modes)
    }

    /// The entries, sorted lexicographically by their indices in `modes`.
    /// # Errors
    /// As [`order_by`](Self::order_by).
    pub fn sorted_by(&self, threads: &Threads, modes: &[usize]) -> Result<Self> {
        self.gathered(threads, &self.order_by(threads, modes)?)
    }

    /// The entries in an order in which neighbours are close in every mode: sorted by a key that interleaves the bits
    /// of all indices, each time the next bit of the mode with the most bits left, as in ALTO (Helal et al. 2021,
    /// §III). An MTTKRP by [`Variant::Single`](super::Variant::Single) then touches fewer rows in a segment,
    /// so one list serves every mode. Cost: O(d·nnz).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn linearized(&self, threads: &Threads) -> Result<Self> {
        const WIDTH: u32 = 16;
        let bits = interleaved(self.dims());
        let mut keys = gathered_bits(threads, self, &bits)?;
        let mut order: Vec<usize> = crate::par::collected(self.nnz(), 0..self.nnz(), "an order of entries")?;
        let passes = (bits.len() as u32).div_ceil(WIDTH);
        let width = (bits.len() as u32).div_ceil(passes.max(1));
        for pass in 0..passes {
            let digit = Digit { shift: pass * width, mask: (1 << width) - 1, bins: 1 << width };
            let sorted: Grouped<u32, usize> = grouped(threads, &keys, digit, 1, |e, key, to| {
                key.copy(&[keys[e]]);
                to.copy(&[order[e]]);
            })?;
            (keys, order) = (sorted.lists, sorted.values);
        }
        drop(keys);
        self.gathered(threads, &order)
    }

    /// The tensor sorted by all modes, duplicates folded by `add` in stored order.
    /// ```
    /// use sparring::{algebra::Plus, par::Threads, tensor::Tensor};
    /// let x = Tensor::<f64>::new(vec![2, 2], vec![vec![1, 0, 1], vec![1, 0, 1]], vec![1.0, 2.0, 4.0])?;
    /// let y = x.summed(&Threads::current(), Plus::new())?;
    /// assert_eq!((y.values(), y.coordinates(1)), (&[2.0, 5.0][..], vec![1, 1]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn summed<O: Monoid<Out = T>>(&self, threads: &Threads, add: O) -> Result<Self> {
        self.folded(threads, Some(|x, y| add.apply::<Host>(V(x), V(y)).0))
    }

    /// The tensor sorted by all modes, if it has no duplicates.
    /// # Errors
    /// [`Error::Repeated`] naming the first duplicate in sorted order; [`Error::OutOfMemory`].
    pub fn distinct(&self, threads: &Threads) -> Result<Self> {
        self.folded(threads, None::<fn(T, T) -> T>)
    }

    /// Sorts by all modes and folds duplicates, or reports them as an error without `fold`.
    pub(crate) fn folded(&self, threads: &Threads, fold: Option<impl Fn(T, T) -> T>) -> Result<Self> {
        let order = self.pattern().order(threads)?;
        let (mut dims, mut indices, mut values) = self.gathered(threads, &order)?.into_parts();
        let (mut last, n) = (0, values.len());
        for e in 1..n {
            if indices.iter().all(|list| list[last] == list[e]) {
                let Some(fold) = &fold else { return Err(Error::Repeated { place: self.coordinates(order[e]) }) };
                values[last] = fold(values[last], values[e]);
            } else {
                last += 1;
                values[last] = values[e];
                for list in &mut indices {
                    list[last] = list[e];
                }
            }
        }
        let left = if n == 0 { 0 } else { last + 1 };
        values.truncate(left);
        indices.iter_mut().for_each(|list| list.truncate(left));
        dims.shrink_to_fit();
        Ok(Self::from_parts(dims, indices, values))
    }
    /// Whether the entries are sorted by all modes and free of duplicates.
    pub(crate) fn increases(&self) -> bool {
        let lists = self.all_indices();
        let place = |e: usize| lists.iter().map(move |list| list[e]);
        (1..self.nnz()).all(|e| place(e - 1).lt(place(e)))
    }
    /// Whether there are duplicate entries. Cost: O(d·nnz), less where the entries are sorted.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn has_repeats(&self, threads: &Threads) -> Result<bool> {
        if self.increases() {
            return Ok(false);
        }
        let all: Vec<usize> = (0..self.order()).collect();
        let order = self.order_by(threads, &all)?;
        Ok(order.windows(2).any(|pair| self.pattern().compare(&all, pair[0], pair[1]).is_eq()))
    }
    /// # Errors
    /// [`Error::Argument`] if one of `modes` does not exist or is given twice.
    pub(crate) fn check_modes(&self, name: &'static str, modes: &[usize]) -> Result<()> {
        self.pattern().check_modes(name, modes)
    }
}

impl<I: Index> Pattern<'_, I> {
    /// Number of entries.
    pub(crate) fn nnz(&self) -> usize {
        self.indices.first().map_or(0, Vec::len)
    }
    fn is_sorted_by(&self, modes: &[usize]) -> Result<bool> {
        self.check_modes("modes", modes)?;
        Ok((1..self.nnz()).all(|e| self.compare(modes, e - 1, e).is_le()))
    }
    fn order_by(&self, threads: &Threads, modes: &[usize]) -> Result<Vec<usize>> {
        self.check_modes("modes", modes)?;
        let mut order: Vec<u64> = crate::par::collected(self.nnz(), 0..self.nnz() as u64, "an order of entries")?;
        for &mode in modes.iter().rev() {
            for digit in digits(self.dims[mode], self.nnz()) {
                let keys = by_number(threads, &self.indices[mode], &order)?;
                let sorted: Grouped<(), u64> = grouped(threads, &keys, digit, 0, |e, _, to| to.copy(&[order[e]]))?;
                order = sorted.values;
            }
        }
        crate::par::collected(order.len(), order.iter().map(|&e| e as usize), "an order of entries")
    }
    /// Positions of the entries, sorted by all modes; duplicates stay in stored order.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn order(&self, threads: &Threads) -> Result<Vec<usize>> {
        let all: Vec<usize> = (0..self.dims.len()).collect();
        match self.is_sorted_by(&all)? {
            true => crate::par::collected(self.nnz(), 0..self.nnz(), "an order of entries"),
            false => self.order_by(threads, &all),
        }
    }
    /// Compares entries `a` and `b` lexicographically by their indices in `modes`.
    fn compare(&self, modes: &[usize], a: usize, b: usize) -> std::cmp::Ordering {
        let unequal = modes.iter().map(|&m| self.indices[m][a].cmp(&self.indices[m][b])).find(|c| c.is_ne());
        unequal.unwrap_or(std::cmp::Ordering::Equal)
    }
    fn check_modes(&self, name: &'static str, modes: &[usize]) -> Result<()> {
        let mut seen = [false; super::MAX_ORDER];
        for &mode in modes {
            check_mode(self.dims.len(), name, mode)?;
            if std::mem::replace(&mut seen[mode], true) {
                return Err(Error::Argument { name, message: format!("{} is given twice", mode_name(mode)) });
            }
        }
        Ok(())
    }
    /// Bounds in `order` of the groups of entries with equal indices, followed by the length of `order`.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn groups(&self, order: &[usize]) -> Result<Vec<usize>> {
        let same = |a: usize, b: usize| self.indices.iter().all(|list| list[a] == list[b]);
        let begins = |&p: &usize| p == 0 || !same(order[p - 1], order[p]);
        let mut starts = crate::par::reserved(order.len() + 1, "groups of repeats")?;
        starts.extend((0..order.len()).filter(begins).chain([order.len()]));
        Ok(starts)
    }
}

/// # Errors
/// [`Error::Argument`] if `mode` is not below `order`.
pub(crate) fn check_mode(order: usize, name: &'static str, mode: usize) -> Result<()> {
    if mode < order {
        return Ok(());
    }
    Err(Error::Argument { name, message: format!("mode {mode} of a tensor of order {order}; modes count from 0") })
}

/// The digits of the indices of a mode, the lowest first, chosen so that no pass has many more bins than entries.
fn digits(len: usize, entries: usize) -> Vec<Digit> {
    if len <= LEAST_BINS.max(4 * entries) {
        return vec![Digit::whole(len)];
    }
    let bits = usize::BITS - (len - 1).leading_zeros();
    let width = LEAST_BINS.ilog2();
    let mask = LEAST_BINS as u64 - 1;
    (0..bits.div_ceil(width)).map(|pass| Digit { shift: pass * width, mask, bins: LEAST_BINS }).collect()
}

/// (mode, bit) pairs of a key that interleaves the bits of the indices, the highest first. It stops where the remaining
/// bits of each mode span a range whose factor rows fit a cache.
pub(super) fn interleaved(dims: &[usize]) -> Vec<(usize, u32)> {
    const MOST: usize = 32;
    const LEFT: u32 = 9;
    let mut left: Vec<u32> = dims.iter().map(|&len| usize::BITS - len.saturating_sub(1).leading_zeros()).collect();
    let mut bits = Vec::new();
    while bits.len() < MOST
        && let Some(mode) = (0..dims.len()).rev().max_by_key(|&m| left[m])
        && left[mode] > LEFT
    {
        left[mode] -= 1;
        bits.push((mode, left[mode]));
    }
    bits
}

/// The key of each entry, composed of the given bits, the highest first.
fn gathered_bits<T: Value, I: Index>(threads: &Threads, x: &Tensor<T, I>, bits: &[(usize, u32)]) -> Result<Vec<u32>> {
    const PIECE: usize = 1 << 12;
    let mut keys = filled(x.nnz(), 0u32, "keys of a sort")?;
    let pieces = keys.chunks_mut(PIECE).enumerate();
    let parts = crate::par::collected(x.nnz().div_ceil(PIECE), pieces, "keys of a sort")?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (piece, keys)| {
            for &(mode, bit) in bits {
                let list = &x.indices(mode)[piece * PIECE..];
                for (key, i) in keys.iter_mut().zip(list) {
                    *key = *key << 1 | (i.get() >> bit & 1) as u32;
                }
            }
            Ok(())
        },
    )?;
    Ok(keys)
}

/// `list[order[0]]`, `list[order[1]]`, …
fn by_number<I: Index>(threads: &Threads, list: &[I], order: &[u64]) -> Result<Vec<I>> {
    // Entry numbers are positions in memory, so they fit `usize`.
    let mut numbers = filled(order.len(), 0usize, "an order of entries")?;
    numbers.iter_mut().zip(order).for_each(|(to, &e)| *to = e as usize);
    gather(threads, list, &numbers)
}
