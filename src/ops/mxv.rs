//! y = A ⊕.⊗ x: a sparse matrix times a dense vector.

use super::blocks::row_blocks;
use super::blocks::stride;
use super::mask::{VectorMask, check_mask};
use crate::algebra::{At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, Rhs, Semiring, V};
use crate::kernels::fill;
use crate::par::Threads;
use crate::{Csr, Error, Index, Result};

/// `y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ …` over the entries of row i in the order in which they are stored, `e` the identity
/// of ⊕.
///
/// Shapes: `a` m×k, `x` k, result m. A row without entries gives `e`; so does a row that the mask does not let
/// through, and it is not computed. ⊗ that looks at its place sees (i, k, 0). A fold stops soon after it has met the
/// terminal value of ⊕. Cost: O(m + nnz) time, nothing beside the result.
/// # Errors
/// [`Error::Shape`]; [`Error::Length`] if the mask has not m bits; [`Error::OutOfMemory`], [`Error::Cancelled`].
/// # Example
/// ```
/// use sparring::{Csr, algebra::PlusTimes, ops::mxv, par::Threads};
/// let a = Csr::<f64>::new(2, 3, vec![0, 2, 2], vec![0, 2], vec![2.0, 3.0])?;
/// let y = mxv(&Threads::current(), PlusTimes::<f64>::default(), &a, &[1.0, 10.0, 100.0], None)?;
/// assert_eq!(y, [302.0, 0.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn mxv<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: &[Rhs<R>],
    mask: Option<VectorMask<'_>>,
) -> Result<Vec<Out<R>>> {
    if a.ncols() != x.len() {
        return Err(Error::Shape { op: "mxv", lhs: a.shape(), rhs: (x.len(), 1) });
    }
    check_mask(mask, a.nrows())?;
    let (add, mul) = (ring.add(), ring.mul());
    let terminal = <R::Add as Monoid>::TERMINAL;
    fill(threads, "mxv", &row_blocks(a.pattern())?, &|i| i, <R::Add as Monoid>::IDENTITY, &|rows, y| {
        for (i, y) in rows.zip(y) {
            if mask.is_some_and(|m| !m.lets(i)) {
                continue;
            }
            let (ks, values) = a.row(i);
            for (ks, values) in ks.chunks(stride(&terminal)).zip(values.chunks(stride(&terminal))) {
                for (&k, &value) in ks.iter().zip(values) {
                    let at = At { i: V(i as u64), k: V(k.get() as u64), j: V(0) };
                    *y = add.apply::<Host>(V(*y), mul.mul::<Host>(V(value), V(x[k.get()]), at)).0;
                }
                if terminal.is_some_and(|t| *y == t) {
                    break;
                }
            }
        }
    })
}
