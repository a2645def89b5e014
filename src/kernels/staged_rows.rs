//! y = A ⊕.⊗ x and row folds, unfused: products go to a short buffer, which is then folded.

use std::ops::Range;

use super::fold::fold_each;
use super::{BLOCK, Fold};
use crate::Pattern;
use crate::algebra::{Slice, Word};
use crate::sparse::{EffectiveMask, Indices, bit};

/// Factors: A(i, k) and x(k) for the entries of some consecutive rows, or for some entries of one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs<'a> {
    /// The first row.
    pub i: usize,
    /// The original row indices, if the rows were extracted from another matrix.
    pub original: Option<&'a [u32]>,
    /// The end of each row's entries, counted from the first entry; empty for entries of a single row.
    pub ends: &'a [usize],
    /// Columns of A.
    pub ks: &'a [u32],
    /// A(i, k) for each of them.
    pub values: Slice<'a>,
    /// The values of x: those of its entries if it is a list, otherwise one per column.
    pub x: Slice<'a>,
    /// The pattern of x.
    pub of_x: Indices<'a, u32>,
}

impl<'a> Pairs<'a> {
    /// The original index of the first row.
    pub(super) fn first_row(&self) -> usize {
        self.original.map_or(self.i, |original| original[0] as usize)
    }
    /// Position of x(k) among the values of x, for each column; out of range if a list lacks k.
    pub(super) fn positions(&self) -> impl Iterator<Item = usize> + use<'a> {
        let &Self { ks, of_x, .. } = self;
        ks.iter().map(move |k| match of_x {
            Indices::List(list) => list.binary_search(k).unwrap_or(usize::MAX),
            _ => *k as usize,
        })
    }
    /// The row of each entry.
    pub(super) fn rows_of_entries(&self) -> impl Iterator<Item = usize> + use<'a> {
        let &Self { i, original, ends, ks, .. } = self;
        let mut row = 0;
        (0..ks.len()).map(move |p| {
            while ends.get(row).is_some_and(|&end| end <= p) {
                row += 1;
            }
            original.map_or(i + row, |original| original[row] as usize)
        })
    }
}

/// Writes the products of some entries of A over as many words.
pub(crate) type PairMultiplier<'a, W> = dyn FnMut(Pairs<'_>, &mut [W]) + 'a;

/// ⊗ as a value, for the product with a vector.
///
/// # Safety
/// There is one type of value, with memory `W`, such that the multiplier overwrites all output words with words of it,
/// whatever the factors.
pub(crate) unsafe trait MulPairs<W: Word>: Send + Sync {
    /// Runs `work` with a multiplier of at most [`BLOCK`] products at a time, which may hold scratch memory for that
    /// time.
    fn with(&self, work: &mut dyn FnMut(&mut PairMultiplier<'_, W>));
}

/// ⊕, ⊗, a matrix and a vector.
pub(crate) struct StagedRows<'a, W: Word> {
    a: &'a Pattern,
    values: Slice<'a>,
    x: Slice<'a>,
    /// The pattern of x.
    of_x: Indices<'a, u32>,
    fold: &'a dyn Fold<W>,
    mul: &'a dyn MulPairs<W>,
    rows: Rows<'a>,
}

/// The rows of y to compute.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    /// All rows.
    All,
    /// The rows that a mask allows; other rows may be computed too.
    Allowed(EffectiveMask<'a, u32>),
    /// All rows of a matrix extracted from another, with their original row indices.
    Extracted(&'a [u32]),
}

impl Rows<'_> {
    /// Ranges of consecutive rows of `block` to compute. Disallowed rows are skipped only if they have at least a
    /// buffer of products, since a range costs as much as a buffer.
    pub(crate) fn ranges(self, block: Range<usize>, row_ptr: &[usize]) -> impl Iterator<Item = Range<usize>> {
        let mut at = block.start;
        std::iter::from_fn(move || {
            let Rows::Allowed(mask) = self else {
                let all = at..block.end;
                at = block.end;
                return Some(all).filter(|all| !all.is_empty());
            };
            let start = (at..block.end).find(|&i| mask.allows(i))?;
            let mut end = start + 1;
            let mut i = end;
            while i < block.end && row_ptr[i] - row_ptr[end] < BLOCK {
                i += 1;
                if mask.allows(i - 1) {
                    end = i;
                }
            }
            at = i;
            Some(start..end)
        })
    }
}

impl<'a, W: Word> StagedRows<'a, W> {
    /// A(i, k) ⊗ x(k), to be summed by ⊕, where x has an entry, for some rows.
    /// # Panics
    /// If there is not one value per entry; if x has not one value per index as a list, or one value and bit per column
    /// in another form; or if there is not one original index per row.
    /// # Safety
    /// ⊕ and ⊗ are on one type of value, and ⊗ takes values of the operands' types.
    pub(crate) unsafe fn new(
        (a, values): (&'a Pattern, Slice<'a>),
        (x, of_x): (Slice<'a>, Indices<'a, u32>),
        fold: &'a dyn Fold<W>,
        mul: &'a dyn MulPairs<W>,
        rows: Rows<'a>,
    ) -> Self {
        let fits = match of_x {
            Indices::List(list) => x.len() == list.len(),
            Indices::Bitmap(words) => x.len() == a.ncols() && words.len() == x.len().div_ceil(64),
            Indices::All => x.len() == a.ncols(),
        };
        let all_original = !matches!(rows, Rows::Extracted(original) if original.len() != a.nrows());
        assert!(values.len() == a.nnz() && fits && all_original);
        Self { a, values, x, of_x, fold, mul, rows }
    }
    /// y(i) for some rows, overwriting identities. Rows that fit the buffer together are multiplied at once; the fold
    /// of a longer row stops soon after reaching the terminal value of ⊕.
    pub(crate) fn rows(&self, block: Range<usize>, y: &mut [W]) {
        let (mut zs, mut ends) = ([self.fold.identity(); BLOCK], [0; BLOCK]);
        let ptr = self.a.row_ptr();
        let first = block.start;
        self.mul.with(&mut |multiply| {
            for rows in self.rows.ranges(block.clone(), ptr) {
                let (mut i, mut y) = (rows.start, &mut y[rows.start - first..rows.end - first]);
                while i < rows.end {
                    let start = ptr[i];
                    let fits = |&(_, end): &(_, &usize)| end - start <= BLOCK;
                    let n =
                        ends.iter_mut().zip(&ptr[i + 1..=rows.end]).take_while(fits).map(|(to, end)| *to = end - start);
                    let n = n.count();
                    if n == 0 {
                        self.long_row(i, multiply, &mut zs, &mut y[0]);
                    } else {
                        let ends = &mut ends[..n];
                        let entries = start..start + ends[n - 1];
                        let zs = &mut zs[..entries.len()];
                        // Multiplies entries without an x(k) too: they are filtered after the product.
                        multiply(self.pairs(i, ends, entries.clone()), zs);
                        self.keep_present(&self.a.col_idx()[entries], zs, ends);
                        fold_each(self.fold, ends, zs, &mut y[..n]);
                    }
                    let done = n.max(1);
                    (i, y) = (i + done, &mut y[done..]);
                }
            }
        });
    }
    /// Some entries of the rows from i on.
    fn pairs<'p>(&'p self, i: usize, ends: &'p [usize], entries: Range<usize>) -> Pairs<'p> {
        let original = match self.rows {
            Rows::Extracted(original) => Some(&original[i..]),
            _ => None,
        };
        let (ks, values) = (&self.a.col_idx()[entries.clone()], self.values.part(entries));
        Pairs { i, original, ends, ks, values, x: self.x, of_x: self.of_x }
    }
    /// y(i) for a row that exceeds the buffer.
    fn long_row(&self, i: usize, multiply: &mut PairMultiplier<'_, W>, zs: &mut [W], y: &mut W) {
        let mut p = self.a.row_ptr()[i];
        for ks in self.a.row(i).chunks(BLOCK) {
            let (zs, mut ends) = (&mut zs[..ks.len()], [ks.len()]);
            multiply(self.pairs(i, &[], p..p + ks.len()), zs);
            self.keep_present(ks, zs, &mut ends);
            *y = self.fold.dot(*y, &zs[..ends[0]]);
            if self.fold.is_terminal(*y) {
                break;
            }
            p += ks.len();
        }
    }
    /// Compacts the products of columns where x has an entry, row after row.
    fn keep_present(&self, ks: &[u32], zs: &mut [W], ends: &mut [usize]) {
        match self.of_x {
            Indices::All => {}
            Indices::Bitmap(words) => keep(ks, zs, ends, |k| bit(words, k as usize)),
            Indices::List(list) => keep(ks, zs, ends, |k| list.binary_search(&k).is_ok()),
        }
    }
}

#[inline(always)]
fn keep<W: Word>(ks: &[u32], zs: &mut [W], ends: &mut [usize], has: impl Fn(u32) -> bool) {
    let (mut n, mut p) = (0, 0);
    for end in ends {
        while p < *end {
            if has(ks[p]) {
                zs[n] = zs[p];
                n += 1;
            }
            p += 1;
        }
        *end = n;
    }
}

/// y(i) = e ⊕ A(i, j) ⊕ … for some rows, in the order of [`folded`](super::folded).
pub(crate) fn fold_rows<W: Word>(fold: &dyn Fold<W>, row_ptr: &[usize], values: &[W], rows: Range<usize>, y: &mut [W]) {
    for (i, y) in rows.zip(y) {
        *y = fold.folded(&values[row_ptr[i]..row_ptr[i + 1]]);
    }
}
