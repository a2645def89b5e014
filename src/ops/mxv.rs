//! y = A ⊕.⊗ x: a sparse matrix times a dense vector.

use std::ops::Range;

use super::blocks::stride;
use crate::algebra::{At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, Rhs, Semiring, V};
use crate::simd::{FloatRows, RowsOf};
use crate::{Csr, Index};

/// Maximal ranges of consecutive allowed indices.
pub(super) fn runs(block: Range<usize>, allows: impl Fn(usize) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut at = block.start;
    std::iter::from_fn(move || {
        let start = (at..block.end).find(|&i| allows(i))?;
        at = (start..block.end).find(|&i| !allows(i)).unwrap_or(block.end);
        Some(start..at)
    })
}

/// `y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ …` over the entries of row i, for some rows, `e` the identity of ⊕; an empty row yields
/// `e`.
///
/// A positional ⊗ sees (i, k, 0). A row is folded in storage order, and the fold stops soon after reaching the terminal
/// value of ⊕. `PlusTimes` of f32 and f64 keeps eight independent partial sums per row instead, to break the dependency
/// chain: sum s has the entries s, s + 8, … of the row, starting from 0, and the row is ((s₀ + s₁) + (s₂ + s₃)) +
/// ((s₄ + s₅) + (s₆ + s₇)). Either way the result is bitwise the same on every processor, for any number of threads and
/// under any mask.
pub(super) fn rows<R: Semiring, I: Index>(
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: &[Rhs<R>],
    rows: Range<usize>,
    y: &mut [Out<R>],
) {
    if let Some(floats) = FloatRows::new(ring) {
        return floats.rows((a.pattern(), a.values()), x, rows, y);
    }
    let (add, mul, of) = (ring.add(), ring.mul(), RowsOf::new(a.pattern(), a.values()));
    let product = |i: usize, k: I, value| {
        mul.mul::<Host>(V(value), V(x[k.get()]), At { i: V(i as u64), k: V(k.get() as u64), j: V(0) })
    };
    if <R::Add as Monoid>::IS_LAST {
        for (i, y) in rows.zip(y) {
            let (ks, values) = of.row(i);
            let last = ks.last().zip(values.last()).map(|(&k, &value)| product(i, k, value).0);
            *y = last.unwrap_or(<R::Add as Monoid>::IDENTITY);
        }
        return;
    }
    let terminal = <R::Add as Monoid>::TERMINAL;
    for (i, y) in rows.zip(y) {
        let (ks, values) = of.row(i);
        let mut sum = <R::Add as Monoid>::IDENTITY;
        for (ks, values) in ks.chunks(stride(&terminal)).zip(values.chunks(stride(&terminal))) {
            for (&k, &value) in ks.iter().zip(values) {
                sum = add.apply::<Host>(V(sum), product(i, k, value)).0;
            }
            if terminal.is_some_and(|t| sum == t) {
                break;
            }
        }
        *y = sum;
    }
}
