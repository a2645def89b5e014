//! C = A ⊕.⊗ B with few products: expanded into one buffer, sorted, compressed (ESC).
//!
//! Whole rows are gathered until the buffer is full; one run of ⊗ multiplies them and one run of ⊕ folds them. A small
//! matrix costs a few runs of the operators and no plan. The products of an entry are folded from the identity in the
//! order of k, so the values are bitwise those of every other algorithm.
//!
//! Source: Bell, Dalton, Olson 2012, "Exposing fine-grained parallelism in algebraic multigrid methods" (expansion,
//! sorting, compression).

use super::by_formula::{Operand, check, with_type};
use super::fold::fold_each;
use super::staged::{MulRow, Multiplier, Piece, Pieces};
use super::unfused::no_structs;
use super::{BLOCK, CompiledRing, Fold};
use crate::algebra::words::from_words;
use crate::algebra::{Array, Word};
use crate::par::reserved;
use crate::{Index, Pattern, Result};

/// Maximum rows of A and maximum flops of a small product.
const ROWS: usize = 1 << 10;
const PRODUCTS: usize = 1 << 10;

/// Maximum flops over a semiring with fused loops, which win above it (6.7 µs against 9.4 for 517 products of 64
/// rows).
const FUSED: usize = 1 << 8;

/// The number of multiplications; `None` if A has more than [`ROWS`] rows or `most` entries, or if C takes more than
/// `most` multiplications, or a row of it more than [`BLOCK`].
fn small_flops(a: &Pattern, b: &Pattern, most: usize) -> Option<usize> {
    if a.nrows() > ROWS || a.nnz() > most {
        return None;
    }
    let (mut flops, ptr) = (0, b.row_ptr());
    for row in a.row_ptr().windows(2) {
        let of_row: usize = a.col_idx()[row[0]..row[1]].iter().map(|k| ptr[k.get() + 1] - ptr[k.get()]).sum();
        flops += of_row;
        if of_row > BLOCK || flops > most {
            return None;
        }
    }
    Some(flops)
}

/// C = A ⊕.⊗ B, rows sorted, with the number of multiplications. `None` if A has more than 1024 rows, C takes more than
/// 1024 multiplications (256 if the semiring has fused loops), or a row takes more than 128.
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) if ⊗ takes other types;
/// [`Error::Unsupported`](crate::Error::Unsupported) for results that are structs;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
/// # Panics
/// If B does not have one row per column of A.
pub(crate) fn small_product(
    ring: &CompiledRing,
    a: Operand<'_>,
    b: Operand<'_>,
) -> Option<Result<(Pattern, Array, u64)>> {
    let most = if ring.fused().is_some() { FUSED } else { PRODUCTS };
    let flops = small_flops(a.pattern, b.pattern, most)?;
    Some(product(ring, a, b, flops).map(|(c, values)| (c, values, flops as u64)))
}

fn product(ring: &CompiledRing, a: Operand<'_>, b: Operand<'_>, flops: usize) -> Result<(Pattern, Array)> {
    check(ring.formula(), a.values.ty(), b.values.ty())?;
    with_type!(ring.ty(), T => {
        let kernels = ring.unfused::<T>()?;
        let (c, words) = words(kernels.fold(), kernels, a, b, flops)?;
        // SAFETY: 1. every word is the identity of ⊕, written over it by ⊗, or a result of ⊕ on these; 2. ⊕ and ⊗ are
        // on T and ⊗ takes the operands' types (`check`).
        Ok((c, Array::of(unsafe { from_words::<T>(words) })))
    }, Err(no_structs()))
}

/// C and the words of its values.
fn words<W: Word>(
    fold: &dyn Fold<W>,
    mul: &dyn MulRow<W>,
    a: Operand<'_>,
    b: Operand<'_>,
    flops: usize,
) -> Result<(Pattern, Vec<W>)> {
    let (mut values, zs) = (reserved(flops, "values of C")?, [fold.identity(); BLOCK]);
    let mut c = Ok(None);
    mul.with(&mut |mul| {
        c = expand(a, b, flops, &mut Gathered { fold, mul, zs, sorted: zs, values: &mut values }).map(Some)
    });
    match c? {
        Some(c) => Ok((c, values)),
        None => unreachable!("`with` did not run its closure"),
    }
}

/// Typed products.
trait Products {
    /// Folds products into entries of C. In the order of `keys` the products of an entry are consecutive and end at its
    /// element of `ends`.
    fn finish(&mut self, products: Pieces<'_>, keys: &[u64], ends: &[usize]);
}

struct Gathered<'a, W> {
    fold: &'a dyn Fold<W>,
    mul: &'a mut dyn Multiplier<W>,
    /// In order of multiplication.
    zs: [W; BLOCK],
    /// In order of rows and columns.
    sorted: [W; BLOCK],
    values: &'a mut Vec<W>,
}

impl<W: Word> Products for Gathered<'_, W> {
    fn finish(&mut self, products: Pieces<'_>, keys: &[u64], ends: &[usize]) {
        let n = products.js.len();
        let (zs, sorted) = (&mut self.zs[..n], &mut self.sorted[..n]);
        self.mul.multiply_pieces(products, zs);
        sorted.iter_mut().zip(keys).for_each(|(z, key)| *z = zs[(key & ((1 << BITS) - 1)) as usize]);
        let done = self.values.len();
        self.values.resize(done + ends.len(), self.fold.identity());
        fold_each(self.fold, ends, sorted, &mut self.values[done..]);
    }
}

/// Bits of a product's index.
const BITS: u32 = BLOCK.ilog2();

/// The pattern of C; passes the products of as many whole rows as fit a buffer to `products` at a time.
fn expand(a: Operand<'_>, b: Operand<'_>, flops: usize, products: &mut dyn Products) -> Result<Pattern> {
    let (pa, pb) = (a.pattern, b.pattern);
    let mut row_ptr = reserved(pa.nrows() + 1, "row pointers of C")?;
    let mut cols = reserved(flops, "columns of C")?;
    row_ptr.push(0);
    // Column of each product, and its sort key: the column with the product's index in the low bits.
    let (mut js, mut keys, mut ends) = ([0u32; BLOCK], [0u64; BLOCK], [0; BLOCK]);
    let mut pieces = [Piece::default(); BLOCK];
    let mut row = 0;
    while row < pa.nrows() {
        // A single row always fits (`small_flops`).
        let (first, mut n, mut count) = (row, 0, 0);
        while row < pa.nrows() {
            let entries = pa.row_ptr()[row]..pa.row_ptr()[row + 1];
            let rows_of_b = || pa.col_idx()[entries.clone()].iter().map(|k| (k.get(), pb.row(k.get())));
            if n + rows_of_b().map(|(_, row)| row.len()).sum::<usize>() > BLOCK {
                break;
            }
            let start = n;
            for (p, (k, columns)) in entries.clone().zip(rows_of_b()).filter(|(_, (_, row))| !row.is_empty()) {
                js[n..n + columns.len()].copy_from_slice(columns);
                pieces[count] = Piece { i: row, k, p, q: pb.row_ptr()[k], n: columns.len() };
                (n, count) = (n + columns.len(), count + 1);
            }
            for ((key, &j), at) in keys[start..n].iter_mut().zip(&js[start..n]).zip(start as u64..) {
                *key = u64::from(j) << BITS | at;
            }
            // The index in the key makes the sort stable: products of one column keep their order.
            keys[start..n].sort_unstable();
            row += 1;
            row_ptr.push(n);
        }
        debug_assert!(row > first);
        let (mut entries, mut start) = (0, 0);
        for end in &mut row_ptr[first + 1..] {
            let mut last = None;
            for (key, s) in keys[start..*end].iter().zip(start..) {
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
        let (xs, ys, pieces) = (a.values, b.values, &pieces[..count]);
        products.finish(Pieces { xs, ys, pieces, js: &js[..n] }, &keys[..n], &ends[..entries]);
    }
    Ok(Pattern::from_parts(pa.nrows(), pb.ncols(), row_ptr, cols, true))
}
