//! NVIDIA GPUs. The only place that knows CUDA.
//!
//! [`Cuda`] is a backend like [`Cpu`](crate::Cpu): a value that owns a stream, a pool of device memory and the programs
//! compiled so far. Kernels are the templates in `cuda/`, with the text of the caller's own operators in front,
//! compiled when they are first used. A machine needs the NVIDIA driver and NVRTC, no toolkit.
//!
//! # Example
//! From the host to the device and back, a step at a time:
//! ```no_run
//! use sparring::algebra::{MinPlus, Plus, PlusTimes, Ring};
//! use sparring::{Csr, Cuda};
//!
//! // 1. A device. Where there is none, this says what is missing.
//! let cuda = Cuda::new(0)?;
//!
//! // 2. Upload. The pattern goes there once: other values on it reuse what is there.
//! let a = Csr::<f64>::new(3, 3, vec![0, 2, 3, 4], vec![0, 1, 2, 0], vec![1.0, 2.0, 3.0, 4.0])?;
//! let on_device = cuda.upload(&a)?;
//!
//! // 3. Plan: the structure of A·A, from patterns alone.
//! let plan = cuda.plan(&on_device, &on_device)?;
//!
//! // 4. Values, as often as they change: over two semirings, and for other values of A.
//! let sums = cuda.numeric(&plan, PlusTimes::<f64>::default(), &on_device, &on_device)?;
//! let paths = cuda.numeric(&plan, MinPlus::<f64>::default(), &on_device, &on_device)?;
//! let doubled = cuda.upload(&a.map(|x| 2.0 * x)?)?;
//! let mut c = sums.clone();
//! cuda.numeric_into(&plan, PlusTimes::<f64>::default(), &doubled, &doubled, &mut c)?;
//!
//! // 5. A semiring of one's own: one definition, which the CPU runs and the GPU compiles.
//! sparring::op! {
//!     /// (a − b)²
//!     SquaredDiff (a: f64, b: f64) -> f64 {{ let d = a - b; d * d }}
//! }
//! let own = cuda.numeric(&plan, Ring(Plus::<f64>::new(), SquaredDiff::new()), &on_device, &on_device)?;
//!
//! // 6. Download.
//! let sums: Csr<f64> = cuda.download(&sums)?;
//! assert_eq!(sums.row(0), (&[0, 1, 2][..], &[1.0, 2.0, 6.0][..]));
//! let paths: Csr<f64> = cuda.download(&paths)?;
//! assert_eq!(paths.row(0), (&[0, 1, 2][..], &[2.0, 3.0, 5.0][..]));
//! let own: Csr<f64> = cuda.download(&own)?;
//! assert_eq!(own.row(0), (&[0, 1, 2][..], &[0.0, 1.0, 1.0][..]));
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! What runs on any machine is written against [`Backend`](crate::backend::Backend), which [`Cuda`] is:
//! ```no_run
//! use sparring::{Csr, Cuda, graph::bfs_levels};
//! let cuda = Cuda::new(0)?;
//! let path = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
//! assert_eq!(bfs_levels(&cuda, &cuda.upload(&path)?, 0)?, [Some(0), Some(1), Some(2)]);
//! # Ok::<(), sparring::Error>(())
//! ```

mod apply;
mod assign;
mod backend;
mod cache;
mod csr;
mod distance;
mod driver;
mod ewise;
mod find;
mod graph;
mod jit;
mod launch;
mod memory;
mod naive_union;
mod nvrtc;
mod reduce;
mod rows;
mod scan;
pub mod spgemm;
mod spmm;
mod spmspv;
mod spmv;
mod spmv_plan;
mod staging;
#[doc(hidden)]
pub mod testing;
mod transpose;
mod triangles;
mod union;
mod union_plan;
mod vector;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cache::Cache;
use driver::Device;
use jit::Programs;

pub use csr::{DeviceCsr, DevicePattern, Operand};
pub use distance::DeviceVectors;
pub use driver::Limits;
pub use spmv_plan::{SpmvKind, SpmvStats};
pub use triangles::{Stage, TriangleCount};
pub use union_plan::{UnionStats, UnionStrategy};
pub use vector::{DeviceDense, DeviceSparseVec, DeviceVec};

use crate::Result;

/// An NVIDIA GPU. Cloning it is cheap: clones share the device's stream, memory pool and programs.
#[derive(Clone)]
pub struct Cuda {
    device: Arc<Device>,
    programs: Arc<Programs>,
    twins: Arc<csr::Twins>,
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
        Ok(Self { device: Arc::new(Device::open(ordinal)?), programs: Arc::default(), twins: Arc::default() })
    }
    /// Devices that the driver has; 0 where there is no driver.
    #[must_use]
    pub fn count() -> usize {
        driver::count()
    }
    /// Keeps compiled programs in `folder`, or on no disk at all. Before the first operation; clones made earlier go on
    /// with theirs.
    ///
    /// Without this call the folder is `SPARRING_CACHE` if that is set (none if it is empty), else
    /// `$XDG_CACHE_HOME/sparring`, else `~/.cache/sparring`. It is made for this user alone. One that belongs to another
    /// user, that others may write to, or that cannot be made is not used, and programs are compiled in every process.
    #[must_use]
    pub fn cache_folder(mut self, folder: Option<PathBuf>) -> Self {
        self.programs = Arc::new(Programs::with(Cache::at(folder)));
        self
    }
    /// The folder where compiled programs are kept.
    /// # Errors
    /// Why there is none, in words.
    pub fn cached_in(&self) -> std::result::Result<&Path, &str> {
        self.programs.cache().folder()
    }
    /// The compiler of device programs: its version and its file. It needs no device.
    /// # Errors
    /// [`Error::NoCompiler`](crate::Error::NoCompiler), which says where it was looked for.
    pub fn compiler() -> Result<String> {
        let nvrtc = nvrtc::Nvrtc::get()?;
        let (major, minor) = nvrtc.version();
        Ok(format!("NVRTC {major}.{minor}, {}", nvrtc.name()))
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
    fn twins(&self) -> &csr::Twins {
        &self.twins
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
    /// Refuses operations that would have more than `bytes` of device memory in use at a time, that of matrices and of
    /// scratch memory together. It holds for all clones of this value.
    #[must_use]
    pub fn memory_budget(self, bytes: u64) -> Self {
        self.device.set_budget(bytes);
        self
    }
    /// Bytes of device memory that no process has taken; what [`trim`](Self::trim) gives back adds to it.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn free_memory(&self) -> Result<u64> {
        Ok(self.device.free_memory()?.0)
    }
    /// Bytes of device memory in use by this value's matrices now.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn used_memory(&self) -> Result<u64> {
        self.device.used_memory()
    }
    /// Bytes of device memory that this value keeps, in use or for later use.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn held_memory(&self) -> Result<u64> {
        self.device.held_memory()
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
