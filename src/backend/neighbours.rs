//! Distances and nearest neighbours as one chain on any machine:
//! `m.neighbours(metric, &x).to(&y).k(10).eval()?`, `m.distances(metric, &x).eval()?`.

use std::marker::PhantomData;

use crate::Result;
use crate::distance::{Float, Measure, Neighbours, Options, Precision, Question, Search};

/// A machine that compares the rows of matrices of type `A`, whose entries are of type `T`.
///
/// Every [`Backend`](super::Backend) compares its own matrices of f32 and of f64; [`Cpu`](crate::Cpu) any `Csr`, `Cuda`
/// also matrices of the host. What is computed is told in [`distance`](crate::distance).
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for rows of different lengths; [`Error::Argument`](crate::Error::Argument) for
/// an entry that the metric does not take, naming its row, and for `exclude_self` with Y;
/// [`Error::Budget`](crate::Error::Budget); [`Error::OutOfMemory`](crate::Error::OutOfMemory);
/// [`Error::Cancelled`](crate::Error::Cancelled); and what the machine itself may fail with.
pub trait DistanceBackend<T: Float, A> {
    /// All distances.
    type Distances;
    /// A sparse matrix of distances.
    type Graph;
    /// Rows of matrices that are prepared for a measure.
    type Rows<'a>: PreparedRows<T, Distances = Self::Distances, Graph = Self::Graph>
    where
        Self: 'a,
        A: 'a;

    /// Prepares the rows of X and Y, or of X alone.
    /// # Errors
    /// See [`DistanceBackend`].
    fn prepare<'a>(&'a self, question: &Question<'_>, x: &'a A, y: Option<&'a A>) -> Result<Self::Rows<'a>>;

    /// The `k` nearest rows. A machine may take rows in parts that it cannot prepare at once.
    /// # Errors
    /// See [`DistanceBackend`].
    fn nearest(&self, question: &Question<'_>, k: usize, x: &A, y: Option<&A>) -> Result<Neighbours<T>> {
        self.prepare(question, x, y)?.nearest(k)
    }
    /// All distances as a stream of blocks; what ran, and why. A machine may take rows in parts that it cannot prepare
    /// at once.
    /// # Errors
    /// See [`DistanceBackend`], and those of `each`.
    fn blocks(
        &self,
        question: &Question<'_>,
        rows: usize,
        x: &A,
        y: Option<&A>,
        each: &mut dyn FnMut(usize, &[T]) -> Result<()>,
    ) -> Result<String> {
        let prepared = self.prepare(question, x, y)?;
        prepared.blocks(rows, each)?;
        Ok(prepared.explain())
    }

    /// The nearest rows for each row of X: [`k`](Asked::k) of them, or those within a [`radius`](Asked::radius).
    fn neighbours<'a>(&'a self, measure: impl Measure + 'a, x: &'a A) -> Asked<'a, Self, T, A, Near> {
        Asked::new(self, "neighbours", measure, x, Near)
    }
    /// All distances from each row of X.
    fn distances<'a>(&'a self, measure: impl Measure + 'a, x: &'a A) -> Asked<'a, Self, T, A, All> {
        Asked::new(self, "distances", measure, x, All)
    }
}

/// Rows that are prepared for a measure, and what may be asked of them.
pub trait PreparedRows<T> {
    /// All distances.
    type Distances;
    /// A sparse matrix of distances.
    type Graph;
    /// What takes all distances: values row after row, or a matrix of the machine.
    type Out: ?Sized;
    /// Rows of X and of Y.
    fn shape(&self) -> (usize, usize);
    /// What runs, and why.
    fn explain(&self) -> String;
    /// All distances.
    /// # Errors
    /// See [`DistanceBackend`].
    fn all(&self) -> Result<Self::Distances>;
    /// All distances into memory that is there.
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Length`](crate::Error::Length) or [`Error::Shape`](crate::Error::Shape) if it
    /// is of another size.
    fn all_into(&self, out: &mut Self::Out) -> Result<()>;
    /// All distances, at most `rows` rows at a time: `each(first, distances)` gets those from row `first` on.
    /// # Errors
    /// See [`DistanceBackend`], and those of `each`.
    fn blocks(&self, rows: usize, each: &mut dyn FnMut(usize, &[T]) -> Result<()>) -> Result<()>;
    /// The `k` nearest rows, or as many as there are; rows at equal distance in order of their numbers, NaN behind all
    /// numbers.
    /// # Errors
    /// See [`DistanceBackend`].
    fn nearest(&self, k: usize) -> Result<Neighbours<T>>;
    /// Bytes that [`nearest`](Self::nearest) takes: what a budget is held against.
    fn nearest_bytes(&self, k: usize) -> u64;
    /// The rows at most `radius` away, for a similarity at least so near, with their distances.
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Argument`](crate::Error::Argument) for a radius that is NaN.
    fn within(&self, radius: f64) -> Result<Self::Graph>;
}

/// All distances are asked for.
#[derive(Clone, Copy, Debug)]
pub struct All;
/// Neighbours are asked for, by number or by radius.
#[derive(Clone, Copy, Debug)]
pub struct Near;
/// So many neighbours of each row are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Nearest(usize);
/// The rows within a radius are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Within(f64);

/// What is asked of the rows of matrices on the machine `B`: settings chained, ended by `eval`, `into` or `blocks`.
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
pub struct Asked<'a, B: ?Sized, T, A, W> {
    on: &'a B,
    op: &'static str,
    measure: Box<dyn Measure + 'a>,
    x: &'a A,
    y: Option<&'a A>,
    options: Options,
    wanted: W,
    _entries: PhantomData<T>,
}

impl<B: ?Sized, T, A, W: std::fmt::Debug> std::fmt::Debug for Asked<'_, B, T, A, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {} by {}: {:?}", self.wanted, self.op, self.measure.name(), self.options)
    }
}

impl<'a, B: ?Sized, T: Float, A, W> Asked<'a, B, T, A, W> {
    fn new(on: &'a B, op: &'static str, measure: impl Measure + 'a, x: &'a A, wanted: W) -> Self {
        let (measure, options) = (Box::new(measure), Options::default());
        Self { on, op, measure, x, y: None, options, wanted, _entries: PhantomData }
    }
    fn wanting<V>(self, wanted: V) -> Asked<'a, B, T, A, V> {
        let Self { on, op, measure, x, y, options, .. } = self;
        Asked { on, op, measure, x, y, options, wanted, _entries: PhantomData }
    }
    fn question(&self) -> Question<'_> {
        Question { op: self.op, measure: &*self.measure, options: self.options }
    }
    /// Compares with the rows of Y, where otherwise (or with `None`) those of X are compared among themselves.
    pub fn to(self, y: impl Into<Option<&'a A>>) -> Self {
        Self { y: y.into(), ..self }
    }
    /// Divides rows by their sums first, or not, for metrics that know it: [`Options::normalize`].
    pub fn normalize(mut self, normalize: bool) -> Self {
        self.options.normalize = Some(normalize);
        self
    }
    /// What is computed in.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.options.precision = precision;
        self
    }
    /// Bytes that results and scratch memory may take together; of several budgets the smallest holds.
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.options.memory_budget = Some(self.options.memory_budget.map_or(bytes, |b| b.min(bytes)));
        self
    }
    /// How neighbours are looked for: [`Options::search`].
    pub fn search(mut self, search: Search) -> Self {
        self.options.search = search;
        self
    }
    /// Skips the search for entries that the metric cannot take: [`Options::unchecked`].
    pub fn unchecked(mut self) -> Self {
        self.options.unchecked = true;
        self
    }
    /// All settings at once.
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }
    /// The rows prepared, for several tasks.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn prepare(self) -> Result<B::Rows<'a>>
    where
        B: DistanceBackend<T, A>,
    {
        self.on.prepare(&self.question(), self.x, self.y)
    }
    /// What would run, and why; prepares the rows.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn explain(self) -> Result<String>
    where
        B: DistanceBackend<T, A>,
    {
        Ok(self.prepare()?.explain())
    }
}

impl<'a, B: DistanceBackend<T, A> + ?Sized, T: Float, A> Asked<'a, B, T, A, All> {
    /// D(i, j) = d(X(i, :), Y(j, :)), a dense matrix of the machine.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn eval(self) -> Result<B::Distances> {
        self.prepare()?.all()
    }
    /// The same into memory that is there, row after row; what ran, and why.
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Length`](crate::Error::Length) or [`Error::Shape`](crate::Error::Shape) if it
    /// is of another size.
    pub fn into(self, out: &mut <B::Rows<'a> as PreparedRows<T>>::Out) -> Result<String> {
        let rows = self.prepare()?;
        rows.all_into(out)?;
        Ok(rows.explain())
    }
    /// The same as a stream: `each(first, distances)` gets the rows of the result from `first` on, row after row, at
    /// most `rows` of them at a time. Never holds more than one block. What ran, and why.
    /// # Errors
    /// See [`DistanceBackend`], and those of `each`.
    pub fn blocks(self, rows: usize, mut each: impl FnMut(usize, &[T]) -> Result<()>) -> Result<String> {
        self.on.blocks(&self.question(), rows, self.x, self.y, &mut each)
    }
}

/// What leaves rows out of their own neighbours.
pub trait AmongNeighbours {}
impl AmongNeighbours for Near {}
impl AmongNeighbours for Nearest {}
impl AmongNeighbours for Within {}

impl<B: ?Sized, T: Float, A, W: AmongNeighbours> Asked<'_, B, T, A, W> {
    /// Leaves each row out of its own neighbours. Only without Y.
    pub fn exclude_self(mut self) -> Self {
        self.options.exclude_self = true;
        self
    }
}

impl<'a, B: ?Sized, T: Float, A> Asked<'a, B, T, A, Near> {
    /// The `k` nearest rows for each row of X, or as many as there are.
    pub fn k(self, k: usize) -> Asked<'a, B, T, A, Nearest> {
        self.wanting(Nearest(k))
    }
    /// The rows at most `radius` away from each row of X, for a similarity those at least so near.
    pub fn radius(self, radius: f64) -> Asked<'a, B, T, A, Within> {
        self.wanting(Within(radius))
    }
}

impl<B: DistanceBackend<T, A> + ?Sized, T: Float, A> Asked<'_, B, T, A, Nearest> {
    /// The neighbours, nearest first; exact. Rows at equal distance come in order of their numbers, NaN behind all
    /// numbers. Never holds all distances: O(nnz(X) + nnz(Y) + n k) of memory.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn eval(self) -> Result<Neighbours<T>> {
        self.on.nearest(&self.question(), self.wanted.0, self.x, self.y)
    }
}

impl<B: DistanceBackend<T, A> + ?Sized, T: Float, A> Asked<'_, B, T, A, Within> {
    /// The neighbours as a sparse matrix of the machine: an entry for each, its value the distance, 0 too.
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Argument`](crate::Error::Argument) for a radius that is NaN.
    pub fn eval(self) -> Result<B::Graph> {
        let radius = self.wanted.0;
        self.prepare()?.within(radius)
    }
}
