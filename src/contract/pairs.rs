//! The first part of planning, common to all backends: the shapes of an expression, the order of its pairs, and the
//! indices that each pair leaves.

use super::einsum::{BATCH, Einsum, INDICES};
use super::layout::Layout;
use super::path::{Set, path, size};
use super::subscripts::Term;
use super::tables::Shape;
use super::view::Viewed;
use crate::par::{collected, reserved};
use crate::{Error, Result};

/// The shapes of the operands and of a result of this layout, by index number.
/// # Errors
/// [`Error::Dims`] if the result has other extents, [`Error::Length`] if it has another number of tensors;
/// [`Error::OutOfMemory`].
pub(crate) fn shapes<T, V: Viewed>(einsum: &Einsum<'_, T, V>, out: &Layout) -> Result<(Vec<Shape>, Shape)> {
    let (extents, batch) = einsum.result();
    if out.extents() != extents {
        return Err(Error::Dims { op: "einsum", lhs: extents, rhs: out.extents().to_vec() });
    }
    if out.batch() != batch {
        return Err(Error::Length { what: "batch of the result", found: out.batch(), expected: batch });
    }
    let mut result = Shape::new(out.offset());
    let letters = einsum.subscripts.result.letters.iter().zip(out.strides());
    letters.for_each(|(l, &stride)| result.with(l.0, stride));
    if batch != 1 {
        result.with(BATCH, out.batch_stride());
    }
    let operands = einsum.subscripts.operands.iter().zip(&einsum.operands).map(|(term, x)| {
        let mut shape = Shape::new(x.layout().offset());
        term.letters.iter().zip(x.layout().strides()).for_each(|(l, &stride)| shape.with(l.0, stride));
        if x.layout().differs() {
            shape.with(BATCH, x.layout().batch_stride());
        }
        shape
    });
    Ok((collected(einsum.operands.len(), operands, "steps")?, result))
}

/// The indices of each operand and of the result; the batch is one of them where a tensor has several.
pub(crate) fn sets<T, V: Viewed>(einsum: &Einsum<'_, T, V>) -> (Vec<Set>, Set) {
    let of = |term: &Term| term.letters.iter().fold(0, |set: Set, l| set | 1 << l.0);
    let with = |set: Set, several: bool| if several { set | 1 << BATCH } else { set };
    let operands = einsum.subscripts.operands.iter().zip(&einsum.operands);
    let sets = operands.map(|(term, x)| with(of(term), x.layout().differs()));
    (sets.collect(), with(of(&einsum.subscripts.result), einsum.extents[usize::from(BATCH)] != 1))
}

/// Indices in order of appearance, the batch first: folds iterate in this order, the last fastest.
pub(crate) fn order_of<T, V>(einsum: &Einsum<'_, T, V>) -> Vec<u8> {
    let mut order = vec![BATCH];
    for (index, _) in einsum.subscripts.operands.iter().flat_map(|term| &term.letters) {
        if !order.contains(index) {
            order.push(*index);
        }
    }
    order
}

/// The contraction tree of the operands.
#[derive(Debug)]
pub(crate) struct Pairs {
    /// Pairs of n operands; the k-th pair produces number n + k.
    pub(crate) order: Vec<(usize, usize)>,
    /// The indices of each number: first of operands, without those that only one operand has, which are folded
    /// beforehand; then of results.
    pub(crate) remaining: Vec<Set>,
}

impl Pairs {
    /// For at least one operand.
    pub(crate) fn new(operands: &[Set], result: Set, extents: &[usize; INDICES]) -> Result<Self> {
        let n = operands.len();
        let others = |k: usize| operands.iter().enumerate().filter(|(j, _)| *j != k).fold(result, |s, x| s | x.1);
        let reduced = (0..n).map(|k| if n == 1 { operands[k] } else { operands[k] & others(k) });
        let reduced: Vec<Set> = collected(n, reduced, "steps")?;
        let order = path(&reduced, result, extents)?;
        let mut remaining = reserved(n + order.len(), "steps")?;
        remaining.extend_from_slice(&reduced);
        for (step, &(i, j)) in order.iter().enumerate() {
            let after = order[step + 1..].iter().flat_map(|p| [p.0, p.1]).filter(|&k| k < n + step);
            let rest = after.fold(result, |s, k| s | remaining[k]);
            remaining.push((remaining[i] | remaining[j]) & rest);
        }
        Ok(Self { order, remaining })
    }
    /// The operands of a pair, the larger one first; it provides the rows.
    pub(crate) fn rows_first(&self, (i, j): (usize, usize), extents: &[usize; INDICES]) -> (usize, usize) {
        if size(self.remaining[i], extents) < size(self.remaining[j], extents) { (j, i) } else { (i, j) }
    }
}

/// Whether A, rather than B, provides the columns of C, that is the index of least stride in C.
pub(crate) fn brings_columns(a: &Shape, b: &Shape, c: &Shape, extents: &[usize; INDICES]) -> bool {
    let (in_a, in_b) = c.closest(extents).map_or((false, false), |i| (a.set >> i & 1 == 1, b.set >> i & 1 == 1));
    let bare = c.set & b.set & !a.set == 0;
    in_a && !in_b || in_a == in_b && bare
}
