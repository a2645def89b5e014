//! Products over a NAMM: ⊗ is evaluated where either operand has an entry.
//!
//! Two passes, as in the paper. The first scatters a row of A into a dense array and iterates over the entries of B;
//! the second scatters a row of B and iterates over the entries of A that B lacks. Eight rows are interleaved in the
//! array, so that one entry of the other matrix contributes to eight results.
//!
//! Source: Nolet et al. 2022, "GPU Semiring Primitives for Sparse Neighborhood Methods", §2.2 and §3.3.1.

use std::ops::Range;

use super::blocks::blocks;
use crate::algebra::{At, BinaryOp, Host, Lhs, Monoid, MulOp, Namm, Num, Number, Out, Rhs, V};
use crate::par::{OutputSlice, Threads, UninitOutput, collected, filled, try_split};
use crate::simd::dispatch;
use crate::sparse::{Dense, SparseVec};
use crate::{Csr, Error, Index, Result};

/// Rows interleaved in a scratch array.
const SIDE_BY_SIDE: usize = 8;
/// Maximum number of columns for interleaving. For more, the arrays of a thread would not stay in its cache.
const WIDE: usize = 1 << 16;
/// Entries of B per tile, traversed by all rows of a block before the next tile: what fits a cache.
const TILE: usize = 1 << 14;

/// `y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ …` over every k where row i of A or x has an entry, `e` the identity of ⊕, an absent
/// operand being 0.
///
/// Shapes: `a` m×k, `x` k, result m. [`union_mxm`] with x as the one row of B, with its fold order; a positional ⊗ sees
/// (i, k, 0). Cost: O(m · nnz(x) + nnz(A)) time; k values per thread on top of the result.
/// # Errors
/// Those of [`union_mxm`].
pub(crate) fn union_spmv<N: Namm, I: Index>(
    threads: &Threads,
    namm: N,
    a: &Csr<Lhs<N>, I>,
    x: &SparseVec<Rhs<N>, I>,
) -> Result<Vec<Out<N>>>
where
    Lhs<N>: Num,
    Rhs<N>: Num,
{
    if a.ncols() != x.len() {
        return Err(Error::Shape { op: "union_spmv", lhs: a.shape(), rhs: (x.len(), 1) });
    }
    let x = Rows { row_ptr: &[0, x.nnz()], columns: x.indices(), values: x.values() };
    fresh(threads, "union_spmv", namm, a.ncols(), Rows::of(a), x)
}

/// `C(i, j) = e ⊕ A(i, k) ⊗ B(j, k) ⊕ …` over every k where row i of A or row j of B has an entry, `e` the identity of
/// ⊕, an absent operand being 0: rows of A against rows of B.
///
/// Shapes: `a` m×k, `b` n×k, result m×n. Rows need not be sorted. A fold takes the entries of row j of B, then those of
/// row i of A that row j of B lacks, both in storage order. Entries equal to 0 count as absent, and ⊗(0, 0) is the
/// identity of ⊕, so stored zeros change no bit of the result. A positional ⊗ sees (i, k, j). Results are bitwise the
/// same for any number of threads. Cost: O(m · nnz(B) + n · nnz(A)) time; on top of the result 2k values per thread,
/// 16k if k is at most 65,536.
/// # Errors
/// [`Error::Shape`] if A and B differ in columns; [`Error::IndexOverflow`] if m·n exceeds `usize`;
/// [`Error::OutOfMemory`], [`Error::Cancelled`].
///
/// Source: Nolet et al. 2022, §2.2, §3.3.1 and appendix A.1.
pub(crate) fn union_mxm<N: Namm, I: Index>(
    threads: &Threads,
    namm: N,
    a: &Csr<Lhs<N>, I>,
    b: &Csr<Rhs<N>, I>,
) -> Result<Dense<Out<N>>>
where
    Lhs<N>: Num,
    Rhs<N>: Num,
{
    if a.ncols() != b.ncols() {
        return Err(Error::Shape { op: "union_mxm", lhs: a.shape(), rhs: b.shape() });
    }
    let values = fresh(threads, "union_mxm", namm, a.ncols(), Rows::of(a), Rows::of(b))?;
    Dense::new(a.nrows(), b.nrows(), values)
}

/// The results of every row of A with every row of B, both of `k` columns.
fn fresh<N: Namm, I: Index>(
    threads: &Threads,
    op: &'static str,
    namm: N,
    k: usize,
    a: Rows<'_, Lhs<N>, I>,
    b: Rows<'_, Rhs<N>, I>,
) -> Result<Vec<Out<N>>>
where
    Lhs<N>: Num,
    Rhs<N>: Num,
{
    let c = UninitOutput::new(size(a.len(), b.len())?, "the result of a union product")?;
    let tasks = tasks(threads, a.row_ptr, b.row_ptr)?;
    let end = |t: usize| t.checked_sub(1).map_or(0, |t| tasks[t].end);
    if k <= WIDE {
        let state = || Scratch::<N, SIDE_BY_SIDE>::new(k);
        c.fill(threads, op, tasks.len(), end, state, |s, t, slots| s.task(namm, a, b, &tasks[t], slots))
    } else {
        let state = || Scratch::<N, 1>::new(k);
        c.fill(threads, op, tasks.len(), end, state, |s, t, slots| s.task(namm, a, b, &tasks[t], slots))
    }
}

/// m·n, checked.
fn size(m: usize, n: usize) -> Result<usize> {
    m.checked_mul(n).ok_or(Error::IndexOverflow {
        what: "number of values",
        needed: m as u128 * n as u128,
        max: usize::MAX as u128,
    })
}

/// Consecutive ranges of the results, row-major, of about equal work: bands of whole rows if there are enough for the
/// threads, otherwise also parts of a row. The cuts do not affect any result.
fn tasks(threads: &Threads, a: &[usize], b: &[usize]) -> Result<Vec<Range<usize>>> {
    let (m, n) = (a.len() - 1, b.len() - 1);
    let per_row = b[n] as u64 + n as u64;
    let rows_before =
        |i: usize| (a[i] as u64).saturating_mul(n as u64).saturating_add(per_row.saturating_mul(i as u64));
    let bands = m.div_ceil(SIDE_BY_SIDE);
    if bands >= 4 * threads.count() {
        // Every task scatters the rows of B once for the second pass, so tasks are kept few.
        let row = |band: usize| (band * SIDE_BY_SIDE).min(m);
        let ranges = try_split(bands, (16 * threads.count()).min(1024), |band| rows_before(row(band)))?;
        return collected(ranges.len(), ranges.iter().map(|r| row(r.start) * n..row(r.end) * n), "parts");
    }
    blocks(m * n, &|p| {
        if p == m * n {
            return rows_before(m);
        }
        let (i, j) = (p / n, p % n);
        let within = (a[i + 1] - a[i]) as u64 * j as u64 + b[j] as u64 + j as u64;
        rows_before(i).saturating_add(within)
    })
}

/// The rows of a matrix.
struct Rows<'a, T, I> {
    row_ptr: &'a [usize],
    columns: &'a [I],
    values: &'a [T],
}

impl<T, I> Clone for Rows<'_, T, I> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, I> Copy for Rows<'_, T, I> {}

impl<'a, T: Num, I: Index> Rows<'a, T, I> {
    fn of(a: &'a Csr<T, I>) -> Self {
        Self { row_ptr: a.row_ptr(), columns: a.col_idx(), values: a.values() }
    }
    fn len(&self) -> usize {
        self.row_ptr.len() - 1
    }
    /// Columns and values of the nonzero entries of row `i`.
    #[inline(always)]
    fn row(&self, i: usize) -> impl Iterator<Item = (usize, T)> + 'a {
        let range = self.row_ptr[i]..self.row_ptr[i + 1];
        let (columns, values) = (&self.columns[range.clone()], &self.values[range]);
        columns.iter().zip(values).map(|(k, &x)| (k.get(), x)).filter(|(_, x)| *x != T::ZERO)
    }
    /// Scatters `rows`, at most L, into the interleaved array, or clears them again.
    #[inline(always)]
    fn scatter<const L: usize>(&self, rows: Range<usize>, put: bool, array: &mut [[T; L]]) {
        for (lane, i) in rows.enumerate() {
            for (k, x) in self.row(i) {
                array[k][lane] = if put { x } else { T::ZERO };
            }
        }
    }
}

/// A thread's arrays: L rows of A and L rows of B, 0 at absent entries. All 0 between uses.
struct Scratch<N: Namm, const L: usize> {
    of_a: Vec<[Lhs<N>; L]>,
    of_b: Vec<[Rhs<N>; L]>,
}

impl<N: Namm, const L: usize> Scratch<N, L>
where
    Lhs<N>: Num,
    Rhs<N>: Num,
{
    fn new(k: usize) -> Result<Self> {
        Ok(Self {
            of_a: filled(k, [Lhs::<N>::ZERO; L], "rows of a union product")?,
            of_b: filled(k, [Rhs::<N>::ZERO; L], "rows of a union product")?,
        })
    }

    /// The results of one task: the end of a row, whole rows, the start of a row, as far as each exists.
    fn task<I: Index>(
        &mut self,
        namm: N,
        a: Rows<'_, Lhs<N>, I>,
        b: Rows<'_, Rhs<N>, I>,
        task: &Range<usize>,
        slots: &mut OutputSlice<'_, Out<N>>,
    ) -> Result<()> {
        let n = b.len();
        let mut start = task.start;
        while start < task.end {
            let (i, j, left) = (start / n, start % n, task.end - start);
            let (rows, columns) =
                if j == 0 && left >= n { (i..i + left / n, 0..n) } else { (i..i + 1, j..n.min(j + left)) };
            let len = rows.len() * columns.len();
            let c = slots.take(len, <N::Add as Monoid>::IDENTITY);
            dispatch(|| self.rectangle(namm, a, b, rows, columns, c));
            start += len;
        }
        Ok(())
    }

    /// The results of rows `rows` of A with rows `columns` of B.
    #[inline(always)]
    fn rectangle<I: Index>(
        &mut self,
        namm: N,
        a: Rows<'_, Lhs<N>, I>,
        b: Rows<'_, Rhs<N>, I>,
        rows: Range<usize>,
        columns: Range<usize>,
        c: &mut [Out<N>],
    ) {
        let at = |i: usize, j: usize| (i - rows.start) * columns.len() + (j - columns.start);
        let mut first = columns.start;
        while first < columns.end {
            let full = b.row_ptr[first] + TILE;
            let cut = first + b.row_ptr[first..columns.end].partition_point(|&p| p < full);
            let tile = first..cut.max(first + 1);
            for i in rows.clone().step_by(L) {
                let group = i..rows.end.min(i + L);
                a.scatter(group.clone(), true, &mut self.of_a);
                for j in tile.clone() {
                    let sums = self.over_b(namm, i, j, b);
                    for (sum, i) in sums.into_iter().zip(group.clone()) {
                        c[at(i, j)] = sum;
                    }
                }
                a.scatter(group, false, &mut self.of_a);
            }
            for j in tile.clone().step_by(L) {
                let group = j..tile.end.min(j + L);
                b.scatter(group.clone(), true, &mut self.of_b);
                for i in rows.clone() {
                    self.over_a(namm, i, j, a, &mut c[at(i, j)..][..group.len()]);
                }
                b.scatter(group, false, &mut self.of_b);
            }
            first = tile.end;
        }
    }

    /// First pass: the folds of row j of B with the L rows of A from i on, over the entries of B.
    #[inline(always)]
    fn over_b<I: Index>(&self, namm: N, i: usize, j: usize, b: Rows<'_, Rhs<N>, I>) -> [Out<N>; L] {
        let (add, mul) = (namm.add(), namm.mul());
        let mut sums = [<N::Add as Monoid>::IDENTITY; L];
        for (k, y) in b.row(j) {
            for (lane, (sum, &x)) in sums.iter_mut().zip(&self.of_a[k]).enumerate() {
                let at = At { i: V((i + lane) as u64), k: V(k as u64), j: V(j as u64) };
                *sum = add.apply::<Host>(V(*sum), mul.mul::<Host>(V(x), V(y), at)).0;
            }
        }
        sums
    }

    /// Second pass: continues the folds of row i of A with the rows of B from j on, at most L, over the entries of A
    /// that B lacks.
    #[inline(always)]
    fn over_a<I: Index>(&self, namm: N, i: usize, j: usize, a: Rows<'_, Lhs<N>, I>, c: &mut [Out<N>]) {
        let (add, mul) = (namm.add(), namm.mul());
        let mut sums = [<N::Add as Monoid>::IDENTITY; L];
        sums[..c.len()].copy_from_slice(c);
        for (k, x) in a.row(i) {
            for (lane, (sum, &y)) in sums.iter_mut().zip(&self.of_b[k]).enumerate() {
                let at = At { i: V(i as u64), k: V(k as u64), j: V((j + lane) as u64) };
                let more = add.apply::<Host>(V(*sum), mul.mul::<Host>(V(x), V(Rhs::<N>::ZERO), at)).0;
                *sum = if y == Rhs::<N>::ZERO { more } else { *sum };
            }
        }
        c.copy_from_slice(&sums[..c.len()]);
    }
}
