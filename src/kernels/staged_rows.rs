//! y = A ⊕.⊗ x and folds over rows in two steps: products go to a short buffer, which is then folded.

use std::ops::Range;

use super::staged::Rowwise;
use super::{BLOCK, Fold};
use crate::Pattern;
use crate::algebra::words::word;
use crate::algebra::{At, Host, MulOp, Slice, V, Value, Word};
use crate::sparse::bit;

/// What is multiplied: A(i, k) with x(k) for some k.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs<'a> {
    /// Row of A.
    pub i: usize,
    /// Columns of A.
    pub ks: &'a [u32],
    /// A(i, k) for each of them.
    pub values: Slice<'a>,
    /// All of x.
    pub x: Slice<'a>,
}

/// Products of some entries of A, written to as many words.
pub(crate) type PairMultiplier<'a, W> = dyn FnMut(Pairs<'_>, &mut [W]) + 'a;

/// ⊗ as a value, for the product with a vector.
///
/// # Safety
/// There is one type of value, with memory `W`, of which the multiplier writes words, all that it is given, whatever the factors.
pub(crate) unsafe trait MulPairs<W: Word>: Send + Sync {
    /// Runs `work` with a multiplier of at most [`BLOCK`] products at a time, which may have memory of its own meanwhile.
    fn with(&self, work: &mut dyn FnMut(&mut PairMultiplier<'_, W>));
}

// SAFETY: the words written are those of values of type `M::Out`. Factors of other types than the operator's end in a panic.
unsafe impl<M: MulOp> MulPairs<<M::Out as Value>::Word> for Rowwise<M> {
    fn with(&self, work: &mut dyn FnMut(&mut PairMultiplier<'_, <M::Out as Value>::Word>)) {
        let mul = self.0;
        work(&mut |f, out| {
            let (Some(values), Some(x)) = (f.values.get::<M::A>(), f.x.get::<M::B>()) else {
                unreachable!("factors of other types than the operator's")
            };
            assert!(values.len() == out.len() && f.ks.len() == out.len());
            for ((z, &value), &k) in out.iter_mut().zip(values).zip(f.ks) {
                let at = At { i: V(f.i as u64), k: V(u64::from(k)), j: V(0) };
                *z = word(mul.mul::<Host>(V(value), V(x[k as usize]), at).0);
            }
        });
    }
}

/// ⊕, ⊗, a matrix and a vector.
pub(crate) struct StagedRows<'a, W: Word> {
    a: &'a Pattern,
    values: Slice<'a>,
    x: Slice<'a>,
    fold: &'a dyn Fold<W>,
    mul: &'a dyn MulPairs<W>,
    /// A bit for each entry of x; all are if `None`.
    bits: Option<&'a [u64]>,
}

impl<'a, W: Word> StagedRows<'a, W> {
    /// A(i, k) ⊗ x(k), to be summed by ⊕, where x has an entry; it has a value at every place, and a bit where
    /// that is an entry, unless all are.
    /// # Panics
    /// If there is not one value per entry, or x has not one value and bit per column.
    /// # Safety
    /// ⊕ and ⊗ are on one type of value, and ⊗ takes values of the operands' types.
    pub(crate) unsafe fn new(
        (a, values): (&'a Pattern, Slice<'a>),
        (x, bits): (Slice<'a>, Option<&'a [u64]>),
        fold: &'a dyn Fold<W>,
        mul: &'a dyn MulPairs<W>,
    ) -> Self {
        assert!(values.len() == a.nnz() && x.len() == a.ncols() && bits.is_none_or(|words| words.len() == x.len().div_ceil(64)));
        Self { a, values, x, fold, mul, bits }
    }
    /// y(i) for some rows that `lets` lets through, over the identities that are there. A fold stops soon after it has met the
    /// terminal value of ⊕.
    pub(crate) fn rows(&self, rows: Range<usize>, y: &mut [W], lets: &dyn Fn(usize) -> bool) {
        let mut zs = [self.fold.identity(); BLOCK];
        self.mul.with(&mut |multiply| {
            for (i, y) in rows.clone().zip(&mut *y).filter(|(i, _)| lets(*i)) {
                let mut p = self.a.row_ptr()[i];
                for ks in self.a.row(i).chunks(BLOCK) {
                    let zs = &mut zs[..ks.len()];
                    // Also those without an entry of x: whether it has one, the product does not depend on.
                    multiply(Pairs { i, ks, values: self.values.part(p..p + ks.len()), x: self.x }, zs);
                    *y = self.fold.dot(*y, self.met(ks, zs));
                    if self.fold.is_terminal(*y) {
                        break;
                    }
                    p += ks.len();
                }
            }
        });
    }
}

impl<W: Word> StagedRows<'_, W> {
    /// The products of columns where x has an entry, moved to the front.
    fn met<'z>(&self, ks: &[u32], zs: &'z mut [W]) -> &'z [W] {
        let Some(words) = self.bits else { return zs };
        let mut n = 0;
        for (p, &k) in ks.iter().enumerate() {
            if bit(words, k as usize) {
                zs[n] = zs[p];
                n += 1;
            }
        }
        &zs[..n]
    }
}

/// y(i) = e ⊕ A(i, j) ⊕ … for some rows, in the order of [`folded`](super::folded).
pub(crate) fn fold_rows<W: Word>(fold: &dyn Fold<W>, row_ptr: &[usize], values: &[W], rows: Range<usize>, y: &mut [W]) {
    for (i, y) in rows.zip(y) {
        *y = fold.folded(&values[row_ptr[i]..row_ptr[i + 1]]);
    }
}
