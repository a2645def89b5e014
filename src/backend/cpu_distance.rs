//! Distances and nearest neighbours with the threads and the budget of a [`Cpu`].

use super::neighbours::{All, Asked, DistanceBackend, Near, PreparedRows};
use crate::distance::{Float, Measure, Neighbours, Options, Question, Vectors};
use crate::sparse::Dense;
use crate::{Cpu, Csr, Index, Result};

impl Cpu {
    /// The nearest rows for each row of X: `cpu.neighbours(metric, &x).to(&y).k(10).eval()?`; [`Asked`] has the settings.
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
        let memory_budget = self.budget.into_iter().chain(question.options.memory_budget).min();
        let options = Options { memory_budget, ..question.options };
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
