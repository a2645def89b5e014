//! Opaque pointers: the number of an object in a table, never an address.
//!
//! A magic number behind a pointer could distinguish kinds of objects, but reading it through a freed or foreign
//! pointer is undefined behaviour. Here nothing is dereferenced: a handle is `TAG | number`, and numbers are never
//! reused, so a value from C is either in the table or rejected. The tag makes it an unmapped address, so that a
//! mistaken `*handle` in C crashes at once. Each call holds its objects by `Arc`: freeing a handle while another
//! thread uses it is harmless.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::guard::{Fail, Fallible};
use crate::status::SparringStatus::SPARRING_INVALID_HANDLE;

/// A type that C accesses by handles.
pub(crate) trait Object: Any + Send + Sync {
    /// Its name in messages.
    const NAME: &'static str;
}

struct Entry {
    name: &'static str,
    object: Arc<dyn Any + Send + Sync>,
}

static LIVE: RwLock<BTreeMap<usize, Entry>> = RwLock::new(BTreeMap::new());
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// 0x5350 ("SP") in the upper 16 bits: not canonical on x86-64, not mapped on AArch64.
#[cfg(target_pointer_width = "64")]
const TAG: usize = 0x5350 << 48;
#[cfg(not(target_pointer_width = "64"))]
const TAG: usize = 0;
/// Handles are aligned like pointers to objects.
const STEP: usize = 16;

/// A new handle of `object`.
pub(crate) fn give<T: Object>(object: T) -> Fallible<*mut T> {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let id = number.checked_mul(STEP).filter(|id| id & TAG == 0 && *id != 0).ok_or_else(|| Fail {
        status: SPARRING_INVALID_HANDLE,
        message: format!("all {number} handles have been used up"),
    })? | TAG;
    let entry = Entry { name: T::NAME, object: Arc::new(object) };
    LIVE.write().unwrap_or_else(PoisonError::into_inner).insert(id, entry);
    Ok(std::ptr::without_provenance_mut(id))
}

/// The object of the handle that C passes as `argument`.
pub(crate) fn handle<T: Object>(p: *const T, argument: &'static str) -> Fallible<Arc<T>> {
    if p.is_null() {
        return Err(Fail::null(argument));
    }
    let live = LIVE.read().unwrap_or_else(PoisonError::into_inner);
    let entry = live.get(&p.addr()).ok_or_else(|| unknown(p, argument))?;
    Arc::clone(&entry.object).downcast().map_err(|_| mistaken::<T>(entry.name, argument))
}

/// Removes the object of a handle from the table; of two concurrent calls, one gets it.
pub(crate) fn take<T: Object>(p: *mut T, argument: &'static str) -> Fallible<Arc<T>> {
    if p.is_null() {
        return Err(Fail::null(argument));
    }
    let mut live = LIVE.write().unwrap_or_else(PoisonError::into_inner);
    let entry = live.get(&p.addr()).ok_or_else(|| unknown(p, argument))?;
    let object = Arc::clone(&entry.object).downcast().map_err(|_| mistaken::<T>(entry.name, argument))?;
    live.remove(&p.addr());
    Ok(object)
}

/// Frees a handle; NULL is allowed, as for `free`.
pub(crate) fn release<T: Object>(p: *mut T, argument: &'static str) -> Fallible {
    if p.is_null() {
        return Ok(());
    }
    // Dropped after releasing the lock, because freeing a large object may take a while.
    take(p, argument).map(drop)
}

fn unknown<T: Object>(p: *const T, argument: &str) -> Fail {
    let message = format!("{argument}: {:#x} is not a handle of a {}: freed, or never one", p.addr(), T::NAME);
    Fail { status: SPARRING_INVALID_HANDLE, message }
}

fn mistaken<T: Object>(found: &str, argument: &str) -> Fail {
    let message = format!("{argument}: a {} is needed, the handle is of a {found}", T::NAME);
    Fail { status: SPARRING_INVALID_HANDLE, message }
}

/// Number of handles, of all kinds and threads, that have not been freed: 0 at the end of a program without leaks.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_handles_alive() -> u64 {
    LIVE.read().unwrap_or_else(PoisonError::into_inner).len() as u64
}
