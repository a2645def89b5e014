//! Thread pools that survive a lack of threads, and `fork`.
//!
//! A child of `fork` has one thread, however many its parent has, so waiting there for the parent's pool would never
//! end. A pool therefore records the process that created it, and is recreated on first use in another process.
//! Querying the process id takes some fifty nanoseconds, an operation on several threads some microseconds.
//!
//! A caller that requests a number of threads gets an error if the system refuses them. A caller that requests none
//! gets as many as the system grants, or runs on its own thread.

use std::error::Error;
use std::process;
use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Where work runs.
#[derive(Clone, Copy)]
pub(super) enum Executor<'a> {
    /// In the caller's pool; outside of any pool, that is rayon's global one.
    Here,
    /// In this pool.
    Pool(&'a ThreadPool),
    /// On the calling thread alone.
    Caller,
}

/// A pool of a fixed number of threads, in every process.
pub(super) struct Pool {
    process: u32,
    threads: usize,
    /// `None` while being dropped.
    pool: Option<ThreadPool>,
    /// The pool of a forked child; inner `None` if the child cannot have one.
    in_child: OnceLock<Option<Box<Pool>>>,
}

impl Pool {
    /// 0 threads mean one for each processor, or the value of `RAYON_NUM_THREADS`.
    pub(super) fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("sparring-{i}")).build()?;
        Ok(Self { process: process::id(), threads, pool: Some(pool), in_child: OnceLock::new() })
    }
    /// A pool of as many threads as the system grants, found by halving; `None` if it grants fewer than two.
    fn largest() -> Option<Self> {
        let half = |n: &usize| (*n > 3).then_some(n / 2);
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new(0).ok().or_else(|| std::iter::successors(half(&all), half).find_map(|n| Self::new(n).ok()))
    }
    /// The pool of this process.
    pub(super) fn executor(&self) -> Executor<'_> {
        let mut own = self;
        while own.process != process::id() {
            match own.in_child.get_or_init(|| Self::new(own.threads).ok().map(Box::new)) {
                Some(child) => own = child,
                None => return Executor::Caller,
            }
        }
        own.pool.as_ref().map_or(Executor::Caller, Executor::Pool)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Threads of another process cannot be joined.
        if self.process != process::id() {
            std::mem::forget(self.pool.take());
        }
    }
}

/// The state of rayon's global pool.
struct Global {
    process: u32,
    /// Whether it exists, created here or earlier.
    works: bool,
    /// Our replacement, if it does not exist or belongs to another process.
    instead: OnceLock<Option<Pool>>,
}

/// Where work runs for callers without a pool of their own.
pub(super) fn current() -> Executor<'static> {
    static GLOBAL: OnceLock<Global> = OnceLock::new();
    if rayon::current_thread_index().is_some() {
        return Executor::Here;
    }
    let global = GLOBAL.get_or_init(|| {
        // The error "already initialized" has no source; the system's refusal of threads has one.
        let works = ThreadPoolBuilder::new().build_global().map_or_else(|e| e.source().is_none(), |()| true);
        Global { process: process::id(), works, instead: OnceLock::new() }
    });
    if global.works && global.process == process::id() {
        return Executor::Here;
    }
    global.instead.get_or_init(Pool::largest).as_ref().map_or(Executor::Caller, Pool::executor)
}

/// Turns the calling thread into a pool of its own, so that code that uses rayon finds only this thread.
pub(super) fn alone() {
    if rayon::current_thread_index().is_none()
        && let Ok(pool) = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()
    {
        // It lives as long as the thread.
        std::mem::forget(pool);
    }
}
