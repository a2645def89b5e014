//! Aᵀ by a stable counting sort. If neighbouring entries have neighbouring columns, entries are scattered directly.
//! Otherwise a direct scatter would miss the cache for every entry, so the sort has two steps ([`sort`](super::sort)).

use std::ops::Range;
use std::sync::Arc;

use super::sort::{Entries, to_rows};
use crate::algebra::words::{Fold, Moves, moved};
use crate::algebra::{Value, Word, precompiled};
use crate::par::{Grouped, Threads, binned, reserved};
use crate::pattern::check_nrows;
use crate::{Csr, Index, Pattern, Result};

/// The entries of a matrix as entries (j, i, x) of its transpose, in the order of the matrix.
pub(super) struct Flipped<'a, T, I: Index> {
    pub(super) pattern: &'a Pattern<I>,
    pub(super) values: &'a [T],
}

impl<T: Copy + Sync, I: Index> Entries<T, I> for Flipped<'_, T, I> {
    fn len(&self) -> usize {
        self.values.len()
    }
    #[inline(always)]
    fn visit(&self, range: Range<usize>, mut f: impl FnMut(I, I, T)) {
        let row_ptr = self.pattern.row_ptr();
        let mut at = range.start;
        // The row of entry `at`: the last one that starts at or before it.
        let mut i = row_ptr.partition_point(|&p| p <= at) - 1;
        while at < range.end {
            let end = row_ptr[i + 1].min(range.end);
            let row = I::cast(i);
            for (&j, &x) in self.pattern.col_idx()[at..end].iter().zip(&self.values[at..end]) {
                f(j, row, x);
            }
            at = end;
            i += 1;
        }
    }
    fn any(&self) -> Option<T> {
        self.values.first().copied()
    }
}

/// The transpose as a data movement.
struct Transpose<'a, I: Index>(&'a Threads, &'a Pattern<I>);
impl<I: Index> Moves for Transpose<'_, I> {
    type Structure = Pattern<I>;
    fn run<W: Word>(self, values: &[W], _: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        let Self(threads, pattern) = self;
        let make: Make<W, I> = precompiled!(word transpose: Make<W, I>);
        make(threads, pattern, values)
    }
}
type Make<W, I> = fn(&Threads, &Pattern<I>, &[W]) -> Result<(Pattern<I>, Vec<W>)>;

/// Aᵀ, for values or words.
pub(crate) fn transpose<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    pattern: &Pattern<I>,
    values: &[T],
) -> Result<(Pattern<I>, Vec<T>)> {
    check_nrows::<I>(pattern.nrows())?;
    if columns_repeat(pattern)? {
        let (keys, rows) = (pattern.col_idx(), pattern.row_ptr());
        let Grouped { ptr, lists, values } = binned(threads, keys, pattern.ncols(), rows, values)?;
        return Ok((Pattern::from_parts(pattern.ncols(), pattern.nrows(), ptr, lists, true), values));
    }
    // A pattern has no repeats, so no fold is needed.
    to_rows(threads, (pattern.ncols(), pattern.nrows()), &Flipped { pattern, values }, None)
}

/// Aᵀ on the words of the values, so that it is compiled once per value size.
pub(crate) fn transposed<T: Value, I: Index>(
    threads: &Threads,
    pattern: &Pattern<I>,
    values: &[T],
) -> Result<(Pattern<I>, Vec<T>)> {
    moved(Transpose(threads, pattern), values, None::<fn(T, T) -> T>)
}

/// Whether the rows of Aᵀ touched by a run of entries fit the cache: sampled runs have fewer distinct columns than the
/// fraction [`FRESH`] of their entries. False if there are far more columns than entries: counting all columns would
/// dominate the work.
fn columns_repeat<I: Index>(pattern: &Pattern<I>) -> Result<bool> {
    let cols = pattern.col_idx();
    if pattern.ncols() / 4 > cols.len() || cols.len() > u32::MAX as usize {
        return Ok(false);
    }
    // Everything fits the last-level cache.
    if cols.len() <= CACHED {
        return Ok(true);
    }
    let (mut fresh, mut seen) = (0, reserved(STRETCH, "a sample of columns")?);
    for s in 0..SAMPLES {
        let start = s * (cols.len() - STRETCH) / (SAMPLES - 1);
        seen.clear();
        seen.extend(cols[start..start + STRETCH].iter().map(|j| j.get()));
        seen.sort_unstable();
        seen.dedup();
        fresh += seen.len();
    }
    Ok(fresh * FRESH.1 < SAMPLES * STRETCH * FRESH.0)
}

/// Entries that fit the last-level cache: 24 MiB at 12 bytes each.
const CACHED: usize = 1 << 21;
/// Number of sampled runs of entries, and their length.
const SAMPLES: usize = 8;
const STRETCH: usize = 1 << 12;
/// Fraction of distinct columns per entry below which entries are scattered directly.
const FRESH: (usize, usize) = (3, 4);

impl<I: Index> Pattern<I> {
    /// Aᵀ, rows sorted (also those of an unsorted A).
    ///
    /// Cost: O(nnz + nrows + ncols); the same result for any number of threads.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory);
    /// [`Error::IndexOverflow`](crate::Error::IndexOverflow) if nrows does not fit `I`.
    /// # Example
    /// ```
    /// use sparring::{Pattern, par::Threads};
    /// let a = Pattern::<u32>::new(2, 3, vec![0, 2, 3], vec![0, 2, 2])?;
    /// assert_eq!(a.transpose(&Threads::current())?.row(2), [0, 1]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn transpose(&self, threads: &Threads) -> Result<Self> {
        Ok(transpose(threads, self, super::units(self.nnz()))?.0)
    }
}

impl<T: Value, I: Index> Csr<T, I> {
    /// Aᵀ, rows sorted (also those of an unsorted A).
    ///
    /// Cost: O(nnz + nrows + ncols); the same result for any number of threads.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory);
    /// [`Error::IndexOverflow`](crate::Error::IndexOverflow) if nrows does not fit `I`.
    /// # Example
    /// ```
    /// use sparring::{Csr, par::Threads};
    /// let a = Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 2], vec![1.0, 2.0, 3.0])?;
    /// let t = a.transpose(&Threads::current())?;
    /// assert_eq!((t.shape(), t.row(2)), ((3, 2), (&[0, 1][..], &[2.0, 3.0][..])));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn transpose(&self, threads: &Threads) -> Result<Self> {
        let (pattern, values) = transposed(threads, self.pattern(), self.values())?;
        Csr::with_pattern(Arc::new(pattern), values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both algorithms are chosen as intended, and transposing twice restores the matrix.
    #[test]
    fn the_algorithm_follows_the_columns() {
        let threads = Threads::new(2).unwrap();
        let of = |ncols: usize, column: &dyn Fn(usize, usize) -> usize| {
            let (nrows, each) = (CACHED / 4 + 1, 4);
            let row_ptr = (0..=nrows).map(|i| each * i).collect();
            let mut columns: Vec<u32> =
                (0..nrows).flat_map(|i| (0..4).map(move |t| (i, t))).map(|(i, t)| column(i, t) as u32).collect();
            columns.chunks_mut(each).for_each(<[u32]>::sort_unstable);
            Pattern::<u32>::new(nrows, ncols, row_ptr, columns).unwrap()
        };
        let n = CACHED / 4 + 4;
        let banded = of(n, &|i, t| i + t);
        let scattered = of(4 * n, &|i, t| t * n + (i * 7919 + t) % n);
        for (a, near) in [(banded, true), (scattered, false)] {
            assert_eq!(columns_repeat(&a).unwrap(), near);
            assert!(a.transpose(&threads).unwrap().transpose(&threads).unwrap() == a);
        }
        let wide = Pattern::<u32>::new(1, 1 << 20, vec![0, 2], vec![3, 70_000]).unwrap();
        assert!(!columns_repeat(&wide).unwrap());
        assert_eq!(wide.transpose(&threads).unwrap().row(70_000), [0]);
    }
}
