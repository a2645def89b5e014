//! Pinned memory for the numbers of letters.

use std::ffi::c_void;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

/// Numbers of a letter.
pub(super) const NUMBERS: usize = 8;
/// Bytes of a letter.
pub(super) const BYTES: usize = 8 * NUMBERS;
/// Letters of a page.
const LETTERS: usize = 64;

/// The place of a letter, as the host and as the device knows it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) host: *mut u64,
    pub(super) device: sys::CUdeviceptr,
}

/// Pinned pages, and the places in them that no letter has.
#[derive(Default)]
pub(super) struct Mail {
    pages: Vec<*mut c_void>,
    free: Vec<Place>,
}

// SAFETY: pinned memory may be used from any thread; the pages have one owner, and a place is in one letter or in
// `free`.
unsafe impl Send for Mail {}

impl Mail {
    /// Whether every place is in a letter.
    pub(super) fn is_empty(&self) -> bool {
        self.free.is_empty()
    }
    /// A place that no letter has, if there is one.
    pub(super) fn take(&mut self) -> Option<Place> {
        self.free.pop()
    }
    /// Takes a place back.
    pub(super) fn give(&mut self, place: Place) {
        self.free.push(place);
    }
    /// One page more. The context is bound.
    pub(super) fn grow(&mut self) -> std::result::Result<(), DriverError> {
        // SAFETY: 1. The page is zeros before anyone reads it, and is given back in `clear`.
        //         2. It is mapped, so that the driver knows its address on the device; the place for that address is
        //            ours.
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
            // SAFETY: the page came from `malloc_host` and is given back once; nothing writes to it any more. An error
            // here has no one to hear it.
            let _ = unsafe { result::free_host(page) };
        }
    }
}
