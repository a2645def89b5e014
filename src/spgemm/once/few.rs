//! Short rows in order: up to sixteen products are computed as they are met, their columns sorted in one register, and
//! folded in that order. The few longer rows get [places as their columns are met](super::met), and are put in order
//! afterwards.
//!
//! Source: Gustavson 1978; Batcher 1968 (the sort).

use std::sync::{Mutex, PoisonError};

use super::longer::Longer;
use crate::algebra::Word;
use crate::kernels::{OneByOne, RowOfA};
use crate::par::{Threads, append_both};
use crate::simd::Sixteen;
use crate::spgemm::tasks::{Task, Work};
use crate::{Index, Result};

/// Columns and values of A·B, and how many each row has, by tasks.
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
                let some = rows.start + done..rows.end;
                done += products.few_rows(by, some, &mut lens[done..], (&mut *cols, &mut *values))?;
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

/// What finds longer rows, made for the first of them.
fn made<'l, W: Word, I: Index>(
    longer: &'l mut Option<Longer<W, I>>,
    products: &dyn OneByOne<W, I>,
    work: &Work,
) -> Result<&'l mut Longer<W, I>> {
    match longer {
        Some(longer) => Ok(longer),
        none => Ok(none.insert(Longer::new(products, work)?)),
    }
}
