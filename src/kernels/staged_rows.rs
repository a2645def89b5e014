//! y = A ⊕.⊗ x and folds over rows in two steps: products go to a short buffer, which is then folded.

use std::ops::Range;

use super::fold::fold_each;
use super::{BLOCK, Fold};
use crate::Pattern;
use crate::algebra::{Slice, Word};
use crate::sparse::bit;

/// What is multiplied: A(i, k) with x(k) for the entries of some rows that lie side by side, or for some entries of one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs<'a> {
    /// The first row.
    pub i: usize,
    /// Where the entries of each row end, counted from the first; all of the one row if there are none.
    pub ends: &'a [usize],
    /// Columns of A.
    pub ks: &'a [u32],
    /// A(i, k) for each of them.
    pub values: Slice<'a>,
    /// All of x.
    pub x: Slice<'a>,
}

impl<'a> Pairs<'a> {
    /// The row of each entry.
    pub(super) fn rows_of_entries(&self) -> impl Iterator<Item = usize> + use<'a> {
        let &Self { i, ends, ks, .. } = self;
        let mut row = 0;
        (0..ks.len()).map(move |p| {
            while ends.get(row).is_some_and(|&end| end <= p) {
                row += 1;
            }
            i + row
        })
    }
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
        assert!(
            values.len() == a.nnz()
                && x.len() == a.ncols()
                && bits.is_none_or(|words| words.len() == x.len().div_ceil(64))
        );
        Self { a, values, x, fold, mul, bits }
    }
    /// y(i) for some rows, over the identities that are there. Rows that fit into the buffer together are multiplied at once; the fold of
    /// a longer row stops soon after it has met the terminal value of ⊕.
    pub(crate) fn rows(&self, rows: Range<usize>, y: &mut [W]) {
        let (mut zs, mut ends) = ([self.fold.identity(); BLOCK], [0; BLOCK]);
        let ptr = self.a.row_ptr();
        self.mul.with(&mut |multiply| {
            let (mut i, mut y) = (rows.start, &mut *y);
            while i < rows.end {
                let start = ptr[i];
                let fits = |&(_, end): &(_, &usize)| end - start <= BLOCK;
                let n = ends.iter_mut().zip(&ptr[i + 1..=rows.end]).take_while(fits).map(|(to, end)| *to = end - start);
                let n = n.count();
                if n == 0 {
                    self.long_row(i, multiply, &mut zs, &mut y[0]);
                } else {
                    let ends = &mut ends[..n];
                    let entries = start..start + ends[n - 1];
                    let (ks, values) = (&self.a.col_idx()[entries.clone()], self.values.part(entries.clone()));
                    let zs = &mut zs[..ks.len()];
                    // Also those without an entry of x: whether it has one, the product does not depend on.
                    multiply(Pairs { i, ends, ks, values, x: self.x }, zs);
                    self.keep_present(ks, zs, ends);
                    fold_each(self.fold, ends, zs, &mut y[..n]);
                }
                let done = n.max(1);
                (i, y) = (i + done, &mut y[done..]);
            }
        });
    }
    /// y(i) for a row that does not fit into the buffer.
    fn long_row(&self, i: usize, multiply: &mut PairMultiplier<'_, W>, zs: &mut [W], y: &mut W) {
        let mut p = self.a.row_ptr()[i];
        for ks in self.a.row(i).chunks(BLOCK) {
            let (zs, mut ends) = (&mut zs[..ks.len()], [ks.len()]);
            multiply(Pairs { i, ends: &[], ks, values: self.values.part(p..p + ks.len()), x: self.x }, zs);
            self.keep_present(ks, zs, &mut ends);
            *y = self.fold.dot(*y, &zs[..ends[0]]);
            if self.fold.is_terminal(*y) {
                break;
            }
            p += ks.len();
        }
    }
    /// Moves the products of columns where x has an entry to the front, row after row.
    fn keep_present(&self, ks: &[u32], zs: &mut [W], ends: &mut [usize]) {
        let Some(words) = self.bits else { return };
        let (mut n, mut p) = (0, 0);
        for end in ends {
            while p < *end {
                if bit(words, ks[p] as usize) {
                    zs[n] = zs[p];
                    n += 1;
                }
                p += 1;
            }
            *end = n;
        }
    }
}

/// y(i) = e ⊕ A(i, j) ⊕ … for some rows, in the order of [`folded`](super::folded).
pub(crate) fn fold_rows<W: Word>(fold: &dyn Fold<W>, row_ptr: &[usize], values: &[W], rows: Range<usize>, y: &mut [W]) {
    for (i, y) in rows.zip(y) {
        *y = fold.folded(&values[row_ptr[i]..row_ptr[i + 1]]);
    }
}
