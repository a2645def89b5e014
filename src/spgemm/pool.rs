//! The memory pool: chunks allocated before the rows begin, and lent to threads for a batch of rows or for one row.
//!
//! A thread holds at most one chunk, returns it when its rows are done, and enters no other parallel work while it
//! holds one. A thread that waits for a chunk therefore waits for a thread that will finish, and one chunk is enough to
//! avoid deadlock.
//!
//! Source: Deveci, Trott, Rajamanickam 2018, §3.1.2 (memory pool, one2one and many2many).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::PoolMode;
use crate::par::Threads;
use crate::sparse::out_of_memory;
use crate::{Error, Result};

/// A chunk on cache lines of its own, because threads write theirs for every row. (Two threads, the symbolic phase of
/// stencil27_60: 130 ms with chunks side by side, 42 with chunks apart.)
#[repr(align(128))]
struct Padded<A>(Mutex<A>);

/// Chunks of type `A`, all of one size.
pub(super) struct Pool<A> {
    chunks: Vec<Padded<A>>,
    mode: PoolMode,
    entered: AtomicUsize,
}

impl<A: Send> Pool<A> {
    /// `chunks` chunks, allocated by several threads so that first touch spreads their memory.
    /// # Errors
    /// [`Error::OutOfMemory`] if a chunk cannot be allocated.
    pub(super) fn new(
        threads: &Threads,
        mode: PoolMode,
        chunks: usize,
        make: impl Fn() -> Result<A> + Sync,
    ) -> Result<Self> {
        let failed = |_| out_of_memory::<Padded<A>>("memory pool", chunks);
        let made = Mutex::new(Vec::new());
        made.lock().unwrap_or_else(PoisonError::into_inner).try_reserve_exact(chunks).map_err(failed)?;
        threads.for_each(
            chunks,
            || Ok(()),
            |(), _| {
                let chunk = Padded(Mutex::new(make()?));
                made.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
                Ok::<(), Error>(())
            },
        )?;
        let chunks = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Self { chunks, mode, entered: AtomicUsize::new(0) })
    }

    /// A new, unique number for a thread that begins to use the pool.
    pub(super) fn enter(&self) -> usize {
        self.entered.fetch_add(1, Ordering::Relaxed)
    }

    /// A chunk for the thread of that number, returned when the guard is dropped.
    #[inline]
    pub(super) fn take(&self, thread: usize) -> MutexGuard<'_, A> {
        match self.mode {
            PoolMode::One2One => {
                self.chunks[thread % self.chunks.len()].0.lock().unwrap_or_else(PoisonError::into_inner)
            }
            PoolMode::Many2Many => self.first_free(thread),
        }
    }

    fn first_free(&self, thread: usize) -> MutexGuard<'_, A> {
        let n = self.chunks.len();
        loop {
            for p in 0..n {
                match self.chunks[(thread % n + p) % n].0.try_lock() {
                    Ok(chunk) => return chunk,
                    Err(TryLockError::Poisoned(e)) => return e.into_inner(),
                    Err(TryLockError::WouldBlock) => {}
                }
            }
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(mode: PoolMode, chunks: usize) -> Pool<usize> {
        let number = AtomicUsize::new(0);
        let one = Threads::new(1).unwrap();
        Pool::new(&one, mode, chunks, || Ok(number.fetch_add(1, Ordering::Relaxed))).unwrap()
    }

    #[test]
    fn one2one_gives_each_thread_its_own() {
        let pool = pool(PoolMode::One2One, 3);
        assert_eq!([pool.enter(), pool.enter(), pool.enter()], [0, 1, 2]);
        let held = [pool.take(0), pool.take(1), pool.take(2)];
        assert_eq!(held.each_ref().map(|c| **c), [0, 1, 2]);
        drop(held);
        for (thread, chunk) in [(1, 1), (1, 1), (5, 2)] {
            assert_eq!(*pool.take(thread), chunk);
        }
    }

    #[test]
    fn many2many_scans_on_from_the_threads_number() {
        let pool = pool(PoolMode::Many2Many, 3);
        let first = pool.take(1);
        let second = pool.take(1);
        let third = pool.take(1);
        assert_eq!([*first, *second, *third], [1, 2, 0]);
        drop(second);
        assert_eq!(*pool.take(0), 2);
    }

    #[test]
    fn fewer_chunks_than_threads_serve_all() {
        let threads = Threads::new(8).unwrap();
        for mode in [PoolMode::One2One, PoolMode::Many2Many] {
            for chunks in [1, 2, 3] {
                let pool = Pool::new(&threads, mode, chunks, || Ok(0usize)).unwrap();
                let work = |me: &mut usize, _| {
                    *pool.take(*me) += 1;
                    Ok(())
                };
                threads.for_each(5000, || Ok(pool.enter()), work).unwrap();
                assert_eq!((0..chunks).map(|c| *pool.chunks[c].0.lock().unwrap()).sum::<usize>(), 5000);
            }
        }
    }

    #[test]
    fn a_chunk_that_cannot_be_made_is_an_error() {
        let threads = Threads::new(2).unwrap();
        let make = || Err::<u8, _>(out_of_memory::<u8>("chunk", 7));
        assert!(matches!(Pool::new(&threads, PoolMode::One2One, 2, make), Err(Error::OutOfMemory { bytes: 7, .. })));
    }
}
