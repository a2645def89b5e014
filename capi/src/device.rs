//! Where operations run: the processor, with a pool of threads, or a GPU.

use std::ffi::c_char;

use sparring::par::Threads;
use sparring::runtime::{Machine, Plan};

use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, text, write, write_text};
use crate::sparse::{Held, Sparse, elsewhere};
use crate::status::SparringStatus;

/// Where operations run: the processor with its threads, or a GPU; and a memory budget. Threads of yours may share one.
pub struct SparringDevice {
    pub(crate) machine: Machine,
}

impl SparringDevice {
    /// Refuses a matrix or a vector that is in the memory of another GPU; `name` is the argument. One in the
    /// processor's memory is sent.
    pub(crate) fn takes<X: Held>(&self, name: &'static str, x: &X) -> Fallible {
        if x.is_on_host() || self.machine.holds(x) {
            return Ok(());
        }
        let own = self.machine.name();
        Err(Fail::argument(name, elsewhere(X::WORD, &x.machine(), &own, self.machine.is_gpu())))
    }
    /// Refuses a plan of another device.
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
    /// The threads of the processor, for what it does whatever the device is.
    pub(crate) fn threads<'a>(&'a self, current: &'a Threads) -> &'a Threads {
        self.machine.threads().unwrap_or(current)
    }
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
/// On the processor there is a pool of `threads` threads, or SPARRING_THREADS if the system refuses them (0: one for
/// each processor that this process may use, or as many as are to be had); for a GPU `threads` is 0. Products,
/// distances and decompositions refuse with SPARRING_BUDGET to use more than `memory_budget` bytes for results and
/// scratch together (0: no limit), of the device's memory if it is a GPU. A GPU needs the NVIDIA driver, or the status
/// is SPARRING_NO_DEVICE, and its first operation needs NVRTC, the compiler that comes with CUDA: SPARRING_NO_COMPILER
/// otherwise. `*device` gets the handle, NULL on failure; free it with sparring_device_free.
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

/// Number of GPUs that the NVIDIA driver has; 0 where there is no driver.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_gpu_count() -> u64 {
    // Not a defect that C could be told of here.
    std::panic::catch_unwind(Machine::gpus).unwrap_or(0) as u64
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
        let words = handle(device, "device")?.machine.describe();
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&words, buffer, capacity, length) }
    })
}

/// Number of threads of the processor; 0 for a GPU.
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

/// Waits until the device has done all that it was asked for. No other call needs this: results that you see are
/// finished. It is for measuring time on a GPU, whose matrices may still be in the making when a call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_device_wait(device: *const SparringDevice) -> SparringStatus {
    ffi!({ Ok(handle(device, "device")?.machine.wait()?) })
}

/// Frees a SparringDevice; NULL is allowed. Matrices and plans on a GPU stay good.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_device_free(device: *mut SparringDevice) -> SparringStatus {
    ffi!({ release(device, "device") })
}

/// Removes all entries of an object, which stays where it is.
pub(crate) fn clear<C: Sparse>(device: *const SparringDevice, c: *mut C, name: &'static str) -> Fallible {
    let (device, c) = (handle(device, "device")?, handle(c, name)?);
    let mut c = c.lock();
    device.takes(name, &*c)?;
    let empty = C::Held::empty(c.ty(), c.shape())?;
    *c = if c.is_on_host() { empty } else { empty.upload(&device.machine)? };
    Ok(())
}
