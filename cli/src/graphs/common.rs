//! What the commands of graphs have in common.

use clap::{Args, ValueEnum};
use sparring::graph::{Graph, GraphKind};

use super::answer::{Answer, PlotKind};
use crate::context::Context;
use crate::device::Device;
use crate::failure;
use crate::write::Writing;

/// A line for a shell, and what it does.
pub(super) type Example = (&'static str, &'static str);

/// What every one of these commands takes.
#[derive(Args)]
pub(crate) struct Common {
    /// Adjacency matrix, edge list or gen:NAME; vertices are numbered from 0
    pub(crate) file: String,
    /// Kind of the graph [default: undirected if the matrix is symmetric, else directed]
    #[arg(long, value_enum)]
    pub(super) kind: Option<Kind>,
    /// Write the result of each vertex as a column, or edges as a matrix; the format follows the name: .mtx, .npz
    /// (SciPy), .npy, .csv, .svm, also with .gz or .zst; - is standard output. Where there is no result, .npy and .csv
    /// have inf or 4294967295, others no entry
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<String>,
    #[command(flatten)]
    pub(super) writing: Writing,
    /// Draw the distribution of the results, or of degrees where results have none: a file .svg or .png, or - for SVG
    /// on standard output
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<String>,
}

/// Whether values count, where an algorithm can do without.
#[derive(Args)]
pub(crate) struct Weights {
    /// Use the values of the matrix as edge weights [default: each edge has weight 1]
    #[arg(long)]
    pub(super) weighted: bool,
}

/// What a plot of a partition shows.
#[derive(Args)]
pub(crate) struct Plotted {
    /// What --plot shows [default: drawing of communities, sizes of components]
    #[arg(long, value_enum, requires = "plot")]
    pub(super) plot_kind: Option<PlotKind>,
}

/// How many results are listed.
#[derive(Args)]
pub(crate) struct Top {
    /// List the N vertices of the largest results
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
    /// Where it computes.
    fn device(&self) -> Device {
        Device::Cpu
    }
    /// Vertices to be listed.
    fn top(&self) -> usize {
        0
    }
    /// What a plot shows, where there is a choice.
    fn plot_kind(&self) -> Option<PlotKind> {
        None
    }
    /// Whether values are weights.
    fn is_weighted(&self) -> bool {
        false
    }
    /// Whether edges are read against their direction, which is prepared for then.
    fn reads_incoming(&self) -> bool {
        false
    }
    /// Whether the matrix may have any shape, its rows and columns being two sets of vertices.
    fn takes_rectangles(&self) -> bool {
        false
    }
    /// Another file that it reads.
    fn other_file(&self) -> Option<&str> {
        None
    }
    /// Reads that file; the milliseconds that it takes.
    fn read_other(&self, _context: &Context) -> failure::Result<f64> {
        Ok(0.0)
    }
    /// Bytes of a result that is larger than the graph of n vertices.
    fn result_bytes(&self, _n: usize) -> u128 {
        0
    }
    /// Whether a result beyond the memory budget is refused.
    fn keeps_to_budget(&self) -> bool {
        false
    }
    fn compute(&self, context: &Context, g: &Graph) -> sparring::Result<Answer>;
    /// The same on the processes of a job, of the adjacency matrix that they have; `None` if it has no such way.
    #[cfg(feature = "cluster")]
    fn on_cluster(
        &self,
        _machine: &sparring::runtime::Machine,
        _a: &sparring::runtime::Matrix,
    ) -> Option<sparring::Result<Answer>> {
        None
    }
}
