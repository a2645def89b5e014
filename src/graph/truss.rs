//! Trusses, by peeling edges of few triangles.
//!
//! Level s removes edges in s triangles until all that are left are in more. A removed edge takes its triangles with
//! it: they are found in the row of one end, the other end's row being marked or searched, until there are as many as
//! the edge is still in. Source: Cohen 2008, "Trusses: cohesive subgraphs for social network analysis"; Wang, Cheng
//! 2012, "Truss decomposition in massive networks".

use std::sync::Arc;

use super::Graph;
use super::cores::core_degrees;
use super::simple::simple;
use super::triangles::edge_counts_of_simple;
use crate::par::{collected, filled, note, reserved};
use crate::{Cpu, Error, Pattern, Result};

/// The truss number of each edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrussNumbers {
    /// The edges (u, v), u < v, in increasing order.
    pub edges: Vec<(u32, u32)>,
    /// The largest k for which [`k_truss`] has the edge, 2 or more.
    pub numbers: Vec<u32>,
}

/// The edges (u, v), u < v, of the k-truss in increasing order: of the largest subgraph in which every edge is in k − 2
/// triangles or more.
///
/// Directions and self-loops do not count: triangles are those of the simple undirected graph under `g`. The 2-truss is
/// that graph; the definition is networkx's. Cost: O(n + m) for the (k − 1)-core, of which the k-truss is a part; in it
/// that of [`triangles_per_edge`](super::triangles_per_edge), and O(d(u) + d(v)) at most for each edge that is removed
/// and in a triangle; O(n + m) memory.
/// # Errors
/// [`Error::IndexOverflow`] for 2³² edges or more; [`Error::OutOfMemory`]; [`Error::Cancelled`].
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, k_truss, truss_numbers};
/// use sparring::{Cpu, Csr};
/// // A triangle 0, 1, 2 and the edge 2 – 3.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3], vec![1.0; 4])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// assert_eq!(k_truss(&cpu, &g, 3)?, [(0, 1), (0, 2), (1, 2)]);
/// assert_eq!(truss_numbers(&cpu, &g)?.numbers, [3, 3, 3, 2]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Cohen 2008.
pub fn k_truss(cpu: &Cpu, g: &Graph, k: u32) -> Result<Vec<(u32, u32)>> {
    let mut graph = simple(cpu, g)?;
    let all = graph.nnz() / 2;
    if k > 2 {
        // Each vertex of the truss has k − 1 neighbors in it.
        let (least, degrees) = (k - 1, cpu.threads().alone("k_truss", || core_degrees(&graph, k - 1))?);
        let is_inside = |v: usize| degrees[v] >= least;
        let left: usize = degrees.iter().filter(|&&d| d >= least).map(|&d| d as usize).sum();
        if left == 0 {
            note(|| format!("k_truss: the {least}-core is empty"));
            return Ok(vec![]);
        }
        if left < graph.nnz() / 4 * 3 {
            graph = Arc::new(graph.select(cpu.threads(), |i, j| is_inside(i) && is_inside(j))?);
        }
    }
    let mut peel = Peel::new(cpu, &graph)?;
    if let Some(most) = k.checked_sub(3) {
        cpu.threads().alone("k_truss", || {
            for e in 0..peel.edges.len() {
                if peel.support[e] <= most {
                    peel.stack.push(e as u32);
                }
            }
            peel.cascade(most);
            Ok(())
        })?;
    }
    let left = |e: &usize| peel.level[*e] == LEFT;
    let count = (0..peel.edges.len()).filter(left).count();
    note(|| format!("k_truss: {count} of {all} edges are left"));
    collected(count, (0..peel.edges.len()).filter(left).map(|e| peel.edges[e]), EDGES)
}

/// The truss number of each edge: the largest k for which the edge is in the [`k_truss`], 2 for an edge that is in no
/// triangle.
///
/// Directions and self-loops do not count. Cost: that of [`triangles_per_edge`](super::triangles_per_edge), O(d(u) +
/// d(v)) at most for each edge that is in a triangle, and O(1) for each level up to its number; O(n + m) memory.
/// # Errors
/// Those of [`k_truss`].
/// # Example
/// See [`k_truss`].
///
/// Source: Wang, Cheng 2012.
pub fn truss_numbers(cpu: &Cpu, g: &Graph) -> Result<TrussNumbers> {
    let graph = simple(cpu, g)?;
    let mut peel = Peel::new(cpu, &graph)?;
    let m = peel.edges.len();
    let mut left = collected(m, 0..m as u32, EDGES)?;
    let mut level = 0;
    while !left.is_empty() {
        level = cpu.threads().alone("truss_numbers", || {
            let mut least = u32::MAX;
            left.retain(|&e| {
                let kept = peel.level[e as usize] == LEFT;
                if kept {
                    least = least.min(peel.support[e as usize]);
                }
                kept
            });
            if left.is_empty() {
                return Ok(level);
            }
            let level = level.max(least);
            peel.stack.extend(left.iter().filter(|&&e| peel.support[e as usize] <= level));
            peel.cascade(level);
            Ok(level + 1)
        })?;
    }
    let mut numbers = peel.level;
    numbers.iter_mut().for_each(|level| *level += 2);
    Ok(TrussNumbers { edges: peel.edges, numbers })
}

const EDGES: &str = "edges";
/// The level of an edge that is not removed.
const LEFT: u32 = u32::MAX;
/// How much longer a row must be for binary searches in it to cost less than marks.
const SEARCHED: usize = 16;

/// A graph that loses edges.
struct Peel<'a> {
    ptr: &'a [usize],
    /// Ends and numbers of edges: of row v the first `lens[v]`, increasing, some of them removed.
    entries: Vec<(u32, u32)>,
    lens: Vec<u32>,
    edges: Vec<(u32, u32)>,
    /// Of each edge the triangles all of whose edges are left.
    support: Vec<u32>,
    /// When each edge was removed.
    level: Vec<u32>,
    /// Edges to remove, each once.
    stack: Vec<u32>,
    /// Of the neighbors of `marked` the number of their edge with it, plus one.
    marks: Vec<u32>,
    marked: Option<u32>,
}

impl<'a> Peel<'a> {
    fn new(cpu: &Cpu, graph: &'a Pattern) -> Result<Self> {
        let (n, ptr, m) = (graph.nrows(), graph.row_ptr(), graph.nnz() / 2);
        if m >= LEFT as usize {
            return Err(Error::IndexOverflow { what: EDGES, needed: m as u128, max: (LEFT - 1).into() });
        }
        let counts = edge_counts_of_simple(cpu.threads(), graph)?;
        let (mut edges, mut support) = (reserved(m, EDGES)?, reserved(m, "triangles of edges")?);
        let mut entries = reserved(graph.nnz(), EDGES)?;
        // Of each vertex the next edge to a larger one that has not come up in the row of that.
        let mut next: Vec<u32> = filled(n, 0, "edges of vertices")?;
        for u in 0..n {
            next[u] = edges.len() as u32;
            for (&v, &count) in graph.row(u).iter().zip(&counts[ptr[u]..]) {
                if (v as usize) < u {
                    entries.push((v, next[v as usize]));
                    next[v as usize] += 1;
                } else {
                    entries.push((v, edges.len() as u32));
                    edges.push((u as u32, v));
                    // An edge is in fewer triangles than there are vertices.
                    support.push(count as u32);
                }
            }
        }
        Ok(Self {
            ptr,
            entries,
            lens: collected(n, (0..n).map(|v| (ptr[v + 1] - ptr[v]) as u32), "degrees")?,
            edges,
            support,
            level: filled(m, LEFT, "levels of edges")?,
            stack: reserved(m, EDGES)?,
            marks: filled(n, 0, "marks of vertices")?,
            marked: None,
        })
    }

    /// Removes the edges of the stack, and those that are in `level` triangles then.
    fn cascade(&mut self, level: u32) {
        while let Some(e) = self.stack.pop() {
            self.level[e as usize] = level;
            if self.support[e as usize] > 0 {
                self.remove_triangles(e as usize, level);
            }
        }
    }

    /// Takes the triangles of edge `e`, which has been removed, from the other edges.
    fn remove_triangles(&mut self, e: usize, level: u32) {
        let (u, v) = self.edges[e];
        let (u, v) = if self.lens[u as usize] < self.lens[v as usize] { (u, v) } else { (v, u) };
        let (short, long) = (self.lens[u as usize] as usize, self.lens[v as usize] as usize);
        // Whose row is gone through, and whose is looked up.
        let (from, other) = match self.marked {
            Some(marked) if marked == u && long < SEARCHED * short => (v, u),
            _ => (u, v),
        };
        let searched = self.marked != Some(other) && long >= SEARCHED * short;
        if !searched && self.marked != Some(other) {
            self.mark(other);
        }
        let start = self.ptr[from as usize];
        let other_row = self.ptr[other as usize]..self.ptr[other as usize] + self.lens[other as usize] as usize;
        let len = self.lens[from as usize] as usize;
        let (mut kept, mut k, mut left) = (start, start, self.support[e]);
        while k < start + len && left > 0 {
            let (w, first) = self.entries[k];
            k += 1;
            if self.level[first as usize] != LEFT {
                continue;
            }
            self.entries[kept] = (w, first);
            kept += 1;
            let second = if searched {
                let row = &self.entries[other_row.clone()];
                row.binary_search_by_key(&w, |x| x.0).map_or(LEFT, |t| row[t].1)
            } else {
                self.marks[w as usize].wrapping_sub(1)
            };
            if second == LEFT || self.level[second as usize] != LEFT {
                continue;
            }
            left -= 1;
            for edge in [first, second] {
                let support = &mut self.support[edge as usize];
                *support -= 1;
                if *support == level {
                    self.stack.push(edge);
                }
            }
        }
        if kept < k {
            self.entries.copy_within(k..start + len, kept);
            self.lens[from as usize] -= (k - kept) as u32;
        }
        self.support[e] = 0;
    }

    /// Marks the neighbors of `v` in place of those of another vertex.
    fn mark(&mut self, v: u32) {
        let row = |v: u32| self.ptr[v as usize]..self.ptr[v as usize + 1];
        if let Some(old) = self.marked.replace(v) {
            // Marks of edges that the row has lost stay: they are those of removed edges.
            let len = self.lens[old as usize] as usize;
            self.entries[row(old)][..len].iter().for_each(|x| self.marks[x.0 as usize] = 0);
        }
        let len = self.lens[v as usize] as usize;
        self.entries[row(v)][..len].iter().for_each(|x| self.marks[x.0 as usize] = x.1 + 1);
    }
}
