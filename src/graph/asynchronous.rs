//! Communities by label propagation in which vertices take labels one after the other.
//!
//! A vertex that changes its label wakes its neighbors that have another; a vertex that sleeps has a label that no
//! other outnumbers. Vertices begin in an order that jumps about in blocks: in the order of their numbers one label
//! would run through all that are numbered along paths. Source: Raghavan, Albert, Kumara 2007, "Near linear time
//! algorithm to detect community structures in large-scale networks", with a fixed order in place of a random one.

use super::labels::Neighbors;
use super::{Graph, LabelPropagation};
use crate::par::{collected, filled, note, reserved};
use crate::{Cpu, Result};

/// Labels after vertices, one after the other, have taken the most frequent label of their neighbors, until no vertex
/// would change or `iterations` passes are over; at first the label of a vertex is its number.
///
/// A vertex keeps its label if that is one of the most frequent, else it takes the least of these. A further pass goes
/// through the vertices of which a neighbor changed to another label than theirs, in the order in which that happened.
/// Each change joins more neighbors than it parts, so that the passes end. Labels spread farther than those of
/// [`label_propagation`](super::label_propagation), whose conventions for directed edges, weights and self-loops are
/// the same. The order of the vertices is fixed: blocks of 4096 in the order of their numbers, and in each block every
/// 2531st, around and around. Cost: O(n + m) for the first pass, and the edges of few vertices for later ones as a
/// rule; O(n) memory. It runs on one thread.
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
    let mut counts = filled(n, 0u32, "numbers of labels")?;
    let mut awake = filled(n, true, "vertices that are awake")?;
    let (mut queue, mut next) = (reserved(n, QUEUE)?, reserved(n, QUEUE)?);
    for first in (0..n).step_by(BLOCK) {
        // A vertex of each remainder, since 2531 is odd.
        queue.extend((0..BLOCK).map(|k| first + k * STRIDE % BLOCK).filter(|&v| v < n).map(|v| v as u32));
    }
    let mut done = 0;
    while done < iterations && !queue.is_empty() {
        cpu.threads().alone("asynchronous_label_propagation", || {
            for &v in &queue {
                let v = v as usize;
                awake[v] = false;
                let lists = lists.of(v);
                let label = mode(&labels, lists, labels[v], &mut counts);
                if label == std::mem::replace(&mut labels[v], label) {
                    continue;
                }
                for &u in lists.iter().copied().flatten() {
                    let awake = &mut awake[u as usize];
                    if !*awake && labels[u as usize] != label {
                        *awake = true;
                        next.push(u);
                    }
                }
            }
            Ok(())
        })?;
        done += 1;
        queue.clear();
        std::mem::swap(&mut queue, &mut next);
    }
    note(|| format!("asynchronous_label_propagation: {done} passes, {} vertices awake", queue.len()));
    Ok(LabelPropagation { labels, iterations: done, stable: queue.is_empty() })
}

const LABELS: &str = "labels";
const QUEUE: &str = "a queue of vertices";

/// Vertices of a block, a power of 2, and the step from one to the next: the golden section.
const BLOCK: usize = 1 << 12;
const STRIDE: usize = 2531;
/// Neighbors up to which each label is compared with each.
const COMPARED: usize = 8;

/// The label that most neighbors have: `own` if it is one of those, else the least. `counts` are zeros before and
/// after.
#[inline(always)]
fn mode(labels: &[u32], lists: [&[u32]; 2], own: u32, counts: &mut [u32]) -> u32 {
    let label = |u: u32| labels[u as usize];
    let rank = |label: u32, count: u32| (count, label == own, !label);
    let mut best = (0, true, !own);
    if lists[0].len() + lists[1].len() <= COMPARED {
        let (mut few, mut len) = ([0; COMPARED], 0);
        for &u in lists.iter().copied().flatten() {
            few[len] = label(u);
            len += 1;
        }
        let few = &few[..len];
        for &l in few {
            best = best.max(rank(l, few.iter().map(|&x| u32::from(x == l)).sum()));
        }
        return !best.2;
    }
    for &u in lists.iter().copied().flatten() {
        let label = label(u);
        counts[label as usize] += 1;
        best = best.max(rank(label, counts[label as usize]));
    }
    lists.iter().copied().flatten().for_each(|&u| counts[label(u) as usize] = 0);
    !best.2
}
