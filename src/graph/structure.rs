//! A graph: an adjacency matrix with cached properties.

use std::sync::{Arc, OnceLock};
#[cfg(feature = "cuda")]
use std::sync::{Mutex, PoisonError};

use super::place::{GraphBackend, Place};
use super::triangles::symmetry;
#[cfg(feature = "cuda")]
use crate::Cuda;
use crate::algebra::Num;
#[cfg(feature = "cuda")]
use crate::gpu::DeviceGraph;
use crate::par::{reserved, zeros};
use crate::sparse::transposed_values;
use crate::{Cpu, Csr, Error, Pattern, Result};

/// Whether the edges of a graph have a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphKind {
    /// Entry (i, j) is the edge from i to j.
    Directed,
    /// Entry (i, j), entry (j, i) or both are the edge between i and j.
    Undirected,
}

impl GraphKind {
    /// Undirected if the square matrix `a` is symmetric in pattern and values, with sorted rows; otherwise directed.
    ///
    /// Cost: O(nnz + n).
    /// # Errors
    /// [`Error::NotSquare`]; [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::prelude::*;
    /// use sparring::graph::GraphKind;
    /// let a = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![3.0, 4.0])?;
    /// assert_eq!(GraphKind::of(&Cpu::new(), &a)?, GraphKind::Directed);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn of<T: Num>(cpu: &Cpu, a: &Csr<T>) -> Result<Self> {
        let a = square(a)?;
        Ok(if is_symmetric(cpu, a.pattern(), Some(a.values()))? { Self::Undirected } else { Self::Directed })
    }
}

impl std::fmt::Display for GraphKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Directed => "directed",
            Self::Undirected => "undirected",
        })
    }
}

/// A graph of vertices 0..n: sorted adjacency lists, with edge weights if the graph is weighted.
///
/// A self-loop is the entry (i, i), stored once. There are no parallel edges: the operator that builds the matrix
/// combines them. A stored zero is an edge of weight 0.
/// The transpose of a directed graph is computed when an algorithm first needs it, and cached; an undirected graph
/// shares its pattern with the source matrix, if that is symmetric and sorted.
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind};
/// // 0 → 1 → 2, and a self-loop at 2.
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 3], vec![1, 2, 2], vec![5.0, 7.0, 1.0])?;
/// let cpu = Cpu::new();
/// let g = Graph::weighted(&cpu, &a, GraphKind::Directed)?;
/// assert_eq!((g.vertices(), g.edges(), g.self_loops()), (3, 3, 1));
/// assert_eq!((g.neighbors(1), g.weights(1)), (&[2][..], Some(&[7.0][..])));
/// let both = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// assert_eq!(both.neighbors(1), [0, 2]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct Graph {
    kind: GraphKind,
    outgoing: Rows,
    /// For a directed graph.
    incoming: OnceLock<Rows>,
    #[cfg(feature = "cuda")]
    on_device: Mutex<Option<Arc<DeviceGraph>>>,
    self_loops: usize,
    least_weight: f64,
    mean_weight: f64,
}

/// Lists of neighbors, with their weights.
#[derive(Clone, Debug)]
struct Rows {
    pattern: Arc<Pattern>,
    weights: Option<Arc<Vec<f64>>>,
}

/// Adjacency lists, of outgoing or of incoming edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lists<'a> {
    /// List v is `ptr[v]..ptr[v + 1]`.
    pub(super) ptr: &'a [usize],
    /// Other ends of the edges, increasing within each list.
    pub(super) ends: &'a [u32],
    /// Weight of each edge, if the graph is weighted.
    pub(super) weights: Option<&'a [f64]>,
}

impl<'a> Lists<'a> {
    #[inline(always)]
    pub(super) fn of(&self, v: usize) -> &'a [u32] {
        &self.ends[self.ptr[v]..self.ptr[v + 1]]
    }
    #[inline(always)]
    pub(super) fn degree(&self, v: usize) -> usize {
        self.ptr[v + 1] - self.ptr[v]
    }
    /// Total number of edges in the lists of these vertices.
    pub(super) fn edges_of(&self, vertices: &[u32]) -> usize {
        vertices.iter().map(|&v| self.degree(v as usize)).sum()
    }
    /// Other ends and weights of the edges of `v`; weight 1 if unweighted.
    #[inline(always)]
    pub(super) fn weighted(&self, v: usize) -> impl Iterator<Item = (usize, f64)> + 'a {
        let (start, end) = (self.ptr[v], self.ptr[v + 1]);
        let weights = self.weights;
        self.ends[start..end].iter().enumerate().map(move |(k, &u)| (u as usize, weights.map_or(1.0, |w| w[start + k])))
    }
}

impl Graph {
    /// The unweighted graph whose edges are the entries of the square matrix `a`; values are ignored.
    ///
    /// Cost: O(nnz + n), or O(1) if `a` is sorted and the graph is directed.
    /// # Errors
    /// [`Error::NotSquare`]; [`Error::OutOfMemory`]; [`Error::IndexOverflow`] for more than 2³² − 1 vertices.
    pub fn new<T: Num>(cpu: &Cpu, a: &Csr<T>, kind: GraphKind) -> Result<Self> {
        Self::of_rows(cpu, Rows { pattern: Arc::clone(square(a)?.pattern()), weights: None }, kind)
    }
    /// The graph of a square pattern; see [`new`](Self::new).
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn of_pattern(cpu: &Cpu, pattern: &Arc<Pattern>, kind: GraphKind) -> Result<Self> {
        let (nrows, ncols) = pattern.shape();
        if nrows != ncols {
            return Err(Error::NotSquare { op: "graph", nrows, ncols });
        }
        Self::of_rows(cpu, Rows { pattern: Arc::clone(pattern), weights: None }, kind)
    }
    /// The weighted graph of the square matrix `a`, with its values as edge weights, stored as doubles. If both
    /// directions of an undirected edge are stored, their weights must be equal.
    ///
    /// Cost: O(nnz + n).
    /// # Errors
    /// Those of [`new`](Self::new); [`Error::Argument`] for a weight that is NaN, an integer not representable as a
    /// double, and two weights of one undirected edge.
    pub fn weighted<T: Num>(cpu: &Cpu, a: &Csr<T>, kind: GraphKind) -> Result<Self> {
        let pattern = Arc::clone(square(a)?.pattern());
        let mut weights = reserved(a.nnz(), "weights")?;
        for (k, &x) in a.values().iter().enumerate() {
            let w = x.as_f64();
            // Integers beyond 2⁵³ may not be representable; infinite weights are allowed.
            if w.is_nan() || T::narrow(w.widen()).partial_cmp(&x) != Some(std::cmp::Ordering::Equal) {
                let i = pattern.row_ptr().partition_point(|&p| p <= k) - 1;
                let at = format!("the weight of edge ({i}, {})", pattern.col_idx()[k]);
                let message = if w.is_nan() { format!("{at} is not a number") } else { format!("{at} has no double") };
                return Err(Error::Argument { name: "weight", message });
            }
            weights.push(w);
        }
        Self::of_rows(cpu, Rows { pattern, weights: Some(Arc::new(weights)) }, kind)
    }
    fn of_rows(cpu: &Cpu, mut rows: Rows, kind: GraphKind) -> Result<Self> {
        let n = rows.pattern.nrows();
        // u32::MAX is reserved for no vertex.
        if n > u32::MAX as usize {
            return Err(Error::IndexOverflow { what: "vertices", needed: n as u128, max: u32::MAX.into() });
        }
        let transposed = if kind == GraphKind::Undirected
            && is_symmetric(cpu, &rows.pattern, rows.weights.as_ref().map(|w| &w[..]))?
        {
            None
        } else if kind == GraphKind::Undirected || !rows.pattern.is_sorted() {
            let t = rows.transpose(cpu)?;
            if !rows.pattern.is_sorted() {
                rows = t.transpose(cpu)?;
            }
            Some(t)
        } else {
            None
        };
        let incoming = OnceLock::new();
        match (kind, transposed) {
            (GraphKind::Directed, Some(t)) => _ = incoming.set(t),
            (GraphKind::Undirected, Some(t)) => rows = rows.united(&t)?,
            (_, None) => {}
        }
        let self_loops = (0..n).filter(|&v| rows.pattern.find(v, v).is_some()).count();
        let (least_weight, mean_weight) = rows.weights.as_ref().map_or((1.0, 1.0), |w| {
            let finite = w.iter().filter(|w| w.is_finite());
            let count = finite.clone().count().max(1) as f64;
            // Divides first: the sum may overflow.
            let mean = finite.map(|w| w / count).sum::<f64>();
            (w.iter().copied().fold(f64::INFINITY, f64::min), mean)
        });
        Ok(Self {
            kind,
            outgoing: rows,
            incoming,
            #[cfg(feature = "cuda")]
            on_device: Mutex::default(),
            self_loops,
            least_weight,
            mean_weight,
        })
    }
    /// Whether the graph is directed.
    #[must_use]
    pub fn kind(&self) -> GraphKind {
        self.kind
    }
    /// Number of vertices, n.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.outgoing.pattern.nrows()
    }
    /// Number of edges, m, including self-loops; an undirected edge counts once.
    #[must_use]
    pub fn edges(&self) -> usize {
        match self.kind {
            GraphKind::Directed => self.outgoing.pattern.nnz(),
            GraphKind::Undirected => (self.outgoing.pattern.nnz() + self.self_loops) / 2,
        }
    }
    /// Number of self-loops.
    #[must_use]
    pub fn self_loops(&self) -> usize {
        self.self_loops
    }
    /// Whether the graph is weighted.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.outgoing.weights.is_some()
    }
    /// The out-neighbors of `v`, increasing.
    /// # Panics
    /// If there is no vertex `v`.
    #[must_use]
    pub fn neighbors(&self, v: usize) -> &[u32] {
        self.outgoing.pattern.row(v)
    }
    /// The weights of the edges to [`neighbors`](Self::neighbors), if the graph is weighted.
    /// # Panics
    /// If there is no vertex `v`.
    #[must_use]
    pub fn weights(&self, v: usize) -> Option<&[f64]> {
        let ptr = self.outgoing.pattern.row_ptr();
        self.outgoing.weights.as_ref().map(|w| &w[ptr[v]..ptr[v + 1]])
    }
    /// The out-degree of `v`; in an undirected graph its degree, counting a self-loop once.
    /// # Panics
    /// If there is no vertex `v`.
    #[must_use]
    pub fn degree(&self, v: usize) -> usize {
        self.neighbors(v).len()
    }
    /// The pattern of the adjacency matrix; for an undirected graph with both directions of each edge.
    #[must_use]
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.outgoing.pattern
    }
    /// Computes and caches the transpose of a directed graph. Algorithms that require it compute it on first use;
    /// [`bfs`](super::bfs) on the CPU uses it only if it is cached. On a GPU, also uploads the graph.
    ///
    /// Cost: O(nnz + n).
    /// # Errors
    /// [`Error::OutOfMemory`]; on a GPU [`Error::DeviceMemory`], [`Error::Device`].
    pub fn prepare(&self, on: &(impl GraphBackend + ?Sized)) -> Result<()> {
        match on.place()? {
            Place::Cpu(cpu) => self.incoming(cpu).map(drop),
            #[cfg(feature = "cuda")]
            Place::Cuda(cuda) => self.on_device(cuda)?.incoming().map(drop),
        }
    }
    /// The cached copy of the graph on that device.
    #[cfg(feature = "cuda")]
    pub(super) fn on_device(&self, cuda: &Cuda) -> Result<Arc<DeviceGraph>> {
        let mut kept = self.on_device.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = kept.as_ref().filter(|g| g.is_on(cuda)) {
            return Ok(Arc::clone(there));
        }
        let there = Arc::new(DeviceGraph::new(cuda, &self.outgoing.pattern, self.has_both_directions())?);
        *kept = Some(Arc::clone(&there));
        Ok(there)
    }
    /// Edges grouped by source vertex.
    pub(super) fn outgoing(&self) -> Lists<'_> {
        self.outgoing.lists()
    }
    /// Whether each edge is in the lists of both ends.
    pub(super) fn has_both_directions(&self) -> bool {
        self.kind == GraphKind::Undirected
    }
    /// Whether [`incoming`](Self::incoming) is free.
    pub(super) fn has_incoming(&self) -> bool {
        self.kind == GraphKind::Undirected || self.incoming.get().is_some()
    }
    /// Edges grouped by target vertex.
    pub(super) fn incoming(&self, cpu: &Cpu) -> Result<Lists<'_>> {
        if self.kind == GraphKind::Undirected {
            return Ok(self.outgoing());
        }
        if let Some(rows) = self.incoming.get() {
            return Ok(rows.lists());
        }
        let rows = self.outgoing.transpose(cpu)?;
        Ok(self.incoming.get_or_init(|| rows).lists())
    }
    /// Rejects an index that is no vertex.
    pub(super) fn check(&self, name: &'static str, v: usize) -> Result<()> {
        if v < self.vertices() {
            return Ok(());
        }
        Err(Error::Argument { name, message: format!("vertex {v} of a graph of {}", self.vertices()) })
    }
    /// The mean of the finite weights; 1 if unweighted.
    pub(super) fn mean_weight(&self) -> f64 {
        self.mean_weight
    }
    /// Rejects negative weights.
    pub(super) fn check_weights(&self, op: &str) -> Result<()> {
        if self.least_weight >= 0.0 { Ok(()) } else { Err(self.refused(op, "not be negative", |w| w < 0.0)) }
    }
    /// Rejects weights that are not positive.
    pub(super) fn check_positive(&self, op: &str) -> Result<()> {
        if self.least_weight > 0.0 { Ok(()) } else { Err(self.refused(op, "be positive", |w| w <= 0.0)) }
    }
    #[cold]
    fn refused(&self, op: &str, must: &str, is: fn(f64) -> bool) -> Error {
        let lists = self.outgoing();
        let edge = (0..self.vertices()).find_map(|u| lists.weighted(u).find(|e| is(e.1)).map(|(v, w)| (u, v, w)));
        let (u, v, w) = edge.unwrap_or_default();
        Error::Argument {
            name: "weight",
            message: format!("{op}: the weight of edge ({u}, {v}) is {w}, and must {must}"),
        }
    }
    /// Rejects a directed graph.
    pub(super) fn check_undirected(&self, op: &str) -> Result<()> {
        if self.kind == GraphKind::Undirected {
            return Ok(());
        }
        Err(Error::Argument { name: "graph", message: format!("{op} is defined on undirected graphs") })
    }
}

impl Rows {
    fn lists(&self) -> Lists<'_> {
        let weights = self.weights.as_ref().map(|w| &w[..]);
        Lists { ptr: self.pattern.row_ptr(), ends: self.pattern.col_idx(), weights }
    }
    fn transpose(&self, cpu: &Cpu) -> Result<Self> {
        Ok(match &self.weights {
            None => Self { pattern: Arc::new(self.pattern.transpose(cpu.threads())?), weights: None },
            Some(weights) => {
                let (pattern, weights) = transposed_values(cpu.threads(), &self.pattern, weights)?;
                Self { pattern: Arc::new(pattern), weights: Some(Arc::new(weights)) }
            }
        })
    }
    /// The union of both edge sets, common edges once. `t` is the transpose; rows are sorted.
    fn united(self, t: &Self) -> Result<Self> {
        let same = self.pattern == t.pattern;
        if same && self.weights == t.weights {
            return Ok(self);
        }
        let (n, (a, t)) = (self.pattern.nrows(), (self.lists(), t.lists()));
        let most = if same { a.ends.len() } else { 2 * a.ends.len() };
        let mut ptr = zeros(n + 1, "row pointers")?;
        let mut ends = reserved(most, "edges")?;
        let mut weights = if a.weights.is_some() { Some(reserved(most, "weights")?) } else { None };
        for v in 0..n {
            let (mut out, mut into) = (a.weighted(v).peekable(), t.weighted(v).peekable());
            loop {
                let (u, w) = match (out.peek().copied(), into.peek().copied()) {
                    (Some(x), Some(y)) if x.0 == y.0 => {
                        if x.1 != y.1 {
                            return Err(Error::Argument {
                                name: "weight",
                                message: format!(
                                    "undirected edge ({v}, {}) has two: {} and {}; merge A and Aᵀ by an operator first",
                                    x.0, x.1, y.1
                                ),
                            });
                        }
                        out.next();
                        into.next();
                        x
                    }
                    (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                        out.next();
                        x
                    }
                    (_, Some(y)) => {
                        into.next();
                        y
                    }
                    (_, None) => break,
                };
                ends.push(u as u32);
                if let Some(weights) = &mut weights {
                    weights.push(w);
                }
            }
            ptr[v + 1] = ends.len();
        }
        Ok(Self { pattern: Arc::new(Pattern::new(n, n, ptr, ends)?), weights: weights.map(Arc::new) })
    }
}

/// Whether a square matrix equals its transpose, in pattern and, if given, values; does not build the transpose.
fn is_symmetric<T: PartialEq>(cpu: &Cpu, a: &Pattern, values: Option<&[T]>) -> Result<bool> {
    if symmetry(cpu.threads(), a)?.is_none() {
        return Ok(false);
    }
    let Some(values) = values else { return Ok(true) };
    // The rows i > j that contain j come in the order in which row j lists them after its diagonal. A finger per row
    // holds the position of its next entry to be matched.
    let (n, ptr) = (a.nrows(), a.row_ptr());
    let mut fingers = reserved(n, "fingers in rows")?;
    fingers.extend((0..n).map(|j| ptr[j] + a.row(j).partition_point(|&i| i as usize <= j)));
    for (i, &start) in ptr[..n].iter().enumerate() {
        for (k, &j) in (start..).zip(a.row(i)).take_while(|&(_, &j)| (j as usize) < i) {
            let finger = &mut fingers[j as usize];
            if values[k] != values[*finger] {
                return Ok(false);
            }
            *finger += 1;
        }
    }
    Ok(true)
}

/// Checks that a matrix is square.
fn square<T: Num>(a: &Csr<T>) -> Result<&Csr<T>> {
    let (nrows, ncols) = a.shape();
    if nrows != ncols {
        return Err(Error::NotSquare { op: "graph", nrows, ncols });
    }
    a.compressed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undirected_graph_has_both_directions_once() {
        let cpu = Cpu::new();
        // (0, 1) stored both ways, (1, 2) one way, a loop at 2; unsorted rows.
        let (ptr, cols) = (vec![0, 1, 3, 4], vec![1, 2, 0, 2]);
        let a = Csr::<f64>::from_unsorted(3, 3, ptr, cols, vec![4.0, 5.0, 4.0, 6.0]).unwrap();
        let g = Graph::weighted(&cpu, &a, GraphKind::Undirected).unwrap();
        assert_eq!((g.vertices(), g.edges(), g.self_loops()), (3, 3, 1));
        assert_eq!((g.neighbors(1), g.weights(1)), (&[0, 2][..], Some(&[4.0, 5.0][..])));
        assert_eq!((g.neighbors(2), g.weights(2)), (&[1, 2][..], Some(&[5.0, 6.0][..])));
        let d = Graph::weighted(&cpu, &a, GraphKind::Directed).unwrap();
        assert_eq!((d.edges(), d.neighbors(1), d.weights(1)), (4, &[0, 2][..], Some(&[4.0, 5.0][..])));
        assert_eq!((d.incoming(&cpu).unwrap().of(2), d.degree(2)), (&[1, 2][..], 1));
    }

    #[test]
    fn weights_that_cannot_be_are_refused() {
        let cpu = Cpu::new();
        let two = |w| Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 0], w).unwrap();
        let e = Graph::weighted(&cpu, &two(vec![1.0, 2.0]), GraphKind::Undirected).unwrap_err().to_string();
        assert!(e.contains("(0, 1) has two: 1 and 2"), "{e}");
        assert!(Graph::weighted(&cpu, &two(vec![1.0, 2.0]), GraphKind::Directed).is_ok());
        let e = Graph::weighted(&cpu, &two(vec![1.0, f64::NAN]), GraphKind::Directed).unwrap_err().to_string();
        assert!(e.contains("(1, 0) is not a number"), "{e}");
        let big = Csr::<u64>::new(1, 1, vec![0, 1], vec![0], vec![(1 << 53) + 1]).unwrap();
        let e = Graph::weighted(&cpu, &big, GraphKind::Directed).unwrap_err().to_string();
        assert!(e.contains("(0, 0) has no double"), "{e}");
        let wide = Csr::<f64>::empty(2, 3).unwrap();
        assert!(matches!(Graph::new(&cpu, &wide, GraphKind::Directed), Err(Error::NotSquare { .. })));
    }
}
