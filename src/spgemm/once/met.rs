//! Rows in any order: columns get their places as they are met, and sums beside them.
//!
//! Tried: short rows put in order afterwards, for products whose rows must be. Columns with their places in one register, sorted: a road
//! network took 10.4 ms on one thread against 6.9 in two passes.
//!
//! Source: Gustavson 1978.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::algebra::Word;
use crate::kernels::{Multiply, RowOfA};
use crate::par::{Threads, append_both, filled};
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
    let ((_, b), identity, sorted) = (products.patterns(), products.identity(), AtomicBool::new(true));
    let flops = |flops| usize::try_from(flops).unwrap_or(usize::MAX);
    // While a row of B is met there is a place for each of its columns, whether it has one before or not.
    let most = flops(work.max_row_flops).min(b.ncols() + b.longest_row());
    let state = || Ok((Met::new(b.ncols(), most)?, filled(most, identity, "sums of a row")?));
    let hint = flops(work.flops);
    let (cols, values) = append_both(threads, "mxm", work.tasks.len(), hint, state, |(met, sums), t, cols, values| {
        let Task { rows, cols: part } = &work.tasks[t];
        let mut lens = lens[t].lock().unwrap_or_else(PoisonError::into_inner);
        for (i, len) in rows.clone().zip(&mut **lens) {
            met.clear();
            products.to_met(RowOfA { i, part: part.as_ref() }, met, sums);
            *len = met.cols().len();
            extend(cols, met.cols())?;
            extend(values, &sums[..*len])?;
            sums[..*len].fill(identity);
            if sorted.load(Ordering::Relaxed) && !met.cols().is_sorted() {
                sorted.store(false, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok((cols, values, sorted.into_inner()))
}
