//! Communities by label propagation: every vertex takes the label that most of its neighbors have.
//!
//! All vertices change their labels at the same time, as in the benchmark LDBC Graphalytics (CDLP), so that the result
//! is a function of the graph and the number of iterations. A new label is a function of the labels of the neighbors:
//! where none of them differs from what it was two iterations before, neither does the new label, which stands in the
//! memory of that iteration. So vertices cost nothing that are stable or that alternate between two labels, as on
//! bipartite graphs all do in the end.
//!
//! Source: Raghavan, Albert, Kumara 2007, "Near linear time algorithm to detect community structures in large-scale
//! networks"; Iosup et al. 2016, "LDBC Graphalytics", §2.2.3.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::place::{GraphBackend, Place};
use super::structure::{Graph, GraphKind, Lists};
use crate::par::{collected, filled, for_each_part, try_split};
use crate::sparse::cut;
use crate::{Cpu, Result};

/// Communities that [`label_propagation`] has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelPropagation {
    /// The label of each vertex: the number of a vertex. Communities are the vertices of one label.
    pub labels: Vec<u32>,
    /// Iterations that were computed: fewer than asked for if further ones change nothing, or repeat the last two.
    pub iterations: usize,
    /// Whether a further iteration changes no label.
    pub stable: bool,
}

/// Labels after `iterations` synchronous steps, in each of which every vertex takes the most frequent label of its
/// neighbors, the least of the most frequent ones; at first the label of a vertex is its number.
///
/// In a directed graph a neighbor counts once for each direction in which an edge joins it, so that it may count twice.
/// Weights do not count; a self-loop makes a vertex its own neighbor. A vertex without neighbors keeps its label. LDBC
/// Graphalytics runs 10 iterations. Labels may alternate between two states for ever: with `iterations` of `usize::MAX`
/// the computation ends when labels are stable or alternate. Cost: O(n + m) time for each iteration at most, and less
/// when only few labels change; O(n) memory and 4n bytes for each thread. The same labels for any number of threads.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::Cancelled`](crate::Error::Cancelled); on a GPU
/// [`Error::DeviceMemory`](crate::Error::DeviceMemory), [`Error::Device`](crate::Error::Device).
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, label_propagation};
/// use sparring::{Cpu, Csr};
/// // Two triangles, 0, 1, 2 and 3, 4, 5, and the edge 2 – 3.
/// let (ptr, cols) = (vec![0, 2, 3, 4, 6, 7, 7], vec![1, 2, 2, 3, 4, 5, 5]);
/// let a = Csr::<f64>::new(6, 6, ptr, cols, vec![1.0; 7])?;
/// let cpu = Cpu::new();
/// let found = label_propagation(&cpu, &Graph::new(&cpu, &a, GraphKind::Undirected)?, 10)?;
/// assert_eq!(found.labels, [0, 0, 0, 2, 2, 2]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Iosup et al. 2016, "LDBC Graphalytics", CDLP.
pub fn label_propagation(on: &(impl GraphBackend + ?Sized), g: &Graph, iterations: usize) -> Result<LabelPropagation> {
    let n = g.vertices();
    match on.place()? {
        #[cfg(feature = "cuda")]
        Place::Cuda(cuda) if iterations > 0 && n > 0 => {
            let found = g.on_device(cuda)?.label_propagation(iterations)?;
            Ok(LabelPropagation { labels: found.labels, iterations: found.iterations, stable: found.stable })
        }
        Place::Cpu(cpu) if iterations > 0 && n > 0 => iterated(cpu, g, iterations),
        _ => {
            let labels = collected(n, 0..n as u32, LABELS)?;
            Ok(LabelPropagation { labels, iterations: 0, stable: n == 0 })
        }
    }
}

/// Labels after at least one iteration.
fn iterated(cpu: &Cpu, g: &Graph, iterations: usize) -> Result<LabelPropagation> {
    let n = g.vertices();
    let lists = match g.kind() {
        GraphKind::Undirected => Neighbors { out: g.outgoing(), into: None },
        GraphKind::Directed => Neighbors { out: g.outgoing(), into: Some(g.incoming(cpu)?) },
    };
    let mut labels = collected(n, 0..n as u32, LABELS)?;
    let blocks = try_split(n, (lists.before(n) / BLOCK).clamp(1, BLOCKS), |v| (lists.before(v) + v) as u64)?;
    // The state before the first is no state of a vertex: everything differs from it.
    let mut other = filled(n, u32::MAX, LABELS)?;
    let active = [flags(n)?, flags(n)?];
    let (mut everything, mut marking, mut done) = (true, false, 0);
    loop {
        let step = Step {
            lists,
            labels: &labels,
            active: (!everything).then_some(&active[done % 2]),
            next: marking.then_some(&active[(done + 1) % 2]),
        };
        let found = step.run(cpu, &blocks, &mut other)?;
        std::mem::swap(&mut labels, &mut other);
        done += 1;
        if found.changed == 0 || done == iterations {
            return Ok(LabelPropagation { labels, iterations: done, stable: found.changed == 0 });
        }
        if found.differ == 0 {
            // The state of two iterations before: labels alternate.
            let labels = if (iterations - done) % 2 == 1 { other } else { labels };
            return Ok(LabelPropagation { labels, iterations: done, stable: false });
        }
        everything = !marking;
        marking = found.reach <= lists.before(n) as u64 / MARKED;
    }
}

const LABELS: &str = "labels";

/// Entries in a block at least.
const BLOCK: usize = 1 << 13;
/// Most blocks.
const BLOCKS: usize = 256;
/// Neighbors of vertices whose labels differ are marked if they are less than this part of all: marks cost as much as
/// they save where most is to be computed again.
const MARKED: u64 = 4;

fn flags(n: usize) -> Result<Vec<AtomicBool>> {
    collected(n, (0..n).map(|_| AtomicBool::new(false)), "marks of vertices")
}

/// The neighbors of each vertex, in one direction or in both.
#[derive(Clone, Copy)]
struct Neighbors<'a> {
    out: Lists<'a>,
    into: Option<Lists<'a>>,
}

impl<'a> Neighbors<'a> {
    #[inline(always)]
    fn of(&self, v: usize) -> [&'a [u32]; 2] {
        [self.out.of(v), self.into.map_or(&[], |into| into.of(v))]
    }
    /// Number of neighbors of vertices 0..v.
    fn before(&self, v: usize) -> usize {
        self.out.ptr[v] + self.into.map_or(0, |into| into.ptr[v])
    }
}

/// One iteration.
struct Step<'a> {
    lists: Neighbors<'a>,
    labels: &'a [u32],
    /// Vertices to compute; the others have their new labels already. All if `None`.
    active: Option<&'a Vec<AtomicBool>>,
    /// Where to mark the neighbors of vertices whose labels differ from those of two iterations before.
    next: Option<&'a Vec<AtomicBool>>,
}

/// What an iteration did.
#[derive(Default)]
struct Found {
    /// Labels that differ from those before.
    changed: usize,
    /// Labels that differ from those of two iterations before.
    differ: usize,
    /// Neighbors of their vertices.
    reach: u64,
}

impl Step<'_> {
    /// `new` has the labels of the iteration before the last.
    fn run(&self, cpu: &Cpu, blocks: &[Range<usize>], new: &mut [u32]) -> Result<Found> {
        let n = new.len();
        let parts = collected(
            blocks.len(),
            blocks.iter().zip(cut(new, blocks.len(), blocks.iter().map(Range::len))?),
            "parts",
        )?;
        let (changed, differ, reach) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
        for_each_part(
            cpu.threads(),
            parts,
            || filled(n, 0u32, "numbers of labels"),
            |counts, (block, new): (&Range<usize>, &mut [u32])| {
                let mut found = Found::default();
                for (v, new) in block.clone().zip(new) {
                    let now = self.labels[v];
                    // Most are not marked, and a load costs less than an exchange.
                    let label = match self.active {
                        Some(active) if !active[v].load(Ordering::Relaxed) => *new,
                        active => {
                            active.inspect(|active| active[v].store(false, Ordering::Relaxed));
                            self.mode(self.lists.of(v), now, counts)
                        }
                    };
                    found.changed += usize::from(label != now);
                    if label != std::mem::replace(new, label) {
                        found.differ += 1;
                        let lists = self.lists.of(v);
                        found.reach += (lists[0].len() + lists[1].len()) as u64;
                        if let Some(next) = self.next {
                            lists
                                .iter()
                                .flat_map(|l| *l)
                                .for_each(|&u| next[u as usize].store(true, Ordering::Relaxed));
                        }
                    }
                }
                changed.fetch_add(found.changed, Ordering::Relaxed);
                differ.fetch_add(found.differ, Ordering::Relaxed);
                reach.fetch_add(found.reach, Ordering::Relaxed);
                Ok(())
            },
        )?;
        Ok(Found { changed: changed.into_inner(), differ: differ.into_inner(), reach: reach.into_inner() })
    }

    /// The least of the most frequent labels of the neighbors, `own` if there are none. `counts` are zeros before and
    /// after.
    #[inline(always)]
    fn mode(&self, lists: [&[u32]; 2], own: u32, counts: &mut [u32]) -> u32 {
        let label = |u: u32| self.labels[u as usize];
        if lists[1].is_empty() {
            match *lists[0] {
                [] => return own,
                [a] => return label(a),
                [a, b] => return label(a).min(label(b)),
                [a, b, c] => {
                    let (a, b, c) = (label(a), label(b), label(c));
                    return if b == c {
                        b
                    } else if a == b || a == c {
                        a
                    } else {
                        a.min(b).min(c)
                    };
                }
                _ => {}
            }
        }
        let mut best = 0u64;
        for &u in lists.iter().copied().flatten() {
            let label = label(u);
            let count = &mut counts[label as usize];
            *count += 1;
            best = best.max(u64::from(*count) << 32 | u64::from(!label));
        }
        if best == 0 {
            return own;
        }
        lists.iter().copied().flatten().for_each(|&u| counts[label(u) as usize] = 0);
        !(best as u32)
    }
}
