//! ⊕ over the rows of a matrix, and over all its entries.

use super::blocks::{blocks, light_row_blocks};
use crate::algebra::Monoid;
use crate::kernels::{fill, folded, folded_first};
use crate::par::Threads;
use crate::{Csr, Index, Result};

/// Entries that [`reduce`] folds at a time.
pub(super) const PART: usize = 1 << 14;

/// `y(i) = e ⊕ A(i, j) ⊕ …` over the entries of row i, `e` the identity of ⊕; an empty row yields `e`.
///
/// The fold runs in storage order, and stops soon after reaching the terminal value of ⊕. Exception: sums
/// ([`Plus`](crate::algebra::Plus)) of more than sixteen entries keep sixteen independent partial sums, to break the
/// dependency chain. Sum s has the entries s, s + 16, …, starting from 0; adjacent sums are then added pairwise until
/// one is left. Cost: O(nrows + nnz) time, no memory beyond the result.
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
/// The values, in storage order, are cut after every 16 384th. Each part is folded like a row of [`reduce_rows`], and
/// so are the results of the parts: for floats this rounds differently from one long fold, but the same for any number
/// of threads. Cost: O(nnz) time, O(nnz / 16 384) memory.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn reduce<M: Monoid, I: Index>(threads: &Threads, monoid: M, a: &Csr<M::Out, I>) -> Result<M::Out> {
    fold_all(threads, monoid, a.values())
}

/// The fold of [`reduce`] over an array.
pub(super) fn fold_all<M: Monoid>(threads: &Threads, monoid: M, values: &[M::Out]) -> Result<M::Out> {
    let parts = values.len().div_ceil(PART);
    // Parts are never empty: the identity of `Any` is a left identity only.
    let part = |p: usize| &values[p * PART..values.len().min((p + 1) * PART)];
    let of_parts =
        fill(threads, "reduce", &blocks(parts, &|p| (p * PART) as u64)?, &|p| p, M::IDENTITY, &|block, y| {
            for (p, y) in block.zip(y) {
                *y = folded(monoid, part(p));
            }
        })?;
    Ok(folded(monoid, &of_parts))
}
