//! Cores, trusses, clustering, colors, sets, communities, forests, matchings and orders of graphs.

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

/// The core number of each vertex, the largest k for which it is in a subgraph of degrees from k on; of a directed
/// graph that of the undirected graph under it. `cores` has room for `capacity`.
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

/// Clustering of an undirected graph: `local` gets for each vertex the part of its pairs of neighbors that are
/// neighbors, `average` their mean, `transitivity` three times the triangles over the paths of two edges. Each may be
/// NULL; `local` has room for `capacity` numbers.
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

/// A maximal independent set: `vertices`, with room for `capacity`, gets its `*count` vertices in increasing order;
/// `count` may be NULL. If there is room for fewer than the graph has vertices, SPARRING_LENGTH.
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

/// Colors from 0 on, so that neighbors differ, at most one more than the largest degree: `colors` has room for
/// `capacity`, `*count` gets their number and may be NULL.
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

/// Labels after at most `iterations` steps, in each of which a vertex takes the most frequent label of its neighbors,
/// the least of these: all vertices at the same time (CDLP of LDBC Graphalytics, which takes 10 steps), or if
/// `asynchronous` is not 0, one after the other, until no label changes (UINT64_MAX steps, say), on the processor.
/// `communities` has room for `capacity`, `*taken` gets the steps and may be NULL.
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

/// The minimum spanning forest of an undirected graph, by weights if it has them: `sources` and `targets`, each with
/// room for `capacity` and at least as many as there are vertices, get the ends of its `*count` edges, and `*weight`
/// the sum of their weights. `count` and `weight` may be NULL.
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

/// A maximum matching of the rows and columns of the adjacency matrix: `partners` gets for each row the column that it
/// is matched with, UINT32_MAX for none, and has room for `capacity`; `*count` gets the number of pairs and may be
/// NULL.
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

/// The vertices of a directed graph without cycles in an order in which every edge leads forwards, the least vertex
/// first where several could be: `order` has room for `capacity`. A cycle is SPARRING_ARGUMENT, and a vertex on it is
/// named.
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

/// Communities of an undirected graph, by weights if it has them: `communities`, with room for `capacity`, gets for
/// each vertex the number of its community, numbered by their least vertices, `*count` how many there are, and
/// `*modularity` theirs; both may be NULL. By Leiden's method in at most `iterations` rounds (2, say), whose
/// communities hang together, or by Louvain's if `iterations` is 0. The higher the `resolution` (usually 1), the
/// smaller they are. `seed` draws the order in which vertices are considered (0, say).
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

/// The edges of the k-truss of the undirected graph under a graph, the largest subgraph in which every edge is in k - 2
/// triangles: `*count` gets their number, `sources` and `targets` their ends, the lesser first. Both have room for
/// `capacity`; with a `capacity` of 0 only their number is wanted. Each may be NULL.
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
