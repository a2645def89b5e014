//! The first two algorithms of Phipps and Kolda 2019 (Figures 1 and 3), for comparison. Entries are read in stored
//! order, and every product is added to its row under a lock, since threads may write to the same row. The rounding of
//! a row's sum depends on the order in which threads arrive.

use std::sync::{Mutex, PoisonError};

use super::lanes::{Entries, Factors, Through, blocks};
use crate::algebra::{Arithmetic, Value};
use crate::par::{Threads, filled, reserved};
use crate::{Index, Result};

/// Entries per task: the paper's NZPTM.
const BLOCK: usize = 128;
/// Rows whose indices agree modulo this number share a lock.
const LOCKS: usize = 4096;

/// `out`(row of e) ⊕= x ⊗ the factor rows of e, for every entry e. With `tiny` a block of columns stays in registers
/// (B), without it the row is in memory (A).
pub(super) fn locked<T: Value, A: Arithmetic<T>, I: Index>(
    threads: &Threads,
    ring: A,
    entries: &Through<'_, T, I>,
    rows: &[I],
    factors: Factors<'_, T>,
    tiny: bool,
    out: &mut [T],
) -> Result<()> {
    let rank = factors.rank;
    if rank == 0 {
        return Ok(());
    }
    let nrows = out.len() / rank;
    let locks = nrows.clamp(1, LOCKS);
    let mut stripes = reserved(locks, "rows under locks")?;
    for lock in 0..locks {
        let rows = filled((nrows + locks - 1 - lock) / locks * rank, A::ZERO, "rows under a lock")?;
        stripes.push(Mutex::new(rows));
    }
    let add = |row: usize, c: usize, x: &[T]| {
        let mut stripe = stripes[row % locks].lock().unwrap_or_else(PoisonError::into_inner);
        let sums = &mut stripe[row / locks * rank + c..][..x.len()];
        sums.iter_mut().zip(x).for_each(|(sum, &x)| *sum = ring.plus(*sum, x));
    };
    threads.for_each_of(
        "mttkrp",
        rows.len().div_ceil(BLOCK),
        || filled(rank, A::ZERO, "a row"),
        |scratch, block| {
            for (e, row) in (block * BLOCK..).zip(rows[block * BLOCK..].iter().take(BLOCK)) {
                let row = row.get();
                if tiny {
                    blocks!(rank, c, B => {
                        let mut x = entries.start::<B>(e, c);
                        for (k, factor) in factors.factors.iter().enumerate() {
                            let at = entries.row(e, k) * rank + c;
                            x.iter_mut().zip(&factor[at..at + B]).for_each(|(x, &a)| *x = ring.times(*x, a));
                        }
                        add(row, c, &x);
                    });
                } else {
                    scratch.fill(entries.start::<1>(e, 0)[0]);
                    for (k, factor) in factors.factors.iter().enumerate() {
                        let at = entries.row(e, k) * rank;
                        scratch.iter_mut().zip(&factor[at..at + rank]).for_each(|(x, &a)| *x = ring.times(*x, a));
                    }
                    add(row, 0, scratch);
                }
            }
            Ok(())
        },
    )?;
    for (lock, stripe) in stripes.into_iter().enumerate() {
        let stripe = stripe.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (k, row) in stripe.chunks(rank).enumerate() {
            out[(k * locks + lock) * rank..][..rank].copy_from_slice(row);
        }
    }
    Ok(())
}
