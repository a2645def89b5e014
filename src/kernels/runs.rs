//! Formulas known at run time, and memory to run them in for as many threads as want it at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

use super::BLOCK;
use crate::Result;
use crate::algebra::{Array, Blocks, Formula, Input, Scratch, SliceMut, Type};
use crate::par::{filled, reserved};

/// A place by itself in its cache lines: neighbours are locked by other threads, thousands of times a millisecond.
#[repr(align(128))]
#[derive(Default)]
struct Place(Mutex<Option<Room>>);

/// The number of this thread among those that ever ran a formula.
fn own() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static OWN: usize = THREADS.fetch_add(1, Ordering::Relaxed));
    OWN.with(|own| *own)
}

/// Places of a formula: twice as many as threads that run at a time, so that few that are numbered one after the other
/// share one.
fn places() -> usize {
    static PLACES: OnceLock<usize> = OnceLock::new();
    *PLACES.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (2 * threads).next_power_of_two().clamp(8, 256)
    })
}

/// What a thread works in.
pub(crate) struct Room {
    pub(crate) scratch: Scratch,
    /// [`BLOCK`] values of each of the first two parameters.
    pub(crate) operands: [Array; 2],
    /// [`BLOCK`] indices i, k and j.
    pub(crate) places: [Vec<u64>; 3],
}

impl Room {
    fn new(blocks: &Blocks, operands: [Type; 2]) -> Result<Self> {
        let [a, b] = operands;
        let operands = [Array::zeros(a, BLOCK)?, Array::zeros(b, BLOCK)?];
        let places = || filled(BLOCK, 0, "places of values");
        Ok(Self { scratch: blocks.scratch()?, operands, places: [places()?, places()?, places()?] })
    }
}

/// A formula, ready to be run by any thread.
pub(crate) struct Runs {
    blocks: Blocks,
    operands: [Type; 2],
    /// Memory to work in, kept for the next call, for as many threads as want some at a time: a power of two. Threads
    /// come to different places, so that they rarely meet.
    places: Vec<Place>,
}

impl Runs {
    /// # Errors
    /// Those of [`Blocks::new`] and [`Blocks::scratch`].
    pub(crate) fn new(formula: &Formula) -> Result<Self> {
        let blocks = Blocks::new(formula)?;
        let operands = [0, 1].map(|p| formula.parameters().get(p).map_or(Type::Bool, |p| p.1));
        let mut kept = reserved(places(), "places of formulas")?;
        kept.resize_with(places(), Place::default);
        // One is there in any case, that of the thread that will need it.
        kept[own() & (places() - 1)] = Place(Mutex::new(Some(Room::new(&blocks, operands)?)));
        Ok(Self { blocks, operands, places: kept })
    }
    /// Runs `work` with memory that no one else uses meanwhile.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Blocks, &mut Room) -> T) -> T {
        match &mut *self.room() {
            Some(room) => work(&self.blocks, room),
            None => unreachable!("a place without memory"),
        }
    }
    /// A place with memory. Not generic, so that it is compiled once.
    fn room(&self) -> MutexGuard<'_, Option<Room>> {
        let last = self.places.len() - 1;
        let mut at = own() & last;
        loop {
            // Who is here is not waited for: there are other places.
            match self.places[at].0.try_lock() {
                Ok(mut kept) => {
                    if kept.is_none() {
                        *kept = Room::new(&self.blocks, self.operands).ok();
                    }
                    if kept.is_some() {
                        return kept;
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
            at = (at + 1) & last;
            if at == 0 {
                // It could not be had: another thread's will do when it is done.
                std::thread::yield_now();
            }
        }
    }
    /// Runs the formula once, on inputs that [fit](Blocks::run_trusted).
    pub(crate) fn run(&self, inputs: &[Input<'_>], out: &mut SliceMut<'_>) {
        self.with(|blocks, room| blocks.run_trusted(inputs, &mut room.scratch, out));
    }
}
