//! What the commands of graphs have in common.

use clap::{Args, ValueEnum};
use sparring::graph::{Graph, GraphKind};
use sparring::runtime::Matrix;
use sparring::{Csr, Error};

use super::answer::Answer;
use crate::context::Context;
use crate::write::Writing;

/// A line for a shell, and what it does.
pub(super) type Example = (&'static str, &'static str);

/// What every one of these commands takes.
#[derive(Args)]
pub(crate) struct Common {
    /// Adjacency matrix or edge list, or gen:NAME; vertices count from 0
    pub(crate) file: String,
    /// How edges lead [default: both ways if the matrix is symmetric, as they stand if it is not]
    #[arg(long, value_enum)]
    pub(super) kind: Option<Kind>,
    /// File for the result of each vertex, a column: what its name says: .mtx, .npz (SciPy), .npy, .csv, .svm, .gz
    /// behind them, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<String>,
    #[command(flatten)]
    pub(super) writing: Writing,
    /// Draw how the results are distributed: a file .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<String>,
}

/// Whether values count, where an algorithm can do without.
#[derive(Args)]
pub(crate) struct Weights {
    /// The values of the matrix are weights of edges; else each edge counts 1
    #[arg(long)]
    pub(super) weighted: bool,
}

/// How many results are listed.
#[derive(Args)]
pub(crate) struct Top {
    /// List so many vertices, those of the largest results
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) top: usize,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Kind {
    /// Entry (i, j) is an edge from i to j
    Directed,
    /// Entry (i, j) is an edge between i and j
    Undirected,
}

impl From<Kind> for GraphKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Directed => Self::Directed,
            Kind::Undirected => Self::Undirected,
        }
    }
}

/// An algorithm, as its command describes it.
pub(crate) trait Run {
    fn common(&self) -> &Common;
    /// Vertices to be listed.
    fn top(&self) -> usize {
        0
    }
    /// Whether values are weights.
    fn is_weighted(&self) -> bool {
        false
    }
    /// Whether edges are read against their direction, which is prepared for then.
    fn reads_incoming(&self) -> bool {
        false
    }
    fn compute(&self, context: &Context, g: &Graph) -> sparring::Result<Answer>;
}

/// Numbers of vertices as a column, those that are `None` left out.
pub(super) fn column<T: sparring::algebra::Value>(
    values: impl ExactSizeIterator<Item = Option<T>>,
) -> sparring::Result<Matrix>
where
    Matrix: From<Csr<T>>,
{
    let n = values.len();
    let (mut row_ptr, mut kept) = (Vec::new(), Vec::new());
    for room in [row_ptr.try_reserve_exact(n + 1), kept.try_reserve_exact(n)] {
        room.map_err(|_| Error::OutOfMemory { what: "a column", bytes: n as u128 * 8 })?;
    }
    row_ptr.push(0);
    for value in values {
        kept.extend(value);
        row_ptr.push(kept.len());
    }
    Ok(Csr::new(n, 1, row_ptr, sparring::par::filled(kept.len(), 0, "column indices")?, kept)?.into())
}
