//! y = A ⊕.⊗ x and folds over rows in two steps: products go to a short buffer, which is then folded.

use std::ops::Range;

use super::staged::Rowwise;
use super::{BLOCK, Fold};
use crate::Pattern;
use crate::algebra::words::word;
use crate::algebra::{At, Host, MulOp, Slice, V, Value, Word};

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
}

impl<'a, W: Word> StagedRows<'a, W> {
    /// A(i, k) ⊗ x(k), to be summed by ⊕.
    /// # Panics
    /// If there is not one value per entry, or x has not one per column.
    /// # Safety
    /// ⊕ and ⊗ are on one type of value, and ⊗ takes values of the operands' types.
    pub(crate) unsafe fn new(
        (a, values): (&'a Pattern, Slice<'a>),
        x: Slice<'a>,
        fold: &'a dyn Fold<W>,
        mul: &'a dyn MulPairs<W>,
    ) -> Self {
        assert!(values.len() == a.nnz() && x.len() == a.ncols());
        Self { a, values, x, fold, mul }
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
                    multiply(Pairs { i, ks, values: self.values.part(p..p + ks.len()), x: self.x }, zs);
                    *y = self.fold.dot(*y, zs);
                    if self.fold.is_terminal(*y) {
                        break;
                    }
                    p += ks.len();
                }
            }
        });
    }
}

/// y(i) = e ⊕ A(i, j) ⊕ … for some rows, over the identities that are there.
pub(crate) fn fold_rows<W: Word>(fold: &dyn Fold<W>, row_ptr: &[usize], values: &[W], rows: Range<usize>, y: &mut [W]) {
    for (i, y) in rows.zip(y) {
        for xs in values[row_ptr[i]..row_ptr[i + 1]].chunks(BLOCK) {
            *y = fold.dot(*y, xs);
            if fold.is_terminal(*y) {
                break;
            }
        }
    }
}
