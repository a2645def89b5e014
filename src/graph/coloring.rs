//! Greedy coloring: each vertex in turn takes the least color that no neighbor has.

use super::Graph;
use super::simple::{by_degree, simple};
use crate::par::{filled, zeros};
use crate::{Cpu, Pattern, Result};

/// A proper vertex coloring: no edge joins two vertices of one color.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coloring {
    /// The color of each vertex, below `count`.
    pub colors: Vec<u32>,
    /// Number of colors.
    pub count: u32,
}

/// A greedy coloring: vertices in order of decreasing degree, ties by index, each with the least color that no neighbor
/// has.
///
/// It has at most one color more than the maximum degree. Edge directions and self-loops are ignored. Cost: O(n + m)
/// time, O(n) memory, and O(m) for a copy of a graph that is directed or has self-loops.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, greedy_coloring};
/// use sparring::{Cpu, Csr};
/// // A triangle 0, 1, 2 and the edge 2 – 3.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3], vec![1.0; 4])?;
/// let cpu = Cpu::new();
/// let coloring = greedy_coloring(&cpu, &Graph::new(&cpu, &a, GraphKind::Undirected)?)?;
/// assert_eq!((&coloring.colors[..], coloring.count), (&[1, 2, 0, 1][..], 3));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Welsh, Powell 1967, "An upper bound for the chromatic number of a graph and its application to timetabling
/// problems".
pub fn greedy_coloring(cpu: &Cpu, g: &Graph) -> Result<Coloring> {
    let graph = simple(cpu, g)?;
    cpu.threads().alone("greedy_coloring", || colored(&graph, &by_degree(graph.row_ptr(), true)?))
}

/// Colors a symmetric pattern without a diagonal.
fn colored(graph: &Pattern, order: &[u32]) -> Result<Coloring> {
    /// Colors that fit a bitmap of one word.
    const WORD: u32 = u64::BITS;
    let mut colors = filled(graph.nrows(), u32::MAX, "colors")?;
    // For colors beyond one word: the last vertex with a neighbor of each color, plus one.
    let mut seen = zeros(graph.longest_row() + 2, "colors of neighbors")?;
    let mut count = 0;
    for &v in order {
        let v = v as usize;
        let mut used = 0u64;
        for &u in graph.row(v) {
            let color = colors[u as usize];
            used |= u64::from(color < WORD) << (color % WORD);
        }
        let mut color = used.trailing_ones();
        if color == WORD {
            for &u in graph.row(v) {
                if let Some(seen) = seen.get_mut(colors[u as usize] as usize) {
                    *seen = v + 1;
                }
            }
            // Terminates: a row has fewer colors than `seen` has elements.
            while seen[color as usize] == v + 1 {
                color += 1;
            }
        }
        colors[v] = color;
        count = count.max(color + 1);
    }
    Ok(Coloring { colors, count })
}
