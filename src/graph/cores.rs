//! Core numbers, by peeling vertices of minimum degree.
//!
//! Level k removes vertices of degree k until all remaining ones have a larger degree. Source: Batagelj, Zaveršnik
//! 2003, "An O(m) algorithm for cores decomposition of networks"; the scan of the remaining vertices in place of their
//! buckets is that of Kabir, Madduri 2017, "Parallel k-core decomposition on multicore platforms" (PKC).

use super::Graph;
use super::simple::simple;
use crate::par::{collected, filled};
use crate::{Cpu, Pattern, Result};

/// The core number of each vertex: the largest k such that the vertex is in a subgraph of minimum degree k.
///
/// Edge directions and self-loops are ignored: degrees are those of the underlying simple undirected graph (networkx
/// counts edges of both directions twice and rejects self-loops). An isolated vertex has core number 0. Cost: O(n + m)
/// time, O(n) memory, and O(m) for a copy of a graph that is directed or has self-loops.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, core_numbers};
/// use sparring::{Cpu, Csr};
/// // A triangle 0, 1, 2 and the edge 2 – 3.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3], vec![1.0; 4])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// assert_eq!(core_numbers(&cpu, &g)?, [2, 2, 2, 1]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Batagelj, Zaveršnik 2003.
pub fn core_numbers(cpu: &Cpu, g: &Graph) -> Result<Vec<u32>> {
    let graph = simple(cpu, g)?;
    cpu.threads().alone("core_numbers", || peeled(&graph))
}

/// Core numbers of a symmetric pattern without a diagonal. Vertex v is scanned once per level up to its core number,
/// which is at most its degree.
fn peeled(graph: &Pattern) -> Result<Vec<u32>> {
    let (n, ptr) = (graph.nrows(), graph.row_ptr());
    let mut degrees = collected(n, (0..n).map(|v| (ptr[v + 1] - ptr[v]) as u32), "degrees")?;
    let mut left = collected(n, 0..n as u32, "vertices left")?;
    // One element per vertex, and a spare one for a branch-free store.
    let (mut stack, mut height) = (filled(n + 1, 0u32, "vertices to remove")?, 0);
    let mut k = 0;
    while !left.is_empty() {
        let (mut kept, mut least) = (0, u32::MAX);
        for i in 0..left.len() {
            let v = left[i];
            let degree = degrees[v as usize];
            stack[height] = v;
            height += usize::from(degree == k);
            left[kept] = v;
            kept += usize::from(degree > k);
            least = least.min(if degree > k { degree } else { u32::MAX });
        }
        left.truncate(kept);
        if height == 0 {
            k = least;
            continue;
        }
        while height > 0 {
            height -= 1;
            for &u in graph.row(stack[height] as usize) {
                // Branch-free: outcomes are unpredictable.
                let degree = &mut degrees[u as usize];
                stack[height] = u;
                height += usize::from(*degree == k + 1);
                *degree -= u32::from(*degree > k);
            }
        }
        k += 1;
    }
    Ok(degrees)
}

/// Degrees within the k-core of a symmetric pattern without a diagonal; less than k for vertices outside.
pub(super) fn core_degrees(graph: &Pattern, k: u32) -> Result<Vec<u32>> {
    let (n, ptr) = (graph.nrows(), graph.row_ptr());
    let mut degrees = collected(n, (0..n).map(|v| (ptr[v + 1] - ptr[v]) as u32), "degrees")?;
    // One element per vertex, and a spare one for a branch-free store.
    let (mut stack, mut height) = (filled(n + 1, 0u32, "vertices to remove")?, 0);
    for (v, &degree) in degrees.iter().enumerate() {
        stack[height] = v as u32;
        height += usize::from(degree < k);
    }
    while height > 0 {
        height -= 1;
        for &u in graph.row(stack[height] as usize) {
            let degree = &mut degrees[u as usize];
            stack[height] = u;
            height += usize::from(*degree == k);
            *degree -= u32::from(*degree >= k);
        }
    }
    Ok(degrees)
}
