//! Parallel loops over owned parts.

use std::sync::{Mutex, PoisonError};

use super::Threads;
use crate::Result;

/// Runs `work(state, part)` once for each part; each thread creates one `state`.
pub(crate) fn for_each_part<P: Send, S>(
    threads: &Threads,
    parts: Vec<P>,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, P) -> Result<()> + Sync,
) -> Result<()> {
    let (count, parts) = (parts.len(), Mutex::new(parts.into_iter()));
    threads.for_each(count, state, |s, _| {
        let part = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        part.map_or(Ok(()), |part| work(s, part))
    })
}
