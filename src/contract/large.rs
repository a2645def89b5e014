//! Which contractions are computed as a whole, each step by all threads, and not block by block of the result.
//!
//! Blocks of the result suit batches of small tensors: what lies between steps stays in the cache. Where one operand is
//! read again for each block and does not fit there, or where few results have many terms, steps are better cut by
//! themselves. A pure function of extents and strides.

use super::einsum::INDICES;
use super::pairs::Pairs;
use super::path::{Set, members, size};
use super::tables::Shape;

/// Elements of the larger one of two matrices, and of the smaller one if only rows of the larger one are cut: it stays
/// in the second cache.
const LARGE: f64 = (1 << 15) as f64;
const SMALLER: f64 = (1 << 17) as f64;
/// Terms of a fold for which packing pays.
const TERMS: f64 = 16.0;
/// Terms of all folds, or of a matrix times a vector, that are worth a step of their own, and terms of one fold.
pub(super) const WORTH: f64 = (1 << 15) as f64;
const LONG: f64 = 32.0;
/// What lies between steps is at most so many times as large as operands and result.
const BETWEEN: f64 = 2.0;

/// Whether the contraction of two operands with these indices, or of one, is large; blocks of the result would be cut
/// along `cut`.
fn step(a: Set, b: Set, c: Set, cut: Set, extents: &[usize; INDICES]) -> bool {
    let of = |set: Set| size(set, extents);
    let (rows, columns) = (c & a & !b, c & b & !a);
    let (m, n, k) = (of(rows), of(columns), of((a | b) & !c));
    let (less, more, short) = if m < n { (m, n, rows) } else { (n, m, columns) };
    if less > 1.0 {
        let again = less * k >= SMALLER || short & cut != 0;
        k >= TERMS && more * k >= LARGE && again
    } else if more > 1.0 {
        k >= LONG && more * k >= WORTH
    } else {
        k >= LONG && of(a | b) >= WORTH
    }
}

/// Whether the whole contraction is: nearly all of its terms are those of large steps, each element of an index lies in
/// a place of its own, and what lies between steps is no larger than what is read and written.
pub(super) fn contraction(
    operands: &[Shape],
    met: &Pairs,
    sums: &[Set],
    (result, cut): (&Shape, Option<u8>),
    extents: &[usize; INDICES],
) -> bool {
    let (n, steps) = (operands.len(), met.order.len());
    let cut = cut.map_or(0, |i| 1 << i);
    let (mut all, mut large, mut between) = (0.0, 0.0, 0.0);
    let mut count = |a: Set, b: Set, c: Set, is_last: bool| {
        let terms = size(a | b, extents);
        all += terms;
        large += if step(a, b, c, cut, extents) { terms } else { 0.0 };
        between += if is_last { 0.0 } else { size(c, extents) };
    };
    for (k, operand) in operands.iter().enumerate() {
        if n == 1 {
            count(operand.set, 0, result.set, true);
        } else if sums[k] != operand.set {
            count(operand.set, 0, sums[k], false);
        }
    }
    for (t, &(i, j)) in met.order.iter().enumerate() {
        let c = if t + 1 == steps { result.set } else { met.kept[n + t] };
        count(met.kept[i], met.kept[j], c, t + 1 == steps);
    }
    // NaN where an extent is 0 and others are beyond all numbers.
    let is_most = large > 0.9 * all;
    let lies = |&i: &u8| operands.iter().any(|x| x.set >> i & 1 == 1 && x.stride(i) != 0);
    let indices = operands.iter().fold(0, |set, x| set | x.set);
    let own: f64 = operands.iter().map(|x| size(x.set, extents)).sum::<f64>() + size(result.set, extents);
    is_most && between <= BETWEEN * own && members(indices).filter(|&i| extents[usize::from(i)] > 1).all(|i| lies(&i))
}
