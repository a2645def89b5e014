//! A device: its context, its streams and its memory pool, access to the stream, and reporting of asynchronous errors.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUmemPool_attribute as PoolAttribute};
use cudarc::driver::{CudaContext, CudaStream};

use super::errors::{failed, message, of_a_kernel};
use super::pinned_pool::PinnedPool;
use super::side_streams::SideStreams;
use crate::gpu::staging::Staging;
use crate::{Error, Result};

/// The oldest driver that has all functions in use; the newest of them is `cuEventElapsedTime_v2`.
const OLDEST: (u32, u32) = (12, 8);

/// A device's properties, read from the driver.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Number of the device, from 0.
    pub ordinal: usize,
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Threads of a multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Registers of a multiprocessor, of 4 bytes.
    pub registers_per_multiprocessor: u32,
    /// Bytes of shared memory that one block may have.
    pub shared_per_block: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_per_multiprocessor: u32,
    /// Bytes of the L2 cache.
    pub l2: u64,
    /// Bytes of device memory.
    pub memory: u64,
}

/// A device with its stream, its side streams and its memory pool.
pub(crate) struct Device {
    pub(super) context: Arc<CudaContext>,
    pub(super) stream: Arc<CudaStream>,
    pub(super) side_streams: SideStreams,
    pub(super) pool: sys::CUmemoryPool,
    limits: Limits,
    /// Bytes allocated, and the caller's limit.
    pub(super) in_use: AtomicU64,
    pub(super) budget: AtomicU64,
    /// Kernels launched since the last wait, newest last, and the number of older ones not listed.
    launched: Mutex<(VecDeque<Arc<str>>, u64)>,
    pub(super) staging: Mutex<Option<Staging>>,
    pub(super) pinned: Mutex<PinnedPool>,
}

/// Number of kernel names that an error lists.
const REMEMBERED: usize = 16;

// SAFETY: 1. cudarc declares the context and the stream `Send` and `Sync`.
//         2. A pool's handle may be used from any thread (the driver locks it); it is destroyed once, in `drop`.
unsafe impl Send for Device {}
// SAFETY: as above; no method gives out a reference to the handle.
unsafe impl Sync for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.limits.fmt(f)
    }
}

fn missing(ordinal: usize, why: impl Into<String>) -> Error {
    Error::NoDevice { ordinal, why: why.into() }
}

/// Number of devices; 0 without a driver.
pub(in crate::gpu) fn count() -> usize {
    // SAFETY: it opens a library by name and closes it.
    if !unsafe { sys::is_culib_present() } || result::init().is_err() {
        return 0;
    }
    CudaContext::device_count().ok().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

impl Device {
    pub(in crate::gpu) fn open(ordinal: usize) -> Result<Self> {
        // SAFETY: it opens a library by name and closes it. Without the library, cudarc's first call would panic.
        if !unsafe { sys::is_culib_present() } {
            return Err(missing(ordinal, "the NVIDIA driver's library libcuda.so.1 was not found"));
        }
        result::init().map_err(|e| missing(ordinal, message(e)))?;
        let version = driver_version().map_err(|e| missing(ordinal, message(e)))?;
        // An older driver lacks functions, and cudarc panics when it calls a missing one.
        if version < OLDEST {
            let why = format!(
                "the driver is for CUDA {}.{}, but at least {}.{} is required",
                version.0, version.1, OLDEST.0, OLDEST.1
            );
            return Err(missing(ordinal, why));
        }
        let devices = count();
        if ordinal >= devices {
            return Err(missing(ordinal, format!("the driver has {devices} devices, counted from 0")));
        }
        let context = CudaContext::new(ordinal).map_err(|e| missing(ordinal, message(e)))?;
        // SAFETY: all work is on streams that this module orders, so cudarc's events have nothing to order.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(failed("a stream"))?;
        let side_streams = SideStreams::new(&context).map_err(failed("streams"))?;
        let limits = limits(&context, ordinal).map_err(failed("the device's limits"))?;
        let pool = pool(ordinal)?;
        Ok(Self {
            context,
            stream,
            side_streams,
            pool,
            limits,
            in_use: AtomicU64::new(0),
            budget: AtomicU64::new(u64::MAX),
            launched: Mutex::default(),
            staging: Mutex::default(),
            pinned: Mutex::default(),
        })
    }

    pub(in crate::gpu) fn limits(&self) -> &Limits {
        &self.limits
    }
    pub(in crate::gpu) fn stream(&self) -> sys::CUstream {
        self.stream.cu_stream()
    }
    /// Binds the context to the calling thread, as every other call requires.
    pub(in crate::gpu) fn bind(&self) -> Result<()> {
        self.context.bind_to_thread().map_err(failed("binding the context"))
    }
    /// Converts a driver error. If it may stem from an earlier kernel, the message lists the kernels since the last
    /// wait.
    pub(in crate::gpu) fn failed(&self, what: impl Into<String>) -> impl FnOnce(DriverError) -> Error {
        let what = what.into();
        move |e| {
            let mut message = message(e);
            if of_a_kernel(e) {
                let launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
                let (names, older) = &*launched;
                if !names.is_empty() {
                    message += "; kernels since the last wait, the newest last: ";
                    if *older > 0 {
                        message += &format!("{older} more, ");
                    }
                    message += &names.iter().map(|n| &**n).collect::<Vec<_>>().join(", ");
                }
            }
            Error::Device { what, message }
        }
    }
    /// Records a launch, for error messages.
    pub(in crate::gpu) fn started(&self, kernel: &Arc<str>) {
        let mut launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        if launched.0.len() == REMEMBERED {
            launched.0.pop_front();
            launched.1 += 1;
        }
        launched.0.push_back(Arc::clone(kernel));
    }

    /// Waits for all earlier work, and reports its errors.
    pub(in crate::gpu) fn synchronize(&self) -> Result<()> {
        let what = "waiting for the device";
        self.bind()?;
        self.stream.synchronize().map_err(self.failed(what))?;
        *self.launched.lock().unwrap_or_else(PoisonError::into_inner) = Default::default();
        Ok(())
    }
}

/// The CUDA version of the driver, major and minor.
pub(in crate::gpu) fn driver_version() -> std::result::Result<(u32, u32), DriverError> {
    let mut version = 0;
    // SAFETY: the pointer is to a local.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
    let version = u32::try_from(version).unwrap_or(0);
    Ok((version / 1000, version % 1000 / 10))
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            let _ = self.stream.synchronize();
            drop(self.staging.get_mut().unwrap_or_else(PoisonError::into_inner).take());
            self.pinned.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
            // SAFETY: every buffer holds an `Arc` of this device, so none is left; the pool is destroyed once.
            let _ = unsafe { result::mem_pool::destroy(self.pool) };
        }
    }
}

fn limits(context: &CudaContext, ordinal: usize) -> std::result::Result<Limits, DriverError> {
    let figure = |which| context.attribute(which).map(|x| u32::try_from(x).unwrap_or(0));
    let (major, minor) = context.compute_capability()?;
    Ok(Limits {
        ordinal,
        name: context.name()?,
        capability: (u32::try_from(major).unwrap_or(0), u32::try_from(minor).unwrap_or(0)),
        multiprocessors: figure(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: figure(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        registers_per_multiprocessor: figure(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        shared_per_block: figure(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        shared_per_multiprocessor: figure(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
        l2: figure(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
        memory: context.total_mem()? as u64,
    })
}

/// A pool that retains freed memory: without a threshold it would return memory to the system at every wait.
fn pool(ordinal: usize) -> Result<sys::CUmemoryPool> {
    let properties = sys::CUmemPoolProps {
        allocType: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: sys::CUmemLocation {
            type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            id: i32::try_from(ordinal).unwrap_or(i32::MAX),
        },
        win32SecurityAttributes: std::ptr::null_mut(),
        maxSize: 0,
        usage: 0,
        reserved: [0; 54],
    };
    // SAFETY: the properties are complete and outlive the call.
    let pool = unsafe { result::mem_pool::create(&raw const properties) }.map_err(failed("a memory pool"))?;
    let mut keep = u64::MAX;
    // SAFETY: the pool was just created; the attribute is a 64-bit number.
    unsafe {
        result::mem_pool::set_attribute(
            pool,
            PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
            (&raw mut keep).cast::<c_void>(),
        )
    }
    .map_err(failed("the memory pool's threshold"))?;
    Ok(pool)
}
