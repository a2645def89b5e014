//! Vectors whose blocks are computed by different threads and appended in block order.
//!
//! A block's length is known only once it is computed. Each thread computes blocks in buffers that it reuses (they stay
//! in its cache), and copies a finished block to its final position as soon as the lengths of all earlier blocks are
//! known. The result is therefore touched once, and no other memory of its size is touched: first touch is the largest
//! cost of large results (a third of a product's time on rmat14, by a sampling profiler).

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use super::memory::{LARGE, enough};
use super::{Threads, advise_huge_pages, filled, out_of_memory, reserved};
use crate::{Error, Result};

/// Appends the blocks computed by `work(state, block, buffer)`, in block order. `work` receives an empty buffer; each
/// finished block counts as progress of `op`.
///
/// `hint` estimates the length of the result, if possible from above: memory that is not touched costs nothing, but
/// growing memory moves it.
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

/// Like [`append_blocks`], except that the buffer still has the contents of an earlier block.
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

/// Like [`append_blocks`], for two vectors (say, columns and values) whose blocks are computed together.
/// # Errors
/// Those of [`append_blocks`].
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

/// Like [`append_both`], except that the buffers still have the contents of an earlier block: a caller that overwrites
/// them need not clear and refill them first.
/// # Errors
/// Those of [`append_blocks`].
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

/// Initial capacity of a single block.
const FIRST: usize = 1 << 10;

/// Shrinks a block that is more than a few kilobytes and less than half full.
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

/// The blocks computed so far. Generic in the element type only, not in the caller's closures.
struct Blocks<T> {
    offsets: Mutex<BlockOffsets>,
    memory: Memory<T>,
    leftover: Mutex<Vec<(usize, Vec<T>)>>,
    /// The buffer of a single block, which becomes the result: its position is known from the start.
    only: Option<Mutex<Vec<T>>>,
}

impl<T: Copy> Blocks<T> {
    fn new(blocks: usize, hint: usize) -> Result<Self> {
        let only = if blocks == 1 { Some(Mutex::new(reserved(hint.min(FIRST), "a block")?)) } else { None };
        let (offsets, hint) =
            if only.is_some() { (BlockOffsets::default(), 0) } else { (BlockOffsets::new(blocks)?, hint) };
        Ok(Self { offsets: Mutex::new(offsets), memory: Memory::new(hint), leftover: Mutex::new(Vec::new()), only })
    }
    fn worker(&self) -> Worker<'_, T> {
        Worker { blocks: self, free: Vec::new(), waiting: Vec::new() }
    }
    /// The result, after all threads have finished.
    fn into_vec(self, blocks: usize) -> Result<Vec<T>> {
        if let Some(only) = self.only {
            return Ok(trimmed(only.into_inner().unwrap_or_else(PoisonError::into_inner)));
        }
        let offsets = self.offsets.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (block, buffer) in self.leftover.into_inner().unwrap_or_else(PoisonError::into_inner) {
            // SAFETY: the ranges of distinct blocks are disjoint, each block is placed once, and all threads have
            // finished.
            unsafe { self.memory.write(offsets.starts[block], &buffer)? };
        }
        // SAFETY: every block was computed and placed, so all elements before the end of the last one are initialized.
        unsafe { self.memory.into_vec(offsets.starts[blocks]) }
    }
}

const UNKNOWN: usize = usize::MAX;

/// Block offsets, as far as known.
#[derive(Default)]
struct BlockOffsets {
    starts: Vec<usize>,
    lens: Vec<usize>,
    known: usize,
}

impl BlockOffsets {
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

/// A thread's buffers. Blocks that it cannot place before it runs out of work go to `leftover`.
struct Worker<'a, T> {
    blocks: &'a Blocks<T>,
    free: Vec<Vec<T>>,
    waiting: Vec<(usize, Vec<T>)>,
}

impl<T: Copy> Worker<'_, T> {
    /// A buffer with the contents of an earlier block.
    fn buffer(&mut self) -> Vec<T> {
        match &self.blocks.only {
            Some(only) => std::mem::take(&mut *only.lock().unwrap_or_else(PoisonError::into_inner)),
            None => self.free.pop().unwrap_or_default(),
        }
    }
    /// Accepts a finished block, and places all blocks of this thread whose offsets are known.
    fn place(&mut self, block: usize, buffer: Vec<T>) -> Result<()> {
        if let Some(only) = &self.blocks.only {
            *only.lock().unwrap_or_else(PoisonError::into_inner) = buffer;
            return Ok(());
        }
        let offsets = || self.blocks.offsets.lock().unwrap_or_else(PoisonError::into_inner);
        offsets().set(block, buffer.len());
        self.waiting.push((block, buffer));
        let mut i = 0;
        while i < self.waiting.len() {
            let start = offsets().starts[self.waiting[i].0];
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

/// Growing memory that several threads write concurrently.
struct Memory<T> {
    block: RwLock<Block<T>>,
    /// Elements that may be touched before the system is queried again: reserved address space is not memory yet.
    granted: AtomicUsize,
    /// Elements to request per query.
    step: usize,
    /// Whether the system has that many bytes left.
    spare: fn(u128) -> bool,
}

/// Bytes up to which a block that is at least half full is not shrunk. From freed blocks up to this size glibc learns
/// which sizes to retain, so a shrunk block would be fresh memory each time: a third of a road network's product.
const KEPT: usize = 32 << 20;

struct Block<T> {
    start: NonNull<T>,
    capacity: usize,
}

// SAFETY: the memory is owned, and written only through `Memory::write`, whose contract keeps ranges disjoint.
unsafe impl<T: Send> Send for Block<T> {}
// SAFETY: as above; nothing reads it before `into_vec` takes it by value.
unsafe impl<T: Send> Sync for Block<T> {}

impl<T: Copy> Memory<T> {
    /// Reserves room for `hint` elements, or for fewer.
    fn new(mut hint: usize) -> Self {
        let mut block = Block { start: NonNull::dangling(), capacity: 0 };
        // The hint is only an estimate: it is halved until the system grants it.
        while hint > 0 && block.resize(hint).is_err() {
            hint /= 2;
        }
        // Results smaller than a step do not query the system.
        let step = (LARGE as usize).div_ceil(size_of::<T>().max(1));
        Self { block: RwLock::new(block), granted: AtomicUsize::new(step), step, spare: enough }
    }

    /// Fails if the system could not back the elements before `end`. Concurrent calls request the same memory.
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

    /// Reserves room for `needed` elements; elements already written are retained.
    fn grow(&self, needed: usize) -> Result<()> {
        let mut block = self.block.write().unwrap_or_else(PoisonError::into_inner);
        if needed <= block.capacity {
            return Ok(());
        }
        let wanted = needed.max(block.capacity.saturating_mul(2)).max(1024);
        // If twice the capacity is unavailable, the needed capacity may be available.
        block.resize(wanted).or_else(|_| block.resize(needed))
    }

    /// Copies `xs` to `start..`, reserving room first.
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
        // SAFETY: 1. start + len ≤ capacity, which never shrinks while blocks are written; 2. the read lock prevents
        // reallocation; 3. no other thread writes this range, by the caller's promise.
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

    /// Reallocates to `capacity` > 0 elements.
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
        // On failure the old memory stays valid.
        self.start =
            NonNull::new(start.cast()).ok_or(Error::OutOfMemory { what: "a result", bytes: layout.size() as u128 })?;
        if capacity > self.capacity {
            // SAFETY: the memory is ours, and `MaybeUninit` has no validity requirements.
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
    fn blocks_of_any_length_are_appended_in_order() {
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
    fn a_panic_reaches_the_caller_and_memory_is_freed() {
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

    /// More room is reserved than exists; each write must still obtain its memory.
    #[test]
    fn memory_is_granted_before_use() {
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
        // Eleven more elements, and a step, are granted at once.
        LEFT.store(8 * 21, Ordering::Relaxed);
        write(10, 11).unwrap();
        LEFT.store(0, Ordering::Relaxed);
        write(21, 10).unwrap();
        assert!(write(31, 1).is_err());
        // SAFETY: the elements before 31 are written.
        assert_eq!(unsafe { memory.into_vec(31) }.unwrap(), [7; 31]);
    }

    #[test]
    fn a_half_full_block_is_not_moved() {
        for (written, capacity) in [(49, 49), (50, 100), (100, 100)] {
            let memory = Memory::new(100);
            // SAFETY: the whole range is written, and nothing else.
            let v = unsafe {
                memory.write(0, &vec![1u64; written]).unwrap();
                memory.into_vec(written).unwrap()
            };
            assert_eq!((v.len(), v.capacity()), (written, capacity));
        }
    }

    #[test]
    fn a_failing_state_is_an_error() {
        let pool = Threads::new(2).unwrap();
        let state = || -> Result<()> { Err(Error::Argument { name: "state", message: "none".into() }) };
        assert!(append_blocks(&pool, "test", 3, 3, state, |(), _, _: &mut Vec<u8>| Ok(())).is_err());
    }
}
