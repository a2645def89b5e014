//! Query builders for distances and nearest neighbours on any backend:
//! `m.neighbours(metric, &x).to(&y).k(10).eval()?`, `m.distances(metric, &x).eval()?`.

use std::marker::PhantomData;

use crate::Result;
use crate::distance::{Float, Measure, Neighbours, Options, Precision, QuerySpec, Search};

/// A backend that compares the rows of matrices of type `A` with values of type `T`.
///
/// Every [`Backend`](super::Backend) compares its own matrices of f32 and f64; [`Cpu`](crate::Cpu) any `Csr`, `Cuda`
/// host matrices too. The module [`distance`](crate::distance) documents the distances.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for rows of different lengths; [`Error::Argument`](crate::Error::Argument) for
/// an entry outside the domain of the metric, with its row, and for `exclude_self` with Y;
/// [`Error::Budget`](crate::Error::Budget); [`Error::OutOfMemory`](crate::Error::OutOfMemory);
/// [`Error::Cancelled`](crate::Error::Cancelled); and errors of the backend itself.
pub trait DistanceBackend<T: Float, A> {
    /// The matrix of all distances.
    type Distances;
    /// A sparse matrix of distances.
    type Graph;
    /// Rows of matrices, prepared for a measure.
    type Rows<'a>: PreparedRows<T, Distances = Self::Distances, Graph = Self::Graph>
    where
        Self: 'a,
        A: 'a;

    /// Prepares the rows of X and Y, or of X alone.
    /// # Errors
    /// See [`DistanceBackend`].
    fn prepare<'a>(&'a self, query: &QuerySpec<'_>, x: &'a A, y: Option<&'a A>) -> Result<Self::Rows<'a>>;

    /// The `k` nearest rows. A backend may process rows in parts if it cannot prepare all of them at once.
    /// # Errors
    /// See [`DistanceBackend`].
    fn nearest(&self, query: &QuerySpec<'_>, k: usize, x: &A, y: Option<&A>) -> Result<Neighbours<T>> {
        self.prepare(query, x, y)?.nearest(k)
    }
    /// All distances as a stream of blocks; returns a description of the computation. A backend may process rows in
    /// parts if it cannot prepare all of them at once.
    /// # Errors
    /// See [`DistanceBackend`], and those of `each`.
    fn blocks(
        &self,
        query: &QuerySpec<'_>,
        rows: usize,
        x: &A,
        y: Option<&A>,
        each: &mut dyn FnMut(usize, &[T]) -> Result<()>,
    ) -> Result<String> {
        let prepared = self.prepare(query, x, y)?;
        prepared.blocks(rows, each)?;
        Ok(prepared.explain())
    }

    /// The nearest rows for each row of X: [`k`](QueryBuilder::k) of them, or those within a
    /// [`radius`](QueryBuilder::radius).
    fn neighbours<'a>(&'a self, measure: impl Measure + 'a, x: &'a A) -> QueryBuilder<'a, Self, T, A, KnnOrRadius> {
        QueryBuilder::new(self, "neighbours", measure, x, KnnOrRadius)
    }
    /// All distances from each row of X.
    fn distances<'a>(&'a self, measure: impl Measure + 'a, x: &'a A) -> QueryBuilder<'a, Self, T, A, Pairwise> {
        QueryBuilder::new(self, "distances", measure, x, Pairwise)
    }
}

/// Rows prepared for a measure, ready for queries.
pub trait PreparedRows<T> {
    /// The matrix of all distances.
    type Distances;
    /// A sparse matrix of distances.
    type Graph;
    /// Existing memory for all distances: row-major values, or a matrix of the backend.
    type Out: ?Sized;
    /// Numbers of rows of X and of Y.
    fn shape(&self) -> (usize, usize);
    /// A description of the chosen algorithm, with reasons.
    fn explain(&self) -> String;
    /// All distances.
    /// # Errors
    /// See [`DistanceBackend`].
    fn all(&self) -> Result<Self::Distances>;
    /// All distances, written into existing memory.
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Length`](crate::Error::Length) or [`Error::Shape`](crate::Error::Shape) if it
    /// is of another size.
    fn all_into(&self, out: &mut Self::Out) -> Result<()>;
    /// All distances, at most `rows` rows at a time: `each(first, distances)` receives those from row `first` on.
    /// # Errors
    /// See [`DistanceBackend`], and those of `each`.
    fn blocks(&self, rows: usize, each: &mut dyn FnMut(usize, &[T]) -> Result<()>) -> Result<()>;
    /// The `k` nearest rows, or all if there are fewer; ties are ordered by row index, NaN ranks last.
    /// # Errors
    /// See [`DistanceBackend`].
    fn nearest(&self, k: usize) -> Result<Neighbours<T>>;
    /// Memory of [`nearest`](Self::nearest) in bytes, as compared with the budget.
    fn nearest_bytes(&self, k: usize) -> u64;
    /// The rows at distance at most `radius` (or similarity at least `radius`), with their distances.
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Argument`](crate::Error::Argument) for a NaN radius.
    fn within(&self, radius: f64) -> Result<Self::Graph>;
}

/// A query for all pairwise distances.
#[derive(Clone, Copy, Debug)]
pub struct Pairwise;
/// A query for neighbours, before the choice of `k` or a radius.
#[derive(Clone, Copy, Debug)]
pub struct KnnOrRadius;
/// A query for the k nearest neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Knn(usize);
/// A query for the rows within a radius.
#[derive(Clone, Copy, Debug)]
pub struct Radius(f64);

/// A query builder on the backend `B`: chained settings, run by `eval`, `into` or `blocks`.
///
/// ```
/// use sparring::{Cpu, Csr, distance::Metric};
/// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?;
/// let cpu = Cpu::with_threads(2)?.memory_budget(1 << 20);
/// assert_eq!(cpu.neighbours(Metric::Cosine, &x).k(2).eval()?.row(0).0, [0, 2]);
/// assert_eq!(cpu.neighbours(Metric::Cosine, &x).exclude_self().k(1).eval()?.row(0).0, [2]);
/// assert_eq!(cpu.neighbours(Metric::Cosine, &x).to(&x).radius(0.5).eval()?.nnz(), 5);
/// assert_eq!(cpu.distances(Metric::Manhattan, &x).eval()?.row(0), [0.0, 2.0, 2.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[must_use = "nothing is computed before `eval`, `into`, `blocks` or `prepare`"]
pub struct QueryBuilder<'a, B: ?Sized, T, A, W> {
    on: &'a B,
    op: &'static str,
    measure: Box<dyn Measure + 'a>,
    x: &'a A,
    y: Option<&'a A>,
    options: Options,
    task: W,
    _entries: PhantomData<T>,
}

impl<B: ?Sized, T, A, W: std::fmt::Debug> std::fmt::Debug for QueryBuilder<'_, B, T, A, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {} by {}: {:?}", self.task, self.op, self.measure.name(), self.options)
    }
}

impl<'a, B: ?Sized, T: Float, A, W> QueryBuilder<'a, B, T, A, W> {
    fn new(on: &'a B, op: &'static str, measure: impl Measure + 'a, x: &'a A, task: W) -> Self {
        let (measure, options) = (Box::new(measure), Options::default());
        Self { on, op, measure, x, y: None, options, task, _entries: PhantomData }
    }
    fn with_task<V>(self, task: V) -> QueryBuilder<'a, B, T, A, V> {
        let Self { on, op, measure, x, y, options, .. } = self;
        QueryBuilder { on, op, measure, x, y, options, task, _entries: PhantomData }
    }
    fn query(&self) -> QuerySpec<'_> {
        QuerySpec { op: self.op, measure: &*self.measure, options: self.options }
    }
    /// Compares with the rows of Y; by default (or with `None`) the rows of X are compared among themselves.
    pub fn to(self, y: impl Into<Option<&'a A>>) -> Self {
        Self { y: y.into(), ..self }
    }
    /// Whether rows are first divided by their sums, for metrics with this option: [`Options::normalize`].
    pub fn normalize(mut self, normalize: bool) -> Self {
        self.options.normalize = Some(normalize);
        self
    }
    /// Precision of the computation.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.options.precision = precision;
        self
    }
    /// Memory budget in bytes for results and scratch memory; the smallest of several budgets applies.
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.options.memory_budget = Some(self.options.memory_budget.map_or(bytes, |b| b.min(bytes)));
        self
    }
    /// The search algorithm: [`Options::search`].
    pub fn search(mut self, search: Search) -> Self {
        self.options.search = search;
        self
    }
    /// Skips the check for entries outside the domain of the metric: [`Options::unchecked`].
    pub fn unchecked(mut self) -> Self {
        self.options.unchecked = true;
        self
    }
    /// All settings at once.
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }
    /// Prepares the rows, for several queries.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn prepare(self) -> Result<B::Rows<'a>>
    where
        B: DistanceBackend<T, A>,
    {
        self.on.prepare(&self.query(), self.x, self.y)
    }
    /// A description of the algorithm that would run, with reasons; prepares the rows.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn explain(self) -> Result<String>
    where
        B: DistanceBackend<T, A>,
    {
        Ok(self.prepare()?.explain())
    }
}

impl<'a, B: DistanceBackend<T, A> + ?Sized, T: Float, A> QueryBuilder<'a, B, T, A, Pairwise> {
    /// D(i, j) = d(X(i, :), Y(j, :)), a dense matrix of the backend.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn eval(self) -> Result<B::Distances> {
        self.prepare()?.all()
    }
    /// Writes all distances into existing memory, in row-major order; returns a description of the computation.
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Length`](crate::Error::Length) or [`Error::Shape`](crate::Error::Shape) if it
    /// is of another size.
    pub fn into(self, out: &mut <B::Rows<'a> as PreparedRows<T>>::Out) -> Result<String> {
        let rows = self.prepare()?;
        rows.all_into(out)?;
        Ok(rows.explain())
    }
    /// Streams all distances: `each(first, distances)` receives the rows of the result from `first` on, in row-major
    /// order, at most `rows` at a time. Only one block is in memory. Returns a description of the computation.
    /// # Errors
    /// See [`DistanceBackend`], and those of `each`.
    pub fn blocks(self, rows: usize, mut each: impl FnMut(usize, &[T]) -> Result<()>) -> Result<String> {
        self.on.blocks(&self.query(), rows, self.x, self.y, &mut each)
    }
}

/// A query whose results may exclude the row itself.
pub trait NeighbourQuery {}
impl NeighbourQuery for KnnOrRadius {}
impl NeighbourQuery for Knn {}
impl NeighbourQuery for Radius {}

impl<B: ?Sized, T: Float, A, W: NeighbourQuery> QueryBuilder<'_, B, T, A, W> {
    /// Excludes each row from its own neighbours. Only valid without Y.
    pub fn exclude_self(mut self) -> Self {
        self.options.exclude_self = true;
        self
    }
}

impl<'a, B: ?Sized, T: Float, A> QueryBuilder<'a, B, T, A, KnnOrRadius> {
    /// The `k` nearest rows for each row of X, or all if there are fewer.
    pub fn k(self, k: usize) -> QueryBuilder<'a, B, T, A, Knn> {
        self.with_task(Knn(k))
    }
    /// The rows at distance at most `radius` (or similarity at least `radius`) from each row of X.
    pub fn radius(self, radius: f64) -> QueryBuilder<'a, B, T, A, Radius> {
        self.with_task(Radius(radius))
    }
}

impl<B: DistanceBackend<T, A> + ?Sized, T: Float, A> QueryBuilder<'_, B, T, A, Knn> {
    /// The exact nearest neighbours, nearest first. Ties are ordered by row index, NaN ranks last. The distance matrix
    /// is never stored: O(nnz(X) + nnz(Y) + n k) memory.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn eval(self) -> Result<Neighbours<T>> {
        self.on.nearest(&self.query(), self.task.0, self.x, self.y)
    }
}

impl<B: DistanceBackend<T, A> + ?Sized, T: Float, A> QueryBuilder<'_, B, T, A, Radius> {
    /// The neighbours as a sparse matrix of the backend; each entry is a distance, which may be 0.
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Argument`](crate::Error::Argument) for a NaN radius.
    pub fn eval(self) -> Result<B::Graph> {
        let radius = self.task.0;
        self.prepare()?.within(radius)
    }
}
