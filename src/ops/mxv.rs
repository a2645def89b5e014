//! y = A ⊕.⊗ x: a sparse matrix times a dense vector.

use std::ops::Range;

use super::blocks::{row_blocks, stride};
use crate::algebra::{At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, Rhs, Semiring, V};
use crate::kernels::{fill, refill_blocks};
use crate::par::Threads;
use crate::simd::{FloatRows, RowsOf};
use crate::sparse::{MaskSpec, VectorPattern};
use crate::{Csr, Error, Index, Result};

/// `y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ …` over the entries of row i, `e` the identity of ⊕.
///
/// Shapes: `a` m×k, `x` k, result m. A row without entries gives `e`; so does a row that the mask does not let
/// through, and it is not computed. ⊗ that looks at its place sees (i, k, 0). Cost: O(m + nnz) time, nothing beside the result;
/// [`mxv_into`] writes a vector that is there.
///
/// A row is folded in the order in which its entries are stored, and the fold stops soon after it has met the terminal value of ⊕.
/// `PlusTimes` of f32 and f64 has eight sums a row instead, which need not wait for each other: sum s has the entries s, s + 8, …
/// of the row from 0 on, and the row is ((s₀ + s₁) + (s₂ + s₃)) + ((s₄ + s₅) + (s₆ + s₇)). Either way the bits are the same on every
/// processor, for any number of threads and under any mask.
/// # Errors
/// [`Error::Shape`]; [`Error::Length`] if the mask is not of m places; [`Error::OutOfMemory`], [`Error::Cancelled`].
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
    mask: Option<MaskSpec<'_, VectorPattern<I>>>,
) -> Result<Vec<Out<R>>> {
    check(a, x)?;
    mask.map_or(Ok(()), |mask| mask.check(a.nrows()))?;
    let mask = mask.map(|mask| mask.effective());
    let identity = <R::Add as Monoid>::IDENTITY;
    fill(threads, "mxv", &row_blocks(a.pattern())?, &|i| i, identity, &|block, y| match mask {
        None => rows(ring, a, x, block, y),
        Some(mask) => {
            let first = block.start;
            for run in runs(block, |i| mask.allows(i)) {
                rows(ring, a, x, run.clone(), &mut y[run.start - first..run.end - first]);
            }
        }
    })
}

/// As [`mxv`], to a vector that is there: what it had is gone. So no vector is allocated and no new memory touched.
/// # Errors
/// [`Error::Shape`]; [`Error::Length`] if `y` has not m elements; [`Error::Cancelled`], with which some elements are new.
/// # Example
/// ```
/// use sparring::{Csr, algebra::PlusTimes, ops::mxv_into, par::Threads};
/// let a = Csr::<f64>::new(2, 3, vec![0, 2, 2], vec![0, 2], vec![2.0, 3.0])?;
/// let mut y = vec![7.0; 2];
/// mxv_into(&Threads::current(), PlusTimes::<f64>::default(), &a, &[1.0, 10.0, 100.0], &mut y)?;
/// assert_eq!(y, [302.0, 0.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn mxv_into<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: &[Rhs<R>],
    y: &mut [Out<R>],
) -> Result<()> {
    check(a, x)?;
    if y.len() != a.nrows() {
        return Err(Error::Length { what: "y", found: y.len(), expected: a.nrows() });
    }
    refill_blocks(threads, "mxv", &row_blocks(a.pattern())?, y, &|block, y| rows(ring, a, x, block, y))
}

fn check<T, U, I: Index>(a: &Csr<T, I>, x: &[U]) -> Result<()> {
    if a.ncols() == x.len() { Ok(()) } else { Err(Error::Shape { op: "mxv", lhs: a.shape(), rhs: (x.len(), 1) }) }
}

/// Ranges of neighbours that are allowed.
pub(super) fn runs(block: Range<usize>, allows: impl Fn(usize) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut at = block.start;
    std::iter::from_fn(move || {
        let start = (at..block.end).find(|&i| allows(i))?;
        at = (start..block.end).find(|&i| !allows(i)).unwrap_or(block.end);
        Some(start..at)
    })
}

/// y(i) for some rows, whatever is there.
pub(super) fn rows<R: Semiring, I: Index>(
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: &[Rhs<R>],
    rows: Range<usize>,
    y: &mut [Out<R>],
) {
    if let Some(floats) = FloatRows::new(ring) {
        return floats.rows((a.pattern(), a.values()), x, rows, y);
    }
    let (add, mul, of) = (ring.add(), ring.mul(), RowsOf::new(a.pattern(), a.values()));
    let terminal = <R::Add as Monoid>::TERMINAL;
    for (i, y) in rows.zip(y) {
        let (ks, values) = of.row(i);
        let mut sum = <R::Add as Monoid>::IDENTITY;
        for (ks, values) in ks.chunks(stride(&terminal)).zip(values.chunks(stride(&terminal))) {
            for (&k, &value) in ks.iter().zip(values) {
                let at = At { i: V(i as u64), k: V(k.get() as u64), j: V(0) };
                sum = add.apply::<Host>(V(sum), mul.mul::<Host>(V(value), V(x[k.get()]), at)).0;
            }
            if terminal.is_some_and(|t| sum == t) {
                break;
            }
        }
        *y = sum;
    }
}
