//! The edges of active rows of a block, followed by all threads of a rank.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use sparring::Result;

use crate::cluster::Shared;
use crate::wire::grow;

/// Rows per task.
const TASK: usize = 64;

/// Replaces `new` by the vertices that `follow` appends to a list, in increasing order. `follow` takes some of the rows
/// and may run on several threads.
pub(super) fn followed<R: Sync>(
    shared: &Shared,
    rows: &[R],
    new: &mut Vec<u32>,
    follow: impl Fn(&[R], &mut Vec<u32>) -> Result<()> + Sync,
) -> Result<()> {
    new.clear();
    match shared.inner.threads().filter(|threads| threads.count() > 1) {
        None => follow(rows, new)?,
        Some(threads) => {
            let all = Mutex::new(&mut *new);
            let lists = rows.par_chunks(TASK).try_fold(Vec::new, |mut list, rows| {
                follow(rows, &mut list)?;
                Ok(list)
            });
            threads.install(|| {
                lists.try_for_each(|list| {
                    let (list, mut all) = (list?, all.lock().unwrap_or_else(PoisonError::into_inner));
                    grow(&mut **all, list.len(), "vertices reached")?;
                    all.extend(list);
                    Ok(())
                })
            })?;
        }
    }
    new.sort_unstable();
    Ok(())
}

/// Appends a vertex to a list of those reached.
pub(super) fn reach(list: &mut Vec<u32>, vertex: u32) -> Result<()> {
    grow(list, 1, "vertices reached")?;
    list.push(vertex);
    Ok(())
}
