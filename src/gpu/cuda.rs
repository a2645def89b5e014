//! A GPU as a value.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cache::Cache;
use super::cublas::Cublas;
use super::defines::Prefix;
use super::driver::{Device, Event, Limits, count};
use super::jit::{Programs, Source};
use super::kernel_cache::KernelCache;
use super::launch::{Launch, Program};
use super::nvrtc::Nvrtc;
use super::pattern_cache::PatternCache;
use super::tiling::Tuning;
use crate::Result;

/// An NVIDIA GPU. Cloning it is cheap: clones share the device's stream, memory pool and programs.
#[derive(Clone)]
pub struct Cuda {
    device: Arc<Device>,
    programs: Arc<Programs>,
    pattern_cache: Arc<PatternCache>,
    kernel_cache: Arc<KernelCache>,
    tunes: Tuning,
    cublas: Arc<Cublas>,
}

impl std::fmt::Debug for Cuda {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.device.fmt(f)
    }
}

impl Cuda {
    /// Device number `ordinal`.
    /// # Errors
    /// [`Error::NoDevice`](crate::Error::NoDevice), which says what is missing: the driver, or the device with that
    /// ordinal.
    pub fn new(ordinal: usize) -> Result<Self> {
        Ok(Self {
            device: Arc::new(Device::open(ordinal)?),
            programs: Arc::default(),
            pattern_cache: Arc::default(),
            kernel_cache: Arc::default(),
            tunes: Tuning::default(),
            cublas: Arc::default(),
        })
    }
    /// Number of devices; 0 without a driver.
    #[must_use]
    pub fn count() -> usize {
        count()
    }
    /// Sets the folder of the compiled-program cache; `None` disables it. Call it before the first operation: earlier
    /// clones keep their cache.
    ///
    /// By default the folder is `SPARRING_CACHE` if that is set (none if it is empty), else `$XDG_CACHE_HOME/sparring`,
    /// else `~/.cache/sparring`. It is created with access for this user only. A folder that belongs to another user,
    /// that others may write to, or that cannot be created is not used, and programs are compiled in every process.
    #[must_use]
    pub fn cache_folder(mut self, folder: Option<PathBuf>) -> Self {
        self.programs = Arc::new(Programs::with(Cache::at(folder)));
        self
    }
    /// The folder of the compiled-program cache.
    /// # Errors
    /// The reason why there is none.
    pub fn cached_in(&self) -> std::result::Result<&Path, &str> {
        self.programs.cache().folder()
    }
    /// Whether contractions use the results of tuning; earlier clones are not affected.
    ///
    /// Results are stored in the folder of compiled programs, one file per case: a kernel with its sizes, layouts,
    /// operator, update, type, and the power of two below the batch, on a device with its driver and compiler. A file
    /// that is damaged, or written by another version of this library, is ignored.
    ///
    /// # Example
    /// ```no_run
    /// use sparring::{Cuda, algebra::PlusTimes, contract::{Einsum, Layout, View}, gpu::Tuning};
    /// let cuda = Cuda::new(0)?.tuning(Tuning::Kept);
    /// let numbers = vec![1.0f32; 1_000_000 * 9];
    /// let x = cuda.upload_batch(&View::new(&numbers, Layout::row_major(&[3, 3])?.batched(1_000_000)?)?)?;
    /// let mut y = cuda.upload_batch(&View::new(&numbers, x.layout().clone())?)?;
    /// let products = || Einsum::new("ij,jk->ik", &[x.clone(), x.clone()]);
    /// for kernel in cuda.einsum(PlusTimes::new(), products()?).accumulate().tune(&mut y)? {
    ///     println!("{}: {:.4} ms by the rule, {:.4} ms by {}",
    ///         kernel.what, kernel.rule_ms, kernel.best_ms, kernel.best);
    /// }
    /// // The tuned kernel, in this and in other processes.
    /// cuda.einsum(PlusTimes::new(), products()?).accumulate().into(&mut y)?;
    /// # Ok::<(), sparring::Error>(())
    /// ```
    #[must_use]
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.tunes = tuning;
        self
    }
    /// Whether contractions use the results of tuning.
    pub(super) fn tunes(&self) -> Tuning {
        self.tunes
    }
    pub(super) fn programs(&self) -> &Programs {
        &self.programs
    }
    /// The compiler of device programs: its version and its file. Needs no device.
    /// # Errors
    /// [`Error::NoCompiler`](crate::Error::NoCompiler), which lists where it was searched for.
    pub fn compiler() -> Result<String> {
        let nvrtc = Nvrtc::get()?;
        let (major, minor) = nvrtc.version();
        Ok(format!("NVRTC {major}.{minor}, {}", nvrtc.name()))
    }
    /// The device's properties.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.device.limits()
    }
    /// Waits for all earlier work.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if any of it failed.
    pub fn synchronize(&self) -> Result<()> {
        self.device.synchronize()
    }
    /// The driver's handle of the stream that all work is put on, as a number, for callers that enqueue their own work
    /// behind it in this device's context.
    #[must_use]
    pub fn stream(&self) -> u64 {
        self.device.stream().expose_provenance() as u64
    }
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }
    /// Whether both use the same device memory.
    pub(crate) fn shares_memory_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.device, &other.device)
    }
    /// The cache of generated kernels.
    pub(super) fn kernel_cache(&self) -> &KernelCache {
        &self.kernel_cache
    }
    pub(super) fn cublas(&self) -> &Cublas {
        &self.cublas
    }
    /// Whether cuBLAS is available on this device. The first call opens it.
    pub(super) fn has_cublas(&self) -> bool {
        self.cublas.is_there(&self.device, &|bytes| self.put(bytes, "1 and 0"))
    }
    pub(super) fn pattern_cache(&self) -> &PatternCache {
        &self.pattern_cache
    }
    /// The program of a file of `cuda/` behind a prefix. A program that was loaded before is found without printing its
    /// text.
    pub(crate) fn program_of(&self, source: Source, prefix: Prefix<'_>) -> Result<Arc<Program>> {
        self.programs.get(&self.device, source, prefix)
    }
    /// Loads or compiles several programs in parallel, before they are needed.
    pub(crate) fn precompile(&self, wanted: &[(Source, Prefix<'_>)]) {
        self.programs.precompile(&self.device, wanted);
    }
    /// The program of a file of `cuda/` behind the text `prefix`.
    pub(crate) fn program(&self, source: Source, prefix: &str) -> Result<Arc<Program>> {
        self.program_of(source, Prefix::new(prefix, &[]))
    }
    /// Launches `others` concurrently with the launches of `main`; they must be independent. Later launches wait for
    /// all of them.
    ///
    /// The arrays of `others` must exist before this call and be freed after it.
    pub(super) fn launch_concurrently<T>(&self, others: &[Launch], main: impl FnOnce() -> Result<T>) -> Result<T> {
        let others = || others.iter().filter(|other| other.shape.grid > 0);
        if others().next().is_none() {
            return main();
        }
        let mut streams = self.device().fork_streams()?;
        for (i, other) in others().enumerate() {
            other.kernel.launch_in((&mut streams, i + 1), other.shape, &other.args)?;
        }
        let made = main()?;
        streams.join()?;
        Ok(made)
    }
    /// Runs `work`, and returns its result with the device time in milliseconds of its launches.
    /// # Errors
    /// Those of `work`, and [`Error::Device`](crate::Error::Device).
    pub fn timed<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
        let start = Event::now(&self.device)?;
        let result = work()?;
        let end = Event::now(&self.device)?;
        Ok((result, start.ms_until(&end)?))
    }
    /// Sets a budget: operations fail if they would have more than `bytes` bytes of device memory in use at a time,
    /// matrices and scratch memory together. It applies to all clones of this value.
    #[must_use]
    pub fn memory_budget(self, bytes: u64) -> Self {
        self.device.set_budget(bytes);
        self
    }
    /// Bytes of device memory free for all processes; [`trim`](Self::trim) adds to it.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn free_memory(&self) -> Result<u64> {
        Ok(self.device.free_memory()?.0)
    }
    /// Bytes of device memory in use by this value's matrices.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn used_memory(&self) -> Result<u64> {
        self.device.used_memory()
    }
    /// Bytes of device memory that this value holds, in use or pooled.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn held_memory(&self) -> Result<u64> {
        self.device.held_memory()
    }
    /// Peak bytes in use since [`reset_peak_memory`](Self::reset_peak_memory).
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn peak_memory(&self) -> Result<u64> {
        self.device.peak_memory()
    }
    /// Resets the peak to the current use.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn reset_peak_memory(&self) -> Result<()> {
        self.device.reset_peak()
    }
    /// Returns pooled memory to the system.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn trim(&self) -> Result<()> {
        self.device.trim()
    }
}
