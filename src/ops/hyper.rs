//! C = A ⊕.⊗ B for hypersparse matrices: no step costs O(nrows) or O(ncols).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::algebra::{At, BinaryOp, Formula, Host, Lhs, Monoid, MulOp, Out, Rhs, Semiring, V};
use crate::par::{Threads, append_blocks, collected, filled, out_of_memory, reserved};
use crate::sparse::HyperCsr;
use crate::spgemm::{self, Options, Request};
use crate::{Csr, Error, Index, Pattern, Result};

/// `C(i, j) = ⊕ over k of A(i, k) ⊗ B(k, j)`: the product of the stored rows. C stores its nonempty rows.
///
/// Shapes: `a` m×k, `b` k×n, result m×n. Cost: O(nnz(A) + flops) time and O(nnz(A) + nnz(C)) memory, independent of m,
/// k and n; per thread the scratch of the product of the stored rows (see [`spgemm::symbolic`]). A ⊗ that reads i or k
/// runs on one thread. The result is bitwise the product of the operands' [`into_csr`](HyperCsr::into_csr), for any
/// number of threads.
///
/// Source of the format: Buluç and Gilbert 2008 (doubly compressed rows).
/// # Errors
/// [`Error::Shape`], [`Error::Budget`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn mxm_hyper<R: Semiring, I: Index>(
    threads: &Threads,
    budget: Option<u64>,
    ring: R,
    a: &HyperCsr<Lhs<R>, I>,
    b: &HyperCsr<Rhs<R>, I>,
) -> Result<HyperCsr<Out<R>, I>> {
    let ((m, k), (l, n)) = (a.shape(), b.shape());
    if k != l {
        return Err(Error::Shape { op: "mxm", lhs: (m, k), rhs: (l, n) });
    }
    let mul = Formula::of_mul(ring.mul());
    if mul.reads("i") || mul.reads("k") {
        return by_definition(ring, a, b);
    }
    let c = product(threads, budget, ring, &renumber_columns(threads, a, b)?, b.compact())?;
    without_empty_rows(m, a.rows(), c)
}

fn product<R: Semiring, I: Index>(
    threads: &Threads,
    budget: Option<u64>,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    b: &Csr<Rhs<R>, I>,
) -> Result<Csr<Out<R>, I>> {
    let request = Request { options: &Options::default(), budget, mask: None };
    let plan = spgemm::symbolic(threads, a.pattern(), b.pattern(), &request)?;
    spgemm::numeric(threads, budget, &plan, ring, a, b)
}

/// Entry by entry, for a positional ⊗: compaction renumbers the rows that it would see.
fn by_definition<R: Semiring, I: Index>(
    ring: R,
    a: &HyperCsr<Lhs<R>, I>,
    b: &HyperCsr<Rhs<R>, I>,
) -> Result<HyperCsr<Out<R>, I>> {
    let ((m, _), (_, n), compact) = (a.shape(), b.shape(), a.compact());
    let (mut ptr, mut cols, mut values) = (reserved(a.rows().len() + 1, "row pointers")?, Vec::new(), Vec::new());
    ptr.push(0);
    for (r, i) in a.rows().iter().enumerate() {
        let mut row: BTreeMap<I, Out<R>> = BTreeMap::new();
        for (k, &x) in compact.row(r).0.iter().zip(compact.row(r).1) {
            let (js, ys) = b.row(k.get());
            for (&j, &y) in js.iter().zip(ys) {
                let at = At { i: V(i.get() as u64), k: V(k.get() as u64), j: V(j.get() as u64) };
                let product = ring.mul().mul::<Host>(V(x), V(y), at);
                let sum = row.entry(j).or_insert(<R::Add as Monoid>::IDENTITY);
                *sum = ring.add().apply::<Host>(V(*sum), product).0;
            }
        }
        let total = cols.len() + row.len();
        cols.try_reserve(row.len()).map_err(|_| out_of_memory::<I>("columns", total))?;
        values.try_reserve(row.len()).map_err(|_| out_of_memory::<Out<R>>("values", total))?;
        row.into_iter().for_each(|(j, x)| {
            cols.push(j);
            values.push(x);
        });
        ptr.push(cols.len());
    }
    let pattern = Pattern::from_parts(a.rows().len(), n, ptr, cols, true);
    without_empty_rows(m, a.rows(), Csr::with_pattern(Arc::new(pattern), values)?)
}

/// The stored rows of A with column indices renumbered to the stored rows of B; drops entries whose row of B is empty.
fn renumber_columns<T: Copy + Send + Sync, U: Send + Sync, I: Index>(
    threads: &Threads,
    a: &HyperCsr<T, I>,
    b: &HyperCsr<U, I>,
) -> Result<Csr<T, I>> {
    const BLOCK: usize = 1 << 14;
    let (cols, values) = (a.compact().col_idx(), a.compact().values());
    let block = |t: usize| t * BLOCK..((t + 1) * BLOCK).min(cols.len());
    let blocks = cols.len().div_ceil(BLOCK);
    // LAST marks an empty row: B has fewer rows.
    let columns = append_blocks(
        threads,
        "mxm",
        blocks,
        cols.len(),
        || Ok(()),
        |(), t, out: &mut Vec<I>| {
            out.extend(cols[block(t)].iter().map(|k| b.place(*k).map_or(I::LAST, I::cast)));
            Ok(())
        },
    )?;
    let (nrows, row_ptr) = (a.compact().nrows(), a.compact().row_ptr());
    let (sorted, ncols) = (a.compact().pattern().is_sorted(), b.rows().len());
    let retained = || columns.iter().zip(values).filter(|(k, _)| **k != I::LAST);
    let mut ptr = filled(nrows + 1, 0usize, "row pointers")?;
    for i in 0..nrows {
        ptr[i + 1] = ptr[i] + columns[row_ptr[i]..row_ptr[i + 1]].iter().filter(|k| **k != I::LAST).count();
    }
    let live = ptr[nrows];
    let values = collected(live, retained().map(|(_, x)| *x), "values")?;
    let columns = collected(live, retained().map(|(k, _)| *k), "columns")?;
    Csr::with_pattern(Arc::new(Pattern::from_parts(nrows, ncols, ptr, columns, sorted)), values)
}

/// The nonempty rows of `c`, whose row r is row `rows[r]` of `nrows`.
fn without_empty_rows<T: Copy, I: Index>(nrows: usize, rows: &[I], c: Csr<T, I>) -> Result<HyperCsr<T, I>> {
    let live = c.row_ptr().windows(2).filter(|w| w[0] < w[1]).count();
    if live == rows.len() {
        return HyperCsr::new(nrows, collected(live, rows.iter().copied(), "rows")?, c);
    }
    let stored = |w: &&[usize]| w[0] < w[1];
    let ends = c.row_ptr().windows(2).filter(stored).map(|w| w[1]);
    let ptr = collected(live + 1, std::iter::once(0).chain(ends), "row pointers")?;
    let of = rows.iter().zip(c.row_ptr().windows(2)).filter(|(_, w)| stored(w)).map(|(i, _)| *i);
    let rows = collected(live, of, "rows")?;
    let (pattern, values) = c.into_parts();
    let (ncols, sorted) = (pattern.ncols(), pattern.is_sorted());
    let cols = match Arc::try_unwrap(pattern) {
        Ok(pattern) => pattern.into_parts().1,
        Err(shared) => collected(shared.nnz(), shared.col_idx().iter().copied(), "columns")?,
    };
    let pattern = Pattern::from_parts(live, ncols, ptr, cols, sorted);
    HyperCsr::new(nrows, rows, Csr::with_pattern(Arc::new(pattern), values)?)
}
