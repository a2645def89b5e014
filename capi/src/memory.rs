//! The caller's arrays and text: every raw pointer is read or written here.
//!
//! NULL, alignment and impossible sizes are checked. Only the lengths of the caller's arrays are taken on trust.

use std::ffi::{CStr, c_char};

use sparring::Error;

use crate::guard::{Fail, Fallible, cut};
use crate::handle::{self, Object};

/// `x` as a usize.
pub(crate) fn size(x: u64, what: &'static str) -> Fallible<usize> {
    usize::try_from(x)
        .map_err(|_| Error::IndexOverflow { what, needed: x.into(), max: usize::MAX as u128 })
        .map_err(Fail::from)
}

/// The value of an enumerator from C.
pub(crate) fn choice<T: Copy>(name: &'static str, code: u32, all: &[(u32, T)]) -> Fallible<T> {
    all.iter().find(|(c, _)| *c == code).map(|(_, x)| *x).ok_or_else(|| {
        let known = all.iter().map(|(c, _)| c.to_string()).collect::<Vec<_>>().join(", ");
        Fail::argument(name, format!("{code} is none of {known}"))
    })
}

/// Checks that `p` may be the address of `len` elements; it may be NULL if `len` is 0.
pub(crate) fn check_any<T>(p: *const T, len: usize, name: &'static str) -> Fallible {
    if len == 0 { Ok(()) } else { check(p, len, name) }
}

/// Checks that `p` may be the address of `len` elements.
fn check<T>(p: *const T, len: usize, name: &'static str) -> Fallible {
    if p.is_null() {
        return Err(Fail::null(name));
    }
    if !p.is_aligned() {
        let message = format!("the address {:#x} is not a multiple of {}", p.addr(), align_of::<T>());
        return Err(Fail::argument(name, message));
    }
    possible::<T>(len, name)
}

/// Rejects a length that no array can have.
pub(crate) fn possible<T>(len: usize, name: &'static str) -> Fallible {
    let max = isize::MAX as usize / size_of::<T>().max(1);
    if len > max {
        return Err(Error::IndexOverflow { what: name, needed: len as u128, max: max as u128 }.into());
    }
    Ok(())
}

/// The caller's array of `len` elements; `p` may be NULL if there are none.
/// # Safety
/// If `p` passes [`check`], it points to `len` initialized elements that nobody writes during `'a`, and
/// every bit pattern is a `T`.
pub(crate) unsafe fn input<'a, T>(p: *const T, len: usize, name: &'static str) -> Fallible<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    check(p, len, name)?;
    // SAFETY: not NULL, aligned and not larger than isize::MAX by `check`; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(p, len) })
}

/// The caller's array of `len` elements, to read and to write; `p` may be NULL if there are none.
/// # Safety
/// If `p` passes [`check`], it points to `len` elements that nobody else uses during `'a`, and every bit pattern is a
/// `T`.
pub(crate) unsafe fn inout<'a, T>(p: *mut T, len: usize, name: &'static str) -> Fallible<&'a mut [T]> {
    if len == 0 {
        return Ok(&mut []);
    }
    check(p, len, name)?;
    // SAFETY: not NULL, aligned and not larger than isize::MAX by `check`; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts_mut(p, len) })
}

/// A copy of `x`, with fallible allocation.
pub(crate) fn copied<T, U: Copy>(x: &[U], what: &'static str, f: impl Fn(U) -> T) -> Fallible<Vec<T>> {
    let mut v = Vec::new();
    let bytes = x.len() as u128 * size_of::<T>() as u128;
    v.try_reserve_exact(x.len()).map_err(|_| Error::OutOfMemory { what, bytes })?;
    v.extend(x.iter().map(|&x| f(x)));
    Ok(v)
}

/// Writes `x` to where `p` points.
/// # Safety
/// If `p` passes [`check`], it points to room for a `T` that nobody else uses during the call.
pub(crate) unsafe fn write<T>(p: *mut T, x: T, name: &'static str) -> Fallible {
    check(p, 1, name)?;
    // SAFETY: not NULL and aligned by `check`; writable by the caller's promise.
    unsafe { p.write(x) };
    Ok(())
}

/// Checks that `len` elements fit into `capacity`.
pub(crate) fn fits(len: usize, capacity: u64, name: &'static str) -> Fallible {
    if (len as u64) > capacity {
        let found = usize::try_from(capacity).unwrap_or(usize::MAX);
        return Err(Error::Length { what: name, found, expected: len }.into());
    }
    Ok(())
}

/// The first `len` elements of the caller's array of `capacity`, set to zero: the array may be uninitialized.
/// # Safety
/// If `p` passes [`check`], it points to room for `capacity` elements that nobody else uses during `'a`; a `T` may be
/// all zero bytes.
pub(crate) unsafe fn room<'a, T>(p: *mut T, len: usize, capacity: u64, name: &'static str) -> Fallible<&'a mut [T]> {
    fits(len, capacity, name)?;
    if len == 0 {
        return Ok(&mut []);
    }
    check(p, len, name)?;
    // SAFETY: not NULL, aligned and not larger than isize::MAX by `check`; `len` is at most `capacity` by `fits`, for
    // which there is room by the caller's promise, and zeros are values of `T` by the same.
    unsafe {
        p.write_bytes(0, len);
        Ok(std::slice::from_raw_parts_mut(p, len))
    }
}

/// Copies `x` to the caller's array of `capacity` elements; NULL omits it.
/// # Safety
/// If `p` passes [`check`], it points to room for `capacity` elements that nobody else uses during the call.
pub(crate) unsafe fn output<T: Copy, U>(x: &[T], p: *mut U, capacity: u64, name: &'static str) -> Fallible {
    const { assert!(size_of::<T>() == size_of::<U>() && align_of::<T>() == align_of::<U>()) };
    if p.is_null() {
        return Ok(());
    }
    fits(x.len(), capacity, name)?;
    check(p, x.len(), name)?;
    // SAFETY: `x` has x.len() elements; `p` is not NULL and aligned by `check`, and has room for `capacity`, which
    // is no fewer, by the caller's promise; the two do not overlap, since `x` is borrowed from an object of ours
    // and the caller owns the room.
    unsafe { std::ptr::copy_nonoverlapping(x.as_ptr().cast(), p, x.len()) };
    Ok(())
}

/// Like [`output`], with conversion.
/// # Safety
/// As there.
pub(crate) unsafe fn output_as<T: Copy, U>(
    x: &[T],
    p: *mut U,
    capacity: u64,
    name: &'static str,
    f: impl Fn(T) -> U,
) -> Fallible {
    if p.is_null() {
        return Ok(());
    }
    fits(x.len(), capacity, name)?;
    check(p, x.len(), name)?;
    for (i, &x) in x.iter().enumerate() {
        // SAFETY: not NULL and aligned by `check`; `i` is below x.len(), which is at most `capacity`, for which there
        // is room by the caller's promise.
        unsafe { p.add(i).write(f(x)) };
    }
    Ok(())
}

/// The caller's text.
/// # Safety
/// If `p` is not NULL, it points to bytes that end with a zero and that nobody writes during `'a`.
pub(crate) unsafe fn text<'a>(p: *const c_char, name: &'static str) -> Fallible<&'a str> {
    check(p, 1, name)?;
    // SAFETY: not NULL by `check`; ended by a zero and unchanged by the caller's promise.
    let text = unsafe { CStr::from_ptr(p) };
    text.to_str().map_err(|e| Fail::argument(name, format!("not UTF-8 after {} bytes", e.valid_up_to())))
}

/// Writes as much of `text` as fits, in whole characters and with a zero, to `buffer` of `capacity` bytes, and its
/// full length without the zero to `length`, unless that is NULL.
/// # Safety
/// As for [`write`], for `capacity` bytes at `buffer` and one u64 at `length`.
pub(crate) unsafe fn write_text(text: &str, buffer: *mut c_char, capacity: u64, length: *mut u64) -> Fallible {
    if !length.is_null() {
        // SAFETY: the caller's promise.
        unsafe { write(length, text.len() as u64, "length")? };
    }
    if capacity == 0 {
        return Ok(());
    }
    let text = cut(text, size(capacity, "capacity")? - 1);
    check(buffer, text.len() + 1, "buffer")?;
    // SAFETY: text.len() + 1 ≤ capacity bytes at `buffer` are the caller's, by its promise; `text` is ours.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, text.len());
        buffer.add(text.len()).write(0);
    }
    Ok(())
}

/// Output of a new handle: NULL until it exists, so that a failed call leaves nothing to free.
pub(crate) struct NewHandle<T>(*mut *mut T);

impl<T: Object> NewHandle<T> {
    /// # Safety
    /// As for [`write`], until the value is dropped.
    pub(crate) unsafe fn at(p: *mut *mut T, name: &'static str) -> Fallible<Self> {
        // SAFETY: the caller's promise.
        unsafe { write(p, std::ptr::null_mut(), name)? };
        Ok(Self(p))
    }
    pub(crate) fn give(self, object: T) -> Fallible {
        let handle = handle::give(object)?;
        // SAFETY: `at` has written to the same place, and its caller promised that it stays good.
        unsafe { write(self.0, handle, "handle") }
    }
}
