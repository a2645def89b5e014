//! Device memory: allocated from the pool and freed in stream order, initialized, and copied.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::TryLockError;
use std::sync::atomic::Ordering;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUmemPool_attribute as PoolAttribute};

use super::device::Device;
use super::errors::failed;
use super::pinned_pool::BYTES as SLOT;
use crate::algebra::{Slice, Value};
use crate::gpu::staging::{self, Staging};
use crate::{Error, Result};

impl Device {
    /// Limits the bytes allocated at a time.
    pub(in crate::gpu) fn set_budget(&self, bytes: u64) {
        self.budget.store(bytes, Ordering::Relaxed);
    }
    /// Bytes free on the device, as the driver reports, and in total.
    pub(in crate::gpu) fn free_memory(&self) -> Result<(u64, u64)> {
        let (free, total) = self.context.mem_get_info().map_err(failed("the device's free memory"))?;
        Ok((free as u64, total as u64))
    }

    /// Bytes available to allocations: what the budget leaves, and 7/8 of the memory that is free or pooled.
    pub(in crate::gpu) fn room(&self) -> Result<u64> {
        let idle = self.held_memory()?.saturating_sub(self.used_memory()?);
        let free = self.free_memory()?.0.saturating_add(idle) / 8 * 7;
        let left = self.budget.load(Ordering::Relaxed).saturating_sub(self.in_use.load(Ordering::Relaxed));
        Ok(free.min(left))
    }

    /// An error if `bytes` cannot possibly be allocated; called before anything is computed.
    pub(in crate::gpu) fn check_fits(&self, bytes: u128, what: &'static str) -> Result<()> {
        let (budget, used) = (self.budget.load(Ordering::Relaxed), self.in_use.load(Ordering::Relaxed));
        if bytes.saturating_add(used.into()) > budget.into() {
            return Err(Error::Budget { what, bytes: bytes.saturating_add(used.into()), budget: budget.into() });
        }
        let idle = self.held_memory()?.saturating_sub(self.used_memory()?);
        let free = self.free_memory()?.0.saturating_add(idle);
        if bytes > free.into() { Err(Error::DeviceMemory { what, bytes, free }) } else { Ok(()) }
    }

    fn pool_figure(&self, which: PoolAttribute) -> Result<u64> {
        self.bind()?;
        let mut bytes = 0u64;
        // SAFETY: the pool lives as long as `self`; these attributes are 64-bit numbers.
        unsafe { result::mem_pool::get_attribute(self.pool, which, (&raw mut bytes).cast::<c_void>()) }
            .map_err(failed("the memory pool's figures"))?;
        Ok(bytes)
    }
    /// Bytes of the pool in use now.
    pub(in crate::gpu) fn used_memory(&self) -> Result<u64> {
        self.pool_figure(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
    }
    /// Most bytes of the pool in use since the last [`reset_peak`](Self::reset_peak).
    pub(in crate::gpu) fn peak_memory(&self) -> Result<u64> {
        self.pool_figure(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH)
    }
    /// Bytes that the pool holds, in use or free.
    pub(in crate::gpu) fn held_memory(&self) -> Result<u64> {
        self.pool_figure(PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
    }
    pub(in crate::gpu) fn reset_peak(&self) -> Result<()> {
        self.bind()?;
        let mut zero = 0u64;
        // SAFETY: the pool lives as long as `self`; the attribute is a 64-bit number that may be set to 0.
        unsafe {
            result::mem_pool::set_attribute(
                self.pool,
                PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH,
                (&raw mut zero).cast::<c_void>(),
            )
        }
        .map_err(failed("the memory pool's peak"))
    }
    /// Returns unused memory to the system.
    pub(in crate::gpu) fn trim(&self) -> Result<()> {
        self.bind()?;
        self.synchronize()?;
        // SAFETY: the pool lives as long as `self`.
        unsafe { result::mem_pool::trim_to(self.pool, 0) }.map_err(failed("trimming the memory pool"))
    }

    /// Counts `bytes` as allocated, if the budget allows it.
    fn reserve(&self, bytes: u64, what: &'static str) -> Result<()> {
        let budget = self.budget.load(Ordering::Relaxed);
        let add = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= budget);
        self.in_use.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).map(|_| ()).map_err(|used| Error::Budget {
            what,
            bytes: u128::from(used) + u128::from(bytes),
            budget: budget.into(),
        })
    }
    /// Allocates `bytes` uninitialized bytes, in stream order.
    pub(in crate::gpu) fn take(&self, bytes: usize, what: &'static str) -> Result<sys::CUdeviceptr> {
        self.reserve(bytes as u64, what)?;
        let taken = self.take_reserved(bytes, what);
        if taken.is_err() {
            self.in_use.fetch_sub(bytes as u64, Ordering::Relaxed);
        }
        taken
    }
    fn take_reserved(&self, bytes: usize, what: &'static str) -> Result<sys::CUdeviceptr> {
        let allocate = || {
            self.bind()?;
            // SAFETY: pool and stream live as long as `self`.
            match unsafe { result::mem_pool::alloc_async(self.pool, bytes, self.stream()) } {
                Ok(at) => Ok(Some(at)),
                Err(e) if e.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Ok(None),
                Err(e) => Err(self.failed(what)(e)),
            }
        };
        if let Some(at) = allocate()? {
            return Ok(at);
        }
        // The pool's free memory may be fragmented, or in blocks that are too small: return it to the system and retry.
        self.trim()?;
        match allocate()? {
            Some(at) => Ok(at),
            None => {
                let free = self.free_memory().map_or(0, |(free, _)| free);
                Err(Error::DeviceMemory { what, bytes: bytes as u128, free })
            }
        }
    }
    /// Frees `bytes` bytes, in stream order.
    pub(in crate::gpu) fn give(&self, at: sys::CUdeviceptr, bytes: u64) {
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
        if self.bind().is_ok() {
            // SAFETY: `at` came from `take`, and its only owner frees it once. Errors cannot be reported here.
            let _ = unsafe { result::free_async(at, self.stream()) };
        }
    }

    /// Calls `work` with the pinned buffers, created on first use. `None` if another thread holds them (it might be
    /// waiting for this one) or if they cannot be allocated.
    fn staged<T>(&self, work: impl FnOnce(&mut Staging) -> T) -> Option<T> {
        let mut staging = match self.staging.try_lock() {
            Ok(staging) => staging,
            Err(TryLockError::Poisoned(e)) => e.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if staging.is_none() {
            *staging = Staging::new().ok();
        }
        staging.as_mut().map(work)
    }
    /// Enqueues `work` on the stream.
    fn on_stream(
        &self,
        what: &str,
        work: &dyn Fn(sys::CUstream) -> std::result::Result<(), DriverError>,
    ) -> Result<()> {
        self.bind()?;
        work(self.stream()).map_err(self.failed(what))
    }

    /// Copies `from` to the device at `to`; the caller guarantees the room.
    pub(in crate::gpu) fn put(&self, to: sys::CUdeviceptr, from: Slice<'_>) -> Result<()> {
        let what = "a copy to the device";
        // SAFETY: the slice borrows that many values of its type, which are bytes, some of them possibly padding.
        let from = unsafe {
            std::slice::from_raw_parts(from.as_ptr().cast::<MaybeUninit<u8>>(), from.len() * from.ty().size())
        };
        if from.len() >= staging::LEAST {
            self.bind()?;
            let done = self.staged(|staging| {
                // SAFETY: the caller holds `from.len()` bytes at `to`, and frees them in stream order.
                unsafe { staging.put(to, from, |e| self.failed(what)(e), |work| self.on_stream(what, work)) }
            });
            if let Some(done) = done {
                return done;
            }
        }
        // SAFETY: the caller holds `from.len()` bytes at `to`. A copy from pageable memory returns once the driver has
        // read the bytes; if it returned earlier, the wait would still keep `from` alive long enough.
        self.on_stream(what, &|stream| unsafe { result::memcpy_htod_async(to, from, stream) })?;
        self.synchronize()
    }
    /// Copies from the device at `from` to all of `to`, and waits; the caller guarantees that many bytes.
    fn get(&self, to: &mut [MaybeUninit<u8>], from: sys::CUdeviceptr) -> Result<()> {
        let what = "a copy from the device";
        if to.len() <= SLOT
            && let Ok(readback) = self.readback()
        {
            // SAFETY: the caller holds `to.len()` bytes at `from`.
            return unsafe { readback.fetch(to, from) };
        }
        let mut done = None;
        if to.len() >= staging::LEAST {
            self.bind()?;
            // SAFETY: the caller holds `to.len()` bytes at `from`.
            done = self.staged(|staging| unsafe {
                staging.get(to, from, |e| self.failed(what)(e), |work| self.on_stream(what, work))
            });
        }
        match done {
            Some(done) => done?,
            None => {
                self.bind()?;
                // SAFETY: as above; if the wait below fails, the driver has abandoned the stream and writes no more.
                unsafe { result::memcpy_dtoh_async(to, from, self.stream()) }.map_err(self.failed(what))?;
            }
        }
        self.synchronize()
    }
    /// Appends `len` values from the device at `from` to `to`, which must have the spare capacity, and waits. The
    /// caller guarantees as many values of type T at `from`.
    pub(in crate::gpu) fn get_spare<T: Value>(
        &self,
        to: &mut Vec<T>,
        len: usize,
        from: sys::CUdeviceptr,
    ) -> Result<()> {
        let start = to.len();
        let room = to.capacity() - start;
        let Some(spare) = to.spare_capacity_mut().get_mut(..len) else {
            return Err(Error::Length { what: "room for values from the device", found: room, expected: len });
        };
        let bytes = size_of_val(spare);
        // SAFETY: the spare capacity as possibly uninitialized bytes, borrowed for as long as they are used.
        let spare = unsafe { std::slice::from_raw_parts_mut(spare.as_mut_ptr().cast::<MaybeUninit<u8>>(), bytes) };
        self.get(spare, from)?;
        // SAFETY: all `len` values have been written as values of T, by a kernel or by `put`, and the wait is over.
        unsafe { to.set_len(start + len) };
        Ok(())
    }
    /// Copies `bytes` bytes within the device.
    pub(in crate::gpu) fn copy(&self, to: sys::CUdeviceptr, from: sys::CUdeviceptr, bytes: usize) -> Result<()> {
        self.bind()?;
        // SAFETY: the callers hold `bytes` bytes at both addresses, and the ranges do not overlap.
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream()) }
            .map_err(self.failed("a copy on the device"))
    }
    /// Sets `bytes` bytes to `byte`.
    pub(in crate::gpu) fn set(&self, at: sys::CUdeviceptr, byte: u8, bytes: usize) -> Result<()> {
        self.bind()?;
        // SAFETY: the caller holds `bytes` bytes at `at`.
        unsafe { result::memset_d8_async(at, byte, bytes, self.stream()) }
            .map_err(self.failed("clearing device memory"))
    }
}
