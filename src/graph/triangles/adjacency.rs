//! Who is whose neighbour, whatever the matrix looks like, and the order by degree.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::par::{Fresh, Threads, filled, try_split};
use crate::{Error, Index, Pattern, Result};

/// The pattern of A + Aᵀ: A alone if it is symmetric, else both.
pub(super) struct Adjacency<'a, I: Index> {
    a: &'a Pattern<I>,
    transposed: Option<Pattern<I>>,
}

impl<'a, I: Index> Adjacency<'a, I> {
    /// Transposes a square `a` unless it is seen to be symmetric.
    pub(super) fn new(threads: &Threads, a: &'a Pattern<I>) -> Result<Self> {
        let transposed = if symmetry(threads, a)?.is_some() { None } else { Some(a.transpose(threads)?) };
        Ok(Self { a, transposed })
    }
    pub(super) fn vertices(&self) -> usize {
        self.a.nrows()
    }
    /// Lists of neighbours of `u`, which may name a neighbour twice and `u` itself.
    #[inline(always)]
    pub(super) fn neighbours(&self, u: usize) -> [&[I]; 2] {
        [self.a.row(u), self.transposed.as_ref().map_or(&[], |t| t.row(u))]
    }
    /// Whether neighbours may be named twice.
    pub(super) fn repeats(&self) -> bool {
        self.transposed.is_some()
    }
    /// One list in place of two, without the vertex itself, if no vertex has more than `most` neighbours, rows are sorted and there are
    /// few enough for a second-level cache: beyond it merging takes longer than new names (er18d8, 0.9; p2p-Gnutella31, 1.3).
    pub(super) fn merged(&self, threads: &Threads, most: usize) -> Result<Option<Pattern<I>>> {
        match &self.transposed {
            Some(t)
                if self.a.is_sorted()
                    && self.before(self.vertices()) <= CACHED
                    && (0..self.vertices()).all(|u| self.degree(u) <= most) =>
            {
                self.a.symmetrized_by(t, threads).map(Some)
            }
            _ => Ok(None),
        }
    }
    /// Length of these lists.
    #[inline(always)]
    pub(super) fn degree(&self, u: usize) -> usize {
        self.before(u + 1) - self.before(u)
    }
    /// Length of the lists of vertices 0..u.
    #[inline(always)]
    pub(super) fn before(&self, u: usize) -> usize {
        self.a.row_ptr()[u] + self.transposed.as_ref().map_or(0, |t| t.row_ptr()[u])
    }
}

/// How many entries are on the diagonal of `a`, if it is symmetric. Rows that are not sorted count as not symmetric.
///
/// Passing over the rows in order, the rows i > j that hold j come in the order in which row j must name them, so
/// a finger in row j that moves on with each of them finds the next, or finds that `a` is not symmetric. Each entry
/// below the diagonal finds its mirror image that way; if there are as many above, `a` is symmetric.
/// Cost: O(nnz), and far less if an entry near the top has no mirror image.
pub(super) fn symmetry<I: Index>(threads: &Threads, a: &Pattern<I>) -> Result<Option<u64>> {
    if !a.is_sorted() {
        return Ok(None);
    }
    let (n, ptr, cols) = (a.nrows(), a.row_ptr(), a.col_idx());
    // A block needs a finger for each row: no more blocks than the entries are worth.
    let blocks = try_split(n, threads.count().min(a.nnz() / (4 * n.max(1)) + 1), |i| ptr[i] as u64)?;
    let (differs, below, diagonal) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    threads.for_each(
        blocks.len(),
        || Ok(()),
        |(), b| {
            let block = blocks[b].clone();
            // Where row j holds the next row that is to hold j; rows above the block are looked at when first met.
            let mut finger = filled(block.end, usize::MAX, "fingers in rows")?;
            let (mut lower, mut loops) = (0u64, 0);
            for i in block.clone() {
                if differs.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let mut at = ptr[i];
                let end = ptr[i + 1];
                while at < end && cols[at].get() < i {
                    let j = cols[at].get();
                    let mut place = finger[j];
                    if place == usize::MAX {
                        place = ptr[j] + a.row(j).partition_point(|c| c.get() < block.start);
                    }
                    if cols.get(place).is_none_or(|c| c.get() != i) {
                        differs.store(true, Ordering::Relaxed);
                        return Ok(());
                    }
                    finger[j] = place + 1;
                    at += 1;
                }
                lower += (at - ptr[i]) as u64;
                if at < end && cols[at].get() == i {
                    loops += 1;
                    at += 1;
                }
                finger[i] = at;
            }
            // A finger that left its row met its rows in the next.
            if (0..block.end).any(|j| finger[j] != usize::MAX && finger[j] > ptr[j + 1]) {
                differs.store(true, Ordering::Relaxed);
            }
            below.fetch_add(lower, Ordering::Relaxed);
            diagonal.fetch_add(loops, Ordering::Relaxed);
            Ok(())
        },
    )?;
    let diagonal = diagonal.into_inner();
    let symmetric = !differs.into_inner() && 2 * below.into_inner() + diagonal == a.nnz() as u64;
    Ok(symmetric.then_some(diagonal))
}

/// New names for vertices: the more neighbours, the smaller.
pub(super) struct Order {
    /// Name of each vertex; [`NAMELESS`](Order::NAMELESS) if it has too few neighbours for a triangle.
    /// As long as a power of two, so that a mask keeps an index within.
    pub(super) label: Vec<u32>,
    /// Vertices that have a name.
    pub(super) named: usize,
    /// Most neighbours, as [`Adjacency::degree`] counts them.
    pub(super) longest: usize,
}

impl Order {
    /// No name; larger than every name.
    pub(super) const NAMELESS: u32 = u32::MAX;

    /// Counting sort by degree, hubs first; among equals as before. Cost: O(n + largest degree).
    pub(super) fn by_degree<I: Index>(threads: &Threads, graph: &Adjacency<'_, I>) -> Result<Self> {
        let n = graph.vertices();
        let longest = (0..n).map(|u| graph.degree(u)).max().unwrap_or(0);
        // A block needs a counter for each degree: no more blocks than the vertices are worth.
        let most = threads.count().min(n / (SERIAL + longest) + 1);
        let mut blocks = try_split(n, most, |u| u as u64)?;
        if blocks.is_empty() {
            blocks.push(0..0);
        }
        // Vertices of each degree in each block, then the next name for such a vertex.
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
                what: "vertices that have two neighbours",
                needed: named as u128,
                max: Self::NAMELESS.into(),
            });
        }
        let len = n.next_power_of_two();
        let start = |b: usize| blocks.get(b).map_or(len, |block| block.start);
        let parts: Vec<_> = counts.chunks_mut(degrees).map(Mutex::new).collect();
        let label = Fresh::new(len, "names of vertices")?.fill(
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

/// Entries that a second-level cache has room for, about.
const CACHED: usize = 1 << 20;

/// Vertices that one thread names faster than it wakes another.
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
            // A diagonal with gaps, and entries that only the end of a row tells from those of the next.
            if case % 3 == 0 {
                edges.extend((0..n as u32).step_by(2).map(|i| (i, i)));
            }
            let a = pattern(n, &edges);
            let want = a.transpose(&Threads::current()).unwrap() == a;
            seen[usize::from(want)] += 1;
            for threads in [1, 2, 3] {
                let threads = Threads::new(threads).unwrap();
                let diagonal = (0..n).filter(|&i| a.find(i, i).is_some()).count() as u64;
                assert_eq!(symmetry(&threads, &a).unwrap(), want.then_some(diagonal), "{a:?}");
            }
        }
        assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
    }

    /// Row 0 ends where row 1 begins with the very row that asks row 0: found only by the end of the row.
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

    #[test]
    fn hubs_come_first_and_leaves_have_no_name() {
        let a = pattern(5, &[(0, 4), (4, 0), (1, 4), (4, 1), (1, 2), (2, 1), (2, 4), (4, 2)]);
        let graph = Adjacency::new(&Threads::current(), &a).unwrap();
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
            Order::by_degree(&threads, &Adjacency::new(&threads, &a).unwrap()).unwrap()
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
