//! Y = A ⊕.⊗ X with X and Y dense and row-major: loops fused by type, and unfused kernels.

use std::any::Any;
use std::ops::Range;

use super::blocks::{fill, fill_words};
use super::by_formula::{Fused, check, with_type};
use super::staged::{Factors, MulRow, Multiplier, Piece, Pieces};
use super::unfused::no_structs;
use super::{BLOCK, CompiledRing, Fold};
use crate::algebra::words::from_words;
use crate::algebra::{
    Array, At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, PlusTimes, Rhs, Semiring, Slice, SliceMut, V, Word,
};
use crate::par::{OutputSlice, Threads, UninitOutput, overwrite_blocks, reserved, try_split};
use crate::simd::{SpmmFloat, SpmmPart, dispatch, has_spmm, spmm_part};
use crate::{Index, Pattern, Result};

/// Rows of X with fewer columns gather in a buffer, to amortize the calls of ⊗ and ⊕.
const LONG: usize = 16;
/// Columns whose sums stay in registers: with eight columns a product takes 0.5 to 0.8 of the time.
const LANES: usize = 8;
/// Maximum number of columns for rereading a row of A for each group of [`LANES`].
const WIDE: usize = 4 * LANES;

/// `y(i, j)` ⊕= A(i, k) ⊗ X(k, j) over the entries of some rows of A, in storage order; `y` and X have `n` columns.
/// # Panics
/// If there is not one value per entry, or X or y have other sizes.
pub(crate) fn spmm_rows<R: Semiring, I: Index>(
    ring: R,
    (a, values): (&Pattern<I>, &[Lhs<R>]),
    (x, n): (&[Rhs<R>], usize),
    rows: Range<usize>,
    y: &mut [Out<R>],
) {
    let (add, mul) = (ring.add(), ring.mul());
    if n.is_multiple_of(LANES) && n <= WIDE {
        return dispatch(|| lanes_of_rows(ring, (a, values), (x, n), rows, y));
    }
    dispatch(|| {
        for (i, y) in rows.zip(y.chunks_exact_mut(n)) {
            let entries = a.row_ptr()[i]..a.row_ptr()[i + 1];
            for (k, &value) in a.row(i).iter().zip(&values[entries]) {
                for (j, (y, &x)) in y.iter_mut().zip(&x[k.get() * n..][..n]).enumerate() {
                    let at = At { i: V(i as u64), k: V(k.get() as u64), j: V(j as u64) };
                    *y = add.apply::<Host>(V(*y), mul.mul::<Host>(V(value), V(x), at)).0;
                }
            }
        }
    });
}

/// [`spmm_rows`] for a multiple of [`LANES`] columns, whose sums stay in registers while a row of A is read.
#[inline(always)]
fn lanes_of_rows<R: Semiring, I: Index>(
    ring: R,
    (a, values): (&Pattern<I>, &[Lhs<R>]),
    (x, n): (&[Rhs<R>], usize),
    rows: Range<usize>,
    y: &mut [Out<R>],
) {
    let (add, mul) = (ring.add(), ring.mul());
    for (i, y) in rows.zip(y.chunks_exact_mut(n)) {
        let (js, values) = (a.row(i), &values[a.row_ptr()[i]..a.row_ptr()[i + 1]]);
        for (c, y) in y.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let (mut sums, first) = (*y, c * LANES);
            for (k, &value) in js.iter().zip(values) {
                let xs: &[_; LANES] = x[k.get() * n + first..].first_chunk().expect("a row of X has n values");
                for (l, (sum, &x)) in sums.iter_mut().zip(xs).enumerate() {
                    let at = At { i: V(i as u64), k: V(k.get() as u64), j: V((first + l) as u64) };
                    *sum = add.apply::<Host>(V(*sum), mul.mul::<Host>(V(value), V(x), at)).0;
                }
            }
            *y = sums;
        }
    }
}

/// The values of Y over a semiring known at run time, row-major; empty rows of A yield the identity of ⊕. X has `n`
/// columns, `n` ≥ 1 and within 32 bits.
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) if ⊗ takes other types;
/// [`Error::Unsupported`](crate::Error::Unsupported) for structs; [`Error::OutOfMemory`](crate::Error::OutOfMemory),
/// [`Error::Cancelled`](crate::Error::Cancelled).
/// # Panics
/// If there is not one value per entry, or X has another size.
pub(crate) fn spmm_by_formula(
    threads: &Threads,
    blocks: &[Range<usize>],
    ring: &CompiledRing,
    (a, values): (&Pattern, Slice<'_>),
    (x, n): (Slice<'_>, usize),
) -> Result<Array> {
    check(ring.formula(), values.ty(), x.ty())?;
    assert!(values.len() == a.nnz() && x.len() == a.ncols() * n);
    if let Some(fused) = ring.fused() {
        let [f64s, f32s] = Fused::PLUS_TIMES;
        let y = match fused {
            _ if fused == f64s => floats(threads, blocks, PlusTimes::<f64>::default(), (a, values), (x, n)),
            _ if fused == f32s => floats(threads, blocks, PlusTimes::<f32>::default(), (a, values), (x, n)),
            _ => None,
        };
        if let Some(y) = y {
            return y;
        }
    }
    with_type!(ring.ty(), T => {
        let kernels = ring.unfused::<T>()?;
        let fold = kernels.fold();
        let products = Staged { a, values, x, n, fold, mul: kernels };
        let identity = fold.identity();
        let y = fill_words(threads, "spmm", blocks, &|i| i * n, identity, &|rows, y| products.rows(rows, y))?;
        // SAFETY: each word is the identity or was written by ⊗ and ⊕: values of type T, which ⊗ returns for the
        // operands' types (`check`).
        Ok(Array::of(unsafe { from_words::<T>(y) }))
    }, Err(no_structs()))
}

/// Runs the loops of a float semiring, if the values are of its type.
fn floats<R: Semiring>(
    threads: &Threads,
    blocks: &[Range<usize>],
    ring: R,
    (a, values): (&Pattern, Slice<'_>),
    (x, n): (Slice<'_>, usize),
) -> Option<Result<Array>> {
    let (values, x) = (values.get::<Lhs<R>>()?, x.get::<Rhs<R>>()?);
    let y = fill(threads, "spmm", blocks, &|i| i * n, <R::Add as Monoid>::IDENTITY, &|rows, y| {
        spmm_rows(ring, (a, values), (x, n), rows, y);
    });
    Some(y.map(Array::of))
}

/// Whether the semiring is + and × on f32 or on f64.
pub(crate) fn is_float_ring(ring: &CompiledRing) -> bool {
    ring.fused().is_some_and(|fused| Fused::PLUS_TIMES.contains(&fused))
}

/// The values of Y = A·X, row-major, if all values are f32 or all f64 and this process has loops for them
/// ([`spmm_part`]); otherwise `None`. X has `n` columns.
pub(crate) fn float_spmm<I: Index>(
    threads: &Threads,
    op: &'static str,
    (a, values): (&Pattern<I>, Slice<'_>),
    (x, n): (Slice<'_>, usize),
) -> Option<Result<Array>> {
    let a = with_loops(a)?;
    if let (Some(values), Some(x)) = (values.get::<f64>(), x.get::<f64>()) {
        return Some(fresh(threads, op, (a, values), (x, n)).map(Array::of));
    }
    let (values, x) = (values.get::<f32>()?, x.get::<f32>()?);
    Some(fresh(threads, op, (a, values), (x, n)).map(Array::of))
}

/// [`float_spmm`], overwriting the values of Y, which are of the same type.
/// # Errors
/// As [`float_spmm`]; after [`Error::Cancelled`](crate::Error::Cancelled) some values are new and the rest unchanged.
/// # Panics
/// If `y` has another size.
pub(crate) fn float_spmm_into<I: Index>(
    threads: &Threads,
    op: &'static str,
    (a, values): (&Pattern<I>, Slice<'_>),
    (x, n): (Slice<'_>, usize),
    y: &mut SliceMut<'_>,
) -> Option<Result<()>> {
    let a = with_loops(a)?;
    if let (Some(values), Some(x), Some(y)) = (values.get::<f64>(), x.get::<f64>(), y.get::<f64>()) {
        return Some(again(threads, op, (a, values), (x, n), y));
    }
    let (values, x, y) = (values.get::<f32>()?, x.get::<f32>()?, y.get::<f32>()?);
    Some(again(threads, op, (a, values), (x, n), y))
}

/// The pattern, if there are loops for its index type.
fn with_loops<I: Index>(a: &Pattern<I>) -> Option<&Pattern> {
    (a as &dyn Any).downcast_ref().filter(|_| has_spmm())
}

fn fresh<T: SpmmFloat>(
    threads: &Threads,
    op: &'static str,
    (a, values): (&Pattern, &[T]),
    (x, n): (&[T], usize),
) -> Result<Vec<T>> {
    let parts = parts(threads, a, n)?;
    UninitOutput::new(end(&parts, parts.len(), n), op)?.fill(
        threads,
        op,
        parts.len(),
        |b| end(&parts, b, n),
        || Ok(()),
        |(), b, y| {
            write_part((a, values), (x, n), &parts[b], y);
            Ok(())
        },
    )
}

fn again<T: SpmmFloat>(
    threads: &Threads,
    op: &'static str,
    (a, values): (&Pattern, &[T]),
    (x, n): (&[T], usize),
    y: &mut [T],
) -> Result<()> {
    let parts = parts(threads, a, n)?;
    overwrite_blocks(
        y,
        threads,
        op,
        parts.len(),
        |b| end(&parts, b, n),
        || Ok(()),
        |(), b, y| {
            write_part((a, values), (x, n), &parts[b], y);
            Ok(())
        },
    )
}

fn write_part<T: SpmmFloat>(a: (&Pattern, &[T]), x: (&[T], usize), part: &SpmmPart, y: &mut OutputSlice<'_, T>) {
    // SAFETY: `spmm_part` writes all values of the part, which are those of the block (`end`).
    unsafe { y.write_rest(|y| spmm_part(a, x, part, y)) };
}

/// Number of values of Y in the first `b` parts.
fn end(parts: &[SpmmPart], b: usize, n: usize) -> usize {
    b.checked_sub(1).map_or(0, |b| {
        let SpmmPart { rows, columns } = &parts[b];
        (rows.end - 1) * n + columns.end
    })
}

/// Work of a part, in products of an entry with eight columns. Takes about eight microseconds.
const PART_WORK: u64 = 1 << 14;
/// Minimum work of a part if there are few parts.
const LEAST_WORK: u64 = 1 << 11;
/// Maximum work for the calling thread alone, which is done before other threads wake up.
const ALONE: u64 = 1 << 13;
/// Maximum number of parts, not counting parts of long rows.
const PARTS: u64 = 1024;
/// Columns of a part of a row: whole cache lines.
const PART_COLUMNS: usize = 32;

/// Cuts Y into consecutive parts of about equal work: ranges of rows, and column ranges of rows too long for one
/// thread. The number of parts is divided evenly among threads.
fn parts(threads: &Threads, a: &Pattern, n: usize) -> Result<Vec<SpmmPart>> {
    let (m, registers) = (a.nrows(), n.div_ceil(8) as u64);
    let work = |i: usize| ((a.row_ptr()[i] + i) as u64).saturating_mul(registers);
    let count = match work(m) {
        ..=ALONE => 1,
        work => {
            let threads = threads.count() as u64;
            (work / PART_WORK).min(PARTS).max((work / LEAST_WORK).min(4 * threads)).next_multiple_of(2 * threads)
        }
    };
    let rows = try_split(m, count as usize, work)?;
    let most = 2 * (work(m) / count).max(LEAST_WORK);
    let heavy = |rows: &Range<usize>| count > 1 && work(rows.end) - work(rows.start) > most;
    let wide = n.div_ceil(PART_COLUMNS);
    let mut parts = reserved(rows.len() + rows.iter().filter(|&rows| heavy(rows)).count() * wide, "parts")?;
    for rows in rows {
        // The last row alone is too long, and the rows before it are too little work for a part.
        let before = if heavy(&rows) { rows.end - 1 } else { rows.end };
        if before > rows.start {
            parts.push(SpmmPart { rows: rows.start..before, columns: 0..n });
        }
        if before < rows.end {
            let columns = (0..n).step_by(PART_COLUMNS).map(|j| j..n.min(j + PART_COLUMNS));
            parts.extend(columns.map(|columns| SpmmPart { rows: before..rows.end, columns }));
        }
    }
    Ok(parts)
}

/// ⊕, ⊗, a sparse matrix and a dense one of `n` columns.
struct Staged<'a, W: Word> {
    a: &'a Pattern,
    values: Slice<'a>,
    x: Slice<'a>,
    n: usize,
    fold: &'a dyn Fold<W>,
    mul: &'a dyn MulRow<W>,
}

/// Pending columns and products, and the sums of up to [`BLOCK`] columns.
struct Buffer<W> {
    js: [u32; BLOCK],
    zs: [W; BLOCK],
    sums: [W; BLOCK],
    pieces: [Piece; BLOCK],
}

impl<W: Word> Staged<'_, W> {
    /// Some rows of Y.
    fn rows(&self, rows: Range<usize>, y: &mut [W]) {
        let identity = self.fold.identity();
        let pieces = [Piece::default(); BLOCK];
        let mut buffer = Buffer { js: [0; BLOCK], zs: [identity; BLOCK], sums: [identity; BLOCK], pieces };
        let mut columns = [0; BLOCK];
        self.mul.with(&mut |mul| {
            for (i, y) in rows.clone().zip(y.chunks_exact_mut(self.n)) {
                for (c, y) in y.chunks_mut(BLOCK).enumerate() {
                    let columns = &mut columns[..y.len()];
                    columns.iter_mut().zip((c * BLOCK) as u32..).for_each(|(to, j)| *to = j);
                    buffer.sums.fill(identity);
                    self.part(i, columns, mul, &mut buffer);
                    y.copy_from_slice(&buffer.sums[..y.len()]);
                }
            }
        });
    }
    /// The sums of row `i` in consecutive columns, starting at a multiple of [`BLOCK`].
    fn part(&self, i: usize, columns: &[u32], mul: &mut dyn Multiplier<W>, buffer: &mut Buffer<W>) {
        let Buffer { js, zs, sums, pieces } = buffer;
        let (first, m) = (columns[0] as usize, columns.len());
        let of_row = self.a.row_ptr()[i]..self.a.row_ptr()[i + 1];
        let piece = |p: usize| {
            let k = self.a.col_idx()[p] as usize;
            Piece { i, k, p, q: k * self.n + first, n: m }
        };
        if m >= LONG {
            for Piece { i, k, p, q, .. } in of_row.map(piece) {
                let (x, ys) = (self.values.part(p..p + 1), self.x.part(q..q + m));
                mul.multiply(Factors { i, k, x, js: columns, ys }, &mut zs[..m]);
                self.fold.to_window(sums, columns, &zs[..m]);
            }
            return;
        }
        let at_once = BLOCK / m;
        for start in of_row.clone().step_by(at_once) {
            let entries = start..of_row.end.min(start + at_once);
            let (count, n) = (entries.len(), entries.len() * m);
            pieces.iter_mut().zip(entries).for_each(|(to, p)| *to = piece(p));
            js[..n].chunks_exact_mut(m).for_each(|js| js.copy_from_slice(columns));
            let (js, zs) = (&js[..n], &mut zs[..n]);
            mul.multiply_pieces(Pieces { xs: self.values, ys: self.x, pieces: &pieces[..count], js }, zs);
            self.fold.to_window(sums, js, zs);
        }
    }
}
