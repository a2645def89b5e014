//! A GPU as a value.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cache::Cache;
use super::cublas::Cublas;
use super::driver::{Device, Event, Limits, count};
use super::front::Front;
use super::jit::{Programs, Source};
use super::launch::{Launch, Program};
use super::nvrtc::Nvrtc;
use super::tiling::Tuning;
use super::twins::Twins;
use super::worked;
use crate::Result;

/// An NVIDIA GPU. Cloning it is cheap: clones share the device's stream, memory pool and programs.
#[derive(Clone)]
pub struct Cuda {
    device: Arc<Device>,
    programs: Arc<Programs>,
    twins: Arc<Twins>,
    worked: Arc<worked::Programs>,
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
    /// [`Error::NoDevice`](crate::Error::NoDevice), which says what is missing: the driver, or a device of that number.
    pub fn new(ordinal: usize) -> Result<Self> {
        Ok(Self {
            device: Arc::new(Device::open(ordinal)?),
            programs: Arc::default(),
            twins: Arc::default(),
            worked: Arc::default(),
            tunes: Tuning::default(),
            cublas: Arc::default(),
        })
    }
    /// Devices that the driver has; 0 where there is no driver.
    #[must_use]
    pub fn count() -> usize {
        count()
    }
    /// Keeps compiled programs in `folder`, or on no disk at all. Before the first operation; clones made earlier go on
    /// with theirs.
    ///
    /// Without this call the folder is `SPARRING_CACHE` if that is set (none if it is empty), else
    /// `$XDG_CACHE_HOME/sparring`, else `~/.cache/sparring`. It is made for this user alone. One that belongs to
    /// another user, that others may write to, or that cannot be made is not used, and programs are compiled in every
    /// process.
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
    /// Whether contractions take what tuning found; clones made earlier go on as before.
    ///
    /// What was found is kept in the folder of compiled programs, a file for each case: a kernel with its sizes,
    /// layouts, operator, update, type, and the power of two below the batch, on a device with its driver and compiler.
    /// A file that is damaged, or of another version of this library, is as good as none.
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
    /// // As it was found, here and in other processes.
    /// cuda.einsum(PlusTimes::new(), products()?).accumulate().into(&mut y)?;
    /// # Ok::<(), sparring::Error>(())
    /// ```
    #[must_use]
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.tunes = tuning;
        self
    }
    /// Whether contractions take what tuning found.
    pub(super) fn tunes(&self) -> Tuning {
        self.tunes
    }
    pub(super) fn programs(&self) -> &Programs {
        &self.programs
    }
    /// The compiler of device programs: its version and its file. It needs no device.
    /// # Errors
    /// [`Error::NoCompiler`](crate::Error::NoCompiler), which says where it was looked for.
    pub fn compiler() -> Result<String> {
        let nvrtc = Nvrtc::get()?;
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
    /// The driver's handle of the stream that all work is put on, as a number: for others that put work behind it, in
    /// the context of this device.
    #[must_use]
    pub fn stream(&self) -> u64 {
        self.device.stream().expose_provenance() as u64
    }
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }
    /// Whether what is in the memory of the one is in that of the other.
    pub(crate) fn shares_memory_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.device, &other.device)
    }
    /// Programs worked out before.
    pub(super) fn worked(&self) -> &worked::Programs {
        &self.worked
    }
    pub(super) fn cublas(&self) -> &Cublas {
        &self.cublas
    }
    /// Whether cuBLAS is there for products on this device. The first call opens it.
    pub(super) fn has_cublas(&self) -> bool {
        self.cublas.is_there(&self.device, &|bytes| self.put(bytes, "1 and 0"))
    }
    pub(super) fn twins(&self) -> &Twins {
        &self.twins
    }
    /// The program of a file of `cuda/` behind an operator and settings. A call for one that is there prints nothing.
    pub(crate) fn program_of(&self, source: Source, front: Front<'_>) -> Result<Arc<Program>> {
        self.programs.get(&self.device, source, front)
    }
    /// Has programs that will be used loaded or compiled at the same time.
    pub(crate) fn ahead(&self, wanted: &[(Source, Front<'_>)]) {
        self.programs.ahead(&self.device, wanted);
    }
    /// The program of a file of `cuda/` behind `prefix`.
    pub(crate) fn program(&self, source: Source, prefix: &str) -> Result<Arc<Program>> {
        self.program_of(source, Front::new(prefix, &[]))
    }
    /// Starts `sides` beside what `main` starts: none of it depends on another. What is started later waits for all of
    /// it.
    ///
    /// What `sides` use was there before, and is given back later.
    pub(super) fn beside<T>(&self, sides: &[Launch], main: impl FnOnce() -> Result<T>) -> Result<T> {
        let sides = || sides.iter().filter(|side| side.shape.grid > 0);
        if sides().next().is_none() {
            return main();
        }
        let mut lanes = self.device().lanes()?;
        for (i, side) in sides().enumerate() {
            side.kernel.launch_in((&mut lanes, i + 1), side.shape, &side.args)?;
        }
        let made = main()?;
        lanes.join()?;
        Ok(made)
    }
    /// Runs `work` and gives its result with the milliseconds that the device took for what `work` put on its stream.
    /// # Errors
    /// Those of `work`, and [`Error::Device`](crate::Error::Device).
    pub fn timed<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
        let start = Event::now(&self.device)?;
        let result = work()?;
        let end = Event::now(&self.device)?;
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
