//! How to read graphs.

use crate::io::common::{Common, common_options};
use crate::io::text::Limits;

/// What becomes of an edge that stands in a file more than once, with weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeated {
    /// It is an error.
    #[default]
    Refuse,
    /// Weights are added up.
    Sum,
    /// The least weight counts.
    Min,
    /// The greatest weight counts.
    Max,
}

/// How to read a graph.
///
/// ```
/// use sparring::io::{EdgeOptions, parse_edges_with};
/// let options = EdgeOptions::new().undirected(true);
/// let a = parse_edges_with(b"# a path\n0 1\n1 2\n", "example", &options)?.csr::<bool>()?;
/// assert_eq!((a.shape(), a.nnz()), ((3, 3), 4));
/// let options = EdgeOptions::new().renumber(true);
/// let graph = parse_edges_with(b"1000,-5,0.5\n", "example", &options)?;
/// assert_eq!((graph.pattern.shape(), &graph.ids[..]), ((2, 2), &[-5, 1000][..]));
/// let options = EdgeOptions::new().named(true);
/// let graph = parse_edges_with(b"ada bea\nbea cleo\n", "example", &options)?;
/// assert_eq!(graph.labels.iter().collect::<Vec<_>>(), ["ada", "bea", "cleo"]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EdgeOptions<'a> {
    pub(super) common: Common<'a>,
    pub(super) zero_based: Option<bool>,
    pub(super) undirected: Option<bool>,
    pub(super) bipartite: bool,
    pub(super) renumber: bool,
    pub(super) named: bool,
    pub(super) repeated: Repeated,
}

common_options! { EdgeOptions }

impl EdgeOptions<'_> {
    /// Whether the vertices of an edge list count from 0, or from 1. Where this is not said, a list with a vertex 0
    /// counts from 0, one of KONECT from 1, and any other is refused.
    #[must_use]
    pub fn zero_based(mut self, zero_based: bool) -> Self {
        self.zero_based = Some(zero_based);
        self
    }
    /// Whether each edge of an edge list stands for both directions. Where this is not said, edges are directed, unless
    /// the file is one of KONECT that says otherwise.
    #[must_use]
    pub fn undirected(mut self, undirected: bool) -> Self {
        self.undirected = Some(undirected);
        self
    }
    /// Whether the two vertices of an edge belong to different sets, rows and columns, each counted by itself.
    #[must_use]
    pub fn bipartite(mut self, bipartite: bool) -> Self {
        self.bipartite = bipartite;
        self
    }
    /// Numbers vertices in the order of the integers that an edge list has for them, which may be any
    /// ([`LabeledMatrix::ids`](crate::io::LabeledMatrix::ids)).
    #[must_use]
    pub fn renumber(mut self, renumber: bool) -> Self {
        self.renumber = renumber;
        self
    }
    /// Takes any words for vertices, numbered in the order in which they appear first
    /// ([`LabeledMatrix::labels`](crate::io::LabeledMatrix::labels)).
    #[must_use]
    pub fn named(mut self, named: bool) -> Self {
        self.named = named;
        self
    }
    /// What becomes of an edge with a weight that stands in the file more than once.
    #[must_use]
    pub fn repeated(mut self, repeated: Repeated) -> Self {
        self.repeated = repeated;
        self
    }
    pub(super) fn limits(&self) -> Limits {
        self.common.limits("text of a graph")
    }
}
