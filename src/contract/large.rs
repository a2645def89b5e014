//! Which contractions are computed as a whole, each step by all threads, rather than by blocks of the result.
//!
//! Blocks of the result suit batches of small tensors, because intermediates stay in the cache. Where each block would
//! reread an operand that exceeds the cache, or where few results have many terms, it is better to parallelize each
//! step. A pure function of extents and strides.

use super::einsum::INDICES;
use super::pairs::Pairs;
use super::path::{Set, members, size};
use super::tables::Shape;

/// Least elements of the larger of two matrices; and of the smaller one, if only rows of the larger one are cut: below
/// that it stays in the second-level cache.
const LARGE: f64 = (1 << 15) as f64;
const SMALLER: f64 = (1 << 17) as f64;
/// Terms of a fold for which packing pays.
const TERMS: f64 = 16.0;
/// Least terms of all folds, or of a matrix-vector product, that justify a separate step; and least terms of one fold.
pub(super) const WORTH: f64 = (1 << 15) as f64;
const LONG: f64 = 32.0;
/// Most intermediate memory, relative to operands and result.
const INTERMEDIATES: f64 = 2.0;

/// Whether the contraction of two operands with these indices, or of one, is large; `cut` are the indices along which
/// blocks of the result would be cut.
fn step(a: Set, b: Set, c: Set, cut: Set, extents: &[usize; INDICES]) -> bool {
    let of = |set: Set| size(set, extents);
    let (rows, columns) = (c & a & !b, c & b & !a);
    let (m, n, k) = (of(rows), of(columns), of((a | b) & !c));
    let (less, more, short) = if m < n { (m, n, rows) } else { (n, m, columns) };
    if less > 1.0 {
        let rereads = less * k >= SMALLER || short & cut != 0;
        k >= TERMS && more * k >= LARGE && rereads
    } else if more > 1.0 {
        k >= LONG && more * k >= WORTH
    } else {
        k >= LONG && of(a | b) >= WORTH
    }
}

/// Whether the whole contraction is large: large steps have nearly all of its terms, every index has a nonzero stride
/// in some operand, and intermediates are at most twice as large as operands and result.
pub(super) fn contraction(
    operands: &[Shape],
    tree: &Pairs,
    sums: &[Set],
    (result, cut): (&Shape, Option<u8>),
    extents: &[usize; INDICES],
) -> bool {
    let (n, steps) = (operands.len(), tree.order.len());
    let cut = cut.map_or(0, |i| 1 << i);
    let (mut all, mut large, mut intermediates) = (0.0, 0.0, 0.0);
    let mut count = |a: Set, b: Set, c: Set, is_last: bool| {
        let terms = size(a | b, extents);
        all += terms;
        large += if step(a, b, c, cut, extents) { terms } else { 0.0 };
        intermediates += if is_last { 0.0 } else { size(c, extents) };
    };
    for (k, operand) in operands.iter().enumerate() {
        if n == 1 {
            count(operand.set, 0, result.set, true);
        } else if sums[k] != operand.set {
            count(operand.set, 0, sums[k], false);
        }
    }
    for (t, &(i, j)) in tree.order.iter().enumerate() {
        let c = if t + 1 == steps { result.set } else { tree.remaining[n + t] };
        count(tree.remaining[i], tree.remaining[j], c, t + 1 == steps);
    }
    // NaN where one extent is 0 and the product of others overflows.
    let is_most = large > 0.9 * all;
    let lies = |&i: &u8| operands.iter().any(|x| x.set >> i & 1 == 1 && x.stride(i) != 0);
    let indices = operands.iter().fold(0, |set, x| set | x.set);
    let own: f64 = operands.iter().map(|x| size(x.set, extents)).sum::<f64>() + size(result.set, extents);
    is_most
        && intermediates <= INTERMEDIATES * own
        && members(indices).filter(|&i| extents[usize::from(i)] > 1).all(|i| lies(&i))
}
