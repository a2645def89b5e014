//! Rows prepared for a measure, for several tasks.

use std::marker::PhantomData;

use super::engine::Engine;
use super::rows::Checked;
use super::{Build, Measure, Neighbours, Options, comparable, knn, pairwise, radius};
use crate::algebra::Real;
use crate::par::Threads;
use crate::sparse::Dense;
use crate::{Csr, Error, Index, Result};

/// The rows of X and Y, or of X alone, checked and prepared for a measure; what is asked of them next does not prepare again.
///
/// Borrows the matrices where they can be used as they are: f64 entries without zeros, 32-bit columns in order. Memory: a prepared
/// copy of the entries, and two norms a row.
///
/// ```
/// use sparring::distance::{Metric, Vectors};
/// use sparring::{Csr, par::Threads};
/// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?;
/// let threads = Threads::current();
/// let rows = Vectors::new(&threads, Metric::Cosine, &x, None, &Default::default())?;
/// println!("{}; two neighbours of each row take {} bytes", rows.explain(), rows.knn_bytes(2));
/// assert_eq!(rows.knn(2)?.row(0).0, [0, 2]);
/// assert_eq!(rows.radius::<u32>(0.5)?.nnz(), 5);
/// # Ok::<(), sparring::Error>(())
/// ```
pub struct Vectors<'a, T> {
    threads: &'a Threads,
    engine: Box<dyn Engine + 'a>,
    similarity: bool,
    exclude_self: bool,
    budget: Option<u64>,
    _entries: PhantomData<T>,
}

impl<'a, T: Real> Vectors<'a, T> {
    /// Prepares rows; without `y` those of `x` are compared among themselves.
    /// # Errors
    /// [`Error::Shape`]; [`Error::Argument`] for an entry outside the metric's domain and for `exclude_self` with Y;
    /// [`Error::OutOfMemory`].
    pub fn new<I: Index>(
        threads: &'a Threads,
        measure: impl Measure,
        x: &'a Csr<T, I>,
        y: Option<&'a Csr<T, I>>,
        options: &Options,
    ) -> Result<Self> {
        comparable("distances", x.shape(), y.map(Csr::shape), options)?;
        let checked = |a: &'a Csr<T, I>| Checked::new(threads, a, measure.domain(), options.unchecked);
        let build = Build { threads, x: checked(x)?, y: y.map(checked).transpose()?, finite: !options.unchecked };
        Ok(Self {
            threads,
            engine: measure.visit::<T, _>(options, build)??,
            similarity: measure.is_similarity(),
            exclude_self: options.exclude_self,
            budget: options.memory_budget,
            _entries: PhantomData,
        })
    }
    /// Rows of X and of Y.
    pub fn nrows(&self) -> (usize, usize) {
        self.engine.nrows()
    }
    /// What runs, and why.
    pub fn explain(&self) -> String {
        self.engine.explain()
    }
    /// As [`pairwise`](super::pairwise()).
    /// # Errors
    /// Those of [`pairwise`](super::pairwise()).
    pub fn pairwise(&self) -> Result<Dense<T>> {
        let (n, m) = self.nrows();
        self.places(n)?;
        let mut result = Dense::filled(n, m, T::ZERO)?;
        self.pairwise_into(result.values_mut())?;
        Ok(result)
    }
    /// As [`pairwise_into`](super::pairwise_into).
    /// # Errors
    /// Those of [`pairwise_into`](super::pairwise_into).
    pub fn pairwise_into(&self, out: &mut [T]) -> Result<String> {
        let n = self.nrows().0;
        let expected = self.places(n)?;
        if out.len() != expected {
            return Err(Error::Length { what: "distances", found: out.len(), expected });
        }
        pairwise::fill(self.threads, &*self.engine, 0..n, out)?;
        Ok(self.explain())
    }
    /// As [`pairwise_blocks`](super::pairwise_blocks).
    /// # Errors
    /// Those of [`pairwise_blocks`](super::pairwise_blocks).
    pub fn pairwise_blocks(&self, rows: usize, mut block: impl FnMut(usize, &[T]) -> Result<()>) -> Result<String> {
        let (n, m) = self.nrows();
        let rows = rows.clamp(1, n.max(1));
        self.places(rows)?;
        let mut strip = Dense::filled(rows, m, T::ZERO)?;
        for first in (0..n).step_by(rows) {
            let here = first..(first + rows).min(n);
            let strip = &mut strip.values_mut()[..here.len() * m];
            pairwise::fill(self.threads, &*self.engine, here, strip)?;
            block(first, strip)?;
        }
        Ok(self.explain())
    }
    /// Places of so many rows of distances, which with the scratch memory must be within the budget.
    fn places(&self, rows: usize) -> Result<usize> {
        let scratch = pairwise::scratch(self.threads, &*self.engine, size_of::<T>());
        pairwise::places::<T>(rows, self.nrows().1, self.budget, scratch)
    }
    /// As [`knn`](super::knn()).
    /// # Errors
    /// Those of [`knn`](super::knn()).
    pub fn knn(&self, k: usize) -> Result<Neighbours<T>> {
        knn::search(self.threads, &*self.engine, k, self.exclude_self, self.budget)
    }
    /// Bytes that [`knn`](Self::knn) takes beside these rows: what a budget is held against.
    pub fn knn_bytes(&self, k: usize) -> u64 {
        knn::bytes(self.threads, &*self.engine, k, size_of::<T>(), self.exclude_self, self.budget)
    }
    /// As [`radius`](super::radius()).
    /// # Errors
    /// Those of [`radius`](super::radius()).
    pub fn radius<I: Index>(&self, radius: f64) -> Result<Csr<T, I>> {
        if radius.is_nan() {
            return Err(Error::Argument { name: "radius", message: "it is NaN".into() });
        }
        radius::within(self.threads, &*self.engine, self.similarity, radius, self.exclude_self, self.budget)
    }
}
