//! Aᵀ: columns become rows, by the stable counting sort of [`sort`](super::sort).

use std::ops::Range;
use std::sync::Arc;

use super::pattern::check_nrows;
use super::sort::{Entries, to_rows};
use crate::algebra::words::{Fold, Moves, moved};
use crate::algebra::{Value, Word};
use crate::par::Threads;
use crate::{Csr, Index, Pattern, Result};

/// The entries of a matrix as entries of its transpose, in the order of the matrix's rows.
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
        // The row that holds entry `at`: the last one that starts at or before it.
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

/// Entries become those of the transpose.
struct Transpose<'a, I: Index>(&'a Threads, &'a Pattern<I>);
impl<I: Index> Moves for Transpose<'_, I> {
    type Found = Pattern<I>;
    fn run<W: Word>(self, values: &[W], _: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        let Self(threads, pattern) = self;
        transpose(threads, pattern, values)
    }
}

/// Aᵀ, of values or of words.
pub(crate) fn transpose<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    pattern: &Pattern<I>,
    values: &[T],
) -> Result<(Pattern<I>, Vec<T>)> {
    check_nrows::<I>(pattern.nrows())?;
    // A pattern has no repeats, so no rule for them is needed.
    to_rows(threads, (pattern.ncols(), pattern.nrows()), &Flipped { pattern, values }, None)
}

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
        let (pattern, values) = moved(Transpose(threads, self.pattern()), self.values(), None::<fn(T, T) -> T>)?;
        Csr::with_pattern(Arc::new(pattern), values)
    }
}
