//! C = A ∘ B, entry by entry, on the union or the intersection of two patterns.
//!
//! Where both have one pattern, values alone are computed. Else rows of a union are found once, each with its values
//! (`simd/union.rs`); those of an intersection are counted, then filled, both by merging two sorted rows.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::blocks::{AppendRows, append_rows, blocks, fill_rows, in_order, room};
use crate::algebra::words::MovesTwo;
use crate::algebra::{BinaryOp, Host, V, Value, Word};
use crate::kernels::fill;
use crate::par::Threads;
use crate::simd::RowUnion;
use crate::sparse::count_rows;
use crate::{Csr, Error, Index, Pattern, Result};

/// `C(i, j) = A(i, j) ∘ B(i, j)` where both have an entry; where one has, C(i, j) is that entry. Rows sorted.
///
/// Shapes: all m×n. Cost: O(m + nnz(A) + nnz(B)) time, nothing beside the result; an operand whose rows are not sorted
/// is sorted first. Matrices of one pattern give a result that shares it.
/// # Errors
/// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn ewise_add<T: Value, O: BinaryOp<A = T, B = T, Out = T>, I: Index>(
    threads: &Threads,
    op: O,
    a: &Csr<T, I>,
    b: &Csr<T, I>,
) -> Result<Csr<T, I>> {
    check_shapes("ewise_add", a.pattern(), b.pattern())?;
    let (a, b) = (&*in_order(threads, a)?, &*in_order(threads, b)?);
    if is_one(threads, a.pattern(), b.pattern())? {
        return on_one_pattern(threads, "ewise_add", op, a, b);
    }
    let (pattern, values) =
        union_rows(threads, "ewise_add", (a.pattern(), a.values()), (b.pattern(), b.values()), &|x, y| {
            op.apply::<Host>(V(x), V(y)).0
        })?;
    Csr::with_pattern(Arc::new(pattern), values)
}

/// The entries of B, and elsewhere those of A: a sum whose ∘ gives its second operand.
pub(super) struct PutRows<'a, I: Index> {
    pub(super) threads: &'a Threads,
    pub(super) a: &'a Pattern<I>,
    pub(super) b: &'a Pattern<I>,
}
impl<I: Index> MovesTwo for PutRows<'_, I> {
    type Found = Pattern<I>;
    fn run<W: Word>(self, a: &[W], b: &[W]) -> Result<(Pattern<I>, Vec<W>)> {
        union_rows(self.threads, "ewise_add", (self.a, a), (self.b, b), &|_, y| y)
    }
}

/// The entries of two matrices of one shape, whose rows are sorted, together; `f` of both where both have one.
fn union_rows<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    name: &'static str,
    (a, xs): (&Pattern<I>, &[T]),
    (b, ys): (&Pattern<I>, &[T]),
    f: &(impl Fn(T, T) -> T + Sync),
) -> Result<(Pattern<I>, Vec<T>)> {
    let Some(&first) = xs.first().or(ys.first()) else { return Ok((a.clone(), Vec::new())) };
    let most = a.nnz().saturating_add(b.nnz());
    let row = |x: &Pattern<I>, i: usize| x.row_ptr()[i]..x.row_ptr()[i + 1];
    let append = |rows: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, values: &mut Vec<T>| {
        let entries = |x: &Pattern<I>| x.row_ptr()[rows.end] - x.row_ptr()[rows.start];
        let most = entries(a) + entries(b);
        room(cols, most, "a block of rows")?;
        room(values, most, "a block of rows")?;
        cols.resize(most, I::default());
        values.resize(most, first);
        let (mut union, mut n) = (RowUnion::new::<I>(), 0);
        for (i, len) in rows.zip(lens) {
            let to = (&mut cols[n..], &mut values[n..]);
            *len = union.rows((a.row(i), &xs[row(a, i)]), (b.row(i), &ys[row(b, i)]), to, f);
            n += *len;
        }
        cols.truncate(n);
        values.truncate(n);
        Ok(())
    };
    let blocks = blocks(a.nrows(), &|i| work_before(a, b, i))?;
    let (row_ptr, cols, values) = append_rows(threads, name, &blocks, most, &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}

/// `C(i, j) = A(i, j) ∘ B(i, j)` where both have an entry; rows sorted.
///
/// Shapes: all m×n; the types of the entries may differ. Cost and patterns as for [`ewise_add`].
/// # Errors
/// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn ewise_mult<O: BinaryOp, I: Index>(
    threads: &Threads,
    op: O,
    a: &Csr<O::A, I>,
    b: &Csr<O::B, I>,
) -> Result<Csr<O::Out, I>> {
    check_shapes("ewise_mult", a.pattern(), b.pattern())?;
    let (a, b) = (&*in_order(threads, a)?, &*in_order(threads, b)?);
    if is_one(threads, a.pattern(), b.pattern())? {
        return on_one_pattern(threads, "ewise_mult", op, a, b);
    }
    let append = |rows: Range<usize>, cols: &mut Vec<I>, values: &mut Vec<O::Out>| {
        for i in rows {
            let ((ja, xa), (jb, xb)) = (a.row(i), b.row(i));
            each_common(ja, jb, |p, q| {
                cols.push(ja[p]);
                values.push(op.apply::<Host>(V(xa[p]), V(xb[q])).0);
            });
        }
    };
    merge(threads, "ewise_mult", a.pattern(), b.pattern(), &|_, _, common| common, &append)
}

fn check_shapes<I: Index>(op: &'static str, a: &Pattern<I>, b: &Pattern<I>) -> Result<()> {
    if a.shape() == b.shape() { Ok(()) } else { Err(Error::Shape { op, lhs: a.shape(), rhs: b.shape() }) }
}

/// Whether two patterns, whose rows are sorted, are one: they share their memory, or say the same.
///
/// Cost: O(m + nnz) where they are, else mostly a few comparisons.
pub(crate) fn is_one<I: Index>(threads: &Threads, a: &Arc<Pattern<I>>, b: &Arc<Pattern<I>>) -> Result<bool> {
    /// Entries that are compared at a time.
    const CHUNK: usize = 1 << 14;
    if Arc::ptr_eq(a, b) {
        return Ok(true);
    }
    if a.shape() != b.shape() || a.nnz() != b.nnz() {
        return Ok(false);
    }
    let differ = AtomicBool::new(false);
    let (rows, entries) = (a.nrows().div_ceil(CHUNK), a.nnz().div_ceil(CHUNK));
    threads.for_each(
        rows + entries,
        || Ok(()),
        |(), t| {
            if !differ.load(Relaxed) {
                let same = match t.checked_sub(rows) {
                    None => same(a.row_ptr(), b.row_ptr(), t * CHUNK),
                    Some(t) => same(a.col_idx(), b.col_idx(), t * CHUNK),
                };
                if !same {
                    differ.store(true, Relaxed);
                }
            }
            Ok(())
        },
    )?;
    fn same<T: PartialEq>(x: &[T], y: &[T], from: usize) -> bool {
        let range = from..x.len().min(from + CHUNK);
        x[range.clone()] == y[range]
    }
    Ok(!differ.into_inner())
}

/// Matrices of one pattern: values alone.
fn on_one_pattern<O: BinaryOp, I: Index>(
    threads: &Threads,
    name: &'static str,
    op: O,
    a: &Csr<O::A, I>,
    b: &Csr<O::B, I>,
) -> Result<Csr<O::Out, I>> {
    let (x, y) = (a.values(), b.values());
    let (Some(&first), Some(&other)) = (x.first(), y.first()) else {
        return Csr::with_pattern(Arc::clone(a.pattern()), Vec::new());
    };
    let (blocks, first) = (blocks(x.len(), &|p| p as u64)?, op.apply::<Host>(V(first), V(other)).0);
    let values = fill(threads, name, &blocks, &|p| p, first, &|block, c| {
        for ((c, &x), &y) in c.iter_mut().zip(&x[block.clone()]).zip(&y[block]) {
            *c = op.apply::<Host>(V(x), V(y)).0;
        }
    })?;
    Csr::with_pattern(Arc::clone(a.pattern()), values)
}

/// Calls `f(p, q)` for the positions of each column that two sorted rows share, in order.
#[inline(always)]
fn each_common<I: Index>(a: &[I], b: &[I], mut f: impl FnMut(usize, usize)) {
    let (mut p, mut q) = (0, 0);
    while p < a.len() && q < b.len() {
        match a[p].cmp(&b[q]) {
            Ordering::Less => p += 1,
            Ordering::Greater => q += 1,
            Ordering::Equal => {
                f(p, q);
                (p, q) = (p + 1, q + 1);
            }
        }
    }
}

/// Positions of an entry of C in A and in B; [`ABSENT`] where it has none.
pub(crate) type Places = (usize, usize);
/// No position.
pub(crate) const ABSENT: usize = usize::MAX;
/// Entries handed to an operator at a time.
const BLOCK: usize = 128;

/// The entries of A and B together (`union`) or those of both, whose values `values(places, words)` writes, 128 at most
/// at a time, over words that are `first`; compiled once for a size of value. Rows are sorted, those of A and B too.
pub(crate) fn ewise_words<W: Word, I: Index>(
    threads: &Threads,
    op: &'static str,
    (a, b): (&Pattern<I>, &Pattern<I>),
    union: bool,
    first: W,
    values: &(dyn Fn(&[Places], &mut [W]) + Sync),
) -> Result<(Pattern<I>, Vec<W>)> {
    check_shapes(op, a, b)?;
    let append = |rows: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, found: &mut Vec<W>| {
        let entries = |x: &Pattern<I>| x.row_ptr()[rows.end] - x.row_ptr()[rows.start];
        let most = if union { entries(a) + entries(b) } else { entries(a).min(entries(b)) };
        room(cols, most, "a block of rows")?;
        room(found, most, "a block of rows")?;
        let (mut places, mut n) = ([(ABSENT, ABSENT); BLOCK], 0);
        let mut put = |j: I, place: Places, cols: &mut Vec<I>| {
            cols.push(j);
            places[n] = place;
            n += 1;
            if n == BLOCK {
                append_values(&places, first, values, found);
                n = 0;
            }
        };
        for (i, len) in rows.zip(lens) {
            let ((ja, p0), (jb, q0)) = ((a.row(i), a.row_ptr()[i]), (b.row(i), b.row_ptr()[i]));
            let (mut p, mut q, before) = (0, 0, cols.len());
            while p < ja.len() && q < jb.len() {
                let order = ja[p].cmp(&jb[q]);
                match order {
                    Ordering::Equal => put(ja[p], (p0 + p, q0 + q), cols),
                    Ordering::Less if union => put(ja[p], (p0 + p, ABSENT), cols),
                    Ordering::Greater if union => put(jb[q], (ABSENT, q0 + q), cols),
                    _ => {}
                }
                p += usize::from(order != Ordering::Greater);
                q += usize::from(order != Ordering::Less);
            }
            if union {
                (p..ja.len()).for_each(|p| put(ja[p], (p0 + p, ABSENT), cols));
                (q..jb.len()).for_each(|q| put(jb[q], (ABSENT, q0 + q), cols));
            }
            *len = cols.len() - before;
        }
        append_values(&places[..n], first, values, found);
        Ok(())
    };
    let most = if union { a.nnz().saturating_add(b.nnz()) } else { a.nnz().min(b.nnz()) };
    let blocks = blocks(a.nrows(), &|i| work_before(a, b, i))?;
    let (row_ptr, cols, values) = append_rows(threads, op, &blocks, most, &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}

fn append_values<W: Word>(
    places: &[Places],
    first: W,
    values: &(dyn Fn(&[Places], &mut [W]) + Sync),
    found: &mut Vec<W>,
) {
    let start = found.len();
    found.resize(start + places.len(), first);
    values(places, &mut found[start..]);
}

/// The matrix whose rows `append` appends, row i with `len(nnz(A(i)), nnz(B(i)), common)` entries.
fn merge<T: Value, I: Index>(
    threads: &Threads,
    op: &'static str,
    a: &Pattern<I>,
    b: &Pattern<I>,
    len: &(dyn Fn(usize, usize, usize) -> usize + Sync),
    append: &AppendRows<'_, T, I>,
) -> Result<Csr<T, I>> {
    let (c, values) = merge_rows(threads, op, a, b, len, append)?;
    Csr::with_pattern(Arc::new(c), values)
}

/// Pattern and values of [`merge`].
fn merge_rows<T: Copy + Send, I: Index>(
    threads: &Threads,
    op: &'static str,
    a: &Pattern<I>,
    b: &Pattern<I>,
    len: &(dyn Fn(usize, usize, usize) -> usize + Sync),
    append: &AppendRows<'_, T, I>,
) -> Result<(Pattern<I>, Vec<T>)> {
    let row_ptr = count(threads, a, b, len)?;
    let blocks = blocks(a.nrows(), &|i| work_before(a, b, i))?;
    let (cols, values) = fill_rows(threads, op, &blocks, &row_ptr, append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}

/// Row pointers of C.
fn count<I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    b: &Pattern<I>,
    len: &(dyn Fn(usize, usize, usize) -> usize + Sync),
) -> Result<Vec<usize>> {
    let of_row = |(): &mut (), i| {
        let (a, b) = (a.row(i), b.row(i));
        let (mut p, mut q, mut common) = (0, 0, 0);
        while p < a.len() && q < b.len() {
            let (j, k) = (a[p], b[q]);
            common += usize::from(j == k);
            (p, q) = (p + usize::from(j <= k), q + usize::from(k <= j));
        }
        Ok(len(a.len(), b.len(), common))
    };
    count_rows(threads, a.nrows(), |i| work_before(a, b, i), || Ok(()), of_row)
}

fn work_before<I: Index>(a: &Pattern<I>, b: &Pattern<I>, i: usize) -> u64 {
    a.row_ptr()[i] as u64 + b.row_ptr()[i] as u64 + i as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::words::{value, word};
    use crate::algebra::{Minus, Plus};

    #[test]
    fn places_lead_to_the_entries_of_either() {
        let rows = |step: usize, n: usize| {
            let mut row_ptr = vec![0];
            let cols: Vec<u32> = (0..40usize).flat_map(|i| (i % step..n).step_by(step).map(|j| j as u32)).collect();
            (0..40usize).for_each(|i| row_ptr.push(row_ptr[i] + (i % step..n).step_by(step).count()));
            let values = (0..cols.len()).map(|p| p as f64 / 3.0).collect();
            Csr::<f64>::new(40, 300, row_ptr, cols, values).unwrap()
        };
        let threads = &Threads::new(2).unwrap();
        for (a, b) in [(rows(3, 300), rows(5, 250)), (rows(300, 300), rows(2, 300)), (rows(7, 7), rows(7, 7))] {
            let (x, y) = (a.values(), b.values());
            for union in [true, false] {
                let write = |places: &[Places], out: &mut [<f64 as Value>::Word]| {
                    for (z, &(p, q)) in out.iter_mut().zip(places) {
                        *z = word(match (x.get(p), y.get(q)) {
                            (Some(x), Some(y)) if union => x + y,
                            (Some(x), Some(y)) => x - y,
                            (Some(&x), None) => x,
                            (_, y) => *y.unwrap(),
                        });
                    }
                };
                let (c, values) =
                    ewise_words(threads, "ewise", (a.pattern(), b.pattern()), union, word(0.0), &write).unwrap();
                // SAFETY: words of doubles.
                let values: Vec<f64> = values.into_iter().map(|w| unsafe { value(w) }).collect();
                let want = if union {
                    ewise_add(threads, Plus::new(), &a, &b).unwrap()
                } else {
                    ewise_mult(threads, Minus::new(), &a, &b).unwrap()
                };
                assert_eq!((&c, &values[..]), (&**want.pattern(), want.values()));
            }
        }
    }
}
