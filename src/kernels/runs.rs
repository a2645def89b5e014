//! Formulas known at run time, and memory to run them in for as many threads as want it at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError};

use crate::Result;
use crate::algebra::{Blocks, Formula, Scratch};
use crate::par::reserved;

/// Places where memory is kept. Threads come to different ones, so that they rarely meet.
const PLACES: usize = 64;

/// A place by itself in its cache lines: neighbours are locked by other threads, thousands of times a millisecond.
#[repr(align(128))]
struct Place<S>(Mutex<Option<S>>);

/// Memory to work in, kept for who comes next.
pub(crate) struct Pool<S> {
    places: Vec<Place<S>>,
}

/// The number of this thread among those that ever ran a formula.
fn own() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static OWN: usize = THREADS.fetch_add(1, Ordering::Relaxed));
    OWN.with(|own| *own)
}

impl<S> Pool<S> {
    /// Keeps this memory at first; more is made when more threads want some at a time.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(first: S) -> Result<Self> {
        let mut places = reserved(PLACES, "places of formulas")?;
        places.push(Place(Mutex::new(Some(first))));
        places.resize_with(PLACES, || Place(Mutex::new(None)));
        Ok(Self { places })
    }
    /// Runs `work` with memory that no one else uses meanwhile; `make` makes some, a few kilobytes.
    pub(crate) fn with<T>(&self, make: impl Fn() -> Result<S>, work: impl FnOnce(&mut S) -> T) -> T {
        let mut at = own() % PLACES;
        loop {
            // Who is here is not waited for: there are other places.
            match self.places[at].0.try_lock() {
                Ok(mut kept) => {
                    if kept.is_none() {
                        *kept = make().ok();
                    }
                    if let Some(memory) = &mut *kept {
                        return work(memory);
                    }
                }
                // Left in the middle of a run; made anew the next time.
                Err(TryLockError::Poisoned(kept)) => {
                    *kept.into_inner() = None;
                    self.places[at].0.clear_poison();
                    continue;
                }
                Err(TryLockError::WouldBlock) => {}
            }
            at = (at + 1) % PLACES;
            if at == 0 {
                // It could not be had: another thread's will do when it is done.
                std::thread::yield_now();
            }
        }
    }
}

/// A formula, ready to be run by any thread.
pub(crate) struct Runs {
    blocks: Blocks,
    scratch: Pool<Scratch>,
}

impl Runs {
    /// # Errors
    /// Those of [`Blocks::new`] and [`Blocks::scratch`].
    pub(crate) fn new(formula: &Formula) -> Result<Self> {
        let blocks = Blocks::new(formula)?;
        let scratch = Pool::new(blocks.scratch()?)?;
        Ok(Self { blocks, scratch })
    }
    /// Runs `work` with memory that no one else uses meanwhile.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Blocks, &mut Scratch) -> T) -> T {
        self.scratch.with(|| self.blocks.scratch(), |scratch| work(&self.blocks, scratch))
    }
}
