//! Numbers that the device hands to the host: pinned memory that kernels write to, read after one wait.
//!
//! A copy to ordinary memory is two steps of the driver's, and starts when the kernel has ended. A number in pinned memory is there when
//! the wait is over.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::{MutexGuard, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::device::Device;
use super::errors::failed;
use crate::{Error, Result};

/// Numbers of a letter.
pub(in crate::gpu) const NUMBERS: usize = 8;
/// Bytes of a letter.
pub(super) const BYTES: usize = 8 * NUMBERS;
/// Letters of a page.
const LETTERS: usize = 64;

/// The place of a letter, as the host and as the device knows it.
#[derive(Clone, Copy)]
struct Place {
    host: *mut u64,
    device: sys::CUdeviceptr,
}

/// Pinned pages, and the places in them that no letter has.
#[derive(Default)]
pub(super) struct Mail {
    pages: Vec<*mut c_void>,
    free: Vec<Place>,
}

// SAFETY: pinned memory may be used from any thread; the pages have one owner, and a place is in one letter or in `free`.
unsafe impl Send for Mail {}

impl Mail {
    /// One page more. The context is bound.
    fn grow(&mut self) -> std::result::Result<(), DriverError> {
        // SAFETY: 1. The page is zeros before anyone reads it, and is given back in `clear`.
        //         2. It is mapped, so that the driver knows its address on the device; the place for that address is ours.
        let (page, at) = unsafe {
            let page = result::malloc_host(BYTES * LETTERS, sys::CU_MEMHOSTALLOC_DEVICEMAP)?;
            page.cast::<u8>().write_bytes(0, BYTES * LETTERS);
            let mut at = 0;
            if let Err(e) = sys::cuMemHostGetDevicePointer_v2(&raw mut at, page, 0).result() {
                let _ = result::free_host(page);
                return Err(e);
            }
            (page, at)
        };
        self.pages.push(page);
        let place =
            |i: usize| Place { host: page.cast::<u64>().wrapping_add(i * NUMBERS), device: at + (i * BYTES) as u64 };
        self.free.extend((0..LETTERS).map(place));
        Ok(())
    }
    /// Gives the pages back. The context is bound, no letter is left, and the device is through.
    pub(super) fn clear(&mut self) {
        self.free.clear();
        for page in self.pages.drain(..) {
            // SAFETY: the page came from `malloc_host` and is given back once; nothing writes to it any more. An error here has no one to
            // hear it.
            let _ = unsafe { result::free_host(page) };
        }
    }
}

/// Eight numbers in pinned memory that are this letter's own. A kernel is given their address, and they are read after a wait.
pub(in crate::gpu) struct Letter<'a> {
    device: &'a Device,
    place: Place,
}

impl Device {
    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A letter; what its numbers are is not known before a kernel has written them.
    pub(in crate::gpu) fn letter(&self) -> Result<Letter<'_>> {
        let mut mail = self.mail();
        if mail.free.is_empty() {
            self.bind()?;
            mail.grow().map_err(failed("pinned memory for numbers"))?;
        }
        let place =
            mail.free.pop().ok_or(Error::OutOfMemory { what: "numbers from the device", bytes: BYTES as u128 })?;
        Ok(Letter { device: self, place })
    }
}

impl Letter<'_> {
    /// Where a kernel writes the numbers.
    pub(in crate::gpu) fn at(&self) -> sys::CUdeviceptr {
        self.place.device
    }
    /// The numbers, after a wait for all that was put on the stream.
    pub(in crate::gpu) fn read(&self) -> Result<[u64; NUMBERS]> {
        self.device.synchronize()?;
        // SAFETY: the place has eight numbers, zeros at first, which this letter alone reads. What kernels of the stream write is there
        // after the wait, and no later one was given the address.
        Ok(std::array::from_fn(|i| unsafe { self.place.host.add(i).read_volatile() }))
    }
    /// Copies to all of `to`, which is no longer than a letter, from the device at `from`, and waits.
    ///
    /// # Safety
    /// There are as many bytes as `to` has at `from`.
    pub(super) unsafe fn fetch(&self, to: &mut [MaybeUninit<u8>], from: sys::CUdeviceptr) -> Result<()> {
        debug_assert!(to.len() <= BYTES);
        let what = "a copy from the device";
        let len = to.len().min(BYTES);
        self.device.bind()?;
        // SAFETY: 1. `len` bytes are at `from` by the caller's promise, and in the place, which this letter alone uses.
        //         2. The slice is looked at again after the wait alone. Should that fail, the driver has given the stream up.
        unsafe {
            let staged = std::slice::from_raw_parts_mut(self.place.host.cast::<MaybeUninit<u8>>(), len);
            result::memcpy_dtoh_async(staged, from, self.device.stream()).map_err(self.device.failed(what))?;
            self.device.synchronize()?;
            to[..len].copy_from_slice(staged);
        }
        Ok(())
    }
}

impl Drop for Letter<'_> {
    /// Another letter may have the place at once: whatever a kernel still writes there, the next one's kernels come later on the stream.
    fn drop(&mut self) {
        self.device.mail().free.push(self.place);
    }
}
