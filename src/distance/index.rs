//! Rows of Y prepared once, for any number of queries.

pub(crate) mod file;

use std::sync::Arc;

use super::compiled::{OneMatrix, PreparedIndexForm, engine_of_index, prepare_index};
use super::entries::RowsOf;
use super::float::{Float, Typed};
use super::measure::Measure;
use super::options::Options;
use super::query_spec::QuerySpec;
use super::vectors::Vectors;
use crate::par::Threads;
use crate::{Csr, Index, Result};

/// Rows of Y prepared for a measure and indexed by column once, for any number of neighbour queries by rows x that are
/// given later.
///
/// Built by [`Cpu::index`](crate::Cpu::index), or [loaded](crate::Cpu::load_index). Results of [`knn`](Self::knn),
/// [`radius`](Self::radius) and [`rows`](Self::rows) are bitwise those of preparing both matrices together.
///
/// Cost: O(nnz(Y) + m log m) once, for m rows of Y. A query by a row x then reads the entries of Y in x's columns,
/// Σ_{c∈x} |Y_c|, and its k neighbours, provided that the measure determines the order of rows that share no column
/// ([`DisjointOrder`](super::DisjointOrder)). Otherwise, and where x shares columns with most of Y, it also takes O(m).
/// If many rows of Y have those columns, four rows x query together and read each column once. For very many rows x,
/// and for a formula, tiles are opened as without an index. Memory: 3 numbers and 2 indices per entry, about 40 bytes
/// per row, and for each thread one sum, or four, per row of Y.
///
/// Y is prepared again for each query where preparation also depends on X: for Chebyshev, for a NAMM whose ⊕ is not +,
/// and where rows must be scaled or centred ([`Invariance`](super::Invariance)).
///
/// Source: the index is that of Gustavson 1978; see [`distance`](crate::distance).
pub struct NeighbourIndex<T, I: Index = u32> {
    measure: Arc<dyn Measure>,
    options: Options,
    y: Csr<T, I>,
    index: Option<Typed<PreparedIndexForm>>,
}

impl<T, I: Index> std::fmt::Debug for NeighbourIndex<T, I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (m, k) = self.y.shape();
        write!(f, "{m} rows of {k} columns by {}: {:?}", self.measure.name(), self.options)
    }
}

impl<T: Float, I: Index> NeighbourIndex<T, I> {
    pub(crate) fn new(threads: &Threads, measure: Arc<dyn Measure>, y: Csr<T, I>, options: Options) -> Result<Self> {
        let spec = QuerySpec { op: "an index of rows", measure: &*measure, options };
        spec.check(y.shape(), Some(y.shape()))?;
        let (strategy, domain) = (measure.strategy(&options, T::TYPE)?, measure.domain());
        let index =
            prepare_index(threads, strategy, T::into_typed::<OneMatrix<'_>>(RowsOf::new(&y)?), domain, &options)?;
        Ok(Self { measure, options, y, index })
    }
    /// Rows of X prepared to be compared with Y; the smaller of the two budgets applies.
    pub(crate) fn ask<'a>(
        &'a self,
        threads: &'a Threads,
        budget: Option<u64>,
        x: &'a Csr<T, I>,
    ) -> Result<Vectors<'a, T, I>> {
        let memory_budget = budget.into_iter().chain(self.options.memory_budget).min();
        let options = Options { memory_budget, ..self.options };
        let spec = QuerySpec { op: "neighbours", measure: &*self.measure, options };
        spec.check(x.shape(), Some(self.y.shape()))?;
        if let Some(index) = &self.index {
            let x = T::into_typed::<OneMatrix<'a>>(RowsOf::new(x)?);
            if let Some(engine) = engine_of_index(threads, index, x, self.measure.domain(), &options)? {
                let similarity = self.measure.is_similarity();
                return Ok(Vectors::of_engine(threads, engine, similarity, memory_budget));
            }
        }
        Vectors::new(threads, &spec, x, Some(&self.y))
    }
    /// Rows and columns of Y.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.y.shape()
    }
    /// Y, as it was given.
    #[must_use]
    pub fn matrix(&self) -> &Csr<T, I> {
        &self.y
    }
    /// The measure.
    #[must_use]
    pub fn measure(&self) -> &dyn Measure {
        &*self.measure
    }
    /// The settings.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }
    /// Bytes of the index besides Y, about; 0 where Y is prepared again for each query.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.index {
            Some(Typed::F32(index)) => index.bytes(),
            Some(Typed::F64(index)) => index.bytes(),
            None => 0,
        }
    }
}
