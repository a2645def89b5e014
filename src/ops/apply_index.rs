//! C = f(A, s, i, j), entry by entry.

use std::sync::Arc;

use super::blocks::row_blocks;
use crate::algebra::{Host, IndexUnaryOp, Place, V};
use crate::kernels::fill;
use crate::par::Threads;
use crate::{Csr, Index, Result};

/// `C(i, j) = f(A(i, j), s, i, j)` where A has an entry; C shares the pattern of A.
///
/// Cost: O(nrows + nnz) time, no memory beyond the result.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn apply_index<O: IndexUnaryOp, I: Index>(
    threads: &Threads,
    op: O,
    a: &Csr<O::A, I>,
    s: O::S,
) -> Result<Csr<O::Out, I>> {
    let (Some(&x), Some(&j)) = (a.values().first(), a.col_idx().first()) else {
        return Csr::with_pattern(Arc::clone(a.pattern()), Vec::new());
    };
    let f = |x, i: usize, j: I| {
        let at = Place { i: V(i as u64), j: V(j.get() as u64) };
        op.apply::<Host>(V(x), V(s), at).0
    };
    let start = |i: usize| a.row_ptr()[i];
    let values = fill(threads, "apply", &row_blocks(a.pattern())?, &start, f(x, 0, j), &|rows, values| {
        let first = start(rows.start);
        for i in rows {
            let (js, xs) = a.row(i);
            let c = &mut values[start(i) - first..start(i + 1) - first];
            for ((c, &x), &j) in c.iter_mut().zip(xs).zip(js) {
                *c = f(x, i, j);
            }
        }
    })?;
    Csr::with_pattern(Arc::clone(a.pattern()), values)
}
