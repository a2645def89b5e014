//! NVIDIA GPUs. The only place that knows CUDA.
//!
//! [`Cuda`] is a backend like [`Cpu`](crate::Cpu): a value that owns a stream, a pool of device memory and the programs
//! compiled so far. Kernels are the templates in `cuda/`, with the text of the caller's own operators in front,
//! compiled when they are first used. A machine needs the NVIDIA driver and NVRTC, no toolkit.

mod csr;
mod driver;
mod jit;
mod launch;
mod memory;
mod scan;
mod spmm;
mod spmspv;
mod spmv;
mod spmv_plan;
mod vector;

use std::sync::Arc;

use driver::Device;
use jit::Programs;

pub use csr::{DeviceCsr, DevicePattern, Operand};
pub use driver::Limits;
pub use spmv_plan::{SpmvKind, SpmvStats, choose as choose_spmv};
pub use vector::{DeviceDense, DeviceSparseVec, DeviceVec};

use crate::Result;

/// An NVIDIA GPU. Cloning it is cheap: clones share the device's stream, memory pool and programs.
#[derive(Clone)]
pub struct Cuda {
    device: Arc<Device>,
    programs: Arc<Programs>,
}

impl std::fmt::Debug for Cuda {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.device.fmt(f)
    }
}

impl Cuda {
    /// Device number `ordinal`.
    /// # Errors
    /// [`Error::NoDevice`](crate::Error::NoDevice), which says what is missing: the driver, or a device of that number.
    pub fn new(ordinal: usize) -> Result<Self> {
        Ok(Self { device: Arc::new(Device::open(ordinal)?), programs: Arc::default() })
    }
    /// Devices that the driver has; 0 where there is no driver.
    #[must_use]
    pub fn count() -> usize {
        driver::count()
    }
    /// What the device has.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.device.limits()
    }
    /// Waits until all work so far is done.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if something in it failed.
    pub fn synchronize(&self) -> Result<()> {
        self.device.synchronize()
    }
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }
    /// The program of a file of `cuda/` behind `prefix`.
    pub(crate) fn program(&self, source: jit::Source, prefix: &str) -> Result<Arc<launch::Program>> {
        self.programs.get(&self.device, source, prefix)
    }
    /// Runs `work` and gives its result with the milliseconds that the device took for what `work` put on its stream.
    /// # Errors
    /// Those of `work`, and [`Error::Device`](crate::Error::Device).
    pub fn timed<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
        let start = driver::Event::now(&self.device)?;
        let result = work()?;
        let end = driver::Event::now(&self.device)?;
        Ok((result, start.ms_until(&end)?))
    }
    /// Bytes of device memory in use by this value's matrices now.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn used_memory(&self) -> Result<u64> {
        self.device.used_memory()
    }
    /// Most bytes in use at a time since [`reset_peak_memory`](Self::reset_peak_memory).
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn peak_memory(&self) -> Result<u64> {
        self.device.peak_memory()
    }
    /// Starts counting the peak anew.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn reset_peak_memory(&self) -> Result<()> {
        self.device.reset_peak()
    }
    /// Gives memory that is kept for later use back to the system.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn trim(&self) -> Result<()> {
        self.device.trim()
    }
}
