//! Distances and nearest neighbours between the rows of sparse matrices on the device.
//!
//! A measure whose ⊕ is + takes one pass over the columns that two rows share (see [`Recipe`](crate::distance::Recipe)):
//! rows are prepared on the device, Y is indexed by columns, and a warp folds one row of X into sums for a tile of rows of
//! Y, in shared memory. Norms, the exact sum of near pairs, the finalizer and the lists of neighbours follow while the
//! tile is there. Results are the same in every run; sums of a pair are folded in the order of columns, as on the CPU,
//! norms and exact sums as trees whose shape depends on the lengths of the rows alone. Chebyshev goes the same way: of the
//! columns that one row has alone only the largest entry matters.
//!
//! A NAMM of the caller's whose ⊕ is not + takes the two passes of [`union_mxm`](Cuda::union_mxm), a block of rows of X at a
//! time, which is a dense matrix that distances, lists of neighbours, or what lies within a radius are taken from. That
//! has the CPU's bits where ⊕ is exact (max, min, or); else it is folded in another order, which depends on the device and
//! on the block.
//!
//! Neighbours, and distances in blocks, are found also where rows do not fit the device, or [`Options::memory_budget`]:
//! X comes in blocks then, Y in parts, and lists are joined, with the same bits.

mod blocks;
mod engine;
mod pairs;
mod rows;
mod stream;
mod tiles;
mod vectors;
mod way;

pub use vectors::DeviceVectors;
use vectors::{Given, Wanted};

use super::csr::Operand;
use super::jit::Unit;
use super::{Cuda, DeviceCsr, DeviceDense};
use crate::Result;
use crate::algebra::Real;
use crate::distance::{Measure, Neighbours, Options};

impl Cuda {
    /// The rows of X and Y, or of X alone, prepared for a measure and indexed; for several tasks on the same rows.
    ///
    /// Shapes: `x` n×k, `y` m×k, on the host or on the device. Cost: a sort of Y's entries by column, and a few passes over
    /// all entries. Memory: about 56 bytes an entry while it works.
    /// # Errors
    /// Those of [`pairwise`](Self::pairwise).
    pub fn vectors<T: Real, A: Operand<T>, M: Measure>(
        &self,
        measure: M,
        x: &A,
        y: Option<&A>,
        options: &Options,
    ) -> Result<DeviceVectors<T>> {
        Given::new(self, "vectors", x, y, options)?.prepared(&measure, Wanted::Nothing)
    }

    /// d(i, j) of every row of X from every row of Y, or from every row of X without Y: a dense matrix on the device.
    ///
    /// Shapes: `x` n×k, `y` m×k, on the host or on the device; result n×m. Cost: a term for every column that two rows
    /// share, and n·m sums; with X alone and a measure that is symmetric half of that, the other half is mirrored.
    /// Memory: the result and about 56 bytes an entry. Sums are of the type that `options.precision` says.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape); [`Error::Argument`](crate::Error::Argument) for an entry that the metric does not take, naming its row;
    /// [`Error::Budget`](crate::Error::Budget); [`Error::DeviceMemory`](crate::Error::DeviceMemory), [`Error::Compile`](crate::Error::Compile), [`Error::NoCompiler`](crate::Error::NoCompiler), [`Error::Device`](crate::Error::Device).
    /// # Example
    /// ```no_run
    /// use sparring::{Csr, Cuda, distance::Metric};
    /// let cuda = Cuda::new(0)?;
    /// let x = cuda.upload(&Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 2], vec![1.0, 2.0, 5.0])?)?;
    /// let d = cuda.download_dense(&cuda.pairwise(Metric::Manhattan, &x, None, &Default::default())?)?;
    /// assert_eq!(d.row(0), [0.0, 4.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn pairwise<T: Real, A: Operand<T>, M: Measure>(
        &self,
        measure: M,
        x: &A,
        y: Option<&A>,
        options: &Options,
    ) -> Result<DeviceDense<T>> {
        Given::new(self, "pairwise", x, y, options)?.prepared(&measure, Wanted::Pairs(usize::MAX))?.pairwise()
    }

    /// [`pairwise`](Self::pairwise) into a matrix that is there.
    /// # Errors
    /// Those of [`pairwise`](Self::pairwise), and [`Error::Shape`](crate::Error::Shape) for a result of another shape.
    pub fn pairwise_into<T: Real, A: Operand<T>, M: Measure>(
        &self,
        measure: M,
        x: &A,
        y: Option<&A>,
        options: &Options,
        out: &mut DeviceDense<T>,
    ) -> Result<()> {
        let given = Given::new(self, "pairwise", x, y, options)?;
        given.takes(out)?;
        given.prepared(&measure, Wanted::Pairs(usize::MAX))?.pairwise_into(out)
    }

    /// [`pairwise`](Self::pairwise) as a stream: `each(first, rows)` gets the distances of `rows_per_block` rows of X at a
    /// time, row after row, from row `first` on. For results that the device, or the host, does not hold.
    ///
    /// Memory: one block on the device and on the host, beside the prepared rows. Where these do not fit the device or
    /// [`Options::memory_budget`], rows of Y are prepared in parts, for each block anew.
    /// # Errors
    /// Those of [`pairwise`](Self::pairwise), [`Error::OutOfMemory`](crate::Error::OutOfMemory), and what `each` returns.
    pub fn pairwise_blocks<T: Real, A: Operand<T>, M: Measure>(
        &self,
        measure: M,
        x: &A,
        y: Option<&A>,
        options: &Options,
        rows_per_block: usize,
        each: impl FnMut(usize, &[T]) -> Result<()>,
    ) -> Result<()> {
        Given::new(self, "pairwise", x, y, options)?.pairwise_blocks(&measure, rows_per_block, each)
    }

    /// The `k` nearest rows of Y for every row of X, or of X itself without Y; for a similarity those of the largest
    /// values. The n×m distances are never held.
    ///
    /// Rows at equal distance come in order of their numbers, NaN behind all numbers; where Y has fewer than `k` rows
    /// there are fewer neighbours. Cost: that of [`pairwise`](Self::pairwise) without its result; the list of a row stays
    /// with the warp that computes its keys, in registers for k ≤ 32. Memory: 12 bytes a neighbour, and about 56 bytes an
    /// entry. Where the device or [`Options::memory_budget`] has no room for that, X is taken in blocks of rows and Y in
    /// parts, prepared anew for each block, and `explain` says how many: what is on the host is sent part by part.
    /// # Errors
    /// Those of [`pairwise`](Self::pairwise); [`Error::Argument`](crate::Error::Argument) for `exclude_self` with Y.
    /// # Example
    /// ```no_run
    /// use sparring::{Csr, Cuda, distance::Metric};
    /// let cuda = Cuda::new(0)?;
    /// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 3], vec![0, 0, 1], vec![1.0, 2.0, 9.0])?;
    /// let near = cuda.knn(Metric::Euclidean, 2, &x, None, &Default::default())?;
    /// assert_eq!(near.row(0).0, [0, 1]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn knn<T: Real, A: Operand<T>, M: Measure>(
        &self,
        measure: M,
        k: usize,
        x: &A,
        y: Option<&A>,
        options: &Options,
    ) -> Result<Neighbours<T>> {
        Given::new(self, "knn", x, y, options)?.knn(&measure, k)
    }

    /// Pairs of rows within `radius`: an entry d(i, j) wherever d(i, j) ≤ radius, for a similarity wherever it is ≥ radius.
    ///
    /// Shapes: `x` n×k, `y` m×k, result n×m on the device, rows sorted. Cost: twice that of [`pairwise`](Self::pairwise),
    /// for the entries are counted first; what they take counts for [`Options::memory_budget`]. NaN is within no radius.
    /// # Errors
    /// Those of [`knn`](Self::knn); [`Error::Argument`](crate::Error::Argument) for a radius that is NaN.
    pub fn radius<T: Real, A: Operand<T>, M: Measure>(
        &self,
        measure: M,
        radius: f64,
        x: &A,
        y: Option<&A>,
        options: &Options,
    ) -> Result<DeviceCsr<T>> {
        let given = Given::new(self, "radius", x, y, options)?;
        vectors::is_radius(radius)?;
        given.prepared(&measure, Wanted::Nothing)?.radius(radius)
    }
}

/// The programs of this folder, as they are used.
pub(super) fn programs() -> Vec<Unit> {
    [rows::programs(), pairs::programs(), blocks::programs()].concat()
}
