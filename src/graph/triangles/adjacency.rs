//! Adjacency of any square matrix, and the order of vertices by degree.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::par::{Threads, UninitOutput, filled, try_split};
use crate::{Error, Index, Pattern, Result};

/// The pattern of A + Aᵀ: A alone if it is symmetric, otherwise both.
pub(super) struct Adjacency<'a, I: Index> {
    a: &'a Pattern<I>,
    transposed: Option<Pattern<I>>,
}

impl<'a, I: Index> Adjacency<'a, I> {
    /// Transposes a square `a` unless it is symmetric.
    pub(super) fn new(threads: &Threads, a: &'a Pattern<I>, symmetric: bool) -> Result<Self> {
        let transposed = if symmetric { None } else { Some(a.transpose(threads)?) };
        Ok(Self { a, transposed })
    }
    /// The transpose, if the matrix is not symmetric.
    pub(super) fn transposed(&self) -> Option<&Pattern<I>> {
        self.transposed.as_ref()
    }
    pub(super) fn vertices(&self) -> usize {
        self.a.nrows()
    }
    /// The neighbor lists of `u`, which may contain repeats and `u` itself.
    #[inline(always)]
    pub(super) fn neighbors(&self, u: usize) -> [&[I]; 2] {
        [self.a.row(u), self.transposed.as_ref().map_or(&[], |t| t.row(u))]
    }
    /// Degree and index: the order that directs edges.
    pub(super) fn rank(&self, u: usize) -> (usize, usize) {
        (self.degree(u), u)
    }
    /// At most this many edges, from evenly spaced entries of A.
    pub(super) fn edges(&self, most: usize) -> impl Iterator<Item = (usize, usize)> {
        let (ptr, cols) = (self.a.row_ptr(), self.a.col_idx());
        let row = |at: usize| ptr.partition_point(|&p| p <= at) - 1;
        (0..cols.len()).step_by(cols.len() / most + 1).map(move |at| (row(at), cols[at].get()))
    }
    /// Whether neighbor lists may contain repeats.
    pub(super) fn repeats(&self) -> bool {
        self.transposed.is_some()
    }
    /// Total length of these lists.
    #[inline(always)]
    pub(super) fn degree(&self, u: usize) -> usize {
        self.before(u + 1) - self.before(u)
    }
    /// Total length of the lists of vertices 0..u.
    #[inline(always)]
    pub(super) fn before(&self, u: usize) -> usize {
        self.a.row_ptr()[u] + self.transposed.as_ref().map_or(0, |t| t.row_ptr()[u])
    }
}

/// A relabeling of the vertices by decreasing degree.
pub(super) struct Order {
    /// Label of each vertex; [`NAMELESS`](Order::NAMELESS) if it has too few neighbors for a triangle. The length is a
    /// power of two, so that masking bounds an index.
    pub(super) label: Vec<u32>,
    /// Number of labeled vertices.
    pub(super) named: usize,
    /// Maximum degree, as of [`Adjacency::degree`].
    pub(super) longest: usize,
}

impl Order {
    /// No label; larger than every label.
    pub(super) const NAMELESS: u32 = u32::MAX;

    /// Stable counting sort by decreasing degree. Cost: O(n + largest degree).
    pub(super) fn by_degree<I: Index>(threads: &Threads, graph: &Adjacency<'_, I>) -> Result<Self> {
        let n = graph.vertices();
        let longest = longest(threads, graph)?;
        // Each block needs a counter per degree, which bounds the number of blocks.
        let most = threads.count().min(n / (SERIAL + longest) + 1);
        let mut blocks = try_split(n, most, |u| u as u64)?;
        if blocks.is_empty() {
            blocks.push(0..0);
        }
        // Number of vertices of each degree in each block, then the next label for such a vertex.
        let degrees = longest + 1;
        let len = degrees.saturating_mul(blocks.len());
        let mut counts = filled(len, 0usize, "vertices of each degree")?;
        let parts: Vec<_> = counts.chunks_mut(degrees).map(Mutex::new).collect();
        threads.for_each(
            blocks.len(),
            || Ok(()),
            |(), b| {
                let mut counts = parts[b].lock().unwrap_or_else(PoisonError::into_inner);
                blocks[b].clone().for_each(|u| counts[graph.degree(u)] += 1);
                Ok(())
            },
        )?;
        drop(parts);
        let mut named = 0;
        for degree in (2..degrees).rev() {
            for count in counts.iter_mut().skip(degree).step_by(degrees) {
                named += std::mem::replace(count, named);
            }
        }
        if named > Self::NAMELESS as usize {
            return Err(Error::IndexOverflow {
                what: "vertices that have two neighbors",
                needed: named as u128,
                max: Self::NAMELESS.into(),
            });
        }
        let len = n.next_power_of_two();
        let start = |b: usize| blocks.get(b).map_or(len, |block| block.start);
        let parts: Vec<_> = counts.chunks_mut(degrees).map(Mutex::new).collect();
        let label = UninitOutput::new(len, "names of vertices")?.fill(
            threads,
            "triangles",
            blocks.len(),
            start,
            || Ok(()),
            |(), b, slots| {
                let mut next = parts[b].lock().unwrap_or_else(PoisonError::into_inner);
                let names = slots.take(start(b + 1) - start(b), Self::NAMELESS);
                for (u, name) in blocks[b].clone().zip(names) {
                    let degree = graph.degree(u);
                    if degree >= 2 {
                        *name = next[degree] as u32;
                        next[degree] += 1;
                    }
                }
                Ok(())
            },
        )?;
        Ok(Self { label, named, longest })
    }
}

/// Maximum degree.
fn longest<I: Index>(threads: &Threads, graph: &Adjacency<'_, I>) -> Result<usize> {
    let n = graph.vertices();
    let longest = AtomicUsize::new(0);
    threads.for_each(
        n.div_ceil(SERIAL),
        || Ok(()),
        |(), part| {
            let part = part * SERIAL..((part + 1) * SERIAL).min(n);
            longest.fetch_max(part.map(|u| graph.degree(u)).max().unwrap_or(0), Ordering::Relaxed);
            Ok(())
        },
    )?;
    Ok(longest.into_inner())
}

/// Vertices that one thread labels faster than it wakes another.
const SERIAL: usize = 1 << 14;

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

    #[test]
    fn hubs_come_first_and_leaves_have_no_name() {
        let a = pattern(5, &[(0, 4), (4, 0), (1, 4), (4, 1), (1, 2), (2, 1), (2, 4), (4, 2)]);
        let graph = Adjacency::new(&Threads::current(), &a, true).unwrap();
        let order = Order::by_degree(&Threads::current(), &graph).unwrap();
        let none = Order::NAMELESS;
        assert_eq!(order.label, [none, 1, 2, none, 0, none, none, none]);
        assert_eq!((order.named, order.longest), (3, 3));
    }

    /// A ring with chords, long enough to be cut into blocks.
    #[test]
    fn names_do_not_depend_on_the_number_of_threads() {
        let n = 100_000u32;
        let edge = |i: u32, d: u32| [(i, (i + d) % n), ((i + d) % n, i)];
        let edges: Vec<_> = (0..n).flat_map(|i| if i % 7 == 0 { edge(i, 5) } else { edge(i, 1) }).collect();
        let a = pattern(n as usize, &edges);
        let by = |threads| {
            let threads = Threads::new(threads).unwrap();
            Order::by_degree(&threads, &Adjacency::new(&threads, &a, true).unwrap()).unwrap()
        };
        let one = by(1);
        let named: Vec<u32> = (0..n).filter(|&u| a.row(u as usize).len() >= 2).collect();
        let mut want = named.clone();
        want.sort_by_key(|&u| std::cmp::Reverse(a.row(u as usize).len()));
        let mut found = named;
        found.sort_by_key(|&u| one.label[u as usize]);
        assert_eq!(found, want);
        for threads in [2, 5] {
            assert_eq!(by(threads).label, one.label);
        }
    }
}
