//! Triangles at each vertex and at each edge.

use std::sync::Arc;

use super::forward::symmetry;
use super::listed::Upward;
use crate::par::Threads;
use crate::{Csr, Error, Index, Pattern, Result};

/// Counts for the vertices of the graph underlying `a`.
pub(super) fn per_vertex<I: Index>(threads: &Threads, a: &Pattern<I>) -> Result<Vec<u64>> {
    let graph = simple(threads, a, "triangles_per_vertex")?;
    Upward::new(threads, graph.as_ref().unwrap_or(a))?.per_vertex(threads)
}

/// Counts for the vertices of a simple graph: symmetric, sorted, without a diagonal.
pub(in crate::graph) fn counts_of_simple<I: Index>(threads: &Threads, graph: &Pattern<I>) -> Result<Vec<u64>> {
    Upward::new(threads, graph)?.per_vertex(threads)
}

/// Counts for the entries of a simple graph: symmetric, sorted, without a diagonal.
pub(in crate::graph) fn edge_counts_of_simple<I: Index>(threads: &Threads, graph: &Pattern<I>) -> Result<Vec<u64>> {
    Upward::new(threads, graph)?.per_edge(threads)
}

/// Counts for the edges of the graph underlying `a`; the result shares the pattern of `a` if that is the graph's.
pub(super) fn per_edge<I: Index>(threads: &Threads, a: &Arc<Pattern<I>>) -> Result<Csr<u64, I>> {
    let graph = simple(threads, a, "triangles_per_edge")?.map_or_else(|| a.clone(), Arc::new);
    let values = Upward::new(threads, &graph)?.per_edge(threads)?;
    Csr::with_pattern(graph, values)
}

/// The simple graph underlying `a`, rows sorted; `None` if it is `a` itself.
fn simple<I: Index>(threads: &Threads, a: &Pattern<I>, op: &'static str) -> Result<Option<Pattern<I>>> {
    if a.nrows() != a.ncols() {
        return Err(Error::NotSquare { op, nrows: a.nrows(), ncols: a.ncols() });
    }
    Ok(match symmetry(threads, a)? {
        Some(0) => None,
        Some(_) => Some(a.select(threads, |i, j| i != j)?),
        None => Some(a.symmetrized(threads)?),
    })
}
