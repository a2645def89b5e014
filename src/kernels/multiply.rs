//! The loops over products that a semiring brings to C = A ⊕.⊗ B.

use std::ops::Range;
use std::sync::Arc;

use crate::algebra::Word;
use crate::par::Slots;
use crate::simd::{MaskedProducts, Sixteen, SparseAccumulator, within};
use crate::{Index, Pattern, Result};

/// A row of A, and the columns of B that count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowOfA<'a> {
    /// The row.
    pub i: usize,
    /// Columns of B; all if `None`.
    pub part: Option<&'a Range<usize>>,
}

/// Rows of C, or a part of one.
#[derive(Debug)]
pub(crate) struct RowsOfC<'a, I: Index> {
    /// The rows.
    pub rows: Range<usize>,
    /// Where C has entries, all of A·B.
    pub c: &'a Pattern<I>,
    /// Columns of B and C; all if `None`.
    pub part: Option<&'a Range<usize>>,
}

impl<'a, I: Index> RowsOfC<'a, I> {
    /// Runs `products(row, window)` for each row, and reads its values off the window, into what `take` gives for as
    /// many.
    #[inline(always)]
    pub(super) fn each<'v, T: Copy + 'v>(
        self,
        identity: T,
        window: &mut [T],
        mut take: impl FnMut(usize) -> &'v mut [T],
        mut products: impl FnMut(RowOfA<'a>, &mut [T]),
    ) {
        let mask = window.len() - 1;
        for i in self.rows {
            let cols = columns_of_row(self.c, i, self.part);
            // No products: of hypersparse matrices most rows.
            if cols.is_empty() {
                continue;
            }
            products(RowOfA { i, part: self.part }, window);
            for (j, z) in cols.iter().zip(take(cols.len())) {
                *z = std::mem::replace(&mut window[j.get() & mask], identity);
            }
        }
    }
}

/// The columns of row `i` of C, or those of them in `part`.
#[inline(always)]
pub(crate) fn columns_of_row<'a, I: Index>(c: &'a Pattern<I>, i: usize, part: Option<&Range<usize>>) -> &'a [I] {
    let cols = c.row(i);
    match part {
        None => cols,
        Some(part) => &cols[within(cols, part)],
    }
}

/// The products A(i, k) ⊗ B(k, j), summed by ⊕ to words of type `W`: one call for each row of A, which goes through the
/// rows of B that it meets, in order.
///
/// # Safety
/// There is one type of value, with memory `W`, such that
/// 1. `identity` gives a word of it;
/// 2. the words written are of it, if those found in their place are.
///
/// Who calls hands over words only that came from this kernel or from values of that type.
pub(crate) unsafe trait Multiply<W: Word, I: Index>: Sync {
    /// Patterns of A and B.
    fn patterns(&self) -> (&Arc<Pattern<I>>, &Arc<Pattern<I>>);
    /// The identity of ⊕.
    fn identity(&self) -> W;
    /// The rows of C that `rows` names, whose products lie less than `window.len()` columns apart, row after row to the
    /// next of `slots`, each by `window[j & (window.len() − 1)]` ⊕= A(i, k) ⊗ B(k, j). The window holds the identity
    /// before and after.
    ///
    /// The one loop that takes several rows of A: where rows are short (5 entries in lap2d_1000, 2 or 3 in a road
    /// network), a call for each cost 4 to 12 %. Slots are taken row by row: those of a whole task, written before,
    /// have left the cache when their values come (rmat14, one thread: 4 % of the numeric phase).
    /// # Panics
    /// If the window is empty or there are fewer slots than entries.
    fn by_window(&self, rows: RowsOfC<'_, I>, window: &mut [W], slots: &mut Slots<'_, W>);
    /// `values[places[j & (places.len() − 1)]]` ⊕= A(i, k) ⊗ B(k, j) where there is such a value; a product without one
    /// is not computed.
    /// # Panics
    /// If there are no places.
    fn to_short_places(&self, row: RowOfA<'_>, values: &mut [W], places: &[u16]);
    /// As [`to_short_places`](Self::to_short_places), for rows with more entries.
    /// # Panics
    /// If there are no places.
    fn to_places(&self, row: RowOfA<'_>, values: &mut [W], places: &[u32]);
    /// `values[slots[s]]` ⊕= A(i, k) ⊗ B(k, j), with entry `p` of A, which is in row `i`, and entry `q` of B, which is
    /// in the row that it takes, and with the entries that follow: to the end of that row of B, then those of the rows
    /// that the next entries of A take.
    /// # Panics
    /// If there is no such entry or value.
    fn to_slots(&self, i: usize, p: usize, q: usize, values: &mut [W], slots: &[usize]);
    /// The loops of products that are computed one by one, of kernels that have them.
    fn one_by_one(&self) -> Option<&dyn OneByOne<W, I>> {
        None
    }
}

/// Loops of [`Multiply`] over products in any order, not whole rows of B: those of products in one pass.
///
/// # Safety
/// That of [`Multiply`].
pub(crate) unsafe trait OneByOne<W: Word, I: Index>: Multiply<W, I> {
    /// `values[s]` ⊕= A(i, k) ⊗ B(k, j) for each of `found`, in order.
    /// # Panics
    /// If there is no such entry or value.
    fn fold_masked(&self, i: usize, found: &MaskedProducts, values: &mut [W]);
    /// `sums[p]` ⊕= A(i, k) ⊗ B(k, j), p being the place of column j in the accumulator.
    /// # Panics
    /// If there are fewer places and sums than touched columns and one for each column of a row of B.
    fn accumulate_row(&self, row: RowOfA<'_>, spa: &mut SparseAccumulator<I>, sums: &mut [W]);
    /// Rows of C = A·B, of which A has at most one entry each: B's row, multiplied, and its columns unless C has them.
    /// # Panics
    /// If A has not these rows, or there are fewer slots than entries.
    fn rows_of_b(&self, rows: Range<usize>, cols: Option<&mut Slots<'_, I>>, values: &mut Slots<'_, W>);
    /// Values of rows of C = A·B, B being diagonal without gaps: those of A's rows, multiplied.
    /// # Panics
    /// If A has not these rows, or there are fewer slots than entries.
    fn rows_of_a(&self, rows: Range<usize>, values: &mut Slots<'_, W>);
    /// Appends columns and values of rows of C = A·B, row after row, columns increasing, and says in `lens` how many
    /// each has; up to a row that has more than sixteen products. How many rows that were.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    /// # Panics
    /// If A has not these rows, or `lens` is shorter.
    fn short_rows(
        &self,
        by: Sixteen,
        rows: Range<usize>,
        lens: &mut [usize],
        to: (&mut Vec<I>, &mut Vec<W>),
    ) -> Result<usize>;
}
