//! The loops over products that a semiring provides for C = A ⊕.⊗ B.

use std::ops::Range;
use std::sync::Arc;

use crate::algebra::Word;
use crate::par::OutputSlice;
use crate::simd::{MaskedProducts, Sixteen, SparseAccumulator, within};
use crate::{Index, Pattern, Result};

/// A row of A, and the columns of B to multiply it with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowOfA<'a> {
    /// The row.
    pub i: usize,
    /// Columns of B; `None` for all.
    pub part: Option<&'a Range<usize>>,
}

/// Rows of C, or a column range of them.
#[derive(Debug)]
pub(crate) struct RowsOfC<'a, I: Index> {
    /// The rows.
    pub rows: Range<usize>,
    /// The pattern of C, with all of A·B.
    pub c: &'a Pattern<I>,
    /// Columns of B and C; `None` for all.
    pub part: Option<&'a Range<usize>>,
}

impl<'a, I: Index> RowsOfC<'a, I> {
    /// Runs `products(row, window)` for each row and copies its values from the window to `take(n)`, a slice of as many
    /// values.
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
            // No products: the most common case in hypersparse matrices.
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

/// The columns of row `i` of C, restricted to `part`.
#[inline(always)]
pub(crate) fn columns_of_row<'a, I: Index>(c: &'a Pattern<I>, i: usize, part: Option<&Range<usize>>) -> &'a [I] {
    let cols = c.row(i);
    match part {
        None => cols,
        Some(part) => &cols[within(cols, part)],
    }
}

/// The products A(i, k) ⊗ B(k, j), summed by ⊕ to words of type `W`: one call per row of A, which visits the matching
/// rows of B in order.
///
/// # Safety
/// There is one type of value, with memory `W`, such that
/// 1. `identity` returns a word of it;
/// 2. the words written are of it, provided the words they replace are.
///
/// Callers pass only words that came from this kernel or from values of that type.
pub(crate) unsafe trait Multiply<W: Word, I: Index>: Sync {
    /// Patterns of A and B.
    fn patterns(&self) -> (&Arc<Pattern<I>>, &Arc<Pattern<I>>);
    /// The identity of ⊕.
    fn identity(&self) -> W;
    /// The values of the rows `rows` of C, appended to `slots` row after row, each by
    /// `window[j & (window.len() − 1)]` ⊕= A(i, k) ⊗ B(k, j). The products of a row span fewer than `window.len()`
    /// columns. The window holds the identity before and after.
    ///
    /// The only loop that takes several rows of A: with short rows (5 entries in lap2d_1000, 2 or 3 in a road network),
    /// one call per row cost 4 to 12 %. Slots are taken row by row: initialized for a whole task at once, they have
    /// left the cache by the time their values are written (rmat14, one thread: 4 % of the numeric phase).
    /// # Panics
    /// If the window is empty or there are fewer slots than entries.
    fn by_window(&self, rows: RowsOfC<'_, I>, window: &mut [W], slots: &mut OutputSlice<'_, W>);
    /// `values[positions[j & (positions.len() − 1)]]` ⊕= A(i, k) ⊗ B(k, j); products with a position past the values
    /// are not computed.
    /// # Panics
    /// If `positions` is empty.
    fn to_short_positions(&self, row: RowOfA<'_>, values: &mut [W], positions: &[u16]);
    /// [`to_short_positions`](Self::to_short_positions) with wider positions, for rows with more entries.
    /// # Panics
    /// If `positions` is empty.
    fn to_positions(&self, row: RowOfA<'_>, values: &mut [W], positions: &[u32]);
    /// `values[slots[s]]` ⊕= A(i, k) ⊗ B(k, j), from entry `p` of A, in row `i`, and entry `q` of B, in the matching
    /// row, onwards: to the end of that row of B, then through the rows of B of the next entries of A.
    /// # Panics
    /// If an entry or a slot is out of range.
    fn to_slots(&self, i: usize, p: usize, q: usize, values: &mut [W], slots: &[usize]);
    /// The loops over single products, if the kernel has them.
    fn one_by_one(&self) -> Option<&dyn OneByOne<W, I>> {
        None
    }
}

/// Loops of [`Multiply`] over single products in any order, instead of whole rows of B, for one-pass products.
///
/// # Safety
/// That of [`Multiply`].
pub(crate) unsafe trait OneByOne<W: Word, I: Index>: Multiply<W, I> {
    /// `values[s]` ⊕= A(i, k) ⊗ B(k, j) for each of `found`, in order.
    /// # Panics
    /// If an entry or a slot is out of range.
    fn fold_masked(&self, i: usize, found: &MaskedProducts, values: &mut [W]);
    /// `sums[p]` ⊕= A(i, k) ⊗ B(k, j), where p is the slot of column j in the sparse accumulator.
    /// # Panics
    /// If the accumulator or `sums` has no room for the touched columns plus one per column of a row of B.
    fn accumulate_row(&self, row: RowOfA<'_>, spa: &mut SparseAccumulator<I>, sums: &mut [W]);
    /// Rows of C = A·B for rows of A with at most one entry: the scaled row of B, with its columns if `cols` is given.
    /// # Panics
    /// If A lacks one of the rows, or there are fewer slots than entries.
    fn rows_of_b(&self, rows: Range<usize>, cols: Option<&mut OutputSlice<'_, I>>, values: &mut OutputSlice<'_, W>);
    /// Values of rows of C = A·B for B diagonal without gaps: the scaled rows of A.
    /// # Panics
    /// If A lacks one of the rows, or there are fewer slots than entries.
    fn rows_of_a(&self, rows: Range<usize>, values: &mut OutputSlice<'_, W>);
    /// Appends columns and values of rows of C = A·B, row after row, columns increasing, and writes their lengths to
    /// `lens`. Stops before a row with more than sixteen products. Returns the number of rows done.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    /// # Panics
    /// If A lacks one of the rows, or `lens` is too short.
    fn short_rows(
        &self,
        by: Sixteen,
        rows: Range<usize>,
        lens: &mut [usize],
        to: (&mut Vec<I>, &mut Vec<W>),
    ) -> Result<usize>;
}
