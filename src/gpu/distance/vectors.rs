//! Rows prepared for a measure, and what is asked of them.

use super::engine::{Lists, Part, Radius, Ready, Sizes, Way};
use super::stream;
use super::way::way_of;
use crate::algebra::Real;
use crate::distance::{Measure, Neighbours, Options, comparable};
use crate::gpu::csr::Operand;
use crate::gpu::{Cuda, DeviceCsr, DeviceDense};
use crate::{Error, Result};

/// What will be asked of rows, as far as it counts for a budget.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    Nothing,
    /// Distances of so many rows at a time.
    Pairs(usize),
    /// So many neighbours.
    Nearest(usize),
}

/// Two matrices, or one, that can be compared.
pub(super) struct Given<'a, A> {
    pub(super) cuda: &'a Cuda,
    pub(super) x: &'a A,
    pub(super) y: Option<&'a A>,
    pub(super) options: &'a Options,
    pub(super) sizes: Sizes,
}

impl<'a, A> Given<'a, A> {
    /// # Errors
    /// [`Error::Shape`] for rows of different lengths; [`Error::Argument`] for `exclude_self` with Y.
    pub(super) fn new<T: Real>(
        cuda: &'a Cuda,
        op: &'static str,
        x: &'a A,
        y: Option<&'a A>,
        options: &'a Options,
    ) -> Result<Self>
    where
        A: Operand<T>,
    {
        let [n, ncols, nnz] = x.sizes(cuda)?;
        let of_y = y.map(|y| y.sizes(cuda)).transpose()?;
        comparable(op, (n, ncols), of_y.map(|[m, ncols, _]| (m, ncols)), options)?;
        let [m, _, nnz_y] = of_y.unwrap_or([n, ncols, nnz]);
        Ok(Self { cuda, x, y, options, sizes: Sizes { nrows: (n, m), ncols, nnz: (nnz, nnz_y) } })
    }
    /// Refuses a result of another shape.
    pub(super) fn takes<T: Real>(&self, out: &DeviceDense<T>) -> Result<()> {
        takes(self.sizes.nrows, out)
    }
    /// Prepares and indexes the rows, if the budget allows what is wanted of them.
    pub(super) fn prepared<T: Real, M: Measure>(&self, measure: &M, wanted: Wanted) -> Result<DeviceVectors<T>>
    where
        A: Operand<T>,
    {
        self.prepared_by(&*way_of::<T, M>(measure, self.options)?, measure, wanted)
    }
    fn prepared_by<T: Real, M: Measure>(
        &self,
        way: &dyn Way<T>,
        measure: &M,
        wanted: Wanted,
    ) -> Result<DeviceVectors<T>>
    where
        A: Operand<T>,
    {
        let most = self.options.memory_budget;
        let budget = Budget {
            nrows: self.sizes.nrows,
            prepared: way.bytes(&self.sizes, most).iter().sum(),
            exclude_self: self.options.exclude_self,
            most,
        };
        budget.allows::<T>(wanted)?;
        let part = |a: &A| -> Result<_> {
            let a = a.to_device(self.cuda)?;
            Ok(Part { rows: self.cuda.clean_rows(&a, 0, measure.domain(), self.options.unchecked)?, first: 0 })
        };
        let (x, y) = (part(self.x)?, self.y.map(part).transpose()?);
        Ok(DeviceVectors {
            cuda: self.cuda.clone(),
            ready: way.ready(self.cuda, &x, y.as_ref(), y.is_none(), most)?,
            similarity: measure.is_similarity(),
            budget,
        })
    }
    /// Neighbours; rows that do not fit the device, or the budget, at once are taken in parts.
    pub(super) fn knn<T: Real, M: Measure>(&self, measure: &M, k: usize) -> Result<Neighbours<T>>
    where
        A: Operand<T>,
    {
        let way = way_of::<T, M>(measure, self.options)?;
        let whole = self.prepared_by(&*way, measure, Wanted::Nearest(k)).and_then(|rows| rows.knn(k));
        match whole {
            Err(Error::Budget { .. } | Error::DeviceMemory { .. }) => stream::knn(self, &*way, measure.domain(), k),
            whole => whole,
        }
    }
    /// Distances in blocks of rows; rows of Y that do not fit the device, or the budget, at once are taken in parts.
    pub(super) fn pairwise_blocks<T: Real, M: Measure>(
        &self,
        measure: &M,
        rows_per_block: usize,
        each: impl FnMut(usize, &[T]) -> Result<()>,
    ) -> Result<()>
    where
        A: Operand<T>,
    {
        let way = way_of::<T, M>(measure, self.options)?;
        match self.prepared_by(&*way, measure, Wanted::Pairs(rows_per_block)) {
            Err(Error::Budget { .. } | Error::DeviceMemory { .. }) => {
                stream::pairwise_blocks(self, &*way, measure.domain(), rows_per_block, each)
            }
            rows => rows?.pairwise_blocks(rows_per_block, each),
        }
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

/// Neighbours that a row has among `m` where `k` are asked for.
pub(super) fn neighbours(m: usize, k: usize, exclude_self: bool) -> usize {
    k.min(m.saturating_sub(usize::from(exclude_self)))
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
        neighbours(self.nrows.1, k, self.exclude_self)
    }
    /// What is asked for, and the bytes that it takes with the prepared rows.
    fn bytes<T: Real>(&self, wanted: Wanted) -> (&'static str, u128) {
        let (n, m) = self.nrows;
        let entry = size_of::<T>() as u128;
        let (what, result) = match wanted {
            Wanted::Nothing => ("prepared rows", 0),
            Wanted::Pairs(rows) if rows < n => ("a block of distances", rows as u128 * m as u128 * entry),
            Wanted::Pairs(_) => ("all distances", n as u128 * m as u128 * entry),
            Wanted::Nearest(k) => {
                ("nearest neighbours", n as u128 * self.neighbours(k) as u128 * (Lists::BYTES + entry))
            }
        };
        (what, result + self.prepared)
    }
    fn allows<T: Real>(&self, wanted: Wanted) -> Result<()> {
        let (what, bytes) = self.bytes::<T>(wanted);
        self.held(what, bytes)
    }
    /// Refuses a result of so many bytes if the budget does.
    fn allows_result(&self, what: &'static str, result: u128) -> Result<()> {
        self.held(what, result + self.prepared)
    }
    /// Holds bytes against the budget.
    fn held(&self, what: &'static str, bytes: u128) -> Result<()> {
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
    ready: Box<dyn Ready<T>>,
    similarity: bool,
    budget: Budget,
}

impl<T> std::fmt::Debug for DeviceVectors<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (n, m) = self.budget.nrows;
        write!(f, "{n} rows against {m}: {}", self.ready.explain())
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
        self.ready.explain()
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
        self.ready.pairs(&self.cuda, 0..out.nrows, &out.values)
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
            self.ready.pairs(&self.cuda, rows.clone(), &room)?;
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
        let found = self.ready.nearest(&self.cuda, k, self.budget.exclude_self)?;
        let distances = found.distances::<T>(&self.cuda, &*self.ready.nearest_program(&self.cuda, k)?)?;
        let indices = self.cuda.get(&found.ids, "neighbours")?;
        let distances = self.cuda.get(&distances, "distances of neighbours")?;
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
        let wanted = Radius { radius, similarity: self.similarity, exclude_self: self.budget.exclude_self };
        let allows = |bytes| self.budget.allows_result("neighbours within a radius", bytes);
        self.ready.within(&self.cuda, &wanted, &allows)
    }
}
