//! Vectors whose blocks are made by different threads and appended in block order.
//!
//! A block's length is known only when it has been made. Each thread makes blocks in buffers that it
//! uses again and again (they stay in its cache), and copies a finished block to its place as soon as
//! the lengths of all blocks before it are known. So the result is touched once, and nothing of its size
//! is touched beside it; first touch is what large results cost most (a third of a product's time on
//! rmat14, by a sampling profiler).

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use super::memory::{LARGE, enough};
use super::{Threads, advise_huge_pages, filled, out_of_memory, reserved};
use crate::{Error, Result};

/// Appends the blocks made by `work(state, block, buffer)`, in block order. `work` gets an empty buffer; each block
/// done is progress of `op`.
///
/// `hint` guesses the length of the result, from above if possible: memory that is not touched costs nothing,
/// memory that must grow is moved.
/// # Errors
/// The first error of `work`; [`Error::OutOfMemory`].
pub(crate) fn append_blocks<T: Copy + Send, S>(
    threads: &Threads,
    op: &'static str,
    blocks: usize,
    hint: usize,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &mut Vec<T>) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    append_as_left(threads, op, blocks, hint, state, |state, block, buffer| {
        buffer.clear();
        work(state, block, buffer)
    })
}

/// As [`append_blocks`], but for the buffer, which has what another block left in it.
fn append_as_left<T: Copy + Send, S>(
    threads: &Threads,
    op: &'static str,
    blocks: usize,
    hint: usize,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &mut Vec<T>) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    let blocks_made = Blocks::new(blocks, hint)?;
    threads.for_each_of(
        op,
        blocks,
        || Ok((state()?, blocks_made.worker())),
        |(state, worker), block| {
            let mut buffer = worker.buffer();
            work(state, block, &mut buffer)?;
            worker.place(block, buffer)
        },
    )?;
    blocks_made.into_vec(blocks)
}

/// As [`append_blocks`], for two vectors, columns and values say, whose blocks are made together.
/// # Errors
/// As there.
pub(crate) fn append_both<T: Copy + Send, U: Copy + Send, S>(
    threads: &Threads,
    op: &'static str,
    blocks: usize,
    hint: usize,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &mut Vec<T>, &mut Vec<U>) -> Result<()> + Sync,
) -> Result<(Vec<T>, Vec<U>)> {
    append_both_as_left(threads, op, blocks, hint, state, |state, block, buffer, other| {
        buffer.clear();
        other.clear();
        work(state, block, buffer, other)
    })
}

/// As [`append_both`], but for the buffers, which have what another block left in them: who overwrites them need not
/// empty and fill them first.
/// # Errors
/// As there.
pub(crate) fn append_both_as_left<T: Copy + Send, U: Copy + Send, S>(
    threads: &Threads,
    op: &'static str,
    blocks: usize,
    hint: usize,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &mut Vec<T>, &mut Vec<U>) -> Result<()> + Sync,
) -> Result<(Vec<T>, Vec<U>)> {
    let others = Blocks::new(blocks, hint)?;
    let state = || Ok((state()?, others.worker()));
    let made = append_as_left(threads, op, blocks, hint, state, |(state, worker), block, buffer| {
        let mut other = worker.buffer();
        work(state, block, buffer, &mut other)?;
        worker.place(block, other)
    })?;
    Ok((made, others.into_vec(blocks)?))
}

/// Elements that an only block has room for at first.
const FIRST: usize = 1 << 10;

/// The block without room to grow, if that is more than a few kilobytes and than half of it.
fn trimmed<T: Copy>(block: Vec<T>) -> Vec<T> {
    if block.capacity() > FIRST
        && block.len() < block.capacity() / 2
        && let Ok(mut exact) = reserved(block.len(), "a block")
    {
        exact.extend_from_slice(&block);
        return exact;
    }
    block
}

/// The blocks made so far, of any caller: only the elements' type is known here.
struct Blocks<T> {
    order: Mutex<Order>,
    memory: Memory<T>,
    leftover: Mutex<Vec<(usize, Vec<T>)>>,
    /// The buffer of an only block, which becomes the result: it has no place to wait for.
    only: Option<Mutex<Vec<T>>>,
}

impl<T: Copy> Blocks<T> {
    fn new(blocks: usize, hint: usize) -> Result<Self> {
        let only = if blocks == 1 { Some(Mutex::new(reserved(hint.min(FIRST), "a block")?)) } else { None };
        let (places, hint) = if only.is_some() { (Order::default(), 0) } else { (Order::new(blocks)?, hint) };
        Ok(Self { order: Mutex::new(places), memory: Memory::new(hint), leftover: Mutex::new(Vec::new()), only })
    }
    fn worker(&self) -> Worker<'_, T> {
        Worker { blocks: self, free: Vec::new(), waiting: Vec::new() }
    }
    /// All blocks, when every thread is done.
    fn into_vec(self, blocks: usize) -> Result<Vec<T>> {
        if let Some(only) = self.only {
            return Ok(trimmed(only.into_inner().unwrap_or_else(PoisonError::into_inner)));
        }
        let order = self.order.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (block, buffer) in self.leftover.into_inner().unwrap_or_else(PoisonError::into_inner) {
            // SAFETY: the ranges of distinct blocks are disjoint, and each block is placed once; all threads are done.
            unsafe { self.memory.write(order.starts[block], &buffer)? };
        }
        // SAFETY: every block was made and placed, so all elements before the end of the last one are written.
        unsafe { self.memory.into_vec(order.starts[blocks]) }
    }
}

const UNKNOWN: usize = usize::MAX;

/// Where blocks start, as far as known.
#[derive(Default)]
struct Order {
    starts: Vec<usize>,
    lens: Vec<usize>,
    known: usize,
}

impl Order {
    fn new(blocks: usize) -> Result<Self> {
        let mut starts = filled(blocks + 1, UNKNOWN, "block offsets")?;
        starts[0] = 0;
        Ok(Self { starts, lens: filled(blocks, UNKNOWN, "block lengths")?, known: 0 })
    }

    fn set(&mut self, block: usize, len: usize) {
        self.lens[block] = len;
        while self.known < self.lens.len() && self.lens[self.known] != UNKNOWN {
            self.starts[self.known + 1] = self.starts[self.known] + self.lens[self.known];
            self.known += 1;
        }
    }
}

/// A thread's buffers; what it could not place when it runs out of work goes to those left over.
struct Worker<'a, T> {
    blocks: &'a Blocks<T>,
    free: Vec<Vec<T>>,
    waiting: Vec<(usize, Vec<T>)>,
}

impl<T: Copy> Worker<'_, T> {
    /// A buffer, as another block left it.
    fn buffer(&mut self) -> Vec<T> {
        match &self.blocks.only {
            Some(only) => std::mem::take(&mut *only.lock().unwrap_or_else(PoisonError::into_inner)),
            None => self.free.pop().unwrap_or_default(),
        }
    }
    /// Takes a block that is made, and puts in place all those of this thread whose places are known.
    fn place(&mut self, block: usize, buffer: Vec<T>) -> Result<()> {
        if let Some(only) = &self.blocks.only {
            *only.lock().unwrap_or_else(PoisonError::into_inner) = buffer;
            return Ok(());
        }
        let order = || self.blocks.order.lock().unwrap_or_else(PoisonError::into_inner);
        order().set(block, buffer.len());
        self.waiting.push((block, buffer));
        let mut i = 0;
        while i < self.waiting.len() {
            let start = order().starts[self.waiting[i].0];
            if start == UNKNOWN {
                i += 1;
                continue;
            }
            let (_, buffer) = self.waiting.swap_remove(i);
            // SAFETY: the ranges start..start + len of distinct blocks are disjoint, and each block is placed once.
            unsafe { self.blocks.memory.write(start, &buffer)? };
            self.free.push(buffer);
        }
        Ok(())
    }
}

impl<T> Drop for Worker<'_, T> {
    fn drop(&mut self) {
        self.blocks.leftover.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.waiting);
    }
}

/// Growing memory that many threads write at once.
struct Memory<T> {
    block: RwLock<Block<T>>,
    /// Elements that may be touched before the system is asked again: room that was granted is not memory yet.
    granted: AtomicUsize,
    /// Elements to ask for at once.
    step: usize,
    /// Whether the system has so many bytes left.
    spare: fn(u128) -> bool,
}

/// Bytes up to which a block that is at least half full stays as it is. glibc learns from freed blocks up to this size
/// which it should keep for the next, so one that was cut would be new memory each time: a third of a road network's
/// product.
const KEPT: usize = 32 << 20;

struct Block<T> {
    start: NonNull<T>,
    capacity: usize,
}

// SAFETY: the memory is owned; it is written through `Memory::write` alone, whose contract keeps ranges disjoint.
unsafe impl<T: Send> Send for Block<T> {}
// SAFETY: as above; nothing reads it before `into_vec` takes it by value.
unsafe impl<T: Send> Sync for Block<T> {}

impl<T: Copy> Memory<T> {
    /// With room for `hint` elements, or for fewer.
    fn new(mut hint: usize) -> Self {
        let mut block = Block { start: NonNull::dangling(), capacity: 0 };
        // A guess that the system refuses is halved: it is only a guess.
        while hint > 0 && block.resize(hint).is_err() {
            hint /= 2;
        }
        // What is smaller than a step is not worth a question.
        let step = (LARGE as usize).div_ceil(size_of::<T>().max(1));
        Self { block: RwLock::new(block), granted: AtomicUsize::new(step), step, spare: enough }
    }

    /// Refuses to touch the elements before `end` where the system could not back them. Threads that ask at once ask
    /// for the same.
    #[cold]
    fn grant(&self, end: usize) -> Result<()> {
        let granted = end.saturating_add(self.step);
        let more = granted.saturating_sub(self.granted.load(Ordering::Relaxed));
        if !(self.spare)(more as u128 * size_of::<T>() as u128) {
            return Err(out_of_memory::<T>("a result", end));
        }
        self.granted.fetch_max(granted, Ordering::Relaxed);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.block.read().unwrap_or_else(PoisonError::into_inner).capacity
    }

    /// Makes room for `needed` elements; what was written stays.
    fn grow(&self, needed: usize) -> Result<()> {
        let mut block = self.block.write().unwrap_or_else(PoisonError::into_inner);
        if needed <= block.capacity {
            return Ok(());
        }
        let wanted = needed.max(block.capacity.saturating_mul(2)).max(1024);
        // If twice the room is not to be had, the room needed may be.
        block.resize(wanted).or_else(|_| block.resize(needed))
    }

    /// Copies `xs` to `start..`, making room first.
    /// # Safety
    /// Ranges written must be disjoint.
    unsafe fn write(&self, start: usize, xs: &[T]) -> Result<()> {
        if xs.is_empty() {
            return Ok(());
        }
        let end = start.checked_add(xs.len()).ok_or_else(|| out_of_memory::<T>("a result", usize::MAX))?;
        if end > self.granted.load(Ordering::Relaxed) {
            self.grant(end)?;
        }
        if end > self.capacity() {
            self.grow(end)?;
        }
        let block = self.block.read().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: 1. start + len ≤ capacity, which never shrinks while blocks are written; 2. the read lock keeps
        // the memory where it is; 3. no other thread writes this range, by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(xs.as_ptr(), block.start.as_ptr().add(start), xs.len()) };
        Ok(())
    }

    /// The first `len` elements.
    /// # Safety
    /// They must have been written.
    unsafe fn into_vec(self, len: usize) -> Result<Vec<T>> {
        let mut block = self.block.into_inner().unwrap_or_else(PoisonError::into_inner);
        if len == 0 {
            return Ok(Vec::new());
        }
        let kept = block.capacity <= KEPT / size_of::<T>().max(1) && block.capacity / 2 <= len;
        if len < block.capacity && !kept {
            block.resize(len)?;
        }
        let block = std::mem::ManuallyDrop::new(block);
        // SAFETY: the memory comes from the global allocator with the layout of `capacity` elements of `T`, and
        // its first `len` ≤ capacity elements are initialized.
        Ok(unsafe { Vec::from_raw_parts(block.start.as_ptr(), len, block.capacity) })
    }
}

impl<T> Block<T> {
    fn layout(capacity: usize) -> Result<Layout> {
        Layout::array::<T>(capacity).map_err(|_| out_of_memory::<T>("a result", capacity))
    }

    /// Moves to memory for `capacity` > 0 elements.
    fn resize(&mut self, capacity: usize) -> Result<()> {
        let layout = Self::layout(capacity)?;
        assert!(layout.size() > 0, "elements have a size");
        let start = if self.capacity == 0 {
            // SAFETY: the layout's size is not zero.
            unsafe { alloc(layout) }
        } else {
            // SAFETY: the block was allocated with this layout, and the new size is neither zero nor too large.
            unsafe { realloc(self.start.as_ptr().cast(), Self::layout(self.capacity)?, layout.size()) }
        };
        // On failure the old memory stays as it was.
        self.start =
            NonNull::new(start.cast()).ok_or(Error::OutOfMemory { what: "a result", bytes: layout.size() as u128 })?;
        if capacity > self.capacity {
            // SAFETY: the memory is ours and `MaybeUninit` asks nothing of it.
            advise_huge_pages(unsafe {
                std::slice::from_raw_parts_mut(self.start.as_ptr().cast::<std::mem::MaybeUninit<T>>(), capacity)
            });
        }
        self.capacity = capacity;
        Ok(())
    }
}

impl<T> Drop for Block<T> {
    fn drop(&mut self) {
        if self.capacity > 0
            && let Ok(layout) = Self::layout(self.capacity)
        {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_any_length_arrive_in_order() {
        for threads in [1, 2, 3, 8] {
            let pool = Threads::new(threads).unwrap();
            for (blocks, hint) in [(0, 0), (1, 10), (2, 0), (100, 3), (100, 100_000)] {
                let len = |b: usize| (b * 7919) % 1013;
                let block = |b: usize| (0..len(b)).map(move |i| (b * 10_000 + i) as u32);
                let all = append_blocks(
                    &pool,
                    "test",
                    blocks,
                    hint,
                    || Ok(()),
                    |(), b, out| {
                        out.extend(block(b));
                        Ok(())
                    },
                );
                assert_eq!(all.unwrap(), (0..blocks).flat_map(block).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn an_only_block_is_the_result() {
        for len in [0, 5, FIRST as u32, 5000] {
            for hint in [0, 10, 1 << 40] {
                let work = |(): &mut (), _: usize, xs: &mut Vec<u32>, ys: &mut Vec<u8>| {
                    xs.extend(0..len);
                    ys.extend((0..len).map(|i| i as u8));
                    Ok(())
                };
                let (xs, ys) = append_both(&Threads::caller(), "test", 1, hint, || Ok(()), work).unwrap();
                assert!(xs.iter().copied().eq(0..len) && ys.iter().copied().eq((0..len).map(|i| i as u8)));
                assert!(xs.capacity() <= FIRST.max(2 * xs.len()), "{} for {len}", xs.capacity());
            }
        }
    }

    #[test]
    fn an_error_ends_it() {
        let pool = Threads::new(2).unwrap();
        let failed = append_blocks(
            &pool,
            "test",
            50,
            0,
            || Ok(()),
            |(), b, out| {
                out.push(1u8);
                if b == 20 { Err(Error::Argument { name: "b", message: "20".into() }) } else { Ok(()) }
            },
        );
        assert!(matches!(failed, Err(Error::Argument { name: "b", .. })));
    }

    #[test]
    fn a_panic_reaches_the_caller_and_memory_is_given_back() {
        for threads in [1, 2, 8] {
            let pool = Threads::new(threads).unwrap();
            let work = |(): &mut (), b: usize, out: &mut Vec<u64>| {
                assert!(b != 20, "a test");
                out.resize(1000, b as u64);
                Ok(())
            };
            let run = || append_blocks(&pool, "test", 50, 10, || Ok(()), work);
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
            let work = |(): &mut (), b: usize, out: &mut Vec<u64>| {
                out.push(b as u64);
                Ok(())
            };
            assert_eq!(append_blocks(&pool, "test", 50, 0, || Ok(()), work).unwrap(), (0..50).collect::<Vec<_>>());
        }
    }

    /// Room is reserved for more than there is; what is written must find memory all the same.
    #[test]
    fn memory_is_asked_for_before_it_is_touched() {
        static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);
        let memory = Memory {
            granted: AtomicUsize::new(10),
            step: 10,
            spare: |bytes| bytes <= LEFT.load(Ordering::Relaxed) as u128,
            ..Memory::new(100)
        };
        // SAFETY: the ranges are disjoint.
        let write = |start: usize, len: usize| unsafe { memory.write(start, &vec![7u64; len]) };
        LEFT.store(0, Ordering::Relaxed);
        write(0, 10).unwrap();
        assert!(matches!(write(10, 1), Err(Error::OutOfMemory { bytes: 88, .. })));
        // Eleven more, and a step, are granted at once.
        LEFT.store(8 * 21, Ordering::Relaxed);
        write(10, 11).unwrap();
        LEFT.store(0, Ordering::Relaxed);
        write(21, 10).unwrap();
        assert!(write(31, 1).is_err());
        // SAFETY: the elements before 31 are written.
        assert_eq!(unsafe { memory.into_vec(31) }.unwrap(), [7; 31]);
    }

    #[test]
    fn a_block_that_is_half_full_stays_as_it_is() {
        for (written, capacity) in [(49, 49), (50, 100), (100, 100)] {
            let memory = Memory::new(100);
            // SAFETY: nothing else is written; then all of it is.
            let v = unsafe {
                memory.write(0, &vec![1u64; written]).unwrap();
                memory.into_vec(written).unwrap()
            };
            assert_eq!((v.len(), v.capacity()), (written, capacity));
        }
    }

    #[test]
    fn a_state_that_cannot_be_made_is_an_error() {
        let pool = Threads::new(2).unwrap();
        let state = || -> Result<()> { Err(Error::Argument { name: "state", message: "none".into() }) };
        assert!(append_blocks(&pool, "test", 3, 3, state, |(), _, _: &mut Vec<u8>| Ok(())).is_err());
    }
}
