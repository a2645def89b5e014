//! A maximal independent set, by the greedy algorithm.

use super::Graph;
use super::simple::{by_degree, simple};
use crate::par::{collected, filled};
use crate::{Cpu, Result};

/// A maximal independent set, in increasing order: no edge joins two of its vertices, and every other vertex has a
/// neighbor in it.
///
/// Vertices are visited by increasing degree, ties by index; a vertex is taken if no neighbor has been. The set is a
/// function of the graph alone, and on most graphs with hubs larger than in random order. Edge directions and
/// self-loops are ignored. Cost: O(n + m) time, O(n) memory, and O(m) for a copy of a graph that is directed or has
/// self-loops.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, maximal_independent_set};
/// use sparring::{Cpu, Csr};
/// // A triangle 0, 1, 2 and the edge 2 – 3.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3], vec![1.0; 4])?;
/// let cpu = Cpu::new();
/// assert_eq!(maximal_independent_set(&cpu, &Graph::new(&cpu, &a, GraphKind::Undirected)?)?, [0, 3]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Halldórsson, Radhakrishnan 1997, "Greed is good: approximating independent sets in sparse and bounded-degree
/// graphs", with static degrees.
pub fn maximal_independent_set(cpu: &Cpu, g: &Graph) -> Result<Vec<u32>> {
    let graph = simple(cpu, g)?;
    cpu.threads().alone("maximal_independent_set", || {
        let n = graph.nrows();
        let (mut covered, mut size) = (filled(n, false, "neighbors of the set")?, 0);
        let mut taken = filled(n, false, "vertices of the set")?;
        for v in by_degree(graph.row_ptr(), false)? {
            let v = v as usize;
            if !covered[v] {
                taken[v] = true;
                size += 1;
                graph.row(v).iter().for_each(|&u| covered[u as usize] = true);
            }
        }
        collected(size, (0..n as u32).filter(|&v| taken[v as usize]), "vertices of the set")
    })
}
