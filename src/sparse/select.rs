//! Selection and rearrangement by rows: triangles, selected rows, permutations, A ∪ Aᵀ.
//!
//! Each operation counts the entries of its rows, then fills them, in parallel; results are sorted and do not depend on
//! the number of threads. A pattern is treated as a matrix of zero-sized values.

use std::sync::{Arc, Mutex, PoisonError};

use super::parts::{build_rows, cut};
use super::sort::Scratch;
use super::transpose::transpose;
use super::units;
use crate::algebra::words::{Fold, Moves, moved};
use crate::algebra::{Value, Word, precompiled};
use crate::par::{Threads, append_blocks, collected, filled, out_of_memory, try_split};
use crate::{Csr, Error, Index, Pattern, Result};

/// A pattern and one value per entry.
#[derive(Clone, Copy)]
struct Rows<'a, T, I: Index> {
    pattern: &'a Pattern<I>,
    values: &'a [T],
}

/// Minimum number of entries of A and Aᵀ per block of A ∪ Aᵀ.
const BLOCK: usize = 1 << 13;
/// Maximum number of blocks.
const BLOCKS: usize = 1024;

type Built<T, I> = Result<(Pattern<I>, Vec<T>)>;

impl<'a, T: Copy + Send + Sync, I: Index> Rows<'a, T, I> {
    fn row(self, i: usize) -> impl Iterator<Item = (I, T)> + 'a {
        let range = self.pattern.row_ptr()[i]..self.pattern.row_ptr()[i + 1];
        self.pattern.col_idx()[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
    fn row_nnz(self, i: usize) -> usize {
        self.pattern.row(i).len()
    }
    /// Cost of a pass over rows 0..i: their entries and the rows themselves.
    fn work_before(self, i: usize) -> u64 {
        (self.pattern.row_ptr()[i] + i) as u64
    }

    /// Row i holds the entries (j, x) of row i for which `keep(i, j, x)` holds.
    fn select(self, threads: &Threads, keep: impl Fn(usize, usize, &T) -> bool + Sync) -> Built<T, I> {
        let kept = |i: usize| {
            self.row(i).filter({
                let keep = &keep;
                move |(j, x)| keep(i, j.get(), x)
            })
        };
        build_rows(
            threads,
            self.pattern.shape(),
            |i| self.work_before(i),
            self.values.first().copied(),
            || Ok(Scratch::default()),
            |_, i| Ok(kept(i).count()),
            |scratch, i, cols, values| {
                write(kept(i), cols, values);
                scratch.sort_row_if_needed(threads, self.pattern.ncols(), cols, values)
            },
        )
    }

    /// Row r of the result is row `source(r)`, with column indices mapped by `rename`.
    fn gather(
        self,
        threads: &Threads,
        nrows: usize,
        source: impl Fn(usize) -> usize + Sync,
        rename: impl Fn(I) -> I + Sync,
    ) -> Built<T, I> {
        // Rows of the result are not consecutive rows of A, so their work is summed first.
        let mut before = filled(nrows.saturating_add(1), 0u64, "row pointers")?;
        for r in 0..nrows {
            before[r + 1] = before[r].saturating_add(self.row_nnz(source(r)) as u64 + 1);
        }
        build_rows(
            threads,
            (nrows, self.pattern.ncols()),
            |r| before[r],
            self.values.first().copied(),
            || Ok(Scratch::default()),
            |_, r| Ok(self.row_nnz(source(r))),
            |scratch, r, cols, values| {
                write(self.row(source(r)).map(|(j, x)| (rename(j), x)), cols, values);
                scratch.sort_row_if_needed(threads, self.pattern.ncols(), cols, values)
            },
        )
    }

    /// A(p, p); p(r) is the row of A that becomes row r.
    fn permute(self, threads: &Threads, order: &[I]) -> Built<T, I> {
        let inverse = inverse_permutation("permute", self.pattern, order)?;
        self.gather(threads, order.len(), |r| order[r].get(), |j| inverse[j.get()])
    }

    fn select_rows(self, threads: &Threads, rows: &[usize]) -> Built<T, I> {
        let bound = self.pattern.nrows();
        if let Some(position) = rows.iter().position(|&i| i >= bound) {
            return Err(Error::IndexRange { axis: "row", position, index: rows[position] as u128, bound });
        }
        self.gather(threads, rows.len(), |r| rows[r], |j| j)
    }
}

type SortPattern<I> = fn(&Pattern<I>, &Threads) -> Result<Pattern<I>>;
fn sorted_pattern<I: Index>(pattern: &Pattern<I>, threads: &Threads) -> Result<Pattern<I>> {
    pattern.select(threads, |_, _| true)
}

/// [`Csr::sorted`], for values or words.
pub(crate) fn sorted_values<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    pattern: &Pattern<I>,
    values: &[T],
) -> Result<(Pattern<I>, Vec<T>)> {
    Rows { pattern, values }.select(threads, |_, _, _| true)
}

/// [`sorted_values`] on the words of the values, so that it is compiled once per value size.
pub(super) fn sorted_rows<T: Value, I: Index>(
    threads: &Threads,
    pattern: &Pattern<I>,
    values: &[T],
) -> Result<(Pattern<I>, Vec<T>)> {
    moved(Sorted { threads, pattern }, values, None::<fn(T, T) -> T>)
}
struct Sorted<'a, I: Index> {
    threads: &'a Threads,
    pattern: &'a Pattern<I>,
}
impl<I: Index> Moves for Sorted<'_, I> {
    type Structure = Pattern<I>;
    fn run<W: Word>(self, words: &[W], _: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        let make: Sort<W, I> = precompiled!(word sorted_values: Sort<W, I>);
        make(self.threads, self.pattern, words)
    }
}
type Sort<W, I> = fn(&Threads, &Pattern<I>, &[W]) -> Result<(Pattern<I>, Vec<W>)>;

/// Writes `entries` to `cols` and `values`.
fn write<T, I>(entries: impl Iterator<Item = (I, T)>, cols: &mut [I], values: &mut [T]) {
    for (slot, (j, x)) in cols.iter_mut().zip(values).zip(entries) {
        (*slot.0, *slot.1) = (j, x);
    }
}

/// q with q(p(r)) = r, after checking that `order` is a permutation of the rows of a square matrix.
fn inverse_permutation<I: Index>(op: &'static str, a: &Pattern<I>, order: &[I]) -> Result<Vec<I>> {
    let (n, ncols) = a.shape();
    if n != ncols {
        return Err(Error::NotSquare { op, nrows: n, ncols });
    }
    if order.len() != n {
        return Err(Error::Length { what: "order", found: order.len(), expected: n });
    }
    // n is not a valid index, so it marks unset elements.
    let unset = I::cast(n);
    let mut inverse = filled(n, unset, "the inverse of a permutation")?;
    for (r, i) in order.iter().enumerate() {
        let Some(q) = inverse.get_mut(i.get()) else {
            return Err(Error::IndexRange { axis: "row", position: r, index: i.get() as u128, bound: n });
        };
        if *q != unset {
            return Err(Error::Argument {
                name: "order",
                message: format!("row {i} stands at {q} and at {r}, so this is no permutation"),
            });
        }
        *q = I::cast(r);
    }
    Ok(inverse)
}

/// Appends the union of two sorted rows without column `skip`; capacity must be reserved.
#[inline(always)]
fn merge<I: Index>(x: &[I], y: &[I], skip: usize, to: &mut Vec<I>) {
    let (mut p, mut q) = (0, 0);
    while p < x.len() && q < y.len() {
        let (i, j) = (x[p], y[q]);
        p += usize::from(i <= j);
        q += usize::from(j <= i);
        let next = i.min(j);
        if next.get() != skip {
            to.push(next);
        }
    }
    to.extend(x[p..].iter().chain(&y[q..]).filter(|j| j.get() != skip));
}

impl<I: Index> Pattern<I> {
    fn rows(&self) -> Rows<'_, (), I> {
        Rows { pattern: self, values: units(self.nnz()) }
    }

    /// Entries (i, j) for which `keep(i, j)` holds; O(nnz + nrows).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn select(&self, threads: &Threads, keep: impl Fn(usize, usize) -> bool + Sync) -> Result<Self> {
        Ok(self.rows().select(threads, |i, j, ()| keep(i, j))?.0)
    }
    /// Entries below the diagonal: j < i.
    /// # Errors
    /// [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::{Pattern, par::Threads};
    /// let a = Pattern::<u32>::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1])?;
    /// assert_eq!(a.strict_lower(&Threads::current())?.row(1), [0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn strict_lower(&self, threads: &Threads) -> Result<Self> {
        self.select(threads, |i, j| j < i)
    }
    /// Entries above the diagonal: j > i.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn strict_upper(&self, threads: &Threads) -> Result<Self> {
        self.select(threads, |i, j| j > i)
    }
    /// The same entries, columns increasing within each row.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn sorted(&self, threads: &Threads) -> Result<Self> {
        let make: SortPattern<I> = precompiled!(index sorted_pattern: SortPattern<I>);
        make(self, threads)
    }
    /// A(p, p): row and column r of the result are row and column `order[r]` of A.
    /// # Errors
    /// [`Error::NotSquare`]; [`Error::Length`], [`Error::IndexRange`] or [`Error::Argument`] if `order` is no
    /// permutation of the rows; [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::{Pattern, par::Threads};
    /// let path = Pattern::<u32>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2])?; // 0 → 1 → 2
    /// let b = path.permute(&Threads::current(), &[2, 0, 1])?;              // 1 → 2 → 0
    /// assert_eq!((b.row(1), b.row(2)), (&[2][..], &[0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn permute(&self, threads: &Threads, order: &[I]) -> Result<Self> {
        Ok(self.rows().permute(threads, order)?.0)
    }
    /// The rows `rows`, in that order; rows may repeat.
    /// # Errors
    /// [`Error::IndexRange`], [`Error::OutOfMemory`].
    pub fn select_rows(&self, threads: &Threads, rows: &[usize]) -> Result<Self> {
        Ok(self.rows().select_rows(threads, rows)?.0)
    }
    /// A ∪ Aᵀ without the diagonal: the underlying simple undirected graph of A.
    /// # Errors
    /// [`Error::NotSquare`], [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::{Pattern, par::Threads};
    /// let a = Pattern::<u32>::new(2, 2, vec![0, 2, 2], vec![0, 1])?;
    /// let s = a.symmetrized(&Threads::current())?;
    /// assert_eq!((s.row(0), s.row(1)), (&[1][..], &[0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn symmetrized(&self, threads: &Threads) -> Result<Self> {
        let (nrows, ncols) = self.shape();
        if nrows != ncols {
            return Err(Error::NotSquare { op: "symmetrized", nrows, ncols });
        }
        let sorted;
        let a = if self.is_sorted() {
            self
        } else {
            sorted = self.sorted(threads)?;
            &sorted
        };
        a.symmetrized_by(&transpose(threads, a, units(a.nnz()))?.0, threads)
    }
    /// [`symmetrized`](Self::symmetrized) with a given transpose `t`; the rows of both are sorted.
    pub(crate) fn symmetrized_by(&self, t: &Self, threads: &Threads) -> Result<Self> {
        let (a, (nrows, ncols)) = (self, self.shape());
        debug_assert!(a.is_sorted() && t.is_sorted() && t.shape() == (ncols, nrows) && nrows == ncols);
        let before = |i: usize| a.row_ptr()[i] + t.row_ptr()[i];
        let blocks = try_split(nrows, (before(nrows) / BLOCK).clamp(1, BLOCKS), |i| (before(i) + i) as u64)?;
        let len = nrows.checked_add(1).ok_or_else(|| out_of_memory::<usize>("row pointers", nrows))?;
        let mut row_ptr = filled(len, 0usize, "row pointers")?;
        let lens = cut(&mut row_ptr[1..], blocks.len(), blocks.iter().map(ExactSizeIterator::len))?;
        let lens = collected(blocks.len(), lens.into_iter().map(Mutex::new), "blocks of rows")?;
        let (hint, state) = (before(nrows), || Ok(()));
        let cols = append_blocks(threads, "symmetrized", blocks.len(), hint, state, |(), b, to: &mut Vec<I>| {
            let block = blocks[b].clone();
            let most = before(block.end) - before(block.start);
            to.try_reserve(most).map_err(|_| out_of_memory::<I>("column indices", most))?;
            let mut lens = lens[b].lock().unwrap_or_else(PoisonError::into_inner);
            for (i, len) in block.zip(lens.iter_mut()) {
                let start = to.len();
                merge(a.row(i), t.row(i), i, to);
                *len = to.len() - start;
            }
            Ok(())
        })?;
        drop(lens);
        let mut end = 0;
        for ptr in &mut row_ptr {
            end += *ptr;
            *ptr = end;
        }
        Ok(Self::from_parts(nrows, ncols, row_ptr, cols, true))
    }
}

impl<T: Value, I: Index> Csr<T, I> {
    fn rows(&self) -> Rows<'_, T, I> {
        Rows { pattern: self.pattern(), values: self.values() }
    }
    fn built(built: Built<T, I>) -> Result<Self> {
        let (pattern, values) = built?;
        Csr::with_pattern(Arc::new(pattern), values)
    }

    /// Entries (i, j, x) for which `keep(i, j, &x)` holds; O(nnz + nrows).
    /// # Errors
    /// [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::{Csr, par::Threads};
    /// let a = Csr::<f64>::new(1, 3, vec![0, 3], vec![0, 1, 2], vec![1.0, 0.0, -2.0])?;
    /// assert_eq!(a.select(&Threads::current(), |_, _, x| *x != 0.0)?.row(0).0, [0, 2]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn select(&self, threads: &Threads, keep: impl Fn(usize, usize, &T) -> bool + Sync) -> Result<Self> {
        Self::built(self.rows().select(threads, keep))
    }
    /// Entries below the diagonal: j < i.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn strict_lower(&self, threads: &Threads) -> Result<Self> {
        self.select(threads, |i, j, _| j < i)
    }
    /// Entries above the diagonal: j > i.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn strict_upper(&self, threads: &Threads) -> Result<Self> {
        self.select(threads, |i, j, _| j > i)
    }
    /// The same entries, columns increasing within each row.
    /// # Errors
    /// [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::{Csr, par::Threads};
    /// let a = Csr::<f64>::from_unsorted(1, 3, vec![0, 2], vec![2, 0], vec![1.0, 2.0])?;
    /// assert_eq!(a.sorted(&Threads::current())?.row(0), (&[0, 2][..], &[2.0, 1.0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn sorted(&self, threads: &Threads) -> Result<Self> {
        Self::built(sorted_rows(threads, self.pattern(), self.values()))
    }
    /// A(p, p): row and column r of the result are row and column `order[r]` of A.
    /// # Errors
    /// Those of [`Pattern::permute`].
    pub fn permute(&self, threads: &Threads, order: &[I]) -> Result<Self> {
        Self::built(self.rows().permute(threads, order))
    }
    /// The rows `rows`, in that order; rows may repeat.
    /// # Errors
    /// [`Error::IndexRange`], [`Error::OutOfMemory`].
    pub fn select_rows(&self, threads: &Threads, rows: &[usize]) -> Result<Self> {
        Self::built(self.rows().select_rows(threads, rows))
    }
}
