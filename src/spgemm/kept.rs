//! Scratch that a plan keeps from one numeric phase to the next.

use std::any::Any;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::tasks::Task;
use super::values::{Reach, RowFiller};
use crate::algebra::Word;
use crate::kernels::Multiply;
use crate::par::Slots;
use crate::{Index, Pattern, Result};

/// Fillers that no thread works with now, of any words.
#[derive(Default)]
pub(super) struct Kept(Mutex<Vec<Box<dyn Any + Send>>>);

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kept")
    }
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Vec<Box<dyn Any + Send>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Lets go of what a phase of so many threads has no use for: it counts for no one's budget.
    pub(super) fn for_phase<W: Word>(&self, workers: usize, reach: Reach) {
        let mut kept = self.lock();
        kept.retain(|x| is_for::<W>(x, reach));
        kept.truncate(workers);
    }
    /// A filler that was given back, its accumulator holding `identity`, or else a new one.
    pub(super) fn filler<W: Word>(
        &self,
        identity: W,
        reach: Reach,
        new: impl FnOnce() -> Result<RowFiller<W>>,
    ) -> Result<Borrowed<'_, W>> {
        let found = {
            let mut kept = self.lock();
            kept.iter().position(|x| is_for::<W>(x, reach)).map(|p| kept.swap_remove(p))
        };
        let filler = match found.and_then(|x| x.downcast::<RowFiller<W>>().ok()) {
            Some(mut filler) => {
                filler.set_identity(identity);
                filler
            }
            None => Box::new(new()?),
        };
        Ok(Borrowed { filler: Some(filler), kept: self })
    }
}

/// Whether it is a filler of these words that finds places this way.
fn is_for<W: Word>(x: &Box<dyn Any + Send>, reach: Reach) -> bool {
    x.downcast_ref::<RowFiller<W>>().is_some_and(|filler| filler.reach() == reach)
}

/// A filler that goes back to where it is kept.
pub(super) struct Borrowed<'a, W: Word> {
    /// Until it is dropped.
    filler: Option<Box<RowFiller<W>>>,
    kept: &'a Kept,
}

impl<W: Word> Borrowed<'_, W> {
    /// As [`RowFiller::fill`].
    pub(super) fn fill<I: Index>(
        &mut self,
        products: &dyn Multiply<W, I>,
        c: &Pattern<I>,
        task: &Task,
        slots: &mut Slots<'_, W>,
    ) {
        if let Some(filler) = &mut self.filler {
            filler.fill(products, c, task, slots);
        }
    }
}
impl<W: Word> Drop for Borrowed<'_, W> {
    fn drop(&mut self) {
        // A semiring that panicked left the places of a row behind.
        if std::thread::panicking() {
            return;
        }
        let mut kept = self.kept.lock();
        if let (Some(filler), Ok(())) = (self.filler.take(), kept.try_reserve(1)) {
            kept.push(filler);
        }
    }
}
