//! Y = A ⊕.⊗ X: a sparse matrix times a dense one.

use super::blocks::blocks;
use crate::algebra::{Lhs, Monoid, Out, Rhs, Semiring, Slice, SliceMut};
use crate::kernels::{fill, float_spmm, float_spmm_into, spmm_rows};
use crate::par::Threads;
use crate::simd::FloatRows;
use crate::sparse::{Dense, out_of_memory};
use crate::{Csr, Error, Index, Result};

/// `Y(i, j) = e ⊕ A(i, k) ⊗ X(k, j) ⊕ …` over the entries of row i in storage order, `e` the identity of ⊕.
///
/// Shapes: `a` m×k, `x` k×n, result m×n. An empty row of A yields a row of `e`.
/// Cost: O(n·(m + nnz)) time, no memory beyond the result.
/// # Errors
/// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn spmm<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: &Dense<Rhs<R>>,
) -> Result<Dense<Out<R>>> {
    if a.ncols() != x.nrows() {
        return Err(Error::Shape { op: "spmm", lhs: a.shape(), rhs: x.shape() });
    }
    let (m, n) = (a.nrows(), x.ncols());
    if m.checked_mul(n).is_none() {
        return Err(out_of_memory::<Out<R>>("a dense matrix", usize::MAX));
    }
    if n == 0 {
        return Dense::new(m, n, Vec::new());
    }
    if FloatRows::new(ring).is_some()
        && let (a, x) = ((&**a.pattern(), Slice::of(a.values())), (Slice::of(x.values()), n))
        && let Some(y) = float_spmm(threads, "spmm", a, x)
    {
        let Ok(values) = y?.into_vec() else { unreachable!("operands and result are of one type") };
        return Dense::new(m, n, values);
    }
    let work = |i: usize| ((a.row_ptr()[i] + i) as u64).saturating_mul(n as u64);
    let values = fill(threads, "spmm", &blocks(m, &work)?, &|i| i * n, <R::Add as Monoid>::IDENTITY, &|rows, y| {
        spmm_rows(ring, (a.pattern(), a.values()), (x.values(), n), rows, y);
    })?;
    Dense::new(m, n, values)
}

/// [`spmm()`], overwriting `y`: in place for + and × of floats, otherwise in new memory that replaces it.
/// # Errors
/// Those of [`spmm()`]; [`Error::Shape`] if `y` has another shape. After [`Error::Cancelled`] some values may be new.
pub(crate) fn spmm_into<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: &Dense<Rhs<R>>,
    y: &mut Dense<Out<R>>,
) -> Result<()> {
    if a.ncols() != x.nrows() {
        return Err(Error::Shape { op: "spmm", lhs: a.shape(), rhs: x.shape() });
    }
    if y.shape() != (a.nrows(), x.ncols()) {
        return Err(Error::Shape { op: "spmm", lhs: y.shape(), rhs: (a.nrows(), x.ncols()) });
    }
    if FloatRows::new(ring).is_some()
        && let (a, x) = ((&**a.pattern(), Slice::of(a.values())), (Slice::of(x.values()), x.ncols()))
        && let Some(done) = float_spmm_into(threads, "spmm", a, x, &mut SliceMut::of(y.values_mut()))
    {
        return done;
    }
    *y = spmm(threads, ring, a, x)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::{Plus, PlusTimes, Ring, SecondJ};

    /// Widths with and without specialized loops: bitwise the result of column by column; a ⊗ that reads its column.
    #[test]
    fn each_width_has_the_bits_of_its_columns() {
        let lens = [0, 3, 1, 0, 40, 8, 2];
        let ptr = std::iter::once(0).chain(lens.iter().scan(0, |end, len| {
            *end += len;
            Some(*end)
        }));
        let cols: Vec<u32> = lens.iter().flat_map(|&len| (0..len).map(move |p| (p * 40 / len) as u32)).collect();
        let values = (0..cols.len()).map(|p| 1.0 / (p + 3) as f64).collect();
        let a = Csr::<f64>::new(lens.len(), 40, ptr.collect(), cols, values).unwrap();
        let threads = &Threads::new(2).unwrap();
        for n in [1, 7, 8, 9, 16, 24, 32, 40] {
            let x = Dense::new(40, n, (0..40 * n).map(|p| 1.0 / (p % 97 + 1) as f64).collect()).unwrap();
            let y = spmm(threads, PlusTimes::<f64>::default(), &a, &x).unwrap();
            let mut over = Dense::filled(lens.len(), n, f64::NAN).unwrap();
            spmm_into(threads, PlusTimes::<f64>::default(), &a, &x, &mut over).unwrap();
            let sums = spmm(threads, Ring::<Plus<i64>, SecondJ<f64, f64, i64>>::default(), &a, &x).unwrap();
            for j in 0..n {
                let column = |y: &Dense<f64>| y.values().iter().skip(j).step_by(n).copied().collect::<Vec<_>>();
                let of_x = Dense::new(40, 1, column(&x)).unwrap();
                let want = spmm(threads, PlusTimes::<f64>::default(), &a, &of_x).unwrap();
                assert_eq!(column(&y), want.values(), "column {j} of {n}");
                assert_eq!(y, over, "{n} columns");
                assert!((0..lens.len()).all(|i| sums.values()[i * n + j] == (lens[i] * j) as i64));
            }
        }
    }
}
