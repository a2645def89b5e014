//! Every triangle once, at its vertex of lowest degree: counts per vertex and per edge.
//!
//! For each vertex the neighbors of higher degree are listed, in row order (ties by larger index). A triangle u, v, w
//! is found at u: v and w are in its list, w in that of v. Lists have at most √(2m) vertices for m edges. Counts are
//! integer sums, independent of the order of additions.
//!
//! Source: Schank, Wagner 2005, "Finding, counting and listing all triangles in large graphs" (algorithm *forward*).

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::par::{Threads, collected, counters, filled, for_each_part, try_split};
use crate::sparse::cut;
use crate::{Index, Pattern, Result};

/// Minimum entries per block.
const BLOCK: usize = 1 << 12;
/// Maximum number of blocks.
const BLOCKS: usize = 1024;

/// A simple graph, and the neighbors of higher degree of each vertex.
pub(super) struct Upward<'a, I: Index> {
    /// Symmetric, sorted, without a diagonal.
    graph: &'a Pattern<I>,
    /// Those of u are at the start of its row.
    heads: Vec<I>,
    lens: Vec<u32>,
}

impl<'a, I: Index> Upward<'a, I> {
    /// Builds the lists of a symmetric, sorted pattern without a diagonal.
    pub(super) fn new(threads: &Threads, graph: &'a Pattern<I>) -> Result<Self> {
        let ptr = graph.row_ptr();
        let mut heads = filled(graph.nnz(), I::default(), "neighbors of higher degree")?;
        let mut lens = filled(graph.nrows(), 0u32, "numbers of neighbors")?;
        let blocks = blocks_of(graph)?;
        let parts = {
            let heads = cut(&mut heads, blocks.len(), blocks.iter().map(|b| ptr[b.end] - ptr[b.start]))?;
            let lens = cut(&mut lens, blocks.len(), blocks.iter().map(Range::len))?;
            collected(blocks.len(), blocks.iter().zip(heads.into_iter().zip(lens)), "parts of a graph")?
        };
        let rank = |u: usize| (ptr[u + 1] - ptr[u], u);
        for_each_part(
            threads,
            parts,
            || Ok(()),
            |(), (block, (heads, lens)): (&Range<usize>, (&mut [I], &mut [u32]))| {
                for (u, len) in block.clone().zip(lens) {
                    let (own, heads) = (rank(u), &mut heads[ptr[u] - ptr[block.start]..]);
                    let mut n = 0;
                    for &v in graph.row(u) {
                        heads[n] = v;
                        n += usize::from(rank(v.get()) > own);
                    }
                    *len = n as u32;
                }
                Ok(())
            },
        )?;
        Ok(Self { graph, heads, lens })
    }

    #[inline(always)]
    fn of(&self, u: usize) -> &[I] {
        &self.heads[self.graph.row_ptr()[u]..][..self.lens[u] as usize]
    }

    /// Finds every triangle u, v, w once. Passes to `third` the position of w in the list of v; to `first`, for each u,
    /// its list and, for each vertex of it, the number of triangles at u that contain it.
    fn find(
        &self,
        threads: &Threads,
        third: impl Fn(usize) + Sync,
        first: impl Fn(usize, &[I], &[u64]) + Sync,
    ) -> Result<()> {
        let (n, ptr) = (self.graph.nrows(), self.graph.row_ptr());
        let longest = self.lens.iter().copied().max().unwrap_or(0) as usize;
        let blocks = blocks_of(self.graph)?;
        threads.for_each_of(
            "triangles",
            blocks.len(),
            || Ok((filled(n, 0u32, "marks of vertices")?, filled(longest, 0u64, "triangles of an edge")?)),
            |(marks, counts), b| {
                for u in blocks[b].clone() {
                    let own = self.of(u);
                    if own.len() < 2 {
                        continue;
                    }
                    for (mark, v) in (1..).zip(own) {
                        marks[v.get()] = mark;
                    }
                    let counts = &mut counts[..own.len()];
                    counts.fill(0);
                    for (t, v) in own.iter().enumerate() {
                        for (place, w) in (ptr[v.get()]..).zip(self.of(v.get())) {
                            let mark = marks[w.get()] as usize;
                            if mark > 0 {
                                counts[t] += 1;
                                counts[mark - 1] += 1;
                                third(place);
                            }
                        }
                    }
                    own.iter().for_each(|v| marks[v.get()] = 0);
                    first(u, own, counts);
                }
                Ok(())
            },
        )
    }

    /// The number of triangles at each vertex.
    pub(super) fn per_vertex(&self, threads: &Threads) -> Result<Vec<u64>> {
        let sums = counters(self.graph.nrows(), "triangles of vertices")?;
        self.find(
            threads,
            |_| {},
            |u, list, counts| {
                for (v, &count) in list.iter().zip(counts).filter(|(_, count)| **count > 0) {
                    sums[v.get()].fetch_add(count, Ordering::Relaxed);
                }
                // Each triangle contains two vertices of the list.
                sums[u].fetch_add(counts.iter().sum::<u64>() / 2, Ordering::Relaxed);
            },
        )?;
        collected(sums.len(), sums.into_iter().map(AtomicU64::into_inner), "triangles of vertices")
    }

    /// The number of triangles at each edge, one value per entry of the graph.
    pub(super) fn per_edge(&self, threads: &Threads) -> Result<Vec<u64>> {
        let (graph, ptr) = (self.graph, self.graph.row_ptr());
        let sums = counters(graph.nnz(), "triangles of edges")?;
        let add = |place: usize, count| {
            sums[place].fetch_add(count, Ordering::Relaxed);
        };
        self.find(
            threads,
            |place| add(place, 1),
            |u, _, counts| {
                for (place, &count) in (ptr[u]..).zip(counts).filter(|(_, count)| **count > 0) {
                    add(place, count);
                }
            },
        )?;
        let sum = |place: usize| sums[place].load(Ordering::Relaxed);
        let mut values = filled(graph.nnz(), 0u64, "triangles of edges")?;
        let blocks = blocks_of(graph)?;
        let parts = {
            let values = cut(&mut values, blocks.len(), blocks.iter().map(|b| ptr[b.end] - ptr[b.start]))?;
            collected(blocks.len(), blocks.iter().zip(values), "parts of a graph")?
        };
        for_each_part(
            threads,
            parts,
            || Ok(()),
            |(), (block, values): (&Range<usize>, &mut [u64])| {
                let mut values = values.iter_mut();
                for u in block.clone() {
                    let mut own = (ptr[u]..).zip(self.of(u)).peekable();
                    let name = I::cast(u);
                    for (v, value) in graph.row(u).iter().zip(&mut values) {
                        // The sum of an edge is stored at its upward direction.
                        *value = match own.next_if(|(_, head)| *head == v) {
                            Some((place, _)) => sum(place),
                            None => self.of(v.get()).binary_search(&name).map_or(0, |t| sum(ptr[v.get()] + t)),
                        };
                    }
                }
                Ok(())
            },
        )?;
        Ok(values)
    }
}

/// Ranges of rows of about equal work.
fn blocks_of<I: Index>(graph: &Pattern<I>) -> Result<Vec<Range<usize>>> {
    let ptr = graph.row_ptr();
    try_split(graph.nrows(), (graph.nnz() / BLOCK).clamp(1, BLOCKS), |u| (ptr[u] + u) as u64)
}
