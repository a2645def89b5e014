//! Breadth-first search with a queue, by the edges of the frontier (push) or of the unvisited vertices (pull).
//!
//! A level is pushed along the edges of the frontier while they are few, by one thread or by all. Otherwise each
//! unvisited vertex searches its neighbors for one in the frontier and stops at the first. Sources: Moore 1959; Beamer,
//! Asanović, Patterson 2012, "Direction-Optimizing Breadth-First Search", with its α and β.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::place::{GraphBackend, Place};
use super::structure::{Graph, Lists};
use crate::par::{Threads, collected, for_each_part, note, prefetch, reserved, zero_words};
use crate::{Cpu, Result};

/// The level and the parent of an unreachable vertex.
pub const UNREACHED: u32 = u32::MAX;

/// A breadth-first tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BfsTree {
    /// The least number of edges on a path from the source to each vertex, or [`UNREACHED`].
    pub levels: Vec<u32>,
    /// The predecessor of each vertex on a shortest path, the least of all candidates; the source is its own parent.
    /// [`UNREACHED`] if there is no path.
    pub parents: Vec<u32>,
}

/// The least number of edges on a path from `source` to each vertex, or [`UNREACHED`].
///
/// Weights are ignored. Cost: O(n + m) time, O(n) memory. Pull steps read the transpose of a directed graph. They are
/// used only after [`Graph::prepare`], because a single search does not amortize the transpose; a GPU always computes
/// it.
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) if there is no vertex `source`;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory); on a GPU [`Error::DeviceMemory`](crate::Error::DeviceMemory),
/// [`Error::Device`](crate::Error::Device).
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, UNREACHED, bfs};
/// // 0 → 1 → 2, and 3 apart.
/// let a = Csr::<f64>::new(4, 4, vec![0, 1, 2, 2, 2], vec![1, 2], vec![1.0, 1.0])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Directed)?;
/// assert_eq!(bfs(&cpu, &g, 0)?, [0, 1, 2, UNREACHED]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Beamer, Asanović, Patterson 2012.
pub fn bfs(on: &(impl GraphBackend + ?Sized), g: &Graph, source: usize) -> Result<Vec<u32>> {
    Ok(tree(on.place()?, g, source, false)?.levels)
}

/// A breadth-first tree from `source`: levels as of [`bfs`], and parents.
///
/// A parent is the least vertex one level nearer with an edge to the child, so the tree is the same for any number of
/// threads. Cost: that of [`bfs`].
/// # Errors
/// Those of [`bfs`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, bfs_tree};
/// // A cycle of four vertices.
/// let a = Csr::<f64>::new(4, 4, vec![0, 1, 2, 3, 4], vec![1, 2, 3, 0], vec![1.0; 4])?;
/// let cpu = Cpu::new();
/// let tree = bfs_tree(&cpu, &Graph::new(&cpu, &a, GraphKind::Undirected)?, 0)?;
/// assert_eq!((tree.levels, tree.parents), (vec![0, 1, 2, 1], vec![0, 0, 1, 0]));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Beamer, Asanović, Patterson 2012.
pub fn bfs_tree(on: &(impl GraphBackend + ?Sized), g: &Graph, source: usize) -> Result<BfsTree> {
    tree(on.place()?, g, source, true)
}

/// Levels, and parents if requested.
fn tree(on: Place<'_>, g: &Graph, source: usize, parents: bool) -> Result<BfsTree> {
    g.check("source", source)?;
    match on {
        Place::Cpu(cpu) => {
            let mut search = Search::new(cpu, g, parents)?;
            search.run(source)?;
            Ok(BfsTree { levels: numbers(search.levels), parents: numbers(search.parents) })
        }
        #[cfg(feature = "cuda")]
        Place::Cuda(cuda) => {
            let found = g.on_device(cuda)?.bfs(source, parents)?;
            let [levels, pulled] = found.steps;
            note(|| format!("bfs: {levels} levels in one kernel, {pulled} of them pulled"));
            Ok(BfsTree { levels: found.levels, parents: found.parents })
        }
    }
}

/// n atomic elements, all [`UNREACHED`].
pub(super) fn unreached(n: usize, what: &'static str) -> Result<Vec<AtomicU32>> {
    let mut v = reserved(n, what)?;
    v.resize_with(n, || AtomicU32::new(UNREACHED));
    Ok(v)
}

/// The values of the atomics, in the same memory.
pub(super) fn numbers(v: Vec<AtomicU32>) -> Vec<u32> {
    v.into_iter().map(AtomicU32::into_inner).collect()
}

/// Edges that one thread follows before another wakes up.
const SERIAL: usize = 1 << 15;
/// Prefetch distance in vertices.
const AHEAD: usize = 16;
/// Number of levels between samples, and sample size, for testing whether the frontier is regular. On grids a branch
/// for new vertices is predicted and costs less than a store per edge; on road networks it is mispredicted and takes
/// twice as long.
const REGULAR: u32 = 16;
const SAMPLE: usize = 16;
/// Vertices per block of a pull step: whole bitmap words.
const BLOCK: usize = 1 << 12;

struct Search<'a> {
    threads: &'a Threads,
    outgoing: Lists<'a>,
    incoming: Option<Lists<'a>>,
    levels: Vec<AtomicU32>,
    /// Empty unless requested.
    parents: Vec<AtomicU32>,
    /// The frontier as a list.
    queue: Vec<u32>,
    next: Vec<u32>,
    /// The frontier as a bitmap, for pull steps.
    bits: Vec<u64>,
    next_bits: Vec<u64>,
    /// Whether the edges of the frontier lead to unvisited vertices in a regular pattern.
    regular: bool,
    pushed: u32,
    pulled: u32,
}

impl<'a> Search<'a> {
    fn new(cpu: &'a Cpu, g: &'a Graph, parents: bool) -> Result<Self> {
        let n = g.vertices();
        Ok(Self {
            threads: cpu.threads(),
            outgoing: g.outgoing(),
            incoming: if g.has_incoming() { Some(g.incoming(cpu)?) } else { None },
            levels: unreached(n, "levels")?,
            parents: unreached(if parents { n } else { 0 }, "parents")?,
            // One spare element: the branch-free store of a visited vertex goes behind the last.
            queue: reserved(n + 1, "a queue of vertices")?,
            next: vec![],
            bits: vec![],
            next_bits: vec![],
            regular: false,
            pushed: 0,
            pulled: 0,
        })
    }
    fn run(&mut self, source: usize) -> Result<()> {
        let n = self.levels.len();
        self.levels[source].store(0, Relaxed);
        if let Some(parent) = self.parents.get(source) {
            parent.store(source as u32, Relaxed);
        }
        self.queue.resize(n + 1, 0);
        self.queue[0] = source as u32;
        // The frontier's range in the queue.
        let (mut start, mut end) = (0, 1);
        let (mut level, mut found) = (0, 0);
        while start < end {
            if level % REGULAR == 0 {
                self.regular = self.is_regular(start, end);
            }
            let edges = match end - start {
                count if self.is_small(count) => 0,
                count if self.regular => count * (self.outgoing.ends.len() / n),
                _ => self.edges_of(start, end),
            };
            found += end - start;
            if self.incoming.is_some() && self.is_pulled(edges, n - found) {
                self.pull_levels(start, &mut end, &mut level, &mut found)?;
                start = 0;
                continue;
            }
            self.pushed += 1;
            level += 1;
            if edges > SERIAL && self.threads.count() > 1 {
                self.push_parallel(start, end, level)?;
                self.queue[..self.next.len()].copy_from_slice(&self.next);
                (start, end) = (0, self.next.len());
            } else {
                (start, end) = (end, self.push(start, end, level));
            }
        }
        note(|| format!("bfs: {} levels pushed, {} pulled", self.pushed, self.pulled));
        Ok(())
    }
    /// Whether to pull a level whose frontier has this many edges, with this many unvisited vertices: each of those
    /// checks about m/edges of its edges until one comes from the frontier.
    fn is_pulled(&self, edges: usize, unreached: usize) -> bool {
        let (n, m) = (self.levels.len(), self.outgoing.ends.len());
        if edges < SERIAL / 8 {
            return false;
        }
        let looks = (m as f64 / edges as f64).min(m as f64 / n as f64) + 1.0;
        (unreached as f64 * looks + n as f64 / 4.0) < edges as f64
    }
    /// Whether one thread pushes a frontier of this size, assuming average degrees.
    fn is_small(&self, frontier: usize) -> bool {
        let (n, m) = (self.levels.len(), self.outgoing.ends.len());
        frontier > 64 && frontier < n / 64 && 4 * frontier * (m / n) < SERIAL / 8
    }
    /// Whether adjacent vertices in the middle of the frontier nearly all have equal degrees, and their unvisited
    /// neighbors at the same positions.
    fn is_regular(&self, start: usize, end: usize) -> bool {
        if end - start < 4 * SAMPLE {
            return false;
        }
        let shape = |&u: &u32| {
            let list = self.outgoing.of(u as usize);
            let new = |bits, &v: &u32| bits << 1 | u64::from(self.levels[v as usize].load(Relaxed) == UNREACHED);
            (list.len(), list.iter().take(64).fold(0u64, new))
        };
        let middle = start + (end - start) / 2;
        let sample = &self.queue[middle..middle + SAMPLE];
        sample.windows(2).filter(|pair| shape(&pair[0]) == shape(&pair[1])).count() >= SAMPLE - 3
    }
    fn edges_of(&self, start: usize, end: usize) -> usize {
        self.outgoing.edges_of(&self.queue[start..end])
    }
    /// Pushes along the edges of the frontier; returns the end of the next frontier, which follows this one in the
    /// queue.
    fn push(&mut self, start: usize, end: usize, level: u32) -> usize {
        match (self.parents.is_empty(), self.regular) {
            (true, false) => self.push_by::<false, false>(start, end, level),
            (true, true) => self.push_by::<false, true>(start, end, level),
            (false, false) => self.push_by::<true, false>(start, end, level),
            (false, true) => self.push_by::<true, true>(start, end, level),
        }
    }
    /// [`push`](Self::push) with or without a branch for new vertices.
    fn push_by<const PARENTS: bool, const BRANCH: bool>(&mut self, start: usize, end: usize, level: u32) -> usize {
        let (outgoing, levels, parents) = (self.outgoing, &mut self.levels[..], &mut self.parents[..]);
        let queue = &mut self.queue[..];
        let (mut tail, last) = (end, queue.len() - 1);
        for k in start..end {
            let u = queue[k];
            if !BRANCH {
                // Elements behind the end of the queue are vertices, too.
                prefetch(outgoing.ptr, queue[(k + 2 * AHEAD).min(last)] as usize);
                prefetch(outgoing.ends, outgoing.ptr[queue[(k + AHEAD).min(last)] as usize]);
            }
            for &v in outgoing.of(u as usize) {
                let at = levels[v as usize].get_mut();
                let before = *at;
                if BRANCH {
                    if before == UNREACHED {
                        *at = level;
                        queue[tail] = v;
                        tail += 1;
                    }
                } else {
                    *at = before.min(level);
                    queue[tail] = v;
                    tail += usize::from(before == UNREACHED);
                }
                if PARENTS && before >= level {
                    let parent = parents[v as usize].get_mut();
                    *parent = u.min(*parent);
                }
            }
        }
        tail
    }
    /// As [`push`](Self::push), by all threads, into `next`.
    fn push_parallel(&mut self, start: usize, end: usize, level: u32) -> Result<()> {
        let frontier = &self.queue[start..end];
        let (outgoing, levels, parents) = (self.outgoing, &self.levels, &self.parents);
        let tasks = (frontier.len() / 64).clamp(1, 8 * self.threads.count());
        let found = Mutex::new(std::mem::take(&mut self.next));
        found.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.threads.for_each(
            tasks,
            || Ok(Vec::new()),
            |mine: &mut Vec<u32>, t| {
                let part = &frontier[t * frontier.len() / tasks..(t + 1) * frontier.len() / tasks];
                mine.clear();
                for (k, &u) in part.iter().enumerate() {
                    if let Some(&far) = part.get(k + 2 * AHEAD) {
                        prefetch(outgoing.ptr, far as usize);
                        prefetch(outgoing.ends, outgoing.ptr[part[k + AHEAD] as usize]);
                    }
                    mine.try_reserve(outgoing.degree(u as usize)).map_err(|_| out_of_memory())?;
                    for &v in outgoing.of(u as usize) {
                        let at = &levels[v as usize];
                        let before = at.load(Relaxed);
                        // Exactly one thread claims it.
                        if before == UNREACHED && at.compare_exchange(before, level, Relaxed, Relaxed).is_ok() {
                            mine.push(v);
                        }
                        if let Some(parent) = parents.get(v as usize)
                            && before >= level
                        {
                            parent.fetch_min(u, Relaxed);
                        }
                    }
                }
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.try_reserve(mine.len()).map_err(|_| out_of_memory())?;
                found.extend_from_slice(mine);
                Ok(())
            },
        )?;
        self.next = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(())
    }
    /// Pulls levels until the frontier is small; it is then in the queue.
    fn pull_levels(&mut self, start: usize, end: &mut usize, level: &mut u32, found: &mut usize) -> Result<()> {
        let n = self.levels.len();
        let words = n.div_ceil(64);
        if self.bits.is_empty() {
            (self.bits, self.next_bits) = (zero_words(words, "a frontier")?, zero_words(words, "a frontier")?);
        }
        self.bits.fill(0);
        for &u in &self.queue[start..*end] {
            self.bits[u as usize / 64] |= 1 << (u % 64);
        }
        loop {
            *level += 1;
            self.pulled += 1;
            let (count, edges) = self.pull(*level)?;
            std::mem::swap(&mut self.bits, &mut self.next_bits);
            if count == 0 || !self.is_pulled(edges, n - *found - count) {
                break;
            }
            *found += count;
        }
        let mut tail = 0;
        for (w, &word) in self.bits.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                self.queue[tail] = (w * 64) as u32 + word.trailing_zeros();
                tail += 1;
                word &= word - 1;
            }
        }
        *end = tail;
        Ok(())
    }
    /// Pulls one level; returns its numbers of vertices and edges.
    fn pull(&mut self, level: u32) -> Result<(usize, usize)> {
        let Some(incoming) = self.incoming else { return Ok((0, 0)) };
        let (n, outgoing, bits) = (self.levels.len(), self.outgoing, &self.bits);
        let (levels, parents) = (&self.levels, &self.parents);
        let total = Mutex::new((0, 0));
        let parts = self.next_bits.chunks_mut(BLOCK / 64).enumerate();
        let parts = collected(parts.len(), parts, "blocks")?;
        let work = |(): &mut (), (b, words): (usize, &mut [u64])| {
            let (mut count, mut edges) = (0, 0);
            for (w, word) in words.iter_mut().enumerate() {
                *word = 0;
                let first = b * BLOCK + w * 64;
                for (v, at) in (first..n).zip(&levels[first..n.min(first + 64)]) {
                    if at.load(Relaxed) != UNREACHED {
                        continue;
                    }
                    let found = incoming.of(v).iter().find(|&&u| bits[u as usize / 64] >> (u % 64) & 1 != 0);
                    if let Some(&u) = found {
                        at.store(level, Relaxed);
                        if let Some(parent) = parents.get(v) {
                            parent.store(u, Relaxed);
                        }
                        *word |= 1 << (v - first);
                        count += 1;
                        edges += outgoing.degree(v);
                    }
                }
            }
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            *total = (total.0 + count, total.1 + edges);
            Ok(())
        };
        for_each_part(self.threads, parts, || Ok(()), work)?;
        Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

fn out_of_memory() -> crate::Error {
    crate::par::out_of_memory::<u32>("a frontier", 0)
}
