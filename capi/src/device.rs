//! Devices: the processor, with a pool of threads, or a GPU.

use std::ffi::c_char;

use sparring::par::Threads;
use sparring::runtime::{Machine, Plan};

use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, text, write, write_text};
use crate::sparse::{Held, Sparse, elsewhere};
use crate::status::SparringStatus;

/// The device of operations: the processor with its threads, or a GPU; and a memory budget. It may be shared between
/// threads.
pub struct SparringDevice {
    pub(crate) machine: Machine,
}

impl SparringDevice {
    /// Rejects a matrix or a vector in the memory of another GPU; `name` is the argument. Objects in host memory are
    /// uploaded.
    pub(crate) fn takes<X: Held>(&self, name: &'static str, x: &X) -> Fallible {
        if x.is_on_host() || self.machine.holds(x) {
            return Ok(());
        }
        let own = self.machine.name();
        Err(Fail::argument(name, elsewhere(X::WORD, &x.machine(), &own, self.machine.is_gpu())))
    }
    /// Rejects a plan of another device.
    pub(crate) fn made(&self, plan: &Plan) -> Fallible {
        if self.machine.made(plan) {
            return Ok(());
        }
        let (own, found) = (self.machine.name(), plan.machine());
        let message = if found == own {
            format!("it belongs to another SparringDevice of {own}")
        } else {
            format!("it is one of {found}, not of {own}")
        };
        Err(Fail::argument("plan", message))
    }
    /// The CPU threads, for work that runs on the processor for any device.
    pub(crate) fn threads<'a>(&'a self, current: &'a Threads) -> &'a Threads {
        self.machine.threads().unwrap_or(current)
    }
}

impl Object for SparringDevice {
    const NAME: &'static str = "SparringDevice";
}

/// The number in "cuda:N"; `None` for "cpu".
fn ordinal(name: &str) -> Fallible<Option<usize>> {
    let number = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    match name.strip_prefix("cuda:").and_then(number) {
        Some(ordinal) => Ok(Some(ordinal)),
        None if name == "cpu" => Ok(None),
        None => Err(Fail::argument("name", format!("'{name}' is neither \"cpu\" nor \"cuda:N\""))),
    }
}

/// A device by name: "cpu" for the processor, "cuda:0" for the first NVIDIA GPU, "cuda:1" for the second.
///
/// On the processor, `threads` is the size of the thread pool (0: one per available processor, or as many as can be
/// started); SPARRING_THREADS if the system cannot start them. For a GPU, `threads` is 0. Products, distances and
/// decompositions fail with SPARRING_BUDGET rather than use more than `memory_budget` bytes for results and workspace
/// together (0: no limit); for a GPU this is device memory. A GPU needs the NVIDIA driver, else SPARRING_NO_DEVICE, and
/// its first operation needs NVRTC, the run-time compiler of CUDA, else SPARRING_NO_COMPILER. `*device` receives the
/// handle, NULL on failure; free it with sparring_device_free.
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
        let machine = match ordinal(name)? {
            None => Machine::cpu(threads as usize, budget)?,
            Some(_) if threads != 0 => {
                return Err(Fail::argument("threads", format!("{threads} for {name}, where it must be 0")));
            }
            Some(ordinal) => Machine::cuda(ordinal, budget)?,
        };
        out.give(SparringDevice { machine })
    })
}

/// Number of GPUs known to the NVIDIA driver; 0 without a driver.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_gpu_count() -> u64 {
    // A panic cannot be reported here.
    std::panic::catch_unwind(Machine::gpus).unwrap_or(0) as u64
}

/// A description of the device: UTF-8 text written to `buffer` of `capacity` bytes as by sparring_plan_explain. It
/// begins with the name that sparring_device_new takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_device_describe(
    device: *const SparringDevice,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let words = handle(device, "device")?.machine.describe();
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&words, buffer, capacity, length) }
    })
}

/// Number of CPU threads; 0 for a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_device_threads(device: *const SparringDevice, threads: *mut u32) -> SparringStatus {
    ffi!({
        let device = handle(device, "device")?;
        let count = device.machine.threads().map_or(0, |threads| threads.count());
        let count = u32::try_from(count).map_err(|e| Fail::argument("threads", e.to_string()))?;
        // SAFETY: by the contract above `threads` points to room for a number.
        unsafe { write(threads, count, "threads") }
    })
}

/// Waits until the device has finished all its work. No other call requires this: visible results are complete. Use it
/// to time a GPU, whose matrices may still be under computation when a call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_device_wait(device: *const SparringDevice) -> SparringStatus {
    ffi!({ Ok(handle(device, "device")?.machine.wait()?) })
}

/// Frees a SparringDevice; NULL is allowed. Matrices and plans on a GPU remain valid.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_device_free(device: *mut SparringDevice) -> SparringStatus {
    ffi!({ release(device, "device") })
}

/// Removes all entries of an object, which stays on its device.
pub(crate) fn clear<C: Sparse>(device: *const SparringDevice, c: *mut C, name: &'static str) -> Fallible {
    let (device, c) = (handle(device, "device")?, handle(c, name)?);
    let mut c = c.lock();
    device.takes(name, &*c)?;
    let empty = C::Held::empty(c.ty(), c.shape())?;
    *c = if c.is_on_host() { empty } else { empty.upload(&device.machine)? };
    Ok(())
}
