//! A counting allocator for tests of what a budget bounds:
//! `#[global_allocator] static ALLOCATOR: Counting = Counting;`

// A global allocator requires `unsafe`; this one forwards everything to the system's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);
static CALLS: AtomicI64 = AtomicI64::new(0);
thread_local! {
    /// Of this thread alone, because threads of a pool start at any time.
    static TOTAL: Cell<i64> = const { Cell::new(0) };
}

pub(crate) struct Counting;

fn count(bytes: i64) {
    CALLS.fetch_add(i64::from(bytes > 0), Ordering::SeqCst);
    let live = LIVE.fetch_add(bytes, Ordering::SeqCst) + bytes;
    TOTAL.with(|total| total.set(total.get() + bytes.max(0)));
    PEAK.fetch_max(live, Ordering::SeqCst);
}

// SAFETY: every call goes to `System` unchanged; counting touches only atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: forwards the caller's guarantee.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: forwards the caller's guarantee.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: forwards the caller's guarantee.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new block coexist during the move.
        count(size as i64);
        count(-(layout.size() as i64));
        // SAFETY: forwards the caller's guarantee.
        unsafe { System.realloc(p, layout, size) }
    }
}

/// Counters are global to the process: holding this guard excludes other tests.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes in use.
pub(crate) fn live() -> i64 {
    LIVE.load(Ordering::SeqCst)
}

/// The result of `f`, and the peak of bytes in use beyond those at the start.
pub(crate) fn peak<T>(f: impl FnOnce() -> T) -> (T, u64) {
    let before = live();
    PEAK.store(before, Ordering::SeqCst);
    let result = f();
    (result, (PEAK.load(Ordering::SeqCst) - before) as u64)
}

/// The result of `f`, and its number of allocations.
pub(crate) fn allocations<T>(f: impl FnOnce() -> T) -> (T, i64) {
    let before = CALLS.load(Ordering::SeqCst);
    let result = f();
    (result, CALLS.load(Ordering::SeqCst) - before)
}

/// The result of `f`, and all bytes that this thread allocated for it, including those freed again.
#[allow(dead_code, reason = "tests that bound what is in use do not need it")]
pub(crate) fn allocated<T>(f: impl FnOnce() -> T) -> (T, u64) {
    let before = TOTAL.get();
    let result = f();
    (result, (TOTAL.get() - before) as u64)
}
