//! Closeness and harmonic centrality from the distances of all vertices, and levels from several sources at once.
//!
//! Up to 64 searches traverse the graph together, each one bit of a word, so a vertex reached by many of them in the
//! same step is visited once. Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal".

use super::search::UNREACHED;
use super::sssp::Steps;
use super::structure::{Graph, Lists};
use crate::par::{Threads, filled, for_each_part, out_of_memory, reserved};
use crate::{Cpu, Error, Result};

/// Number of searches in a batch.
const TOGETHER: usize = 64;
/// Edges per vertex below which a graph may be deep, and levels of a search from which on it is: frontiers of different
/// sources are then small and rarely coincide, and a search by itself visits a vertex in less time than one of several.
/// Milliseconds of 64 searches on one core of an EPYC with AVX2, together and each by itself: a road network of 1,031
/// levels 552 and 397, a grid of 10⁶ vertices 29,190 and 4,217, delaunay_n16 (113 levels) 510 and 315, jagmesh7 (48)
/// 1.1 and 1.1, p2p-Gnutella31 (9) 96 and 227.
const SPARSE: usize = 8;
const DEEP: u32 = 64;

/// Levels of breadth-first searches from several sources: those of source k are `levels[k·n..(k + 1)·n]`, as of
/// [`bfs`](super::bfs).
///
/// Cost: O(⌈sources/64⌉ (n + m) levels) time at worst, and one pass for all 64 if their frontiers coincide; 4n bytes
/// per source. Batches of 64 sources are distributed over the threads. On a sparse graph of many levels each source is
/// searched by itself, in O(n + m).
/// # Errors
/// [`Error::Argument`] naming a source that is no vertex;
/// [`Error::OutOfMemory`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, multi_source_bfs};
/// // The path 0 – 1 – 2.
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// assert_eq!(multi_source_bfs(&cpu, &g, &[0, 2])?, [0, 1, 2, 2, 1, 0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Then et al. 2014.
pub fn multi_source_bfs(cpu: &Cpu, g: &Graph, sources: &[usize]) -> Result<Vec<u32>> {
    sources.iter().try_for_each(|&s| g.check("sources", s))?;
    let n = g.vertices();
    let len = sources.len().checked_mul(n).ok_or_else(|| out_of_memory::<u32>("levels", usize::MAX))?;
    let mut levels = filled(len, UNREACHED, "levels")?;
    if n == 0 {
        return Ok(levels);
    }
    if sources.len() > 1 && g.outgoing().ends.len() < SPARSE * n {
        let mut queue = filled(n + 1, 0u32, "a frontier")?;
        let depth = search_alone(g.outgoing(), sources[0] as u32, &mut levels[..n], &mut queue);
        if depth >= DEEP {
            let mut parts = reserved(sources.len() - 1, "searches")?;
            parts.extend(levels.chunks_mut(n).zip(sources).skip(1));
            let search = |queue: &mut Vec<u32>, (row, &source): (&mut [u32], &usize)| {
                search_alone(g.outgoing(), source as u32, row, queue);
                Ok(())
            };
            for_each_part(cpu.threads(), parts, || filled(n + 1, 0u32, "a frontier"), search)?;
            return Ok(levels);
        }
    }
    search_together(cpu, g, &mut levels, |k| sources[k] as u32, |level| level)?;
    Ok(levels)
}

/// Breadth-first search by a queue with room for one vertex more than there are; `levels` are all unreached. Returns
/// the last level.
fn search_alone(lists: Lists<'_>, source: u32, levels: &mut [u32], queue: &mut [u32]) -> u32 {
    levels[source as usize] = 0;
    queue[0] = source;
    let (mut head, mut tail) = (0, 1);
    while head < tail {
        let v = queue[head] as usize;
        head += 1;
        let next = levels[v] + 1;
        for &u in lists.of(v) {
            let level = &mut levels[u as usize];
            let is_fresh = *level == UNREACHED;
            // Written whether fresh or not: there is no branch to mispredict.
            queue[tail] = u;
            tail += usize::from(is_fresh);
            *level = if is_fresh { next } else { *level };
        }
    }
    levels[queue[tail - 1] as usize]
}

/// Applies `of` to the level of each vertex reached by each search, and writes the results into a row of `rows`; search
/// k starts at `source(k)`.
fn search_together<T: Send>(
    cpu: &Cpu,
    g: &Graph,
    rows: &mut [T],
    source: impl Fn(usize) -> u32 + Sync,
    of: impl Fn(u32) -> T + Sync,
) -> Result<()> {
    let (n, lists) = (g.vertices(), g.outgoing());
    let mut parts = reserved((rows.len() / n).div_ceil(TOGETHER), "batches of sources")?;
    parts.extend(rows.chunks_mut(TOGETHER * n).enumerate());
    for_each_part(
        cpu.threads(),
        parts,
        || Searches::new(n),
        |searches: &mut Searches, (batch, rows): (usize, &mut [T])| {
            let first = batch * TOGETHER;
            searches.run(lists, (first..first + rows.len() / n).map(&source), |v, fresh, level| {
                let mut bits = fresh;
                while bits != 0 {
                    rows[bits.trailing_zeros() as usize * n + v as usize] = of(level);
                    bits &= bits - 1;
                }
            });
            Ok(())
        },
    )
}

/// Closeness `C(v) = (r − 1)/(n − 1) · (r − 1)/Σ d(u, v)` over the r vertices u that reach v, including v; 0 if no
/// other vertex reaches v.
///
/// Distances are along edges towards v, as in networkx (igraph uses outgoing edges and no first factor), and weighted
/// if the graph is. Cost: O(n (n + m)) at worst, 64 searches at once without weights, n times [`sssp`](super::sssp)
/// with weights.
/// # Errors
/// [`Error::OutOfMemory`]; [`Error::Cancelled`];
/// [`Error::Argument`] for negative weights.
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, closeness_centrality};
/// // The path 0 – 1 – 2.
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
/// let cpu = Cpu::new();
/// let c = closeness_centrality(&cpu, &Graph::new(&cpu, &a, GraphKind::Undirected)?)?;
/// assert_eq!(c, [2.0 / 3.0, 1.0, 2.0 / 3.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Wasserman, Faust 1994, "Social Network Analysis" (for graphs that are not connected); Sabidussi 1966.
pub fn closeness_centrality(cpu: &Cpu, g: &Graph) -> Result<Vec<f64>> {
    let n = g.vertices();
    let (mut reached, sums) = sums(cpu, g, |d| d)?;
    for (reached, sum) in reached.iter_mut().zip(&sums) {
        let others = *reached;
        *reached = if *sum > 0.0 { others / (n - 1) as f64 * others / sum } else { 0.0 };
    }
    Ok(reached)
}

/// Harmonic centrality `H(v) = Σ 1/d(u, v)` over the other vertices u; those that cannot reach v contribute 0.
///
/// Not divided by n − 1, as in networkx. Distances and cost are those of [`closeness_centrality`].
/// # Errors
/// Those of [`closeness_centrality`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, harmonic_centrality};
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
/// let cpu = Cpu::new();
/// let h = harmonic_centrality(&cpu, &Graph::new(&cpu, &a, GraphKind::Undirected)?)?;
/// assert_eq!(h, [1.5, 2.0, 1.5]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Boldi, Vigna 2014, "Axioms for centrality".
pub fn harmonic_centrality(cpu: &Cpu, g: &Graph) -> Result<Vec<f64>> {
    Ok(sums(cpu, g, |d| 1.0 / d)?.1)
}

/// The length of a shortest path between any two vertices: d(u, v) is at u·n + v, infinite if there is no path.
///
/// For small graphs: 8n² bytes. Without weights 64 searches at once, as [`multi_source_bfs`]; with weights one
/// [`sssp`](super::sssp) from each vertex, distributed over the threads.
/// # Errors
/// Those of [`sssp`](super::sssp).
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, all_pairs_shortest_paths};
/// let a = Csr::<f64>::new(2, 2, vec![0, 1, 1], vec![1], vec![2.5])?;
/// let cpu = Cpu::new();
/// let d = all_pairs_shortest_paths(&cpu, &Graph::weighted(&cpu, &a, GraphKind::Directed)?)?;
/// assert_eq!(d, [0.0, 2.5, f64::INFINITY, 0.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Dijkstra 1959, from each vertex.
pub fn all_pairs_shortest_paths(cpu: &Cpu, g: &Graph) -> Result<Vec<f64>> {
    let n = g.vertices();
    let len = n.checked_mul(n).ok_or_else(|| out_of_memory::<f64>("distances", usize::MAX))?;
    let mut all = filled(len, f64::INFINITY, "distances")?;
    all_pairs_shortest_paths_into(cpu, g, &mut all)?;
    Ok(all)
}

/// [`all_pairs_shortest_paths`], into the caller's memory.
///
/// On error `distances` is partially written.
/// # Errors
/// [`Error::Length`] if `distances` is not of length n², and those of [`all_pairs_shortest_paths`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, all_pairs_shortest_paths_into};
/// let a = Csr::<f64>::new(2, 2, vec![0, 1, 1], vec![1], vec![2.5])?;
/// let (cpu, mut d) = (Cpu::new(), [0.0; 4]);
/// all_pairs_shortest_paths_into(&cpu, &Graph::new(&cpu, &a, GraphKind::Directed)?, &mut d)?;
/// assert_eq!(d, [0.0, 1.0, f64::INFINITY, 0.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn all_pairs_shortest_paths_into(cpu: &Cpu, g: &Graph, distances: &mut [f64]) -> Result<()> {
    let n = g.vertices();
    g.check_weights("all_pairs_shortest_paths")?;
    if n.checked_mul(n) != Some(distances.len()) {
        return Err(Error::Length { what: "distances", found: distances.len(), expected: n.saturating_mul(n) });
    }
    if n == 0 {
        return Ok(());
    }
    if !g.is_weighted() {
        distances.fill(f64::INFINITY);
        return search_together(cpu, g, distances, |s| s as u32, f64::from);
    }
    let mut parts = reserved(n, "rows of distances")?;
    parts.extend(distances.chunks_mut(n).enumerate());
    let alone = Threads::caller();
    for_each_part(
        cpu.threads(),
        parts,
        || Steps::new(&alone, g),
        |steps: &mut Steps<'_>, (s, row): (usize, &mut [f64])| {
            steps.search(s)?;
            row.iter_mut().zip(steps.lengths()).for_each(|(to, d)| *to = d);
            Ok(())
        },
    )
}

/// For each vertex the number of other vertices that reach it, and the sum of `of(d)` over their distances.
fn sums(cpu: &Cpu, g: &Graph, of: fn(f64) -> f64) -> Result<(Vec<f64>, Vec<f64>)> {
    g.check_weights("closeness")?;
    let (n, lists) = (g.vertices(), g.outgoing());
    let batches = n.div_ceil(TOGETHER);
    let groups = batches.clamp(1, GROUPS);
    // Each group of batches has its own sums, so the result does not depend on the number of threads.
    let len = n.checked_mul(groups).ok_or_else(|| out_of_memory::<f64>("sums of distances", usize::MAX))?;
    let (mut counts, mut sums) = (filled(len, 0.0, "sums of distances")?, filled(len, 0.0, "sums of distances")?);
    let mut parts = reserved(groups, "groups of sources")?;
    parts.extend(counts.chunks_mut(n.max(1)).zip(sums.chunks_mut(n.max(1))).enumerate());
    let (alone, weighted) = (Threads::caller(), g.is_weighted());
    let state =
        || Ok((Searches::new(if weighted { 0 } else { n })?, weighted.then(|| Steps::new(&alone, g)).transpose()?));
    let add = |(searches, steps): &mut (Searches, Option<Steps<'_>>),
               (group, (counts, sums)): (usize, (&mut [f64], &mut [f64]))| {
        for batch in group * batches / groups..(group + 1) * batches / groups {
            cpu.threads().check_stop("closeness", batch as u64, batches as u64)?;
            let sources = batch * TOGETHER..((batch + 1) * TOGETHER).min(n);
            if let Some(steps) = steps {
                for s in sources {
                    steps.search(s)?;
                    for (v, d) in steps.lengths().enumerate() {
                        if v != s && d < f64::INFINITY {
                            counts[v] += 1.0;
                            sums[v] += of(d);
                        }
                    }
                }
            } else {
                searches.run(lists, sources.map(|s| s as u32), |v, fresh, level| {
                    if level > 0 {
                        let count = f64::from(fresh.count_ones());
                        counts[v as usize] += count;
                        sums[v as usize] += count * of(f64::from(level));
                    }
                });
            }
        }
        Ok(())
    };
    for_each_part(cpu.threads(), parts, state, add)?;
    for all in [&mut counts, &mut sums] {
        let (total, others) = all.split_at_mut(n);
        for group in others.chunks(n.max(1)) {
            total.iter_mut().zip(group).for_each(|(to, x)| *to += x);
        }
        all.truncate(n);
    }
    Ok((counts, sums))
}

/// Groups of batches of sources: the maximum parallelism.
const GROUPS: usize = 32;

/// Up to 64 breadth-first searches at once, one bit each.
struct Searches {
    /// For each vertex, the searches that have visited it.
    seen: Vec<u64>,
    /// The searches that reached it in the previous step, and in this one.
    now: Vec<u64>,
    next: Vec<u64>,
    /// Vertices reached in the previous step by some search, and in this one.
    frontier: Vec<u32>,
    fresh: Vec<u32>,
}

impl Searches {
    fn new(n: usize) -> Result<Self> {
        let words = || filled(n, 0u64, "searches");
        let list = || filled(n + 1, 0u32, "a frontier");
        Ok(Self { seen: words()?, now: words()?, next: words()?, frontier: list()?, fresh: list()? })
    }
    /// Calls `reached(v, searches, level)` for each vertex with the set of searches that reach it at a level.
    fn run(&mut self, lists: Lists<'_>, sources: impl Iterator<Item = u32>, mut reached: impl FnMut(u32, u64, u32)) {
        let (seen, now, next) = (&mut self.seen[..], &mut self.now[..], &mut self.next[..]);
        let (frontier, fresh) = (&mut self.frontier, &mut self.fresh);
        seen.fill(0);
        let mut len = 0;
        for (k, s) in sources.enumerate() {
            fresh[len] = s;
            len += usize::from(next[s as usize] == 0);
            next[s as usize] |= 1 << k;
        }
        for level in 0.. {
            std::mem::swap(frontier, fresh);
            for &v in &frontier[..len] {
                let v = v as usize;
                now[v] = std::mem::take(&mut next[v]);
                seen[v] |= now[v];
                reached(v as u32, now[v], level);
            }
            if len == 0 {
                return;
            }
            let mut tail = 0;
            for &v in &frontier[..len] {
                let mine = now[v as usize];
                for &u in lists.of(v as usize) {
                    let new = mine & !seen[u as usize];
                    let there = &mut next[u as usize];
                    fresh[tail] = u;
                    tail += usize::from(*there == 0 && new != 0);
                    *there |= new;
                }
            }
            len = tail;
        }
    }
}
