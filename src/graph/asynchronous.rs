//! Community detection by asynchronous label propagation: vertices take labels one after the other.
//!
//! A vertex that changes its label wakes its neighbors with another label; the label of a sleeping vertex is one of the
//! most frequent among its neighbors. Vertices start in an order that is scattered within blocks: in index order, one
//! label would sweep along all paths of consecutive vertices. Source: Raghavan, Albert, Kumara 2007, "Near linear time
//! algorithm to detect community structures in large-scale networks", with a fixed order in place of a random one.

use super::labels::Neighbors;
use super::{Graph, LabelPropagation};
use crate::par::{collected, filled, note, prefetch, reserved, zero_indices};
use crate::{Cpu, Result};

/// Labels after vertices, one after the other, have taken the most frequent label of their neighbors, until no vertex
/// would change or `iterations` passes are done. Initially the label of a vertex is its index.
///
/// A vertex keeps its label if that is among the most frequent, otherwise it takes the least of these. A further pass
/// visits the vertices with a neighbor that changed to a label other than theirs, in the order of these changes. Each
/// change adds more edges within communities than it cuts, so the passes terminate. Labels spread farther than those of
/// [`label_propagation`](super::label_propagation), whose conventions for directed edges, weights and self-loops apply.
/// The order of the vertices is fixed: blocks of 4096 consecutive ones, and within each block every 2531st, cyclically.
/// Cost: O(n + m) for the first pass, usually the edges of few vertices for later ones; O(n) memory. It runs on one
/// thread.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::Cancelled`](crate::Error::Cancelled).
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, asynchronous_label_propagation};
/// use sparring::{Cpu, Csr};
/// // Two triangles, 0, 1, 2 and 3, 4, 5, and the edge 2 – 3.
/// let (ptr, cols) = (vec![0, 2, 3, 4, 6, 7, 7], vec![1, 2, 2, 3, 4, 5, 5]);
/// let a = Csr::<f64>::new(6, 6, ptr, cols, vec![1.0; 7])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// let found = asynchronous_label_propagation(&cpu, &g, usize::MAX)?;
/// assert!(found.stable && found.labels[0] == found.labels[1] && found.labels[3] == found.labels[4]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Raghavan, Albert, Kumara 2007.
pub fn asynchronous_label_propagation(cpu: &Cpu, g: &Graph, iterations: usize) -> Result<LabelPropagation> {
    let n = g.vertices();
    let lists = Neighbors::of_graph(cpu, g)?;
    let mut labels = collected(n, 0..n as u32, LABELS)?;
    let mut counts: Vec<u32> = zero_indices(n, "numbers of labels")?;
    let mut awake = filled(n, true, "flags of vertices")?;
    // One spare element for a branch-free store that is discarded.
    let (mut queue, mut next) = (reserved(n + 1, QUEUE)?, zero_indices(n + 1, QUEUE)?);
    for first in (0..n).step_by(BLOCK) {
        // Visits every vertex of the block, since 2531 is odd.
        queue.extend((0..BLOCK).map(|k| first + k * STRIDE % BLOCK).filter(|&v| v < n).map(|v| v as u32));
    }
    let (mut done, mut len) = (0, queue.len());
    queue.resize(n + 1, 0);
    while done < iterations && len > 0 {
        len = cpu.threads().alone("asynchronous_label_propagation", || {
            let queue = &queue[..len];
            let mut woken = 0;
            for (k, &v) in queue.iter().enumerate() {
                // The first pass prefetches the lists of the next block in index order, so that it finds a block in
                // the cache; later passes follow the queue.
                let (later, soon) = match done {
                    0 => (k + BLOCK < n).then_some((k + BLOCK, k + BLOCK - AHEAD)).unzip(),
                    _ => (queue.get(k + AHEAD).map(|&v| v as usize), queue.get(k + AHEAD / 2).map(|&v| v as usize)),
                };
                if let (Some(later), Some(soon)) = (later, soon) {
                    lists.prefetch(later);
                    lists.of(soon).iter().for_each(|list| prefetch(list, 0));
                }
                if k + AHEAD / 4 < queue.len() {
                    let soon = lists.of(queue[k + AHEAD / 4] as usize);
                    soon.iter()
                        .for_each(|list| list.iter().take(LOW_DEGREE).for_each(|&u| prefetch(&labels, u as usize)));
                }
                let v = v as usize;
                awake[v] = false;
                let (lists, own) = (lists.of(v), labels[v]);
                let label = match lists[0].len() + lists[1].len() {
                    0 => own,
                    1..=4 => mode_of_low_degree::<4>(&labels, lists, own),
                    5..=LOW_DEGREE => mode_of_low_degree::<LOW_DEGREE>(&labels, lists, own),
                    _ => mode(&labels, lists, own, &mut counts),
                };
                if label == own {
                    continue;
                }
                labels[v] = label;
                // Branch-free: which neighbors wake up is unpredictable.
                for &u in lists.iter().copied().flatten() {
                    let awake = &mut awake[u as usize];
                    let wakes = !*awake & (labels[u as usize] != label);
                    *awake |= wakes;
                    next[woken] = u;
                    woken += usize::from(wakes);
                }
            }
            Ok(woken)
        })?;
        done += 1;
        std::mem::swap(&mut queue, &mut next);
    }
    note(|| format!("asynchronous_label_propagation: {done} passes, {len} vertices awake"));
    Ok(LabelPropagation { labels, iterations: done, stable: len == 0 })
}

const LABELS: &str = "labels";
const QUEUE: &str = "a queue of vertices";

/// Vertices per block, a power of 2, and the stride within it: the golden section.
const BLOCK: usize = 1 << 12;
const STRIDE: usize = 2531;
/// Maximum number of neighbors for comparing all pairs of labels.
const LOW_DEGREE: usize = 8;
/// Prefetch distance in the queue for the row pointers of vertices.
const AHEAD: usize = 32;

/// Sort key of a label of `count` neighbors: the most frequent label wins, on ties `own`, then the least label.
#[inline(always)]
fn rank(label: u32, count: u32, own: u32) -> u64 {
    // u32::MAX is no vertex.
    (u64::from(count) << 32) | u64::from(if label == own { u32::MAX } else { !label - 1 })
}

/// The label with the key `best`.
#[inline(always)]
fn label_of(best: u64, own: u32) -> u32 {
    match best as u32 {
        u32::MAX => own,
        rest => !(rest + 1),
    }
}

/// [`mode`] of 1 to N neighbors, branching only on their number.
#[inline(always)]
fn mode_of_low_degree<const N: usize>(labels: &[u32], lists: [&[u32]; 2], own: u32) -> u32 {
    let mut few = [u32::MAX; N];
    few.iter_mut().zip(lists.iter().copied().flatten()).for_each(|(few, &u)| *few = labels[u as usize]);
    let mut counts = [0u32; N];
    for l in few {
        counts.iter_mut().zip(&few).for_each(|(count, &x)| *count += u32::from(x == l));
    }
    // Padding never wins.
    let ranks = few.iter().zip(counts).map(|(&l, count)| if l == u32::MAX { 0 } else { rank(l, count, own) });
    label_of(ranks.fold(0, u64::max), own)
}

/// The most frequent label of the neighbors: on ties `own`, then the least. `counts` are zero before and after.
#[inline(always)]
fn mode(labels: &[u32], lists: [&[u32]; 2], own: u32, counts: &mut [u32]) -> u32 {
    let mut best = 0;
    for &u in lists.iter().copied().flatten() {
        let label = labels[u as usize];
        counts[label as usize] += 1;
        best = best.max(rank(label, counts[label as usize], own));
    }
    lists.iter().copied().flatten().for_each(|&u| counts[labels[u as usize] as usize] = 0);
    label_of(best, own)
}
