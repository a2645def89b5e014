//! Where the least or the greatest value of each row stands.

use crate::algebra::Num;
use crate::par::{Threads, reserved};
use crate::{Csr, Index, Result};

use super::blocks::row_blocks;
use crate::kernels::fill;

/// A row without such a value.
const NONE: i64 = -1;

/// The column of the least value of each row, or of the greatest: the first of equal ones. NaN is neither. The rows
/// that have one, and these columns.
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
                    // NaN is no number that equals itself.
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
