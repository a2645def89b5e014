//! C = A ⊕.⊗ B of few products: expanded into one buffer, sorted, compressed.
//!
//! Whole rows are gathered until the buffer is full; one run of ⊗ multiplies them and one run of ⊕ folds them, so that a small matrix
//! costs a few runs of the operators and no plan. The products of an entry are folded in the order of k, from the identity on: the
//! values have the bits of every other product.
//!
//! Source: Bell, Dalton, Olson 2012, "Exposing fine-grained parallelism in algebraic multigrid methods" (expansion, sorting,
//! compression).

use super::by_formula::{Operand, check, with_type};
use super::staged::{Factors, MulRow};
use super::two_steps::no_structs;
use super::{BLOCK, CompiledRing, Fold};
use crate::algebra::words::from_words;
use crate::algebra::{Array, Word};
use crate::num_complex::Complex;
use crate::par::reserved;
use crate::{Index, Pattern, Result};

/// Rows of A and products of a small product at most.
const ROWS: usize = 1 << 10;
const PRODUCTS: usize = 1 << 10;

/// The number of multiplications, if the product is a small one: no row of it has more than [`BLOCK`] of them.
pub(crate) fn small_flops(a: &Pattern, b: &Pattern) -> Option<usize> {
    if a.nrows() > ROWS || a.nnz() > PRODUCTS {
        return None;
    }
    let (mut flops, ptr) = (0, b.row_ptr());
    for row in a.row_ptr().windows(2) {
        let of_row: usize = a.col_idx()[row[0]..row[1]].iter().map(|k| ptr[k.get() + 1] - ptr[k.get()]).sum();
        flops += of_row;
        if of_row > BLOCK || flops > PRODUCTS {
            return None;
        }
    }
    Some(flops)
}

/// C = A ⊕.⊗ B of so many multiplications as [`small_flops`] says, rows sorted.
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) if ⊗ takes other types; [`Error::Unsupported`](crate::Error::Unsupported) for results
/// that are structs; [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(crate) fn small_product(
    ring: &CompiledRing,
    a: Operand<'_>,
    b: Operand<'_>,
    flops: usize,
) -> Result<(Pattern, Array)> {
    check(ring.formula(), a.values.ty(), b.values.ty())?;
    with_type!(ring.ty(), T => {
        let kernels = ring.two_steps::<T>()?;
        let (c, words) = product(kernels.fold(), kernels, a, b, flops)?;
        // SAFETY: 1. `product` has no other words than the identity of ⊕, what ⊗ wrote over it, and what ⊕ made of these; 2. ⊕ and ⊗
        // are on T and ⊗ takes the operands' types (`check`).
        Ok((c, Array::of(unsafe { from_words::<T>(words) })))
    }, Err(no_structs()))
}

/// Rows in the buffer.
struct Expanded<W> {
    /// The row's column and, in the last bits, where its product is.
    keys: [u64; BLOCK],
    js: [u32; BLOCK],
    zs: [W; BLOCK],
    /// Products in the order of rows and columns, and where those of an entry of C end.
    sorted: [W; BLOCK],
    ends: [usize; BLOCK],
}

fn product<W: Word>(
    fold: &dyn Fold<W>,
    mul: &dyn MulRow<W>,
    a: Operand<'_>,
    b: Operand<'_>,
    flops: usize,
) -> Result<(Pattern, Vec<W>)> {
    let (pa, pb, identity) = (a.pattern, b.pattern, fold.identity());
    let mut row_ptr = reserved(pa.nrows() + 1, "row pointers of C")?;
    let (mut cols, mut values) = (reserved(flops, "columns of C")?, reserved(flops, "values of C")?);
    row_ptr.push(0);
    let mut buffer = Expanded {
        keys: [0; BLOCK],
        js: [0; BLOCK],
        zs: [identity; BLOCK],
        sorted: [identity; BLOCK],
        ends: [0; BLOCK],
    };
    mul.with(&mut |mul| {
        let Expanded { keys, js, zs, sorted, ends } = &mut buffer;
        let mut row = 0;
        while row < pa.nrows() {
            // Whole rows that fit, the first one in any case.
            let (first, mut n) = (row, 0);
            while row < pa.nrows() {
                let entries = pa.row_ptr()[row]..pa.row_ptr()[row + 1];
                let rows_of_b = || pa.col_idx()[entries.clone()].iter().map(|k| (k.get(), pb.row(k.get())));
                if n + rows_of_b().map(|(_, row)| row.len()).sum::<usize>() > BLOCK {
                    break;
                }
                let start = n;
                for (p, (k, columns)) in entries.clone().zip(rows_of_b()).filter(|(_, (_, row))| !row.is_empty()) {
                    js[n..n + columns.len()].copy_from_slice(columns);
                    let (x, q) = (a.values.part(p..p + 1), pb.row_ptr()[k]);
                    let ys = b.values.part(q..q + columns.len());
                    mul.push(n, Factors { i: row, k, x, js: columns, ys });
                    n += columns.len();
                }
                for ((key, &j), at) in keys[start..n].iter_mut().zip(&js[start..n]).zip(start as u64..) {
                    *key = u64::from(j) << BITS | at;
                }
                // Products of one column stay in their order.
                keys[start..n].sort_unstable();
                row += 1;
                row_ptr.push(n);
            }
            mul.multiply_pushed(&js[..n], &mut zs[..n]);
            let (mut entries, mut start) = (0, 0);
            for end in &mut row_ptr[first + 1..] {
                let mut last = None;
                for (key, s) in keys[start..*end].iter().zip(start..) {
                    sorted[s] = zs[(key & (1 << BITS) - 1) as usize];
                    let j = (key >> BITS) as u32;
                    if last != Some(j) {
                        cols.push(j);
                        entries += 1;
                        last = Some(j);
                    }
                    ends[entries - 1] = s + 1;
                }
                start = *end;
                *end = cols.len();
            }
            let from = values.len();
            values.resize(from + entries, identity);
            fold.dots(&ends[..entries], &sorted[..n], &mut values[from..]);
        }
    });
    Ok((Pattern::from_parts(pa.nrows(), pb.ncols(), row_ptr, cols, true), values))
}

/// Bits of a position in the buffer.
const BITS: u32 = BLOCK.ilog2();
