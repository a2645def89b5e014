//! The loops over products that a semiring provides for yᵀ = xᵀ ⊕.⊗ A, x sparse: products are listed, then folded.

use std::ops::Range;

use super::staged::{Factors, MulRow};
use super::{BLOCK, Fold};
use crate::algebra::words::{from_words, value, values_mut, word};
use crate::algebra::{At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, Rhs, Semiring, Slice, V, Value, Word};
use crate::simd::{RowsOf, prefetch, scatter};
use crate::sparse::{EffectiveMask, Indices, bit};
use crate::{Csr, Index, Pattern, Result};

/// Prefetch distance, in rows of A.
const AHEAD: usize = 8;

/// The products x(k) ⊗ A(k, j), summed by ⊕ to words of type `W`.
///
/// # Safety
/// There is one type of value, with memory `W`, such that
/// 1. `identity` returns a word of it, and the products appended are of it;
/// 2. `fold` writes words of it, provided those passed in are.
///
/// Callers pass only words that came from this kernel.
pub(crate) unsafe trait Listed<W: Word, I: Index>: Sync {
    /// The identity of ⊕.
    fn identity(&self) -> W;
    /// Appends (j, x(k) ⊗ A(k, j)) for the entries of x at the positions `of_x`, in order.
    fn append(&self, of_x: Range<usize>, list: &mut Vec<(I, W)>);
    /// `window[j - first]` ⊕= z for each (j, z), in order; sets the bits of the touched columns in `present`.
    fn fold(&self, list: &[(I, W)], first: usize, window: &mut [W], present: &mut [u64]);
    /// `window[j & (window.len() − 1)]` ⊕= x(k) ⊗ A(k, j) for the entries of A in each part, in order. Ignores the
    /// mask.
    /// # Panics
    /// If the window is empty, or a position is out of range.
    fn add(&self, parts: &[Part], window: &mut [W]);
    /// Whether [`add_each`](Self::add_each) is faster than [`add`](Self::add) on short rows.
    fn has_each(&self) -> bool {
        false
    }
    /// `window[j & (window.len() − 1)]` ⊕= x(k) ⊗ A(k, j) for single entries of A, in order. Ignores the mask. Entry e
    /// is at position `of_a[e]`, and its entry of x at `first + of_x[e]`. Sets the flag of each touched column in
    /// `present`, which is as long as the window.
    /// # Panics
    /// If the window is empty, or a position is out of range.
    fn add_each(&self, _first: usize, _entries: (&[u16], &[usize]), _window: &mut [W], _present: &mut [u8]) {
        unreachable!("this kernel has no loop over single entries");
    }
}

/// An entry of x, and a range of entries in its row of A.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Position of the entry of x.
    pub of_x: usize,
    /// Positions of the entries of A.
    pub of_a: Range<usize>,
}

/// Prefetch distance in parts, and the maximum number of cache lines prefetched for one: hardware prefetching does not
/// start where rows are skipped. Saves a third of the time for rows of 27; loses up to a tenth if everything is cached.
const SOON: usize = 4;
const LINES: usize = 8;
/// Number of matrix entries that fit a cache.
pub(crate) const CACHED: usize = 1 << 20;

/// A semiring and its operands, as loops that rustc fuses.
pub(crate) struct VectorProducts<'a, R: Semiring, I: Index> {
    pub ring: R,
    /// Indices of x and its values there.
    pub x: (&'a [I], &'a [Lhs<R>]),
    pub a: &'a Csr<Rhs<R>, I>,
    /// The mask of y; `None` computes all columns.
    pub mask: Option<EffectiveMask<'a, I>>,
}

impl<R: Semiring, I: Index> VectorProducts<'_, R, I> {
    #[inline(always)]
    fn append_all(&self, of_x: Range<usize>, list: &mut Vec<(I, <Out<R> as Value>::Word)>) {
        let mul = self.ring.mul();
        let a = RowsOf::new(self.a.pattern(), self.a.values());
        for p in of_x {
            if let Some(k) = self.x.0.get(p + AHEAD) {
                a.prefetch(k.get());
            }
            let (k, x) = (self.x.0[p].get(), self.x.1[p]);
            let (js, values) = a.row(k);
            list.extend(js.iter().zip(values).map(|(&j, &value)| {
                let at = At { i: V(0), k: V(k as u64), j: V(j.get() as u64) };
                (j, word(mul.mul::<Host>(V(x), V(value), at).0))
            }));
        }
    }
}

/// Retains the entries from `start` on that the mask allows. Branch-free: about half of a frontier's neighbors have
/// been visited, which a branch predictor cannot guess.
#[inline(always)]
fn keep_allowed<W: Copy, I: Index>(list: &mut Vec<(I, W)>, start: usize, allows: impl Fn(usize) -> bool) {
    let mut kept = start;
    for p in start..list.len() {
        let product = list[p];
        list[kept] = product;
        kept += usize::from(allows(product.0.get()));
    }
    list.truncate(kept);
}

// SAFETY: the type is `Out<R>`: identity and products are of it, and ⊕ of values of it is.
unsafe impl<R: Semiring, I: Index> Listed<<Out<R> as Value>::Word, I> for VectorProducts<'_, R, I> {
    fn identity(&self) -> <Out<R> as Value>::Word {
        word(<R::Add as Monoid>::IDENTITY)
    }
    fn append(&self, of_x: Range<usize>, list: &mut Vec<(I, <Out<R> as Value>::Word)>) {
        let start = list.len();
        self.append_all(of_x, list);
        if let Some(mask) = self.mask {
            match mask.indices {
                // Matched outside the loop, which is then compiled for one form of mask.
                Indices::Bitmap(words) => keep_allowed(list, start, |j| bit(words, j) != mask.complement),
                _ => keep_allowed(list, start, |j| mask.allows(j)),
            }
        }
    }
    fn fold(
        &self,
        list: &[(I, <Out<R> as Value>::Word)],
        first: usize,
        window: &mut [<Out<R> as Value>::Word],
        present: &mut [u64],
    ) {
        // SAFETY: words of this type, by the caller's promise.
        let window = unsafe { values_mut::<Out<R>>(window) };
        let add = self.ring.add();
        for &(j, z) in list {
            let w = j.get() - first;
            // SAFETY: as above.
            let z = unsafe { value::<Out<R>>(z) };
            window[w] = add.apply::<Host>(V(window[w]), V(z)).0;
            present[w / 64] |= 1 << (w % 64);
        }
    }
    fn add(&self, parts: &[Part], window: &mut [<Out<R> as Value>::Word]) {
        // SAFETY: words of this type, by the caller's promise.
        let window = unsafe { values_mut::<Out<R>>(window) };
        let (add, mul) = (self.ring.add(), self.ring.mul());
        for (n, Part { of_x, of_a }) in parts.iter().enumerate() {
            if let Some(soon) = parts.get(n + SOON).filter(|_| self.a.nnz() > CACHED) {
                for q in soon.of_a.clone().step_by(64_usize.div_ceil(size_of::<Rhs<R>>().max(1))).take(LINES) {
                    prefetch(self.a.values(), q);
                }
            }
            let (k, x) = (V(self.x.0[*of_x].get() as u64), V(self.x.1[*of_x]));
            let (js, ys) = (&self.a.col_idx()[of_a.clone()], &self.a.values()[of_a.clone()]);
            scatter(window, window.len() - 1, js, ys, |z, y, j| {
                let at = At { i: V(0), k, j: V(j.get() as u64) };
                add.apply::<Host>(V(z), mul.mul::<Host>(x, V(y), at)).0
            });
        }
    }
    fn has_each(&self) -> bool {
        true
    }
    fn add_each(
        &self,
        first: usize,
        (of_x, of_a): (&[u16], &[usize]),
        window: &mut [<Out<R> as Value>::Word],
        present: &mut [u8],
    ) {
        // SAFETY: words of this type, by the caller's promise.
        let window = unsafe { values_mut::<Out<R>>(window) };
        let (add, mul, mask) = (self.ring.add(), self.ring.mul(), window.len() - 1);
        let ((ks, xs), (cols, ys)) = ((&self.x.0[first..], &self.x.1[first..]), (self.a.col_idx(), self.a.values()));
        assert!(ks.len() == xs.len() && cols.len() == ys.len() && present.len() == window.len());
        for (&p, &q) in of_x.iter().zip(of_a) {
            let (k, x, j, y) = (ks[usize::from(p)], xs[usize::from(p)], cols[q], ys[q]);
            let at = At { i: V(0), k: V(k.get() as u64), j: V(j.get() as u64) };
            let w = j.get() & mask;
            window[w] = add.apply::<Host>(V(window[w]), mul.mul::<Host>(V(x), V(y), at)).0;
            present[w] = 1;
        }
    }
}

/// ⊕, ⊗ and the operands.
pub(crate) struct StagedVector<'a, W: Word> {
    ks: &'a [u32],
    xs: Slice<'a>,
    a: &'a Pattern,
    values: Slice<'a>,
    fold: &'a dyn Fold<W>,
    mul: &'a dyn MulRow<W>,
    mask: Option<EffectiveMask<'a, u32>>,
}

impl<'a, W: Word> StagedVector<'a, W> {
    /// x(k) ⊗ A(k, j), to be summed by ⊕, for x with entries at the indices `ks`.
    /// # Panics
    /// If there is not one value per entry.
    /// # Safety
    /// ⊕ and ⊗ are on one type of value, and ⊗ takes values of the operands' types.
    pub(crate) unsafe fn new(
        (ks, xs): (&'a [u32], Slice<'a>),
        (a, values): (&'a Pattern, Slice<'a>),
        fold: &'a dyn Fold<W>,
        mul: &'a dyn MulRow<W>,
        mask: Option<EffectiveMask<'a, u32>>,
    ) -> Self {
        assert!(ks.len() == xs.len() && values.len() == a.nnz());
        Self { ks, xs, a, values, fold, mul, mask }
    }
}

// SAFETY: the type is that of ⊕ and ⊗ (`new`): the identity is of it, ⊗ writes words of it, and ⊕ preserves it.
unsafe impl<W: Word> Listed<W, u32> for StagedVector<'_, W> {
    fn identity(&self) -> W {
        self.fold.identity()
    }
    fn append(&self, of_x: Range<usize>, list: &mut Vec<(u32, W)>) {
        let mut zs = [self.fold.identity(); BLOCK];
        let a = RowsOf::without_values(self.a);
        self.mul.with(&mut |mul| {
            for p in of_x.clone() {
                if let Some(k) = self.ks.get(p + AHEAD) {
                    a.prefetch(k.get());
                }
                let k = self.ks[p].get();
                let mut q = self.a.row_ptr()[k];
                for js in a.row(k).0.chunks(BLOCK) {
                    let (zs, ys) = (&mut zs[..js.len()], self.values.part(q..q + js.len()));
                    mul.multiply(Factors { i: 0, k, x: self.xs.part(p..p + 1), js, ys }, zs);
                    let products = js.iter().copied().zip(zs.iter().copied());
                    match self.mask {
                        None => list.extend(products),
                        Some(mask) => list.extend(products.filter(|&(j, _)| mask.allows(j.get()))),
                    }
                    q += js.len();
                }
            }
        });
    }
    fn fold(&self, list: &[(u32, W)], first: usize, window: &mut [W], present: &mut [u64]) {
        self.fold.to_present(list, first, window, present);
    }
    fn add(&self, parts: &[Part], window: &mut [W]) {
        let mut zs = [self.fold.identity(); BLOCK];
        self.mul.with(&mut |mul| {
            for Part { of_x, of_a } in parts {
                let (k, mut q) = (self.ks[*of_x].get(), of_a.start);
                for js in self.a.col_idx()[of_a.clone()].chunks(BLOCK) {
                    let (zs, ys) = (&mut zs[..js.len()], self.values.part(q..q + js.len()));
                    mul.multiply(Factors { i: 0, k, x: self.xs.part(*of_x..*of_x + 1), js, ys }, zs);
                    self.fold.to_window(window, js, zs);
                    q += js.len();
                }
            }
        });
    }
}

/// A strategy for summing products, over kernels of any word.
///
/// Its only words are those of the kernel: the implementation is generic in the word type, and a [`Word`] cannot be
/// constructed.
pub(crate) trait Sums<I: Index> {
    /// Columns of y, and their sums.
    fn make<W: Word>(&self, products: &dyn Listed<W, I>) -> Result<(Vec<I>, Vec<W>)>;
}

/// Columns and sums of a semiring's type.
pub(crate) fn sums<R: Semiring, I: Index>(
    products: &VectorProducts<'_, R, I>,
    strategy: &impl Sums<I>,
) -> Result<(Vec<I>, Vec<Out<R>>)> {
    let (columns, sums) = strategy.make(products)?;
    // SAFETY: 1. `make` has no words but copies of those that the kernel returned or wrote (`Sums`); 2. these are
    // values of type `Out<R>` (`Listed`, implemented by `VectorProducts`).
    Ok((columns, unsafe { from_words(sums) }))
}
