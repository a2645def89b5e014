//! Distances and nearest neighbours with the threads and the budget of a [`Cpu`].

use crate::algebra::Real;
use crate::distance::{self, Measure, Neighbours, Options};
use crate::sparse::Dense;
use crate::{Cpu, Csr, Index, Result};

/// The functions of [`distance`] of the same names, which say what each computes, takes and refuses. Of two memory budgets,
/// this value's and [`Options::memory_budget`], the smaller one holds.
impl Cpu {
    /// These options, with the budget of this value.
    fn within(&self, options: &Options) -> Options {
        Options { memory_budget: self.budget.into_iter().chain(options.memory_budget).min(), ..*options }
    }
    /// All distances: [`distance::pairwise`].
    /// # Errors
    /// Those of [`distance::pairwise`].
    pub fn pairwise<T: Real, I: Index>(
        &self,
        measure: impl Measure,
        x: &Csr<T, I>,
        y: Option<&Csr<T, I>>,
        options: &Options,
    ) -> Result<Dense<T>> {
        distance::pairwise(self.threads(), measure, x, y, &self.within(options))
    }
    /// All distances into memory of the caller's; what ran, and why: [`distance::pairwise_into`].
    /// # Errors
    /// Those of [`distance::pairwise_into`].
    pub fn pairwise_into<T: Real, I: Index>(
        &self,
        measure: impl Measure,
        x: &Csr<T, I>,
        y: Option<&Csr<T, I>>,
        options: &Options,
        out: &mut [T],
    ) -> Result<String> {
        distance::pairwise_into(self.threads(), measure, x, y, &self.within(options), out)
    }
    /// All distances as a stream of blocks of rows; what ran, and why: [`distance::pairwise_blocks`].
    /// # Errors
    /// Those of [`distance::pairwise_blocks`].
    pub fn pairwise_blocks<T: Real, I: Index>(
        &self,
        measure: impl Measure,
        x: &Csr<T, I>,
        y: Option<&Csr<T, I>>,
        options: &Options,
        rows: usize,
        block: impl FnMut(usize, &[T]) -> Result<()>,
    ) -> Result<String> {
        distance::pairwise_blocks(self.threads(), measure, x, y, &self.within(options), rows, block)
    }
    /// The `k` nearest rows of each row: [`distance::knn`].
    /// # Errors
    /// Those of [`distance::knn`].
    /// # Example
    /// ```
    /// use sparring::{Cpu, Csr, distance::Metric};
    /// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?;
    /// let cpu = Cpu::with_threads(2)?.memory_budget(1 << 20);
    /// assert_eq!(cpu.knn(Metric::Cosine, 2, &x, None, &Default::default())?.row(0).0, [0, 2]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn knn<T: Real, I: Index>(
        &self,
        measure: impl Measure,
        k: usize,
        x: &Csr<T, I>,
        y: Option<&Csr<T, I>>,
        options: &Options,
    ) -> Result<Neighbours<T>> {
        distance::knn(self.threads(), measure, k, x, y, &self.within(options))
    }
    /// The rows prepared, for several tasks: [`distance::Vectors`].
    /// # Errors
    /// Those of [`distance::Vectors::new`].
    pub fn vectors<'a, T: Real, I: Index>(
        &'a self,
        measure: impl Measure,
        x: &'a Csr<T, I>,
        y: Option<&'a Csr<T, I>>,
        options: &Options,
    ) -> Result<distance::Vectors<'a, T>> {
        distance::Vectors::new(self.threads(), measure, x, y, &self.within(options))
    }
    /// The rows within a radius of each row, a sparse matrix: [`distance::radius`].
    /// # Errors
    /// Those of [`distance::radius`].
    pub fn radius<T: Real, I: Index>(
        &self,
        measure: impl Measure,
        radius: f64,
        x: &Csr<T, I>,
        y: Option<&Csr<T, I>>,
        options: &Options,
    ) -> Result<Csr<T, I>> {
        distance::radius(self.threads(), measure, radius, x, y, &self.within(options))
    }
}
