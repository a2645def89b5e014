//! Trusses, by peeling edges in few triangles.
//!
//! Level s removes edges in s triangles until all remaining ones are in more. A removed edge destroys its triangles:
//! they are found by scanning the row of one end, with the other end's row marked or binary-searched, until as many are
//! found as the edge is still in. Source: Cohen 2008, "Trusses: cohesive subgraphs for social network analysis"; Wang,
//! Cheng 2012, "Truss decomposition in massive networks".

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
    /// The largest k for which the edge is in the [`k_truss`], at least 2.
    pub numbers: Vec<u32>,
}

/// The edges (u, v), u < v, of the k-truss in increasing order: of the largest subgraph in which every edge is in at
/// least k − 2 triangles.
///
/// Edge directions and self-loops are ignored: triangles are those of the underlying simple undirected graph, which is
/// the 2-truss; the definition is that of networkx. Cost: O(n + m) for the (k − 1)-core, which contains the k-truss; in
/// it that of [`triangles_per_edge`](super::triangles_per_edge), and at most O(d(u) + d(v)) for each removed edge that
/// is in a triangle; O(n + m) memory.
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
        // Each vertex of the truss has at least k − 1 neighbors in it.
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
    note(|| format!("k_truss: {count} of {all} edges remain"));
    collected(count, (0..peel.edges.len()).filter(left).map(|e| peel.edges[e]), EDGES)
}

/// The truss number of each edge: the largest k for which the edge is in the [`k_truss`], 2 for an edge that is in no
/// triangle.
///
/// Edge directions and self-loops are ignored. Cost: that of [`triangles_per_edge`](super::triangles_per_edge), at most
/// O(d(u) + d(v)) for each edge in a triangle, and O(1) per level up to its number; O(n + m) memory.
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
/// The level of a remaining edge.
const LEFT: u32 = u32::MAX;
/// Ratio of row lengths above which binary searches in the longer row cost less than marks.
const SEARCHED: usize = 16;

/// A graph during peeling.
struct Peel<'a> {
    ptr: &'a [usize],
    /// Ends and indices of edges: row v is the first `lens[v]`, increasing, some of them removed.
    entries: Vec<(u32, u32)>,
    lens: Vec<u32>,
    edges: Vec<(u32, u32)>,
    /// Number of remaining triangles at each edge.
    support: Vec<u32>,
    /// The level at which each edge was removed.
    level: Vec<u32>,
    /// Edges to remove, each once.
    stack: Vec<u32>,
    /// For each neighbor of `marked`, the index of their edge plus one.
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
        // For each vertex its next edge to a larger vertex whose row has not been read.
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

    /// Removes the edges of the stack, and those that thereby drop to `level` triangles.
    fn cascade(&mut self, level: u32) {
        while let Some(e) = self.stack.pop() {
            self.level[e as usize] = level;
            if self.support[e as usize] > 0 {
                self.remove_triangles(e as usize, level);
            }
        }
    }

    /// Subtracts the triangles of the removed edge `e` from their other edges.
    fn remove_triangles(&mut self, e: usize, level: u32) {
        let (u, v) = self.edges[e];
        let (u, v) = if self.lens[u as usize] < self.lens[v as usize] { (u, v) } else { (v, u) };
        let (short, long) = (self.lens[u as usize] as usize, self.lens[v as usize] as usize);
        // The row to scan, and the row to look up.
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

    /// Replaces the marks by those of the neighbors of `v`.
    fn mark(&mut self, v: u32) {
        let row = |v: u32| self.ptr[v as usize]..self.ptr[v as usize + 1];
        if let Some(old) = self.marked.replace(v) {
            // Marks of edges already dropped from the row may remain: they are those of removed edges.
            let len = self.lens[old as usize] as usize;
            self.entries[row(old)][..len].iter().for_each(|x| self.marks[x.0 as usize] = 0);
        }
        let len = self.lens[v as usize] as usize;
        self.entries[row(v)][..len].iter().for_each(|x| self.marks[x.0 as usize] = x.1 + 1);
    }
}
