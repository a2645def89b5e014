//! Y = A ⊕.⊗ X, X and Y dense and row-major: loops fused by type, and by two values.

use std::ops::Range;

use super::blocks::{fill, fill_words};
use super::by_formula::{Fused, check, with_type};
use super::staged::{Factors, MulRow, Multiplier, Piece, Pieces};
use super::two_steps::no_structs;
use super::{BLOCK, CompiledRing, Fold};
use crate::algebra::words::from_words;
use crate::algebra::{Array, At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, PlusTimes, Rhs, Semiring, Slice, V, Word};
use crate::par::Threads;
use crate::simd::dispatch;
use crate::{Index, Pattern, Result};

/// Rows of X of fewer columns gather in a buffer, so that ⊗ and ⊕ are worth their calls.
const LONG: usize = 16;
/// Columns whose sums stay in registers: of eight columns a product takes 0.5 to 0.8 of the time.
const LANES: usize = 8;
/// Columns up to which a row of A is read once for each [`LANES`] of them.
const WIDE: usize = 4 * LANES;

/// `y(i, j)` ⊕= A(i, k) ⊗ X(k, j) over the entries of some rows of A, in the order in which they are stored; `y` and X
/// have `n` columns.
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

/// [`spmm_rows`] of a multiple of [`LANES`] columns: so many sums stay in registers while a row of A is read.
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

/// The values of Y over a semiring that is known at run time, row after row; rows of A without entries give the
/// identity of ⊕. `x` has `n` columns, which are at least one and fit 32 bits.
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
        let kernels = ring.two_steps::<T>()?;
        let fold = kernels.fold();
        let products = Staged { a, values, x, n, fold, mul: kernels };
        let identity = fold.identity();
        let y = fill_words(threads, "spmm", blocks, &|i| i * n, identity, &|rows, y| products.rows(rows, y))?;
        // SAFETY: all were the identity, and then what ⊗ and ⊕ wrote: values of type T, which ⊗ gives of the operands'
        // types (`check`).
        Ok(Array::of(unsafe { from_words::<T>(y) }))
    }, Err(no_structs()))
}

/// By the loops of a semiring of floats, if the values are its.
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

/// ⊕, ⊗, a sparse matrix and a dense one of `n` columns.
struct Staged<'a, W: Word> {
    a: &'a Pattern,
    values: Slice<'a>,
    x: Slice<'a>,
    n: usize,
    fold: &'a dyn Fold<W>,
    mul: &'a dyn MulRow<W>,
}

/// Columns and products on their way, and the sums of up to [`BLOCK`] columns.
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
    /// The sums of row `i` in these columns, neighbours from a multiple of [`BLOCK`] on.
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
