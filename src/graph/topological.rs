//! A topological order of a directed graph.

use super::{Graph, GraphKind};
use crate::par::{filled, reserved, zero_words};
use crate::{Cpu, Error, Result};

/// The vertices of a directed acyclic graph in topological order: every edge leads to a later vertex.
///
/// Among the available vertices the least is next, so the order is the lexicographically least one, that of networkx's
/// `lexicographical_topological_sort`. Cost: O(n log n + m) time with a base of 64, O(n) memory.
/// # Errors
/// [`Error::Argument`] naming a vertex on a cycle, self-loops included, and for an undirected graph;
/// [`Error::OutOfMemory`].
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, topological_order};
/// use sparring::{Cpu, Csr};
/// // 3 → 1 → 0, 3 → 2.
/// let a = Csr::<f64>::new(4, 4, vec![0, 0, 1, 1, 3], vec![0, 1, 2], vec![1.0; 3])?;
/// let cpu = Cpu::new();
/// assert_eq!(topological_order(&cpu, &Graph::new(&cpu, &a, GraphKind::Directed)?)?, [3, 1, 0, 2]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Kahn 1962, "Topological sorting of large networks".
pub fn topological_order(cpu: &Cpu, g: &Graph) -> Result<Vec<u32>> {
    if g.kind() == GraphKind::Undirected {
        let message = "a topological order is defined on directed graphs".into();
        return Err(Error::Argument { name: "graph", message });
    }
    cpu.threads().alone("topological_order", || ordered(g))
}

fn ordered(g: &Graph) -> Result<Vec<u32>> {
    let (n, edges) = (g.vertices(), g.outgoing());
    // Number of incoming edges from unordered vertices.
    let mut waiting = filled(n, 0u32, "degrees")?;
    edges.ends.iter().for_each(|&u| waiting[u as usize] += 1);
    let mut ready = MinSet::new(n)?;
    (0..n).filter(|&v| waiting[v] == 0).for_each(|v| ready.insert(v));
    let mut order = reserved(n, "vertices in order")?;
    while let Some(v) = ready.pop() {
        order.push(v as u32);
        for &u in edges.of(v) {
            let left = &mut waiting[u as usize];
            *left -= 1;
            if *left == 0 {
                ready.insert(u as usize);
            }
        }
    }
    if order.len() < n { Err(cycle(g, &waiting)?) } else { Ok(order) }
}

/// The error that names the least vertex of a cycle. Every unordered vertex has an unordered predecessor, so walking
/// back from any of them ends in a cycle.
fn cycle(g: &Graph, waiting: &[u32]) -> Result<Error> {
    let n = waiting.len();
    let mut before = filled(n, u32::MAX, "predecessors")?;
    for v in (0..n).filter(|&v| waiting[v] > 0) {
        g.neighbors(v).iter().for_each(|&u| before[u as usize] = v as u32);
    }
    let mut v = waiting.iter().position(|&w| w > 0).unwrap_or_default();
    for _ in 0..n {
        v = before[v] as usize;
    }
    let (mut length, mut least, start) = (0usize, v, v);
    loop {
        (length, v) = (length + 1, before[v] as usize);
        least = least.min(v);
        if v == start {
            break;
        }
    }
    let message = format!(
        "vertex {least} is on a cycle of {length} edge{}: the graph has no topological order",
        if length == 1 { "" } else { "s" }
    );
    Ok(Error::Argument { name: "graph", message })
}

/// A set of integers below n with a minimum query: a tree of words, each bit of which says whether the word below it is
/// nonzero.
struct MinSet {
    /// From the leaves to the root, a single word.
    levels: Vec<Vec<u64>>,
}

impl MinSet {
    fn new(n: usize) -> Result<Self> {
        let (mut levels, mut words) = (Vec::new(), n.div_ceil(64).max(1));
        loop {
            levels.push(zero_words(words, "a set of vertices")?);
            if words == 1 {
                return Ok(Self { levels });
            }
            words = words.div_ceil(64);
        }
    }
    fn insert(&mut self, x: usize) {
        let mut x = x;
        for level in &mut self.levels {
            let word = &mut level[x / 64];
            let had = *word != 0;
            *word |= 1 << (x % 64);
            if had {
                return;
            }
            x /= 64;
        }
    }
    /// Removes and returns the least element.
    fn pop(&mut self) -> Option<usize> {
        let mut x = 0;
        for level in self.levels.iter().rev() {
            let word = level[x];
            if word == 0 {
                return None;
            }
            x = 64 * x + word.trailing_zeros() as usize;
        }
        let mut y = x;
        for level in &mut self.levels {
            let word = &mut level[y / 64];
            *word &= !(1 << (y % 64));
            if *word != 0 {
                break;
            }
            y /= 64;
        }
        Some(x)
    }
}
