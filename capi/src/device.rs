//! Where operations run: the processor, with a pool of threads, or a GPU.

use std::ffi::c_char;
use std::sync::Arc;

use sparring::Cpu;

use crate::gpu::Gpu;
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, take};
use crate::memory::{NewHandle, text, write, write_text};
use crate::status::SparringStatus;

/// Where operations run: the processor with its threads, or a GPU; and a memory budget. Threads of yours may share one.
pub struct SparringDevice {
    /// The processor, which also reads files for a GPU.
    pub(crate) host: Cpu,
    pub(crate) gpu: Option<Arc<Gpu>>,
    /// Bytes that operations may take.
    pub(crate) budget: Option<u64>,
}

impl Object for SparringDevice {
    const NAME: &'static str = "SparringDevice";
}

/// The number in "cuda:N"; nothing for "cpu".
fn ordinal(name: &str) -> Fallible<Option<usize>> {
    let number = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    match name.strip_prefix("cuda:").and_then(number) {
        Some(ordinal) => Ok(Some(ordinal)),
        None if name == "cpu" => Ok(None),
        None => Err(Fail::argument("name", format!("'{name}' is neither \"cpu\" nor \"cuda:N\""))),
    }
}

/// A device by its name: "cpu" for the processor, "cuda:0" for the first NVIDIA GPU, "cuda:1" for the next.
///
/// On the processor there is a pool of `threads` threads (0: one for each processor that this process may use); for a
/// GPU `threads` is 0. Operations refuse with SPARRING_BUDGET to use more than `memory_budget` bytes (0: no limit), of
/// the device's memory if it is a GPU.
/// A GPU needs the NVIDIA driver, or the status is SPARRING_NO_DEVICE, and its first operation needs NVRTC, the compiler
/// that comes with CUDA: SPARRING_NO_COMPILER otherwise.
/// `*device` gets the handle, NULL on failure; free it with sparring_device_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_device_new(
    name: *const c_char,
    threads: u32,
    memory_budget: u64,
    device: *mut *mut SparringDevice,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `device` points to room for a handle, and `name` to text ended by a zero.
        let (out, name) = unsafe { (NewHandle::at(device, "device")?, text(name, "name")?) };
        let budget = (memory_budget != 0).then_some(memory_budget);
        let Some(ordinal) = ordinal(name)? else {
            let cpu = if threads == 0 { Cpu::new() } else { Cpu::with_threads(threads as usize)? };
            let host = match budget {
                Some(bytes) => cpu.memory_budget(bytes),
                None => cpu,
            };
            return out.give(SparringDevice { host, gpu: None, budget });
        };
        if threads != 0 {
            return Err(Fail::argument("threads", format!("{threads} for {name}, where it must be 0")));
        }
        out.give(SparringDevice { host: Cpu::new(), gpu: Some(Gpu::open(ordinal, budget)?), budget })
    })
}

/// Number of GPUs that the NVIDIA driver has; 0 where there is no driver.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_gpu_count() -> u64 {
    // Not a defect that C could be told of here.
    std::panic::catch_unwind(Gpu::count).unwrap_or(0) as u64
}

/// What the device is, in words: UTF-8 text into `buffer` of `capacity` bytes, as for sparring_plan_explain. It begins
/// with the name that sparring_device_new takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_device_describe(
    device: *const SparringDevice,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let device = handle(device)?;
        let words = match &device.gpu {
            Some(gpu) => gpu.describe(),
            None => format!("cpu, {} threads", device.host.threads().count()),
        };
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&words, buffer, capacity, length) }
    })
}

/// Number of threads of the processor; 0 for a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_device_threads(device: *const SparringDevice, threads: *mut u32) -> SparringStatus {
    ffi!({
        let device = handle(device)?;
        let count = if device.gpu.is_some() { 0 } else { device.host.threads().count() };
        let count = u32::try_from(count).map_err(|e| Fail::argument("threads", e.to_string()))?;
        // SAFETY: by the contract above `threads` points to room for a number.
        unsafe { write(threads, count, "threads") }
    })
}

/// Waits until the device has done all that it was asked for. No other call needs this: results that you see are
/// finished. It is for measuring time on a GPU, whose matrices may still be in the making when a call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_device_wait(device: *const SparringDevice) -> SparringStatus {
    ffi!({
        match &handle(device)?.gpu {
            Some(gpu) => Ok(gpu.wait()?),
            None => Ok(()),
        }
    })
}

/// Frees a SparringDevice; NULL is allowed. Matrices and plans on a GPU stay good.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_device_free(device: *mut SparringDevice) -> SparringStatus {
    ffi!({ take(device) })
}
