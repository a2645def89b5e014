//! Arg-min and arg-max of each row, and the number of entries of each column.

use std::sync::{Mutex, PoisonError};

use crate::algebra::Num;
use crate::par::{Threads, filled, reserved};
use crate::{Csr, Index, Pattern, Result};

use super::blocks::{blocks, row_blocks};
use crate::kernels::fill;

/// A row without a minimum or maximum.
const NONE: i64 = -1;

/// The column of the minimum or maximum of each row, the first on ties; NaN is skipped. Returns the rows that have one,
/// and these columns.
///
/// Cost: O(nrows + nnz), in one pass.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn arg_rows<T: Num, I: Index>(
    threads: &Threads,
    a: &Csr<T, I>,
    greatest: bool,
) -> Result<(Vec<usize>, Vec<i64>)> {
    let found = fill(threads, "aggregate", &row_blocks(a.pattern())?, &|i| i, NONE, &|rows, found| {
        for (i, found) in rows.zip(found) {
            let (cols, values) = a.row(i);
            let mut best: Option<(T, I)> = None;
            for (&j, &x) in cols.iter().zip(values) {
                let better = match best {
                    // NaN is the only value not equal to itself.
                    #[allow(clippy::eq_op, reason = "it tells NaN")]
                    None => x == x,
                    Some((y, k)) => (if greatest { y < x } else { x < y }) || x == y && j < k,
                };
                if better {
                    best = Some((x, j));
                }
            }
            *found = best.map_or(NONE, |(_, j)| j.get() as i64);
        }
    })?;
    let n = found.iter().filter(|j| **j != NONE).count();
    let (mut rows, mut cols) = (reserved(n, "indices")?, reserved(n, "values")?);
    for (i, &j) in found.iter().enumerate().filter(|(_, j)| **j != NONE) {
        rows.push(i);
        cols.push(j);
    }
    Ok((rows, cols))
}

/// The number of entries of each column. `None` if there are more than four billion entries.
///
/// Cost: O(nnz + n · threads) time, and four bytes per column and thread on top of the result.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn column_histogram<I: Index>(threads: &Threads, a: &Pattern<I>) -> Option<Result<Vec<i64>>> {
    /// Minimum number of entries per thread.
    const PART: usize = 1 << 16;
    u32::try_from(a.nnz()).ok().map(|_| {
        let n = a.ncols();
        let parts = if n <= a.nnz() { threads.count().min(a.nnz() / PART + 1) } else { 1 };
        let partial = Mutex::new(reserved(parts, "aggregate")?);
        let count = |(): &mut (), t: usize| {
            let mut counts = filled(n, 0u32, "aggregate")?;
            let entries = a.nnz() * t / parts..a.nnz() * (t + 1) / parts;
            a.col_idx()[entries].iter().for_each(|j| counts[j.get()] += 1);
            partial.lock().unwrap_or_else(PoisonError::into_inner).push(counts);
            Ok(())
        };
        threads.for_each_of("aggregate", parts, || Ok(()), count)?;
        let partial = partial.into_inner().unwrap_or_else(PoisonError::into_inner);
        fill(threads, "aggregate", &blocks(n, &|j| j as u64)?, &|j| j, 0i64, &|cols, y| {
            for counts in &partial {
                y.iter_mut().zip(&counts[cols.clone()]).for_each(|(y, &count)| *y += i64::from(count));
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enough entries that each thread counts a part; empty columns, and matrices without columns.
    #[test]
    fn each_column_is_counted() {
        fn check<I: Index>(nrows: usize, n: usize) {
            let cols = |i: usize| (0..n).filter(move |j| (i + j).is_multiple_of(3) && j % 7 != 2);
            let ptr = std::iter::once(0).chain((0..nrows).scan(0, |end, i| {
                *end += cols(i).count();
                Some(*end)
            }));
            let a =
                Pattern::<I>::new(nrows, n, ptr.collect(), (0..nrows).flat_map(cols).map(I::cast).collect()).unwrap();
            let want: Vec<i64> =
                (0..n).map(|j| (0..nrows).filter(|&i| cols(i).any(|k| k == j)).count() as i64).collect();
            for threads in [1, 2, 3] {
                assert_eq!(column_histogram(&Threads::new(threads).unwrap(), &a).unwrap().unwrap(), want);
            }
        }
        for (m, n) in [(0, 0), (3, 0), (0, 5), (1, 1), (2, 40), (5000, 100)] {
            check::<u32>(m, n);
            check::<u64>(m, n);
        }
    }
}
