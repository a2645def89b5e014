//! C = A ⊗ B: the Kronecker product of two sparse matrices.
//!
//! Row (i, k) of C is row i of A with each entry replaced by row k of B, scaled by it. So the pattern follows from
//! those of A and B without a search, and rows of C are written independently of each other. Source: GraphBLAS C API
//! 2.1, §4.3.12 (`GrB_kronecker`).

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::blocks::{blocks, row_blocks};
use super::by_formula::OfTwo;
use crate::algebra::words::Tile;
use crate::algebra::{Array, BinaryOp, Host, V};
use crate::kernels::{BLOCK, CompiledOp, Operand, fill, fill_any};
use crate::par::{OutputSlice, Threads, UninitOutput, collected, reserved};
use crate::{Csr, Error, Index, Pattern, Result};

const NAME: &str = "kronecker";
/// Minimum length of a row of B that is multiplied in place; shorter rows are gathered.
const LONG: usize = 32;
/// Maximum number of entries of B for multiplying a block of A by each of them in turn.
const SMALL_B: usize = 16;
const _: () = assert!(BLOCK == Tile::STRIDE);

/// `C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l)` for each entry of A and each of B.
///
/// Shapes: `a` m×n, `b` p×q, result mp×nq; the types of the entries may differ. Rows are sorted if those of both
/// operands are. Cost: O(m·p + nnz(A)·nnz(B)) time, where m and p count stored rows if hypersparse; no memory beyond
/// the result.
/// # Errors
/// [`Error::IndexOverflow`] if mp, nq or nnz(A)·nnz(B) does not fit the result's types; [`Error::OutOfMemory`],
/// [`Error::Cancelled`].
pub(crate) fn kronecker<O: BinaryOp, I: Index>(
    threads: &Threads,
    op: O,
    a: &Csr<O::A, I>,
    b: &Csr<O::B, I>,
) -> Result<Csr<O::Out, I>> {
    if a.as_hyper().is_some() || b.as_hyper().is_some() {
        return of_stored_rows(threads, op, a, b);
    }
    let (a, b) = (a.compressed()?, b.compressed()?);
    let c = pattern(threads, a.pattern(), b.pattern())?;
    let (Some(&x), Some(&y)) = (a.values().first(), b.values().first()) else {
        return Csr::with_pattern(Arc::new(c), Vec::new());
    };
    let first = op.apply::<Host>(V(x), V(y)).0;
    let values = fill(threads, NAME, &row_blocks(&c)?, &|r| c.row_ptr()[r], first, &|rows, mut z| {
        each_row(a.pattern(), b.pattern(), rows, |of_a, of_b| {
            let ys = &b.values()[of_b];
            for &x in &a.values()[of_a] {
                let (row, rest) = std::mem::take(&mut z).split_at_mut(ys.len());
                for (z, &y) in row.iter_mut().zip(ys) {
                    *z = op.apply::<Host>(V(x), V(y)).0;
                }
                z = rest;
            }
        });
    })?;
    Csr::with_pattern(Arc::new(c), values)
}

/// [`kronecker`] of the stored rows of hypersparse matrices.
fn of_stored_rows<O: BinaryOp, I: Index>(
    threads: &Threads,
    op: O,
    a: &Csr<O::A, I>,
    b: &Csr<O::B, I>,
) -> Result<Csr<O::Out, I>> {
    let (nrows, p) = ((a.nrows() as u128).saturating_mul(b.nrows() as u128), b.nrows());
    if nrows > I::MAX_LEN as u128 {
        let what = "rows of a Kronecker product";
        return Err(Error::IndexOverflow { what, needed: nrows, max: I::MAX_LEN as u128 });
    }
    let (x, y) = (a.to_hyper()?, b.to_hyper()?);
    let c = kronecker(threads, op, &Csr::of_stored(&x), &Csr::of_stored(&y))?;
    let labels = x.labels().iter().flat_map(|i| y.labels().iter().map(|k| I::cast(i.get() * p + k.get())));
    c.labelled(nrows as usize, Arc::new(collected(c.nrows(), labels, "labels of rows")?))
}

/// [`kronecker`] with an operator known at run time.
/// # Errors
/// Those of [`kronecker`]; [`Error::Unsupported`] for a formula that the CPU cannot run.
pub(crate) fn kronecker_by_formula(
    threads: &Threads,
    op: &CompiledOp,
    a: Operand<'_>,
    b: Operand<'_>,
) -> Result<(Arc<Pattern>, Array)> {
    let of = OfTwo::new(op, a.values, b.values)?;
    let c = pattern(threads, a.pattern, b.pattern)?;
    if (1..=SMALL_B).contains(&b.values.len()) {
        return Ok((Arc::new(c), with_small_b(threads, op, a, b)?));
    }
    let values = fill_any(op.ty(), threads, NAME, &row_blocks(&c)?, &|r| c.row_ptr()[r], &|rows, z| {
        let (mut positions, mut n, mut at) = ([(0, 0); BLOCK], 0, 0);
        each_row(a.pattern, b.pattern, rows, |of_a, of_b| {
            if of_b.len() >= LONG {
                of.at_pairs(&positions[..n], &mut z.part(at..at + n));
                (n, at) = (0, at + n);
                for p in of_a {
                    of.with_each(p, of_b.clone(), &mut z.part(at..at + of_b.len()));
                    at += of_b.len();
                }
                return;
            }
            for pair in of_a.flat_map(|p| of_b.clone().map(move |q| (p, q))) {
                positions[n] = pair;
                n += 1;
                if n == BLOCK {
                    of.at_pairs(&positions, &mut z.part(at..at + BLOCK));
                    (n, at) = (0, at + BLOCK);
                }
            }
        });
        of.at_pairs(&positions[..n], &mut z.part(at..at + n));
    })?;
    Ok((Arc::new(c), values))
}

/// The values for a B with few entries: a block of A's values is multiplied by each entry of B in turn, and the
/// products are scattered to their positions in the rows of C.
fn with_small_b(threads: &Threads, op: &CompiledOp, a: Operand<'_>, b: Operand<'_>) -> Result<Array> {
    let of = OfTwo::new(op, a.values, b.values)?;
    let (of_a, of_b, n) = (a.pattern.row_ptr(), b.pattern.row_ptr(), b.values.len());
    let rows = blocks(a.pattern.nrows(), &|i| (of_a[i] * n + i * b.pattern.nrows()) as u64)?;
    let rows_of_b = (0..b.pattern.nrows()).map(|k| of_b[k]..of_b[k + 1]).filter(|row| !row.is_empty());
    let rows_of_b = collected(n, rows_of_b, "rows")?;
    let mut buffers = reserved(threads.workers(rows.len()), "products")?;
    for _ in 0..threads.workers(rows.len()) {
        buffers.push(Array::zeros(op.ty(), n * BLOCK)?);
    }
    let buffers = Mutex::new(buffers);
    let buffers = || buffers.lock().unwrap_or_else(PoisonError::into_inner);
    fill_any(op.ty(), threads, NAME, &rows, &|i| of_a[i] * n, &|rows, z| {
        let (start, end) = (of_a[rows.start], of_a[rows.end]);
        let Some(mut products) = buffers().pop() else { unreachable!("each thread has a product buffer") };
        let mut first_row = rows.start;
        for first in (start..end).step_by(BLOCK) {
            let block = first..end.min(first + BLOCK);
            for q in 0..n {
                let to = q * BLOCK..q * BLOCK + block.len();
                of.each_with(block.clone(), q, &mut products.slice_mut().part(to));
            }
            while of_a[first_row + 1] <= first {
                first_row += 1;
            }
            let rows = (first_row..rows.end).take_while(|&i| of_a[i] < block.end);
            let parts = rows.filter(|&i| of_a[i] < of_a[i + 1]).map(|i| {
                let row = of_a[i]..of_a[i + 1];
                let part = row.start.max(first)..row.end.min(block.end);
                Tile {
                    to: (row.start - start) * n,
                    len: row.len(),
                    start: part.start - row.start,
                    at: part.start - first,
                    n: part.len(),
                }
            });
            z.spread(&products.slice(), &rows_of_b, parts);
        }
        buffers().push(products);
    })
}

/// Writes the columns of a row of C: those of the row of B for each column of A.
#[inline(always)]
fn columns<I: Index>(to: &mut [I], of_a: &[I], of_b: &[I], width: usize) {
    #[inline(always)]
    fn fixed<const N: usize, I: Index>(to: &mut [I], of_a: &[I], of_b: [I; N], width: usize) {
        for (to, j) in to.as_chunks_mut::<N>().0.iter_mut().zip(of_a) {
            *to = of_b.map(|l| I::cast(j.get() * width + l.get()));
        }
    }
    match *of_b {
        [k] => fixed(to, of_a, [k], width),
        [k, l] => fixed(to, of_a, [k, l], width),
        [k, l, m] => fixed(to, of_a, [k, l, m], width),
        _ => {
            for (to, j) in to.chunks_exact_mut(of_b.len().max(1)).zip(of_a) {
                to.iter_mut().zip(of_b).for_each(|(to, l)| *to = I::cast(j.get() * width + l.get()));
            }
        }
    }
}

/// The pattern of C.
fn pattern<I: Index>(threads: &Threads, a: &Pattern<I>, b: &Pattern<I>) -> Result<Pattern<I>> {
    let nrows = product("rows of a Kronecker product", a.nrows(), b.nrows(), usize::MAX - 1)?;
    let ncols = product("columns of a Kronecker product", a.ncols(), b.ncols(), I::MAX_LEN)?;
    let nnz = product("entries of a Kronecker product", a.nnz(), b.nnz(), usize::MAX)?;
    // Row (i, k) is preceded by all rows of A before i with all of B, and by row i with the rows of B before k.
    let of_a = blocks(a.nrows(), &|i| (i * b.nrows()) as u64)?;
    let row_of_a = |t: usize| t.checked_sub(1).map_or(0, |t| of_a[t].end);
    let start = |t: usize| if t > of_a.len() { nrows + 1 } else { row_of_a(t) * b.nrows() };
    let fill = |(): &mut (), t: usize, slots: &mut OutputSlice<'_, usize>| {
        let slots = slots.rest(nnz);
        for i in of_a.get(t).cloned().unwrap_or_default() {
            let (before, len) = (a.row_ptr()[i] * b.nnz(), a.row(i).len());
            let to = &mut slots[(i - row_of_a(t)) * b.nrows()..][..b.nrows()];
            to.iter_mut().zip(b.row_ptr()).for_each(|(to, start)| *to = before + len * start);
        }
        Ok(())
    };
    let row_ptr =
        UninitOutput::new(nrows + 1, "row pointers")?.fill(threads, NAME, of_a.len() + 1, start, || Ok(()), fill)?;
    let blocks = blocks(nrows, &|r| (row_ptr[r] + r) as u64)?;
    let start = |t: usize| t.checked_sub(1).map_or(0, |t| row_ptr[blocks[t].end]);
    let cols = UninitOutput::new(nnz, "column indices")?.fill(
        threads,
        NAME,
        blocks.len(),
        start,
        || Ok(()),
        |(), t, cols| {
            let mut cols = cols.rest(I::default());
            each_row(a, b, blocks[t].clone(), |of_a, of_b| {
                let (row, rest) = std::mem::take(&mut cols).split_at_mut(of_a.len() * of_b.len());
                columns(row, &a.col_idx()[of_a], &b.col_idx()[of_b], b.ncols());
                cols = rest;
            });
            Ok(())
        },
    )?;
    Ok(Pattern::from_parts(nrows, ncols, row_ptr, cols, nnz == 0 || a.is_sorted() && b.is_sorted()))
}

/// Calls `f` with the entries of A and of B whose products make up each of some rows of C.
#[inline(always)]
fn each_row<I: Index>(
    a: &Pattern<I>,
    b: &Pattern<I>,
    rows: Range<usize>,
    mut f: impl FnMut(Range<usize>, Range<usize>),
) {
    let Some(mut k) = rows.start.checked_rem(b.nrows()) else { return };
    let mut i = rows.start / b.nrows();
    for _ in rows {
        f(a.row_ptr()[i]..a.row_ptr()[i + 1], b.row_ptr()[k]..b.row_ptr()[k + 1]);
        k += 1;
        if k == b.nrows() {
            (i, k) = (i + 1, 0);
        }
    }
}

fn product(what: &'static str, x: usize, y: usize, max: usize) -> Result<usize> {
    x.checked_mul(y).filter(|&needed| needed <= max).ok_or(Error::IndexOverflow {
        what,
        needed: x as u128 * y as u128,
        max: max as u128,
    })
}
