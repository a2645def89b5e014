//! Rows of C that are the row before, moved by some columns, since the rows of A and B behind them are.

use super::moved::Moved;
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
    /// Which rows of B are moved, where nearly all are.
    pub moved: Option<&'a Moved<I>>,
}

/// Rows of C that are the row before, moved by some columns: on grids most are, and where several unknowns sit at a
/// point.
pub(super) struct Twins {
    first: usize,
    /// Rows in a row that were none.
    misses: u32,
    /// Rows that are not looked at.
    wait: u32,
    pub(super) by: Shift,
}

impl Twins {
    /// Rows not looked at, at most.
    const MAX_WAIT: u32 = 31;

    pub(super) fn new<I: Index>(first: usize) -> Self {
        Self { first, misses: 0, wait: 0, by: Shift::new::<I>() }
    }
    /// By how much row `i` of C is moved, if it is seen to be the row before, which was asked about in its turn.
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

/// Some of `n` rows. By the golden ratio: equal steps would fall on the edge of a grid again and again.
pub(super) fn some(n: usize) -> impl Iterator<Item = usize> {
    const LOOKS: usize = 64;
    let part = |s: usize| (s as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..n.min(LOOKS)).map(move |s| ((u128::from(part(s)) * n as u128) >> 64) as usize)
}

/// Whether nearly all rows of C are the row before, moved, so that compressing B is not worth it: 7 of 8, by a look at
/// 64 of them. By how many columns most of these rows of A are moved, if so.
pub(super) fn repeats<I: Index>(a: &Pattern<I>, b: &Pattern<I>) -> Option<I> {
    let (of, rows) = (Operands { a, b, packed: None, moved: None }, a.nrows().saturating_sub(1));
    let moved = |&i: &usize| !a.row(i + 1).is_empty() && shift(Shift::new::<I>(), of, i + 1).is_some();
    let enough = some(rows).filter(moved).count() * 8 > some(rows).count() * 7;
    let step = |i: usize| Some(a.row(i + 1).first()?.wrapping_sub(*a.row(i).first()?));
    let often = |of: I| some(rows).filter(|&i| step(i) == Some(of)).count();
    if enough { some(rows).filter_map(step).max_by_key(|&of| often(of)) } else { None }
}

/// By how much row `i` of C is moved from the row before, if the rows of B that they take are, entry by entry.
#[inline(always)]
fn shift<I: Index>(rows: Shift, of: Operands<'_, I>, i: usize) -> Option<I> {
    let (ks, before, b) = (of.a.row(i), of.a.row(i - 1), RowsOf::without_values(of.b));
    if ks.len() != before.len() {
        return None;
    }
    if let Some(moved) = of.moved
        && rows.is(ks, before, moved.step)
    {
        return moved.all(ks);
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
