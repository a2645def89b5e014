//! Rows prepared for a measure, for several queries.

use std::any::{Any, TypeId};
use std::marker::PhantomData;

use super::compiled::{Pair, engine};
use super::engine::Engine;
use super::entries::RowsOf;
use super::float::{Float, known, of_type};
use super::neighbours::Neighbours;
use super::query_spec::{QuerySpec, check_radius};
use super::{knn, pairwise, radius};
use crate::par::Threads;
use crate::sparse::Dense;
use crate::{Csr, Error, Index, Result};

/// The rows of X and Y, or of X alone, checked and prepared for a measure. Queries do not prepare them again.
///
/// Borrows the matrices where their form allows: f64 entries without zeros, sorted 32-bit column indices. Memory: a
/// prepared copy of the entries, and two norms a row.
///
/// ```
/// use sparring::{Cpu, Csr, distance::Metric};
/// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?;
/// let cpu = Cpu::new();
/// let rows = cpu.neighbours(Metric::Cosine, &x).prepare()?;
/// println!("{}; two neighbours of each row take {} bytes", rows.explain(), rows.nearest_bytes(2));
/// assert_eq!(rows.nearest(2)?.row(0).0, [0, 2]);
/// assert_eq!(rows.within(0.5)?.nnz(), 5);
/// # Ok::<(), sparring::Error>(())
/// ```
pub struct Vectors<'a, T, I = u32> {
    threads: &'a Threads,
    engine: Box<dyn Engine + 'a>,
    similarity: bool,
    exclude_self: bool,
    budget: Option<u64>,
    _of: PhantomData<(T, I)>,
}

impl<T, I> std::fmt::Debug for Vectors<'_, T, I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (n, m) = self.engine.nrows();
        write!(f, "{n} rows against {m}: {}", self.engine.explain())
    }
}

impl<'a, T: Float, I: Index> Vectors<'a, T, I> {
    /// Prepares rows; without `y`, a matrix is compared with itself.
    /// # Errors
    /// [`Error::Shape`]; [`Error::Argument`] for an entry outside the metric's domain and for `exclude_self` with Y;
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(
        threads: &'a Threads,
        spec: &QuerySpec<'_>,
        x: &'a Csr<T, I>,
        y: Option<&'a Csr<T, I>>,
    ) -> Result<Self> {
        spec.check(x.shape(), y.map(Csr::shape))?;
        let QuerySpec { measure, options, .. } = spec;
        let rows = T::into_typed::<Pair<'a>>((RowsOf::new(x)?, y.map(RowsOf::new).transpose()?));
        let strategy = measure.strategy(options, T::TYPE)?;
        Ok(Self {
            threads,
            engine: engine(threads, strategy, rows, measure.domain(), options)?,
            similarity: measure.is_similarity(),
            exclude_self: options.exclude_self,
            budget: options.memory_budget,
            _of: PhantomData,
        })
    }
    /// Rows compared by an index.
    pub(super) fn of_engine(
        threads: &'a Threads,
        engine: Box<dyn Engine + 'a>,
        similarity: bool,
        budget: Option<u64>,
    ) -> Self {
        Self { threads, engine, similarity, exclude_self: false, budget, _of: PhantomData }
    }
    /// Rows of X and of Y: the shape of all distances.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.engine.nrows()
    }
    /// The algorithm, and why.
    #[must_use]
    pub fn explain(&self) -> String {
        self.engine.explain()
    }
    /// All distances.
    /// # Errors
    /// [`Error::Budget`]; [`Error::OutOfMemory`]; [`Error::Cancelled`].
    pub fn all(&self) -> Result<Dense<T>> {
        let (n, m) = self.shape();
        self.checked_len(n)?;
        let mut result = Dense::filled(n, m, T::ZERO)?;
        self.all_into(result.values_mut())?;
        Ok(result)
    }
    /// All distances, row after row, into the caller's memory.
    /// # Errors
    /// Those of [`all`](Self::all); [`Error::Length`] if the length is not the number of pairs.
    pub fn all_into(&self, out: &mut [T]) -> Result<()> {
        let n = self.shape().0;
        let expected = self.checked_len(n)?;
        if out.len() != expected {
            return Err(Error::Length { what: "distances", found: out.len(), expected });
        }
        pairwise::fill(self.threads, &*self.engine, 0..n, T::into_typed::<pairwise::Out<'_>>(out))
    }
    /// All distances as a stream: `each(first, distances)` gets the rows from `first` on, row after row, at most `rows`
    /// of them at a time. Never holds more than one block.
    /// # Errors
    /// Those of [`all`](Self::all), and of `each`.
    pub fn blocks(&self, rows: usize, mut each: impl FnMut(usize, &[T]) -> Result<()>) -> Result<()> {
        let (n, m) = self.shape();
        let rows = rows.clamp(1, n.max(1));
        self.checked_len(rows)?;
        let mut strip = Dense::filled(rows, m, T::ZERO)?;
        for first in (0..n).step_by(rows) {
            let here = first..(first + rows).min(n);
            let strip = &mut strip.values_mut()[..here.len() * m];
            pairwise::fill(self.threads, &*self.engine, here, T::into_typed::<pairwise::Out<'_>>(strip))?;
            each(first, strip)?;
        }
        Ok(())
    }
    /// Length of `rows` rows of distances, checked with the scratch memory against the budget.
    fn checked_len(&self, rows: usize) -> Result<usize> {
        let scratch = pairwise::scratch(self.threads, &*self.engine, size_of::<T>());
        pairwise::checked_len::<T>(rows, self.shape().1, self.budget, scratch)
    }
    /// The `k` nearest rows of Y for each row of X.
    /// # Errors
    /// Those of [`all`](Self::all).
    pub fn nearest(&self, k: usize) -> Result<Neighbours<T>> {
        let Self { similarity, exclude_self, budget, .. } = *self;
        let wanted = knn::KnnSpec { k, similarity, exclude_self, budget };
        known::<T, _>(knn::search(self.threads, &*self.engine, wanted, of_type::<T>())?)
    }
    /// Bytes that [`nearest`](Self::nearest) takes, including these rows: the number that is compared with a budget.
    #[must_use]
    pub fn nearest_bytes(&self, k: usize) -> u64 {
        knn::bytes(self.threads, &*self.engine, k, size_of::<T>(), self.exclude_self, self.budget)
    }
    /// The rows of Y at most `radius` away from each row of X, with their distances.
    /// # Errors
    /// Those of [`all`](Self::all); [`Error::Argument`] for a radius that is NaN.
    pub fn within(&self, radius: f64) -> Result<Csr<T, I>> {
        check_radius(radius)?;
        let Self { threads, engine, similarity, exclude_self, budget, .. } = self;
        let (similarity, exclude_self, budget) = (*similarity, *exclude_self, *budget);
        let wanted = radius::RadiusSpec { radius, similarity, exclude_self, budget };
        let found: Box<dyn Any> = if TypeId::of::<I>() == TypeId::of::<u32>() {
            Box::new(known::<T, _>(radius::narrow(threads, &**engine, wanted, of_type::<T>())?)?)
        } else {
            Box::new(known::<T, _>(radius::wide(threads, &**engine, wanted, of_type::<T>())?)?)
        };
        let other = |_| Error::Unsupported { what: "a result".into(), why: "columns are u32 or u64".into() };
        found.downcast().map(|found| *found).map_err(other)
    }
}
