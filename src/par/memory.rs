//! Memory whose size depends on data: asked for, never taken for granted.
//!
//! Linux grants more memory than there is and ends the process that then touches it. So what is large, and will
//! be touched from end to end, is first compared with what the system says is left; a file of three lines that
//! declares billions of rows is refused here, by an error that says how much its row pointers would need.

use std::alloc::{Layout, alloc_zeroed};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

#[cfg(target_os = "linux")]
use super::available::available;
use crate::algebra::Value;
use crate::algebra::words::zero;
use crate::{Error, Index, Result};

/// Smaller requests are not compared: asking the system takes some ten microseconds, touching so much a hundred
/// milliseconds.
pub(super) const LARGE: u128 = 256 << 20;

/// A vector of `len` copies of `x`, or the error that memory could not be had.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn filled<T: Copy>(len: usize, x: T, what: &'static str) -> Result<Vec<T>> {
    let mut v = reserved(len, what)?;
    v.resize(len, x);
    Ok(v)
}

/// A vector of `len` zeros, whose pages come when they are first written, to the threads that write them.
pub(crate) fn zeros(len: usize, what: &'static str) -> Result<Vec<usize>> {
    // SAFETY: a number.
    unsafe { zeroed(len, what) }
}

/// As [`zeros`].
pub(crate) fn zero_indices<I: Index>(len: usize, what: &'static str) -> Result<Vec<I>> {
    // SAFETY: `Index` is sealed: a number.
    unsafe { zeroed(len, what) }
}

/// As [`zeros`], of which any thread may add to any.
pub(crate) fn counters(len: usize, what: &'static str) -> Result<Vec<AtomicU64>> {
    // SAFETY: it has the representation of a number.
    unsafe { zeroed(len, what) }
}

/// As [`zeros`], words of bits.
pub(crate) fn zero_words(len: usize, what: &'static str) -> Result<Vec<u64>> {
    // SAFETY: a number.
    unsafe { zeroed(len, what) }
}

/// As [`zeros`], of values of any type: 0, `false`, or structs of these.
pub(crate) fn zero_values<T: Value>(len: usize, what: &'static str) -> Result<Vec<T>> {
    if size_of::<T>() == 0 {
        return filled(len, zero(), what);
    }
    // SAFETY: 1. zeros are a value of `T`, as `words::zero` says; 2. its size is not zero.
    unsafe { zeroed(len, what) }
}

/// A vector of `len` elements whose bits are zeros.
/// # Safety
/// These bits are a value of `T`, which is not of size zero.
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
    // SAFETY: 1. the memory is from the global allocator, with the layout of `len` elements; 2. it is zeros, which are
    // values.
    let mut v = unsafe { Vec::from_raw_parts(start.as_ptr(), len, len) };
    // SAFETY: an element is as good as one that may be none; nothing is written.
    advise_huge_pages(unsafe { &mut *(std::ptr::from_mut(&mut v[..]) as *mut [MaybeUninit<T>]) });
    Ok(v)
}

/// The error that `len` elements could not be had.
pub(crate) fn out_of_memory<T>(what: &'static str, len: usize) -> Error {
    Error::OutOfMemory { what, bytes: len as u128 * size_of::<T>() as u128 }
}

/// An empty vector with room for `len` elements, in huge pages where the system has them.
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

/// Whether the system has `bytes` left for one array that will be touched from end to end.
pub(crate) fn enough(bytes: u128) -> bool {
    bytes < LARGE || bytes <= usable(available())
}

/// Bytes that are left, if the system says so.
#[cfg(not(target_os = "linux"))]
fn available() -> u128 {
    u128::MAX
}

/// What one array may take of `available` bytes: it is never alone, and a system at its last page crawls.
fn usable(available: u128) -> u128 {
    available / 4 * 3
}

/// Tells the system's allocator to keep large freed blocks for the next ones of this process, instead of giving them
/// back. A program that computes products in a loop then pays their first touch once: about a quarter of the time of a
/// product (`sparring bench spgemm` with and without `--fresh-memory`).
///
/// It holds for the whole process and cannot be undone, so the library never calls it; the command-line tool does
/// when it repeats. Returns whether the allocator has such a setting (glibc's has).
pub fn keep_freed_memory() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: mallopt changes how later blocks are obtained and released, nothing about the blocks there are.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, i32::MAX) == 1 && libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX) == 1
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

/// Asks the system to back large memory with huge pages: fewer first-touch faults, fewer TLB misses.
pub(super) fn advise_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    advise(size_of_val(memory), memory.as_mut_ptr().cast());
}

/// The same for `bytes` bytes from `start` on, compiled once.
#[inline(never)]
fn advise(bytes: usize, start: *mut u8) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 2 << 20;
        let (first, end) = ((start as usize).next_multiple_of(PAGE), (start as usize + bytes) / PAGE * PAGE);
        if end > first {
            // SAFETY: the range lies within memory that the one caller has as a mutable slice, and MADV_HUGEPAGE
            // changes how pages are backed, never what they hold. A refusal is harmless and ignored.
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

    /// Half as much again as there is, which a system that overcommits would grant, and kill at the first touch.
    #[test]
    fn more_than_there_is_is_refused() {
        let Ok(bytes) = usize::try_from(available()) else { return println!("skipped: the system gives no limit") };
        // What the system itself would not refuse: less than there is, and more than is to be used of it.
        assert!(enough(bytes as u128 / 8) && !enough(bytes as u128 / 8 * 7));
        let len = bytes / 16 * 3;
        let needed = len as u128 * 8;
        let refused = |e: Error| matches!(e, Error::OutOfMemory { bytes, .. } if bytes >= needed);
        assert!(refused(filled(len, 0u64, "a test").unwrap_err()));
        assert!(refused(reserved::<u64>(len, "a test").unwrap_err()));
        assert!(refused(Pattern::<u32>::empty(len, 1).unwrap_err()));
        assert!(refused(super::super::Fresh::<u64>::new(len, "a test").unwrap_err()));
    }

    #[test]
    fn no_more_is_collected_than_there_is_room_for() {
        assert_eq!(collected(3, 0.., "a test").unwrap(), [0, 1, 2]);
        assert_eq!(collected(3, 0..2, "a test").unwrap(), [0, 1]);
    }
}
