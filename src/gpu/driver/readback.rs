//! Results of kernels in pinned memory, read by the host after one wait.
//!
//! A copy to pageable memory is a separate step that starts after the kernel has ended. Numbers that a kernel writes to
//! pinned memory are available as soon as the wait for the kernel is over.

use std::mem::MaybeUninit;
use std::sync::{MutexGuard, PoisonError};

use cudarc::driver::{result, sys};

use super::device::Device;
use super::errors::failed;
use super::pinned_pool::{BYTES, NUMBERS, PinnedPool, Slot};
use crate::{Error, Result};

/// Eight numbers in pinned memory, owned by this value. A kernel receives their address, and the host reads them after
/// a wait.
pub(in crate::gpu) struct Readback<'a> {
    device: &'a Device,
    slot: Slot,
}

impl Device {
    fn pinned(&self) -> MutexGuard<'_, PinnedPool> {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A slot for results. Its numbers are unspecified until a kernel has written them.
    pub(in crate::gpu) fn readback(&self) -> Result<Readback<'_>> {
        let mut pool = self.pinned();
        if pool.is_empty() {
            self.bind()?;
            pool.grow().map_err(failed("pinned memory for numbers"))?;
        }
        let slot = pool.take().ok_or(Error::OutOfMemory { what: "numbers from the device", bytes: BYTES as u128 })?;
        Ok(Readback { device: self, slot })
    }
}

impl Readback<'_> {
    /// The device address for kernels to write to.
    pub(in crate::gpu) fn at(&self) -> sys::CUdeviceptr {
        self.slot.device
    }
    /// The numbers, after waiting for all work on the stream.
    pub(in crate::gpu) fn read(&self) -> Result<[u64; NUMBERS]> {
        self.device.synchronize()?;
        // SAFETY: the slot has eight numbers, initially zeros, which only this value reads. Writes of earlier kernels
        // are complete after the wait, and no later kernel has the address.
        Ok(std::array::from_fn(|i| unsafe { self.slot.host.add(i).read_volatile() }))
    }
    /// Copies from the device at `from` to all of `to`, which must fit a slot, and waits.
    ///
    /// # Safety
    /// At `from` there are at least as many bytes as in `to`.
    pub(super) unsafe fn fetch(&self, to: &mut [MaybeUninit<u8>], from: sys::CUdeviceptr) -> Result<()> {
        debug_assert!(to.len() <= BYTES);
        let what = "a copy from the device";
        let len = to.len().min(BYTES);
        self.device.bind()?;
        // SAFETY: 1. `len` bytes exist at `from` by the caller's promise, and in the slot, which only this value uses.
        //         2. The slice is read only after the wait. If the wait fails, the driver has abandoned the stream.
        unsafe {
            let staged = std::slice::from_raw_parts_mut(self.slot.host.cast::<MaybeUninit<u8>>(), len);
            result::memcpy_dtoh_async(staged, from, self.device.stream()).map_err(self.device.failed(what))?;
            self.device.synchronize()?;
            to[..len].copy_from_slice(staged);
        }
        Ok(())
    }
}

impl Drop for Readback<'_> {
    /// The slot may be reused at once: kernels of its next owner run later on the stream than any that still write to
    /// it.
    fn drop(&mut self) {
        self.device.pinned().give(self.slot);
    }
}
