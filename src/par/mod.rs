//! Threads: splitting rows by work, and writing disjoint parts of one array from many threads.
//!
//! This is the processor side's only home of shared mutable memory. Results never depend on the
//! number of threads: work is split by rows (or by columns of one row), each output entry is computed
//! by one task, and its fold runs in the order of the contraction index.

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
use pool::{Place, Pool};
pub(crate) use prefetch::{prefetch, prefetch_at};
pub(crate) use scatter::scattered;
pub use storage::{SignedIndex, Storage};
pub(crate) use touch::filled_by;

/// How far a long operation has come.
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

/// What a thread does with the tasks that it asks for.
type Worker<'a> = dyn Fn(&mut dyn FnMut() -> Option<usize>) -> Result<()> + Sync + 'a;

/// A pool of threads, or the pool that the caller is in.
///
/// In a child of `fork`, where the threads of the parent are not, pools are made anew when they are first used.
#[derive(Default)]
pub struct Threads {
    pool: Which,
    progress: Option<Callback>,
    stop: Option<Arc<AtomicBool>>,
}

/// Which threads.
#[derive(Clone, Default)]
enum Which {
    /// Those of the pool that the caller is in.
    #[default]
    Current,
    /// The caller's thread, and no other.
    Caller,
    Own(Arc<Pool>),
}

impl std::fmt::Debug for Threads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Threads").field("count", &self.count()).field("watched", &self.progress.is_some()).finish()
    }
}

impl Threads {
    /// The threads of the pool that the caller runs in (rayon's global pool unless inside another). Where the system
    /// refuses threads, as many as it grants, and the caller's alone if there are none.
    #[must_use]
    pub fn current() -> Self {
        Self::default()
    }
    /// The caller's thread, and no other: nothing is started. After [`install`](Self::install) that thread is a pool of
    /// one to rayon, too.
    #[must_use]
    pub fn caller() -> Self {
        Self { pool: Which::Caller, ..Self::default() }
    }
    /// A pool of `n` threads of its own.
    /// # Errors
    /// [`Error::Argument`] for 0; [`Error::Threads`] if the system refuses.
    pub fn new(n: usize) -> Result<Self> {
        if n == 0 || n > 4096 {
            return Err(Error::Argument { name: "threads", message: format!("{n} is not between 1 and 4096") });
        }
        let pool = Pool::new(n).map_err(|e| Error::Threads { threads: n, message: e.to_string() })?;
        Ok(Self { pool: Which::Own(pool.into()), ..Self::default() })
    }
    fn place(&self) -> Place<'_> {
        match &self.pool {
            Which::Current => pool::current(),
            Which::Caller => Place::Caller,
            Which::Own(pool) => pool.place(),
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
        match self.place() {
            Place::Here => rayon::current_num_threads(),
            Place::Pool(pool) => pool.current_num_threads(),
            Place::Caller => 1,
        }
    }
    /// Threads that work on so many tasks. For one task the pool is not asked: that may take longer than the task.
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
    /// Not generic, so rayon's jobs are compiled once and not for each caller: 250 kB.
    fn install_work(&self, work: &mut (dyn FnMut() + Send)) {
        match self.place() {
            Place::Here => work(),
            Place::Pool(pool) => pool.install(work),
            Place::Caller => {
                pool::alone();
                work();
            }
        }
    }
    /// As [`for_each`](Self::for_each), reporting each task done as progress of `op`.
    /// # Errors
    /// The first error of `state` or `work`; [`Error::Cancelled`] if the callback said so.
    pub(crate) fn for_each_of<S>(
        &self,
        op: &'static str,
        tasks: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        self.hand_out(Some(op), Tasks::in_order(tasks), &|next| each(next, &state, &work))
    }
    /// As [`for_each_of`](Self::for_each_of), but each thread begins with tasks of its own that lie beside each other,
    /// and then helps the others: what neighbouring tasks read and write stays with one processor.
    /// # Errors
    /// As [`for_each_of`](Self::for_each_of); [`Error::OutOfMemory`].
    pub(crate) fn for_each_beside<S>(
        &self,
        op: &'static str,
        tasks: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        self.hand_out(Some(op), Tasks::shared(tasks, self.workers(tasks))?, &|next| each(next, &state, &work))
    }
    /// Sorts `keys`: long lists by all threads, short ones by the caller's. Allocates nothing.
    pub(crate) fn sort<K: Ord + Send>(&self, keys: &mut [K]) {
        // Shorter lists are sorted by one thread before the others are awake.
        const LONG: usize = 1 << 17;
        if keys.len() > LONG && self.count() > 1 {
            self.install(|| keys.par_sort_unstable());
        } else {
            keys.sort_unstable();
        }
    }
    /// Runs `work(state, task)` for each task in `0..tasks`; tasks are handed out in order from one
    /// counter, and each thread makes one `state`. The first error stops the rest and is returned.
    pub(crate) fn for_each<S>(
        &self,
        tasks: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        self.hand_out(None, Tasks::in_order(tasks), &|next| each(next, &state, &work))
    }
    /// What `work` makes, on the caller's thread: the only task of `op`, reported when it is done.
    /// # Errors
    /// That of `work`; [`Error::Cancelled`] if the callback said so.
    pub(crate) fn alone<T>(&self, op: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let made = work()?;
        self.report(op, 1, 1)?;
        Ok(made)
    }
    /// Ends `op` if the flag says so: between the steps of a task that takes long.
    /// # Errors
    /// [`Error::Cancelled`].
    pub(crate) fn go_on(&self, op: &'static str, done: u64, total: u64) -> Result<()> {
        match &self.stop {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(Error::Cancelled { op, done, total }),
            _ => Ok(()),
        }
    }
    /// Tells the callback, if there is one, how far `op` has come.
    fn report(&self, op: &'static str, done: u64, total: u64) -> Result<()> {
        self.go_on(op, done, total)?;
        let Some(callback) = &self.progress else { return Ok(()) };
        match callback(Progress { op, done, total }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled { op, done, total }),
        }
    }
    /// Runs `worker(next)` on each thread, which asks `next` for tasks until there are none, and has done the task
    /// before when it asks. Each task done is progress of `op`, if that is told. Not generic, so that what callers
    /// bring is compiled with nothing but the loop around it.
    fn hand_out(&self, op: Option<&'static str>, tasks: Tasks, worker: &Worker<'_>) -> Result<()> {
        let (count, done) = (tasks.count, AtomicUsize::new(0));
        let failed = std::sync::OnceLock::new();
        let report = || {
            let done = done.fetch_add(1, Ordering::Relaxed) as u64 + 1;
            op.map_or(Ok(()), |op| self.report(op, done, count as u64))
        };
        // A flag that is set stops before the first task, too.
        let stopped = || self.go_on(op.unwrap_or("operation"), done.load(Ordering::Relaxed) as u64, count as u64);
        let run = |w: usize| {
            // A thread begins with the same share in every call: what it read and wrote last may still be in its cache.
            let (mut busy, mut turn) = (false, tasks.turn(rayon::current_thread_index().unwrap_or(w)));
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
                let t = turn.next();
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
    /// Runs `work` for each of `0..workers`, by as many threads. Not generic: so what rayon makes of a closure is
    /// compiled once and not for each caller.
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

/// What one thread does: `work` for each task that it gets, with a state of its own.
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

/// One, without memory of its own, or several.
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

/// Tasks that threads take, in shares of neighbours.
struct Tasks {
    count: usize,
    shares: OneOrMore<Share>,
}

/// On lines of memory of its own, since threads write here all the time.
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
    /// All are one share: each thread meets its tasks in order, and none is far ahead of the others.
    fn in_order(count: usize) -> Self {
        Self { count, shares: OneOrMore::One([Share::new(0..count)]) }
    }
    /// A share for each thread.
    fn shared(count: usize, threads: usize) -> Result<Self> {
        if threads == 1 {
            return Ok(Self::in_order(count));
        }
        let start = |w: usize| (count as u128 * w as u128 / threads as u128) as usize;
        let shares = collected(threads, (0..threads).map(|w| Share::new(start(w)..start(w + 1))), "tasks")?;
        Ok(Self { count, shares: OneOrMore::More(shares) })
    }
    /// What thread `w` takes.
    fn turn(&self, w: usize) -> Turn<'_> {
        Turn { shares: &self.shares, at: w % self.shares.len(), left: self.shares.len() }
    }
}

/// Where a thread takes its next task: in its own share, then in those of others.
struct Turn<'a> {
    shares: &'a [Share],
    at: usize,
    /// Shares in which there may be tasks.
    left: usize,
}

impl Turn<'_> {
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

/// As [`split`], where the number of parts depends on data.
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn try_split(n: usize, parts: usize, work_before: impl Fn(usize) -> u64) -> Result<Vec<Range<usize>>> {
    let mut ranges = reserved(parts.clamp(1, n.max(1)), "parts")?;
    split_into(&mut ranges, n, parts, &work_before);
    Ok(ranges)
}

/// Appends the ranges of [`split`], for which there is room.
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

/// A vector being filled for the first time, block by block, by the threads that compute it.
///
/// Memory is touched first where it is computed, in huge pages where the system has them. Blocks are
/// disjoint because they are split off one mutable slice; the vector is only handed out when every
/// element has been written.
#[derive(Debug)]
pub(crate) struct Fresh<T> {
    vec: Vec<T>,
    len: usize,
}

impl<T: Copy + Send> Fresh<T> {
    /// Room for `len` elements.
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
        work: impl Fn(&mut S, usize, &mut Slots<'_, T>) -> Result<()> + Sync,
    ) -> Result<Vec<T>> {
        fill_blocks(&mut self.vec.spare_capacity_mut()[..self.len], threads, op, blocks, offsets, state, work)?;
        // SAFETY: 1. capacity is at least `len`; 2. the blocks partition the first `len` elements and none has a free
        // slot left (`Parts::check_written`), and a slot leaves `free` only in `Slots::next`, for `take` and `copy`,
        // which write it before anything can unwind, and for `take_with`, `copy_row` and `write_rest`, which have written
        // it before.
        unsafe { self.vec.set_len(self.len) };
        Ok(self.vec)
    }
}

/// As [`Fresh::fill`], over elements that exist already.
/// # Errors
/// The first error of `work`; some elements have their new values then, the others their old ones.
pub(crate) fn refill<T: Copy + Send, S>(
    values: &mut [T],
    threads: &Threads,
    op: &'static str,
    blocks: usize,
    offsets: impl Fn(usize) -> usize,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &mut Slots<'_, T>) -> Result<()> + Sync,
) -> Result<()> {
    // SAFETY: `MaybeUninit<T>` has the layout of `T`, and `Slots` never stores an uninitialized element.
    let slots = unsafe { &mut *(std::ptr::from_mut(values) as *mut [MaybeUninit<T>]) };
    fill_blocks(slots, threads, op, blocks, offsets, state, work)
}

/// Hands each block of `memory` to one call of `work`; every element has been written when this returns `Ok`.
fn fill_blocks<T: Copy + Send, S>(
    memory: &mut [MaybeUninit<T>],
    threads: &Threads,
    op: &'static str,
    blocks: usize,
    offsets: impl Fn(usize) -> usize,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &mut Slots<'_, T>) -> Result<()> + Sync,
) -> Result<()> {
    let mut parts = Parts::cut(memory, blocks, &offsets)?;
    threads.for_each_beside(op, blocks, state, |s, b| work(s, b, &mut parts.part(b)))?;
    parts.check_written();
    Ok(())
}

/// The blocks of a vector.
struct Parts<'a, T> {
    parts: OneOrMore<Mutex<Slots<'a, T>>>,
    /// Elements that are in no block.
    unclaimed: usize,
}

impl<'a, T: Copy> Parts<'a, T> {
    /// `blocks` blocks of `memory`, which end at `offsets(1)` and so on.
    fn cut(memory: &'a mut [MaybeUninit<T>], blocks: usize, offsets: &dyn Fn(usize) -> usize) -> Result<Self> {
        let mut rest = memory;
        let mut next = |b: usize| {
            let (part, tail) = std::mem::take(&mut rest).split_at_mut(offsets(b + 1) - offsets(b));
            rest = tail;
            Mutex::new(Slots { free: part })
        };
        let parts = match blocks {
            1 => OneOrMore::One([next(0)]),
            _ => OneOrMore::More(collected(blocks, (0..blocks).map(next), "blocks")?),
        };
        Ok(Self { parts, unclaimed: rest.len() })
    }
    /// Block `b`.
    fn part(&self, b: usize) -> MutexGuard<'_, Slots<'a, T>> {
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
/// Elements of a row up to which it is copied by windows.
const SHORT: usize = 64;

/// The elements of one block that have not been written yet.
#[derive(Debug)]
pub(crate) struct Slots<'a, T> {
    free: &'a mut [MaybeUninit<T>],
}

impl<'a, T: Copy> Slots<'a, T> {
    /// Elements that have been written, to be written again.
    pub(crate) fn of(slots: &'a mut [T]) -> Self {
        // SAFETY: `MaybeUninit<T>` has the layout of `T`, and `Slots` never stores an uninitialized element.
        Self { free: unsafe { &mut *(std::ptr::from_mut(slots) as *mut [MaybeUninit<T>]) } }
    }
    /// The next `n` elements, which the caller writes. Nothing is taken if they are not there: whoever catches the
    /// panic has left elements unwritten, and it must show.
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
    /// The elements that are left, filled with `x`.
    #[inline]
    pub(crate) fn rest(&mut self, x: T) -> &'a mut [T] {
        self.take(self.free.len(), x)
    }
    /// The elements that are left, which `write` writes.
    /// # Safety
    /// `write` has written every element when it returns.
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
    /// The next `n` elements: `f(0)`, `f(1)` and so on. Those of a short row that has more room behind it are made by
    /// fours, `f(n − 1)` again and again beyond the last, so that no branch depends on a small `n`.
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
    /// The next `n` elements: `f` of the first `n` of `xs`. A short row that has more behind it, in `xs` and here, is
    /// made by moves of a fixed size, one also for a row of none: rows of up to [`WINDOW`] elements take no branch that
    /// depends on their length. Elements written beyond the row are written again by the next rows.
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
