//! Distances of several sources and of all pairs, truss numbers of all edges, the modularity of communities that are
//! given, adjacency matrices, and matchings of matrices of any shape.

use std::sync::Arc;

use sparring::Error;
use sparring::algebra::Array;
use sparring::graph::{
    Matching, all_pairs_shortest_paths, bipartite_matching, modularity as modularity_of, multi_source_bfs,
    truss_numbers,
};
use sparring::par::filled;
use sparring::runtime::Matrix;

use crate::device::SparringDevice;
use crate::graph::{SparringGraph, give, processor};
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix::SparringMatrix;
use crate::memory::{NewHandle, check_any, copied, fits, input, output, output_as, size, write};
use crate::sparse::Sparse;
use crate::status::SparringStatus;

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

/// Breadth-first searches from each of `count` sources, 64 at a time through the graph together: the level of vertex v
/// in the search from sources[k] goes to levels[k * vertices + v], UINT32_MAX where no path leads. `levels` has room
/// for `capacity` numbers, `count` times the number of vertices or more; else SPARRING_LENGTH before anything is
/// computed.
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

/// The length of a shortest path between each two vertices, by weights if the graph has them: from u to v it goes to
/// distances[u * vertices + v], infinite where no path leads. For small graphs: `distances` has room for `capacity`
/// numbers, the square of the number of vertices or more, else SPARRING_LENGTH before anything is computed; as much
/// memory again is taken meanwhile. Negative weights are SPARRING_ARGUMENT.
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
        let found = all_pairs_shortest_paths(processor(&device)?, &graph.graph)?;
        // SAFETY: by the contract above `distances` has room for `capacity` numbers.
        unsafe { give(&found, distances, capacity, "distances") }
    })
}

/// The truss number of each edge of the undirected graph under a graph, self-loops left out: the largest k for which
/// sparring_graph_truss has the edge, 2 or more. `*count` gets the number of edges, no more than sparring_graph_info
/// has, `sources` and `targets` their ends, the lesser first, in increasing order, `numbers` their truss numbers. Each
/// may be NULL; the arrays have room for `capacity`, and with a `capacity` of 0 only `*count` is wanted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_truss_numbers(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    sources: *mut u32,
    targets: *mut u32,
    numbers: *mut u32,
    capacity: u64,
    count: *mut u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        let found = truss_numbers(processor(&device)?, &graph.graph)?;
        // SAFETY: by the contract above `count` has room for a number, the others for `capacity`, or they are NULL.
        unsafe {
            output(&[found.edges.len() as u64], count, 1, "count")?;
            if capacity == 0 {
                return Ok(());
            }
            output_as(&found.edges, sources, capacity, "sources", |edge| edge.0)?;
            output_as(&found.edges, targets, capacity, "targets", |edge| edge.1)?;
            output(&found.numbers, numbers, capacity, "numbers")
        }
    })
}

/// The modularity of communities: `communities` has `count` numbers, one for each vertex, any below the number of
/// vertices, as sparring_graph_communities and sparring_graph_components give them. `*modularity` gets it; `resolution`
/// is 1 as a rule. By weights if the graph has them; of a directed graph by its degrees out and in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_modularity(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    communities: *const u32,
    count: u64,
    resolution: f64,
    modularity: *mut f64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        // SAFETY: by the contract above there are `count` communities, and `modularity` points to room for a number.
        unsafe {
            let labels = input(communities, size(count, "count")?, "communities")?;
            check_any(modularity, 1, "modularity")?;
            let found = modularity_of(processor(&device)?, &graph.graph, labels, resolution).map_err(|e| match e {
                Error::Length { found, expected, .. } => Error::Length { what: "communities", found, expected },
                Error::Argument { name: "labels", message } => Error::Argument { name: "communities", message },
                e => e,
            })?;
            write(modularity, found, "modularity")
        }
    })
}

/// The adjacency matrix of a graph: `*matrix` gets the handle, NULL on failure, of a matrix of SPARRING_F64 with the
/// weights, or of SPARRING_BOOL if edges have none; of an undirected graph with both directions of each edge. Free it
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

/// A maximum matching of the rows and columns of a matrix of any shape, whose entries are what may be matched: `rows`
/// gets for each row the column that it is matched with, `columns` for each column its row, UINT32_MAX for none.
/// `*count` gets the number of pairs, the structural rank. Each may be NULL; `rows` has room for `row_capacity`,
/// `columns` for `column_capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matching(
    device: *const SparringDevice,
    a: *const SparringMatrix,
    rows: *mut u32,
    row_capacity: u64,
    columns: *mut u32,
    column_capacity: u64,
    count: *mut u64,
) -> SparringStatus {
    ffi!({
        let (device, a) = (handle(device, "device")?, handle(a, "a")?.snapshot());
        let (cpu, (nrows, ncols)) = (processor(&device)?, a.shape());
        for (to, len, capacity, name) in
            [(rows, nrows, row_capacity, "rows"), (columns, ncols, column_capacity, "columns")]
        {
            if !to.is_null() {
                fits(len, capacity, name)?;
            }
        }
        let here = a.download()?;
        let Some(pattern) = here.pattern() else {
            return Err(Fail::argument("a", format!("it is on {}", here.machine())));
        };
        let Matching { rows: of_rows, cols, size } = bipartite_matching(cpu, pattern)?;
        // SAFETY: by the contract above `rows` and `columns` have room for their capacities, `count` for a number, or
        // they are NULL.
        unsafe {
            output(&of_rows, rows, row_capacity, "rows")?;
            output(&cols, columns, column_capacity, "columns")?;
            output(&[size as u64], count, 1, "count")
        }
    })
}
