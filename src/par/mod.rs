//! Threads: splitting rows by work, and writing disjoint parts of one array from several threads.
//!
//! On the CPU side, shared mutable memory lives here alone. Results never depend on the number of threads: work is
//! split by rows (or by columns of one row), each output entry is computed by one task, and its fold runs in the order
//! of the contraction index.

mod append;
#[cfg(target_os = "linux")]
mod available;
mod explain;
mod group;
mod memory;
mod pair;
mod parts;
mod pool;
mod prefetch;
mod scatter;
mod storage;
mod touch;
mod watched;

use std::mem::MaybeUninit;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::slice::ParallelSliceMut;

use crate::{Error, Result};

pub(crate) use append::{append_blocks, append_both, append_both_as_left};
pub use explain::{explained, note};
pub(crate) use group::{Digit, Grouped, binned, grouped, order_by};
use memory::advise_huge_pages;
pub(crate) use memory::{
    collected, copied, counters, enough, out_of_memory, reserved, zero_indices, zero_values, zero_words, zeros,
};
pub use memory::{filled, keep_freed_memory};
pub(crate) use parts::for_each_part;
use pool::{Executor, Pool};
pub(crate) use prefetch::{prefetch, prefetch_at};
pub(crate) use scatter::scattered;
pub use storage::{SignedIndex, Storage};
pub(crate) use touch::filled_by;

/// Progress of a long operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Operation.
    pub op: &'static str,
    /// Units of work done.
    pub done: u64,
    /// Units in all.
    pub total: u64,
}

/// Called now and then during long operations, from any thread; [`ControlFlow::Break`] stops them.
type Callback = Arc<dyn Fn(Progress) -> ControlFlow<()> + Send + Sync>;

/// The body of a worker thread, which pulls tasks from its argument.
type Worker<'a> = dyn Fn(&mut dyn FnMut() -> Option<usize>) -> Result<()> + Sync + 'a;

/// A pool of threads, or the pool of the calling thread.
///
/// In a child of `fork`, which does not have the parent's threads, pools are recreated on first use.
#[derive(Default)]
pub struct Threads {
    pool: PoolChoice,
    progress: Option<Callback>,
    stop: Option<Arc<AtomicBool>>,
}

/// The threads to use.
#[derive(Clone, Default)]
enum PoolChoice {
    /// Those of the calling thread's pool.
    #[default]
    Current,
    /// The calling thread alone.
    Caller,
    Own(Arc<Pool>),
}

impl std::fmt::Debug for Threads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Threads").field("count", &self.count()).field("watched", &self.progress.is_some()).finish()
    }
}

impl Threads {
    /// The threads of the pool that the caller runs in (rayon's global pool unless inside another). If the system
    /// refuses threads, as many as it grants, or the calling thread alone.
    #[must_use]
    pub fn current() -> Self {
        Self::default()
    }
    /// The calling thread alone: no threads are started. After [`install`](Self::install) rayon, too, sees that thread
    /// as a pool of one.
    #[must_use]
    pub fn caller() -> Self {
        Self { pool: PoolChoice::Caller, ..Self::default() }
    }
    /// A new pool of `n` threads.
    /// # Errors
    /// [`Error::Argument`] for 0 or more than 4096; [`Error::Threads`] if the system refuses.
    pub fn new(n: usize) -> Result<Self> {
        if n == 0 || n > 4096 {
            return Err(Error::Argument { name: "threads", message: format!("{n} is not between 1 and 4096") });
        }
        let pool = Pool::new(n).map_err(|e| Error::Threads { threads: n, message: e.to_string() })?;
        Ok(Self { pool: PoolChoice::Own(pool.into()), ..Self::default() })
    }
    fn executor(&self) -> Executor<'_> {
        match &self.pool {
            PoolChoice::Current => pool::current(),
            PoolChoice::Caller => Executor::Caller,
            PoolChoice::Own(pool) => pool.executor(),
        }
    }
    /// Reports progress of long operations to `f`, which may stop them.
    #[must_use]
    pub fn on_progress(mut self, f: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(f));
        self
    }
    /// Number of threads.
    #[must_use]
    pub fn count(&self) -> usize {
        match self.executor() {
            Executor::Here => rayon::current_num_threads(),
            Executor::Pool(pool) => pool.current_num_threads(),
            Executor::Caller => 1,
        }
    }
    /// Number of threads for this many tasks. One task does not query the pool, which may take longer than the task.
    pub(crate) fn workers(&self, tasks: usize) -> usize {
        if tasks > 1 { self.count().min(tasks) } else { 1 }
    }
    /// Runs `f` inside this pool.
    pub fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        let (mut made, mut f) = (None, Some(f));
        self.install_work(&mut || made = f.take().map(|f| f()));
        let Some(made) = made else { unreachable!("the work was done, or unwinds") };
        made
    }
    /// Not generic, so that rayon's job code is compiled once instead of once per caller: 250 kB.
    fn install_work(&self, work: &mut (dyn FnMut() + Send)) {
        match self.executor() {
            Executor::Here => work(),
            Executor::Pool(pool) => pool.install(work),
            Executor::Caller => {
                pool::alone();
                work();
            }
        }
    }
    /// Like [`for_each`](Self::for_each), reporting each finished task as progress of `op`.
    /// # Errors
    /// The first error of `state` or `work`; [`Error::Cancelled`] if the callback cancels.
    pub(crate) fn for_each_of<S>(
        &self,
        op: &'static str,
        tasks: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        self.distribute(Some(op), Tasks::in_order(tasks), &|next| each(next, &state, &work))
    }
    /// Like [`for_each_of`](Self::for_each_of), except that each thread starts with a contiguous share of the tasks and
    /// then helps the others: data of neighboring tasks stays with one processor.
    /// # Errors
    /// Those of [`for_each_of`](Self::for_each_of); [`Error::OutOfMemory`].
    pub(crate) fn for_each_beside<S>(
        &self,
        op: &'static str,
        tasks: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        self.distribute(Some(op), Tasks::shared(tasks, self.workers(tasks))?, &|next| each(next, &state, &work))
    }
    /// Sorts `keys`: long lists with all threads, short ones on the calling thread. Allocates nothing.
    pub(crate) fn sort<K: Ord + Send>(&self, keys: &mut [K]) {
        // One thread sorts shorter lists before the others have woken up.
        const LONG: usize = 1 << 17;
        if keys.len() > LONG && self.count() > 1 {
            self.install(|| keys.par_sort_unstable());
        } else {
            keys.sort_unstable();
        }
    }
    /// Runs `work(state, task)` for each task in `0..tasks`. Tasks are handed out in order from one counter, and each
    /// thread creates one `state`. The first error stops the rest and is returned.
    pub(crate) fn for_each<S>(
        &self,
        tasks: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        self.distribute(None, Tasks::in_order(tasks), &|next| each(next, &state, &work))
    }
    /// Runs `work` on the calling thread, as the only task of `op`, and reports its completion.
    /// # Errors
    /// That of `work`; [`Error::Cancelled`] if the callback cancels.
    pub(crate) fn alone<T>(&self, op: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let made = work()?;
        self.report(op, 1, 1)?;
        Ok(made)
    }
    /// Checks the cancellation flag of `op`, between the steps of a long task.
    /// # Errors
    /// [`Error::Cancelled`].
    pub(crate) fn check_stop(&self, op: &'static str, done: u64, total: u64) -> Result<()> {
        match &self.stop {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(Error::Cancelled { op, done, total }),
            _ => Ok(()),
        }
    }
    /// Reports the progress of `op` to the callback, if there is one.
    fn report(&self, op: &'static str, done: u64, total: u64) -> Result<()> {
        self.check_stop(op, done, total)?;
        let Some(callback) = &self.progress else { return Ok(()) };
        match callback(Progress { op, done, total }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled { op, done, total }),
        }
    }
    /// Runs `worker(next)` on each thread. The worker pulls tasks from `next` until there are none; pulling a task
    /// marks the previous one as done, which is progress of `op`, if given. Not generic, so that a caller's code is
    /// compiled with nothing but the loop around it.
    fn distribute(&self, op: Option<&'static str>, tasks: Tasks, worker: &Worker<'_>) -> Result<()> {
        let (count, done) = (tasks.count, AtomicUsize::new(0));
        let failed = std::sync::OnceLock::new();
        let report = || {
            let done = done.fetch_add(1, Ordering::Relaxed) as u64 + 1;
            op.map_or(Ok(()), |op| self.report(op, done, count as u64))
        };
        // A flag set in advance stops before the first task.
        let stopped = || self.check_stop(op.unwrap_or("operation"), done.load(Ordering::Relaxed) as u64, count as u64);
        let run = |w: usize| {
            // A thread starts with the same share in every call: its data may still be in that thread's cache.
            let (mut busy, mut tasks_left) = (false, tasks.tasks_of(rayon::current_thread_index().unwrap_or(w)));
            let ended = worker(&mut || {
                if std::mem::take(&mut busy)
                    && let Err(e) = report()
                {
                    let _ = failed.set(e);
                }
                if let Err(e) = stopped() {
                    let _ = failed.set(e);
                }
                if failed.get().is_some() {
                    return None;
                }
                let t = tasks_left.next();
                busy = t.is_some();
                t
            });
            if let Err(e) = ended {
                let _ = failed.set(e);
            }
        };
        match self.workers(count) {
            1 => run(0),
            workers => self.spawn(workers, &run),
        }
        failed.into_inner().map_or(Ok(()), Err)
    }
    /// Runs `work` for each of `0..workers`, on as many threads. Not generic, so that rayon's code is compiled once
    /// instead of once per caller.
    fn spawn(&self, workers: usize, work: &(dyn Fn(usize) + Sync)) {
        self.install(|| {
            rayon::scope(|scope| {
                for w in 0..workers {
                    scope.spawn(move |_| work(w));
                }
            });
        });
    }
}

/// The body of one thread: `work` for each task, with a state of its own.
fn each<S>(
    next: &mut dyn FnMut() -> Option<usize>,
    state: &impl Fn() -> Result<S>,
    work: &impl Fn(&mut S, usize) -> Result<()>,
) -> Result<()> {
    let mut s = state()?;
    while let Some(t) = next() {
        work(&mut s, t)?;
    }
    Ok(())
}

/// One element without a heap allocation, or several.
#[derive(Debug)]
enum OneOrMore<T> {
    One([T; 1]),
    More(Vec<T>),
}
impl<T> std::ops::Deref for OneOrMore<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Self::One(one) => one,
            Self::More(more) => more,
        }
    }
}
impl<T> std::ops::DerefMut for OneOrMore<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::One(one) => one,
            Self::More(more) => more,
        }
    }
}

/// The tasks of all threads, in contiguous shares.
struct Tasks {
    count: usize,
    shares: OneOrMore<Share>,
}

/// On cache lines of its own, since threads write to it frequently.
#[repr(align(128))]
struct Share {
    next: AtomicUsize,
    end: usize,
}

impl Share {
    fn new(tasks: Range<usize>) -> Self {
        Self { next: AtomicUsize::new(tasks.start), end: tasks.end }
    }
}

impl Tasks {
    /// A single share: each thread receives its tasks in order, and none runs far ahead of the others.
    fn in_order(count: usize) -> Self {
        Self { count, shares: OneOrMore::One([Share::new(0..count)]) }
    }
    /// One share per thread.
    fn shared(count: usize, threads: usize) -> Result<Self> {
        if threads == 1 {
            return Ok(Self::in_order(count));
        }
        let start = |w: usize| (count as u128 * w as u128 / threads as u128) as usize;
        let shares = collected(threads, (0..threads).map(|w| Share::new(start(w)..start(w + 1))), "tasks")?;
        Ok(Self { count, shares: OneOrMore::More(shares) })
    }
    /// The sequence of tasks of thread `w`.
    fn tasks_of(&self, w: usize) -> TaskIter<'_> {
        TaskIter { shares: &self.shares, at: w % self.shares.len(), left: self.shares.len() }
    }
}

/// The sequence of a thread's tasks: those of its own share, then those of others.
struct TaskIter<'a> {
    shares: &'a [Share],
    at: usize,
    /// Shares that may still have tasks.
    left: usize,
}

impl TaskIter<'_> {
    fn next(&mut self) -> Option<usize> {
        while self.left > 0 {
            let share = &self.shares[self.at];
            let task = share.next.fetch_add(1, Ordering::Relaxed);
            if task < share.end {
                return Some(task);
            }
            (self.at, self.left) = ((self.at + 1) % self.shares.len(), self.left - 1);
        }
        None
    }
}

/// Splits `0..n` into at most `parts` ranges of about equal work, where `work_before(i)` is the work
/// of items `0..i` (non-decreasing). Every item is in exactly one range; ranges are in order.
#[must_use]
pub(crate) fn split(n: usize, parts: usize, work_before: impl Fn(usize) -> u64) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(parts.clamp(1, n.max(1)));
    split_into(&mut ranges, n, parts, &work_before);
    ranges
}

/// Like [`split`], for a number of parts that depends on data.
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn try_split(n: usize, parts: usize, work_before: impl Fn(usize) -> u64) -> Result<Vec<Range<usize>>> {
    let mut ranges = reserved(parts.clamp(1, n.max(1)), "parts")?;
    split_into(&mut ranges, n, parts, &work_before);
    Ok(ranges)
}

/// Appends the ranges of [`split`]; the caller has reserved the capacity.
fn split_into(ranges: &mut Vec<Range<usize>>, n: usize, parts: usize, work_before: &dyn Fn(usize) -> u64) {
    let (first, last) = (work_before(0), work_before(n));
    let parts = parts.clamp(1, n.max(1));
    let mut start = 0;
    for p in 1..=parts {
        let target = first + ((u128::from(last - first) * p as u128) / parts as u128) as u64;
        let end = if p == parts { n } else { lower_bound(start, n, |i| work_before(i) < target) };
        if end > start {
            ranges.push(start..end);
            start = end;
        }
    }
}

/// First `i` in `lo..hi` for which `before(i)` is false, or `hi`.
fn lower_bound(mut lo: usize, mut hi: usize, before: impl Fn(usize) -> bool) -> usize {
    while lo < hi {
        let mid = lo + (hi - lo) / 2;
        if before(mid) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    lo
}

/// An uninitialized vector, filled block by block by the threads that compute it.
///
/// Memory is first touched by the thread that computes it, in huge pages where the system has them. Blocks are disjoint
/// because they are split off one mutable slice; the vector is returned only after every element has been written.
#[derive(Debug)]
pub(crate) struct UninitOutput<T> {
    vec: Vec<T>,
    len: usize,
}

impl<T: Copy + Send> UninitOutput<T> {
    /// Reserves `len` elements.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(len: usize, what: &'static str) -> Result<Self> {
        Ok(Self { vec: reserved(len, what)?, len })
    }

    /// Runs `work(state, block, slots)` for each block `b`, whose elements are
    /// `offsets(b)..offsets(b + 1)`, then returns the vector.
    /// # Errors
    /// The first error of `work`.
    /// # Panics
    /// If `work` leaves slots unwritten, which is a bug of the caller in this crate.
    pub(crate) fn fill<S>(
        mut self,
        threads: &Threads,
        op: &'static str,
        blocks: usize,
        offsets: impl Fn(usize) -> usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize, &mut OutputSlice<'_, T>) -> Result<()> + Sync,
    ) -> Result<Vec<T>> {
        fill_blocks(&mut self.vec.spare_capacity_mut()[..self.len], threads, op, blocks, offsets, state, work)?;
        // SAFETY: 1. The capacity is at least `len`. 2. The blocks partition the first `len` elements, and none has a
        // free slot left (`Parts::check_written`). A slot leaves `free` only in `OutputSlice::next` and `write_rest`:
        // for `take` and `copy`, which write it before anything can unwind, and for `take_with`, `copy_row` and
        // `write_rest`, which have written it before.
        unsafe { self.vec.set_len(self.len) };
        Ok(self.vec)
    }
}

/// Like [`UninitOutput::fill`], overwriting existing elements.
/// # Errors
/// The first error of `work`; some elements then have their new values, the others their old ones.
pub(crate) fn overwrite_blocks<T: Copy + Send, S>(
    values: &mut [T],
    threads: &Threads,
    op: &'static str,
    blocks: usize,
    offsets: impl Fn(usize) -> usize,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &mut OutputSlice<'_, T>) -> Result<()> + Sync,
) -> Result<()> {
    // SAFETY: `MaybeUninit<T>` has the layout of `T`, and `OutputSlice` never stores an uninitialized element.
    let slots = unsafe { &mut *(std::ptr::from_mut(values) as *mut [MaybeUninit<T>]) };
    fill_blocks(slots, threads, op, blocks, offsets, state, work)
}

/// Passes each block of `memory` to one call of `work`; every element has been written when this returns `Ok`.
fn fill_blocks<T: Copy + Send, S>(
    memory: &mut [MaybeUninit<T>],
    threads: &Threads,
    op: &'static str,
    blocks: usize,
    offsets: impl Fn(usize) -> usize,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &mut OutputSlice<'_, T>) -> Result<()> + Sync,
) -> Result<()> {
    let mut parts = Parts::cut(memory, blocks, &offsets)?;
    threads.for_each_beside(op, blocks, state, |s, b| work(s, b, &mut parts.part(b)))?;
    parts.check_written();
    Ok(())
}

/// The blocks of a vector.
struct Parts<'a, T> {
    parts: OneOrMore<Mutex<OutputSlice<'a, T>>>,
    /// Elements that belong to no block.
    unclaimed: usize,
}

impl<'a, T: Copy> Parts<'a, T> {
    /// `blocks` blocks of `memory`, ending at `offsets(1)` and so on.
    fn cut(memory: &'a mut [MaybeUninit<T>], blocks: usize, offsets: &dyn Fn(usize) -> usize) -> Result<Self> {
        let mut rest = memory;
        let mut next = |b: usize| {
            let (part, tail) = std::mem::take(&mut rest).split_at_mut(offsets(b + 1) - offsets(b));
            rest = tail;
            Mutex::new(OutputSlice { free: part })
        };
        let parts = match blocks {
            1 => OneOrMore::One([next(0)]),
            _ => OneOrMore::More(collected(blocks, (0..blocks).map(next), "blocks")?),
        };
        Ok(Self { parts, unclaimed: rest.len() })
    }
    /// Block `b`.
    fn part(&self, b: usize) -> MutexGuard<'_, OutputSlice<'a, T>> {
        self.parts[b].lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// # Panics
    /// If an element was not written.
    fn check_written(&mut self) {
        let left: usize = self.parts.iter_mut().map(|p| p.get_mut().map_or(1, |s| s.free.len())).sum();
        let unclaimed = self.unclaimed;
        assert!(left + unclaimed == 0, "{left} elements of a block were not written, {unclaimed} are in no block");
    }
}

/// Elements that a copy of a short row moves at once.
const WINDOW: usize = 8;
/// Longest row that is copied by windows.
const SHORT: usize = 64;

/// The unwritten elements of one block.
#[derive(Debug)]
pub(crate) struct OutputSlice<'a, T> {
    free: &'a mut [MaybeUninit<T>],
}

impl<'a, T: Copy> OutputSlice<'a, T> {
    /// Initialized elements, to be overwritten.
    pub(crate) fn of(slots: &'a mut [T]) -> Self {
        // SAFETY: `MaybeUninit<T>` has the layout of `T`, and `OutputSlice` never stores an uninitialized element.
        Self { free: unsafe { &mut *(std::ptr::from_mut(slots) as *mut [MaybeUninit<T>]) } }
    }
    /// The next `n` elements, which the caller writes. If fewer are left, none are taken: should a caller catch the
    /// panic, the unwritten elements must be noticed.
    #[inline]
    fn next(&mut self, n: usize) -> &'a mut [MaybeUninit<T>] {
        assert!(n <= self.free.len(), "{n} elements of a block's {} that are left", self.free.len());
        let (head, tail) = std::mem::take(&mut self.free).split_at_mut(n);
        self.free = tail;
        head
    }
    /// The next `n` elements, filled with `x`.
    /// # Panics
    /// If fewer are left.
    #[inline]
    pub(crate) fn take(&mut self, n: usize, x: T) -> &'a mut [T] {
        let head = self.next(n);
        for slot in &mut *head {
            slot.write(x);
        }
        // SAFETY: every element of `head` was written just now, and `MaybeUninit<T>` has the layout of `T`.
        unsafe { &mut *(std::ptr::from_mut(head) as *mut [T]) }
    }
    /// The remaining elements, filled with `x`.
    #[inline]
    pub(crate) fn rest(&mut self, x: T) -> &'a mut [T] {
        self.take(self.free.len(), x)
    }
    /// The remaining elements, written by `write`.
    /// # Safety
    /// `write` must write every element.
    #[inline]
    pub(crate) unsafe fn write_rest(&mut self, write: impl FnOnce(&mut [MaybeUninit<T>])) {
        write(self.free);
        self.free = &mut [];
    }
    /// The next `xs.len()` elements, copied from `xs`.
    /// # Panics
    /// If fewer are left.
    #[inline]
    pub(crate) fn copy(&mut self, xs: &[T]) {
        let head = self.next(xs.len());
        // SAFETY: `MaybeUninit<T>` has the layout of `T`, and an initialized `T` is a valid `MaybeUninit<T>`.
        head.copy_from_slice(unsafe { &*(std::ptr::from_ref(xs) as *const [MaybeUninit<T>]) });
    }
    /// The next `n` elements: `f(0)`, `f(1)` and so on. Short rows with room behind them are written in groups of four,
    /// repeating `f(n − 1)` beyond the last element, so that no branch depends on a small `n`.
    /// # Panics
    /// If fewer are left.
    #[inline(always)]
    pub(crate) fn take_with(&mut self, n: usize, f: impl Fn(usize) -> T) {
        const FOUR: usize = 4;
        let padded = n.next_multiple_of(FOUR);
        match self.free.get_mut(..padded) {
            Some(to) if 0 < n && n <= WINDOW => {
                for (from, to) in (0..n).step_by(FOUR).zip(to.as_chunks_mut::<FOUR>().0) {
                    to.iter_mut().zip(from..).for_each(|(to, t)| _ = to.write(f(t.min(n - 1))));
                }
            }
            _ => self.free[..n].iter_mut().enumerate().for_each(|(t, to)| _ = to.write(f(t))),
        }
        self.next(n);
    }
    /// The next `n` elements: `f` of the first `n` of `xs`. A short row with more elements behind it, in `xs` and here,
    /// is copied by moves of a fixed size, one even for an empty row: rows of up to [`WINDOW`] elements take no branch
    /// that depends on their length. Elements written beyond the row are overwritten by the next rows.
    /// # Panics
    /// If fewer are left, or `xs` is shorter.
    #[inline(always)]
    pub(crate) fn copy_row<S: Copy>(&mut self, xs: &[S], n: usize, f: impl Fn(S) -> T) {
        let padded = if n <= WINDOW { WINDOW } else { n.min(SHORT).next_multiple_of(WINDOW) };
        if n <= SHORT
            && let (Some(to), Some(from)) = (self.free.get_mut(..padded), xs.get(..padded))
        {
            for (to, from) in to.as_chunks_mut::<WINDOW>().0.iter_mut().zip(from.as_chunks::<WINDOW>().0) {
                to.iter_mut().zip(from).for_each(|(to, &x)| _ = to.write(f(x)));
            }
        } else {
            self.free[..n].iter_mut().zip(&xs[..n]).for_each(|(to, &x)| _ = to.write(f(x)));
        }
        self.next(n);
    }
}

#[cfg(test)]
mod tests;
