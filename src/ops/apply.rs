//! C = f(A), entry by entry.

use std::sync::Arc;

use super::blocks::blocks;
use crate::algebra::{Host, UnaryOp, V};
use crate::kernels::fill;
use crate::par::Threads;
use crate::{Csr, Index, Result};

/// `C(i, j) = f(A(i, j))` where A has an entry; C shares the pattern of A.
///
/// Cost: O(nnz) time, no memory beyond the result.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn apply<O: UnaryOp, I: Index>(threads: &Threads, op: O, a: &Csr<O::A, I>) -> Result<Csr<O::Out, I>> {
    let x = a.values();
    let Some(&first) = x.first() else { return Csr::with_pattern(Arc::clone(a.pattern()), Vec::new()) };
    let (blocks, first) = (blocks(x.len(), &|p| p as u64)?, op.apply::<Host>(V(first)).0);
    let values = fill(threads, "apply", &blocks, &|p| p, first, &|block, c| {
        for (c, &x) in c.iter_mut().zip(&x[block]) {
            *c = op.apply::<Host>(V(x)).0;
        }
    })?;
    Csr::with_pattern(Arc::clone(a.pattern()), values)
}
