//! The ranks of a job, and what they do together at the ends of every operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sparring::algebra::Type;
use sparring::runtime::{Machine, Monoid};
use sparring::{Error, Result};

use crate::grid::Grid;
use crate::link::{Alone, Link};
use crate::wire::broken;

/// The processes of an MPI job as one machine, each with a machine of its own inside.
///
/// A clone is another name for the same ranks.
#[derive(Clone, Debug)]
pub struct Cluster(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) inner: Machine,
    pub(crate) grid: Grid,
    /// Ranks of the same row of the grid, and of the same column.
    pub(crate) row: Arc<dyn Link>,
    pub(crate) col: Arc<dyn Link>,
    /// The same by NCCL, where every rank has a GPU of its own.
    #[cfg(all(feature = "cuda", feature = "mpi"))]
    pub(crate) gpus: Option<crate::nccl::Groups>,
    /// All ranks. Dropped last.
    pub(crate) world: Arc<dyn Link>,
    /// Whether a rank has ended, and answers no more.
    ended: AtomicBool,
    /// Whether all ranks know already that the operation has failed.
    settled: AtomicBool,
    /// Whether folds have the bits of one rank.
    pub(crate) reproducible: AtomicBool,
    /// Bytes of the right operand of a product that are gathered at a time.
    stage: AtomicU64,
}

/// As many at first.
const STAGE: u64 = 1 << 26;

/// What a rank says when it ends.
const END: &str = "the end";

impl Drop for Shared {
    fn drop(&mut self) {
        // A rank that ends while others go on is found by them.
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
    /// All processes of the job, each with a machine: a processor, or a GPU of its own. Collective.
    ///
    /// MPI is initialized if it is not, with `MPI_THREAD_SERIALIZED`, and ended when the last cluster and what it holds
    /// are dropped. A process that no `mpirun` has started is a job of one. Without the feature `mpi` it always is.
    /// # Errors
    /// [`Error::Device`] if MPI was finalized, or initialized by the caller for one thread alone.
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
    /// The processes of a communicator, which is duplicated. Collective over it.
    /// # Errors
    /// Those of [`new`](Self::new).
    #[cfg(feature = "mpi")]
    pub fn on(comm: &impl mpi::topology::Communicator, inner: impl Into<Machine>) -> Result<Self> {
        Self::over(Arc::new(crate::mpi_link::Mpi::of(comm)?), inner.into())
    }
    /// This process by itself, whatever job it belongs to.
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
    /// Number of this process, counted from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.0.world.rank()
    }
    /// Number of processes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.world.size()
    }
    /// The grid of ranks, seen by this one.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.0.grid
    }
    /// What this rank computes on.
    #[must_use]
    pub fn inner(&self) -> &Machine {
        &self.0.inner
    }
    /// The result, or the end of the whole job: the error is said on standard error behind the number of the rank that
    /// has it, and the status of all is 1.
    pub fn unwrap<T>(&self, result: Result<T>) -> T {
        result.unwrap_or_else(|error| {
            eprintln!("rank {}: {error}", self.rank());
            self.0.world.abort(1)
        })
    }
    /// Whether products with vectors and reductions fold as one rank does, also where ⊕ is not exact: the same bits on any
    /// number of ranks. Off at first. All ranks say the same.
    ///
    /// A product with a vector then gathers the blocks of a row of the grid (vxm: of a column) and all of x, a reduction to
    /// a scalar the whole operand: nnz / r + n entries and nnz in place of n / c + m / r and p.
    pub fn set_reproducible(&self, yes: bool) {
        self.0.reproducible.store(yes, Ordering::Relaxed);
    }
    /// About how many bytes of B a product A·B gathers at a time, 64 MiB at first: B(·, j) is cut into strips of columns,
    /// up to 64, and while one is multiplied the next is on its way. A rank holds all of A(i, ·) and two strips.
    pub fn set_stage_bytes(&self, bytes: u64) {
        self.0.stage.store(bytes, Ordering::Relaxed);
    }
    /// The cluster as a machine.
    #[must_use]
    pub fn machine(&self) -> Machine {
        self.clone().into()
    }
    /// The result of each rank, if all have one: the error of one rank is an error of all. Collective; `what` is the same
    /// on all ranks.
    /// # Errors
    /// This rank's own, or [`Error::Device`] that names the rank and says its sentence.
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
    /// The number of this process among those of its node, counted from 0: that of its GPU. Collective; a cluster is
    /// to be made afterwards, with which MPI ends.
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
    /// Whether partial results of ⊕ are not to be folded by themselves: that would have other bits than one fold.
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
    /// Begins what all ranks do together: an error if some do something else.
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
    /// What this rank made and how many entries it has, if every rank succeeded; with the entries of all.
    pub(crate) fn finish<T>(&self, made: Result<(T, usize)>) -> Result<(T, usize)> {
        if made.is_err() && self.settled.swap(false, Ordering::Relaxed) {
            return made;
        }
        self.agreed(made)
    }
    /// In the middle of an operation, before messages: what this rank made, if every rank came so far. A rank that did
    /// not may be here or at the end of the operation, [`finish`](Self::finish), where it is told as well.
    pub(crate) fn ready<T>(&self, made: Result<T>) -> Result<T> {
        Ok(self.counted(made.map(|made| (made, 0)))?.0)
    }
    /// The same, with the sum of what ranks count.
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
            // An error that another rank's made.
            Err(error) if is_broken(error) => (2, 0),
            Err(_) => (1, 0),
        };
        let all = self.world.all_words([word, count]);
        let worst = |word| all.iter().position(|words| words[0] == word);
        let Some(rank) = worst(1).or_else(|| all.iter().position(|words| words[0] != 0)) else {
            let total = all.iter().map(|words| words[1] as usize).sum();
            return made.map(|made| (made.0, total));
        };
        let text = made.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let texts = self.world.all_gather(text.as_bytes())?;
        match made {
            Err(error) if word == 1 || rank == self.world.rank() => Err(error),
            _ => {
                let message = String::from_utf8_lossy(texts.iter().nth(rank).unwrap_or_default()).into_owned();
                Err(Error::Device { what: format!("rank {rank}"), message })
            }
        }
    }
    /// The whole of an operation: `step` is what this rank does, between its beginning and its end.
    pub(crate) fn together<T>(&self, what: &str, step: impl FnOnce() -> Result<(T, usize)>) -> Result<(T, usize)> {
        self.begin(what)?;
        self.finish(step())
    }
    pub(crate) fn describe_inner(&self) -> String {
        self.inner.engine().describe()
    }
}

/// Whether it is the error of a rank that did not get what another was to send.
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
