//! Clustering coefficients: the fraction of pairs of neighbors that are adjacent.

use super::Graph;
use super::simple::simple;
use super::triangles::counts_of_simple;
use crate::par::{Threads, UninitOutput, reserved};
use crate::{Cpu, Pattern, Result};

/// `c(v) = 2 t(v) / (d(v) (d(v) − 1))`: the fraction of the pairs of neighbors of each vertex that are adjacent, with
/// t(v) triangles and d(v) neighbors; 0 for a vertex of fewer than two neighbors.
///
/// Self-loops and weights are ignored, as in networkx. Cost: that of
/// [`triangles_per_vertex`](super::triangles_per_vertex).
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for a directed graph; [`Error::OutOfMemory`](crate::Error::OutOfMemory).
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, average_clustering, local_clustering, transitivity};
/// use sparring::{Cpu, Csr};
/// // A triangle 0, 1, 2 and the edge 2 – 3.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3], vec![1.0; 4])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// assert_eq!(local_clustering(&cpu, &g)?, [1.0, 1.0, 1.0 / 3.0, 0.0]);
/// assert_eq!(average_clustering(&cpu, &g)?, (2.0 + 1.0 / 3.0) / 4.0);
/// assert_eq!(transitivity(&cpu, &g)?, 3.0 / 5.0);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Watts, Strogatz 1998, "Collective dynamics of 'small-world' networks".
pub fn local_clustering(cpu: &Cpu, g: &Graph) -> Result<Vec<f64>> {
    g.check_undirected("clustering")?;
    let graph = simple(cpu, g)?;
    if graph.row_ptr().windows(2).all(|p| p[1] - p[0] <= LOW_DEGREE) {
        return of_low_degrees(cpu.threads(), &graph);
    }
    let triangles = counts_of_simple(cpu.threads(), &graph)?;
    let mut local = reserved(triangles.len(), "clustering coefficients")?;
    local.extend(triangles.iter().enumerate().map(|(v, &t)| coefficient(t, graph.row(v).len())));
    Ok(local)
}

fn coefficient(triangles: u64, degree: usize) -> f64 {
    let degree = degree as f64;
    if triangles == 0 { 0.0 } else { 2.0 * triangles as f64 / (degree * (degree - 1.0)) }
}

/// Maximum degree for searching each pair of neighbors in the list of one of them: ordering the vertices, so that each
/// triangle is found once instead of three times, takes longer.
const LOW_DEGREE: usize = 8;
/// Vertices per block.
const BLOCK: usize = 1 << 12;

/// Coefficients of a simple graph of maximum degree [`LOW_DEGREE`].
fn of_low_degrees(threads: &Threads, graph: &Pattern) -> Result<Vec<f64>> {
    let n = graph.nrows();
    let block = |b: usize| (b * BLOCK).min(n);
    let local = UninitOutput::new(n, "clustering coefficients")?;
    local.fill(
        threads,
        "clustering",
        n.div_ceil(BLOCK).max(1),
        block,
        || Ok(()),
        |(), b, slots| {
            for (local, v) in slots.rest(0.0).iter_mut().zip(block(b)..) {
                let list = graph.row(v);
                let mut triangles = 0;
                for (k, &u) in list.iter().enumerate() {
                    let others = &list[k + 1..];
                    if !others.is_empty() {
                        let of = graph.row(u as usize);
                        triangles += others.iter().flat_map(|x| of.iter().map(move |y| u64::from(x == y))).sum::<u64>();
                    }
                }
                *local = coefficient(triangles, list.len());
            }
            Ok(())
        },
    )
}

/// `1/n Σ c(v)`: the mean of [`local_clustering`] over all vertices, 0 for an empty graph.
///
/// Cost: that of [`local_clustering`]. The sum is in the order of the vertices.
/// # Errors
/// Those of [`local_clustering`].
pub fn average_clustering(cpu: &Cpu, g: &Graph) -> Result<f64> {
    let local = local_clustering(cpu, g)?;
    Ok(if local.is_empty() { 0.0 } else { local.iter().sum::<f64>() / local.len() as f64 })
}

/// `3 · triangles / Σ d(v) (d(v) − 1) / 2`: the fraction of paths of two edges that are closed by a third, also called
/// global clustering coefficient; 0 if there are no such paths.
///
/// Self-loops and weights are ignored, as in networkx. Cost: that of [`triangles`](super::triangles()).
/// # Errors
/// Those of [`local_clustering`].
pub fn transitivity(cpu: &Cpu, g: &Graph) -> Result<f64> {
    g.check_undirected("transitivity")?;
    let graph = simple(cpu, g)?;
    let wedges: u128 =
        graph.row_ptr().windows(2).map(|p| (p[1] - p[0]) as u128).map(|d| d * d.saturating_sub(1) / 2).sum();
    if wedges == 0 {
        return Ok(0.0);
    }
    let found = super::triangles(cpu, &*graph, super::TriangleMethod::Auto)?;
    Ok(3.0 * found.count as f64 / wedges as f64)
}
