//! Formulas that several threads run at a time, each in memory of its own.

use std::sync::{Mutex, PoisonError};

use crate::Result;
use crate::algebra::{Blocks, Formula, Scratch};

/// Memory to work in, kept for whoever wants some next: as much as threads that work at a time.
pub(crate) struct Pool<S> {
    free: Mutex<Vec<S>>,
}

impl<S> Pool<S> {
    pub(crate) fn new() -> Self {
        Self { free: Mutex::default() }
    }
    /// Runs `work` with memory that no one else uses meanwhile; `make` makes some. What `make` needs is a few kilobytes.
    pub(crate) fn with(&self, make: impl Fn() -> Result<S>, work: impl FnOnce(&mut S)) {
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut memory = loop {
            let kept = free().pop();
            match kept.map_or_else(&make, Ok) {
                Ok(memory) => break memory,
                // It could not be had: another thread's will do when it is done.
                Err(_) => std::thread::yield_now(),
            }
        };
        work(&mut memory);
        free().push(memory);
    }
    /// Keeps this memory too.
    pub(crate) fn keep(&self, memory: S) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
}

/// A formula and memory to run it in.
pub(crate) struct Runs {
    blocks: Blocks,
    scratch: Pool<Scratch>,
}

impl Runs {
    /// # Errors
    /// Those of [`Blocks::new`]; [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(formula: &Formula) -> Result<Self> {
        let (blocks, scratch) = (Blocks::new(formula)?, Pool::new());
        // What formulas run in is tried once; more is made when more threads want it at a time.
        scratch.keep(blocks.scratch()?);
        Ok(Self { blocks, scratch })
    }
    /// Runs `work` with memory that no one else uses meanwhile.
    pub(crate) fn with(&self, work: impl FnOnce(&Blocks, &mut Scratch)) {
        self.scratch.with(|| self.blocks.scratch(), |scratch| work(&self.blocks, scratch));
    }
}
