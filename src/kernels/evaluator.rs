//! Formulas known at run time, with a pool of scratch memory for concurrent callers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

use super::BLOCK;
use crate::Result;
use crate::algebra::{Array, Blocks, Formula, Input, Scratch, SliceMut, Type};
use crate::par::{filled, reserved};

/// A slot padded to its own cache lines: threads lock adjacent slots thousands of times per millisecond.
#[repr(align(128))]
#[derive(Default)]
struct Slot(Mutex<Option<Workspace>>);

/// The index of this thread among all threads that have run a formula.
fn own() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static OWN: usize = THREADS.fetch_add(1, Ordering::Relaxed));
    OWN.with(|own| *own)
}

/// Number of slots per formula: twice the number of threads that run at a time, so that few consecutively numbered
/// threads share one.
fn slot_count() -> usize {
    static SLOT_COUNT: OnceLock<usize> = OnceLock::new();
    *SLOT_COUNT.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (2 * threads).next_power_of_two().clamp(8, 256)
    })
}

/// Scratch memory of a thread.
pub(crate) struct Workspace {
    pub(crate) scratch: Scratch,
    /// [`BLOCK`] values of each of the first two parameters.
    pub(crate) operands: [Array; 2],
    /// [`BLOCK`] indices i, k and j.
    pub(crate) indices: [Vec<u64>; 3],
}

impl Workspace {
    fn new(blocks: &Blocks, operands: [Type; 2]) -> Result<Self> {
        let [a, b] = operands;
        let operands = [Array::zeros(a, BLOCK)?, Array::zeros(b, BLOCK)?];
        let indices = || filled(BLOCK, 0, "indices of values");
        Ok(Self { scratch: blocks.scratch()?, operands, indices: [indices()?, indices()?, indices()?] })
    }
}

/// A formula, ready to be evaluated by any thread.
pub(crate) struct Evaluator {
    blocks: Blocks,
    operands: [Type; 2],
    /// Scratch memory kept for later calls, one slot per concurrent thread: a power of two. Threads start at different
    /// slots, so contention is rare.
    slots: Vec<Slot>,
}

impl Evaluator {
    /// # Errors
    /// Those of [`Blocks::new`] and [`Blocks::scratch`].
    pub(crate) fn new(formula: &Formula) -> Result<Self> {
        let blocks = Blocks::new(formula)?;
        let operands = [0, 1].map(|p| formula.parameters().get(p).map_or(Type::Bool, |p| p.1));
        let mut slots = reserved(slot_count(), "scratch of formulas")?;
        slots.resize_with(slot_count(), Slot::default);
        // One slot is always filled: that of the thread that will need it.
        slots[own() & (slot_count() - 1)] = Slot(Mutex::new(Some(Workspace::new(&blocks, operands)?)));
        Ok(Self { blocks, operands, slots })
    }
    /// Runs `work` with exclusive scratch memory.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Blocks, &mut Workspace) -> T) -> T {
        match &mut *self.workspace() {
            Some(workspace) => work(&self.blocks, workspace),
            None => unreachable!("an empty slot"),
        }
    }
    /// A filled slot. Not generic, so that it is compiled once.
    fn workspace(&self) -> MutexGuard<'_, Option<Workspace>> {
        let last = self.slots.len() - 1;
        let mut at = own() & last;
        loop {
            // Never blocks: tries the next slot.
            match self.slots[at].0.try_lock() {
                Ok(mut kept) => {
                    if kept.is_none() {
                        *kept = Workspace::new(&self.blocks, self.operands).ok();
                    }
                    if kept.is_some() {
                        return kept;
                    }
                }
                // A run panicked midway; the scratch is created anew.
                Err(TryLockError::Poisoned(kept)) => {
                    *kept.into_inner() = None;
                    self.slots[at].0.clear_poison();
                    continue;
                }
                Err(TryLockError::WouldBlock) => {}
            }
            at = (at + 1) & last;
            if at == 0 {
                // Slots were busy or could not be filled: yields to the threads that hold scratch.
                std::thread::yield_now();
            }
        }
    }
    /// Evaluates the formula once, on inputs that [fit](Blocks::run_trusted).
    pub(crate) fn run(&self, inputs: &[Input<'_>], out: &mut SliceMut<'_>) {
        self.with(|blocks, workspace| blocks.run_trusted(inputs, &mut workspace.scratch, out));
    }
}
