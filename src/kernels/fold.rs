//! ⊕ as a value: folds a buffer of products into the accumulator of the results.

use super::fold_blocks::{Combine, fold_each_at_once};
use crate::algebra::words::{value, values, values_mut, word};
use crate::algebra::{BinaryOp, Host, Monoid, Plus, V, Value, Word};
use crate::simd::{self, dispatch_work, scatter, scatter_at};
use std::any::TypeId;

/// A monoid on values with memory `W`.
///
/// # Safety
/// There is one type of value, with memory `W`, such that
/// 1. `identity` returns a word of it;
/// 2. the words written and returned are of it, provided the words passed in are.
///
/// Callers pass only words that came from this monoid or from values of that type.
pub(crate) unsafe trait Fold<W: Word>: Send + Sync {
    /// e, with e ⊕ x = x.
    fn identity(&self) -> W;
    /// Whether z ⊕ x = z for every x, so that a fold may stop at z.
    fn is_terminal(&self, z: W) -> bool;
    /// `window[j & (window.len() − 1)]` ⊕= z for each column and product.
    /// # Panics
    /// If the window is empty, or columns and products differ in number.
    fn to_window(&self, window: &mut [W], js: &[u32], zs: &[W]);
    /// `row[positions[j & (positions.len() − 1)]]` ⊕= z for each column and product, skipping positions past the
    /// row.
    /// # Panics
    /// If `positions` is empty, or columns and products differ in number.
    fn to_short_positions(&self, row: &mut [W], positions: &[u16], js: &[u32], zs: &[W]);
    /// [`to_short_positions`](Self::to_short_positions) with wider positions, for rows with more entries.
    /// # Panics
    /// If `positions` is empty, or columns and products differ in number.
    fn to_positions(&self, row: &mut [W], positions: &[u32], js: &[u32], zs: &[W]);
    /// `values[slots[s]]` ⊕= `zs[s]`.
    /// # Panics
    /// If a slot is out of range.
    fn to_slots(&self, values: &mut [W], slots: &[usize], zs: &[W]);
    /// z ⊕ x₁ ⊕ x₂ …, in order.
    fn dot(&self, z: W, xs: &[W]) -> W;
    /// ⊕ on blocks of values, if it is faster than one call per value.
    fn at_once(&self) -> Option<&dyn Combine<W>> {
        None
    }
    /// e ⊕ x₁ ⊕ x₂ …, in the order of [`folded`].
    fn folded(&self, xs: &[W]) -> W;
    /// `window[j − first]` ⊕= z for each (j, z), in order; sets the bits of the touched columns in `present`.
    /// # Panics
    /// If a column is past the end of the window or of its bits.
    fn to_present(&self, list: &[(u32, W)], first: usize, window: &mut [W], present: &mut [u64]);
}

/// `y[r]` ⊕= z for the products of each of at most [`BLOCK`](super::BLOCK) rows, in order. The rows' products are
/// consecutive, those of row r ending at `ends[r]`.
/// # Panics
/// If `ends` and `y` differ in length, or there are fewer products than the last end.
pub(super) fn fold_each<W: Word>(fold: &dyn Fold<W>, ends: &[usize], zs: &[W], y: &mut [W]) {
    assert!(ends.len() == y.len());
    if let Some(add) = fold.at_once() {
        return fold_each_at_once(add, fold.identity(), ends, zs, y);
    }
    let mut start = 0;
    for (y, &end) in y.iter_mut().zip(ends) {
        *y = fold.dot(*y, &zs[start..end]);
        start = end;
    }
}

/// Number of partial sums of a long fold.
const SUMS: usize = 16;
/// Entries between two checks for the terminal value of ⊕. A check at every entry slows down a loop that rarely stops
/// early; a check at every 16th costs at most 15 superfluous products.
pub(crate) const LOOK: usize = 16;

/// e ⊕ x₁ ⊕ x₂ …
///
/// In order, and the fold stops soon after reaching the terminal value of ⊕. Exception: sums ([`Plus`]) of more than
/// sixteen values keep sixteen independent partial sums, to break the dependency chain. Sum s has the entries s,
/// s + 16, …, starting from 0; adjacent sums are then added pairwise until one is left.
#[inline(always)]
pub(crate) fn folded<M: Monoid>(monoid: M, xs: &[M::Out]) -> M::Out {
    folded_first(monoid, xs, xs.len())
}

/// [`folded`] of the first `len` values. The values behind them, of the next row for instance, do not affect the
/// result: the last step of a fold may read them to avoid a copy.
/// # Panics
/// If there are fewer than `len` values.
#[inline(always)]
pub(crate) fn folded_first<M: Monoid>(monoid: M, more: &[M::Out], len: usize) -> M::Out {
    let xs = &more[..len];
    if M::IS_LAST {
        return xs.last().copied().unwrap_or(M::IDENTITY);
    }
    let add = |z: M::Out, x: M::Out| monoid.apply::<Host>(V(z), V(x)).0;
    if xs.len() > SUMS && TypeId::of::<M>() == TypeId::of::<Plus<M::Out>>() {
        return by_sums(monoid, more, len);
    }
    let mut z = M::IDENTITY;
    let Some(terminal) = M::TERMINAL else { return xs.iter().copied().fold(z, add) };
    for xs in xs.chunks(LOOK) {
        z = xs.iter().copied().fold(z, add);
        if z == terminal {
            break;
        }
    }
    z
}

/// The pairwise sums of [`folded`].
#[inline(never)]
fn by_sums<M: Monoid>(monoid: M, more: &[M::Out], len: usize) -> M::Out {
    dispatch_work(Sums { monoid, more, len })
}

/// Sums of the first `len` values, for [`dispatch_work`].
struct Sums<'a, M: Monoid> {
    monoid: M,
    more: &'a [M::Out],
    len: usize,
}

impl<M: Monoid> simd::Work for Sums<'_, M> {
    type Out = M::Out;
    #[inline(always)]
    fn run(self) -> M::Out {
        let Self { monoid, more, len } = self;
        let add = |z: M::Out, x: M::Out| monoid.apply::<Host>(V(z), V(x)).0;
        let mut sums = [M::IDENTITY; SUMS];
        let (whole, last) = more[..len].as_chunks::<SUMS>();
        for xs in whole {
            for (z, &x) in sums.iter_mut().zip(xs) {
                *z = add(*z, x);
            }
        }
        // The remainder, padded with identities, which add nothing.
        let mut padded = [M::IDENTITY; SUMS];
        let rest = more[len - last.len()..].first_chunk::<SUMS>().unwrap_or_else(|| {
            padded[..last.len()].copy_from_slice(last);
            &padded
        });
        for (s, (z, &x)) in sums.iter_mut().zip(rest).enumerate() {
            *z = add(*z, if s < last.len() { x } else { M::IDENTITY });
        }
        let mut n = SUMS;
        while n > 1 {
            n /= 2;
            for s in 0..n {
                sums[s] = add(sums[2 * s], sums[2 * s + 1]);
            }
        }
        sums[0]
    }
}

/// A monoid known by its type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Typed<M>(pub M);

impl<M: Monoid> Typed<M> {
    #[inline(always)]
    fn add(&self) -> impl Fn(M::Out, M::Out) -> M::Out + Copy + use<M> {
        let monoid = self.0;
        move |z, x| monoid.apply::<Host>(V(z), V(x)).0
    }
}

type WordOf<M> = <<M as BinaryOp>::Out as Value>::Word;

// SAFETY: the type is `M::Out`, and the identity is of it; the words passed in are of it by the caller's promise
// (which the conversions below rely on), and a value of it is written.
unsafe impl<M: Monoid> Fold<WordOf<M>> for Typed<M> {
    fn identity(&self) -> WordOf<M> {
        word(M::IDENTITY)
    }
    fn is_terminal(&self, z: WordOf<M>) -> bool {
        // SAFETY: a word of this type.
        let z = unsafe { value::<M::Out>(z) };
        M::TERMINAL.is_some_and(|t| t == z)
    }
    #[inline(never)]
    fn to_window(&self, window: &mut [WordOf<M>], js: &[u32], zs: &[WordOf<M>]) {
        // SAFETY: words of this type.
        let (window, zs) = unsafe { (values_mut::<M::Out>(window), values::<M::Out>(zs)) };
        let add = self.add();
        scatter(window, window.len() - 1, js, zs, |z, x, _| add(z, x));
    }
    #[inline(never)]
    fn to_short_positions(&self, row: &mut [WordOf<M>], positions: &[u16], js: &[u32], zs: &[WordOf<M>]) {
        // SAFETY: words of this type.
        let (row, zs) = unsafe { (values_mut::<M::Out>(row), values::<M::Out>(zs)) };
        let add = self.add();
        scatter_at(row, positions, positions.len() - 1, js, zs, |z, x, _| add(z, x));
    }
    #[inline(never)]
    fn to_positions(&self, row: &mut [WordOf<M>], positions: &[u32], js: &[u32], zs: &[WordOf<M>]) {
        // SAFETY: words of this type.
        let (row, zs) = unsafe { (values_mut::<M::Out>(row), values::<M::Out>(zs)) };
        let add = self.add();
        scatter_at(row, positions, positions.len() - 1, js, zs, |z, x, _| add(z, x));
    }
    #[inline(never)]
    fn to_slots(&self, into: &mut [WordOf<M>], slots: &[usize], zs: &[WordOf<M>]) {
        // SAFETY: words of this type.
        let (into, zs) = unsafe { (values_mut::<M::Out>(into), values::<M::Out>(zs)) };
        let add = self.add();
        for (&slot, &x) in slots.iter().zip(zs) {
            into[slot] = add(into[slot], x);
        }
    }
    #[inline(never)]
    fn dot(&self, z: WordOf<M>, xs: &[WordOf<M>]) -> WordOf<M> {
        // SAFETY: words of this type.
        let (z, xs) = unsafe { (value::<M::Out>(z), values::<M::Out>(xs)) };
        word(xs.iter().copied().fold(z, self.add()))
    }
    fn folded(&self, xs: &[WordOf<M>]) -> WordOf<M> {
        // SAFETY: words of this type.
        word(folded(self.0, unsafe { values::<M::Out>(xs) }))
    }
    #[inline(never)]
    fn to_present(&self, list: &[(u32, WordOf<M>)], first: usize, window: &mut [WordOf<M>], present: &mut [u64]) {
        // SAFETY: words of this type.
        let window = unsafe { values_mut::<M::Out>(window) };
        let add = self.add();
        for &(j, z) in list {
            let w = j as usize - first;
            // SAFETY: a word of this type.
            window[w] = add(window[w], unsafe { value::<M::Out>(z) });
            present[w / 64] |= 1 << (w % 64);
        }
    }
}
