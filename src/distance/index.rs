//! Rows of Y that are kept, to be asked as often as wanted.

pub(crate) mod file;

use std::sync::Arc;

use super::entries::RowsOf;
use super::float::{Float, Typed};
use super::measure::Measure;
use super::options::Options;
use super::question::Question;
use super::vectors::Vectors;
use super::way::{Given, KeptForm, engine_of_kept, keep};
use crate::par::Threads;
use crate::{Csr, Index, Result};

/// Rows of Y prepared for a measure and indexed by columns once, to be asked for neighbours as often as wanted: d(x, y)
/// for rows x that come later, m rows of Y.
///
/// Made by [`Cpu::index`](crate::Cpu::index), or [loaded](crate::Cpu::load_index). What is asked has the bits that
/// preparing both would give: [`knn`](Self::knn), [`radius`](Self::radius), [`rows`](Self::rows).
///
/// Cost: O(nnz(Y) + m log m) once; then of a row x the entries of Y in x's columns, Σ_{c∈x} |Y_c|, and the k
/// neighbours, where the measure tells in which order rows that share no column come ([`Apart`](super::Apart)), else
/// also m. Where x shares columns with most of Y, m too; if many rows have those columns, four rows x that are asked
/// together read each of them once. For very many rows x, and for a formula, tiles are opened as without an index.
/// Memory: 3 numbers and 2 indices an entry, about 40 bytes a row; and a sum for each row of Y and thread, or four.
///
/// Y is prepared anew for each question where that depends on X too: for Chebyshev, for a NAMM whose ⊕ is not +, and
/// where rows must be scaled or centred ([`Invariance`](super::Invariance)).
///
/// Source: the index is that of Gustavson 1978; see [`distance`](crate::distance).
pub struct NeighbourIndex<T, I: Index = u32> {
    measure: Arc<dyn Measure>,
    options: Options,
    y: Csr<T, I>,
    kept: Option<Typed<KeptForm>>,
}

impl<T, I: Index> std::fmt::Debug for NeighbourIndex<T, I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (m, k) = self.y.shape();
        write!(f, "{m} rows of {k} columns by {}: {:?}", self.measure.name(), self.options)
    }
}

impl<T: Float, I: Index> NeighbourIndex<T, I> {
    pub(crate) fn new(threads: &Threads, measure: Arc<dyn Measure>, y: Csr<T, I>, options: Options) -> Result<Self> {
        let question = Question { op: "an index of rows", measure: &*measure, options };
        question.check(y.shape(), Some(y.shape()))?;
        let (way, domain) = (measure.way(&options, T::TYPE)?, measure.domain());
        let kept = keep(threads, way, T::tell::<Given<'_>>(RowsOf::new(&y)?), domain, &options)?;
        Ok(Self { measure, options, y, kept })
    }
    /// Rows of X prepared to be compared with Y; of two budgets the smaller holds.
    pub(crate) fn ask<'a>(
        &'a self,
        threads: &'a Threads,
        budget: Option<u64>,
        x: &'a Csr<T, I>,
    ) -> Result<Vectors<'a, T, I>> {
        let memory_budget = budget.into_iter().chain(self.options.memory_budget).min();
        let options = Options { memory_budget, ..self.options };
        let question = Question { op: "neighbours", measure: &*self.measure, options };
        question.check(x.shape(), Some(self.y.shape()))?;
        if let Some(kept) = &self.kept {
            let x = T::tell::<Given<'a>>(RowsOf::new(x)?);
            if let Some(engine) = engine_of_kept(threads, kept, x, self.measure.domain(), &options)? {
                let similarity = self.measure.is_similarity();
                return Ok(Vectors::of_engine(threads, engine, similarity, memory_budget));
            }
        }
        Vectors::new(threads, &question, x, Some(&self.y))
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
    /// By what rows are compared.
    #[must_use]
    pub fn measure(&self) -> &dyn Measure {
        &*self.measure
    }
    /// The settings.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }
    /// Bytes that are kept beside Y, about; 0 where Y is prepared anew for each question.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.kept {
            Some(Typed::F32(kept)) => kept.bytes(),
            Some(Typed::F64(kept)) => kept.bytes(),
            None => 0,
        }
    }
}
