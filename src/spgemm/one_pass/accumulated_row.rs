//! Rows of any length by a sparse accumulator, appended in the order of their first products or sorted.

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
    /// Of the touched columns; the identity elsewhere, and between rows.
    sums: Vec<W>,
    identity: W,
    ncols: usize,
    /// Made for the first row that is sorted.
    order: Option<SortWithPermutation<I>>,
}

impl<W: Word, I: Index> AccumulatedRow<W, I> {
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(products: &dyn OneByOne<W, I>, work: &Work) -> Result<Self> {
        let ((_, b), identity) = (products.patterns(), products.identity());
        let most = places(b, work.max_row_flops);
        let sums = filled(most, identity, "sums of a row")?;
        Ok(Self { spa: SparseAccumulator::new(b.ncols(), most)?, sums, identity, order: None, ncols: b.ncols() })
    }
    pub(super) fn row(&mut self, products: &dyn OneByOne<W, I>, row: RowOfA<'_>) -> FoundRow<'_, W, I> {
        self.spa.clear();
        products.accumulate_row(row, &mut self.spa, &mut self.sums);
        FoundRow(self)
    }
}

/// Places that a row of at most `flops` products takes. While a row of B is added there is one for each of its columns,
/// touched before or not.
fn places<I: Index>(b: &Pattern<I>, flops: u64) -> usize {
    usize::try_from(flops).unwrap_or(usize::MAX).min(b.ncols() + b.longest_row())
}
/// Whether places of rows of at most `flops` products can be numbered.
pub(super) fn has_numbers<I: Index>(b: &Pattern<I>, flops: u64) -> bool {
    const NUMBERS: usize = 1 << 31;
    // Only where there are so many products are the rows of B looked through.
    flops < NUMBERS as u64 || places(b, flops) < NUMBERS
}

/// A row that was found; is forgotten when it is appended.
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
    /// Appends increasing columns and their values, and returns their number.
    pub(super) fn append_in_order(self, cols: &mut Vec<I>, values: &mut Vec<W>) -> Result<usize> {
        let AccumulatedRow { spa, sums, identity, ncols, order } = self.0;
        let n = spa.cols().len();
        let order = match order {
            Some(order) => order,
            none => none.insert(SortWithPermutation::new(*ncols, sums.len())?),
        };
        let (found, places) = order.of(spa)?;
        extend(cols, found)?;
        values.try_reserve(n).map_err(|_| out_of_memory::<W>("a block of C", values.len() + n))?;
        values.extend(places.iter().map(|&place| sums[place as usize]));
        sums[..n].fill(*identity);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 2³¹ products and more, which no test can have, go another way.
    #[test]
    fn rows_beyond_all_numbers_are_no_rows_of_this_way() {
        let (wide, narrow) =
            (Pattern::<u64>::new(1, 1 << 40, vec![0, 0], vec![]), Pattern::<u64>::new(1, 9, vec![0, 0], vec![]));
        for (flops, fits) in [(0, true), ((1 << 31) - 1, true), (1 << 31, false), (u64::MAX, false)] {
            assert_eq!(has_numbers(wide.as_ref().unwrap(), flops), fits, "{flops}");
            assert!(has_numbers(narrow.as_ref().unwrap(), flops), "{flops}");
        }
    }
}
