//! The minimum spanning forest, by Borůvka's algorithm on a subset of the edges.
//!
//! Every vertex takes its lightest edge first. If the graph has many more edges than trees remain, a weight threshold
//! is derived from a sample of its weights: edges up to it are processed first, and of the heavier ones only those that
//! still connect different trees. Source: Borůvka 1926, "O jistém problému minimálním"; Osipov, Sanders, Singler 2009,
//! "The filter-Kruskal minimum spanning tree algorithm", with one filter in place of a recursion.

use std::ops::Range;

use super::Graph;
use super::components::root;
use super::structure::Lists;
use crate::par::{collected, filled, for_each_part, note, out_of_memory, reserved, try_split, zeros};
use crate::sparse::cut;
use crate::{Cpu, Result};

/// A spanning forest found by [`minimum_spanning_forest`].
#[derive(Clone, Debug, PartialEq)]
pub struct SpanningForest {
    /// The edges (u, v), u < v, in increasing order.
    pub edges: Vec<(u32, u32)>,
    /// The sum of their weights, in this order.
    pub weight: f64,
}

/// The spanning forest of minimum weight: a tree for each connected component.
///
/// Edges of equal weight are ordered by their ends (u, v), u < v, so the forest is unique and the same for any number
/// of threads. Edges of an unweighted graph have weight 1. Self-loops are ignored. The maximum spanning forest is that
/// of negated weights. Cost: O(n + m) time, and O(k) in each of at most log₂ n rounds for the k edges that are not
/// ruled out, which halve per round on planar graphs; O(n + k) memory.
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for a directed graph; [`Error::OutOfMemory`](crate::Error::OutOfMemory).
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, minimum_spanning_forest};
/// use sparring::{Cpu, Csr};
/// // A triangle 0, 1, 2 and the edge 2 – 3.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3], vec![5.0, 2.0, 1.0, 7.0])?;
/// let cpu = Cpu::new();
/// let forest = minimum_spanning_forest(&cpu, &Graph::weighted(&cpu, &a, GraphKind::Undirected)?)?;
/// assert_eq!((&forest.edges[..], forest.weight), (&[(0, 2), (1, 2), (2, 3)][..], 10.0));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Osipov, Sanders, Singler 2009.
pub fn minimum_spanning_forest(cpu: &Cpu, g: &Graph) -> Result<SpanningForest> {
    g.check_undirected("a spanning forest")?;
    let (n, lists) = (g.vertices(), g.outgoing());
    let blocks = try_split(n, (lists.ends.len() / BLOCK).clamp(1, BLOCKS), |v| (lists.ptr[v] + v) as u64)?;
    let mut trees =
        Trees { parents: collected(n, 0..n as u32, "trees")?, taken: reserved(n.saturating_sub(1), FOREST)? };
    let lightest = lightest_of_each(cpu, lists, &blocks)?;
    for (u, &(weight, v)) in lightest.iter().enumerate() {
        let u = u as u32;
        if v != u {
            trees.join(Edge { weight, ends: (u.min(v), u.max(v)), roots: (u, v) });
        }
    }
    drop(lightest);
    trees.flatten();
    let limit = lists.weights.map(|weights| threshold(weights, n - trees.taken.len())).transpose()?.flatten();
    let light = gathered(cpu, lists, &blocks, &trees, |weight| limit.is_none_or(|limit| weight <= limit))?;
    let all = (g.edges(), light.len());
    trees.join_lightest(cpu, light)?;
    if let Some(limit) = limit {
        trees.flatten();
        let heavy = gathered(cpu, lists, &blocks, &trees, |weight| weight > limit)?;
        note(|| {
            format!(
                "minimum_spanning_forest: of {} edges {} join trees, and {} heavier ones",
                all.0,
                all.1,
                heavy.len()
            )
        });
        trees.join_lightest(cpu, heavy)?;
    } else {
        note(|| format!("minimum_spanning_forest: of {} edges {} join trees of the lightest edges", all.0, all.1));
    }
    ordered(n, &trees.taken)
}

const FOREST: &str = "edges of a forest";

/// Minimum entries per block.
const BLOCK: usize = 1 << 15;
/// Maximum number of blocks.
const BLOCKS: usize = 64;
/// Minimum entries per tree for filtering heavy edges.
const DENSE: usize = 16;
/// Target number of edges up to the threshold per tree: a random graph of this density is almost connected.
const LIGHT: usize = 2;
/// Approximate sample size.
const SAMPLE: usize = 1 << 10;

/// An edge, and the trees that it joins.
#[derive(Clone, Copy)]
struct Edge {
    weight: Key,
    ends: (u32, u32),
    roots: (u32, u32),
}

/// A double other than NaN, as an integer with the same order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

impl Key {
    /// Larger than any key.
    const NONE: Self = Self(u64::MAX);
    fn new(w: f64) -> Self {
        // Adding 0 maps −0 to 0.
        let bits = (w + 0.0).to_bits();
        Self(bits ^ ((bits as i64 >> 63) as u64 | 1 << 63))
    }
    fn weight(self) -> f64 {
        f64::from_bits(self.0 ^ ((!self.0 as i64 >> 63) as u64 | 1 << 63))
    }
}

/// A weight that about [`LIGHT`] edges per tree do not exceed, for a graph with many more edges and `n` trees.
fn threshold(weights: &[f64], n: usize) -> Result<Option<Key>> {
    if weights.len() < DENSE * n || weights.len() < SAMPLE {
        return Ok(None);
    }
    // Each edge has two entries.
    let every = weights.iter().step_by(weights.len() / SAMPLE);
    let mut sample = collected(every.len(), every.map(|&w| Key::new(w)), "a sample of weights")?;
    let rank = (sample.len() as u128 * (2 * LIGHT * n) as u128 / weights.len() as u128) as usize;
    Ok(Some(*sample.select_nth_unstable(rank).1))
}

/// The lightest edge of each vertex: its weight and its other end, the vertex itself if there is none. Ties go to the
/// edge with the least ends.
fn lightest_of_each(cpu: &Cpu, lists: Lists<'_>, blocks: &[Range<usize>]) -> Result<Vec<(Key, u32)>> {
    let n = lists.ptr.len() - 1;
    let mut lightest = filled(n, (Key::NONE, 0u32), "lightest edges")?;
    let parts = cut(&mut lightest, blocks.len(), blocks.iter().map(Range::len))?;
    for_each_part(
        cpu.threads(),
        collected(blocks.len(), blocks.iter().zip(parts), "parts")?,
        || Ok(()),
        |(), (block, part): (&Range<usize>, &mut [(Key, u32)])| {
            for (u, best) in block.clone().zip(part) {
                best.1 = u as u32;
                match lists.weights {
                    None => best.1 = lists.of(u).iter().copied().find(|&v| v as usize != u).unwrap_or(u as u32),
                    Some(weights) => {
                        for (&w, &v) in weights[lists.ptr[u]..lists.ptr[u + 1]].iter().zip(lists.of(u)) {
                            let key = Key::new(w);
                            if key < best.0 && v as usize != u {
                                *best = (key, v);
                            }
                        }
                    }
                }
                if lists.weights.is_none() {
                    best.0 = Key::new(1.0);
                }
            }
            Ok(())
        },
    )?;
    Ok(lightest)
}

/// The edges between different trees whose weights satisfy `keep`, in the order of their ends.
fn gathered(
    cpu: &Cpu,
    lists: Lists<'_>,
    blocks: &[Range<usize>],
    trees: &Trees,
    keep: impl Fn(Key) -> bool + Sync,
) -> Result<Vec<Edge>> {
    let mut parts: Vec<Vec<Edge>> = collected(blocks.len(), blocks.iter().map(|_| Vec::new()), "parts")?;
    for_each_part(
        cpu.threads(),
        collected(blocks.len(), blocks.iter().zip(&mut parts), "parts")?,
        || Ok(()),
        |(), (block, part): (&Range<usize>, &mut Vec<Edge>)| {
            for u in block.clone() {
                let above = lists.ptr[u] + lists.of(u).partition_point(|&v| v as usize <= u);
                let root = trees.parents[u];
                // Reserves the whole row, so that allocation fails here.
                let len = lists.ptr[u + 1] - above;
                if part.capacity() - part.len() < len {
                    let more = len.max(part.capacity());
                    part.try_reserve_exact(more).map_err(|_| out_of_memory::<Edge>(FOREST, part.len() + more))?;
                }
                for k in above..lists.ptr[u + 1] {
                    let (weight, v) = (Key::new(lists.weights.map_or(1.0, |w| w[k])), lists.ends[k]);
                    if keep(weight) {
                        let roots = (root, trees.parents[v as usize]);
                        if roots.0 != roots.1 {
                            part.push(Edge { weight, ends: (u as u32, v), roots });
                        }
                    }
                }
            }
            Ok(())
        },
    )?;
    let mut all = reserved(parts.iter().map(Vec::len).sum(), "edges")?;
    parts.iter().for_each(|part| all.extend_from_slice(part));
    Ok(all)
}

/// Union-find over vertices, with the edges of the forest. The parent of a vertex is never larger; a root is its own
/// parent.
struct Trees {
    parents: Vec<u32>,
    taken: Vec<Edge>,
}

impl Trees {
    /// Adds an edge if it joins two trees.
    #[inline(always)]
    fn join(&mut self, e: Edge) {
        let (u, v) = (root(&mut self.parents, e.roots.0), root(&mut self.parents, e.roots.1));
        if u != v {
            self.parents[u.max(v) as usize] = u.min(v);
            self.taken.push(e);
        }
    }
    /// Points every vertex directly at its root.
    fn flatten(&mut self) {
        for v in 0..self.parents.len() {
            self.parents[v] = self.parents[self.parents[v] as usize];
        }
    }
    /// Adds the edges of a minimum spanning forest of the trees, in rounds: the lightest edge of every tree is in it.
    /// `edges` are in the order of their ends; the first of equal weight counts as lightest.
    fn join_lightest(&mut self, cpu: &Cpu, mut edges: Vec<Edge>) -> Result<()> {
        let n = self.parents.len();
        let mut roots: Vec<u32> = collected(n, (0..n as u32).filter(|&v| self.parents[v as usize] == v), "roots")?;
        let mut lightest = filled(n, (Key::NONE, 0usize), "lightest edges")?;
        while !edges.is_empty() {
            cpu.threads().alone("minimum_spanning_forest", || {
                for (k, e) in edges.iter().enumerate() {
                    for root in [e.roots.0, e.roots.1] {
                        let best = &mut lightest[root as usize];
                        if e.weight < best.0 {
                            *best = (e.weight, k);
                        }
                    }
                }
                for &root in &roots {
                    let (weight, k) = std::mem::replace(&mut lightest[root as usize], (Key::NONE, 0));
                    if weight != Key::NONE {
                        self.join(edges[k]);
                    }
                }
                for &root in &roots {
                    self.parents[root as usize] = self.parents[self.parents[root as usize] as usize];
                }
                roots.retain(|&root| self.parents[root as usize] == root);
                edges.retain_mut(|e| {
                    e.roots = (self.parents[e.roots.0 as usize], self.parents[e.roots.1 as usize]);
                    e.roots.0 != e.roots.1
                });
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The forest with its edges in the order of their ends.
fn ordered(n: usize, taken: &[Edge]) -> Result<SpanningForest> {
    let mut next = zeros(n + 1, "numbers of edges")?;
    taken.iter().for_each(|e| next[e.ends.0 as usize + 1] += 1);
    (0..n).for_each(|v| next[v + 1] += next[v]);
    let mut edges = filled(taken.len(), (0u32, Key::NONE), FOREST)?;
    for e in taken {
        let place = &mut next[e.ends.0 as usize];
        edges[*place] = (e.ends.1, e.weight);
        *place += 1;
    }
    // After scattering, the edges of v end where those of v + 1 began.
    let mut forest = SpanningForest { edges: reserved(taken.len(), FOREST)?, weight: 0.0 };
    let mut start = 0;
    for (u, &end) in next[..n].iter().enumerate() {
        let of = &mut edges[start..end];
        of.sort_unstable();
        for &(v, weight) in &*of {
            forest.edges.push((u as u32, v));
            forest.weight += weight.weight();
        }
        start = end;
    }
    Ok(forest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_numbers() {
        let numbers = [f64::NEG_INFINITY, -7.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(numbers.windows(2).all(|w| Key::new(w[0]) < Key::new(w[1])));
        assert!(numbers.iter().all(|&w| Key::new(w).weight() == w) && Key::new(-0.0) == Key::new(0.0));
    }
}
