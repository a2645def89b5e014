//! Connected components by linking trees, skipping most of the largest component (Afforest).
//!
//! Each vertex points at a smaller one, or at itself: a forest whose trees are parts of components. The first two
//! neighbors of every vertex are linked. Then the most frequent root in a sample is taken to be most of the largest
//! component, and only vertices outside it link the rest of their neighbors. A root is always the least vertex of its
//! tree. Source: Sutton, Ben-Nun, Barak 2018, "Optimizing Parallel Graph Connectivity Computation via Subgraph
//! Sampling".

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::place::{GraphBackend, Place};
use super::search::{UNREACHED, numbers};
use super::structure::{Graph, Lists};
use crate::par::{Threads, filled, note, reserved};
use crate::{Cpu, Result};

/// Vertices and edges that one thread links before others wake up.
const SMALL: usize = 1 << 19;
/// Neighbors of each vertex that are linked first.
const ROUNDS: usize = 2;
/// Sample size for finding the largest tree.
const SAMPLE: usize = 1024;
/// Vertices per task.
const BLOCK: usize = 1 << 12;

/// For each vertex the least vertex of its connected component; for a directed graph, of its weakly connected
/// component.
///
/// Two vertices are in one component if their labels are equal; an isolated vertex is its own component. Cost: O(n + m)
/// time in practice, 4n bytes. For a directed graph only the outgoing edges are read, not the transpose.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory); on a GPU [`Error::DeviceMemory`](crate::Error::DeviceMemory),
/// [`Error::Device`](crate::Error::Device).
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, connected_components};
/// // 0 → 3 ← 1, and 2 apart.
/// let a = Csr::<f64>::new(4, 4, vec![0, 1, 2, 2, 2], vec![3, 3], vec![1.0, 1.0])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Directed)?;
/// assert_eq!(connected_components(&cpu, &g)?, [0, 0, 2, 0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Sutton, Ben-Nun, Barak 2018.
pub fn connected_components(on: &(impl GraphBackend + ?Sized), g: &Graph) -> Result<Vec<u32>> {
    match on.place()? {
        Place::Cpu(cpu) => on_cpu(cpu, g),
        #[cfg(feature = "cuda")]
        Place::Cuda(_) if g.vertices() == 0 => Ok(vec![]),
        #[cfg(feature = "cuda")]
        Place::Cuda(cuda) => {
            note(|| "components: trees linked edge by edge".to_owned());
            g.on_device(cuda)?.components()
        }
    }
}

fn on_cpu(cpu: &Cpu, g: &Graph) -> Result<Vec<u32>> {
    let (n, lists, threads) = (g.vertices(), g.outgoing(), cpu.threads());
    if n + lists.ends.len() <= SMALL {
        note(|| "components: one thread, since the graph is small".to_owned());
        return if g.has_both_directions() { searched(lists) } else { united(lists) };
    }
    let mut parent = reserved(n, "components")?;
    parent.extend((0..n as u32).map(AtomicU32::new));
    let blocks = |work: &(dyn Fn(usize) + Sync)| blocks(threads, n, work);
    for round in 0..ROUNDS {
        blocks(&|v| {
            if let Some(&u) = lists.of(v).get(round) {
                link(&parent, v as u32, u);
            }
        })?;
        blocks(&|v| compress(&parent, v))?;
    }
    // In a directed graph an edge is in a single list: it may join the largest tree from inside.
    let most = if g.has_both_directions() { most_frequent(&parent)? } else { u32::MAX };
    let rest = &|v: usize| rest(lists, &parent, v, most);
    blocks(rest)?;
    blocks(&|v| compress(&parent, v))?;
    note(|| format!("components: {ROUNDS} neighbors of each vertex, then all outside the tree of {most}"));
    Ok(numbers(parent))
}

/// Labels of an undirected graph, by a search from the least vertex of each component.
fn searched(lists: Lists<'_>) -> Result<Vec<u32>> {
    let n = lists.ptr.len() - 1;
    let mut labels = filled(n, UNREACHED, "components")?;
    // One spare element: the branch-free store of a visited vertex goes behind the last.
    let mut queue = filled(n + 1, 0, "a queue of vertices")?;
    for root in 0..n as u32 {
        if labels[root as usize] != UNREACHED {
            continue;
        }
        labels[root as usize] = root;
        queue[0] = root;
        let (mut head, mut tail) = (0, 1);
        while head < tail {
            for &u in lists.of(queue[head] as usize) {
                let label = &mut labels[u as usize];
                queue[tail] = u;
                tail += usize::from(*label == UNREACHED);
                // A vertex of another component cannot be adjacent.
                *label = root;
            }
            head += 1;
        }
    }
    Ok(labels)
}

/// Labels of a directed graph, each edge stored once, by union-find.
fn united(lists: Lists<'_>) -> Result<Vec<u32>> {
    let n = lists.ptr.len() - 1;
    let mut parent = reserved(n, "components")?;
    parent.extend(0..n as u32);
    for v in 0..n {
        let mut a = root(&mut parent, v as u32);
        for &u in lists.of(v) {
            let b = root(&mut parent, u);
            parent[a.max(b) as usize] = a.min(b);
            a = a.min(b);
        }
    }
    // A parent is smaller, so it points at its root already.
    for v in 0..n {
        parent[v] = parent[parent[v] as usize];
    }
    Ok(parent)
}

/// The root of `v` in a forest of parents; halves the path to it (van Leeuwen, van der Weide 1977).
#[inline(always)]
pub(super) fn root(parents: &mut [u32], mut v: u32) -> u32 {
    loop {
        let parent = parents[v as usize];
        if parent == v {
            return v;
        }
        let above = parents[parent as usize];
        parents[v as usize] = above;
        v = above;
    }
}

/// Links a vertex outside the tree of `most` to the rest of its neighbors.
fn rest(lists: Lists<'_>, parent: &[AtomicU32], v: usize, most: u32) {
    if parent[v].load(Relaxed) != most {
        lists.of(v).iter().skip(ROUNDS).for_each(|&u| link(parent, v as u32, u));
    }
}

/// Runs `work` for each vertex.
fn blocks(threads: &Threads, n: usize, work: &(dyn Fn(usize) + Sync)) -> Result<()> {
    threads.for_each_beside(
        "components",
        n.div_ceil(BLOCK),
        || Ok(()),
        |(), b| {
            (b * BLOCK..((b + 1) * BLOCK).min(n)).for_each(work);
            Ok(())
        },
    )
}

/// Merges the trees of `u` and `v`: the larger root points at the smaller.
#[inline]
fn link(parent: &[AtomicU32], u: u32, v: u32) {
    let (mut a, mut b) = (parent[u as usize].load(Relaxed), parent[v as usize].load(Relaxed));
    while a != b {
        let (high, low) = (a.max(b), a.min(b));
        let above = parent[high as usize].load(Relaxed);
        // Already linked, or `high` is a root and becomes a child of `low`.
        if above == low
            || (above == high && parent[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok())
        {
            return;
        }
        a = parent[parent[high as usize].load(Relaxed) as usize].load(Relaxed);
        b = parent[low as usize].load(Relaxed);
    }
}

/// Makes `v` a child of its root.
#[inline]
fn compress(parent: &[AtomicU32], v: usize) {
    let mut at = parent[v].load(Relaxed);
    loop {
        let above = parent[at as usize].load(Relaxed);
        if above == at {
            break;
        }
        at = above;
    }
    parent[v].store(at, Relaxed);
}

/// The most frequent root in a sample of vertices.
fn most_frequent(parent: &[AtomicU32]) -> Result<u32> {
    let n = parent.len();
    let mut roots = filled(SAMPLE.min(n), 0, "a sample of vertices")?;
    let len = roots.len();
    roots.iter_mut().enumerate().for_each(|(k, root)| *root = parent[k * n / len].load(Relaxed));
    roots.sort_unstable();
    let runs = roots.chunk_by(|a, b| a == b);
    Ok(runs.max_by_key(|run| run.len()).map_or(u32::MAX, |run| run[0]))
}
