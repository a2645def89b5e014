//! Rows prepared for a measure, and the queries on them.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use super::algorithm::CachedRows;
use super::engine::{Radius, Ready};
use super::given::{Budget, Given, Wanted};
use crate::algebra::Type;
use crate::backend::PreparedRows;
use crate::distance::{Float, Neighbours, check_radius};
use crate::gpu::buffer::{Buffer, RawBuffer};
use crate::gpu::csr::RawCsr;
use crate::gpu::{Cuda, DeviceCsr, DeviceDense};
use crate::{Error, Result};

/// Prepared rows whose entry type is known at run time.
pub(super) struct Prepared {
    cuda: Cuda,
    ready: Box<dyn Ready>,
    /// Type of the entries and of the distances.
    of: Type,
    similarity: bool,
    budget: Budget,
}

/// Receives a range of rows, and a buffer that begins with their distances.
type TakeBlock<'a> = dyn FnMut(Range<usize>, &Arc<RawBuffer>) -> Result<()> + 'a;
/// Indices of neighbours, on the host, and their distances, on the device.
type Found = (Vec<u32>, Arc<RawBuffer>);

impl Prepared {
    /// Prepares and indexes the rows, if the budget allows the result.
    pub(super) fn new(given: &Given<'_>, wanted: Wanted) -> Result<Self> {
        let budget = given.budget();
        budget.allows(wanted)?;
        let (x, y) = (given.whole(given.x)?, given.y.map(|y| given.whole(y)).transpose()?);
        let most = given.question.options.memory_budget;
        let ready = given.way.ready(given.cuda, &x, y.as_ref(), y.is_none(), most)?;
        let similarity = given.question.measure.is_similarity();
        Ok(Self { cuda: given.cuda.clone(), ready, of: given.of, similarity, budget })
    }
    /// Prepares rows of X against cached rows of Y.
    pub(super) fn with_cached(given: &Given<'_>, cached: &CachedRows) -> Result<Self> {
        let budget = given.budget();
        budget.allows(Wanted::Nothing)?;
        if !given.way.fits_cached(cached, given.entries()) {
            return Err(given.beyond(format!("{} on a GPU", given.question.measure.name())));
        }
        let (x, most) = (given.whole(given.x)?, given.question.options.memory_budget);
        let ready = given.way.ready_with_cached(given.cuda, &x, cached, most)?;
        let similarity = given.question.measure.is_similarity();
        Ok(Self { cuda: given.cuda.clone(), ready, of: given.of, similarity, budget })
    }
    pub(super) fn explain(&self) -> String {
        self.ready.explain()
    }
    /// Number of distances of this many rows.
    fn distance_count(&self, rows: usize) -> Result<usize> {
        let m = self.budget.nrows.1;
        let (needed, max) = (rows as u128 * m as u128, usize::MAX as u128);
        rows.checked_mul(m).ok_or(Error::IndexOverflow { what: "number of distances", needed, max })
    }
    fn all(&self) -> Result<Arc<RawBuffer>> {
        self.budget.allows(Wanted::Pairs(usize::MAX))?;
        let n = self.budget.nrows.0;
        let out = self.cuda.alloc_raw(self.of, self.distance_count(n)?, "all distances")?;
        self.ready.pairs(&self.cuda, 0..n, &out)?;
        Ok(out)
    }
    fn all_into(&self, shape: (usize, usize), out: &RawBuffer) -> Result<()> {
        if shape != self.budget.nrows {
            return Err(Error::Shape { op: "the result of distances", lhs: self.budget.nrows, rhs: shape });
        }
        self.ready.pairs(&self.cuda, 0..shape.0, out)
    }
    /// Calls `take` with ranges of rows, and a buffer that begins with their distances.
    fn blocks(&self, rows: usize, take: &mut TakeBlock<'_>) -> Result<()> {
        self.budget.allows(Wanted::Pairs(rows))?;
        let n = self.budget.nrows.0;
        let block = rows.clamp(1, n.max(1));
        let room = self.cuda.alloc_raw(self.of, self.distance_count(block)?, "a block of distances")?;
        for first in (0..n).step_by(block) {
            let rows = first..n.min(first + block);
            self.ready.pairs(&self.cuda, rows.clone(), &room)?;
            take(rows, &room)?;
        }
        Ok(())
    }
    /// The neighbours; `None` if there are none to find.
    fn nearest(&self, k: usize) -> Result<Option<Found>> {
        self.budget.allows(Wanted::Nearest(k))?;
        let (n, k) = (self.budget.nrows.0, self.budget.neighbours(k));
        if n == 0 || k == 0 {
            return Ok(None);
        }
        let found = self.ready.nearest(&self.cuda, k, self.budget.exclude_self)?;
        let program = self.ready.nearest_program(&self.cuda, k)?;
        let distances = found.distances(&self.cuda, &program, self.of)?;
        Ok(Some((self.cuda.get(&found.ids, "neighbours")?, distances)))
    }
    fn within(&self, radius: f64) -> Result<RawCsr> {
        check_radius(radius)?;
        let wanted = Radius { radius, similarity: self.similarity, exclude_self: self.budget.exclude_self };
        let allows = |bytes| self.budget.allows_result("neighbours within a radius", bytes);
        self.ready.within(&self.cuda, &wanted, &allows)
    }
}

/// Rows of X and Y, or of X alone, prepared for a measure and indexed.
///
/// # Example
/// ```no_run
/// use sparring::{Csr, Cuda, distance::Metric};
/// let cuda = Cuda::new(0)?;
/// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 3], vec![0, 0, 1], vec![1.0, 2.0, 9.0])?;
/// let rows = cuda.neighbours(Metric::Euclidean, &x).prepare()?;
/// assert_eq!(rows.nearest(2)?.row(0).0, [0, 1]);
/// assert_eq!(rows.within(1.5)?.nnz(), 5);
/// # Ok::<(), sparring::Error>(())
/// ```
pub struct DeviceVectors<T> {
    rows: Prepared,
    _of: PhantomData<T>,
}

impl<T> std::fmt::Debug for DeviceVectors<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (n, m) = self.rows.budget.nrows;
        write!(f, "{n} rows against {m}: {}", self.rows.explain())
    }
}

impl<T: Float> DeviceVectors<T> {
    pub(super) fn new(rows: Prepared) -> Self {
        Self { rows, _of: PhantomData }
    }
    /// Numbers of rows of X and of Y: the shape of all distances.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.rows.budget.nrows
    }
    /// The algorithm, and why it was chosen.
    #[must_use]
    pub fn explain(&self) -> String {
        self.rows.explain()
    }
    /// All distances, a dense matrix on the device.
    /// # Errors
    /// [`Error::Budget`]; [`Error::DeviceMemory`]; [`Error::Compile`], [`Error::NoCompiler`], [`Error::Device`].
    pub fn all(&self) -> Result<DeviceDense<T>> {
        let (nrows, ncols) = self.shape();
        Ok(DeviceDense { nrows, ncols, values: Buffer::of(self.rows.all()?)? })
    }
    /// Writes all distances into an existing matrix.
    /// # Errors
    /// Those of [`all`](Self::all), and [`Error::Shape`] for a result of another shape.
    pub fn all_into(&self, out: &mut DeviceDense<T>) -> Result<()> {
        self.rows.all_into(out.shape(), &out.values)
    }
    /// Streams all distances: `each(first, distances)` receives the rows from `first` on, at most `rows` of them at a
    /// time.
    /// # Errors
    /// Those of [`all`](Self::all), [`Error::OutOfMemory`], and those of `each`.
    pub fn blocks(&self, rows: usize, mut each: impl FnMut(usize, &[T]) -> Result<()>) -> Result<()> {
        let m = self.shape().1;
        self.rows.blocks(rows, &mut |rows, room| {
            let values = self.rows.cuda.get(&Buffer::<T>::of(Arc::clone(room))?, "a block of distances")?;
            each(rows.start, &values[..rows.len() * m])
        })
    }
    /// The `k` nearest rows of Y for each row of X, on the host.
    /// # Errors
    /// Those of [`all`](Self::all).
    pub fn nearest(&self, k: usize) -> Result<Neighbours<T>> {
        let ((n, m), k) = (self.shape(), self.rows.budget.neighbours(k));
        let Some((indices, distances)) = self.rows.nearest(k)? else {
            return Ok(Neighbours::new(m, k, vec![], vec![], n, self.explain()));
        };
        let distances = self.rows.cuda.get(&Buffer::of(distances)?, "distances of neighbours")?;
        Ok(Neighbours::new(m, k, indices, distances, n, self.explain()))
    }
    /// Bytes of device memory of [`nearest`](Self::nearest) together with these rows: the figure compared with a
    /// budget.
    #[must_use]
    pub fn nearest_bytes(&self, k: usize) -> u64 {
        self.rows.budget.bytes(Wanted::Nearest(k)).1.try_into().unwrap_or(u64::MAX)
    }
    /// The rows of Y at most `radius` away from each row of X, with their distances, on the device.
    /// # Errors
    /// Those of [`all`](Self::all); [`Error::Argument`] for a radius that is NaN.
    pub fn within(&self, radius: f64) -> Result<DeviceCsr<T>> {
        self.rows.within(radius)?.typed()
    }
}

impl<T: Float> PreparedRows<T> for DeviceVectors<T> {
    type Distances = DeviceDense<T>;
    type Graph = DeviceCsr<T>;
    type Out = DeviceDense<T>;

    fn shape(&self) -> (usize, usize) {
        self.shape()
    }
    fn explain(&self) -> String {
        self.explain()
    }
    fn all(&self) -> Result<DeviceDense<T>> {
        self.all()
    }
    fn all_into(&self, out: &mut DeviceDense<T>) -> Result<()> {
        self.all_into(out)
    }
    fn blocks(&self, rows: usize, each: &mut dyn FnMut(usize, &[T]) -> Result<()>) -> Result<()> {
        self.blocks(rows, each)
    }
    fn nearest(&self, k: usize) -> Result<Neighbours<T>> {
        self.nearest(k)
    }
    fn nearest_bytes(&self, k: usize) -> u64 {
        self.nearest_bytes(k)
    }
    fn within(&self, radius: f64) -> Result<DeviceCsr<T>> {
        self.within(radius)
    }
}
