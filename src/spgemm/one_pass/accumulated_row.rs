//! Rows of any length by a sparse accumulator, appended sorted or in the order of their first products.

use super::sort::SortWithPermutation;
use crate::algebra::Word;
use crate::kernels::{OneByOne, RowOfA};
use crate::par::{filled, out_of_memory};
use crate::simd::SparseAccumulator;
use crate::spgemm::columns::extend;
use crate::spgemm::tasks::Work;
use crate::{Index, Pattern, Result};

/// Computes one row after another, of any length. One per thread.
pub(super) struct AccumulatedRow<W, I: Index> {
    spa: SparseAccumulator<I>,
    /// Sums of the touched columns; the identity elsewhere, and between rows.
    sums: Vec<W>,
    identity: W,
    ncols: usize,
    /// Allocated for the first row that is sorted.
    order: Option<SortWithPermutation<I>>,
}

impl<W: Word, I: Index> AccumulatedRow<W, I> {
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(products: &dyn OneByOne<W, I>, work: &Work) -> Result<Self> {
        let ((_, b), identity) = (products.patterns(), products.identity());
        let most = positions(b, work.max_row_flops);
        let sums = filled(most, identity, "sums of a row")?;
        Ok(Self { spa: SparseAccumulator::new(b.ncols(), most)?, sums, identity, order: None, ncols: b.ncols() })
    }
    pub(super) fn row(&mut self, products: &dyn OneByOne<W, I>, row: RowOfA<'_>) -> FoundRow<'_, W, I> {
        self.spa.clear();
        products.accumulate_row(row, &mut self.spa, &mut self.sums);
        FoundRow(self)
    }
}

/// Positions that a row of at most `flops` products takes. While a row of B is added there is one for each of its
/// columns, touched before or not.
fn positions<I: Index>(b: &Pattern<I>, flops: u64) -> usize {
    usize::try_from(flops).unwrap_or(usize::MAX).min(b.ncols() + b.longest_row())
}
/// Whether the positions of rows of at most `flops` products can be numbered.
pub(super) fn has_numbers<I: Index>(b: &Pattern<I>, flops: u64) -> bool {
    const NUMBERS: usize = 1 << 31;
    // The rows of B are scanned only where there are that many products.
    flops < NUMBERS as u64 || positions(b, flops) < NUMBERS
}

/// A finished row; the accumulator is reset when it is appended.
pub(super) struct FoundRow<'a, W, I: Index>(&'a mut AccumulatedRow<W, I>);

impl<W: Word, I: Index> FoundRow<'_, W, I> {
    pub(super) fn cols(&self) -> &[I] {
        self.0.spa.cols()
    }
    /// Appends columns and values in the order of their first products.
    pub(super) fn append(self, cols: &mut Vec<I>, values: &mut Vec<W>) -> Result<()> {
        let AccumulatedRow { spa, sums, identity, .. } = self.0;
        extend(cols, spa.cols())?;
        extend(values, &sums[..spa.cols().len()])?;
        sums[..spa.cols().len()].fill(*identity);
        Ok(())
    }
    /// Appends sorted columns and their values, and returns their number.
    pub(super) fn append_in_order(self, cols: &mut Vec<I>, values: &mut Vec<W>) -> Result<usize> {
        let AccumulatedRow { spa, sums, identity, ncols, order } = self.0;
        let n = spa.cols().len();
        let order = match order {
            Some(order) => order,
            none => none.insert(SortWithPermutation::new(*ncols, sums.len())?),
        };
        let (found, positions) = order.of(spa)?;
        extend(cols, found)?;
        values.try_reserve(n).map_err(|_| out_of_memory::<W>("a block of C", values.len() + n))?;
        values.extend(positions.iter().map(|&position| sums[position as usize]));
        sums[..n].fill(*identity);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 2³¹ products and more, too large for any test, are refused.
    #[test]
    fn rows_of_2_to_31_products_are_refused() {
        let (wide, narrow) =
            (Pattern::<u64>::new(1, 1 << 40, vec![0, 0], vec![]), Pattern::<u64>::new(1, 9, vec![0, 0], vec![]));
        for (flops, fits) in [(0, true), ((1 << 31) - 1, true), (1 << 31, false), (u64::MAX, false)] {
            assert_eq!(has_numbers(wide.as_ref().unwrap(), flops), fits, "{flops}");
            assert!(has_numbers(narrow.as_ref().unwrap(), flops), "{flops}");
        }
    }
}
