//! Rows of any length: columns get places as they are met, and are appended as they come or in order.

use crate::algebra::Word;
use crate::kernels::{Multiply, RowOfA};
use crate::par::{filled, out_of_memory, reserved};
use crate::simd::Met;
use crate::spgemm::columns::extend;
use crate::spgemm::tasks::Work;
use crate::{Index, Result};

/// Finds one row after another, of any length. One per thread.
pub(super) struct Longer<W, I> {
    met: Met<I>,
    /// Of the columns that are met; the identity elsewhere, and between rows.
    sums: Vec<W>,
    identity: W,
    /// Columns and their places.
    order: Vec<u64>,
}

impl<W: Word, I: Index> Longer<W, I> {
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(products: &dyn Multiply<W, I>, work: &Work) -> Result<Self> {
        let ((_, b), identity) = (products.patterns(), products.identity());
        // While a row of B is met there is a place for each of its columns, whether it has one before or not.
        let most = usize::try_from(work.max_row_flops).unwrap_or(usize::MAX).min(b.ncols() + b.longest_row());
        let sums = filled(most, identity, "sums of a row")?;
        Ok(Self { met: Met::new(b.ncols(), most)?, sums, identity, order: Vec::new() })
    }
    pub(super) fn row(&mut self, products: &dyn Multiply<W, I>, row: RowOfA<'_>) -> FoundRow<'_, W, I> {
        self.met.clear();
        products.to_met(row, &mut self.met, &mut self.sums);
        FoundRow(self)
    }
}

/// A row that was found; is forgotten when it is appended.
pub(super) struct FoundRow<'a, W, I>(&'a mut Longer<W, I>);

impl<W: Word, I: Index> FoundRow<'_, W, I> {
    pub(super) fn cols(&self) -> &[I] {
        self.0.met.cols()
    }
    /// Appends columns and values as they were met.
    pub(super) fn append(self, cols: &mut Vec<I>, values: &mut Vec<W>) -> Result<()> {
        let Longer { met, sums, identity, .. } = self.0;
        extend(cols, met.cols())?;
        extend(values, &sums[..met.cols().len()])?;
        sums[..met.cols().len()].fill(*identity);
        Ok(())
    }
    /// Appends columns, increasing, and their values; how many.
    pub(super) fn append_in_order(self, cols: &mut Vec<I>, values: &mut Vec<W>) -> Result<usize> {
        let Longer { met, sums, identity, order } = self.0;
        let n = met.cols().len();
        if order.capacity() < n {
            *order = reserved(sums.len(), "places of a row")?;
        }
        order.clear();
        // Columns of 32 bits, and places fewer than 2³¹.
        order.extend(met.cols().iter().zip(0u64..).map(|(j, place)| (j.get() as u64) << 32 | place));
        order.sort_unstable();
        cols.try_reserve(n).map_err(|_| out_of_memory::<I>("a block of C", cols.len() + n))?;
        values.try_reserve(n).map_err(|_| out_of_memory::<W>("a block of C", values.len() + n))?;
        let places = || order.iter().map(|&at| at as u32 as usize);
        cols.extend(places().map(|place| met.cols()[place]));
        values.extend(places().map(|place| sums[place]));
        sums[..n].fill(*identity);
        Ok(n)
    }
}
