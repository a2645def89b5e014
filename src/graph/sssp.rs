//! Single-source shortest paths: buckets of tentative distances (Δ-stepping) for nonnegative weights, rounds over all
//! edges (Bellman–Ford) otherwise.
//!
//! A bucket holds the vertices whose tentative distance is in [kΔ, (k + 1)Δ). The vertices of the first nonempty bucket
//! relax their edges, repeatedly while new ones fall into the same bucket. Small buckets are processed by one thread,
//! large ones by all, with atomic minima. Sources: Meyer, Sanders 2003, "Δ-stepping: a parallelizable shortest path
//! algorithm"; Bellman 1958.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::place::{GraphBackend, Place};
use super::search::UNREACHED;
use super::structure::{Graph, Lists};
use crate::par::{Threads, filled, note, out_of_memory, reserved};
use crate::{Cpu, Error, Result};

/// Shortest paths from one vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortestPaths {
    /// The length of a shortest path to each vertex, infinite if there is no path.
    pub distances: Vec<f64>,
    /// The predecessor of each vertex on such a path; the source is its own parent. [`UNREACHED`] if there is no path.
    pub parents: Vec<u32>,
}

impl ShortestPaths {
    /// The vertices of a shortest path to `target`, the source first; `None` if there is no path.
    #[must_use]
    pub fn path(&self, target: usize) -> Option<Vec<u32>> {
        let mut at = u32::try_from(target).ok()?;
        let mut path = vec![at];
        loop {
            let parent = *self.parents.get(at as usize)?;
            if parent == UNREACHED {
                return None;
            }
            if parent == at {
                path.reverse();
                return Some(path);
            }
            // Modified parents may form a cycle.
            if path.len() == self.parents.len() {
                return None;
            }
            at = parent;
            path.push(at);
        }
    }
}

/// `d(v) = min Σ w(e)` over the paths from `source` to v, infinite if there is no path.
///
/// Edges of an unweighted graph have weight 1. A path length is rounded edge by edge from the source on, and the result
/// is the minimum of these, so it is the same for any number of threads. An edge of infinite weight is ignored. Cost:
/// O(n + m + L) expected time for random weights, with L the number of buckets that the distances span; O(n + m)
/// memory.
/// # Errors
/// [`Error::Argument`] if there is no vertex `source`, and naming an edge of negative weight (see [`bellman_ford`]);
/// [`Error::OutOfMemory`]; [`Error::Cancelled`]; on a GPU [`Error::DeviceMemory`], [`Error::Device`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, sssp};
/// // 0 → 1 costs 5, 0 → 2 costs 1, 2 → 1 costs 3; 3 is apart.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 2, 3, 3], vec![1, 2, 1], vec![5.0, 1.0, 3.0])?;
/// let cpu = Cpu::new();
/// let g = Graph::weighted(&cpu, &a, GraphKind::Directed)?;
/// assert_eq!(sssp(&cpu, &g, 0)?, [0.0, 4.0, 1.0, f64::INFINITY]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Meyer, Sanders 2003.
pub fn sssp(on: &(impl GraphBackend + ?Sized), g: &Graph, source: usize) -> Result<Vec<f64>> {
    g.check("source", source)?;
    g.check_weights("sssp")?;
    match on.place()? {
        Place::Cpu(cpu) => distances(cpu.threads(), g, source),
        #[cfg(feature = "cuda")]
        Place::Cuda(cuda) => distances_on(cuda, g, source),
    }
}

/// [`sssp`] after checking its arguments.
#[cfg(feature = "cuda")]
fn distances_on(cuda: &crate::Cuda, g: &Graph, source: usize) -> Result<Vec<f64>> {
    let there = g.on_device(cuda)?;
    let (n, lists) = (g.vertices(), g.outgoing());
    let Some(weights) = lists.weights else {
        let levels = there.bfs(source, false)?.levels;
        let lengths = levels.into_iter().map(|level| if level == UNREACHED { f64::INFINITY } else { f64::from(level) });
        return crate::par::collected(n, lengths, "distances");
    };
    // A bucket should have enough work for the device: the mean weight for 32 edges per vertex, more for fewer
    // (Davidson et al. 2014).
    let degree = lists.ends.len() as f64 / n as f64;
    let delta = g.mean_weight() * (32.0 / degree).max(1.0);
    let delta = if delta > 0.0 && delta.is_finite() { delta } else { 1.0 };
    let found = there.sssp(weights, source, delta)?;
    let [rounds, buckets] = found.steps;
    note(|| format!("sssp: Δ = {delta}, {buckets} buckets in {rounds} rounds of one kernel"));
    Ok(found.lengths)
}

/// [`sssp`] after checking its arguments.
pub(super) fn distances(threads: &Threads, g: &Graph, source: usize) -> Result<Vec<f64>> {
    let mut steps = Steps::new(threads, g)?;
    steps.search(source)?;
    Ok(steps.distances.into_iter().map(|d| f64::from_bits(d.into_inner())).collect())
}

/// Distances as of [`sssp`], and a tree of shortest paths.
///
/// A parent is the least vertex u nearer to the source with d(u) + w(u, v) = d(v). If only vertices at the same
/// distance lead to v, over zero-weight edges, it is the least of those that take the fewest such edges. Cost: that of
/// [`sssp`].
/// # Errors
/// Those of [`sssp`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, sssp_tree};
/// let a = Csr::<f64>::new(3, 3, vec![0, 2, 2, 3], vec![1, 2, 1], vec![5.0, 1.0, 3.0])?;
/// let cpu = Cpu::new();
/// let tree = sssp_tree(&cpu, &Graph::weighted(&cpu, &a, GraphKind::Directed)?, 0)?;
/// assert_eq!((tree.distances[1], tree.path(1)), (4.0, Some(vec![0, 2, 1])));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Meyer, Sanders 2003.
pub fn sssp_tree(on: &(impl GraphBackend + ?Sized), g: &Graph, source: usize) -> Result<ShortestPaths> {
    let distances = sssp(on, g, source)?;
    let parents = parents(g.outgoing(), &distances, source)?;
    Ok(ShortestPaths { distances, parents })
}

/// Shortest paths with negative weights allowed: as [`sssp_tree`], by rounds over the edges of all vertices whose
/// distance decreased in the previous round.
///
/// Cost: O(n·m) time at worst, O(n) memory, on one thread.
/// # Errors
/// [`Error::Argument`] if there is no vertex `source`, and naming a vertex of a reachable negative cycle, on which
/// paths have no minimum length; every undirected edge of negative weight is such a cycle.
/// [`Error::OutOfMemory`]; [`Error::Cancelled`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, bellman_ford};
/// let a = Csr::<f64>::new(3, 3, vec![0, 2, 2, 3], vec![1, 2, 1], vec![1.0, 5.0, -4.5])?;
/// let cpu = Cpu::new();
/// let found = bellman_ford(&cpu, &Graph::weighted(&cpu, &a, GraphKind::Directed)?, 0)?;
/// assert_eq!(found.distances, [0.0, 0.5, 5.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Bellman 1958.
pub fn bellman_ford(cpu: &Cpu, g: &Graph, source: usize) -> Result<ShortestPaths> {
    g.check("source", source)?;
    let (n, lists) = (g.vertices(), g.outgoing());
    let mut distances = filled(n, f64::INFINITY, "distances")?;
    let mut parents = filled(n, UNREACHED, "parents")?;
    let (mut queue, mut next) = (reserved(n, "a queue of vertices")?, reserved(n, "a queue of vertices")?);
    let mut waits = filled(n, false, "a queue of vertices")?;
    (distances[source], parents[source]) = (0.0, source as u32);
    queue.push(source as u32);
    let mut round = 0;
    while !queue.is_empty() {
        round += 1;
        cpu.threads().alone("bellman_ford", || Ok(()))?;
        if round > n {
            return Err(Error::Argument {
                name: "weight",
                message: format!("a cycle of negative length goes through vertex {}", on_cycle(&parents, queue[0])),
            });
        }
        for &u in &queue {
            waits[u as usize] = false;
            let d = distances[u as usize];
            for (v, w) in lists.weighted(u as usize) {
                // A path of infinite length is no path.
                if d + w < distances[v] && w < f64::INFINITY {
                    (distances[v], parents[v]) = (d + w, u);
                    if !std::mem::replace(&mut waits[v], true) {
                        next.push(v as u32);
                    }
                }
            }
        }
        queue.clear();
        std::mem::swap(&mut queue, &mut next);
    }
    Ok(ShortestPaths { distances, parents })
}

/// A vertex of the cycle reached by following parents from `v`.
fn on_cycle(parents: &[u32], mut v: u32) -> u32 {
    for _ in 0..parents.len() {
        v = parents[v as usize];
    }
    v
}

/// Buckets from the first on; farther vertices wait together.
const BUCKETS: usize = 64;
/// Upper bound of bucket indices.
const LAST: u64 = 1 << 62;
/// Minimum entries of a bucket for using all threads.
const PARALLEL: usize = 1 << 12;

/// A vertex and its distance when inserted. Stale if the vertex has a smaller distance now.
type Entry = (u32, f64);

/// Searches from one vertex after another, in the same memory.
pub(super) struct Steps<'a> {
    threads: &'a Threads,
    lists: Lists<'a>,
    /// Bits of nonnegative doubles, which have the same order.
    distances: Vec<AtomicU64>,
    delta: f64,
    /// Bucket k at k modulo their number; those from `first` on.
    buckets: Vec<Vec<Entry>>,
    /// The current bucket, empty between searches.
    now: Vec<Entry>,
    first: u64,
    far: Vec<Entry>,
    steps: [u64; 2],
}

impl<'a> Steps<'a> {
    pub(super) fn new(threads: &'a Threads, g: &'a Graph) -> Result<Self> {
        let n = g.vertices();
        let mut distances = reserved(n, "distances")?;
        distances.resize_with(n, || AtomicU64::new(0));
        let mut buckets = reserved(BUCKETS, "buckets")?;
        buckets.resize_with(BUCKETS, Vec::new);
        let (lists, delta) = (g.outgoing(), delta(g));
        Ok(Self { threads, lists, distances, delta, buckets, now: vec![], first: 0, far: vec![], steps: [0; 2] })
    }
    /// Computes the shortest paths from `source`.
    pub(super) fn search(&mut self, source: usize) -> Result<()> {
        self.distances.iter_mut().for_each(|d| *d.get_mut() = f64::INFINITY.to_bits());
        *self.distances[source].get_mut() = 0;
        self.first = 0;
        push(&mut self.buckets[0], (source as u32, 0.0))?;
        self.run()
    }
    /// Their lengths, as of [`sssp`].
    pub(super) fn lengths(&mut self) -> impl Iterator<Item = f64> {
        self.distances.iter_mut().map(|d| f64::from_bits(*d.get_mut()))
    }
    fn run(&mut self) -> Result<()> {
        let mut now = std::mem::take(&mut self.now);
        self.steps = [0; 2];
        loop {
            let at = (self.first % BUCKETS as u64) as usize;
            std::mem::swap(&mut now, &mut self.buckets[at]);
            if now.is_empty() {
                if !self.advance()? {
                    break;
                }
                continue;
            }
            if now.len() >= PARALLEL && self.threads.count() > 1 {
                self.steps[1] += 1;
                self.relax_parallel(&now)?;
            } else {
                self.steps[0] += 1;
                self.relax(&now)?;
            }
            now.clear();
        }
        self.now = now;
        let [alone, together] = self.steps;
        note(|| format!("sssp: buckets of {}, {alone} steps on one thread, {together} on all", self.delta));
        Ok(())
    }
    /// Advances to the next nonempty bucket, distributing the far vertices when it reaches them; false if there is
    /// none.
    fn advance(&mut self) -> Result<bool> {
        for _ in 1..BUCKETS {
            self.first += 1;
            if !self.buckets[(self.first % BUCKETS as u64) as usize].is_empty() {
                return Ok(true);
            }
        }
        self.first += 1;
        let mut far = std::mem::take(&mut self.far);
        far.retain(|&(v, d)| self.distances[v as usize].load(Relaxed) == d.to_bits());
        let Some(least) = far.iter().map(|&(_, d)| d).min_by(f64::total_cmp) else { return Ok(false) };
        self.first = self.first.max(self.bucket(least));
        far.into_iter().try_for_each(|entry| self.put(entry))?;
        Ok(true)
    }
    #[inline(always)]
    fn bucket(&self, d: f64) -> u64 {
        // Distances beyond this share a bucket; their order affects only performance.
        ((d / self.delta) as u64).min(LAST)
    }
    #[inline(always)]
    fn put(&mut self, entry: Entry) -> Result<()> {
        // Rounding may put a distance before the current bucket.
        let k = self.bucket(entry.1).max(self.first);
        if k - self.first < BUCKETS as u64 {
            push(&mut self.buckets[(k % BUCKETS as u64) as usize], entry)
        } else {
            push(&mut self.far, entry)
        }
    }
    fn relax(&mut self, now: &[Entry]) -> Result<()> {
        let lists = self.lists;
        for &(u, d) in now {
            if *self.distances[u as usize].get_mut() != d.to_bits() {
                continue;
            }
            for (v, w) in lists.weighted(u as usize) {
                let there = self.distances[v].get_mut();
                let through = d + w;
                if through.to_bits() < *there {
                    *there = through.to_bits();
                    self.put((v as u32, through))?;
                }
            }
        }
        Ok(())
    }
    fn relax_parallel(&mut self, now: &[Entry]) -> Result<()> {
        let tasks = (now.len() / 256).clamp(1, 8 * self.threads.count());
        let (lists, distances) = (self.lists, &self.distances);
        let found = Mutex::new(Vec::new());
        self.threads.for_each(
            tasks,
            || Ok(()),
            |(), t| {
                let mut mine = Vec::new();
                for &(u, d) in &now[t * now.len() / tasks..(t + 1) * now.len() / tasks] {
                    if distances[u as usize].load(Relaxed) != d.to_bits() {
                        continue;
                    }
                    for (v, w) in lists.weighted(u as usize) {
                        let through = d + w;
                        let bits = through.to_bits();
                        if bits < distances[v].load(Relaxed) && distances[v].fetch_min(bits, Relaxed) > bits {
                            push(&mut mine, (v as u32, through))?;
                        }
                    }
                }
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                push(&mut found, mine)
            },
        )?;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        for entry in found.into_iter().flatten() {
            // Several threads may have decreased a distance; the last entry counts.
            if *self.distances[entry.0 as usize].get_mut() == entry.1.to_bits() {
                self.put(entry)?;
            }
        }
        Ok(())
    }
}

/// Bucket width: the fraction of the mean weight for which about one edge of a vertex stays in its own bucket.
fn delta(g: &Graph) -> f64 {
    let (mean, n, m) = (g.mean_weight(), g.vertices(), g.pattern().nnz());
    let width = mean * DELTA / (m as f64 / n as f64).max(1.0);
    // Falls back to 1 if all weights are zero, or their mean is not a normal number.
    if width.is_normal() { width } else { 1.0 }
}
/// Multiplied by the mean weight over the mean degree.
const DELTA: f64 = 3.0;

#[inline(always)]
fn push<T>(to: &mut Vec<T>, x: T) -> Result<()> {
    if to.len() == to.capacity() {
        to.try_reserve(to.len() + 1).map_err(|_| out_of_memory::<T>("vertices of a bucket", to.len()))?;
    }
    to.push(x);
    Ok(())
}

/// Parents of a tree of shortest paths, as [`sssp_tree`] defines them.
fn parents(lists: Lists<'_>, distances: &[f64], source: usize) -> Result<Vec<u32>> {
    let n = distances.len();
    let mut parents = filled(n, UNREACHED, "parents")?;
    for u in 0..n {
        let d = distances[u];
        for (v, w) in lists.weighted(u) {
            if d < distances[v] && d + w == distances[v] && distances[v] < f64::INFINITY && parents[v] == UNREACHED {
                parents[v] = u as u32;
            }
        }
    }
    parents[source] = source as u32;
    // Vertices at the distance of their predecessors: in rounds, each from those of the previous round, in order.
    let mut round: Vec<u32> = vec![];
    if (0..n).any(|v| distances[v] < f64::INFINITY && parents[v] == UNREACHED) {
        round = reserved(n, "a round of vertices")?;
        round.extend((0..n as u32).filter(|&v| parents[v as usize] != UNREACHED));
    }
    while !round.is_empty() {
        let mut next = reserved(n, "a round of vertices")?;
        for &u in &round {
            let d = distances[u as usize];
            for (v, w) in lists.weighted(u as usize) {
                if d == distances[v] && d + w == d && parents[v] == UNREACHED {
                    parents[v] = u;
                    next.push(v as u32);
                }
            }
        }
        next.sort_unstable();
        round = next;
    }
    Ok(parents)
}
