//! The pool of pinned memory for results of kernels.

use std::ffi::c_void;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

/// Numbers per slot.
pub(super) const NUMBERS: usize = 8;
/// Bytes per slot.
pub(super) const BYTES: usize = 8 * NUMBERS;
/// Slots per page.
const SLOTS: usize = 64;

/// A slot: its host and device addresses.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) host: *mut u64,
    pub(super) device: sys::CUdeviceptr,
}

/// Pinned pages, and their free slots.
#[derive(Default)]
pub(super) struct PinnedPool {
    pages: Vec<*mut c_void>,
    free: Vec<Slot>,
}

// SAFETY: pinned memory may be used from any thread; the pages have one owner, and a slot is either in use by one owner
// or in `free`.
unsafe impl Send for PinnedPool {}

impl PinnedPool {
    /// Whether no slot is free.
    pub(super) fn is_empty(&self) -> bool {
        self.free.is_empty()
    }
    /// Takes a free slot, if there is one.
    pub(super) fn take(&mut self) -> Option<Slot> {
        self.free.pop()
    }
    /// Returns a slot.
    pub(super) fn give(&mut self, slot: Slot) {
        self.free.push(slot);
    }
    /// Adds a page. The context must be bound.
    pub(super) fn grow(&mut self) -> std::result::Result<(), DriverError> {
        // SAFETY: 1. The page is zeroed before anyone reads it, and is freed in `clear`.
        //         2. It is mapped, so that the driver knows its device address; the pointer for that address is to a
        //            local.
        let (page, at) = unsafe {
            let page = result::malloc_host(BYTES * SLOTS, sys::CU_MEMHOSTALLOC_DEVICEMAP)?;
            page.cast::<u8>().write_bytes(0, BYTES * SLOTS);
            let mut at = 0;
            if let Err(e) = sys::cuMemHostGetDevicePointer_v2(&raw mut at, page, 0).result() {
                let _ = result::free_host(page);
                return Err(e);
            }
            (page, at)
        };
        self.pages.push(page);
        let slot =
            |i: usize| Slot { host: page.cast::<u64>().wrapping_add(i * NUMBERS), device: at + (i * BYTES) as u64 };
        self.free.extend((0..SLOTS).map(slot));
        Ok(())
    }
    /// Frees the pages. The context must be bound, no slot in use, and the device idle.
    pub(super) fn clear(&mut self) {
        self.free.clear();
        for page in self.pages.drain(..) {
            // SAFETY: the page came from `malloc_host` and is freed once; nothing writes to it any more. Errors cannot
            // be reported here.
            let _ = unsafe { result::free_host(page) };
        }
    }
}
