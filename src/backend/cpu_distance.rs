//! Distances and nearest neighbours with the threads and the budget of a [`Cpu`].

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::neighbours::{All, Asked, DistanceBackend, Near, PreparedRows};
#[cfg(doc)]
use crate::Error;
use crate::distance::{Float, Measure, NeighbourIndex, Neighbours, Options, Question, Vectors};
use crate::sparse::Dense;
use crate::{Cpu, Csr, Index, Result};

impl Cpu {
    /// The nearest rows for each row of X: `cpu.neighbours(metric, &x).to(&y).k(10).eval()?`; [`Asked`] has the
    /// settings.
    pub fn neighbours<'a, T: Float, I: Index>(
        &'a self,
        measure: impl Measure + 'a,
        x: &'a Csr<T, I>,
    ) -> Asked<'a, Self, T, Csr<T, I>, Near> {
        DistanceBackend::neighbours(self, measure, x)
    }
    /// All distances from each row of X: `cpu.distances(metric, &x).to(&y).eval()?`; [`Asked`] has the settings.
    pub fn distances<'a, T: Float, I: Index>(
        &'a self,
        measure: impl Measure + 'a,
        x: &'a Csr<T, I>,
    ) -> Asked<'a, Self, T, Csr<T, I>, All> {
        DistanceBackend::distances(self, measure, x)
    }
}

impl Cpu {
    /// Rows of Y prepared for a measure and indexed once, to be asked as often as wanted: see [`NeighbourIndex`].
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
    /// See [`DistanceBackend`]; [`Error::Argument`] for `exclude_self`, which is for the rows of one matrix.
    pub fn index<T: Float, I: Index>(
        &self,
        measure: impl Measure + 'static,
        y: &Csr<T, I>,
        options: Options,
    ) -> Result<NeighbourIndex<T, I>> {
        NeighbourIndex::new(self.threads(), Arc::new(measure), y.clone(), self.within_budget(options))
    }
    /// The index that was [saved](NeighbourIndex::save) to a file.
    /// # Errors
    /// [`Error::Io`]; [`Error::Argument`] for a file that is no index, is damaged, or of other types; those of
    /// [`index`](Self::index).
    pub fn load_index<T: Float, I: Index>(&self, path: impl AsRef<Path>) -> Result<NeighbourIndex<T, I>> {
        NeighbourIndex::load(self.threads(), self.budget, path.as_ref())
    }
    /// The index that was [written](NeighbourIndex::save_to).
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
    /// The `k` nearest rows of Y for each row of X: the bits of `cpu.neighbours(measure, &x).to(&y).k(k).eval()`.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn knn(&self, cpu: &Cpu, x: &Csr<T, I>, k: usize) -> Result<Neighbours<T>> {
        self.rows(cpu, x)?.nearest(k)
    }
    /// The rows of Y at most `radius` away from each row of X: the bits of
    /// `cpu.neighbours(measure, &x).to(&y).radius(radius).eval()`.
    /// # Errors
    /// See [`DistanceBackend`]; [`Error::Argument`] for a radius that is NaN.
    pub fn radius(&self, cpu: &Cpu, x: &Csr<T, I>, radius: f64) -> Result<Csr<T, I>> {
        self.rows(cpu, x)?.within(radius)
    }
    /// Rows of X prepared to be compared with Y, for several tasks.
    /// # Errors
    /// See [`DistanceBackend`].
    pub fn rows<'a>(&'a self, cpu: &'a Cpu, x: &'a Csr<T, I>) -> Result<Vectors<'a, T, I>> {
        self.ask(cpu.threads(), cpu.budget(), x)
    }
}

/// Of two memory budgets, this value's and [`Options::memory_budget`], the smaller one holds.
impl<T: Float, I: Index> DistanceBackend<T, Csr<T, I>> for Cpu {
    type Distances = Dense<T>;
    type Graph = Csr<T, I>;
    type Rows<'a> = Vectors<'a, T, I>;

    fn prepare<'a>(
        &'a self,
        question: &Question<'_>,
        x: &'a Csr<T, I>,
        y: Option<&'a Csr<T, I>>,
    ) -> Result<Vectors<'a, T, I>> {
        let options = self.within_budget(question.options);
        Vectors::new(self.threads(), &Question { options, ..*question }, x, y)
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
