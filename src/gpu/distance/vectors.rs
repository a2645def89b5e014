//! Rows prepared for a measure, and what is asked of them.

use super::pairs::Ready;
use super::rows::Clean;
use super::way::{Pass, pass_of};
use crate::algebra::Real;
use crate::distance::{Measure, Neighbours, Options};
use crate::gpu::csr::Operand;
use crate::gpu::{Cuda, DeviceCsr, DeviceDense};
use crate::{Error, Result};

/// Rows that are ready, whatever they are computed in.
enum AnyReady {
    Double(Ready<f64>),
    Single(Ready<f32>),
}

/// The same words for both.
macro_rules! of_either {
    ($ready:expr, $r:ident => $what:expr) => {
        match $ready {
            AnyReady::Double($r) => $what,
            AnyReady::Single($r) => $what,
        }
    };
}

impl AnyReady {
    fn new<T: Real>(cuda: &Cuda, pass: Pass, x: &Clean<T>, y: Option<&Clean<T>>) -> Result<Self> {
        Ok(if pass.double {
            Self::Double(Ready::new(cuda, pass, x, y)?)
        } else {
            Self::Single(Ready::new(cuda, pass, x, y)?)
        })
    }
}

/// What will be asked of rows, as far as it counts for a budget.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    Nothing,
    /// Distances of so many rows at a time.
    Pairs(usize),
    /// So many neighbours.
    Nearest(usize),
}

/// Two matrices on the device, or one.
pub(super) struct Given<T> {
    x: DeviceCsr<T>,
    y: Option<DeviceCsr<T>>,
}

impl<T: Real> Given<T> {
    /// # Errors
    /// [`Error::Shape`] for rows of different lengths; [`Error::Argument`] for `exclude_self` with Y.
    pub(super) fn new<A: Operand<T>>(
        cuda: &Cuda,
        op: &'static str,
        x: &A,
        y: Option<&A>,
        options: &Options,
    ) -> Result<Self> {
        if options.exclude_self && y.is_some() {
            let message =
                "a row is left out of its own neighbours where X is compared with itself, not with a Y".into();
            return Err(Error::Argument { name: "exclude_self", message });
        }
        let x = x.to_device(cuda)?;
        let y = y.map(|y| y.to_device(cuda)).transpose()?;
        match &y {
            Some(y) if y.shape().1 != x.shape().1 => Err(Error::Shape { op, lhs: x.shape(), rhs: y.shape() }),
            _ => Ok(Self { x, y }),
        }
    }
    fn y(&self) -> &DeviceCsr<T> {
        self.y.as_ref().unwrap_or(&self.x)
    }
    /// Rows of X and of Y.
    fn nrows(&self) -> (usize, usize) {
        (self.x.shape().0, self.y().shape().0)
    }
    /// Refuses a result of another shape.
    pub(super) fn takes(&self, out: &DeviceDense<T>) -> Result<()> {
        takes(self.nrows(), out)
    }
    /// Prepares and indexes the rows, if the budget allows what is wanted of them.
    pub(super) fn prepared<M: Measure>(
        &self,
        cuda: &Cuda,
        measure: &M,
        options: &Options,
        wanted: Wanted,
    ) -> Result<DeviceVectors<T>> {
        let pass = pass_of::<T, M>(measure, options)?;
        let (x, y) = (&self.x, self.y());
        // Columns and entries of X; those of Y by rows, by columns, and what their sort takes; norms; an index.
        let entries = 12 * x.nnz() as u128 + 44 * y.nnz() as u128;
        let rows = 16 * (x.shape().0 + y.shape().0) as u128 + 8 * y.shape().1 as u128;
        let budget = Budget {
            nrows: self.nrows(),
            prepared: entries + rows,
            exclude_self: options.exclude_self,
            most: options.memory_budget,
        };
        budget.allows::<T>(wanted)?;
        let clean = |a: &DeviceCsr<T>| cuda.clean_rows(a, measure.domain(), options.unchecked);
        let (x, y) = (clean(&self.x)?, self.y.as_ref().map(clean).transpose()?);
        Ok(DeviceVectors {
            cuda: cuda.clone(),
            ready: AnyReady::new(cuda, pass, &x, y.as_ref())?,
            similarity: measure.is_similarity(),
            budget,
            of: std::marker::PhantomData,
        })
    }
}

fn takes<T: Real>(shape: (usize, usize), out: &DeviceDense<T>) -> Result<()> {
    if out.shape() == shape {
        return Ok(());
    }
    Err(Error::Shape { op: "the result of pairwise", lhs: shape, rhs: out.shape() })
}

pub(super) fn is_radius(radius: f64) -> Result<()> {
    if radius.is_nan() { Err(Error::Argument { name: "radius", message: "it is NaN".into() }) } else { Ok(()) }
}

/// What results and prepared rows may take together.
struct Budget {
    nrows: (usize, usize),
    /// Bytes of the prepared rows.
    prepared: u128,
    exclude_self: bool,
    most: Option<u64>,
}

impl Budget {
    /// Neighbours that a row has where `k` are asked for.
    fn neighbours(&self, k: usize) -> usize {
        k.min(self.nrows.1.saturating_sub(usize::from(self.exclude_self)))
    }
    /// What is asked for, and the bytes that it takes with the prepared rows.
    fn bytes<T: Real>(&self, wanted: Wanted) -> (&'static str, u128) {
        let (n, m) = self.nrows;
        let entry = size_of::<T>() as u128;
        let (what, result) = match wanted {
            Wanted::Nothing => ("prepared rows", 0),
            Wanted::Pairs(rows) if rows < n => ("a block of distances", rows as u128 * m as u128 * entry),
            Wanted::Pairs(_) => ("all distances", n as u128 * m as u128 * entry),
            Wanted::Nearest(k) => ("nearest neighbours", n as u128 * self.neighbours(k) as u128 * (12 + entry)),
        };
        (what, result + self.prepared)
    }
    fn allows<T: Real>(&self, wanted: Wanted) -> Result<()> {
        let (what, bytes) = self.bytes::<T>(wanted);
        match self.most.map(u128::from) {
            Some(budget) if bytes > budget => Err(Error::Budget { what, bytes, budget }),
            _ => Ok(()),
        }
    }
}

/// Rows of X and Y, or of X alone, prepared for a measure and indexed: see [`Cuda::vectors`].
///
/// # Example
/// ```no_run
/// use sparring::{Csr, Cuda, distance::Metric};
/// let cuda = Cuda::new(0)?;
/// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 3], vec![0, 0, 1], vec![1.0, 2.0, 9.0])?;
/// let rows = cuda.vectors(Metric::Euclidean, &x, None, &Default::default())?;
/// assert_eq!(rows.knn(2)?.row(0).0, [0, 1]);
/// assert_eq!(rows.radius(1.5)?.nnz(), 5);
/// # Ok::<(), sparring::Error>(())
/// ```
pub struct DeviceVectors<T> {
    cuda: Cuda,
    ready: AnyReady,
    similarity: bool,
    budget: Budget,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T> std::fmt::Debug for DeviceVectors<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (n, m) = self.budget.nrows;
        write!(f, "{n} rows against {m}: {}", of_either!(&self.ready, r => r.explain()))
    }
}

impl<T: Real> DeviceVectors<T> {
    /// Rows of X and rows of Y: the shape of all distances.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.budget.nrows
    }
    /// What runs, and why.
    #[must_use]
    pub fn explain(&self) -> String {
        of_either!(&self.ready, r => r.explain())
    }
    /// Places for the distances of so many rows.
    fn places(&self, rows: usize) -> Result<usize> {
        let m = self.budget.nrows.1;
        let (needed, max) = (rows as u128 * m as u128, usize::MAX as u128);
        rows.checked_mul(m).ok_or(Error::IndexOverflow { what: "number of distances", needed, max })
    }
    /// As [`Cuda::pairwise`].
    /// # Errors
    /// Those of [`Cuda::pairwise`].
    pub fn pairwise(&self) -> Result<DeviceDense<T>> {
        self.budget.allows::<T>(Wanted::Pairs(usize::MAX))?;
        let (nrows, ncols) = self.budget.nrows;
        let mut out = DeviceDense { nrows, ncols, values: self.cuda.alloc(self.places(nrows)?, "all distances")? };
        self.pairwise_into(&mut out)?;
        Ok(out)
    }
    /// As [`Cuda::pairwise_into`].
    /// # Errors
    /// Those of [`Cuda::pairwise_into`].
    pub fn pairwise_into(&self, out: &mut DeviceDense<T>) -> Result<()> {
        takes(self.budget.nrows, out)?;
        of_either!(&self.ready, r => r.pairs(&self.cuda, 0..out.nrows, &out.values))
    }
    /// As [`Cuda::pairwise_blocks`].
    /// # Errors
    /// Those of [`Cuda::pairwise_blocks`].
    pub fn pairwise_blocks(
        &self,
        rows_per_block: usize,
        mut each: impl FnMut(usize, &[T]) -> Result<()>,
    ) -> Result<()> {
        self.budget.allows::<T>(Wanted::Pairs(rows_per_block))?;
        let (n, m) = self.budget.nrows;
        let block = rows_per_block.clamp(1, n.max(1));
        let room = self.cuda.alloc::<T>(self.places(block)?, "a block of distances")?;
        for first in (0..n).step_by(block) {
            let rows = first..n.min(first + block);
            of_either!(&self.ready, r => r.pairs(&self.cuda, rows.clone(), &room))?;
            let values = self.cuda.get(&room, "a block of distances")?;
            each(first, &values[..rows.len() * m])?;
        }
        Ok(())
    }
    /// As [`Cuda::knn`].
    /// # Errors
    /// Those of [`Cuda::knn`].
    pub fn knn(&self, k: usize) -> Result<Neighbours<T>> {
        self.budget.allows::<T>(Wanted::Nearest(k))?;
        let ((n, m), k) = (self.budget.nrows, self.budget.neighbours(k));
        let explain = self.explain();
        if n == 0 || k == 0 {
            return Ok(Neighbours::new(m, k, vec![], vec![], n, explain));
        }
        let found = of_either!(&self.ready, r => r.nearest::<T>(&self.cuda, k, self.budget.exclude_self))?;
        let indices = self.cuda.get(&found.ids, "neighbours")?;
        let distances = self.cuda.get(&found.distances, "distances of neighbours")?;
        Ok(Neighbours::new(m, k, indices, distances, n, explain))
    }
    /// Bytes of device memory that [`knn`](Self::knn) takes, with these rows: what a budget is held against.
    #[must_use]
    pub fn knn_bytes(&self, k: usize) -> u64 {
        self.budget.bytes::<T>(Wanted::Nearest(k)).1.try_into().unwrap_or(u64::MAX)
    }
    /// As [`Cuda::radius`].
    /// # Errors
    /// Those of [`Cuda::radius`].
    pub fn radius(&self, radius: f64) -> Result<DeviceCsr<T>> {
        is_radius(radius)?;
        of_either!(&self.ready, r => r.within(&self.cuda, radius, self.similarity, self.budget.exclude_self))
    }
}
