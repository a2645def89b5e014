//! The CUDA driver behind safe functions: context, one stream, a memory pool, modules.
//!
//! All work of a [`Device`] is put on one stream, so that memory is taken, used and given back in program order.

use std::collections::VecDeque;
use std::ffi::{CString, c_void};
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUmemPool_attribute as PoolAttribute};
use cudarc::driver::{CudaContext, CudaStream};

mod record;

pub(super) use record::Recorded;
use record::Tape;

use super::jit::Unloadable;
use super::staging::{self, Staging};
use crate::algebra::Value;
use crate::{Error, Result};

/// The oldest driver that has all functions that are called: `cuEventElapsedTime_v2` is the newest of them.
const OLDEST: (u32, u32) = (12, 8);

/// What a device has, read from it.
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
    /// Bytes of shared memory that one block may have.
    pub shared_per_block: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_per_multiprocessor: u32,
    /// Bytes of the L2 cache.
    pub l2: u64,
    /// Bytes of device memory.
    pub memory: u64,
}

/// A device with its stream and its pool of memory.
pub(crate) struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    pool: sys::CUmemoryPool,
    limits: Limits,
    /// Bytes taken and not given back, and the most that the caller allows.
    in_use: AtomicU64,
    budget: AtomicU64,
    /// Kernels started since the last wait, the newest last, and how many of the older are not listed.
    launched: Mutex<(VecDeque<Arc<str>>, u64)>,
    staging: Mutex<Option<Staging>>,
    /// Held for reading by whoever puts work on the stream, for writing by whoever records it.
    recording: RwLock<()>,
    /// Of the recording under way: kernels, and memory given back meanwhile.
    tape: Mutex<Tape>,
}

/// Names of kernels that an error lists.
const REMEMBERED: usize = 16;

// SAFETY: 1. The context and the stream are `Send` and `Sync` by cudarc's own word.
//         2. A pool's handle may be used from any thread (the driver locks it); it is destroyed once, in `drop`.
unsafe impl Send for Device {}
// SAFETY: as above; no method gives out a reference to the handle.
unsafe impl Sync for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.limits.fmt(f)
    }
}

/// Name and text of a driver's error.
pub(super) fn message(e: DriverError) -> String {
    let text = |s: std::result::Result<&std::ffi::CStr, DriverError>| {
        s.map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
    };
    format!("{} ({})", text(e.error_string()), text(e.error_name()))
}

/// The driver's word as ours; `what` was being done.
pub(super) fn failed(what: impl Into<String>) -> impl FnOnce(DriverError) -> Error {
    let what = what.into();
    move |e| Error::Device { what, message: message(e) }
}

fn missing(ordinal: usize, why: impl Into<String>) -> Error {
    Error::NoDevice { ordinal, why: why.into() }
}

/// Number of devices; 0 where there is no driver.
pub(super) fn count() -> usize {
    // SAFETY: it opens a library by name and closes it.
    if !unsafe { sys::is_culib_present() } || result::init().is_err() {
        return 0;
    }
    CudaContext::device_count().ok().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

impl Device {
    pub(super) fn open(ordinal: usize) -> Result<Self> {
        // SAFETY: it opens a library by name and closes it. Without it, cudarc's first call would panic.
        if !unsafe { sys::is_culib_present() } {
            return Err(missing(ordinal, "the NVIDIA driver's library libcuda.so.1 is not found"));
        }
        result::init().map_err(|e| missing(ordinal, message(e)))?;
        let version = driver_version().map_err(|e| missing(ordinal, message(e)))?;
        // An older one lacks functions, and cudarc panics at the first call of one that is not there.
        if version < OLDEST {
            let why = format!(
                "the driver is for CUDA {}.{}, but {}.{} is the oldest that will do",
                version.0, version.1, OLDEST.0, OLDEST.1
            );
            return Err(missing(ordinal, why));
        }
        let devices = count();
        if ordinal >= devices {
            return Err(missing(ordinal, format!("the driver has {devices} devices, counted from 0")));
        }
        let context = CudaContext::new(ordinal).map_err(|e| missing(ordinal, message(e)))?;
        // SAFETY: all our work is on one stream, so there is nothing for cudarc's events to order.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(failed("a stream"))?;
        let limits = limits(&context, ordinal).map_err(failed("the device's limits"))?;
        let pool = pool(ordinal)?;
        Ok(Self {
            context,
            stream,
            pool,
            limits,
            in_use: AtomicU64::new(0),
            budget: AtomicU64::new(u64::MAX),
            launched: Mutex::default(),
            staging: Mutex::default(),
            recording: RwLock::new(()),
            tape: Mutex::default(),
        })
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }
    pub(super) fn stream(&self) -> sys::CUstream {
        self.stream.cu_stream()
    }
    /// Makes the context that of the calling thread, which every other call needs.
    pub(super) fn bind(&self) -> Result<()> {
        self.context.bind_to_thread().map_err(failed("binding the context"))
    }
    /// The driver's word as ours; where the error may be an earlier kernel's, with the kernels since the last wait.
    pub(super) fn failed(&self, what: impl Into<String>) -> impl FnOnce(DriverError) -> Error {
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
    /// Remembers that the kernel was started.
    pub(super) fn started(&self, kernel: &Arc<str>) {
        if self.is_recording() {
            self.tape.lock().unwrap_or_else(PoisonError::into_inner).kernels.push(Arc::clone(kernel));
            return;
        }
        let mut launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        if launched.0.len() == REMEMBERED {
            launched.0.pop_front();
            launched.1 += 1;
        }
        launched.0.push_back(Arc::clone(kernel));
    }

    /// Whether this thread records the stream.
    fn is_recording(&self) -> bool {
        record::is_under_way(self)
    }
    /// The stream for work that a graph can hold, as long as the turn is kept. Binds the context.
    pub(super) fn turn(&self) -> Result<Option<RwLockReadGuard<'_, ()>>> {
        self.bind()?;
        if self.is_recording() {
            return Ok(None);
        }
        Ok(Some(self.recording.read().unwrap_or_else(PoisonError::into_inner)))
    }
    /// As [`turn`](Self::turn), for work that runs now or not at all.
    fn turn_now(&self, what: &str) -> Result<Option<RwLockReadGuard<'_, ()>>> {
        if self.is_recording() {
            return Err(Error::Unsupported {
                what: format!("{what} while a graph is recorded"),
                why: "a graph holds kernels, fills and copies on the device; do the rest before".into(),
            });
        }
        self.turn()
    }

    /// Waits until all work so far is done, and reports what went wrong in it.
    pub(super) fn synchronize(&self) -> Result<()> {
        let what = "waiting for the device";
        let _turn = self.turn_now(what)?;
        self.stream.synchronize().map_err(self.failed(what))?;
        *self.launched.lock().unwrap_or_else(PoisonError::into_inner) = Default::default();
        Ok(())
    }
    /// Refuses to have more than `bytes` taken at a time.
    pub(super) fn set_budget(&self, bytes: u64) {
        self.budget.store(bytes, Ordering::Relaxed);
    }
    /// Bytes free on the device, as the driver counts, and all that it has.
    pub(super) fn free_memory(&self) -> Result<(u64, u64)> {
        let (free, total) = self.context.mem_get_info().map_err(failed("the device's free memory"))?;
        Ok((free as u64, total as u64))
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
    pub(super) fn used_memory(&self) -> Result<u64> {
        self.pool_figure(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
    }
    /// Most bytes of the pool in use since the last [`reset_peak`](Self::reset_peak).
    pub(super) fn peak_memory(&self) -> Result<u64> {
        self.pool_figure(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH)
    }
    /// Bytes that the pool holds, in use or not.
    pub(super) fn held_memory(&self) -> Result<u64> {
        self.pool_figure(PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
    }
    pub(super) fn reset_peak(&self) -> Result<()> {
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
    /// Gives memory that is not in use back to the system.
    pub(super) fn trim(&self) -> Result<()> {
        self.bind()?;
        self.synchronize()?;
        // SAFETY: the pool lives as long as `self`.
        unsafe { result::mem_pool::trim_to(self.pool, 0) }.map_err(failed("trimming the memory pool"))
    }

    /// Counts `bytes` as taken, if the budget allows it.
    fn reserve(&self, bytes: u64, what: &'static str) -> Result<()> {
        let budget = self.budget.load(Ordering::Relaxed);
        let add = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= budget);
        self.in_use.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).map(|_| ()).map_err(|used| Error::Budget {
            what,
            bytes: u128::from(used) + u128::from(bytes),
            budget: budget.into(),
        })
    }
    /// Memory of `bytes` bytes, not initialized; taken in stream order.
    pub(super) fn take(&self, bytes: usize, what: &'static str) -> Result<sys::CUdeviceptr> {
        self.reserve(bytes as u64, what)?;
        let taken = self.take_reserved(bytes, what);
        if taken.is_err() {
            self.in_use.fetch_sub(bytes as u64, Ordering::Relaxed);
        }
        taken
    }
    fn take_reserved(&self, bytes: usize, what: &'static str) -> Result<sys::CUdeviceptr> {
        let ask = || {
            let _turn = self.turn_now("taking memory")?;
            // SAFETY: pool and stream live as long as `self`.
            match unsafe { result::mem_pool::alloc_async(self.pool, bytes, self.stream()) } {
                Ok(at) => Ok(Some(at)),
                Err(e) if e.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Ok(None),
                Err(e) => Err(self.failed(what)(e)),
            }
        };
        if let Some(at) = ask()? {
            return Ok(at);
        }
        // What the pool keeps may be in pieces, or too small: the system makes one of it.
        self.trim()?;
        match ask()? {
            Some(at) => Ok(at),
            None => {
                let free = self.free_memory().map_or(0, |(free, _)| free);
                Err(Error::DeviceMemory { what, bytes: bytes as u128, free })
            }
        }
    }
    /// Gives memory of `bytes` bytes back, in stream order.
    pub(super) fn give(&self, at: sys::CUdeviceptr, bytes: u64) {
        if self.is_recording() {
            // The graph may use it whenever it runs.
            self.tape.lock().unwrap_or_else(PoisonError::into_inner).freed.push((at, bytes));
            return;
        }
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
        if let Ok(_turn) = self.turn() {
            // SAFETY: `at` came from `take`, and its one owner gives it back once. An error here has no one to hear it.
            let _ = unsafe { result::free_async(at, self.stream()) };
        }
    }

    /// The pinned buffers, made when they are first used; nothing where another thread has them (it might be waiting for
    /// this one) or where they cannot be had.
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
    /// Puts `work` on the stream.
    fn on_stream(
        &self,
        what: &str,
        work: &dyn Fn(sys::CUstream) -> std::result::Result<(), DriverError>,
    ) -> Result<()> {
        let _turn = self.turn_now(what)?;
        work(self.stream()).map_err(self.failed(what))
    }

    /// Copies `from` to the device at `to`, where there is room for it (its owner says so).
    pub(super) fn put<T: Value>(&self, to: sys::CUdeviceptr, from: &[T]) -> Result<()> {
        let what = "a copy to the device";
        if size_of_val(from) >= staging::LEAST {
            self.bind()?;
            // SAFETY: any value is as many bytes as it is long, some of which may be padding.
            let bytes =
                unsafe { std::slice::from_raw_parts(from.as_ptr().cast::<MaybeUninit<u8>>(), size_of_val(from)) };
            let done = self.staged(|staging| {
                // SAFETY: the caller holds `from.len()` elements at `to`, and gives them back in stream order.
                unsafe { staging.put(to, bytes, |e| self.failed(what)(e), |work| self.on_stream(what, work)) }
            });
            if let Some(done) = done {
                return done;
            }
        }
        // SAFETY: the caller holds `from.len()` elements at `to`. A copy from pageable memory returns when the
        // driver has taken the bytes; should it not, the wait makes sure before `from` can go.
        self.on_stream(what, &|stream| unsafe { result::memcpy_htod_async(to, from, stream) })?;
        self.synchronize()
    }
    /// Appends `len` values from the device at `from` to `to`, which has room for them, and waits.
    pub(super) fn get_spare<T: Value>(&self, to: &mut Vec<T>, len: usize, from: sys::CUdeviceptr) -> Result<()> {
        let what = "a copy from the device";
        let start = to.len();
        let room = to.capacity() - start;
        let bytes = len.saturating_mul(size_of::<T>());
        let Some(spare) = to.spare_capacity_mut().get_mut(..len) else {
            return Err(Error::Length { what: "room for values from the device", found: room, expected: len });
        };
        // SAFETY: the spare room as bytes, which need no value; it is borrowed for as long as they are used.
        let spare = unsafe { std::slice::from_raw_parts_mut(spare.as_mut_ptr().cast::<MaybeUninit<u8>>(), bytes) };
        let mut done = None;
        if bytes >= staging::LEAST {
            self.bind()?;
            // SAFETY: the caller holds `len` values at `from`.
            done = self.staged(|staging| unsafe {
                staging.get(spare, from, |e| self.failed(what)(e), |work| self.on_stream(what, work))
            });
        }
        match done {
            Some(done) => done?,
            None => {
                let _turn = self.turn_now(what)?;
                // SAFETY: as above; should the wait below fail, the driver has given the stream up and writes no more.
                unsafe { result::memcpy_dtoh_async(spare, from, self.stream()) }.map_err(self.failed(what))?;
            }
        }
        self.synchronize()?;
        // SAFETY: all `len` values are there, written as values of T by a kernel or by `put`, and the wait is over.
        unsafe { to.set_len(start + len) };
        Ok(())
    }
    /// Copies `bytes` bytes within the device.
    pub(super) fn copy(&self, to: sys::CUdeviceptr, from: sys::CUdeviceptr, bytes: usize) -> Result<()> {
        let _turn = self.turn()?;
        // SAFETY: the callers hold `bytes` bytes at both places, which do not overlap.
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream()) }
            .map_err(self.failed("a copy on the device"))
    }
    /// Sets `bytes` bytes to `byte`.
    pub(super) fn set(&self, at: sys::CUdeviceptr, byte: u8, bytes: usize) -> Result<()> {
        let _turn = self.turn()?;
        // SAFETY: the caller holds `bytes` bytes at `at`.
        unsafe { result::memset_d8_async(at, byte, bytes, self.stream()) }
            .map_err(self.failed("clearing device memory"))
    }

    /// Loads the image of the program `name`, which NVRTC of that version made.
    pub(super) fn load(
        self: &Arc<Self>,
        image: &[u8],
        name: &str,
        nvrtc: (u32, u32),
    ) -> std::result::Result<Module, Unloadable> {
        self.bind().map_err(Unloadable::Other)?;
        // SAFETY: `image` is whole: it came from NVRTC, or from the cache, which checks its length and sum. Text ends with
        // a zero byte, as NVRTC gives it.
        match unsafe { result::module::load_data(image.as_ptr().cast()) } {
            Ok(module) => Ok(Module { module, device: Arc::clone(self) }),
            Err(e) if of_image(e) => {
                let (major, minor) = driver_version().unwrap_or((0, 0));
                let message = format!(
                    "{}; NVRTC {}.{} compiled it, the driver is for CUDA {major}.{minor}",
                    message(e),
                    nvrtc.0,
                    nvrtc.1
                );
                Err(Unloadable::Image(Error::Device { what: format!("loading {name}"), message }))
            }
            Err(e) => Err(Unloadable::Other(failed(format!("loading {name}"))(e))),
        }
    }
}

/// Whether the error may be that of a kernel which was started before.
fn of_a_kernel(e: DriverError) -> bool {
    use sys::CUresult as Code;
    matches!(
        e.0,
        Code::CUDA_ERROR_ILLEGAL_ADDRESS
            | Code::CUDA_ERROR_LAUNCH_FAILED
            | Code::CUDA_ERROR_LAUNCH_TIMEOUT
            | Code::CUDA_ERROR_ASSERT
            | Code::CUDA_ERROR_HARDWARE_STACK_ERROR
            | Code::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | Code::CUDA_ERROR_MISALIGNED_ADDRESS
            | Code::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | Code::CUDA_ERROR_INVALID_PC
            | Code::CUDA_ERROR_ECC_UNCORRECTABLE
            | Code::CUDA_ERROR_UNKNOWN
    )
}

/// Whether the error lies in the image and not in the device.
fn of_image(e: DriverError) -> bool {
    use sys::CUresult as Code;
    matches!(
        e.0,
        Code::CUDA_ERROR_NO_BINARY_FOR_GPU
            | Code::CUDA_ERROR_INVALID_IMAGE
            | Code::CUDA_ERROR_INVALID_SOURCE
            | Code::CUDA_ERROR_INVALID_PTX
            | Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    )
}

/// The CUDA version that the driver is made for, major and minor.
fn driver_version() -> std::result::Result<(u32, u32), DriverError> {
    let mut version = 0;
    // SAFETY: the place is ours.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
    let version = u32::try_from(version).unwrap_or(0);
    Ok((version / 1000, version % 1000 / 10))
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            let _ = self.stream.synchronize();
            drop(self.staging.get_mut().unwrap_or_else(PoisonError::into_inner).take());
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
        shared_per_block: figure(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        shared_per_multiprocessor: figure(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
        l2: figure(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
        memory: context.total_mem()? as u64,
    })
}

/// A pool that keeps what is given back to it: without a threshold it would return memory at every wait.
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
    // SAFETY: the pool was just made; the attribute is a 64-bit number.
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

/// A loaded program.
pub(crate) struct Module {
    module: sys::CUmodule,
    device: Arc<Device>,
}

// SAFETY: a module's handle may be used from any thread that has bound the context; it is unloaded once, in `drop`.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    pub(super) fn device(&self) -> &Arc<Device> {
        &self.device
    }
    /// A kernel of this module, and the sizes of its parameters.
    pub(super) fn function(&self, name: &str) -> Result<(sys::CUfunction, Vec<usize>)> {
        self.device.bind()?;
        let c = CString::new(name).map_err(|e| Error::Device { what: name.into(), message: e.to_string() })?;
        // SAFETY: the module is loaded as long as `self` lives.
        let function =
            unsafe { result::module::get_function(self.module, c) }.map_err(failed(format!("kernel {name}")))?;
        let mut sizes = vec![];
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the function is of this module; both places are ours. Past the last parameter it is an error.
            let found = unsafe { sys::cuFuncGetParamInfo(function, sizes.len(), &raw mut offset, &raw mut size) };
            if found != sys::CUresult::CUDA_SUCCESS {
                break;
            }
            sizes.push(size);
        }
        // SAFETY: the function is of this module. More than 48 KiB of shared memory must be asked for; kernels with
        // shared arrays of their own have that much less.
        unsafe {
            let fixed = result::function::get_function_attribute(
                function,
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            )
            .map_err(failed(format!("kernel {name}")))?;
            let most = i32::try_from(self.device.limits.shared_per_block).unwrap_or(i32::MAX) - fixed;
            result::function::set_function_attribute(
                function,
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                most,
            )
            .map_err(failed(format!("shared memory of kernel {name}")))?;
        }
        Ok((function, sizes))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            let _ = self.device.synchronize();
            // SAFETY: nothing of this module runs any more; kernels hold an `Arc` of it, so none is left.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

/// A point in the stream whose time is known.
pub(crate) struct Event {
    event: sys::CUevent,
    device: Arc<Device>,
}

impl Event {
    /// An event at the end of the stream as it is now.
    pub(super) fn now(device: &Arc<Device>) -> Result<Self> {
        let _turn = device.turn_now("an event")?;
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(failed("an event"))?;
        let made = Self { event, device: Arc::clone(device) };
        // SAFETY: event and stream are alive, of one context.
        unsafe { result::event::record(event, device.stream()) }.map_err(failed("recording an event"))?;
        Ok(made)
    }
    /// Milliseconds from this event to `end`; waits for `end`.
    pub(super) fn ms_until(&self, end: &Self) -> Result<f64> {
        self.device.bind()?;
        // SAFETY: both events are alive and were recorded.
        unsafe {
            result::event::synchronize(end.event).map_err(self.device.failed("waiting for an event"))?;
            result::event::elapsed(self.event, end.event).map(f64::from).map_err(failed("the time between events"))
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: the event is destroyed once.
            let _ = unsafe { result::event::destroy(self.event) };
        }
    }
}
