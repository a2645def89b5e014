//! Rows by a sparse accumulator, sorted afterwards unless the product may be unsorted.
//!
//! Source: Gustavson 1978; Gilbert, Moler, Schreiber 1992.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::accumulated_row::AccumulatedRow;
use crate::algebra::Word;
use crate::kernels::{OneByOne, RowOfA};
use crate::par::{Threads, append_both};
use crate::spgemm::tasks::{Task, Work};
use crate::{Index, Result};

/// Columns and values of A·B, and the length of each row, by tasks; and whether all rows are sorted, as they always are
/// if `in_order`.
pub(super) fn rows<W: Word, I: Index>(
    threads: &Threads,
    products: &dyn OneByOne<W, I>,
    work: &Work,
    lens: &[Mutex<&mut [usize]>],
    in_order: bool,
) -> Result<(Vec<I>, Vec<W>, bool)> {
    let sorted = AtomicBool::new(true);
    let hint = usize::try_from(work.flops).unwrap_or(usize::MAX);
    let state = || AccumulatedRow::new(products, work);
    let (cols, values) = append_both(threads, "mxm", work.tasks.len(), hint, state, |accumulated, t, cols, values| {
        let Task { rows, cols: part } = &work.tasks[t];
        let mut lens = lens[t].lock().unwrap_or_else(PoisonError::into_inner);
        for (i, len) in rows.clone().zip(&mut **lens) {
            let row = accumulated.row(products, RowOfA { i, part: part.as_ref() });
            if in_order {
                *len = row.append_in_order(cols, values)?;
                continue;
            }
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
