//! Graphs, and algorithms on them.

use std::sync::Arc;

use sparring::algebra::Array;
use sparring::graph::{
    self, Graph, GraphKind, Iteration, PageRankOptions, all_pairs_shortest_paths_into, betweenness_centrality,
    closeness_centrality, dependencies, eigenvector_centrality, harmonic_centrality, katz_centrality, multi_source_bfs,
    sampled_betweenness,
};
use sparring::par::filled;
use sparring::runtime::Matrix;
use sparring::{Cpu, Error};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::matrix::SparringMatrix;
use crate::memory::{NewHandle, check_any, choice, copied, fits, input, output, room, size, write};
use crate::sparse::Sparse;
use crate::status::SparringStatus;

/// Whether the edges of a graph have a direction.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringGraphKind {
    /// Undirected if the matrix is symmetric, including values; else directed.
    SPARRING_GRAPH_AUTO = 0,
    /// Entry (i, j) is an edge from i to j.
    SPARRING_GRAPH_DIRECTED = 1,
    /// Entry (i, j), entry (j, i) or both represent the edge between i and j.
    SPARRING_GRAPH_UNDIRECTED = 2,
}

use SparringGraphKind::*;

/// A graph of vertices 0..n in host memory. It is immutable, except that it caches its transpose and a copy on a GPU;
/// it may be shared between threads.
pub struct SparringGraph {
    pub(crate) graph: Graph,
}

impl Object for SparringGraph {
    const NAME: &'static str = "SparringGraph";
}

/// Properties of a graph.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SparringGraphInfo {
    /// Number of vertices.
    pub vertices: u64,
    /// Number of edges including self-loops; an undirected edge counts once.
    pub edges: u64,
    /// Number of edges from a vertex to itself.
    pub self_loops: u64,
    /// SPARRING_GRAPH_DIRECTED or SPARRING_GRAPH_UNDIRECTED.
    pub kind: u32,
    /// 1 if edges have weights, else 0.
    pub weighted: u32,
}

/// Options of sparring_graph_pagerank.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SparringPageRankOptions {
    /// Damping factor in [0, 1), usually 0.85.
    pub damping: f64,
    /// The iteration stops when the 1-norm of the change is below this, for example 1e-6.
    pub tolerance: f64,
    /// Failing to converge within this many iterations is SPARRING_ARGUMENT.
    pub max_iterations: u32,
    /// 1: drop the rank of dangling vertices, as the GAP benchmark does. 0: it follows the teleport distribution.
    pub drop_dangling: u32,
    /// Teleport distribution, up to a factor, a number per vertex; NULL: uniform.
    pub personalization: *const f64,
}

/// The processor of a device.
pub(crate) fn processor(device: &SparringDevice) -> Fallible<&Cpu> {
    device.machine.typed::<Cpu>().ok_or_else(|| {
        let what = format!("graph algorithms on {}", device.machine.name());
        Fail::from(Error::Unsupported { what, why: "they run only on the processor".into() })
    })
}

/// The graph of the square matrix `a`, whose entries, including stored zeros, are edges. `kind` is a SparringGraphKind.
/// If `weighted` is not 0, values are edge weights, converted to doubles: complex numbers, integers that a double
/// cannot represent, and different weights in the two directions of an undirected edge are errors. `*graph` receives
/// the handle, NULL on failure. Free it with sparring_graph_free; it does not depend on `a` afterwards.
///
/// Breadth-first search, shortest paths with nonnegative weights, connected components, PageRank, unweighted
/// betweenness and label propagation run on the processor and on GPUs, whatever device the graph was created with; the
/// others return SPARRING_UNSUPPORTED on a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_new(
    device: *const SparringDevice,
    a: *const SparringMatrix,
    kind: u32,
    weighted: u32,
    graph: *mut *mut SparringGraph,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `graph` points to room for a handle.
        let out = unsafe { NewHandle::at(graph, "graph")? };
        let (device, a) = (handle(device, "device")?, handle(a, "a")?.snapshot());
        let kinds = [
            (SPARRING_GRAPH_AUTO as u32, None),
            (SPARRING_GRAPH_DIRECTED as u32, Some(GraphKind::Directed)),
            (SPARRING_GRAPH_UNDIRECTED as u32, Some(GraphKind::Undirected)),
        ];
        let kind = choice("kind", kind, &kinds)?;
        // A graph for a GPU is built in host memory as well.
        let beside;
        let cpu = match device.machine.typed::<Cpu>() {
            Some(cpu) => cpu,
            None => {
                beside = Cpu::new();
                &beside
            }
        };
        let graph = a.graph(cpu, kind, weighted != 0).map_err(|e| Fail::from(e).naming("a"))?;
        out.give(SparringGraph { graph })
    })
}

/// Frees a graph; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_graph_free(graph: *mut SparringGraph) -> SparringStatus {
    ffi!({ release(graph, "graph") })
}

/// The properties of a graph, written to `*info`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_info(
    graph: *const SparringGraph,
    info: *mut SparringGraphInfo,
) -> SparringStatus {
    ffi!({
        let g = &handle(graph, "graph")?.graph;
        let kind = match g.kind() {
            GraphKind::Directed => SPARRING_GRAPH_DIRECTED,
            GraphKind::Undirected => SPARRING_GRAPH_UNDIRECTED,
        };
        let found = SparringGraphInfo {
            vertices: g.vertices() as u64,
            edges: g.edges() as u64,
            self_loops: g.self_loops() as u64,
            kind: kind as u32,
            weighted: u32::from(g.is_weighted()),
        };
        // SAFETY: by the contract above `info` points to room for a `SparringGraphInfo`.
        unsafe { write(info, found, "info") }
    })
}

/// The adjacency matrix of a graph: `*matrix` receives the handle, NULL on failure, of a matrix of SPARRING_F64 with
/// the weights, or of SPARRING_BOOL for an unweighted graph; an undirected edge is stored in both directions. Free it
/// with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_matrix(
    graph: *const SparringGraph,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle.
        let out = unsafe { NewHandle::at(matrix, "matrix")? };
        let g = &handle(graph, "graph")?.graph;
        let pattern = Arc::clone(g.pattern());
        let values = if g.is_weighted() {
            let mut weights = filled(pattern.nnz(), 0.0, "weights")?;
            for (v, range) in pattern.row_ptr().windows(2).enumerate() {
                weights[range[0]..range[1]].copy_from_slice(g.weights(v).unwrap_or_default());
            }
            Array::of(weights)
        } else {
            Array::of(filled(pattern.nnz(), true, "values")?)
        };
        out.give(Matrix::new(pattern, values)?.into())
    })
}

/// Computes the transpose of a directed graph in advance, and for a GPU uploads the graph; algorithms otherwise do so
/// at first need, and sparring_graph_bfs on the processor works without a transpose.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_graph_prepare(device: *const SparringDevice, graph: *const SparringGraph) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        Ok(graph.graph.prepare(&device.machine)?)
    })
}

/// Breadth-first search from the vertex `source`: `levels` receives the minimum number of edges to each vertex,
/// `parents` the smallest predecessor one level closer, the source itself for `source`; UINT32_MAX for unreachable
/// vertices. Either may be NULL; both have room for `capacity` numbers, one per vertex.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_bfs(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    source: u64,
    levels: *mut u32,
    parents: *mut u32,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        let (on, source) = (&device.machine, size(source, "source")?);
        fits(graph.graph.vertices(), capacity, "levels")?;
        // SAFETY: by the contract above both have room for `capacity` numbers or are NULL.
        unsafe {
            if parents.is_null() {
                return output(&graph::bfs(on, &graph.graph, source)?, levels, capacity, "levels");
            }
            let tree = graph::bfs_tree(on, &graph.graph, source)?;
            output(&tree.levels, levels, capacity, "levels")?;
            output(&tree.parents, parents, capacity, "parents")
        }
    })
}

/// Shortest paths from the vertex `source`: `distances` receives the minimum sum of weights to each vertex, infinite
/// for unreachable vertices, `parents` the predecessor on such a path, UINT32_MAX if there is none. `parents` may be
/// NULL; both have room for `capacity` numbers. An unweighted graph has weight 1 for each edge. Negative weights are
/// SPARRING_ARGUMENT unless `negative` is not 0; then a negative cycle is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_sssp(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    source: u64,
    negative: u32,
    distances: *mut f64,
    parents: *mut u32,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        let (on, source) = (&device.machine, size(source, "source")?);
        ready(&graph.graph, distances, capacity, "distances")?;
        // SAFETY: by the contract above both have room for `capacity` numbers, or `parents` is NULL.
        unsafe {
            if parents.is_null() && negative == 0 {
                return give(&graph::sssp(on, &graph.graph, source)?, distances, capacity, "distances");
            }
            let found = match negative {
                0 => graph::sssp_tree(on, &graph.graph, source)?,
                _ => graph::bellman_ford(processor(&device)?, &graph.graph, source)?,
            };
            give(&found.distances, distances, capacity, "distances")?;
            output(&found.parents, parents, capacity, "parents")
        }
    })
}

/// Checks that there is room for a table of `rows` by `columns`, before anything is computed.
fn table<T>(rows: usize, columns: usize, to: *const T, capacity: u64, name: &'static str) -> Fallible {
    let len = rows.checked_mul(columns).ok_or_else(|| Error::IndexOverflow {
        what: name,
        needed: rows as u128 * columns as u128,
        max: usize::MAX as u128,
    })?;
    fits(len, capacity, name)?;
    check_any(to, len, name)
}

/// Breadth-first searches from each of `count` sources, in batches of 64: the level of vertex v in the search from
/// sources[k] is written to levels[k * vertices + v], UINT32_MAX for unreachable vertices. `levels` has room for
/// `capacity` numbers, at least `count` times the number of vertices; else SPARRING_LENGTH before any computation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_multi_source_bfs(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    sources: *const u64,
    count: u64,
    levels: *mut u32,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        // SAFETY: by the contract above there are `count` sources, and `levels` has room for `capacity` numbers.
        unsafe {
            let sources = input(sources, size(count, "count")?, "sources")?;
            table(sources.len(), graph.graph.vertices(), levels, capacity, "levels")?;
            let sources = copied(sources, "sources", |s| usize::try_from(s).unwrap_or(usize::MAX))?;
            give(&multi_source_bfs(processor(&device)?, &graph.graph, &sources)?, levels, capacity, "levels")
        }
    })
}

/// All-pairs shortest path lengths, weighted if the graph is: the length from u to v is written to
/// distances[u * vertices + v], infinite without a path. For small graphs: `distances` has room for `capacity` numbers,
/// at least the square of the number of vertices, else SPARRING_LENGTH before any computation. Results are computed in
/// place; on failure the array is partially written. Negative weights are SPARRING_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_all_pairs(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    distances: *mut f64,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        let n = graph.graph.vertices();
        table(n, n, distances, capacity, "distances")?;
        let cpu = processor(&device)?;
        // SAFETY: by the contract above `distances` has room for `capacity` numbers.
        let distances = unsafe { room(distances, n * n, capacity, "distances")? };
        Ok(all_pairs_shortest_paths_into(cpu, &graph.graph, distances)?)
    })
}

/// `components` receives for each vertex the smallest vertex of its connected component; in a directed graph, of its
/// weakly connected component, or the strongly connected one if `strong` is not 0. It has room for `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_components(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    strong: u32,
    components: *mut u32,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        ready(&graph.graph, components, capacity, "components")?;
        let found = match strong {
            0 => graph::connected_components(&device.machine, &graph.graph)?,
            _ => graph::strongly_connected_components(processor(&device)?, &graph.graph)?,
        };
        // SAFETY: by the contract above `components` has room for `capacity` numbers.
        unsafe { give(&found, components, capacity, "components") }
    })
}

/// PageRank: `ranks` has room for `capacity` numbers and receives one per vertex; they add up to 1 unless dangling
/// ranks are dropped. `options` may be NULL: damping 0.85, tolerance 1e-6 and 100 iterations. `iterations` and
/// `change`, the number of iterations and the last change of the ranks, may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_pagerank(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    options: *const SparringPageRankOptions,
    ranks: *mut f64,
    capacity: u64,
    iterations: *mut u32,
    change: *mut f64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        let n = graph.graph.vertices();
        ready(&graph.graph, ranks, capacity, "ranks")?;
        let mut chosen = PageRankOptions::default();
        if !options.is_null() {
            // SAFETY: by the contract above `options` points to options, whose personalization has a number for each
            // vertex or is NULL; a number of any bits is a number.
            let (given, personalization) = unsafe {
                let given = input(options, 1, "options")?[0];
                let numbers = if given.personalization.is_null() { 0 } else { n };
                (given, input(given.personalization, numbers, "personalization")?)
            };
            chosen = PageRankOptions {
                damping: given.damping,
                tolerance: given.tolerance,
                max_iterations: given.max_iterations,
                drop_dangling: given.drop_dangling != 0,
                personalization: match given.personalization.is_null() {
                    true => None,
                    false => Some(copied(personalization, "personalization", |x| x)?),
                },
            };
        }
        let found = graph::pagerank(&device.machine, &graph.graph, &chosen)?;
        // SAFETY: by the contract above `ranks` has room for `capacity` numbers, the others for one or are NULL.
        unsafe {
            give(&found.ranks, ranks, capacity, "ranks")?;
            output(&[found.iterations], iterations, 1, "iterations")?;
            output(&[found.change], change, 1, "change")
        }
    })
}

/// Checks that there is room for a number per vertex, before any computation.
pub(crate) fn ready<T>(g: &Graph, to: *const T, capacity: u64, name: &'static str) -> Fallible {
    fits(g.vertices(), capacity, name)?;
    check_any(to, g.vertices(), name)
}

/// Copies results to the caller's array, which may be NULL only if there are none.
/// # Safety
/// `to` has room for `capacity` elements; a `T` may be all zero bytes.
pub(crate) unsafe fn give<T: Copy>(found: &[T], to: *mut T, capacity: u64, name: &'static str) -> Fallible {
    // SAFETY: the caller's promise.
    unsafe { room(to, found.len(), capacity, name)? }.copy_from_slice(found);
    Ok(())
}

/// Writes vertex scores, after checking the capacity.
/// # Safety
/// `scores` has room for `capacity` numbers.
unsafe fn scored(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    scores: *mut f64,
    capacity: u64,
    of: impl FnOnce(&SparringDevice, &Graph) -> Fallible<Vec<f64>>,
) -> Fallible {
    let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
    ready(&graph.graph, scores, capacity, "scores")?;
    let found = of(&device, &graph.graph)?;
    // SAFETY: the caller's promise.
    unsafe { give(&found, scores, capacity, "scores") }
}

/// Betweenness: the fraction of the shortest paths between two other vertices that pass through each vertex, summed
/// over all pairs, each pair once in an undirected graph; divided by the number of pairs if `normalized` is not 0.
/// Exact if `samples` is 0, else estimated from `samples` random sources drawn with `seed`. Weighted if the graph is;
/// weights must be positive. `scores` has room for `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_betweenness(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    samples: u64,
    seed: u64,
    normalized: u32,
    scores: *mut f64,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let (samples, normalized) = (size(samples, "samples")?, normalized != 0);
        // SAFETY: by the contract above `scores` has room for `capacity` numbers.
        unsafe {
            scored(device, graph, scores, capacity, |on, g| match samples {
                0 => Ok(betweenness_centrality(&on.machine, g, normalized)?),
                _ => Ok(sampled_betweenness(&on.machine, g, samples, seed, normalized)?),
            })
        }
    })
}

/// The dependencies of `count` sources on each vertex: summed over the shortest paths from them to all others. `scores`
/// has room for `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_dependencies(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    sources: *const u64,
    count: u64,
    scores: *mut f64,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above there are `count` sources, and `scores` has room for `capacity` numbers.
        unsafe {
            let sources = input(sources, size(count, "count")?, "sources")?;
            let sources = copied(sources, "sources", |s| usize::try_from(s).unwrap_or(usize::MAX))?;
            scored(device, graph, scores, capacity, |on, g| Ok(dependencies(&on.machine, g, &sources)?))
        }
    })
}

/// Closeness of each vertex, from incoming distances (with Wasserman and Faust's correction for disconnected graphs);
/// if `harmonic` is not 0, the sum of 1/distance. Weighted if the graph is. `scores` has room for `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_closeness(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    harmonic: u32,
    scores: *mut f64,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let of = if harmonic == 0 { closeness_centrality } else { harmonic_centrality };
        // SAFETY: by the contract above `scores` has room for `capacity` numbers.
        unsafe { scored(device, graph, scores, capacity, |on, g| Ok(of(processor(on)?, g)?)) }
    })
}

/// The eigenvector of the largest eigenvalue of the transposed adjacency matrix, of 2-norm 1, by iterations until one
/// changes it by less than `tolerance` in total, or SPARRING_ARGUMENT after `max_iterations`. `scores` has room for
/// `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_eigenvector(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    tolerance: f64,
    max_iterations: u32,
    scores: *mut f64,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let until = Iteration { tolerance, max_iterations };
        // SAFETY: by the contract above `scores` has room for `capacity` numbers.
        unsafe {
            scored(device, graph, scores, capacity, |on, g| Ok(eigenvector_centrality(processor(on)?, g, until)?))
        }
    })
}

/// Katz centrality x = alpha·Aᵀ·x + beta, of 2-norm 1, by iterations as in sparring_graph_eigenvector. `scores` has
/// room for `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_katz(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    alpha: f64,
    beta: f64,
    tolerance: f64,
    max_iterations: u32,
    scores: *mut f64,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let until = Iteration { tolerance, max_iterations };
        // SAFETY: by the contract above `scores` has room for `capacity` numbers.
        unsafe {
            scored(device, graph, scores, capacity, |on, g| Ok(katz_centrality(processor(on)?, g, alpha, beta, until)?))
        }
    })
}

/// Hubs and authorities, each adding up to 1, by iterations as in sparring_graph_eigenvector. Either may be NULL; both
/// have room for `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_hits(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    tolerance: f64,
    max_iterations: u32,
    hubs: *mut f64,
    authorities: *mut f64,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        fits(graph.graph.vertices(), capacity, "hubs")?;
        let found = graph::hits(processor(&device)?, &graph.graph, Iteration { tolerance, max_iterations })?;
        // SAFETY: by the contract above both have room for `capacity` numbers or are NULL.
        unsafe {
            output(&found.hubs, hubs, capacity, "hubs")?;
            output(&found.authorities, authorities, capacity, "authorities")
        }
    })
}
