//! Shared parts of the graph commands.

use clap::{Args, ValueEnum};
use sparring::graph::{Graph, GraphKind};

use super::answer::{Answer, PlotKind};
use crate::context::Context;
use crate::device::Device;
use crate::failure;
use crate::write::Writing;

/// A shell command, and a description of it.
pub(super) type Example = (&'static str, &'static str);

/// Options of every graph command.
#[derive(Args)]
pub(crate) struct Common {
    /// Adjacency matrix, edge list or gen:NAME; vertices are numbered from 0
    pub(crate) file: String,
    /// Kind of the graph [default: undirected if the matrix is symmetric, else directed]
    #[arg(long, value_enum)]
    pub(super) kind: Option<Kind>,
    /// Write the result of each vertex as a column, or edges as a matrix; the format follows the name: .mtx, .npz
    /// (SciPy), .npy, .csv, .svm, also with .gz or .zst, or - for standard output. Missing results are inf or 4294967295
    /// in .npy and .csv, and absent from other formats
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<String>,
    #[command(flatten)]
    pub(super) writing: Writing,
    /// Draw the distribution of the results, or of degrees if results have none: FILE.svg, FILE.png, or - for SVG on
    /// standard output
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<String>,
}

/// The option of algorithms for which weights are optional.
#[derive(Args)]
pub(crate) struct Weights {
    /// Use the values of the matrix as edge weights [default: each edge has weight 1]
    #[arg(long)]
    pub(super) weighted: bool,
}

/// The option for plots of a partition.
#[derive(Args)]
pub(crate) struct Plotted {
    /// What --plot shows [default: drawing of communities, sizes of components]
    #[arg(long, value_enum, requires = "plot")]
    pub(super) plot_kind: Option<PlotKind>,
}

/// The option to list results.
#[derive(Args)]
pub(crate) struct Top {
    /// List the N vertices with the largest results
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

/// An algorithm, with the options of its command.
pub(crate) trait Run {
    fn common(&self) -> &Common;
    /// The device to run on.
    fn device(&self) -> Device {
        Device::Cpu
    }
    /// Number of vertices to list.
    fn top(&self) -> usize {
        0
    }
    /// The kind of plot, if there is a choice.
    fn plot_kind(&self) -> Option<PlotKind> {
        None
    }
    /// Whether values are weights.
    fn is_weighted(&self) -> bool {
        false
    }
    /// Whether the algorithm needs the transpose, which is then prepared.
    fn reads_incoming(&self) -> bool {
        false
    }
    /// Whether the matrix may be rectangular, its rows and columns being two sets of vertices.
    fn takes_rectangles(&self) -> bool {
        false
    }
    /// A second input file.
    fn other_file(&self) -> Option<&str> {
        None
    }
    /// Reads that file. Returns milliseconds.
    fn read_other(&self, _context: &Context) -> failure::Result<f64> {
        Ok(0.0)
    }
    /// Bytes of a result that is larger than the graph of n vertices, else 0.
    fn result_bytes(&self, _n: usize) -> u128 {
        0
    }
    /// Whether the memory budget is enforced.
    fn keeps_to_budget(&self) -> bool {
        false
    }
    fn compute(&self, context: &Context, g: &Graph) -> sparring::Result<Answer>;
    /// The same on the processes of a job, for a distributed adjacency matrix; `None` if unsupported.
    #[cfg(feature = "cluster")]
    fn on_cluster(
        &self,
        _machine: &sparring::runtime::Machine,
        _a: &sparring::runtime::Matrix,
    ) -> Option<sparring::Result<Answer>> {
        None
    }
}
