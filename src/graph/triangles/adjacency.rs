//! Who is whose neighbor, whatever the matrix looks like, and the order by degree.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::par::{Fresh, Threads, collected, filled, reserved, try_split};
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
    /// Lists of neighbors of `u`, which may name a neighbor twice and `u` itself.
    #[inline(always)]
    pub(super) fn neighbors(&self, u: usize) -> [&[I]; 2] {
        [self.a.row(u), self.transposed.as_ref().map_or(&[], |t| t.row(u))]
    }
    /// Whether neighbors may be named twice.
    pub(super) fn repeats(&self) -> bool {
        self.transposed.is_some()
    }
    /// One list in place of two, without the vertex itself, if no vertex has more than `most` neighbors, rows are
    /// sorted and there are few enough for a second-level cache: beyond it merging takes longer than new names (er18d8,
    /// 0.9; p2p-Gnutella31, 1.3).
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
/// Passing over the rows in order, the rows i > j that hold j come in the order in which row j must name them, so a
/// finger in row j that moves on with each of them finds the next, or finds that `a` is not symmetric. If all fingers
/// come to the ends of their rows, every entry above the diagonal was found, once.
///
/// Blocks of rows have fingers of their own, which begin where those of the block before end: how many of its rows hold
/// j is counted first. Cost: O(nnz), and far less if an entry near the top, or one of a few in between, has no mirror
/// image.
pub(in crate::graph) fn symmetry<I: Index>(threads: &Threads, a: &Pattern<I>) -> Result<Option<u64>> {
    if !a.is_sorted() {
        return Ok(None);
    }
    let (n, ptr, cols) = (a.nrows(), a.row_ptr(), a.col_idx());
    // A block needs a finger for each row: no more blocks than the entries are worth.
    let most = threads.count().min(a.nnz() / n.max(1) + 1);
    let Some(blocks) = blocks_below(a, most)? else { return Ok(None) };
    let mut fingers = if blocks.len() > 1 { first_fingers(threads, a, &blocks)? } else { filled(n, 0, FINGERS)? };
    let own = collected(blocks.len(), fingers.chunks_mut(n.max(1)).map(Mutex::new), FINGERS)?;
    let (differs, diagonal) = (AtomicBool::new(false), AtomicU64::new(0));
    threads.for_each(
        blocks.len(),
        || Ok(()),
        |(), b| {
            // Where row j holds the next row that is to hold j.
            let mut finger = own[b].lock().unwrap_or_else(PoisonError::into_inner);
            let mut loops = 0;
            for i in blocks[b].clone() {
                if differs.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let mut at = ptr[i];
                let end = ptr[i + 1];
                while at < end && cols[at].get() < i {
                    let place = &mut finger[cols[at].get()];
                    if cols.get(*place).is_none_or(|c| c.get() != i) {
                        differs.store(true, Ordering::Relaxed);
                        return Ok(());
                    }
                    *place += 1;
                    at += 1;
                }
                if at < end && cols[at].get() == i {
                    loops += 1;
                    at += 1;
                }
                finger[i] = at;
            }
            if b + 1 == blocks.len() && finger[..] != ptr[1..] {
                differs.store(true, Ordering::Relaxed);
            }
            diagonal.fetch_add(loops, Ordering::Relaxed);
            Ok(())
        },
    )?;
    Ok((!differs.into_inner()).then(|| diagonal.into_inner()))
}

/// What they take memory for.
const FINGERS: &str = "fingers in rows";

/// Where the fingers of each block of rows begin in the rows before it, if `a` is symmetric; n of each block.
fn first_fingers<I: Index>(threads: &Threads, a: &Pattern<I>, blocks: &[Range<usize>]) -> Result<Vec<usize>> {
    let (n, ptr) = (a.nrows(), a.row_ptr());
    // What the block before adds: of its own rows where they hold the first row above, and one for each row that holds
    // j below.
    let mut fingers = Fresh::new(n.saturating_mul(blocks.len()), FINGERS)?.fill(
        threads,
        "triangles",
        blocks.len(),
        |b| b * n,
        || Ok(()),
        |(), b, slots| {
            let fingers = slots.take(n, 0);
            for i in b.checked_sub(1).map_or(0..0, |before| blocks[before].clone()) {
                let row = a.row(i);
                let below = row.iter().take_while(|j| j.get() < i).inspect(|j| fingers[j.get()] += 1).count();
                fingers[i] = ptr[i] + below + usize::from(row.get(below).is_some_and(|j| j.get() == i));
            }
            Ok(())
        },
    )?;
    // Then what all blocks before add, some columns at a time.
    let mut parts: Vec<Mutex<Vec<&mut [usize]>>> = reserved(n.div_ceil(COLUMNS), FINGERS)?;
    for _ in 0..n.div_ceil(COLUMNS) {
        parts.push(Mutex::new(reserved(blocks.len(), FINGERS)?));
    }
    for of_block in fingers.chunks_mut(n) {
        for (part, columns) in parts.iter_mut().zip(of_block.chunks_mut(COLUMNS)) {
            part.get_mut().unwrap_or_else(PoisonError::into_inner).push(columns);
        }
    }
    threads.for_each(
        parts.len(),
        || Ok(()),
        |(), part| {
            let mut of_blocks = parts[part].lock().unwrap_or_else(PoisonError::into_inner);
            for b in 1..of_blocks.len() {
                let (before, here) = of_blocks.split_at_mut(b);
                here[0].iter_mut().zip(&*before[b - 1]).for_each(|(here, before)| *here += before);
            }
            Ok(())
        },
    )?;
    drop(parts);
    Ok(fingers)
}

/// Ranges of rows with about as many entries below the diagonal, by a sample of rows; nothing if one of those shows
/// that `a` is not symmetric.
fn blocks_below<I: Index>(a: &Pattern<I>, most: usize) -> Result<Option<Vec<Range<usize>>>> {
    let (ptr, samples) = (a.row_ptr(), most * 16);
    if most == 1 {
        return try_split(a.nrows(), 1, |i| i as u64).map(Some);
    }
    // Of each stretch of entries: those below the diagonal before it, and how many of 256 are in it.
    let step = a.nnz() / samples + 1;
    let mut stretches = reserved(samples + 1, "a sample of rows")?;
    let mut before = 0;
    for s in 0..=samples {
        // The row that holds the first entry.
        let i = ptr.partition_point(|&p| p <= s * step).saturating_sub(1).min(a.nrows() - 1);
        let row = a.row(i);
        let below = row.partition_point(|j| j.get() < i);
        if row[..below].first().is_some_and(|j| a.find(j.get(), i).is_none()) {
            return Ok(None);
        }
        let share = below * 256 / row.len().max(1);
        stretches.push((before, share));
        before += step * share / 256;
    }
    // A row takes time of its own.
    try_split(a.nrows(), most, |i| {
        let (before, share) = stretches[ptr[i] / step];
        (before + ptr[i] % step * share / 256 + 2 * i) as u64
    })
    .map(Some)
}

/// Columns whose fingers are set together.
const COLUMNS: usize = 1 << 12;

/// New names for vertices: the more neighbors, the smaller.
pub(super) struct Order {
    /// Name of each vertex; [`NAMELESS`](Order::NAMELESS) if it has too few neighbors for a triangle.
    /// As long as a power of two, so that a mask keeps an index within.
    pub(super) label: Vec<u32>,
    /// Vertices that have a name.
    pub(super) named: usize,
    /// Most neighbors, as [`Adjacency::degree`] counts them.
    pub(super) longest: usize,
}

impl Order {
    /// No name; larger than every name.
    pub(super) const NAMELESS: u32 = u32::MAX;

    /// Counting sort by degree, hubs first; among equals as before. Cost: O(n + largest degree).
    pub(super) fn by_degree<I: Index>(threads: &Threads, graph: &Adjacency<'_, I>) -> Result<Self> {
        let n = graph.vertices();
        let longest = longest(threads, graph)?;
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
                what: "vertices that have two neighbors",
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

/// Most neighbors of a vertex.
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
            for threads in [1, 2, 3, 9] {
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
