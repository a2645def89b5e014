//! Formulas known at run time, and memory to run them in for as many threads as want it at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, TryLockError};

use super::BLOCK;
use crate::Result;
use crate::algebra::{Array, Blocks, Formula, Input, Scratch, SliceMut, Type};
use crate::par::reserved;

/// A place by itself in its cache lines: neighbours are locked by other threads, thousands of times a millisecond.
#[repr(align(128))]
struct Place<S>(Mutex<Option<S>>);

/// Memory to work in, kept for the next call. Threads come to different places, so that they rarely meet.
pub(crate) struct Pool<S> {
    /// A power of two.
    places: Vec<Place<S>>,
}

/// The number of this thread among those that ever ran a formula.
fn own() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static OWN: usize = THREADS.fetch_add(1, Ordering::Relaxed));
    OWN.with(|own| *own)
}

/// Places of a pool: twice as many as threads that run at a time, so that few that are numbered one after the other share one.
fn places() -> usize {
    static PLACES: OnceLock<usize> = OnceLock::new();
    *PLACES.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (2 * threads).next_power_of_two().clamp(8, 256)
    })
}

impl<S> Pool<S> {
    /// Keeps this memory at first; more is made when more threads want some at a time.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(first: S) -> Result<Self> {
        let mut kept = reserved(places(), "places of formulas")?;
        kept.push(Place(Mutex::new(Some(first))));
        kept.resize_with(places(), || Place(Mutex::new(None)));
        // For the thread that made it, which will need it.
        kept.swap(0, own() & (places() - 1));
        Ok(Self { places: kept })
    }
    /// Runs `work` with memory that no one else uses meanwhile; `make` makes some, a few kilobytes.
    pub(crate) fn with<T>(&self, make: impl Fn() -> Result<S>, work: impl FnOnce(&mut S) -> T) -> T {
        let last = self.places.len() - 1;
        let mut at = own() & last;
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
            at = (at + 1) & last;
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
    rooms: Pool<Room>,
    operands: [Type; 2],
}

/// What a thread works in.
pub(crate) struct Room {
    pub(crate) scratch: Scratch,
    /// [`BLOCK`] values of each of the first two parameters.
    pub(crate) operands: [Array; 2],
    /// [`BLOCK`] indices i, k and j.
    pub(crate) places: Box<[[u64; BLOCK]; 3]>,
}

impl Room {
    fn new(blocks: &Blocks, operands: [Type; 2]) -> Result<Self> {
        let [a, b] = operands;
        let operands = [Array::zeros(a, BLOCK)?, Array::zeros(b, BLOCK)?];
        Ok(Self { scratch: blocks.scratch()?, operands, places: Box::new([[0; BLOCK]; 3]) })
    }
}

impl Runs {
    /// # Errors
    /// Those of [`Blocks::new`] and [`Blocks::scratch`].
    pub(crate) fn new(formula: &Formula) -> Result<Self> {
        let blocks = Blocks::new(formula)?;
        let operands = [0, 1].map(|p| formula.parameters().get(p).map_or(Type::Bool, |p| p.1));
        let rooms = Pool::new(Room::new(&blocks, operands)?)?;
        Ok(Self { blocks, rooms, operands })
    }
    /// Runs `work` with memory that no one else uses meanwhile.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Blocks, &mut Room) -> T) -> T {
        self.rooms.with(|| Room::new(&self.blocks, self.operands), |room| work(&self.blocks, room))
    }
    /// Runs the formula once, on inputs that [fit](Blocks::run_trusted).
    pub(crate) fn run(&self, inputs: &[Input<'_>], out: &mut SliceMut<'_>) {
        self.with(|blocks, room| blocks.run_trusted(inputs, &mut room.scratch, out));
    }
}
