//! Options of the graph readers.

use crate::io::common::{Common, common_options};
use crate::io::text::Limits;

/// Treatment of duplicate weighted edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeated {
    /// Duplicates are an error.
    #[default]
    Refuse,
    /// Weights are summed.
    Sum,
    /// The minimum weight.
    Min,
    /// The maximum weight.
    Max,
}

/// Options for reading a graph.
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
    /// Whether vertices of an edge list are zero-based or one-based. If unset, a list with a vertex 0 is zero-based, a
    /// KONECT list is one-based, and any other list is an error.
    #[must_use]
    pub fn zero_based(mut self, zero_based: bool) -> Self {
        self.zero_based = Some(zero_based);
        self
    }
    /// Whether each edge of an edge list stands for both directions. If unset, edges are directed, unless a KONECT
    /// comment says otherwise.
    #[must_use]
    pub fn undirected(mut self, undirected: bool) -> Self {
        self.undirected = Some(undirected);
        self
    }
    /// Whether the graph is bipartite: the first vertex of an edge numbers a row, the second a column, independently.
    #[must_use]
    pub fn bipartite(mut self, bipartite: bool) -> Self {
        self.bipartite = bipartite;
        self
    }
    /// Accepts any integers as vertices of an edge list, and renumbers them in increasing order
    /// ([`LabeledMatrix::ids`](crate::io::LabeledMatrix::ids)).
    #[must_use]
    pub fn renumber(mut self, renumber: bool) -> Self {
        self.renumber = renumber;
        self
    }
    /// Accepts any words as vertices, numbered in order of first appearance
    /// ([`LabeledMatrix::labels`](crate::io::LabeledMatrix::labels)).
    #[must_use]
    pub fn named(mut self, named: bool) -> Self {
        self.named = named;
        self
    }
    /// Treatment of duplicate weighted edges.
    #[must_use]
    pub fn repeated(mut self, repeated: Repeated) -> Self {
        self.repeated = repeated;
        self
    }
    pub(super) fn limits(&self) -> Limits {
        self.common.limits("text of a graph")
    }
}
