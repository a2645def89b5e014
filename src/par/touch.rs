//! Parallel first touch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Threads, filled, reserved};
use crate::Result;

/// [`filled`] by all threads: first touch takes longer than the work that follows.
pub(crate) fn filled_by<T: Copy + Send + Sync>(
    threads: &Threads,
    len: usize,
    x: T,
    what: &'static str,
) -> Result<Vec<T>> {
    /// Elements per task.
    const CHUNK: usize = 1 << 16;
    if len < 2 * CHUNK {
        return filled(len, x, what);
    }
    let mut v = reserved(len, what)?;
    let spare = &mut v.spare_capacity_mut()[..len];
    let (count, chunks) = (len.div_ceil(CHUNK), Mutex::new(spare.chunks_mut(CHUNK)));
    let left = AtomicUsize::new(count);
    threads.for_each(
        count,
        || Ok(()),
        |(), _| {
            let chunk = chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
            for slot in chunk.into_iter().flatten() {
                slot.write(x);
            }
            left.fetch_sub(1, Ordering::Relaxed);
            Ok(())
        },
    )?;
    assert!(left.into_inner() == 0, "chunks were left out");
    // SAFETY: the capacity is at least `len`. Each of the `count` calls took a chunk while there was one and wrote all
    // of it, so all are written after `count` calls; a panic would have unwound past this point.
    unsafe { v.set_len(len) };
    Ok(v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_elements_are_touched() {
        for count in [1, 3] {
            let threads = Threads::new(count).unwrap();
            for len in [0, 5, (1 << 17) - 1, 1 << 17, (1 << 18) + 77] {
                let v = filled_by(&threads, len, (7u32, 1.5), "test").unwrap();
                assert!(v.len() == len && v.iter().all(|x| *x == (7, 1.5)));
            }
        }
        assert!(filled_by(&Threads::caller(), usize::MAX, 0u64, "test").is_err());
    }
}
