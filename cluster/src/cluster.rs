//! The ranks of a job, and the handshakes at the start and end of every operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sparring::algebra::Type;
use sparring::runtime::{Machine, Monoid};
use sparring::{Error, Result};

use crate::grid::Grid;
use crate::link::{Alone, Link};
use crate::wire::{broken, error_bytes, error_of};

/// The processes of an MPI job as one backend, each with a local device.
///
/// A clone is another handle to the same ranks.
#[derive(Clone, Debug)]
pub struct Cluster(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) inner: Machine,
    pub(crate) grid: Grid,
    /// Communicators of this rank's grid row and grid column.
    pub(crate) row: Arc<dyn Link>,
    pub(crate) col: Arc<dyn Link>,
    /// The same groups over NCCL, if every rank has a GPU of its own.
    #[cfg(all(feature = "cuda", feature = "mpi"))]
    pub(crate) gpus: Option<crate::nccl::Groups>,
    /// All ranks. Dropped last.
    pub(crate) world: Arc<dyn Link>,
    /// Whether some rank has shut down and no longer responds.
    ended: AtomicBool,
    /// Whether all ranks already know that the operation has failed.
    settled: AtomicBool,
    /// Whether folds are bitwise identical to those of one rank.
    pub(crate) reproducible: AtomicBool,
    /// Bytes of the right operand of a product gathered per stage.
    stage: AtomicU64,
}

/// Default of `stage`: 64 MiB.
const STAGE: u64 = 1 << 26;

/// Handshake text of a rank that shuts down.
const END: &str = "the end";

impl Drop for Shared {
    fn drop(&mut self) {
        // Lets the other ranks detect a shutdown while they are still in collective calls.
        if !std::thread::panicking() && !self.ended.load(Ordering::Relaxed) {
            _ = self.begin(END);
        }
    }
}

impl From<Cluster> for Machine {
    fn from(cluster: Cluster) -> Self {
        Machine::from_engine(cluster)
    }
}

impl Cluster {
    /// All processes of the job, each with a local device: a CPU, or a GPU of its own. Collective.
    ///
    /// MPI is initialized on demand, with `MPI_THREAD_SERIALIZED`, and finalized when the last cluster and the last
    /// object on it are dropped. A process not started by `mpirun` is a job of one rank, as is every process without
    /// the feature `mpi`.
    /// # Errors
    /// [`Error::Device`] if MPI was finalized, or initialized by the caller with a lower thread level.
    pub fn new(inner: impl Into<Machine>) -> Result<Self> {
        #[cfg(feature = "mpi")]
        {
            Self::over(Arc::new(crate::mpi_link::Mpi::world()?), inner.into())
        }
        #[cfg(not(feature = "mpi"))]
        {
            Ok(Self::alone(inner))
        }
    }
    /// The processes of a communicator, which is duplicated. Collective over the communicator.
    /// # Errors
    /// Those of [`new`](Self::new).
    #[cfg(feature = "mpi")]
    pub fn on(comm: &impl mpi::topology::Communicator, inner: impl Into<Machine>) -> Result<Self> {
        Self::over(Arc::new(crate::mpi_link::Mpi::of(comm)?), inner.into())
    }
    /// A cluster of this process alone, independent of any MPI job.
    pub fn alone(inner: impl Into<Machine>) -> Self {
        let link: Arc<dyn Link> = Arc::new(Alone);
        let (row, col) = (Arc::clone(&link), Arc::clone(&link));
        Self(Arc::new(Shared {
            inner: inner.into(),
            #[cfg(all(feature = "cuda", feature = "mpi"))]
            gpus: None,
            grid: Grid::new(1, 0),
            row,
            col,
            world: link,
            ended: AtomicBool::new(false),
            settled: AtomicBool::new(false),
            reproducible: AtomicBool::new(false),
            stage: AtomicU64::new(STAGE),
        }))
    }
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "there is one rank"))]
    fn over(world: Arc<dyn Link>, inner: Machine) -> Result<Self> {
        let grid = Grid::new(world.size(), world.rank());
        let (i, j) = grid.at();
        let (row, col) = (world.split(i)?, world.split(j)?);
        Ok(Self(Arc::new(Shared {
            #[cfg(all(feature = "cuda", feature = "mpi"))]
            gpus: crate::nccl::groups(&inner, &*world, [&*row, &*col])?,
            inner,
            grid,
            row,
            col,
            world,
            ended: AtomicBool::new(false),
            settled: AtomicBool::new(false),
            reproducible: AtomicBool::new(false),
            stage: AtomicU64::new(STAGE),
        })))
    }
    /// Rank of this process, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.0.world.rank()
    }
    /// Number of processes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.world.size()
    }
    /// The grid of ranks, from the view of this rank.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.0.grid
    }
    /// The local device of this rank.
    #[must_use]
    pub fn inner(&self) -> &Machine {
        &self.0.inner
    }
    /// Unwraps a result. An error is printed to standard error with the rank number, and aborts the whole job with
    /// status 1.
    pub fn unwrap<T>(&self, result: Result<T>) -> T {
        result.unwrap_or_else(|error| {
            eprintln!("rank {}: {error}", self.rank());
            self.0.world.abort(1)
        })
    }
    /// Whether matrix–vector products and reductions fold in the order of one rank even if ⊕ is not exact, so that any
    /// number of ranks gives the same bits. Off by default. All ranks must set the same value.
    ///
    /// If set, mxv gathers the blocks of a grid row (vxm: of a grid column) and all of x, and a reduction to a scalar
    /// gathers the whole operand: nnz / r + n and nnz entries, instead of n / c + m / r and p.
    pub fn set_reproducible(&self, yes: bool) {
        self.0.reproducible.store(yes, Ordering::Relaxed);
    }
    /// Approximate number of bytes of B that a product A·B gathers per stage; 64 MiB by default. B(·, j) is split into
    /// up to 64 strips of columns, and the transfer of a strip overlaps the multiplication by the previous one. A rank
    /// holds all of A(i, ·) and two strips.
    pub fn set_stage_bytes(&self, bytes: u64) {
        self.0.stage.store(bytes, Ordering::Relaxed);
    }
    /// The cluster as a backend of the run-time API.
    #[must_use]
    pub fn machine(&self) -> Machine {
        self.clone().into()
    }
    /// This rank's result if every rank succeeded; an error of one rank becomes an error of all. Collective; `what`
    /// must be the same on all ranks.
    /// # Errors
    /// This rank's own error, or that of the failed rank: [`Error::Parse`] and [`Error::Unsupported`] as they are, others
    /// as [`Error::Device`] with the number of the rank and the message.
    /// # Example
    /// ```
    /// use sparring::Cpu;
    /// use sparring_cluster::Cluster;
    /// let cluster = Cluster::new(Cpu::new())?;
    /// let text = std::fs::read_to_string("no such file");
    /// let text = text.map_err(|source| sparring::Error::Io { path: "no such file".into(), source });
    /// assert!(cluster.agree("read", text).is_err());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn agree<T>(&self, what: &str, result: Result<T>) -> Result<T> {
        self.0.begin(what)?;
        Ok(self.0.finish(result.map(|made| (made, 0)))?.0)
    }
    /// Rank of this process within its node, from 0; use it as the ordinal of its GPU. Collective. Construct a cluster
    /// afterwards: MPI is finalized with it.
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn local_rank() -> Result<usize> {
        #[cfg(feature = "mpi")]
        {
            crate::mpi_link::Mpi::rank_on_node()
        }
        #[cfg(not(feature = "mpi"))]
        {
            Ok(0)
        }
    }
    /// `cluster of 4 ranks, 2×2`.
    pub(crate) fn described(&self) -> String {
        let (rows, cols) = self.0.grid.shape();
        let plural = if self.size() == 1 { "" } else { "s" };
        #[cfg(all(feature = "cuda", feature = "mpi"))]
        let by = if self.0.gpus.is_some() { ", messages by NCCL" } else { "" };
        #[cfg(not(all(feature = "cuda", feature = "mpi")))]
        let by = "";
        format!("cluster of {} rank{plural}, {rows}×{cols}{by}", self.size())
    }
}

impl Shared {
    /// Whether the fold must not be split into partial results, because splitting would change the bits.
    pub(crate) fn folds_in_one(&self, add: &Monoid) -> bool {
        let exact = || match add.ty() {
            Type::F32 | Type::F64 => matches!(add.formula().name(), Some("min" | "max" | "any")),
            Type::ComplexF32 | Type::ComplexF64 => add.formula().name() == Some("any"),
            _ => true,
        };
        self.reproducible.load(Ordering::Relaxed) && self.world.size() > 1 && !exact()
    }
    pub(crate) fn stage_bytes(&self) -> u64 {
        self.stage.load(Ordering::Relaxed)
    }
    /// Opening handshake of a collective operation: an error if some rank calls another operation.
    pub(crate) fn begin(&self, what: &str) -> Result<()> {
        self.settled.store(false, Ordering::Relaxed);
        if self.world.size() == 1 {
            return Ok(());
        }
        if self.ended.load(Ordering::Relaxed) {
            let message = format!("{what} is called, and a rank has ended");
            return Err(Error::Device { what: "cluster".into(), message });
        }
        let mine = [hash(what), what.len() as u64];
        if self.world.all_words(mine).iter().all(|other| *other == mine) {
            return Ok(());
        }
        let all = self.world.all_gather(what.as_bytes())?;
        let all: Vec<&[u8]> = all.iter().collect();
        if all.iter().any(|w| *w == END.as_bytes()) {
            self.ended.store(true, Ordering::Relaxed);
        }
        let other = all.iter().position(|w| *w != what.as_bytes()).unwrap_or(0);
        let message = format!(
            "rank {} calls {what}, rank {other} calls {}; all ranks make the same calls in the same order",
            self.world.rank(),
            String::from_utf8_lossy(all[other])
        );
        Err(Error::Device { what: "cluster".into(), message })
    }
    /// Closing handshake: this rank's result if every rank succeeded, and the number of entries summed over all ranks.
    pub(crate) fn finish<T>(&self, made: Result<(T, usize)>) -> Result<(T, usize)> {
        if made.is_err() && self.settled.swap(false, Ordering::Relaxed) {
            return made;
        }
        self.agreed(made)
    }
    /// Handshake within an operation, before an exchange: this rank's result if every rank got this far. A failed rank
    /// may take part from here or from the closing handshake, [`finish`](Self::finish).
    pub(crate) fn ready<T>(&self, made: Result<T>) -> Result<T> {
        Ok(self.counted(made.map(|made| (made, 0)))?.0)
    }
    /// [`ready`](Self::ready), with a count summed over all ranks.
    pub(crate) fn counted<T>(&self, made: Result<(T, usize)>) -> Result<(T, usize)> {
        let made = self.agreed(made);
        self.settled.store(made.is_err(), Ordering::Relaxed);
        made
    }
    fn agreed<T>(&self, made: Result<(T, usize)>) -> Result<(T, usize)> {
        if self.world.size() == 1 {
            return made;
        }
        let (word, count) = match &made {
            Ok((_, count)) => (0, *count as u64),
            // An error caused by the failure of another rank.
            Err(error) if is_broken(error) => (2, 0),
            Err(_) => (1, 0),
        };
        let all = self.world.all_words([word, count]);
        let worst = |word| all.iter().position(|words| words[0] == word);
        let Some(rank) = worst(1).or_else(|| all.iter().position(|words| words[0] != 0)) else {
            let total = all.iter().map(|words| words[1] as usize).sum();
            return made.map(|made| (made.0, total));
        };
        let errors = self.world.all_gather(&made.as_ref().err().map(error_bytes).unwrap_or_default())?;
        match made {
            Err(error) if word == 1 || rank == self.world.rank() => Err(error),
            _ => Err(error_of(rank, errors.iter().nth(rank).unwrap_or_default())),
        }
    }
    /// A whole collective operation: `step`, between the opening and the closing handshake.
    pub(crate) fn together<T>(&self, what: &str, step: impl FnOnce() -> Result<(T, usize)>) -> Result<(T, usize)> {
        self.begin(what)?;
        self.finish(step())
    }
    pub(crate) fn describe_inner(&self) -> String {
        self.inner.engine().describe()
    }
}

/// Whether the error reports a message that another rank failed to send.
fn is_broken(error: &Error) -> bool {
    match (error, broken()) {
        (Error::Device { what, message }, Error::Device { what: of, message: text }) => (what, message) == (&of, &text),
        _ => false,
    }
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}
