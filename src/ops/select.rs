//! The entries of a matrix that an operator keeps.

use std::ops::Range;
use std::sync::Arc;

use super::blocks::{append_rows, in_order, room, row_blocks};
use crate::algebra::{Host, IndexUnaryOp, Place, V, Value};
use crate::kernels::fill;
use crate::par::Threads;
use crate::{Csr, Index, Pattern, Result};

/// The entries of A for which `f(A(i, j), i, j, s)` holds; rows sorted.
///
/// Cost: O(nrows + nnz) time, one byte per entry beside the result; a matrix whose rows are not sorted is sorted first.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn select<O: IndexUnaryOp<Out = bool>, I: Index>(
    threads: &Threads,
    op: O,
    a: &Csr<O::A, I>,
    s: O::S,
) -> Result<Csr<O::A, I>> {
    let a = &*in_order(threads, a)?;
    let row_ptr = a.row_ptr();
    let kept = fill(threads, "select", &row_blocks(a.pattern())?, &|i| row_ptr[i], false, &|rows, kept| {
        let mut kept = kept.iter_mut();
        for i in rows {
            let (js, values) = a.row(i);
            for ((&j, &x), kept) in js.iter().zip(values).zip(&mut kept) {
                let at = Place { i: V(i as u64), j: V(j.get() as u64) };
                *kept = op.apply::<Host>(V(x), V(s), at).0;
            }
        }
    })?;
    keep(threads, a, &kept)
}

/// The entries whose flag is set.
fn keep<T: Value, I: Index>(threads: &Threads, a: &Csr<T, I>, kept: &[bool]) -> Result<Csr<T, I>> {
    let (c, values) = keep_values(threads, a.pattern(), a.values(), kept)?;
    Csr::with_pattern(Arc::new(c), values)
}

/// [`keep`], for values or for words.
pub(crate) fn keep_values<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    values: &[T],
    kept: &[bool],
) -> Result<(Pattern<I>, Vec<T>)> {
    let ptr = a.row_ptr();
    let Some(&first) = values.first() else { return Ok((a.clone(), Vec::new())) };
    let append = |rows: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, to: &mut Vec<T>| {
        let most = ptr[rows.end] - ptr[rows.start];
        room(cols, most, "a block of rows")?;
        room(to, most, "a block of rows")?;
        cols.resize(most, I::default());
        to.resize(most, first);
        let mut n = 0;
        for (i, len) in rows.zip(lens) {
            let (start, of) = (n, ptr[i]..ptr[i + 1]);
            // What is not kept is written over: no branch to be guessed.
            for ((&j, &x), &keep) in a.row(i).iter().zip(&values[of.clone()]).zip(&kept[of]) {
                (cols[n], to[n]) = (j, x);
                n += usize::from(keep);
            }
            *len = n - start;
        }
        cols.truncate(n);
        to.truncate(n);
        Ok(())
    };
    let (row_ptr, cols, values) = append_rows(threads, "select", &row_blocks(a)?, a.nnz(), &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}
