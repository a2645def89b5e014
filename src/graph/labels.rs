//! Community detection by label propagation: every vertex takes the most frequent label of its neighbors.
//!
//! All vertices change their labels synchronously, as in the LDBC Graphalytics benchmark (CDLP), so the result is a
//! function of the graph and the number of iterations. A new label depends only on the labels of the neighbors. If none
//! of those differs from two iterations before, neither does the new label, which is still in the memory of that
//! iteration. So vertices cost nothing once they are stable or alternate between two labels, as on bipartite graphs all
//! eventually do.
//!
//! Vertices with few neighbors are computed in groups: the labels of each vertex's neighbors are sorted in one lane of
//! a sorting network, and the longest run in a lane is the most frequent label. Other vertices count labels.
//!
//! Source: Raghavan, Albert, Kumara 2007, "Near linear time algorithm to detect community structures in large-scale
//! networks"; Iosup et al. 2016, "LDBC Graphalytics", §2.2.3.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::place::{GraphBackend, Place};
use super::structure::{Graph, GraphKind, Lists};
use crate::par::{collected, filled, for_each_part, prefetch, try_split};
use crate::simd::{Work, dispatch_work};
use crate::sparse::cut;
use crate::{Cpu, Result};

/// Communities found by [`label_propagation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelPropagation {
    /// The label of each vertex, a vertex index. A community is the set of vertices with one label.
    pub labels: Vec<u32>,
    /// Iterations computed: fewer than requested if further ones change nothing, or repeat the last two.
    pub iterations: usize,
    /// Whether a further iteration changes no label.
    pub stable: bool,
}

/// Labels after `iterations` synchronous steps, in each of which every vertex takes the most frequent label of its
/// neighbors, the least on ties. Initially the label of a vertex is its index.
///
/// In a directed graph a neighbor counts once per direction in which an edge joins it, so it may count twice. Weights
/// are ignored; a self-loop makes a vertex its own neighbor. An isolated vertex keeps its label. LDBC Graphalytics runs
/// 10 iterations. Labels may alternate between two states forever: with `iterations` of `usize::MAX` the computation
/// ends when labels are stable or alternate; those of
/// [`asynchronous_label_propagation`](super::asynchronous_label_propagation) never alternate. Cost: at most O(n + m)
/// time per iteration, and less when few labels change; O(n) memory and 4n bytes per thread. The same labels for any
/// number of threads.
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
    let lists = Neighbors::of_graph(cpu, g)?;
    let mut labels = collected(n, 0..n as u32, LABELS)?;
    let blocks = Blocks::new(lists, n)?;
    // The state before the first is no valid label: everything differs from it.
    let mut other = filled(n, u32::MAX, LABELS)?;
    let active = [flags(n)?, flags(n)?];
    let (mut everything, mut marking, mut done) = (true, false, 0);
    loop {
        let step = Step {
            lists,
            // Initially all labels are distinct.
            distinct: done == 0 && lists.into.is_none(),
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
            // This is the state of two iterations before, so labels alternate: the parity of the remaining iterations
            // selects the result.
            let labels = if (iterations - done) % 2 == 1 { other } else { labels };
            return Ok(LabelPropagation { labels, iterations: done, stable: false });
        }
        everything = !marking;
        marking = found.reach <= lists.before(n) as u64 / MARKED;
    }
}

const LABELS: &str = "labels";

/// Minimum entries per block.
const BLOCK: usize = 1 << 13;
/// Maximum number of blocks.
const BLOCKS: usize = 256;
/// The neighbors of vertices whose labels differ are marked for recomputation if they are at most one in this many of
/// all; otherwise marking costs as much as it saves.
const MARKED: u64 = 4;

fn flags(n: usize) -> Result<Vec<AtomicBool>> {
    collected(n, (0..n).map(|_| AtomicBool::new(false)), "flags of vertices")
}

/// The neighbors of each vertex, in one direction or both.
#[derive(Clone, Copy)]
pub(super) struct Neighbors<'a> {
    out: Lists<'a>,
    into: Option<Lists<'a>>,
}

impl<'a> Neighbors<'a> {
    pub(super) fn of_graph(cpu: &Cpu, g: &'a Graph) -> Result<Self> {
        let into = match g.kind() {
            GraphKind::Undirected => None,
            GraphKind::Directed => Some(g.incoming(cpu)?),
        };
        Ok(Self { out: g.outgoing(), into })
    }
    #[inline(always)]
    pub(super) fn of(&self, v: usize) -> [&'a [u32]; 2] {
        [self.out.of(v), self.into.map_or(&[], |into| into.of(v))]
    }
    /// Prefetches the row pointers of `v`.
    #[inline(always)]
    pub(super) fn prefetch(&self, v: usize) {
        prefetch(self.out.ptr, v);
        if let Some(into) = self.into {
            prefetch(into.ptr, v);
        }
    }
    /// Number of neighbors of vertices 0..v.
    fn before(&self, v: usize) -> usize {
        self.out.ptr[v] + self.into.map_or(0, |into| into.ptr[v])
    }
}

/// Maximum number of neighbors for sorting their labels; beyond, labels are counted.
const SORTED: usize = 32;
/// Classes of vertices by degree: 0, up to 1, 2, 4, …, [`SORTED`], and more.
const CLASSES: usize = SORTED.ilog2() as usize + 3;
/// Vertices whose labels are sorted together.
const LANES: usize = 16;
/// Vertices whose labels are computed together.
const CHUNK: usize = 256;

/// Blocks of vertices with about equal numbers of edges, ordered by degree within a block.
struct Blocks {
    ranges: Vec<Range<usize>>,
    order: Vec<u32>,
    /// The start of each class in the order of each block, and the end of the last.
    classes: Vec<[usize; CLASSES + 1]>,
}

impl Blocks {
    fn new(lists: Neighbors<'_>, n: usize) -> Result<Self> {
        let ranges = try_split(n, (lists.before(n) / BLOCK).clamp(1, BLOCKS), |v| (lists.before(v) + v) as u64)?;
        let mut order = filled(n, 0u32, "an order of vertices")?;
        let degree = |v: usize| (lists.before(v + 1) - lists.before(v)).min(SORTED + 1);
        let classes = ranges.iter().map(|range| {
            let mut next = [0; SORTED + 3];
            range.clone().for_each(|v| next[degree(v) + 1] += 1);
            next[0] = range.start;
            for d in 0..SORTED + 2 {
                next[d + 1] += next[d];
            }
            let classes = std::array::from_fn(|c| match c {
                0 => range.start,
                CLASSES => range.end,
                1 => next[1],
                // Degree above a power of 2.
                _ => next[(1 << (c - 2)) + 1],
            });
            for v in range.clone() {
                let place = &mut next[degree(v)];
                order[*place] = v as u32;
                *place += 1;
            }
            classes
        });
        let classes = collected(ranges.len(), classes, "blocks")?;
        Ok(Self { ranges, order, classes })
    }
}

/// One iteration.
struct Step<'a> {
    lists: Neighbors<'a>,
    /// Whether all labels differ and no list repeats a vertex: the least neighbor decides.
    distinct: bool,
    labels: &'a [u32],
    /// Vertices to compute; the others already have their new labels. `None` for all.
    active: Option<&'a Vec<AtomicBool>>,
    /// Where to mark the neighbors of vertices whose labels differ from those of two iterations before.
    next: Option<&'a Vec<AtomicBool>>,
}

/// Statistics of an iteration.
#[derive(Default)]
struct Changes {
    /// Labels that differ from the previous iteration.
    changed: usize,
    /// Labels that differ from two iterations before.
    differ: usize,
    /// Number of neighbors of the vertices with such labels.
    reach: u64,
}

impl Step<'_> {
    /// `new` initially has the labels of two iterations before.
    fn run(&self, cpu: &Cpu, blocks: &Blocks, new: &mut [u32]) -> Result<Changes> {
        let (n, count) = (new.len(), blocks.ranges.len());
        let cut = cut(new, count, blocks.ranges.iter().map(Range::len))?.into_iter();
        let parts = collected(count, cut.enumerate(), "parts")?;
        let (changed, differ, reach) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
        for_each_part(
            cpu.threads(),
            parts,
            || Ok(Vec::new()),
            |counts, (b, new): (usize, &mut [u32])| {
                let mut found = Changes::default();
                let (start, mut marked) = (blocks.ranges[b].start, [0; CHUNK]);
                for (class, range) in blocks.classes[b].windows(2).enumerate() {
                    let mut vertices = &blocks.order[range[0]..range[1]];
                    if class == CLASSES - 1 && !vertices.is_empty() && counts.is_empty() {
                        *counts = filled(n, 0u32, "numbers of labels")?;
                    }
                    while !vertices.is_empty() {
                        let chunk = self.next(&mut vertices, &mut marked, (start, new), &mut found);
                        self.chunk(chunk, class, counts, (start, new), &mut found);
                    }
                }
                changed.fetch_add(found.changed, Ordering::Relaxed);
                differ.fetch_add(found.differ, Ordering::Relaxed);
                reach.fetch_add(found.reach, Ordering::Relaxed);
                Ok(())
            },
        )?;
        Ok(Changes { changed: changed.into_inner(), differ: differ.into_inner(), reach: reach.into_inner() })
    }

    /// Splits off the next vertices to compute, which may be copied to `marked`. The others have their new labels.
    fn next<'b, 'a: 'b>(
        &self,
        vertices: &mut &'a [u32],
        marked: &'b mut [u32; CHUNK],
        (start, new): (usize, &[u32]),
        found: &mut Changes,
    ) -> &'b [u32] {
        let Some(active) = self.active else {
            let (chunk, rest) = vertices.split_at(vertices.len().min(CHUNK));
            *vertices = rest;
            return chunk;
        };
        let mut count = 0;
        while count < CHUNK
            && let Some((&v, rest)) = vertices.split_first()
        {
            *vertices = rest;
            marked[count] = v;
            let v = v as usize;
            // Most are unmarked, and a load is cheaper than an exchange.
            if active[v].load(Ordering::Relaxed) {
                active[v].store(false, Ordering::Relaxed);
                count += 1;
            } else {
                found.changed += usize::from(new[v - start] != self.labels[v]);
            }
        }
        &marked[..count]
    }

    /// The new labels of some vertices of a class; `new` starts at vertex `start`.
    fn chunk(
        &self,
        vertices: &[u32],
        class: usize,
        counts: &mut [u32],
        (start, new): (usize, &mut [u32]),
        found: &mut Changes,
    ) {
        let mut modes = [0; CHUNK];
        let modes = &mut modes[..vertices.len()];
        if class == 0 {
            modes.iter_mut().zip(vertices).for_each(|(mode, &v)| *mode = self.labels[v as usize]);
        } else if self.distinct {
            modes.iter_mut().zip(vertices).for_each(|(mode, &v)| *mode = self.lists.out.of(v as usize)[0]);
        } else if class == CLASSES - 1 {
            self.count(vertices, counts, modes);
        } else {
            let most = 1 << (class - 1);
            dispatch_work(SortedModes { lists: self.lists, labels: self.labels, vertices, most, modes });
        }
        let (mut others, mut count) = ([0; CHUNK], 0);
        for (&v, &label) in vertices.iter().zip(&*modes) {
            found.changed += usize::from(label != self.labels[v as usize]);
            // Branch-free: the outcome is unpredictable.
            others[count] = v;
            count += usize::from(label != std::mem::replace(&mut new[v as usize - start], label));
        }
        found.differ += count;
        for &v in &others[..count] {
            found.reach += (self.lists.before(v as usize + 1) - self.lists.before(v as usize)) as u64;
            if let Some(next) = self.next {
                let lists = self.lists.of(v as usize);
                lists.iter().flat_map(|l| *l).for_each(|&u| next[u as usize].store(true, Ordering::Relaxed));
            }
        }
    }

    /// The most frequent labels by counting, with counts that are zero before and after. Skips the counting if most
    /// neighbors have the label of the vertex itself, as they eventually do.
    fn count(&self, vertices: &[u32], counts: &mut [u32], modes: &mut [u32]) {
        let label = |u: u32| self.labels[u as usize];
        for (to, &v) in modes.iter_mut().zip(vertices) {
            let lists = self.lists.of(v as usize);
            let own = label(v);
            let with_own: usize = lists.iter().map(|l| l.iter().filter(|&&u| label(u) == own).count()).sum();
            if 2 * with_own > lists[0].len() + lists[1].len() {
                *to = own;
                continue;
            }
            let mut best = 0u64;
            for &u in lists.iter().copied().flatten() {
                let label = label(u);
                let count = &mut counts[label as usize];
                *count += 1;
                best = best.max(u64::from(*count) << 32 | u64::from(!label));
            }
            lists.iter().copied().flatten().for_each(|&u| counts[label(u) as usize] = 0);
            *to = !(best as u32);
        }
    }
}

/// The most frequent labels of the neighbors of vertices with 1 to `most` neighbors, `most` a power of 2. The same
/// exchanges sort the labels of several vertices, one per lane; the longest run decides.
struct SortedModes<'a> {
    lists: Neighbors<'a>,
    labels: &'a [u32],
    vertices: &'a [u32],
    most: usize,
    modes: &'a mut [u32],
}

impl Work for SortedModes<'_> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let mut memory = [[0; LANES]; SORTED];
        let labels = &mut memory[..self.most];
        for (to, vertices) in self.modes.chunks_mut(LANES).zip(self.vertices.chunks(LANES)) {
            gather(self.lists, self.labels, vertices, labels);
            sort(labels);
            let (mut best, mut longest, mut run) = (labels[0], [1; LANES], [1; LANES]);
            for pair in labels.windows(2) {
                for lane in 0..LANES {
                    let (before, label) = (pair[0][lane], pair[1][lane]);
                    run[lane] = if label == before { run[lane] + 1 } else { 1 };
                    // A new longest run is longer by exactly one.
                    let is_more = u32::from(run[lane] > longest[lane] && label != u32::MAX);
                    longest[lane] += is_more;
                    best[lane] ^= (best[lane] ^ label) & is_more.wrapping_neg();
                }
            }
            to.copy_from_slice(&best[..to.len()]);
        }
    }
}

/// The labels of each vertex's neighbors in its lane, padded with a sentinel larger than all labels.
#[inline(always)]
fn gather(lists: Neighbors<'_>, label: &[u32], vertices: &[u32], labels: &mut [[u32; LANES]]) {
    let (out, into) = (lists.out, lists.into);
    labels.fill([u32::MAX; LANES]);
    let d = out.degree(vertices[0] as usize);
    if let Ok(vertices) = <[u32; LANES]>::try_from(vertices)
        && into.is_none()
        && d == out.degree(vertices[LANES - 1] as usize)
    {
        // All have d neighbors, by the order of the block.
        let starts = vertices.map(|v| out.ptr[v as usize]);
        for (k, labels) in labels[..d].iter_mut().enumerate() {
            labels.iter_mut().zip(starts).for_each(|(to, start)| *to = label[out.ends[start + k] as usize]);
        }
        return;
    }
    for (lane, &v) in vertices.iter().enumerate() {
        let [first, second] = lists.of(v as usize);
        labels.iter_mut().zip(first).for_each(|(l, &u)| l[lane] = label[u as usize]);
        labels.iter_mut().skip(first.len()).zip(second).for_each(|(l, &u)| l[lane] = label[u as usize]);
    }
}

/// Sorts each lane; the number of rows is a power of 2. Source: Batcher 1968, "Sorting networks and their applications"
/// (odd-even merging).
#[inline(always)]
fn sort(rows: &mut [[u32; LANES]]) {
    let mut sorted = 1;
    while sorted < rows.len() {
        let mut apart = sorted;
        while apart > 0 {
            let first = apart % sorted;
            for low in first..rows.len() - apart {
                let high = low + apart;
                // Both elements are in one pair of runs being merged.
                if (low - first) & apart == 0 && low ^ high < 2 * sorted {
                    let (a, b) = (rows[low], rows[high]);
                    for lane in 0..LANES {
                        rows[low][lane] = a[lane].min(b[lane]);
                        rows[high][lane] = a[lane].max(b[lane]);
                    }
                }
            }
            apart /= 2;
        }
        sorted *= 2;
    }
}
