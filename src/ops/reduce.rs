//! ⊕ over the rows of a matrix, and over all its entries.

use super::blocks::{blocks, light_row_blocks};
use crate::algebra::Monoid;
use crate::kernels::{fill, folded, folded_first};
use crate::par::Threads;
use crate::{Csr, Index, Result};

/// Entries that [`reduce`] folds at a time.
pub(super) const PART: usize = 1 << 14;

/// `y(i) = e ⊕ A(i, j) ⊕ …` over the entries of row i, `e` the identity of ⊕, which is what a row without entries
/// gives.
///
/// The fold runs in the order in which they are stored, and stops soon after it has met the terminal value of ⊕. But
/// rows of more than sixteen entries that are added ([`Plus`](crate::algebra::Plus)) have sixteen sums, which need not
/// wait for each other: sum s has the entries s, s + 16, … from 0 on, then neighbours are joined until there is one.
/// Cost: O(nrows + nnz) time, nothing beside the result.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn reduce_rows<M: Monoid, I: Index>(
    threads: &Threads,
    monoid: M,
    a: &Csr<M::Out, I>,
) -> Result<Vec<M::Out>> {
    fill(threads, "reduce_rows", &light_row_blocks(a.pattern())?, &|i| i, M::IDENTITY, &|rows, y| {
        for (ends, y) in a.row_ptr()[rows.start..=rows.end].windows(2).zip(y) {
            *y = folded_first(monoid, &a.values()[ends[0]..], ends[1] - ends[0]);
        }
    })
}

/// ⊕ over all entries; the identity if there are none.
///
/// The values, row by row as stored, are cut after every 16 384th. Each part is folded as a row by [`reduce_rows`], and
/// so are then the results of the parts: for floats this is another rounding than one long fold, and the same for any
/// number of threads. Cost: O(nnz) time, O(nnz / 16 384) memory.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn reduce<M: Monoid, I: Index>(threads: &Threads, monoid: M, a: &Csr<M::Out, I>) -> Result<M::Out> {
    fold_all(threads, monoid, a.values())
}

/// The fold of [`reduce`] over an array.
pub(super) fn fold_all<M: Monoid>(threads: &Threads, monoid: M, values: &[M::Out]) -> Result<M::Out> {
    let parts = values.len().div_ceil(PART);
    // A part is never empty: the identity of `Any` is one on the left only.
    let part = |p: usize| &values[p * PART..values.len().min((p + 1) * PART)];
    let of_parts =
        fill(threads, "reduce", &blocks(parts, &|p| (p * PART) as u64)?, &|p| p, M::IDENTITY, &|block, y| {
            for (p, y) in block.zip(y) {
                *y = folded(monoid, part(p));
            }
        })?;
    Ok(folded(monoid, &of_parts))
}
