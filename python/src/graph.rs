//! Graphs and algorithms, behind `sparring.graph`.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use sparring::algebra::Array;
use sparring::graph::{self, Graph, GraphKind, Iteration, PageRankOptions, TriangleMethod};
use sparring::par::filled;
use sparring::runtime::{Machine, Matrix};
use sparring::{Cpu, Result};
use std::sync::Arc;

use crate::arrays::{array, as_array, collected, copied, on_host};
use crate::errors::Raise;
use crate::indices::integers;
use crate::machines::machine;
use crate::matrix::PyMatrix;
use crate::operands;

/// A graph of vertices 0..n: an adjacency matrix with its kind (directed or undirected), weights and transpose.
///
/// Parameters
/// ----------
/// a : Matrix, or sparse array or matrix of SciPy or PyData
///     Entry (i, j), including a stored zero, is an edge from i to j.
/// directed : bool, optional
///     By default the graph is undirected if the matrix is symmetric, including values. In an undirected graph, (i, j),
///     (j, i) or both represent the edge between i and j.
/// weighted : bool
///     Whether values are edge weights, as float64.
///
/// Examples
/// --------
/// >>> import numpy as np, scipy.sparse, sparring as sp
/// >>> g = sp.graph.Graph(scipy.sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])))
/// >>> g
/// <sparring.graph.Graph, undirected, 3 vertices, 2 edges>
#[pyclass(name = "Graph", module = "sparring.graph", frozen, weakref)]
pub(crate) struct PyGraph(Graph);

/// The processor.
fn cpu(on: &Machine) -> PyResult<&Cpu> {
    on.typed::<Cpu>().ok_or_else(|| PyValueError::new_err("this algorithm runs only on the processor: device='cpu'"))
}

#[pymethods]
impl PyGraph {
    #[new]
    #[pyo3(signature = (a, directed=None, weighted=false))]
    fn make(a: &Bound<'_, PyAny>, directed: Option<bool>, weighted: bool) -> PyResult<Self> {
        let (py, on) = (a.py(), machine(None)?);
        let (a, _) = operands::matrix(a)?;
        let kind = directed.map(|directed| if directed { GraphKind::Directed } else { GraphKind::Undirected });
        let cpu = cpu(&on)?;
        Ok(Self(on.compute(py, a.nnz(), || a.graph(cpu, kind, weighted))?))
    }
    /// Number of vertices.
    #[getter]
    fn vertices(&self) -> usize {
        self.0.vertices()
    }
    /// Number of edges including self-loops; an undirected edge counts once.
    #[getter]
    fn edges(&self) -> usize {
        self.0.edges()
    }
    /// Whether the graph is directed.
    #[getter]
    fn is_directed(&self) -> bool {
        self.0.kind() == GraphKind::Directed
    }
    /// Whether the graph is weighted.
    #[getter]
    fn is_weighted(&self) -> bool {
        self.0.is_weighted()
    }
    /// Degree of a vertex; in a directed graph, its out-degree.
    fn degree(&self, vertex: usize) -> PyResult<usize> {
        if vertex >= self.0.vertices() {
            let message = format!("vertex {vertex} of a graph of {} vertices", self.0.vertices());
            return Err(pyo3::exceptions::PyIndexError::new_err(message));
        }
        Ok(self.0.degree(vertex))
    }
    /// The adjacency matrix: weights as float64, or bool if unweighted; an undirected graph has both directions.
    fn matrix(&self, py: Python<'_>) -> PyResult<PyMatrix> {
        let made: Result<Matrix> = py.detach(|| {
            let pattern = Arc::clone(self.0.pattern());
            let values = if self.0.is_weighted() {
                let mut weights = filled(pattern.nnz(), 0.0, "weights")?;
                for (v, range) in pattern.row_ptr().windows(2).enumerate() {
                    weights[range[0]..range[1]].copy_from_slice(self.0.weights(v).unwrap_or_default());
                }
                Array::of(weights)
            } else {
                Array::of(filled(pattern.nnz(), true, "values")?)
            };
            Matrix::new(pattern, values)
        });
        Ok(PyMatrix::new(made.raise()?))
    }
    fn __repr__(&self) -> String {
        let kind = if self.is_directed() { "directed" } else { "undirected" };
        let weighted = if self.is_weighted() { ", weighted" } else { "" };
        format!("<sparring.graph.Graph, {kind}{weighted}, {} vertices, {} edges>", self.vertices(), self.edges())
    }
}

/// Numbers of vertices or levels as int32, -1 if missing.
fn signed(py: Python<'_>, numbers: Vec<u32>) -> PyResult<Bound<'_, PyAny>> {
    PyArray1::from_vec(py, numbers).call_method1(intern!(py, "view"), (intern!(py, "int32"),))
}

fn doubles(py: Python<'_>, numbers: Vec<f64>) -> Bound<'_, PyAny> {
    PyArray1::from_vec(py, numbers).into_any()
}

/// Vertex numbers from the caller, checked.
fn vertices(of: &Bound<'_, PyAny>, g: &Graph) -> PyResult<Vec<usize>> {
    let py = of.py();
    let found = integers(&py.import("numpy")?.getattr("atleast_1d")?.call1((of,))?, "sources")?;
    let n = g.vertices();
    let check = |&v: &i64| {
        let inside = usize::try_from(v).ok().filter(|&v| v < n);
        inside.ok_or_else(|| pyo3::exceptions::PyIndexError::new_err(format!("vertex {v} of a graph of {n} vertices")))
    };
    collected(found.len(), found.iter().map(check), "sources")
}

/// Algorithms with a number per vertex as the result: on the processor only, or on any device.
macro_rules! of_vertices {
    ($($name:ident |$on:ident, $g:ident $(, $argument:ident: $t:ty)*| $give:ident $body:expr;)*) => {$(
        #[pyfunction]
        #[pyo3(signature = (g, $($argument,)* device=None))]
        pub(crate) fn $name<'py>(
            py: Python<'py>,
            g: &Bound<'py, PyGraph>,
            $($argument: $t,)*
            device: Option<&str>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let (on, $g) = (machine(device)?, &g.get().0);
            let $on: &Machine = &on;
            let found = on.compute(py, $g.edges(), || $body)?;
            $give(py, found)
        }
    )*};
}

fn given(py: Python<'_>, numbers: Vec<f64>) -> PyResult<Bound<'_, PyAny>> {
    Ok(doubles(py, numbers))
}

/// Runs a CPU-only algorithm, or returns the error for another device.
fn on_cpu<T>(on: &Machine, work: impl FnOnce(&Cpu) -> Result<T>) -> Result<T> {
    match on.typed::<Cpu>() {
        Some(cpu) => work(cpu),
        None => Err(sparring::Error::Unsupported {
            what: format!("this algorithm on {}", on.name()),
            why: "it runs only on the processor".into(),
        }),
    }
}

fn steps(tolerance: f64, max_iterations: u32) -> Iteration {
    Iteration { tolerance, max_iterations }
}

of_vertices! {
    bfs |on, g, source: usize| signed graph::bfs(on, g, source);
    sssp |on, g, source: usize| given graph::sssp(on, g, source);
    connected_components |on, g| signed graph::connected_components(on, g);
    strongly_connected_components |on, g| signed on_cpu(on, |cpu| graph::strongly_connected_components(cpu, g));
    betweenness_centrality |on, g, normalized: bool| given graph::betweenness_centrality(on, g, normalized);
    sampled_betweenness |on, g, samples: usize, seed: u64, normalized: bool|
        given graph::sampled_betweenness(on, g, samples, seed, normalized);
    closeness_centrality |on, g| given on_cpu(on, |cpu| graph::closeness_centrality(cpu, g));
    harmonic_centrality |on, g| given on_cpu(on, |cpu| graph::harmonic_centrality(cpu, g));
    eigenvector_centrality |on, g, tolerance: f64, max_iterations: u32|
        given on_cpu(on, |cpu| graph::eigenvector_centrality(cpu, g, steps(tolerance, max_iterations)));
    katz_centrality |on, g, alpha: f64, beta: f64, tolerance: f64, max_iterations: u32|
        given on_cpu(on, |cpu| graph::katz_centrality(cpu, g, alpha, beta, steps(tolerance, max_iterations)));
    core_numbers |on, g| signed on_cpu(on, |cpu| graph::core_numbers(cpu, g));
    local_clustering |on, g| given on_cpu(on, |cpu| graph::local_clustering(cpu, g));
    maximal_independent_set |on, g| signed on_cpu(on, |cpu| graph::maximal_independent_set(cpu, g));
    topological_order |on, g| signed on_cpu(on, |cpu| graph::topological_order(cpu, g));
}

/// Levels and parents of a breadth-first search.
#[pyfunction]
#[pyo3(signature = (g, source, device=None))]
pub(crate) fn bfs_tree<'py>(
    py: Python<'py>,
    g: &Bound<'py, PyGraph>,
    source: usize,
    device: Option<&str>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (on, g) = (machine(device)?, &g.get().0);
    let found = on.compute(py, g.edges(), || graph::bfs_tree(&*on, g, source))?;
    Ok((signed(py, found.levels)?, signed(py, found.parents)?))
}

/// Levels of searches from several vertices: a row per source.
#[pyfunction]
pub(crate) fn multi_source_bfs<'py>(
    py: Python<'py>,
    g: &Bound<'py, PyGraph>,
    sources: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (on, g) = (machine(None)?, &g.get().0);
    let sources = vertices(sources, g)?;
    let found = on.compute(py, g.edges(), || on_cpu(&on, |cpu| graph::multi_source_bfs(cpu, g, &sources)))?;
    signed(py, found)?.call_method1("reshape", (sources.len(), g.vertices()))
}

/// Distances and parents of shortest paths; `bellman_ford` for negative weights.
#[pyfunction]
#[pyo3(signature = (g, source, negative=false, device=None))]
pub(crate) fn sssp_tree<'py>(
    py: Python<'py>,
    g: &Bound<'py, PyGraph>,
    source: usize,
    negative: bool,
    device: Option<&str>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (on, g) = (machine(device)?, &g.get().0);
    let work = || match negative {
        true => on_cpu(&on, |cpu| graph::bellman_ford(cpu, g, source)),
        false => graph::sssp_tree(&*on, g, source),
    };
    let found = on.compute(py, g.edges(), work)?;
    Ok((doubles(py, found.distances), signed(py, found.parents)?))
}

/// All-pairs distances: n rows of n.
#[pyfunction]
pub(crate) fn all_pairs_shortest_paths<'py>(py: Python<'py>, g: &Bound<'py, PyGraph>) -> PyResult<Bound<'py, PyAny>> {
    let (on, g) = (machine(None)?, &g.get().0);
    let found = on.compute(py, g.edges(), || on_cpu(&on, |cpu| graph::all_pairs_shortest_paths(cpu, g)))?;
    doubles(py, found).call_method1("reshape", (g.vertices(), g.vertices()))
}

/// Ranks, and the number of iterations.
#[pyfunction]
#[pyo3(signature = (g, damping, tolerance, max_iterations, personalization=None, drop_dangling=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn pagerank<'py>(
    py: Python<'py>,
    g: &Bound<'py, PyGraph>,
    damping: f64,
    tolerance: f64,
    max_iterations: u32,
    personalization: Option<&Bound<'py, PyAny>>,
    drop_dangling: bool,
    device: Option<&str>,
) -> PyResult<(Bound<'py, PyAny>, u32)> {
    let (on, g) = (machine(device)?, &g.get().0);
    let personalization = match personalization {
        None => None,
        Some(of) => {
            let wide = as_array(of, Some("float64"), "personalization")?;
            Some(copied(wide.as_any(), "personalization")?.into_vec().unwrap_or_default())
        }
    };
    let options = PageRankOptions { damping, tolerance, max_iterations, personalization, drop_dangling };
    let found = on.compute(py, g.edges(), || graph::pagerank(&*on, g, &options))?;
    Ok((doubles(py, found.ranks), found.iterations))
}

/// Hubs and authorities.
#[pyfunction]
pub(crate) fn hits<'py>(
    py: Python<'py>,
    g: &Bound<'py, PyGraph>,
    tolerance: f64,
    max_iterations: u32,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (on, g) = (machine(None)?, &g.get().0);
    let found =
        on.compute(py, g.edges(), || on_cpu(&on, |cpu| graph::hits(cpu, g, steps(tolerance, max_iterations))))?;
    Ok((doubles(py, found.hubs), doubles(py, found.authorities)))
}

/// Communities by `leiden` or `louvain`: labels and modularity.
#[pyfunction]
pub(crate) fn communities<'py>(
    py: Python<'py>,
    g: &Bound<'py, PyGraph>,
    method: &str,
    resolution: f64,
    iterations: usize,
    seed: u64,
) -> PyResult<(Bound<'py, PyAny>, f64)> {
    let (on, g) = (machine(None)?, &g.get().0);
    let cpu = cpu(&on)?;
    let found = match method {
        "leiden" => on.compute(py, g.edges(), || graph::leiden(cpu, g, resolution, iterations, seed)),
        _ => on.compute(py, g.edges(), || graph::louvain(cpu, g, resolution, seed)),
    };
    let found = found?;
    Ok((signed(py, found.labels)?, found.modularity))
}

/// The modularity of a labelling.
#[pyfunction]
pub(crate) fn modularity(
    py: Python<'_>,
    g: &Bound<'_, PyGraph>,
    labels: &Bound<'_, PyAny>,
    resolution: f64,
) -> PyResult<f64> {
    let (on, g) = (machine(None)?, &g.get().0);
    let n = g.vertices();
    let label = |(v, &label): (usize, &i64)| {
        let message = || PyValueError::new_err(format!("labels: vertex {v} has label {label}, which is not below {n}"));
        u32::try_from(label).map_err(|_| message())
    };
    let labels = integers(labels, "labels")?;
    let labels = collected(labels.len(), labels.iter().enumerate().map(label), "labels")?;
    on.compute(py, g.edges(), || on_cpu(&on, |cpu| graph::modularity(cpu, g, &labels, resolution)))
}

/// Labels, iterations, and whether they are stable.
#[pyfunction]
#[pyo3(signature = (g, iterations, asynchronous=false, device=None))]
pub(crate) fn label_propagation<'py>(
    py: Python<'py>,
    g: &Bound<'py, PyGraph>,
    iterations: usize,
    asynchronous: bool,
    device: Option<&str>,
) -> PyResult<(Bound<'py, PyAny>, usize, bool)> {
    let (on, g) = (machine(device)?, &g.get().0);
    let work = || match asynchronous {
        true => on_cpu(&on, |cpu| graph::asynchronous_label_propagation(cpu, g, iterations)),
        false => graph::label_propagation(&*on, g, iterations),
    };
    let found = on.compute(py, g.edges(), work)?;
    Ok((signed(py, found.labels)?, found.iterations, found.stable))
}

/// Pairs of vertices as two columns.
fn pairs(py: Python<'_>, edges: Vec<(u32, u32)>) -> PyResult<Bound<'_, PyAny>> {
    let count = edges.len();
    let flat = collected(2 * count, edges.into_iter().flat_map(|(a, b)| [Ok(a), Ok(b)]), "edges")?;
    signed(py, flat)?.call_method1("reshape", (count, 2))
}

/// Edges of a minimum spanning forest, and their weight.
#[pyfunction]
pub(crate) fn minimum_spanning_forest<'py>(
    py: Python<'py>,
    g: &Bound<'py, PyGraph>,
) -> PyResult<(Bound<'py, PyAny>, f64)> {
    let (on, g) = (machine(None)?, &g.get().0);
    let found = on.compute(py, g.edges(), || on_cpu(&on, |cpu| graph::minimum_spanning_forest(cpu, g)))?;
    Ok((pairs(py, found.edges)?, found.weight))
}

/// Edges of the k-truss.
#[pyfunction]
pub(crate) fn k_truss<'py>(py: Python<'py>, g: &Bound<'py, PyGraph>, k: u32) -> PyResult<Bound<'py, PyAny>> {
    let (on, g) = (machine(None)?, &g.get().0);
    pairs(py, on.compute(py, g.edges(), || on_cpu(&on, |cpu| graph::k_truss(cpu, g, k)))?)
}

/// Edges, and the truss number of each.
#[pyfunction]
pub(crate) fn truss_numbers<'py>(
    py: Python<'py>,
    g: &Bound<'py, PyGraph>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (on, g) = (machine(None)?, &g.get().0);
    let found = on.compute(py, g.edges(), || on_cpu(&on, |cpu| graph::truss_numbers(cpu, g)))?;
    Ok((pairs(py, found.edges)?, signed(py, found.numbers)?))
}

/// Colors, and their number.
#[pyfunction]
pub(crate) fn greedy_coloring<'py>(py: Python<'py>, g: &Bound<'py, PyGraph>) -> PyResult<(Bound<'py, PyAny>, u32)> {
    let (on, g) = (machine(None)?, &g.get().0);
    let found = on.compute(py, g.edges(), || on_cpu(&on, |cpu| graph::greedy_coloring(cpu, g)))?;
    Ok((signed(py, found.colors)?, found.count))
}

/// Average clustering and transitivity.
#[pyfunction]
pub(crate) fn clustering(py: Python<'_>, g: &Bound<'_, PyGraph>) -> PyResult<(f64, f64)> {
    let (on, g) = (machine(None)?, &g.get().0);
    let work = |cpu: &Cpu| Ok((graph::average_clustering(cpu, g)?, graph::transitivity(cpu, g)?));
    on.compute(py, g.edges(), || on_cpu(&on, work))
}

/// Number of triangles of the graph of a square matrix.
#[pyfunction]
#[pyo3(signature = (a, device=None))]
pub(crate) fn triangles(a: &Bound<'_, PyAny>, device: Option<&str>) -> PyResult<u64> {
    let (py, on) = (a.py(), machine(device)?);
    let (a, _) = operands::matrix(a)?;
    Ok(on.compute(py, a.nnz(), || on.triangles(&a, TriangleMethod::Auto))?.count)
}

/// Number of triangles of each vertex.
#[pyfunction]
#[pyo3(signature = (a, device=None))]
pub(crate) fn triangles_per_vertex<'py>(a: &Bound<'py, PyAny>, device: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let (py, on) = (a.py(), machine(device)?);
    let (a, _) = operands::matrix(a)?;
    array(py, Array::of(on.compute(py, a.nnz(), || on.triangles_per_vertex(&a))?))
}

/// A maximum matching of rows with columns: the column of each row, and the row of each column, -1 if unmatched.
#[pyfunction]
pub(crate) fn bipartite_matching<'py>(a: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (py, on) = (a.py(), machine(None)?);
    let (a, _) = operands::matrix(a)?;
    let a = py.detach(|| a.download()).raise()?;
    let pattern = Arc::clone(on_host(&a)?);
    let found = on.compute(py, a.nnz(), || on_cpu(&on, |cpu| graph::bipartite_matching(cpu, &pattern)))?;
    Ok((signed(py, found.rows)?, signed(py, found.cols)?))
}

/// The functions of `sparring._sparring._graph`.
pub(crate) fn module<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyModule>> {
    let m = PyModule::new(py, "_graph")?;
    m.add_class::<PyGraph>()?;
    macro_rules! functions {
        ($($name:ident)*) => {
            $(m.add_function(wrap_pyfunction!($name, &m)?)?;)*
        };
    }
    functions! {
        all_pairs_shortest_paths betweenness_centrality bfs bfs_tree bipartite_matching closeness_centrality clustering
        communities connected_components core_numbers eigenvector_centrality greedy_coloring harmonic_centrality hits
        k_truss katz_centrality label_propagation local_clustering maximal_independent_set minimum_spanning_forest
        modularity multi_source_bfs pagerank sampled_betweenness sssp sssp_tree strongly_connected_components
        topological_order triangles triangles_per_vertex truss_numbers
    }
    Ok(m)
}
