//! Short rows, sorted. Up to sixteen products are computed in the order of B, and their columns are sorted in one
//! register; the products are then folded in that order. Longer rows, which are rare here, go through a [sparse
//! accumulator](super::by_accumulator).
//!
//! Source: Gustavson 1978; Batcher 1968 (the sort).

use std::sync::{Mutex, PoisonError};

use super::accumulated_row::AccumulatedRow;
use crate::algebra::Word;
use crate::kernels::{OneByOne, RowOfA};
use crate::par::{Threads, append_both};
use crate::simd::Sixteen;
use crate::spgemm::tasks::{Task, Work};
use crate::{Index, Result};

/// Columns and values of A·B, and the length of each row, by tasks.
pub(super) fn rows<W: Word, I: Index>(
    threads: &Threads,
    products: &dyn OneByOne<W, I>,
    by: Sixteen,
    work: &Work,
    lens: &[Mutex<&mut [usize]>],
) -> Result<(Vec<I>, Vec<W>)> {
    let hint = usize::try_from(work.flops).unwrap_or(usize::MAX);
    let state = || Ok(None);
    append_both(threads, "mxm", work.tasks.len(), hint, state, |longer, t, cols, values| {
        let Task { rows, cols: part } = &work.tasks[t];
        let mut lens = lens[t].lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = 0;
        while done < rows.len() {
            if part.is_none() {
                let block = rows.start + done..rows.end;
                done += products.short_rows(by, block, &mut lens[done..], (&mut *cols, &mut *values))?;
            }
            if done < rows.len() {
                let row =
                    made(longer, products, work)?.row(products, RowOfA { i: rows.start + done, part: part.as_ref() });
                lens[done] = row.append_in_order(cols, values)?;
                done += 1;
            }
        }
        Ok(())
    })
}

/// The accumulator for longer rows, allocated for the first of them.
fn made<'l, W: Word, I: Index>(
    longer: &'l mut Option<AccumulatedRow<W, I>>,
    products: &dyn OneByOne<W, I>,
    work: &Work,
) -> Result<&'l mut AccumulatedRow<W, I>> {
    match longer {
        Some(longer) => Ok(longer),
        none => Ok(none.insert(AccumulatedRow::new(products, work)?)),
    }
}
