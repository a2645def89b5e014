//! Scratch that a plan caches between its numeric phases.

use std::any::Any;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::tasks::Task;
use super::values::{Lookup, RowFiller};
use crate::algebra::Word;
use crate::kernels::Multiply;
use crate::par::OutputSlice;
use crate::{Index, Pattern, Result};

/// Idle fillers, of any word type.
#[derive(Default)]
pub(super) struct ScratchCache(Mutex<Vec<Box<dyn Any + Send>>>);

impl fmt::Debug for ScratchCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScratchCache")
    }
}

impl ScratchCache {
    fn lock(&self) -> MutexGuard<'_, Vec<Box<dyn Any + Send>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Frees the fillers that a phase of `workers` threads cannot use, because no budget counts them.
    pub(super) fn for_phase<W: Word>(&self, workers: usize, lookup: Lookup) {
        let mut idle = self.lock();
        idle.retain(|x| is_for::<W>(x, lookup));
        idle.truncate(workers);
    }
    /// An idle filler, its accumulator reset to `identity`, or else a new one.
    pub(super) fn filler<W: Word>(
        &self,
        identity: W,
        lookup: Lookup,
        new: impl FnOnce() -> Result<RowFiller<W>>,
    ) -> Result<Borrowed<'_, W>> {
        let found = {
            let mut idle = self.lock();
            idle.iter().position(|x| is_for::<W>(x, lookup)).map(|p| idle.swap_remove(p))
        };
        let filler = match found.and_then(|x| x.downcast::<RowFiller<W>>().ok()) {
            Some(mut filler) => {
                filler.set_identity(identity);
                filler
            }
            None => Box::new(new()?),
        };
        Ok(Borrowed { filler: Some(filler), cache: self })
    }
}

/// Whether `x` is a filler of this word type with this lookup.
fn is_for<W: Word>(x: &Box<dyn Any + Send>, lookup: Lookup) -> bool {
    x.downcast_ref::<RowFiller<W>>().is_some_and(|filler| filler.lookup() == lookup)
}

/// A filler that returns to the cache when it is dropped.
pub(super) struct Borrowed<'a, W: Word> {
    /// Until it is dropped.
    filler: Option<Box<RowFiller<W>>>,
    cache: &'a ScratchCache,
}

impl<W: Word> Borrowed<'_, W> {
    /// As [`RowFiller::fill`].
    pub(super) fn fill<I: Index>(
        &mut self,
        products: &dyn Multiply<W, I>,
        c: &Pattern<I>,
        task: &Task,
        slots: &mut OutputSlice<'_, W>,
    ) {
        if let Some(filler) = &mut self.filler {
            filler.fill(products, c, task, slots);
        }
    }
}
impl<W: Word> Drop for Borrowed<'_, W> {
    fn drop(&mut self) {
        // A semiring that panicked left the positions of a row behind.
        if std::thread::panicking() {
            return;
        }
        let mut idle = self.cache.lock();
        if let (Some(filler), Ok(())) = (self.filler.take(), idle.try_reserve(1)) {
            idle.push(filler);
        }
    }
}
