//! ⊕ known only at run time, as an operator on blocks of values.
//!
//! Up to [`BLOCK`] distinct results are gathered, combined with their products, and scattered back. The fold has the
//! order of the products: a repeated result ends the block.

use super::{BLOCK, Fold};
use crate::algebra::Word;

/// z ⊕ x for a block of values.
///
/// # Safety
/// There is one type of value, with memory `W`, such that the words written are of it, provided those passed in are.
pub(crate) unsafe trait Combine<W: Word>: Send + Sync {
    /// `zs[s]` = `zs[s]` ⊕ `xs[s]`, for at most [`BLOCK`] elements.
    fn combine(&self, zs: &mut [W], xs: &[W]);
    /// z ⊕ x₁ ⊕ x₂ …, in order.
    fn fold(&self, z: W, xs: &[W]) -> W {
        let mut z = [z];
        for x in xs {
            self.combine(&mut z, std::slice::from_ref(x));
        }
        z[0]
    }
}

/// [`fold_each`](super::fold::fold_each) across rows: each step folds the next product of every unfinished row, so a
/// batch of short rows takes as many steps as its longest row.
pub(super) fn fold_each_at_once<W: Word>(add: &dyn Combine<W>, identity: W, ends: &[usize], zs: &[W], y: &mut [W]) {
    assert!(ends.len() <= BLOCK);
    // Unfinished rows: the row, its next product, and the end of its products.
    let (mut rows, mut n, mut start) = ([(0, 0, 0); BLOCK], 0, 0);
    for (r, &end) in ends.iter().enumerate() {
        if start < end {
            rows[n] = (r, start, end);
            n += 1;
        }
        start = end;
    }
    let (mut old, mut new) = ([identity; BLOCK], [identity; BLOCK]);
    let mut rows = &mut rows[..n];
    while !rows.is_empty() {
        let n = rows.len();
        for ((old, new), (r, at, _)) in old.iter_mut().zip(&mut new).zip(&mut *rows) {
            (*old, *new) = (y[*r], zs[*at]);
            *at += 1;
        }
        add.combine(&mut old[..n], &new[..n]);
        for (&z, (r, ..)) in old.iter().zip(&*rows) {
            y[*r] = z;
        }
        // Compacts the unfinished rows to the front.
        let mut left = 0;
        for s in 0..n {
            if rows[s].1 < rows[s].2 {
                rows[left] = rows[s];
                left += 1;
            }
        }
        rows = &mut rows[..left];
    }
}

/// Maximum number of products for the small gather buffers.
const SHORT: usize = 16;

/// A monoid given by its operator on blocks.
pub(crate) struct Blocks<W, C> {
    combine: C,
    identity: W,
    terminal: Option<W>,
    same: fn(W, W) -> bool,
}

impl<W: Word, C: Combine<W>> Blocks<W, C> {
    /// The monoid of this operator, identity and terminal value; `same` compares with the terminal value.
    /// # Safety
    /// The words are of the operator's type, and `same` takes words of it.
    pub(crate) unsafe fn new(combine: C, identity: W, terminal: Option<W>, same: fn(W, W) -> bool) -> Self {
        Self { combine, identity, terminal, same }
    }

    /// `into[slot]` ⊕= z for each product, in order; `slot(j)` is the slot of column j, out of range if it has none.
    #[inline(always)]
    fn gather(&self, into: &mut [W], js: &[u32], zs: &[W], slot: impl Fn(usize) -> usize) {
        assert!(js.len() == zs.len());
        let (mut slots, mut end) = ([0; BLOCK], 0);
        while end < js.len() {
            let start = end;
            for to in &mut slots {
                // Increasing columns are distinct, and so are their slots.
                if end == js.len() || end > start && js[end] <= js[end - 1] {
                    break;
                }
                *to = slot(js[end] as usize);
                end += 1;
            }
            combine_at(&self.combine, self.identity, into, &mut slots[..end - start], &zs[start..end]);
        }
    }
}

/// `into[slot]` ⊕= z for distinct slots; slots out of range are skipped.
fn combine_at<W: Word>(add: &dyn Combine<W>, identity: W, into: &mut [W], slots: &mut [usize], zs: &[W]) {
    // Initializing buffers of a whole block costs more than folding a few products.
    if zs.len() <= SHORT {
        combine_at_by::<W, SHORT>(add, identity, into, slots, zs);
    } else {
        combine_at_by::<W, BLOCK>(add, identity, into, slots, zs);
    }
}
/// [`combine_at`] with buffers of N products.
fn combine_at_by<W: Word, const N: usize>(
    add: &dyn Combine<W>,
    identity: W,
    into: &mut [W],
    slots: &mut [usize],
    zs: &[W],
) {
    let (mut old, mut new, mut n) = ([identity; N], [identity; N], 0);
    for (s, &z) in zs.iter().enumerate() {
        let slot = slots[s];
        if let Some(&before) = into.get(slot) {
            (slots[n], old[n], new[n]) = (slot, before, z);
            n += 1;
        }
    }
    add.combine(&mut old[..n], &new[..n]);
    for (&slot, &z) in slots[..n].iter().zip(&old) {
        into[slot] = z;
    }
}

// SAFETY: the type is the operator's: the identity is of it (`new`), and `combine` writes only words of it.
unsafe impl<W: Word, C: Combine<W>> Fold<W> for Blocks<W, C> {
    fn identity(&self) -> W {
        self.identity
    }
    fn is_terminal(&self, z: W) -> bool {
        self.terminal.is_some_and(|t| (self.same)(t, z))
    }
    fn to_window(&self, window: &mut [W], js: &[u32], zs: &[W]) {
        let mask = window.len() - 1;
        self.gather(window, js, zs, |j| j & mask);
    }
    fn to_short_positions(&self, row: &mut [W], positions: &[u16], js: &[u32], zs: &[W]) {
        let mask = positions.len() - 1;
        self.gather(row, js, zs, |j| usize::from(positions[j & mask]));
    }
    fn to_positions(&self, row: &mut [W], positions: &[u32], js: &[u32], zs: &[W]) {
        let mask = positions.len() - 1;
        self.gather(row, js, zs, |j| positions[j & mask] as usize);
    }
    fn to_slots(&self, values: &mut [W], slots: &[usize], zs: &[W]) {
        // Slots of an accumulator come in any order. Those of a row of B are distinct; callers need not guarantee it.
        for (&slot, z) in slots.iter().zip(zs) {
            self.combine.combine(&mut values[slot..=slot], std::slice::from_ref(z));
        }
    }
    fn dot(&self, z: W, xs: &[W]) -> W {
        self.combine.fold(z, xs)
    }
    fn at_once(&self) -> Option<&dyn Combine<W>> {
        Some(&self.combine)
    }
    fn folded(&self, xs: &[W]) -> W {
        let mut z = self.identity;
        for xs in xs.chunks(BLOCK) {
            z = self.dot(z, xs);
            if self.is_terminal(z) {
                break;
            }
        }
        z
    }
    fn to_present(&self, list: &[(u32, W)], first: usize, window: &mut [W], present: &mut [u64]) {
        for list in list.chunks(BLOCK) {
            let (mut js, mut zs) = ([0; BLOCK], [self.identity; BLOCK]);
            for (((j, z), &(from_j, from_z)), _) in js.iter_mut().zip(&mut zs).zip(list).zip(0..) {
                (*j, *z) = (from_j, from_z);
                let w = from_j as usize - first;
                present[w / 64] |= 1 << (w % 64);
            }
            self.gather(window, &js[..list.len()], &zs[..list.len()], |j| j - first);
        }
    }
}
