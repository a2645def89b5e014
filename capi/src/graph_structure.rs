//! Cores, trusses, clustering, colorings, independent sets, communities, forests, matchings and topological orders.

use sparring::Error;
use sparring::graph::{
    Matching, asynchronous_label_propagation, bipartite_matching, core_numbers, greedy_coloring, k_truss,
    label_propagation, leiden, local_clustering, louvain, maximal_independent_set, minimum_spanning_forest,
    modularity as modularity_of, topological_order, truss_numbers,
};

use crate::device::SparringDevice;
use crate::graph::{SparringGraph, give, processor, ready};
use crate::guard::Fail;
use crate::handle::handle;
use crate::matrix::SparringMatrix;
use crate::memory::{check_any, fits, input, output, output_as, size, write};
use crate::sparse::Sparse;
use crate::status::SparringStatus;

/// The core number of each vertex, the largest k such that it belongs to a subgraph of minimum degree k; a directed
/// graph is treated as undirected. `cores` has room for `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_core_numbers(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    cores: *mut u32,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        ready(&graph.graph, cores, capacity, "cores")?;
        let found = core_numbers(processor(&device)?, &graph.graph)?;
        // SAFETY: by the contract above `cores` has room for `capacity`.
        unsafe { give(&found, cores, capacity, "cores") }
    })
}

/// Clustering of an undirected graph: `local` receives for each vertex the fraction of pairs of its neighbors that are
/// adjacent, `average` the mean, `transitivity` three times the number of triangles over the number of paths of two
/// edges. Each may be NULL; `local` has room for `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_clustering(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    local: *mut f64,
    capacity: u64,
    average: *mut f64,
    transitivity: *mut f64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        let cpu = processor(&device)?;
        if !local.is_null() {
            fits(graph.graph.vertices(), capacity, "local")?;
        }
        let found = local_clustering(cpu, &graph.graph)?;
        // SAFETY: by the contract above `local` has room for `capacity` numbers, the others for one, or they are NULL.
        unsafe {
            output(&found, local, capacity, "local")?;
            output(&[found.iter().sum::<f64>() / found.len().max(1) as f64], average, 1, "average")?;
            if transitivity.is_null() {
                return Ok(());
            }
            output(&[sparring::graph::transitivity(cpu, &graph.graph)?], transitivity, 1, "transitivity")
        }
    })
}

/// A maximal independent set: `vertices`, with room for `capacity`, receives its `*count` vertices in increasing order;
/// `count` may be NULL. A capacity below the number of vertices is SPARRING_LENGTH.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_independent_set(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    vertices: *mut u32,
    capacity: u64,
    count: *mut u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        ready(&graph.graph, vertices, capacity, "vertices")?;
        let set = maximal_independent_set(processor(&device)?, &graph.graph)?;
        // SAFETY: by the contract above `vertices` has room for `capacity`, and `count` for a number or is NULL.
        unsafe {
            give(&set, vertices, capacity, "vertices")?;
            output(&[set.len() as u64], count, 1, "count")
        }
    })
}

/// A greedy coloring with colors from 0, at most one more than the maximum degree: `colors` has room for `capacity`,
/// `*count` receives the number of colors and may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_color(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    colors: *mut u32,
    capacity: u64,
    count: *mut u32,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        ready(&graph.graph, colors, capacity, "colors")?;
        let found = greedy_coloring(processor(&device)?, &graph.graph)?;
        // SAFETY: by the contract above `colors` has room for `capacity`, and `count` for a number or is NULL.
        unsafe {
            give(&found.colors, colors, capacity, "colors")?;
            output(&[found.count], count, 1, "count")
        }
    })
}

/// Label propagation: labels after at most `iterations` rounds. In each round a vertex takes the most frequent label of
/// its neighbors, the smallest one in case of ties: synchronously (CDLP of LDBC Graphalytics, which uses 10 rounds),
/// or, if `asynchronous` is not 0, one vertex at a time until no label changes (for example with UINT64_MAX rounds), on
/// the processor. `communities` has room for `capacity`, `*taken` receives the number of rounds and may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_label_propagation(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    iterations: u64,
    asynchronous: u32,
    communities: *mut u32,
    capacity: u64,
    taken: *mut u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        ready(&graph.graph, communities, capacity, "communities")?;
        let iterations = usize::try_from(iterations).unwrap_or(usize::MAX);
        let found = match asynchronous {
            0 => label_propagation(&device.machine, &graph.graph, iterations)?,
            _ => asynchronous_label_propagation(processor(&device)?, &graph.graph, iterations)?,
        };
        // SAFETY: by the contract above `communities` has room for `capacity`, and `taken` for a number or is NULL.
        unsafe {
            give(&found.labels, communities, capacity, "communities")?;
            output(&[found.iterations as u64], taken, 1, "taken")
        }
    })
}

/// The minimum spanning forest of an undirected graph, weighted if the graph is: `sources` and `targets`, each with
/// room for `capacity`, at least the number of vertices, receive the ends of its `*count` edges, and `*weight` their
/// total weight. `count` and `weight` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_spanning_forest(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    sources: *mut u32,
    targets: *mut u32,
    capacity: u64,
    count: *mut u64,
    weight: *mut f64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        let n = graph.graph.vertices();
        fits(n, capacity, "sources")?;
        check_any(sources, n, "sources")?;
        check_any(targets, n, "targets")?;
        let found = minimum_spanning_forest(processor(&device)?, &graph.graph)?;
        // SAFETY: by the contract above the first two have room for `capacity`, the others for a number or are NULL.
        unsafe {
            output_as(&found.edges, sources, capacity, "sources", |edge| edge.0)?;
            output_as(&found.edges, targets, capacity, "targets", |edge| edge.1)?;
            output(&[found.edges.len() as u64], count, 1, "count")?;
            output(&[found.weight], weight, 1, "weight")
        }
    })
}

/// A maximum matching of the rows and columns of the adjacency matrix: `partners` receives for each row its matched
/// column, UINT32_MAX if unmatched, and has room for `capacity`; `*count` receives the number of pairs and may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_matching(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    partners: *mut u32,
    capacity: u64,
    count: *mut u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        ready(&graph.graph, partners, capacity, "partners")?;
        let found = bipartite_matching(processor(&device)?, graph.graph.pattern())?;
        // SAFETY: by the contract above `partners` has room for `capacity`, and `count` for a number or is NULL.
        unsafe {
            give(&found.rows, partners, capacity, "partners")?;
            output(&[found.size as u64], count, 1, "count")
        }
    })
}

/// A topological order of an acyclic directed graph: every edge points forward, and the smallest available vertex comes
/// first. `order` has room for `capacity`. A cycle is SPARRING_ARGUMENT, and the message names a vertex on it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_topological_order(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    order: *mut u32,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        ready(&graph.graph, order, capacity, "order")?;
        let found = topological_order(processor(&device)?, &graph.graph)?;
        // SAFETY: by the contract above `order` has room for `capacity`.
        unsafe { give(&found, order, capacity, "order") }
    })
}

/// Communities of an undirected graph, weighted if the graph is: `communities`, with room for `capacity`, receives the
/// community of each vertex, numbered in the order of their smallest vertices, `*count` their number, and `*modularity`
/// their modularity; both may be NULL. Uses the Leiden method with at most `iterations` rounds (for example 2), whose
/// communities are connected, or the Louvain method if `iterations` is 0. A larger `resolution` (usually 1) gives
/// smaller communities. `seed` determines the random vertex order (for example 0).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_communities(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    resolution: f64,
    iterations: u64,
    seed: u64,
    communities: *mut u32,
    capacity: u64,
    count: *mut u64,
    modularity: *mut f64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        let cpu = processor(&device)?;
        ready(&graph.graph, communities, capacity, "communities")?;
        let found = match size(iterations, "iterations")? {
            0 => louvain(cpu, &graph.graph, resolution, seed)?,
            rounds => leiden(cpu, &graph.graph, resolution, rounds, seed)?,
        };
        // SAFETY: by the contract above `communities` has room for `capacity`, the others for a number or are NULL.
        unsafe {
            give(&found.labels, communities, capacity, "communities")?;
            output(&[found.count as u64], count, 1, "count")?;
            output(&[found.modularity], modularity, 1, "modularity")
        }
    })
}

/// The edges of the k-truss, the largest subgraph in which every edge is in at least k - 2 triangles, of a graph
/// treated as undirected: `*count` receives their number, `sources` and `targets` their ends, the smaller first. Both
/// have room for `capacity`; a `capacity` of 0 returns only the number. Each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_graph_truss(
    device: *const SparringDevice,
    graph: *const SparringGraph,
    k: u32,
    sources: *mut u32,
    targets: *mut u32,
    capacity: u64,
    count: *mut u64,
) -> SparringStatus {
    ffi!({
        let (device, graph) = (handle(device, "device")?, handle(graph, "graph")?);
        let edges = k_truss(processor(&device)?, &graph.graph, k)?;
        // SAFETY: by the contract above `count` has room for a number, the others for `capacity`.
        unsafe {
            output(&[edges.len() as u64], count, 1, "count")?;
            if capacity == 0 {
                return Ok(());
            }
            output_as(&edges, sources, capacity, "sources", |edge| edge.0)?;
            output_as(&edges, targets, capacity, "targets", |edge| edge.1)
        }
    })
}

/// The truss number of each edge of a graph treated as undirected, without self-loops: the largest k for which the edge
/// is in the k-truss (sparring_graph_truss), at least 2. `*count` receives the number of edges, at most that of
/// sparring_graph_info, `sources` and `targets` their ends, the smaller first, in increasing order, `numbers` their
/// truss numbers. Each may be NULL; the arrays have room for `capacity`, and a `capacity` of 0 returns only `*count`.
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

/// The modularity of communities: `communities` has `count` numbers, one per vertex, each below the number of vertices,
/// as returned by sparring_graph_communities and sparring_graph_components. `*modularity` receives the result;
/// `resolution` is usually 1. Weighted if the graph is; a directed graph uses out- and in-degrees.
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

/// A maximum matching of the rows and columns of a matrix of any shape, whose entries are the possible pairs: `rows`
/// receives for each row its matched column, `columns` for each column its row, UINT32_MAX if unmatched. `*count`
/// receives the number of pairs, the structural rank. Each may be NULL; `rows` has room for `row_capacity`, `columns`
/// for `column_capacity`.
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
