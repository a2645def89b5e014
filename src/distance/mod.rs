//! Distances and nearest neighbours between the rows of sparse matrices.
//!
//! On a machine `m`, [`Cpu`](crate::Cpu) or `Cuda`:
//!
//! | task | result |
//! | --- | --- |
//! | `m.distances(metric, &x).to(&y).eval()` | all distances D(i, j) = d(X(i, :), Y(j, :)), a dense matrix; without Y among the rows of X |
//! | `.into(&mut d)`, `.blocks(rows, f)` | the same into memory that is there, and as a stream of blocks of rows |
//! | `m.neighbours(metric, &x).to(&y).k(10).eval()` | the k nearest rows of Y for every row of X; never holds all distances |
//! | `m.neighbours(metric, &x).to(&y).radius(r).eval()` | the rows within a radius, a sparse matrix |
//! | `m.index(metric, &y, options)`, then `index.knn(…)`, `index.radius(…)` | Y prepared and indexed once, asked as often as wanted: [`NeighbourIndex`], `DeviceIndex` |
//!
//! Each prepares the rows and asks them once; `.prepare()` gives rows for several tasks.
//! [`Asked`](crate::backend::Asked) has the settings. [`Metric`] is the table of what is known by name; a NAMM of your
//! own, `Union(⊕, ⊗)`, is a [`Measure`] too, and so is a [`Formula`] that becomes known at run time; [`AnyMetric`] is a
//! name or the text of a formula. Results are the same bits for any number of threads.
//!
//! Shapes: X n×k, Y m×k. Cost: Σ_c |X_c| |Y_c| products over the columns c, |X_c| rows having it, and O(n m); half of
//! that for a symmetric metric without Y. Neighbours on the processor without O(n m), and without the half, where few
//! pairs share a column and the measure tells in which order the others come ([`Apart`]): then only rows that share a
//! column are looked at, and of the others as many as are wanted. Which it is depends on the columns that are shared,
//! and `explain` tells it; [`Options::search`] asks for one. Where rows are dense, about 1/6 full or more, and ⊗ is an
//! instruction or a few, a tile of Y is spread out, and all nnz(X) m products are computed by vector instructions; not
//! under a memory budget.
//!
//! # What is decided here, where others differ
//! - **Stored zeros never matter**: they are dropped first. (cuVS counts a stored zero twice in its two-pass
//!   distances.)
//! - **Rows without entries** have a stated distance, see [`Metric`]. (SciPy gives NaN for cosine, correlation and
//!   Jensen–Shannon, scikit-learn gives 1 for the cosine of two such rows off the diagonal.)
//! - **Nothing is flushed to zero**, and no NaN comes of rounding: where norms cancel, the pair is computed again over
//!   the union of its columns. (cuVS sets squared distances and cosines below 1e-4 to 0.) A row is at exactly 0 from
//!   itself, where the metric has d(x, x) = 0.
//! - **Entries that the metric cannot take are refused**, with the row's number, unless [`Options::unchecked`].
//! - Jaccard, Dice and the boolean family look at which entries are not 0, never at values. (cuVS mixes both.) Weighted
//!   Jaccard is [`Metric::Ruzicka`].
//! - Russell–Rao is not 0 on the diagonal. (cuVS writes 0 there.) Minkowski takes |x − y|. (cuVS takes a power of x −
//!   y.)
//! - **The same bits** on any number of threads and every set of instructions; Minkowski takes powers by the system's
//!   `pow`, which differs by one unit of the last place between processors.
//! - Jensen–Shannon divides rows by their sums, as SciPy does and cuVS does not; see [`Options::normalize`].
//! - `kl` is Σ x ln(x/y), +∞ where y = 0 < x, as `scipy.special.rel_entr` summed; `kl_intersection` is the paper's,
//!   without cuVS' factor ½.
//! - Neighbours at equal distance come in order of their numbers, and a radius is held against the distance: both as it
//!   is returned, after the root and rounded to the type of the entries.
//! - **Large and small rows are compared like others**: where powers of entries would overflow or vanish, rows are
//!   scaled by powers of two first, and differences of a norm by the largest of them ([`Invariance`]). A GPU refuses
//!   such rows.
//! - Correlation centres rows whose mean is large beside their spread. (x·y and the product of the means would cancel.)
//! - Columns that no row has take no memory.
//!
//! Source: Nolet et al. 2022, "GPU Semiring Primitives for Sparse Neighborhood Methods".

mod any;
mod best;
mod by_columns;
mod chebyshev;
mod dense;
mod domain;
mod engine;
mod entries;
mod exponents;
mod float;
mod formula;
mod index;
mod inverted_index;
mod knn;
mod loops;
mod measure;
mod neighbours;
mod one_pass;
mod options;
mod pairwise;
mod postings;
#[cfg(feature = "cuda")]
mod printed;
mod query_accumulator;
mod question;
mod radius;
mod range_scaling;
mod recipe;
mod recipes;
mod rescaled;
mod rows;
mod table;
mod tile;
mod two_pass;
mod vectors;
mod way;

pub use any::AnyMetric;
pub use domain::Domain;
pub use float::Float;
pub use formula::Formula;
pub use index::NeighbourIndex;
pub(crate) use index::file as index_file;
pub use measure::Measure;
pub use neighbours::Neighbours;
pub use options::{Options, Precision, Search};
pub(crate) use question::Question;
pub use recipe::{Apart, Invariance, Norms, Recipe, Row, Side};
pub use recipes::*;
pub use table::{Entry, Metric};
pub use vectors::Vectors;
#[cfg(feature = "cuda")]
pub(crate) use {
    by_columns::in_order,
    float::Typed,
    question::check_radius,
    range_scaling::{FAR, centred_rows, fits},
    recipe::emit_recipe,
    way::{PassOf, Way},
};
