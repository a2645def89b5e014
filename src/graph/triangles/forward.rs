//! The count by lists of out-neighbors: no relabeling, one list per vertex, symmetry tested while building them.
//!
//! Edges are directed from lower to higher degree, so no list has more than √(2m) vertices for m edges. The list of a
//! vertex is a row of L⟨L⟩ = L·L in the order by degree, and the mask is its accumulator, as a bitmap.
//!
//! Source: Schank, Wagner 2005, "Finding, counting and listing all triangles in large graphs" (algorithm *forward*).

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::par::{Threads, UninitOutput, collected, filled, reserved, try_split};
use crate::simd::{Oriented, Span, count_forward, mirrored};
use crate::sparse::{cut, out_of_memory};
use crate::{Index, Pattern, Result};

/// Minimum entries of A per block.
const BLOCK: usize = 1 << 12;
/// Maximum number of blocks.
const BLOCKS: usize = 1024;
/// Ranges of rows whose entries below the diagonal are estimated.
const STRETCHES: usize = 64;
/// Number of rows probed for mirror images before the full test, and sampled per range.
const PROBES: usize = 16;

/// The neighbors of higher degree of each vertex, ties by larger index.
pub(super) struct Forward {
    spans: Vec<Span>,
    heads: Vec<u32>,
}

/// Whether vertices and entries fit the counters.
pub(super) fn fits<I: Index>(a: &Pattern<I>, entries: usize) -> bool {
    a.nrows() <= u32::MAX as usize && entries <= u32::MAX as usize
}

impl Forward {
    /// The lists of a square `a`; `None` unless it is sorted and symmetric and [`fits`].
    pub(super) fn of_symmetric<I: Index>(threads: &Threads, a: &Pattern<I>) -> Result<Option<Self>> {
        if !fits(a, a.nnz()) || !probed(a) {
            return Ok(None);
        }
        let (n, ptr) = (a.nrows(), a.row_ptr());
        let blocks = fingered(threads, a, true)?;
        let mut spans = filled(n, [0, 0], LISTS)?;
        let walk = Walk::new(a, &blocks);
        let heads = {
            let spans = cut(&mut spans, blocks.len(), blocks.iter().map(Range::len))?;
            let spans = collected(blocks.len(), spans.into_iter().map(Mutex::new), LISTS)?;
            let start = |b: usize| blocks.get(b).map_or(a.nnz(), |block| ptr[block.start]);
            UninitOutput::new(a.nnz(), LISTS)?.fill(
                threads,
                "triangles",
                blocks.len(),
                start,
                || Ok(()),
                |(), b, slots| {
                    let mut spans = spans[b].lock().unwrap_or_else(PoisonError::into_inner);
                    walk.block(b, Some(Oriented { spans: &mut spans, heads: slots.rest(0), base: start(b) }))
                },
            )?
        };
        Ok(walk.loops().map(|_| Self { spans, heads }))
    }

    /// The lists of the graph of a sorted `a` and its transpose, which together satisfy [`fits`].
    pub(super) fn of_both<I: Index>(threads: &Threads, a: &Pattern<I>, t: &Pattern<I>) -> Result<Self> {
        let (n, before) = (a.nrows(), |u: usize| a.row_ptr()[u] + t.row_ptr()[u]);
        let total = before(n);
        let blocks = try_split(n, (total / BLOCK).clamp(1, BLOCKS), |u| (before(u) + u) as u64)?;
        // An edge stored in both directions counts twice at both ends.
        let degrees = collected(n, (0..n).map(|u| (before(u + 1) - before(u)) as u32), "degrees")?;
        let mut spans = filled(n, [0, 0], LISTS)?;
        let heads = {
            let spans = cut(&mut spans, blocks.len(), blocks.iter().map(Range::len))?;
            let spans = collected(blocks.len(), spans.into_iter().map(Mutex::new), LISTS)?;
            let start = |b: usize| blocks.get(b).map_or(total, |block| before(block.start));
            UninitOutput::new(total, LISTS)?.fill(
                threads,
                "triangles",
                blocks.len(),
                start,
                || Ok([vec![], vec![]]),
                |lists: &mut [Vec<u32>; 2], b, slots| {
                    let (heads, mut at) = (slots.rest(0), 0);
                    let mut spans = spans[b].lock().unwrap_or_else(PoisonError::into_inner);
                    for (u, span) in blocks[b].clone().zip(spans.iter_mut()) {
                        let own = degrees[u];
                        let mut lens = [0, 0];
                        for ((list, len), row) in lists.iter_mut().zip(&mut lens).zip([a.row(u), t.row(u)]) {
                            if list.len() < row.len() {
                                let more = row.len() - list.len();
                                list.try_reserve(more).map_err(|_| out_of_memory::<u32>(LISTS, row.len()))?;
                                list.resize(row.len(), 0);
                            }
                            for v in row.iter().map(|v| v.get()) {
                                list[*len] = v as u32;
                                *len += usize::from((degrees[v], v) > (own, u));
                            }
                        }
                        let len = merge(&lists[0][..lens[0]], &lists[1][..lens[1]], &mut heads[at..]);
                        *span = [(start(b) + at) as u32, len as u32];
                        at += len;
                    }
                    Ok(())
                },
            )?
        };
        Ok(Self { spans, heads })
    }

    /// Number of triangles.
    pub(super) fn count(&self, threads: &Threads) -> Result<u64> {
        let n = self.spans.len();
        let words = n.div_ceil(32).next_power_of_two();
        // A list begins at or behind the end of the previous one.
        let begin = |u: usize| self.spans.get(u).map_or(self.heads.len(), |span| span[0] as usize);
        let blocks = try_split(n, (self.heads.len() / BLOCK).clamp(1, BLOCKS), |u| (begin(u) + u) as u64)?;
        let sum = AtomicU64::new(0);
        threads.for_each(
            blocks.len(),
            || filled(words, 0u32, "bits of a row"),
            |words, b| {
                sum.fetch_add(count_forward(&self.spans, &self.heads, blocks[b].clone(), words), Ordering::Relaxed);
                Ok(())
            },
        )?;
        Ok(sum.into_inner())
    }
}

/// The allocation named in errors.
const LISTS: &str = "neighbors of higher degree";

/// The union of two increasing lists; returns its length.
fn merge(x: &[u32], y: &[u32], to: &mut [u32]) -> usize {
    let (mut p, mut q, mut n) = (0, 0, 0);
    while p < x.len() && q < y.len() {
        let (v, w) = (x[p], y[q]);
        to[n] = v.min(w);
        (p, q, n) = (p + usize::from(v <= w), q + usize::from(w <= v), n + 1);
    }
    for rest in [&x[p..], &y[q..]] {
        to[n..n + rest.len()].copy_from_slice(rest);
        n += rest.len();
    }
    n
}

/// The number of diagonal entries of `a`; `None` if it is not symmetric. Unsorted rows count as not symmetric, and so
/// do 2³² rows or more.
///
/// Blocks of rows are scanned in parallel, each with its own fingers ([`mirrored`]). If each entry below the diagonal
/// has its mirror image and there are as many above it, the matrix is symmetric. Cost: O(nnz), and far less if an entry
/// near the top, or one of a few probed ones, has no mirror image.
pub(in crate::graph) fn symmetry<I: Index>(threads: &Threads, a: &Pattern<I>) -> Result<Option<u64>> {
    if !probed(a) || a.nrows() > u32::MAX as usize {
        return Ok(None);
    }
    let blocks = fingered(threads, a, false)?;
    let walk = Walk::new(a, &blocks);
    threads.for_each(blocks.len(), || Ok(()), |(), b| walk.block(b, None))?;
    Ok(walk.loops())
}

/// Whether `a` is sorted and a few probed entries have mirror images.
fn probed<I: Index>(a: &Pattern<I>) -> bool {
    let n = a.nrows();
    a.is_sorted()
        && (0..n).step_by(n / PROBES + 1).all(|i| a.row(i).first().is_none_or(|j| a.find(j.get(), i).is_some()))
}

/// Blocks of rows, each of which needs a finger per row, which bounds their number. They have about equal numbers of
/// entries if all are `listed`, otherwise of entries below the diagonal, estimated from sample rows.
fn fingered<I: Index>(threads: &Threads, a: &Pattern<I>, listed: bool) -> Result<Vec<Range<usize>>> {
    let (n, ptr) = (a.nrows(), a.row_ptr());
    let most = if a.nnz() < BLOCK { 1 } else { threads.count().min(a.nnz() / n.max(1) + 1) };
    let step = n / STRETCHES + 1;
    // For each range of rows: the estimated entries below the diagonal before it, and their share in it, out of 256.
    let mut stretches = [(0, 256); STRETCHES];
    let mut below_before = 0;
    for (s, stretch) in stretches.iter_mut().enumerate().take(if listed { 0 } else { STRETCHES }) {
        let (first, end) = (n.min(s * step), n.min((s + 1) * step));
        let sample = first..end.min(first + PROBES);
        let below: usize = sample.clone().map(|i| a.row(i).partition_point(|j| j.get() < i)).sum();
        let share = below * 256 / (ptr[sample.end] - ptr[first]).max(1);
        *stretch = (below_before, share);
        below_before += (ptr[end] - ptr[first]) * share / 256;
    }
    let mut blocks = try_split(n, most, |u| {
        let s = if listed { 0 } else { u.min(n.max(1) - 1) / step };
        let (before, share) = stretches[s];
        (before + (ptr[u] - ptr[s * step]) * share / 256 + u) as u64
    })?;
    if blocks.is_empty() {
        blocks = reserved(1, LISTS)?;
        blocks.push(0..0);
    }
    Ok(blocks)
}

/// A scan of the rows of a matrix for entries without mirror images.
struct Walk<'a, I: Index> {
    a: &'a Pattern<I>,
    blocks: &'a [Range<usize>],
    differs: AtomicBool,
    below: AtomicU64,
    diagonal: AtomicU64,
}

impl<'a, I: Index> Walk<'a, I> {
    fn new(a: &'a Pattern<I>, blocks: &'a [Range<usize>]) -> Self {
        let [below, diagonal] = [const { AtomicU64::new(0) }; 2];
        Self { a, blocks, differs: AtomicBool::new(false), below, diagonal }
    }
    fn block(&self, b: usize, oriented: Option<Oriented<'_>>) -> Result<()> {
        if self.differs.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut fingers = filled(self.a.nrows(), 0u32, "fingers in rows")?;
        match mirrored(self.a, self.blocks[b].clone(), &mut fingers, oriented) {
            Some(found) => {
                self.below.fetch_add(found.below, Ordering::Relaxed);
                self.diagonal.fetch_add(found.diagonal, Ordering::Relaxed);
            }
            None => self.differs.store(true, Ordering::Relaxed),
        }
        Ok(())
    }
    /// The number of diagonal entries, if all others have mirror images.
    fn loops(self) -> Option<u64> {
        let (below, diagonal) = (self.below.into_inner(), self.diagonal.into_inner());
        (!self.differs.into_inner() && 2 * below + diagonal == self.a.nnz() as u64).then_some(diagonal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(n: usize, edges: &[(u32, u32)]) -> Pattern<u32> {
        let mut rows = vec![vec![]; n];
        edges.iter().for_each(|&(i, j)| rows[i as usize].push(j));
        let (mut ptr, mut cols) = (vec![0], vec![]);
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
            cols.append(row);
            ptr.push(cols.len());
        }
        Pattern::new(n, n, ptr, cols).unwrap()
    }

    /// Against the transpose, on patterns that are symmetric, nearly so, and not.
    #[test]
    fn symmetry_is_seen_exactly() {
        let mut state = 5u64;
        let mut next = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as usize % below) as u32
        };
        let mut seen = [0, 0];
        for case in 0..400 {
            let n = 2 + case % 31;
            let mut edges = vec![];
            for _ in 0..case % 29 {
                let (i, j) = (next(n), next(n));
                edges.extend([(i, j), (j, i)]);
            }
            if case % 2 == 1 {
                edges.extend((0..case % 4).map(|_| (next(n), next(n))));
            }
            // A diagonal with gaps, and entries that only the row end separates from the next row's.
            if case % 3 == 0 {
                edges.extend((0..n as u32).step_by(2).map(|i| (i, i)));
            }
            let a = pattern(n, &edges);
            let want = a.transpose(&Threads::current()).unwrap() == a;
            seen[usize::from(want)] += 1;
            for threads in [1, 2, 3, 9] {
                let threads = Threads::new(threads).unwrap();
                let diagonal = (0..n).filter(|&i| a.find(i, i).is_some()).count() as u64;
                assert_eq!(symmetry(&threads, &a).unwrap(), want.then_some(diagonal), "{a:?}");
            }
        }
        assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
    }

    /// Row 0 ends where row 1 begins with the very row that probes row 0: only the end of the row tells them apart.
    #[test]
    fn a_finger_does_not_pass_into_the_next_row() {
        let a = pattern(3, &[(1, 2), (2, 0)]);
        assert_eq!(symmetry(&Threads::new(1).unwrap(), &a).unwrap(), None);
    }

    #[test]
    fn an_unsorted_pattern_is_not_trusted() {
        let a = Pattern::<u32>::from_unsorted(3, 3, vec![0, 2, 3, 4], vec![2, 1, 0, 0]).unwrap();
        assert_eq!(symmetry(&Threads::current(), &a).unwrap(), None);
    }
}
