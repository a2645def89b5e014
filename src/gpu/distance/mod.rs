//! Distances and nearest neighbours between the rows of sparse matrices on the device.
//!
//! A measure whose ⊕ is + takes one pass over the columns that two rows share (see
//! [`Recipe`](crate::distance::Recipe)). Rows are prepared on the device, Y is indexed by columns, and a warp folds one
//! row of X into sums for a tile of rows of Y, in shared memory. Norms, the exact sum of close pairs, the finalizer and
//! the neighbour lists follow while the tile is resident. Results are reproducible: the sums of a pair are folded in
//! column order, as on the CPU; norms and exact sums are trees whose shape depends only on the lengths of the rows.
//! Chebyshev works the same way: of the columns that only one row has, only the largest entry matters.
//!
//! Where few pairs share a column ([`Search`](crate::distance::Search)), those pairs are the pattern of a product,
//! X·Yᵀ, whose values are the sums. A warp takes the keys of a row's entries into its list, then as many other rows as
//! needed in order of their norms. Time is O(Σ_c |X_c| |Y_c|) instead of O(n·m); memory is 12 to 20 bytes per such
//! pair.
//!
//! A user-defined NAMM whose ⊕ is not + takes the two passes of [`union_mxm`](Cuda::union_mxm), for one block of rows
//! of X at a time. The block is a dense matrix, from which distances, neighbour lists or the pairs within a radius are
//! read. Results have the CPU's bits where ⊕ is exact (max, min, or). Otherwise the fold order differs, and depends on
//! the device and on the block.
//!
//! Neighbours, and distances in blocks, also work where rows do not fit the device or
//! [`Options::memory_budget`](crate::distance::Options::memory_budget). X is then processed in blocks and Y in parts,
//! and the lists are merged, with the same bits.

mod algorithm;
mod blocks;
mod engine;
mod given;
mod index;
mod order;
mod pairs;
mod pass;
mod rows;
mod shared;
mod stream;
mod tiles;
mod vectors;

pub use index::DeviceIndex;
pub use vectors::DeviceVectors;

use algorithm::Algorithm;
use given::{Given, Of, Source, Wanted};
use pass::Pass;
use vectors::Prepared;

use super::csr::Operand;
use super::jit::Unit;
use super::{Cuda, DeviceCsr, DeviceDense};
use crate::algebra::Type;
use crate::backend::{DistanceBackend, KnnOrRadius, Pairwise, QueryBuilder};
use crate::distance::{Float, Formula, Measure, Neighbours, Options, Precision, QuerySpec};
use crate::{Error, Result};

impl Cuda {
    /// The nearest rows for each row of X, on the host or on the device:
    /// `cuda.neighbours(metric, &x).to(&y).k(10).eval()?`; [`QueryBuilder`] has the settings.
    ///
    /// Cost: that of [`distances`](Self::distances) without its result. The list of a row stays with the warp that
    /// computes its keys, in registers for k ≤ 32. If few pairs share a column, the cost is that of those pairs.
    /// Memory: 12 bytes per neighbour, and about 56 bytes per entry. If that exceeds the device or the budget, X is
    /// processed in blocks of rows and Y in parts, prepared anew for each block; host operands are sent part by part,
    /// and `explain` reports the number of parts. A radius search costs twice as much, because its entries are counted
    /// first.
    /// # Example
    /// ```no_run
    /// use sparring::{Csr, Cuda, distance::Metric};
    /// let cuda = Cuda::new(0)?;
    /// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 3], vec![0, 0, 1], vec![1.0, 2.0, 9.0])?;
    /// let near = cuda.neighbours(Metric::Euclidean, &x).k(2).eval()?;
    /// assert_eq!(near.row(0).0, [0, 1]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn neighbours<'a, T: Float, A: Operand<T>>(
        &'a self,
        measure: impl Measure + 'a,
        x: &'a A,
    ) -> QueryBuilder<'a, Self, T, A, KnnOrRadius> {
        DistanceBackend::neighbours(self, measure, x)
    }
    /// All distances from each row of X, on the host or on the device: `cuda.distances(metric, &x).to(&y).eval()?`;
    /// [`QueryBuilder`] has the settings.
    ///
    /// Cost: a sort of Y's entries by column, one term per column that two rows share, and n·m sums. With X alone and a
    /// symmetric measure, half of that: the other half is mirrored. Memory: the result and about 56 bytes per entry.
    /// # Example
    /// ```no_run
    /// use sparring::{Csr, Cuda, distance::Metric};
    /// let cuda = Cuda::new(0)?;
    /// let x = cuda.upload(&Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 2], vec![1.0, 2.0, 5.0])?)?;
    /// let d = cuda.download_dense(&cuda.distances(Metric::Manhattan, &x).eval()?)?;
    /// assert_eq!(d.row(0), [0.0, 4.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn distances<'a, T: Float, A: Operand<T>>(
        &'a self,
        measure: impl Measure + 'a,
        x: &'a A,
    ) -> QueryBuilder<'a, Self, T, A, Pairwise> {
        DistanceBackend::distances(self, measure, x)
    }
}

/// Calls `work` with the matrices and the query.
fn with<T: Float, A: Operand<T>, R>(
    cuda: &Cuda,
    question: &QuerySpec<'_>,
    x: &A,
    y: Option<&A>,
    work: impl FnOnce(&Given<'_>) -> Result<R>,
) -> Result<R> {
    let (x, y) = (Of::<T, A>::new(x), y.map(Of::<T, A>::new));
    work(&Given::new(cuda, question, T::TYPE, &x, y.as_ref().map(|y| y as &dyn Source))?)
}

impl<T: Float, A: Operand<T>> DistanceBackend<T, A> for Cuda {
    type Distances = DeviceDense<T>;
    type Graph = DeviceCsr<T>;
    type Rows<'a>
        = DeviceVectors<T>
    where
        A: 'a;

    fn prepare<'a>(&'a self, question: &QuerySpec<'_>, x: &'a A, y: Option<&'a A>) -> Result<DeviceVectors<T>> {
        with(self, question, x, y, |given| Ok(DeviceVectors::new(Prepared::new(given, Wanted::Nothing)?)))
    }
    fn nearest(&self, question: &QuerySpec<'_>, k: usize, x: &A, y: Option<&A>) -> Result<Neighbours<T>> {
        with(self, question, x, y, |given| {
            let rows = Prepared::new(given, Wanted::Nearest(k)).map(DeviceVectors::new);
            match rows.and_then(|rows| rows.nearest(k)) {
                Err(Error::Budget { .. } | Error::DeviceMemory { .. }) => stream::nearest(given, k),
                found => found,
            }
        })
    }
    fn blocks(
        &self,
        question: &QuerySpec<'_>,
        rows: usize,
        x: &A,
        y: Option<&A>,
        each: &mut dyn FnMut(usize, &[T]) -> Result<()>,
    ) -> Result<String> {
        with(self, question, x, y, |given| match Prepared::new(given, Wanted::Pairs(rows)).map(DeviceVectors::new) {
            Err(Error::Budget { .. } | Error::DeviceMemory { .. }) => stream::blocks(given, rows, each),
            prepared => {
                let prepared = prepared?;
                prepared.blocks(rows, each)?;
                Ok(prepared.explain())
            }
        })
    }
}

/// Formulas whose programs are compiled beside those of the library, and the type of their entries.
const FORMULAS: [(&str, Type); 3] = [
    ("if a == b then 0 else abs(a-b) / (abs(a)+abs(b))", Type::F64),
    ("abs(a-b) / (a+b+1)", Type::F32),
    ("pow(abs(a-b), 1.5) + max(a, b) - b", Type::F64),
];

/// The passes of [`FORMULAS`].
fn formulas() -> Vec<Pass> {
    let options = Options { precision: Precision::Entries, ..Options::default() };
    let pass = |(text, entries)| {
        let measure = &Formula::parse(text).ok()?;
        match Algorithm::new(&QuerySpec { op: "a formula", measure, options }, entries).ok()? {
            Algorithm::One(pass) => Some(pass),
            Algorithm::Two(_) => None,
        }
    };
    FORMULAS.into_iter().filter_map(pass).collect()
}

/// The programs of this folder with representative settings, for the test that compiles all.
pub(super) fn programs() -> Vec<Unit> {
    [rows::programs(), pairs::programs(&formulas()), blocks::programs()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formulas_are_compiled() {
        let found = formulas();
        assert_eq!(found.iter().map(|pass| pass.of).collect::<Vec<_>>(), FORMULAS.map(|formula| formula.1));
        assert_eq!(found.iter().map(|pass| pass.symmetric).collect::<Vec<_>>(), [true, true, false]);
    }
}
