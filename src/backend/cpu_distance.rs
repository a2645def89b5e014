//! Distances and nearest neighbours on [`Cpu`].

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::neighbours::{DistanceBackend, KnnOrRadius, Pairwise, PreparedRows, QueryBuilder};
#[cfg(doc)]
use crate::Error;
use crate::distance::{Float, Measure, NeighbourIndex, Neighbours, Options, QuerySpec, Vectors};
use crate::sparse::Dense;
use crate::{Cpu, Csr, Index, Result};

impl Cpu {
    /// The nearest rows for each row of X: `cpu.neighbours(metric, &x).to(&y).k(10).eval()?`; [`QueryBuilder`] has the
    /// settings.
    pub fn neighbours<'a, T: Float, I: Index>(
        &'a self,
        measure: impl Measure + 'a,
        x: &'a Csr<T, I>,
    ) -> QueryBuilder<'a, Self, T, Csr<T, I>, KnnOrRadius> {
        DistanceBackend::neighbours(self, measure, x)
    }
    /// All distances from each row of X: `cpu.distances(metric, &x).to(&y).eval()?`; [`QueryBuilder`] has the settings.
    pub fn distances<'a, T: Float, I: Index>(
        &'a self,
        measure: impl Measure + 'a,
        x: &'a Csr<T, I>,
    ) -> QueryBuilder<'a, Self, T, Csr<T, I>, Pairwise> {
        DistanceBackend::distances(self, measure, x)
    }
}

impl Cpu {
    /// Rows of Y prepared for a measure and indexed once, for any number of queries: see [`NeighbourIndex`].
    ///
    /// ```
    /// use sparring::{Cpu, Csr, distance::{Metric, Options}};
    /// let y = Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?;
    /// let cpu = Cpu::new();
    /// let index = cpu.index(Metric::Cosine, &y, Options::default())?;
    /// let x = Csr::<f64>::new(1, 2, vec![0, 1], vec![0], vec![3.0])?;
    /// assert_eq!(index.knn(&cpu, &x, 2)?.row(0).0, [0, 2]);
    /// assert_eq!(index.radius(&cpu, &x, 0.5)?.col_idx(), [0, 2]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Argument`] for `exclude_self`, which requires that X is Y.
    pub fn index<T: Float, I: Index>(
        &self,
        measure: impl Measure + 'static,
        y: &Csr<T, I>,
        options: Options,
    ) -> Result<NeighbourIndex<T, I>> {
        NeighbourIndex::new(self.threads(), Arc::new(measure), y.clone(), self.within_budget(options))
    }
    /// Loads an index [saved](NeighbourIndex::save) to a file.
    /// # Errors
    /// [`Error::Io`]; [`Error::Argument`] for a file that is not an index, is corrupt, or has other types; those of
    /// [`index`](Self::index).
    pub fn load_index<T: Float, I: Index>(&self, path: impl AsRef<Path>) -> Result<NeighbourIndex<T, I>> {
        NeighbourIndex::load(self.threads(), self.budget, path.as_ref())
    }
    /// Loads an index [written](NeighbourIndex::save_to) to a stream.
    /// # Errors
    /// Those of [`load_index`](Self::load_index).
    pub fn load_index_from<T: Float, I: Index>(&self, from: &mut dyn Read) -> Result<NeighbourIndex<T, I>> {
        NeighbourIndex::load_from(self.threads(), self.budget, from)
    }
    fn within_budget(&self, options: Options) -> Options {
        let memory_budget = self.budget.into_iter().chain(options.memory_budget).min();
        Options { memory_budget, ..options }
    }
}

impl<T: Float, I: Index> NeighbourIndex<T, I> {
    /// The `k` nearest rows of Y for each row of X; bitwise identical to
    /// `cpu.neighbours(measure, &x).to(&y).k(k).eval()`.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn knn(&self, cpu: &Cpu, x: &Csr<T, I>, k: usize) -> Result<Neighbours<T>> {
        self.rows(cpu, x)?.nearest(k)
    }
    /// The rows of Y within `radius` of each row of X; bitwise identical to
    /// `cpu.neighbours(measure, &x).to(&y).radius(radius).eval()`.
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Argument`] for a NaN radius.
    pub fn radius(&self, cpu: &Cpu, x: &Csr<T, I>, radius: f64) -> Result<Csr<T, I>> {
        self.rows(cpu, x)?.within(radius)
    }
    /// Rows of X prepared for comparison with Y, for several queries.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn rows<'a>(&'a self, cpu: &'a Cpu, x: &'a Csr<T, I>) -> Result<Vectors<'a, T, I>> {
        self.ask(cpu.threads(), cpu.budget(), x)
    }
}

/// The memory budget is the smaller one of [`Cpu::memory_budget`] and [`Options::memory_budget`].
impl<T: Float, I: Index> DistanceBackend<T, Csr<T, I>> for Cpu {
    type Distances = Dense<T>;
    type Graph = Csr<T, I>;
    type Rows<'a> = Vectors<'a, T, I>;

    fn prepare<'a>(
        &'a self,
        query: &QuerySpec<'_>,
        x: &'a Csr<T, I>,
        y: Option<&'a Csr<T, I>>,
    ) -> Result<Vectors<'a, T, I>> {
        let options = self.within_budget(query.options);
        Vectors::new(self.threads(), &QuerySpec { options, ..*query }, x, y)
    }
}

impl<T: Float, I: Index> PreparedRows<T> for Vectors<'_, T, I> {
    type Distances = Dense<T>;
    type Graph = Csr<T, I>;
    type Out = [T];

    fn shape(&self) -> (usize, usize) {
        self.shape()
    }
    fn explain(&self) -> String {
        self.explain()
    }
    fn all(&self) -> Result<Dense<T>> {
        self.all()
    }
    fn all_into(&self, out: &mut [T]) -> Result<()> {
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
    fn within(&self, radius: f64) -> Result<Csr<T, I>> {
        self.within(radius)
    }
}
