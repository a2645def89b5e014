//! Rows of a result from the entries of nodes: work is split by entries, whatever the nodes are.
//!
//! A node's row is written by the task in which it begins. A node that goes on in later tasks gets what they found, in
//! their order, when all are done. Tasks depend on the number of entries alone, so results are the same bits for any
//! number of threads.

use std::sync::{Mutex, PoisonError};

use super::lanes::Stretch;
use crate::Result;
use crate::algebra::Value;
use crate::par::{Threads, collected, filled, refill};

/// Entries of a task: enough to pay for handing it out, few enough to stay in a cache while blocks of columns pass.
const GRAIN: usize = 4096;

/// Tasks for so many entries.
fn tasks(entries: usize) -> usize {
    (entries / GRAIN).clamp(1, 1 << 16)
}

/// Bytes that [`segments`] takes beside the result.
pub(super) fn head_bytes<T>(entries: usize, rank: usize) -> u128 {
    tasks(entries) as u128 * (rank * size_of::<T>()) as u128
}

/// Fills `out`, a row of `rank` values for each node, whose entries are `ptr[k]..ptr[k + 1]`: `work` folds a stretch of
/// entries.
pub(super) fn segments<T: Value>(
    threads: &Threads,
    ptr: &[usize],
    rank: usize,
    zero: T,
    out: &mut [T],
    add: impl Fn(T, T) -> T,
    work: impl Fn(&mut Stretch<'_, T>) + Sync,
) -> Result<()> {
    let nodes = ptr.len() - 1;
    let entries = ptr[nodes];
    let count = tasks(entries);
    let start = |t: usize| (entries as u128 * t as u128 / count as u128) as usize;
    // The first node that begins in task t, and the node that its first entry belongs to.
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
        refill(
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
                work(&mut Stretch {
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
