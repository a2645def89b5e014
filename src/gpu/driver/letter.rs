//! Numbers that the device hands to the host: pinned memory that kernels write to, read after one wait.
//!
//! A copy to ordinary memory is a step of its own, which begins when the kernel has ended. A number in pinned memory is
//! there when the wait for the kernel is over.

use std::mem::MaybeUninit;
use std::sync::{MutexGuard, PoisonError};

use cudarc::driver::{result, sys};

use super::device::Device;
use super::errors::failed;
use super::mail::{BYTES, Mail, NUMBERS, Place};
use crate::{Error, Result};

/// Eight numbers in pinned memory that are this letter's own. A kernel is given their address, and they are read after
/// a wait.
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
        if mail.is_empty() {
            self.bind()?;
            mail.grow().map_err(failed("pinned memory for numbers"))?;
        }
        let place = mail.take().ok_or(Error::OutOfMemory { what: "numbers from the device", bytes: BYTES as u128 })?;
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
        // SAFETY: the place has eight numbers, zeros at first, which this letter alone reads. What kernels of the
        // stream write is there after the wait, and no later one was given the address.
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
        //         2. The slice is looked at again after the wait alone. Should that fail, the driver has given the
        //            stream up.
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
    /// Another letter may have the place at once: whatever a kernel still writes there, the next one's kernels come
    /// later on the stream.
    fn drop(&mut self) {
        self.device.mail().give(self.place);
    }
}
