//! Rows in any order: columns get their places as they are met, and sums beside them.
//!
//! Source: Gustavson 1978.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::algebra::Word;
use crate::kernels::{Multiply, RowOfA};
use crate::par::{Threads, append_both, filled, reserved};
use crate::simd::Met;
use crate::spgemm::columns::extend;
use crate::spgemm::tasks::{Task, Work};
use crate::{Index, Result};

/// Columns and values of A·B, and how many each row has, by tasks; whether all rows are in order.
pub(super) fn rows<W: Word, I: Index>(
    threads: &Threads,
    products: &dyn Multiply<W, I>,
    work: &Work,
    lens: &[Mutex<&mut [usize]>],
) -> Result<(Vec<I>, Vec<W>, bool)> {
    let sorted = AtomicBool::new(true);
    let hint = usize::try_from(work.flops).unwrap_or(usize::MAX);
    let state = || Longer::new(products, work);
    let (cols, values) = append_both(threads, "mxm", work.tasks.len(), hint, state, |longer, t, cols, values| {
        let Task { rows, cols: part } = &work.tasks[t];
        let mut lens = lens[t].lock().unwrap_or_else(PoisonError::into_inner);
        for (i, len) in rows.clone().zip(&mut **lens) {
            let row = longer.row(products, RowOfA { i, part: part.as_ref() });
            *len = row.cols().len();
            if sorted.load(Ordering::Relaxed) && !row.cols().is_sorted() {
                sorted.store(false, Ordering::Relaxed);
            }
            row.append(cols, values)?;
        }
        Ok(())
    })?;
    Ok((cols, values, sorted.into_inner()))
}

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
        let place = |&at: &u64| at as u32 as usize;
        for at in &*order {
            extend(cols, &[met.cols()[place(at)]])?;
            extend(values, &[sums[place(at)]])?;
        }
        sums[..n].fill(*identity);
        Ok(n)
    }
}
