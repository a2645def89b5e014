//! Rows of a result folded from the entries of nodes. Work is split evenly by entries, whatever the sizes of the nodes.
//!
//! A node's row is written by the task in which the node begins. The partial sums of later tasks for that node are
//! added in order when all tasks are done. Tasks depend only on the number of entries, so results are bitwise the same
//! for any number of threads.

use std::sync::{Mutex, PoisonError};

use super::lanes::Segment;
use crate::Result;
use crate::algebra::Value;
use crate::par::{Threads, collected, filled, overwrite_blocks};

/// Entries per task: enough to outweigh scheduling, few enough to stay in a cache while the blocks of columns are
/// processed.
const GRAIN: usize = 4096;

/// Number of tasks for `entries` entries.
fn tasks(entries: usize) -> usize {
    (entries / GRAIN).clamp(1, 1 << 16)
}

/// Bytes that [`segments`] allocates in addition to the result.
pub(super) fn head_bytes<T>(entries: usize, rank: usize) -> u128 {
    tasks(entries) as u128 * (rank * size_of::<T>()) as u128
}

/// Fills `out`, which has a row of `rank` values for each node k, from the entries `ptr[k]..ptr[k + 1]`; `work` folds
/// one segment of entries.
pub(super) fn segments<T: Value>(
    threads: &Threads,
    ptr: &[usize],
    rank: usize,
    zero: T,
    out: &mut [T],
    add: impl Fn(T, T) -> T,
    work: impl Fn(&mut Segment<'_, T>) + Sync,
) -> Result<()> {
    let nodes = ptr.len() - 1;
    let entries = ptr[nodes];
    let count = tasks(entries);
    let start = |t: usize| (entries as u128 * t as u128 / count as u128) as usize;
    // The first node that begins in task t, and the node of the task's first entry.
    let from = |t: usize| match t {
        0 => 0,
        _ if t == count => nodes,
        _ => ptr.partition_point(|&p| p < start(t)).min(nodes),
    };
    let first = |t: usize| ptr.partition_point(|&p| p <= start(t)).saturating_sub(1);
    let mut heads = filled(count * rank, zero, "rows that tasks share")?;
    {
        let parts =
            collected(count, heads.chunks_mut(rank.max(1)).map(|h| Mutex::new(Some(h))), "rows that tasks share")?;
        overwrite_blocks(
            out,
            threads,
            "mttkrp",
            count,
            |t| from(t) * rank,
            || Ok(()),
            |(), t, slots| {
                let rows = slots.rest(zero);
                let head = parts.get(t).and_then(|h| h.lock().unwrap_or_else(PoisonError::into_inner).take());
                let entries = start(t)..start(t + 1);
                work(&mut Segment {
                    ptr,
                    entries,
                    first: first(t),
                    from: from(t),
                    rows,
                    head: head.unwrap_or_default(),
                });
                Ok(())
            },
        )?;
    }
    for t in 1..count {
        let node = first(t);
        if node < from(t) {
            let head = &heads[t * rank..][..rank];
            out[node * rank..][..rank].iter_mut().zip(head).for_each(|(sum, &x)| *sum = add(*sum, x));
        }
    }
    Ok(())
}
