//! Fallible allocation of memory whose size depends on data.
//!
//! Linux overcommits memory, and kills the process that touches too much of it. Large allocations that will be touched
//! entirely are therefore first compared with what the system reports as available. A file of three lines that declares
//! billions of rows fails here, with an error that gives the size of its row pointers.

use std::alloc::{Layout, alloc_zeroed};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

#[cfg(target_os = "linux")]
use super::available::available;
use crate::algebra::Value;
use crate::algebra::words::zero;
use crate::{Error, Index, Result};

/// Smaller allocations are not checked: a query takes some ten microseconds, touching this much memory a hundred
/// milliseconds.
pub(super) const LARGE: u128 = 256 << 20;

/// A vector of `len` copies of `x`, or an error if there is not enough memory.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn filled<T: Copy>(len: usize, x: T, what: &'static str) -> Result<Vec<T>> {
    let mut v = reserved(len, what)?;
    v.resize(len, x);
    Ok(v)
}

/// A vector of `len` zeros, whose pages are allocated at first write, near the writing thread.
pub(crate) fn zeros(len: usize, what: &'static str) -> Result<Vec<usize>> {
    // SAFETY: a `usize`.
    unsafe { zeroed(len, what) }
}

/// Like [`zeros`], for any index type.
pub(crate) fn zero_indices<I: Index>(len: usize, what: &'static str) -> Result<Vec<I>> {
    // SAFETY: `Index` is sealed, and implemented by integers alone.
    unsafe { zeroed(len, what) }
}

/// Like [`zeros`], for atomic counters.
pub(crate) fn counters(len: usize, what: &'static str) -> Result<Vec<AtomicU64>> {
    // SAFETY: `AtomicU64` has the representation of `u64`.
    unsafe { zeroed(len, what) }
}

/// Like [`zeros`], for the words of a bitmap.
pub(crate) fn zero_words(len: usize, what: &'static str) -> Result<Vec<u64>> {
    // SAFETY: a `u64`.
    unsafe { zeroed(len, what) }
}

/// Like [`zeros`], for values of any type: 0, `false`, or structs of these.
pub(crate) fn zero_values<T: Value>(len: usize, what: &'static str) -> Result<Vec<T>> {
    if size_of::<T>() == 0 {
        return filled(len, zero(), what);
    }
    // SAFETY: 1. all-zero bits are a value of `T`, as `words::zero` guarantees; 2. its size is not zero.
    unsafe { zeroed(len, what) }
}

/// A vector of `len` elements with all-zero bits.
/// # Safety
/// All-zero bits are a value of `T`, whose size is not zero.
unsafe fn zeroed<T>(len: usize, what: &'static str) -> Result<Vec<T>> {
    if len == 0 {
        return Ok(Vec::new());
    }
    let refused = || out_of_memory::<T>(what, len);
    let layout = Layout::array::<T>(len).map_err(|_| refused())?;
    if !enough(layout.size() as u128) {
        return Err(refused());
    }
    // SAFETY: the layout's size is not zero, by the caller's promise.
    let start = NonNull::new(unsafe { alloc_zeroed(layout) }.cast::<T>()).ok_or_else(refused)?;
    // SAFETY: 1. the memory is from the global allocator, with the layout of `len` elements; 2. it is zeroed, and zeros
    // are values.
    let mut v = unsafe { Vec::from_raw_parts(start.as_ptr(), len, len) };
    // SAFETY: an initialized element is a valid `MaybeUninit`; nothing is written.
    advise_huge_pages(unsafe { &mut *(std::ptr::from_mut(&mut v[..]) as *mut [MaybeUninit<T>]) });
    Ok(v)
}

/// The error that `len` elements could not be allocated.
pub(crate) fn out_of_memory<T>(what: &'static str, len: usize) -> Error {
    Error::OutOfMemory { what, bytes: len as u128 * size_of::<T>() as u128 }
}

/// An empty vector with capacity for `len` elements, in huge pages where the system has them.
pub(crate) fn reserved<T>(len: usize, what: &'static str) -> Result<Vec<T>> {
    if !enough(len as u128 * size_of::<T>() as u128) {
        return Err(out_of_memory::<T>(what, len));
    }
    let mut v = Vec::new();
    v.try_reserve_exact(len).map_err(|_| out_of_memory::<T>(what, len))?;
    advise_huge_pages(v.spare_capacity_mut());
    Ok(v)
}
/// A copy of `slice`.
pub(crate) fn copied<T: Copy>(slice: &[T], what: &'static str) -> Result<Vec<T>> {
    let mut v = reserved(slice.len(), what)?;
    v.extend_from_slice(slice);
    Ok(v)
}

/// The first `len` of `items`, or all if there are fewer.
pub(crate) fn collected<T>(len: usize, items: impl IntoIterator<Item = T>, what: &'static str) -> Result<Vec<T>> {
    let mut v = reserved(len, what)?;
    v.extend(items.into_iter().take(len));
    Ok(v)
}

/// Whether the system has `bytes` left for one array that will be touched entirely.
pub(crate) fn enough(bytes: u128) -> bool {
    bytes < LARGE || bytes <= usable(available())
}

/// Available bytes; unlimited where the system does not report them.
#[cfg(not(target_os = "linux"))]
fn available() -> u128 {
    u128::MAX
}

/// The share of `available` bytes that one array may take: it is never the only one, and a system near its last page
/// thrashes.
fn usable(available: u128) -> u128 {
    available / 4 * 3
}

/// Makes the system's allocator retain large freed blocks for later allocations of this process instead of returning
/// them. A program that computes products in a loop then pays for first touch once: about a quarter of the time of a
/// product (`sparring bench spgemm` with and without `--fresh-memory`).
///
/// The setting is process-wide and cannot be undone, so the library never calls it; the command-line tool does when it
/// repeats. Returns whether the allocator has such a setting (glibc's has).
pub fn keep_freed_memory() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: mallopt changes how later blocks are obtained and released, and does not affect existing blocks.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, i32::MAX) == 1 && libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX) == 1
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

/// Advises the system to back large memory with huge pages: fewer first-touch faults, fewer TLB misses.
pub(super) fn advise_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    advise(size_of_val(memory), memory.as_mut_ptr().cast());
}

/// The same for `bytes` bytes from `start` on; not generic, so compiled once.
#[inline(never)]
fn advise(bytes: usize, start: *mut u8) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 2 << 20;
        let (first, end) = ((start as usize).next_multiple_of(PAGE), (start as usize + bytes) / PAGE * PAGE);
        if end > first {
            // SAFETY: the range lies within memory that the only caller has as a mutable slice, and MADV_HUGEPAGE
            // changes how pages are backed, never their contents. Failure is harmless and ignored.
            unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (bytes, start);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Pattern};

    /// One and a half times the available memory, which an overcommitting system would grant, only to kill the process
    /// at first touch.
    #[test]
    fn allocations_above_the_available_memory_fail() {
        let Ok(bytes) = usize::try_from(available()) else { return println!("skipped: the system gives no limit") };
        // The system itself would not refuse these: less than the available memory, but more than the usable share.
        assert!(enough(bytes as u128 / 8) && !enough(bytes as u128 / 8 * 7));
        let len = bytes / 16 * 3;
        let needed = len as u128 * 8;
        let refused = |e: Error| matches!(e, Error::OutOfMemory { bytes, .. } if bytes >= needed);
        assert!(refused(filled(len, 0u64, "a test").unwrap_err()));
        assert!(refused(reserved::<u64>(len, "a test").unwrap_err()));
        assert!(refused(Pattern::<u32>::empty(len, 1).unwrap_err()));
        assert!(refused(super::super::UninitOutput::<u64>::new(len, "a test").unwrap_err()));
    }

    #[test]
    fn collecting_stops_at_the_given_length() {
        assert_eq!(collected(3, 0.., "a test").unwrap(), [0, 1, 2]);
        assert_eq!(collected(3, 0..2, "a test").unwrap(), [0, 1]);
    }
}
