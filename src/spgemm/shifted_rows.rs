//! Shifted rows of C: a row equals the previous one, shifted by some columns, when its rows of A and B do.

use super::shifted_operand::ShiftedOperandRows;
use crate::simd::{RowsOf, Shift};
use crate::sparse::BitRows;
use crate::{Index, Pattern};

/// The operands of a product.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a, I: Index> {
    pub a: &'a Pattern<I>,
    pub b: &'a Pattern<I>,
    /// B with 64 columns to a word, where that saves work.
    pub packed: Option<&'a BitRows<u64, I>>,
    /// The shifts of B's rows, where nearly all rows are shifted.
    pub shifted_b: Option<&'a ShiftedOperandRows<I>>,
}

/// Finds shifted rows of C: most rows on structured grids, also with several unknowns per point.
pub(super) struct ShiftedRows {
    first: usize,
    /// Consecutive rows that were not shifted.
    misses: u32,
    /// Rows still to skip.
    wait: u32,
    pub(super) by: Shift,
}

impl ShiftedRows {
    /// Most rows skipped at a time.
    const MAX_WAIT: u32 = 31;

    pub(super) fn new<I: Index>(first: usize) -> Self {
        Self { first, misses: 0, wait: 0, by: Shift::new::<I>() }
    }
    /// The shift of row `i` of C from the previous row, if found. Rows are queried in order.
    #[inline(always)]
    pub(super) fn shift<I: Index>(&mut self, of: Operands<'_, I>, i: usize) -> Option<I> {
        if i == self.first || self.wait > 0 {
            self.wait = self.wait.saturating_sub(1);
            return None;
        }
        let found = shift(self.by, of, i);
        if found.is_some() {
            self.misses = 0;
        } else {
            self.misses += 1;
            self.wait = ((1 << (self.misses - 1).min(8)) - 1).min(Self::MAX_WAIT);
        }
        found
    }
}

/// A sample of at most 64 of `n` rows, spaced by the golden ratio: equal steps would repeatedly hit the edge of a grid.
pub(super) fn sample(n: usize) -> impl Iterator<Item = usize> {
    const SAMPLES: usize = 64;
    let part = |s: usize| (s as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..n.min(SAMPLES)).map(move |s| ((u128::from(part(s)) * n as u128) >> 64) as usize)
}

/// The most frequent shift of the rows of A, if at least 7 of 8 rows in a sample of 64 rows of C are shifted.
/// Compressing B does not pay then.
pub(super) fn repeats<I: Index>(a: &Pattern<I>, b: &Pattern<I>) -> Option<I> {
    let (of, rows) = (Operands { a, b, packed: None, shifted_b: None }, a.nrows().saturating_sub(1));
    let shifted = |&i: &usize| !a.row(i + 1).is_empty() && shift(Shift::new::<I>(), of, i + 1).is_some();
    let enough = sample(rows).filter(shifted).count() * 8 > sample(rows).count() * 7;
    let step = |i: usize| Some(a.row(i + 1).first()?.wrapping_sub(*a.row(i).first()?));
    let frequency = |of: I| sample(rows).filter(|&i| step(i) == Some(of)).count();
    if enough { sample(rows).filter_map(step).max_by_key(|&of| frequency(of)) } else { None }
}

/// The shift of row `i` of C from the previous row, if the rows of B behind both are shifted, entry by entry.
#[inline(always)]
fn shift<I: Index>(rows: Shift, of: Operands<'_, I>, i: usize) -> Option<I> {
    let (ks, before, b) = (of.a.row(i), of.a.row(i - 1), RowsOf::without_values(of.b));
    if ks.len() != before.len() {
        return None;
    }
    if let Some(shifted) = of.shifted_b
        && rows.is(ks, before, shifted.step)
    {
        return shifted.all(ks);
    }
    if rows.is(ks, before, I::cast(0)) {
        return Some(I::cast(0));
    }
    let mut by = None;
    for (k, l) in ks.iter().zip(before) {
        let ((js, _), (ls, _)) = (b.row(k.get()), b.row(l.get()));
        if let (Some(j), Some(l), None) = (js.first(), ls.first(), by) {
            by = Some(j.wrapping_sub(*l));
        }
        if !rows.is(js, ls, by.unwrap_or_default()) {
            return None;
        }
    }
    Some(by.unwrap_or_default())
}
