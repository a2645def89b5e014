//! Distances and nearest neighbours between the rows of sparse matrices.
//!
//! | task | result |
//! | --- | --- |
//! | [`pairwise`], [`pairwise_into`] | all distances, a dense matrix |
//! | [`pairwise_blocks`] | the same as a stream of blocks of rows |
//! | [`knn`] | the k nearest rows of Y for every row of X; never holds all distances |
//! | [`radius`] | the rows within a radius, a sparse matrix |
//!
//! Each prepares the rows and asks them once; [`Vectors`] are rows prepared for several tasks. [`Metric`] is the table of what is known by name; a NAMM of your own, `Union(⊕, ⊗)`, is a [`Measure`] too. Results are the same
//! bits for any number of threads.
//!
//! # What is decided here, where others differ
//! - **Stored zeros never matter**: they are dropped first. (cuVS counts a stored zero twice in its two-pass distances.)
//! - **Rows without entries** have a stated distance, see [`Metric`]. (SciPy gives NaN for cosine, correlation and
//!   Jensen–Shannon, scikit-learn gives 1 for the cosine of two such rows off the diagonal.)
//! - **Nothing is flushed to zero**, and no NaN comes of rounding: where norms cancel, the pair is computed again over the union of
//!   its columns. (cuVS sets squared distances and cosines below 1e-4 to 0.) A row is at exactly 0 from itself, where the
//!   metric has d(x, x) = 0.
//! - **Entries that the metric cannot take are refused**, with the row's number, unless [`Options::unchecked`].
//! - Jaccard, Dice and the boolean family look at which entries are not 0, never at values. (cuVS mixes both.) Weighted Jaccard is
//!   [`Metric::Ruzicka`].
//! - Russell–Rao is not 0 on the diagonal. (cuVS writes 0 there.) Minkowski takes |x − y|. (cuVS takes a power of x − y.)
//! - Jensen–Shannon divides rows by their sums, as SciPy does and cuVS does not; see [`Options::normalize`].
//! - `kl` is Σ x ln(x/y), +∞ where y = 0 < x, as `scipy.special.rel_entr` summed; `kl_intersection` is the paper's, without cuVS'
//!   factor ½.
//! - Neighbours at equal distance come in order of their numbers.
//!
//! Source: Nolet et al. 2022, "GPU Semiring Primitives for Sparse Neighborhood Methods".

mod chebyshev;
mod engine;
mod knn;
mod neighbours;
mod one_pass;
mod options;
mod pairwise;
mod radius;
mod recipe;
mod recipes;
mod rows;
mod table;
mod two_pass;
mod vectors;

pub use neighbours::Neighbours;
pub use options::{Options, Precision};
pub use recipe::{Norms, Recipe, Row, Side, emit_recipe};
pub use recipes::*;
pub use table::{Domain, Entry, Measure, Metric, Visitor};
pub use vectors::Vectors;

use std::sync::OnceLock;

use crate::algebra::{Monoid, MulOp, Real, Union};
use crate::par::Threads;
use crate::sparse::Dense;
use crate::{Csr, Error, Index, Result};
use chebyshev::{ChebyshevEngine, Ranked};
use engine::Engine;
use one_pass::OnePassEngine;
use rows::{Checked, prepare};
use two_pass::TwoPassEngine;

/// Makes the engine of a measure.
struct Build<'t, 'a, T, I: Index> {
    threads: &'t Threads,
    x: Checked<'a, T, I>,
    y: Option<Checked<'a, T, I>>,
    /// Entries are finite.
    finite: bool,
}

impl<'a, T: Real, I: Index> Visitor for Build<'_, 'a, T, I> {
    type Out = Result<Box<dyn Engine + 'a>>;
    fn one_pass<R: Recipe>(self, recipe: R) -> Self::Out {
        let y = match &self.y {
            Some(y) => Some(prepare(self.threads, recipe, Side::Y, y)?),
            None if R::SYMMETRIC => None,
            None => Some(prepare(self.threads, recipe, Side::Y, &self.x)?),
        };
        let x = prepare(self.threads, recipe, Side::X, &self.x)?;
        let (same, finite) = (self.y.is_none(), self.finite);
        Ok(Box::new(OnePassEngine { recipe, x, y, same, finite, dense: OnceLock::new() }))
    }
    fn chebyshev<W: Real>(self) -> Self::Out {
        let rank = |a: Checked<'a, T, I>| Ranked::new(a.entries::<W>()?);
        Ok(Box::new(ChebyshevEngine { x: rank(self.x)?, y: self.y.map(rank).transpose()? }))
    }
    fn two_pass<W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>>(self, namm: Union<P, X>) -> Self::Out {
        let y = self.y.map(|y| y.entries()).transpose()?;
        Ok(Box::new(TwoPassEngine { namm, x: self.x.entries()?, y }))
    }
}

/// Refuses rows of different lengths, and `exclude_self` with Y.
pub(crate) fn comparable(
    op: &'static str,
    x: (usize, usize),
    y: Option<(usize, usize)>,
    options: &Options,
) -> Result<()> {
    if let Some(y) = y.filter(|y| y.1 != x.1) {
        return Err(Error::Shape { op, lhs: x, rhs: y });
    }
    if options.exclude_self && y.is_some() {
        let message = "a row is left out of its own neighbours where X is compared with itself, not with a Y".into();
        return Err(Error::Argument { name: "exclude_self", message });
    }
    Ok(())
}

/// `D(i, j) = d(X(i, :), Y(j, :))`, or among the rows of X if there is no Y.
///
/// Shapes: x n×k, y m×k, result n×m. Cost: Σ_c |X_c| |Y_c| products over the columns c, |X_c| rows having it, and O(n m); half of
/// that for a symmetric metric without Y. Memory: the result and O(nnz(X) + nnz(Y)).
/// # Errors
/// [`Error::Shape`]; [`Error::Argument`] for an entry outside the metric's domain; [`Error::Budget`]; [`Error::OutOfMemory`];
/// [`Error::Cancelled`].
/// # Example
/// ```
/// use sparring::distance::{Metric, pairwise};
/// use sparring::{Csr, par::Threads};
/// let x = Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 2], vec![1.0, 2.0, 5.0])?;
/// let d = pairwise(&Threads::current(), Metric::Manhattan, &x, None, &Default::default())?;
/// assert_eq!(d.values(), [0.0, 4.0, 4.0, 0.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn pairwise<T: Real, I: Index>(
    threads: &Threads,
    measure: impl Measure,
    x: &Csr<T, I>,
    y: Option<&Csr<T, I>>,
    options: &Options,
) -> Result<Dense<T>> {
    Vectors::new(threads, measure, x, y, options)?.pairwise()
}

/// As [`pairwise`], into memory of the caller's, row after row; what ran, and why.
/// # Errors
/// Those of [`pairwise`]; [`Error::Length`] if there are not n·m places.
pub fn pairwise_into<T: Real, I: Index>(
    threads: &Threads,
    measure: impl Measure,
    x: &Csr<T, I>,
    y: Option<&Csr<T, I>>,
    options: &Options,
    out: &mut [T],
) -> Result<String> {
    Vectors::new(threads, measure, x, y, options)?.pairwise_into(out)
}

/// As [`pairwise`], as a stream: `block(first, distances)` gets the rows of the result from `first` on, row after row, at most
/// `rows` of them at a time. Never holds more than one block.
/// # Errors
/// Those of [`pairwise`], and of `block`.
pub fn pairwise_blocks<T: Real, I: Index>(
    threads: &Threads,
    measure: impl Measure,
    x: &Csr<T, I>,
    y: Option<&Csr<T, I>>,
    options: &Options,
    rows: usize,
    block: impl FnMut(usize, &[T]) -> Result<()>,
) -> Result<String> {
    Vectors::new(threads, measure, x, y, options)?.pairwise_blocks(rows, block)
}

/// The `k` nearest rows of Y for every row of X, or of X if there is no Y; the row itself is then among them, unless
/// [`Options::exclude_self`]. Exact. Where there are fewer than k rows, there are fewer neighbours.
///
/// Cost: as [`pairwise`]. Memory: O(nnz(X) + nnz(Y) + n k), or threads · n k where that saves half the work and is small; see
/// [`Vectors::knn_bytes`] and [`Options::memory_budget`]. NaN counts as farthest.
/// # Errors
/// Those of [`pairwise`].
/// # Example
/// ```
/// use sparring::distance::{Metric, knn};
/// use sparring::{Csr, par::Threads};
/// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?;
/// let near = knn(&Threads::current(), Metric::Cosine, 2, &x, None, &Default::default())?;
/// assert_eq!(near.row(0).0, [0, 2]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn knn<T: Real, I: Index>(
    threads: &Threads,
    measure: impl Measure,
    k: usize,
    x: &Csr<T, I>,
    y: Option<&Csr<T, I>>,
    options: &Options,
) -> Result<Neighbours<T>> {
    Vectors::new(threads, measure, x, y, options)?.knn(k)
}

/// The rows of Y at most `radius` away from each row of X (for a similarity: at least `radius`), with their distances; n×m.
///
/// Cost: as [`pairwise`] without Y's symmetry. Memory: O(nnz(X) + nnz(Y) + what is found).
/// # Errors
/// Those of [`pairwise`]; [`Error::Argument`] for a radius that is NaN.
pub fn radius<T: Real, I: Index>(
    threads: &Threads,
    measure: impl Measure,
    radius: f64,
    x: &Csr<T, I>,
    y: Option<&Csr<T, I>>,
    options: &Options,
) -> Result<Csr<T, I>> {
    Vectors::new(threads, measure, x, y, options)?.radius(radius)
}
