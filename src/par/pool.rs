//! Pools of threads, also where threads cannot be had, and in a child of `fork`.
//!
//! A child of `fork` has one thread, whatever its parent had: who waits there for the parent's pool waits for ever. So
//! a pool knows the process that made it, and in another one it is made anew when it is first used. Asking for the
//! process takes some fifty nanoseconds, an operation on several threads some microseconds.
//!
//! Who asks for a number of threads and cannot have them gets an error. Who asks for none gets as many as there are,
//! and if there are none to be had its own.

use std::error::Error;
use std::process;
use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Where work goes.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// To the pool that the caller is in, which outside of any is rayon's global one.
    Here,
    /// To this pool.
    Pool(&'a ThreadPool),
    /// To the caller's thread alone.
    Caller,
}

/// A pool of a number of threads, in every process.
pub(super) struct Pool {
    process: u32,
    threads: usize,
    /// `None` while it is dropped.
    pool: Option<ThreadPool>,
    /// That of a child; `None` inside if it cannot have one.
    in_child: OnceLock<Option<Box<Pool>>>,
}

impl Pool {
    /// 0 threads are one for each processor, or as many as `RAYON_NUM_THREADS` says.
    pub(super) fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("sparring-{i}")).build()?;
        Ok(Self { process: process::id(), threads, pool: Some(pool), in_child: OnceLock::new() })
    }
    /// As many threads as can be had, if more than one.
    fn largest() -> Option<Self> {
        let half = |n: &usize| (*n > 3).then_some(n / 2);
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new(0).ok().or_else(|| std::iter::successors(half(&all), half).find_map(|n| Self::new(n).ok()))
    }
    /// The pool of this process.
    pub(super) fn place(&self) -> Place<'_> {
        let mut own = self;
        while own.process != process::id() {
            match own.in_child.get_or_init(|| Self::new(own.threads).ok().map(Box::new)) {
                Some(child) => own = child,
                None => return Place::Caller,
            }
        }
        own.pool.as_ref().map_or(Place::Caller, Place::Pool)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Threads of another process cannot be told to end.
        if self.process != process::id() {
            std::mem::forget(self.pool.take());
        }
    }
}

/// What is known of rayon's global pool.
struct Global {
    process: u32,
    /// Whether there is one, made here or before.
    works: bool,
    /// Ours, where there is none or it is another process's.
    instead: OnceLock<Option<Pool>>,
}

/// The place of who asks for no pool.
pub(super) fn current() -> Place<'static> {
    static GLOBAL: OnceLock<Global> = OnceLock::new();
    if rayon::current_thread_index().is_some() {
        return Place::Here;
    }
    let global = GLOBAL.get_or_init(|| {
        // That it is there already has no cause; that threads cannot be had is the system's word.
        let works = ThreadPoolBuilder::new().build_global().map_or_else(|e| e.source().is_none(), |()| true);
        Global { process: process::id(), works, instead: OnceLock::new() }
    });
    if global.works && global.process == process::id() {
        return Place::Here;
    }
    global.instead.get_or_init(Pool::largest).as_ref().map_or(Place::Caller, Pool::place)
}

/// Makes the caller's thread a pool of its own, so that what asks rayon for threads finds it, and no others.
pub(super) fn alone() {
    if rayon::current_thread_index().is_none()
        && let Ok(pool) = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()
    {
        // It lasts as long as the thread does.
        std::mem::forget(pool);
    }
}
