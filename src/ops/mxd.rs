//! Y = A ⊕.⊗ X: a sparse matrix times a dense one.

use super::blocks::blocks;
use crate::algebra::{Lhs, Monoid, Out, Rhs, Semiring};
use crate::kernels::{fill, spmm_rows};
use crate::par::Threads;
use crate::sparse::{Dense, out_of_memory};
use crate::{Csr, Error, Index, Result};

/// `Y(i, j) = e ⊕ A(i, k) ⊗ X(k, j) ⊕ …` over the entries of row i in the order in which they are stored, `e` the
/// identity of ⊕.
///
/// Shapes: `a` m×k, `x` k×n, result m×n. A row of A without entries gives a row of `e`.
/// Cost: O(n·(m + nnz)) time, nothing beside the result.
/// # Errors
/// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn mxd<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: &Dense<Rhs<R>>,
) -> Result<Dense<Out<R>>> {
    if a.ncols() != x.nrows() {
        return Err(Error::Shape { op: "mxd", lhs: a.shape(), rhs: x.shape() });
    }
    let (m, n) = (a.nrows(), x.ncols());
    if m.checked_mul(n).is_none() {
        return Err(out_of_memory::<Out<R>>("a dense matrix", usize::MAX));
    }
    if n == 0 {
        return Dense::new(m, n, Vec::new());
    }
    let work = |i: usize| ((a.row_ptr()[i] + i) as u64).saturating_mul(n as u64);
    let values = fill(threads, "mxd", &blocks(m, &work)?, &|i| i * n, <R::Add as Monoid>::IDENTITY, &|rows, y| {
        spmm_rows(ring, (a.pattern(), a.values()), (x.values(), n), rows, y);
    })?;
    Dense::new(m, n, values)
}
