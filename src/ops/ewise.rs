//! C = A ∘ B, entry by entry, on the union or the intersection of two patterns.
//!
//! Equal patterns need only the values. Otherwise each row is traversed once, patterns and values together: the
//! positions in a union (`simd/union.rs`) or intersection (`simd/common.rs`) are computed before any value is copied.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::blocks::{append_rows, blocks, in_order, room, stretch};
use crate::algebra::words::MovesTwo;
use crate::algebra::{BinaryOp, Host, V, Value, Word};
use crate::kernels::{BLOCK, fill};
use crate::par::Threads;
use crate::simd::{COMMON_SLACK, RowCommon, RowUnion, parts};
use crate::{Csr, Error, Index, Pattern, Result};

/// `C(i, j) = A(i, j) ∘ B(i, j)` where both have an entry; where one has, C(i, j) is that entry. Rows sorted.
///
/// Shapes: all m×n. Cost: O(m + nnz(A) + nnz(B)) time, no memory beyond the result; an operand with unsorted rows is
/// sorted first. Matrices with equal patterns yield a result that shares the pattern.
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

/// The union of A and B, with the values of B where both have an entry: ∘ is `second`.
pub(super) struct PutRows<'a, I: Index> {
    pub(super) threads: &'a Threads,
    pub(super) a: &'a Pattern<I>,
    pub(super) b: &'a Pattern<I>,
}
impl<I: Index> MovesTwo for PutRows<'_, I> {
    type Structure = Pattern<I>;
    #[inline(never)]
    fn run<W: Word>(self, a: &[W], b: &[W]) -> Result<(Pattern<I>, Vec<W>)> {
        union_rows(self.threads, "ewise_add", (self.a, a), (self.b, b), &|_, y| y)
    }
}

/// The union of two matrices of one shape with sorted rows; `f` combines two entries.
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
        stretch(cols, most, I::default(), "a block of rows")?;
        stretch(values, most, first, "a block of rows")?;
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
    let Some((&x, &y)) = a.values().first().zip(b.values().first()) else {
        return Csr::with_pattern(Arc::new(Pattern::empty(a.nrows(), a.ncols())?), Vec::new());
    };
    let write = |positions: &[PositionPair], out: &mut [O::Out]| {
        for (z, &(p, q)) in out.iter_mut().zip(positions) {
            *z = op.apply::<Host>(V(a.values()[p]), V(b.values()[q])).0;
        }
    };
    let (pattern, values) =
        common_rows(threads, "ewise_mult", (a.pattern(), b.pattern()), op.apply::<Host>(V(x), V(y)).0, &write)?;
    Csr::with_pattern(Arc::new(pattern), values)
}

fn check_shapes<I: Index>(op: &'static str, a: &Pattern<I>, b: &Pattern<I>) -> Result<()> {
    if a.shape() == b.shape() { Ok(()) } else { Err(Error::Shape { op, lhs: a.shape(), rhs: b.shape() }) }
}

/// Whether two patterns with sorted rows are equal, by shared memory or by content.
///
/// Cost: O(m + nnz) if they are equal, otherwise usually a few comparisons.
pub(crate) fn is_one<I: Index>(threads: &Threads, a: &Arc<Pattern<I>>, b: &Arc<Pattern<I>>) -> Result<bool> {
    /// Entries compared at a time.
    const CHUNK: usize = 1 << 14;
    /// Below this number of entries, comparing takes less time than waking a thread.
    const SMALL: usize = 1 << 16;
    if Arc::ptr_eq(a, b) {
        return Ok(true);
    }
    if a.shape() != b.shape() || a.nnz() != b.nnz() {
        return Ok(false);
    }
    if a.nrows() + a.nnz() <= SMALL {
        return Ok(a.row_ptr() == b.row_ptr() && a.col_idx() == b.col_idx());
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

/// [`ewise_add`] and [`ewise_mult`] for equal patterns: computes only values.
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

/// Positions of an entry of C in A and in B; [`ABSENT`] if it has none.
pub(crate) type PositionPair = (usize, usize);
/// No position.
pub(crate) const ABSENT: usize = usize::MAX;
/// Entries of A and of B, and their positions in the union.
pub(crate) struct UnionChunk {
    pub(crate) union: RowUnion,
    /// The entries, as many as have a position in the union.
    pub(crate) of_a: Range<usize>,
    pub(crate) of_b: Range<usize>,
}

/// The union of the entries of A and B. `values` writes the values, at most [`BLOCK`] at a time, over words equal to
/// `first`. Compiled once per value size. All rows are sorted.
pub(crate) fn union_words<W: Word, I: Index>(
    threads: &Threads,
    op: &'static str,
    (a, b): (&Pattern<I>, &Pattern<I>),
    first: W,
    values: &(dyn Fn(&[UnionChunk], &mut [W]) + Sync),
) -> Result<(Pattern<I>, Vec<W>)> {
    check_shapes(op, a, b)?;
    let append = |rows: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, found: &mut Vec<W>| {
        let (from, to) =
            ((a.row_ptr()[rows.start], b.row_ptr()[rows.start]), (a.row_ptr()[rows.end], b.row_ptr()[rows.end]));
        let most = to.0 - from.0 + to.1 - from.1;
        stretch(cols, most, I::default(), "a block of rows")?;
        stretch(found, most, first, "a block of rows")?;
        let mut here = UnionChunk { union: RowUnion::new::<I>(), of_a: from.0..from.0, of_b: from.1..from.1 };
        let mut n = 0;
        let mut write = |here: &mut UnionChunk| {
            let (entries, len) = (here.union.entries(), here.union.len());
            here.of_a = here.of_a.end..here.of_a.end + entries.0;
            here.of_b = here.of_b.end..here.of_b.end + entries.1;
            let cols = &mut cols[n..n + len];
            here.union.of_a().zip(&a.col_idx()[here.of_a.clone()]).for_each(|(p, &j)| cols[p] = j);
            here.union.of_b().zip(&b.col_idx()[here.of_b.clone()]).for_each(|((p, _), &j)| cols[p] = j);
            values(std::slice::from_ref(here), &mut found[n..n + len]);
            here.union.clear();
            n += len;
            len
        };
        for (i, len) in rows.zip(lens) {
            let (mut ja, mut jb) = (a.row(i), b.row(i));
            let entries = here.union.entries();
            if entries.0 + entries.1 + ja.len() + jb.len() > BLOCK {
                write(&mut here);
            }
            *len = 0;
            while ja.len() + jb.len() > BLOCK {
                let (x, y) = parts(ja, jb, BLOCK / 2);
                here.union.append(&ja[..x], &jb[..y]);
                *len += write(&mut here);
                (ja, jb) = (&ja[x..], &jb[y..]);
            }
            let before = here.union.len();
            here.union.append(ja, jb);
            *len += here.union.len() - before;
        }
        write(&mut here);
        cols.truncate(n);
        found.truncate(n);
        Ok(())
    };
    let blocks = blocks(a.nrows(), &|i| work_before(a, b, i))?;
    let (row_ptr, cols, values) = append_rows(threads, op, &blocks, a.nnz().saturating_add(b.nnz()), &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}

/// The intersection of the entries of A and B. `values` writes the values by their positions, at most [`BLOCK`] at a
/// time, over values equal to `first`. All rows are sorted.
pub(crate) fn common_rows<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    op: &'static str,
    (a, b): (&Pattern<I>, &Pattern<I>),
    first: T,
    values: &(impl Fn(&[PositionPair], &mut [T]) + Sync + ?Sized),
) -> Result<(Pattern<I>, Vec<T>)> {
    check_shapes(op, a, b)?;
    let append = |rows: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, found: &mut Vec<T>| {
        let entries = |x: &Pattern<I>| x.row_ptr()[rows.end] - x.row_ptr()[rows.start];
        let most = entries(a).min(entries(b));
        room(cols, most, "a block of rows")?;
        room(found, most, "a block of rows")?;
        let (common, mut pairs) = (RowCommon::new::<I>(), [(0, 0); BLOCK + COMMON_SLACK]);
        let mut positions = [(0, 0); BLOCK];
        let mut write = |pairs: &[(u32, u32)], p: usize, q: usize| {
            let positions = &mut positions[..pairs.len()];
            for (position, pair) in positions.iter_mut().zip(pairs) {
                *position = (p + pair.0 as usize, q + pair.1 as usize);
            }
            let start = found.len();
            cols.extend(positions.iter().map(|&(p, _)| a.col_idx()[p]));
            found.resize(start + positions.len(), first);
            values(positions, &mut found[start..]);
        };
        let (mut i, mut lens) = (rows.start, lens);
        while !lens.is_empty() {
            let of = |x: &Pattern<I>, i: usize| x.row_ptr()[i]..x.row_ptr()[i + 1];
            let (mut p, mut q) = (of(a, i), of(b, i));
            let (of_a, of_b) = ((&a.row_ptr()[i..], a.col_idx()), (&b.row_ptr()[i..], b.col_idx()));
            let (done, n) = common.rows(of_a, of_b, lens, &mut pairs);
            write(&pairs[..n], p.start, q.start);
            if done == 0 {
                // A row too long for the buffer is computed in parts.
                lens[0] = 0;
                while !p.is_empty() && !q.is_empty() {
                    let (ja, jb) = (&a.col_idx()[p.clone()], &b.col_idx()[q.clone()]);
                    let (x, y) = chunk_lens(ja, jb);
                    let n = common.positions(&ja[..x], &jb[..y], &mut pairs);
                    write(&pairs[..n], p.start, q.start);
                    lens[0] += n;
                    (p.start, q.start) = (p.start + x, q.start + y);
                }
            }
            let done = done.max(1);
            (i, lens) = (i + done, &mut lens[done..]);
        }
        Ok(())
    };
    let blocks = blocks(a.nrows(), &|i| work_before(a, b, i))?;
    let (row_ptr, cols, values) = append_rows(threads, op, &blocks, a.nnz().min(b.nnz()), &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}

/// The numbers of entries of two rows to compare at once: at most [`BLOCK`] of the shorter, and all columns up to the
/// lesser of the two parts' last columns, so that one row is exhausted or one part is full.
fn chunk_lens<I: Index>(ja: &[I], jb: &[I]) -> (usize, usize) {
    /// Maximum number of entries whose positions fit four bytes.
    const MANY: usize = 1 << 31;
    let part = |js: &[I], other: &[I]| js.len().min(if js.len() <= other.len() { BLOCK } else { MANY });
    let (a, b) = (&ja[..part(ja, jb)], &jb[..part(jb, ja)]);
    let (Some(&j), Some(&k)) = (a.last(), b.last()) else { return (a.len(), b.len()) };
    let last = j.min(k);
    (a.partition_point(|&j| j <= last), b.partition_point(|&j| j <= last))
}

fn work_before<I: Index>(a: &Pattern<I>, b: &Pattern<I>, i: usize) -> u64 {
    a.row_ptr()[i] as u64 + b.row_ptr()[i] as u64 + i as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::words::{value, word};

    #[test]
    fn positions_lead_to_the_entries_of_either() {
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
            let mixed = |x: f64, y: f64| x + 2.0 * y;
            let write = |together: &[UnionChunk], out: &mut [<f64 as Value>::Word]| {
                let UnionChunk { union, of_a, of_b } = &together[0];
                union.of_a().zip(&x[of_a.clone()]).for_each(|(p, x)| out[p] = word(*x));
                for ((p, common), &y) in union.of_b().zip(&y[of_b.clone()]) {
                    // SAFETY: words of doubles.
                    out[p] = if common { word(mixed(unsafe { value(out[p]) }, y)) } else { word(y) };
                }
            };
            let (c, values) = union_words(threads, "ewise", (a.pattern(), b.pattern()), word(0.0), &write).unwrap();
            // SAFETY: words of doubles.
            let values: Vec<f64> = values.into_iter().map(|w| unsafe { value(w) }).collect();
            let (rows, entries) = union_rows(threads, "ewise", (a.pattern(), x), (b.pattern(), y), &mixed).unwrap();
            assert_eq!((&c, &values), (&rows, &entries));
            let write = |positions: &[PositionPair], out: &mut [f64]| {
                out.iter_mut().zip(positions).for_each(|(z, &(p, q))| *z = mixed(x[p], y[q]));
            };
            let (c, values) = common_rows(threads, "ewise", (a.pattern(), b.pattern()), 0.0, &write).unwrap();
            let mut n = 0;
            for i in 0..40 {
                for (j, x) in a.row(i).0.iter().zip(a.row(i).1) {
                    if let Ok(q) = b.row(i).0.binary_search(j) {
                        assert_eq!((c.col_idx()[n], values[n]), (*j, mixed(*x, b.row(i).1[q])));
                        n += 1;
                    }
                }
                assert_eq!(c.row_ptr()[i + 1], n);
            }
        }
    }
}
