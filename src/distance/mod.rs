//! Distances and nearest neighbours between the rows of sparse matrices.
//!
//! On a backend `m`, [`Cpu`](crate::Cpu) or `Cuda`:
//!
//! | task | result |
//! | --- | --- |
//! | `m.distances(metric, &x).to(&y).eval()` | all distances D(i, j) = d(X(i, :), Y(j, :)), a dense matrix; without Y among the rows of X |
//! | `.into(&mut d)`, `.blocks(rows, f)` | the same into existing memory, and as a stream of blocks of rows |
//! | `m.neighbours(metric, &x).to(&y).k(10).eval()` | the k nearest rows of Y for every row of X; never holds all distances |
//! | `m.neighbours(metric, &x).to(&y).radius(r).eval()` | the rows within a radius, a sparse matrix |
//! | `m.index(metric, &y, options)`, then `index.knn(…)`, `index.radius(…)` | Y prepared and indexed once, for any number of queries: [`NeighbourIndex`], `DeviceIndex` |
//!
//! Each call prepares the rows for one query; `.prepare()` returns rows for several queries.
//! [`QueryBuilder`](crate::backend::QueryBuilder) has the settings. [`Metric`] is the table of named metrics. A custom
//! NAMM, `Union(⊕, ⊗)`, is a [`Measure`] too, and so is a [`Formula`] that is only known at run time; [`AnyMetric`] is
//! a name or the text of a formula. Results are bitwise the same for any number of threads.
//!
//! Shapes: X n×k, Y m×k. Cost: Σ_c |X_c| |Y_c| products over the columns c, where |X_c| rows of X have column c, and
//! O(n m); half of that for a symmetric metric without Y. Neighbours on the CPU avoid O(n m), but also the halving,
//! where few pairs share a column and the measure determines the order of the other rows ([`DisjointOrder`]): then only
//! rows that share a column are examined, plus as many of the others as needed. The choice depends on the number of
//! shared columns, `explain` reports it, and [`Options::search`] forces it. Where rows are dense, about 1/6 full or
//! more, and ⊗ takes only a few instructions, tiles of Y are expanded to dense storage and all nnz(X) m products are
//! computed by vector instructions; not under a memory budget.
//!
//! # Conventions, where other libraries differ
//! - **Stored zeros never matter**: they are dropped first. (cuVS counts a stored zero twice in its two-pass
//!   distances.)
//! - **Rows without entries** have a stated distance, see [`Metric`]. (SciPy gives NaN for cosine, correlation and
//!   Jensen–Shannon, scikit-learn gives 1 for the cosine of two such rows off the diagonal.)
//! - **Nothing is flushed to zero**, and rounding yields no NaN: where norms cancel, the pair is recomputed over
//!   the union of its columns. (cuVS sets squared distances and cosines below 1e-4 to 0.) A row is at exactly 0 from
//!   itself, where the metric has d(x, x) = 0.
//! - **Entries outside the metric's domain are refused**, with the row's number, unless [`Options::unchecked`].
//! - Jaccard, Dice and the boolean family depend on which entries are nonzero, never on values. (cuVS mixes both.)
//!   Weighted Jaccard is [`Metric::Ruzicka`].
//! - Russell–Rao is not 0 on the diagonal. (cuVS writes 0 there.)
//! - Minkowski takes powers of |x − y|. (cuVS takes powers of x − y.)
//! - **Bitwise reproducible** on any number of threads and with every instruction set; Minkowski uses the system's
//!   `pow`, which differs by one unit in the last place between CPUs.
//! - Jensen–Shannon divides rows by their sums, as SciPy does and cuVS does not; see [`Options::normalize`].
//! - `kl` is Σ x ln(x/y), +∞ where y = 0 < x, as `scipy.special.rel_entr` summed; `kl_intersection` is the paper's,
//!   without cuVS' factor ½.
//! - Neighbours at equal distance come in order of their numbers. A radius is compared with the returned distance, that
//!   is after the root and after rounding to the type of the entries.
//! - **Large and small rows are compared like others**: where powers of entries would overflow or underflow, rows are
//!   first scaled by powers of two, and differences of a norm by the largest of them ([`Invariance`]). A GPU refuses
//!   such rows.
//! - Correlation centres rows whose mean is large relative to their spread. (x·y and the product of the means would
//!   cancel.)
//! - Columns that no row has take no memory.
//!
//! Source: Nolet et al. 2022, "GPU Semiring Primitives for Sparse Neighborhood Methods".

mod any;
mod best;
mod by_columns;
mod chebyshev;
mod compiled;
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
mod query_spec;
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

pub use any::AnyMetric;
pub use domain::Domain;
pub use float::Float;
pub use formula::Formula;
pub use index::NeighbourIndex;
pub(crate) use index::file as index_file;
pub use measure::Measure;
pub use neighbours::Neighbours;
pub use options::{Options, Precision, Search};
pub(crate) use query_spec::QuerySpec;
pub use recipe::{DisjointOrder, Invariance, Norms, Recipe, Row, Side};
pub use recipes::*;
pub use table::{Entry, Metric};
pub use vectors::Vectors;
#[cfg(feature = "cuda")]
pub(crate) use {
    by_columns::in_order,
    compiled::{PassOf, Strategy},
    float::Typed,
    query_spec::check_radius,
    range_scaling::{CENTRE_RATIO, centred_rows, fits},
    recipe::emit_recipe,
};
