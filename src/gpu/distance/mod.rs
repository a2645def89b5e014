//! Distances and nearest neighbours between the rows of sparse matrices on the device.
//!
//! A measure whose ⊕ is + takes one pass over the columns that two rows share (see [`Recipe`](crate::distance::Recipe)):
//! rows are prepared on the device, Y is indexed by columns, and a warp folds one row of X into sums for a tile of rows of
//! Y, in shared memory. Norms, the exact sum of near pairs, the finalizer and the lists of neighbours follow while the
//! tile is there. Results are the same in every run; sums of a pair are folded in the order of columns, as on the CPU,
//! norms and exact sums as trees whose shape depends on the lengths of the rows alone. Chebyshev goes the same way: of the
//! columns that one row has alone only the largest entry matters.

mod pairs;
mod rows;
mod tiles;
mod way;

use pairs::Ready;
use rows::Clean;
use way::{Pass, pass_of};

use super::csr::Operand;
use super::jit::Unit;
use super::{Cuda, DeviceCsr, DeviceDense};
use crate::algebra::Real;
use crate::distance::{Measure, Neighbours, Options};
use crate::{Error, Result};

/// Rows that are ready, whatever they are computed in.
enum AnyReady {
    Double(Ready<f64>),
    Single(Ready<f32>),
}

/// The same words for both.
macro_rules! of_either {
    ($ready:expr, $r:ident => $what:expr) => {
        match $ready {
            AnyReady::Double($r) => $what,
            AnyReady::Single($r) => $what,
        }
    };
}

/// What a measure takes from two matrices, or from one and itself.
struct Sides<T> {
    x: Clean<T>,
    y: Option<Clean<T>>,
}

impl AnyReady {
    fn new<T: Real>(cuda: &Cuda, pass: Pass, sides: &Sides<T>) -> Result<Self> {
        let (x, y) = (&sides.x, sides.y.as_ref());
        Ok(if pass.double {
            Self::Double(Ready::new(cuda, pass, x, y)?)
        } else {
            Self::Single(Ready::new(cuda, pass, x, y)?)
        })
    }
}

/// A dense result that cannot be.
fn too_large(n: usize, m: usize) -> Error {
    Error::IndexOverflow { what: "number of distances", needed: n as u128 * m as u128, max: usize::MAX as u128 }
}

/// Two matrices on the device, or one.
struct Given<T> {
    x: DeviceCsr<T>,
    y: Option<DeviceCsr<T>>,
}

impl<T: Real> Given<T> {
    /// # Errors
    /// [`Error::Shape`] for rows of different lengths; [`Error::Argument`] for `exclude_self` with Y.
    fn new<A: Operand<T>>(cuda: &Cuda, op: &'static str, x: &A, y: Option<&A>, options: &Options) -> Result<Self> {
        if options.exclude_self && y.is_some() {
            let message =
                "a row is left out of its own neighbours where X is compared with itself, not with a Y".into();
            return Err(Error::Argument { name: "exclude_self", message });
        }
        let x = x.to_device(cuda)?;
        let y = y.map(|y| y.to_device(cuda)).transpose()?;
        match &y {
            Some(y) if y.shape().1 != x.shape().1 => Err(Error::Shape { op, lhs: x.shape(), rhs: y.shape() }),
            _ => Ok(Self { x, y }),
        }
    }
    fn y(&self) -> &DeviceCsr<T> {
        self.y.as_ref().unwrap_or(&self.x)
    }
    /// Rows of X and of Y.
    fn nrows(&self) -> (usize, usize) {
        (self.x.shape().0, self.y().shape().0)
    }
    /// Refuses what is beyond the budget: `result` bytes for each pair of `pairs`, and the prepared rows.
    fn within_budget(&self, options: &Options, what: &'static str, pairs: (usize, usize), result: usize) -> Result<()> {
        let (x, y) = (&self.x, self.y());
        // Columns and entries of X; those of Y by rows, by columns, and what their sort takes; norms; an index.
        let entries = 12 * x.nnz() as u128 + 44 * y.nnz() as u128;
        let rows = 16 * (x.shape().0 + y.shape().0) as u128 + 8 * y.shape().1 as u128;
        let bytes = pairs.0 as u128 * pairs.1 as u128 * result as u128 + entries + rows;
        match options.memory_budget.map(u128::from) {
            Some(budget) if bytes > budget => Err(Error::Budget { what, bytes, budget }),
            _ => Ok(()),
        }
    }
    /// Prepares and indexes the rows.
    fn ready<M: Measure>(&self, cuda: &Cuda, measure: &M, options: &Options) -> Result<AnyReady> {
        let pass = pass_of::<T, M>(measure, options)?;
        let clean = |a: &DeviceCsr<T>| cuda.clean_rows(a, measure.domain(), options.unchecked);
        let sides = Sides { x: clean(&self.x)?, y: self.y.as_ref().map(clean).transpose()? };
        AnyReady::new(cuda, pass, &sides)
    }
}

impl Cuda {
    /// d(i, j) of every row of X from every row of Y, or from every row of X without Y: a dense matrix on the device.
    ///
    /// Shapes: `x` n×k, `y` m×k, on the host or on the device; result n×m. Cost: a term for every column that two rows
    /// share, and n·m sums; with X alone and a measure that is symmetric half of that, the other half is mirrored.
    /// Memory: the result and about 56 bytes an entry. Sums are of the type that `options.precision` says.
    /// # Errors
    /// [`Error::Shape`]; [`Error::Argument`] for an entry that the metric does not take, naming its row;
    /// [`Error::Budget`]; [`Error::DeviceMemory`], [`Error::Compile`], [`Error::NoCompiler`], [`Error::Device`].
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
        let given = Given::new(self, "pairwise", x, y, options)?;
        let (nrows, ncols) = given.nrows();
        given.within_budget(options, "all distances", (nrows, ncols), size_of::<T>())?;
        let len = nrows.checked_mul(ncols).ok_or_else(|| too_large(nrows, ncols))?;
        let ready = given.ready(self, &measure, options)?;
        let out = DeviceDense { nrows, ncols, values: self.alloc(len, "all distances")? };
        of_either!(&ready, r => r.pairs(self, 0..nrows, &out.values))?;
        Ok(out)
    }

    /// [`pairwise`](Self::pairwise) into a matrix that is there.
    /// # Errors
    /// Those of [`pairwise`](Self::pairwise), and [`Error::Shape`] for a result of another shape.
    pub fn pairwise_into<T: Real, A: Operand<T>, M: Measure>(
        &self,
        measure: M,
        x: &A,
        y: Option<&A>,
        options: &Options,
        out: &mut DeviceDense<T>,
    ) -> Result<()> {
        let given = Given::new(self, "pairwise", x, y, options)?;
        if out.shape() != given.nrows() {
            return Err(Error::Shape { op: "the result of pairwise", lhs: given.nrows(), rhs: out.shape() });
        }
        given.within_budget(options, "all distances", given.nrows(), size_of::<T>())?;
        let ready = given.ready(self, &measure, options)?;
        of_either!(&ready, r => r.pairs(self, 0..out.nrows, &out.values))
    }

    /// [`pairwise`](Self::pairwise) as a stream: `each(first, rows)` gets the distances of `rows_per_block` rows of X at a
    /// time, row after row, from row `first` on. For results that the device, or the host, does not hold.
    ///
    /// Memory: one block on the device and on the host, beside the prepared rows.
    /// # Errors
    /// Those of [`pairwise`](Self::pairwise), [`Error::OutOfMemory`], and what `each` returns.
    pub fn pairwise_blocks<T: Real, A: Operand<T>, M: Measure>(
        &self,
        measure: M,
        x: &A,
        y: Option<&A>,
        options: &Options,
        rows_per_block: usize,
        mut each: impl FnMut(usize, &[T]) -> Result<()>,
    ) -> Result<()> {
        let given = Given::new(self, "pairwise", x, y, options)?;
        let (n, m) = given.nrows();
        let block = rows_per_block.clamp(1, n.max(1));
        let len = block.checked_mul(m).ok_or_else(|| too_large(block, m))?;
        given.within_budget(options, "a block of distances", (block, m), size_of::<T>())?;
        let ready = given.ready(self, &measure, options)?;
        let room = self.alloc::<T>(len, "a block of distances")?;
        for first in (0..n).step_by(block) {
            let rows = first..n.min(first + block);
            of_either!(&ready, r => r.pairs(self, rows.clone(), &room))?;
            let values = self.get(&room, "a block of distances")?;
            each(first, &values[..rows.len() * m])?;
        }
        Ok(())
    }

    /// The `k` nearest rows of Y for every row of X, or of X itself without Y; for a similarity those of the largest
    /// values. The n×m distances are never held.
    ///
    /// Rows at equal distance come in order of their numbers, NaN behind all numbers; where Y has fewer than `k` rows
    /// there are fewer neighbours. Cost: that of [`pairwise`](Self::pairwise) without its result; the list of a row stays
    /// with the warp that computes its keys, in registers for k ≤ 32. Memory: 12 bytes a neighbour, and about 56 bytes an
    /// entry.
    /// # Errors
    /// Those of [`pairwise`](Self::pairwise); [`Error::Argument`] for `exclude_self` with Y.
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
        let given = Given::new(self, "knn", x, y, options)?;
        let (n, m) = given.nrows();
        let k = k.min(m.saturating_sub(usize::from(options.exclude_self)));
        given.within_budget(options, "nearest neighbours", (n, k), 12 + size_of::<T>())?;
        let ready = given.ready(self, &measure, options)?;
        let explain = of_either!(&ready, r => r.explain());
        if n == 0 || k == 0 {
            return Ok(Neighbours::new(m, k, vec![], vec![], n, explain));
        }
        let found = of_either!(&ready, r => r.nearest::<T>(self, k, options.exclude_self))?;
        drop(ready);
        let indices = self.get(&found.ids, "neighbours")?;
        let distances = self.get(&found.distances, "distances of neighbours")?;
        Ok(Neighbours::new(m, k, indices, distances, n, explain))
    }

    /// Pairs of rows within `radius`: an entry d(i, j) wherever d(i, j) ≤ radius, for a similarity wherever it is ≥ radius.
    ///
    /// Shapes: `x` n×k, `y` m×k, result n×m on the device, rows sorted. Cost: twice that of [`pairwise`](Self::pairwise),
    /// for the entries are counted first. NaN is within no radius.
    /// # Errors
    /// Those of [`knn`](Self::knn); [`Error::Argument`] for a radius that is NaN.
    pub fn radius<T: Real, A: Operand<T>, M: Measure>(
        &self,
        measure: M,
        radius: f64,
        x: &A,
        y: Option<&A>,
        options: &Options,
    ) -> Result<DeviceCsr<T>> {
        if radius.is_nan() {
            return Err(Error::Argument { name: "radius", message: "it is NaN".into() });
        }
        let given = Given::new(self, "radius", x, y, options)?;
        let ready = given.ready(self, &measure, options)?;
        of_either!(&ready, r => r.within(self, radius, measure.is_similarity(), options.exclude_self))
    }
}

/// The programs of this folder, as they are used.
pub(super) fn programs() -> Vec<Unit> {
    [rows::programs(), pairs::programs()].concat()
}
