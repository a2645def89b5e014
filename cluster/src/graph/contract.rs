//! Distributed connected components: trees of vertices are contracted until no edge is left.
//!
//! A rank computes a spanning forest of its block and reduces each tree to a star. In each round every vertex hooks to
//! its smallest neighbor on any rank, which at least halves the number of vertices with edges. The owners of vertices
//! then follow hooks to the roots, and edges are relabeled with the roots. There are O(log n) rounds. In the first one
//! a rank sends a label and a reply for each non-empty row and column of its block; in the following rounds only for
//! the remaining vertices.
//!
//! Source: Chung, Condon 1996, "Parallel implementation of Borůvka's minimum spanning tree algorithm" (hooking and
//! contraction); Sutton et al. 2018 (linking within a block).

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;
use sparring::{Pattern, Result};

use super::held::{Ownership, pairs};
use crate::cluster::Shared;
use crate::wire::{Bytes, bytes, bytes_mut, collected, reserved, zeros};

/// No vertex.
const NONE: u32 = u32::MAX;
/// Edges of each row that are linked in a first pass (neighbor sampling).
const FIRST: usize = 2;
/// Rows per task.
const TASK: usize = 1 << 10;

/// The union of two vertex ranges, renumbered contiguously in increasing order.
struct Union {
    first: Range<usize>,
    second: Range<usize>,
}

impl Union {
    fn of(a: Range<usize>, b: Range<usize>) -> Self {
        let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
        Self { first, second }
    }
    /// Size of the gap between the two ranges.
    fn gap(&self) -> usize {
        self.second.start.saturating_sub(self.first.end)
    }
    fn len(&self) -> usize {
        self.first.end.max(self.second.end) - self.first.start - self.gap()
    }
    /// Position in the union of the first vertex of one of the ranges, if that is not empty.
    fn position(&self, start: usize) -> u32 {
        let behind = if start < self.first.end { 0 } else { self.gap() };
        (start - self.first.start).saturating_sub(behind) as u32
    }
    fn vertex(&self, position: usize) -> u32 {
        let vertex = self.first.start + position;
        (if vertex < self.first.end { vertex } else { vertex + self.gap() }) as u32
    }
}

/// A concurrent union-find forest; the parent of a vertex is never larger than the vertex.
struct Trees(Vec<AtomicU32>);

impl Trees {
    fn new(n: usize) -> Result<Self> {
        Ok(Self(collected(n, (0..n as u32).map(AtomicU32::new), "parents")?))
    }
    fn parent(&self, x: u32) -> u32 {
        self.0[x as usize].load(Relaxed)
    }
    /// Unites the trees of two vertices; safe under concurrent calls.
    fn link(&self, u: u32, v: u32) {
        let (mut a, mut b) = (self.parent(u), self.parent(v));
        while a != b {
            let (high, low) = (a.max(b), a.min(b));
            let above = self.parent(high);
            if above == low
                || above == high && self.0[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok()
            {
                break;
            }
            (a, b) = (self.parent(above), self.parent(low));
        }
    }
    /// Makes the root of each tree the parent of all its vertices. One pass in increasing order suffices, because
    /// parents are smaller.
    fn compress(&self) {
        (0..self.0.len()).for_each(|v| self.0[v].store(self.parent(self.parent(v as u32)), Relaxed));
    }
    /// The root, i.e. the smallest vertex, of each vertex's tree.
    fn roots(self) -> Vec<u32> {
        self.compress();
        self.0.into_iter().map(AtomicU32::into_inner).collect()
    }
}

/// Edges as stars: increasing vertices, and for each the position of its center. The center is the smallest vertex of
/// the star, and its own center.
#[derive(Default)]
struct Stars {
    names: Vec<u32>,
    centers: Vec<u32>,
}

impl Stars {
    /// The trees with more than one vertex.
    fn of(roots: &[u32], name: impl Fn(usize) -> u32) -> Result<Self> {
        let mut at: Vec<u32> = zeros(roots.len())?;
        roots.iter().enumerate().filter(|(v, root)| **root as usize != *v).for_each(|(_, root)| at[*root as usize] = 1);
        let is_in = |v: usize, at: &[u32]| at[v] == 1 || roots[v] as usize != v;
        let count = (0..roots.len()).filter(|&v| is_in(v, &at)).count();
        let (mut names, mut centers) = (reserved(count, "vertices")?, reserved(count, "vertices")?);
        for v in 0..roots.len() {
            if is_in(v, &at) {
                at[v] = if roots[v] as usize == v { names.len() as u32 } else { 0 };
                centers.push(if roots[v] as usize == v { at[v] } else { at[roots[v] as usize] });
                names.push(name(v));
            }
        }
        Ok(Self { names, centers })
    }
    /// The spanning forest of a block.
    fn of_block(shared: &Shared, n: usize, block: &Pattern) -> Result<Self> {
        let (rows, cols) = shared.grid.block((n, n));
        let union = Union::of(rows.clone(), cols.clone());
        let (row, col) = (union.position(rows.start), union.position(cols.start));
        let trees = Trees::new(union.len())?;
        let threads = shared.inner.threads().filter(|threads| threads.count() > 1);
        let link = |edges: Range<usize>| {
            let of = |u: usize| {
                let ends = block.row(u);
                let edges = edges.start.min(ends.len())..edges.end.min(ends.len());
                ends[edges].iter().for_each(|&v| trees.link(u as u32 + row, v + col));
            };
            match threads {
                None => (0..rows.len()).for_each(of),
                Some(threads) => threads.install(|| (0..rows.len()).into_par_iter().with_min_len(TASK).for_each(of)),
            }
        };
        // A few edges per row connect most vertices; most of the other edges are then rejected by one comparison.
        link(0..FIRST);
        trees.compress();
        link(FIRST..usize::MAX);
        Self::of(&trees.roots(), |position| union.vertex(position))
    }
    /// The smallest neighbor of each vertex: its center; for a center, the first of the others.
    fn least(&self) -> Result<Vec<u32>> {
        let least = self.centers.iter().map(|&center| self.names[center as usize]);
        let mut least = collected(self.names.len(), least, "neighbors")?;
        for (k, &center) in self.centers.iter().enumerate().rev().filter(|(k, center)| **center as usize != *k) {
            least[center as usize] = self.names[k];
        }
        Ok(least)
    }
    /// Relabels the vertices, and removes self-loops.
    fn renamed(&self, names: &[u32]) -> Result<Self> {
        let ends = names.iter().zip(&self.centers).map(|(&name, &center)| [name, names[center as usize]]);
        let edges = collected(names.len(), ends.filter(|[a, b]| a != b), "edges")?;
        let mut left = collected(2 * edges.len(), edges.iter().flatten().copied(), "vertices")?;
        left.sort_unstable();
        left.dedup();
        let trees = Trees::new(left.len())?;
        // Every name is in `left`.
        let position = |name: u32| left.binary_search(&name).unwrap_or_else(|position| position) as u32;
        edges.iter().for_each(|&[a, b]| trees.link(position(a), position(b)));
        Self::of(&trees.roots(), |k| left[k])
    }
}

/// The grandparents `table[table[v]]` of these vertices, looked up on the owners of the parents. Collective.
fn grandparents(owned: &Ownership<'_>, moving: &[u32], table: &[u32]) -> Result<Vec<u32>> {
    let at = |v: u32| table[v as usize - owned.piece.start];
    let queries = || {
        let mut queries = collected(moving.len(), moving.iter().map(|&v| at(v)), "vertices")?;
        queries.sort_unstable();
        queries.dedup();
        Ok(queries)
    };
    let (queries, found) = owned.values(queries(), table)?;
    // Every parent was queried.
    let parent = |&v: &u32| queries.binary_search(&at(v)).map_or(NONE, |k| found[k]);
    collected(moving.len(), moving.iter().map(parent), "vertices")
}

/// Sets the parents of these vertices to their roots, by pointer jumping. Collective.
fn settle(owned: &Ownership<'_>, mut moving: Vec<u32>, parents: &mut [u32]) -> Result<()> {
    while owned.shared.world.all_words([moving.len() as u64, 0]).iter().any(|words| words[0] > 0) {
        let next = grandparents(owned, &moving, parents);
        // An allocation failure on one rank stops all.
        let next = owned.shared.ready(next)?;
        let mut next = next.into_iter();
        moving.retain(|&v| {
            let parent = &mut parents[v as usize - owned.piece.start];
            next.next().is_some_and(|next| std::mem::replace(parent, next) != next)
        });
    }
    Ok(())
}

/// The smallest vertex of the (weakly) connected component of each vertex that this rank owns, in a distributed n×n
/// pattern. Collective.
pub(super) fn labels(shared: &Shared, n: usize, block: &Pattern) -> Result<Vec<u32>> {
    let owned = Ownership::new(shared, n);
    let piece = owned.piece.clone();
    let made = || {
        let parents = collected(piece.len(), piece.clone().map(|v| v as u32), "parents")?;
        let mut hooks: Vec<u32> = zeros(piece.len())?;
        hooks.fill(NONE);
        Ok((parents, hooks, Stars::of_block(shared, n, block)?))
    };
    let (mut parents, mut hooks, mut stars) = shared.ready(made())?;
    loop {
        // Owners combine the hooks of each vertex.
        let sent = stars.least().and_then(|least| {
            let to = owned.messages(&stars.names, |k| least[k].to_le_bytes())?;
            let names: Vec<u32> = zeros(stars.names.len())?;
            Ok(((to.lengths.clone(), names), to))
        });
        let hooked = shared.world.all_to_all(sent).and_then(|(made, got)| {
            let mut active: Vec<u32> = reserved((got.bytes.len() / 8).min(piece.len()), "vertices")?;
            for bytes in got.iter() {
                for (vertex, least) in pairs(bytes)? {
                    let hook = &mut hooks[owned.local(vertex)?];
                    if *hook == NONE {
                        active.push(vertex);
                    }
                    *hook = u32::from_le_bytes(least).min(*hook);
                }
            }
            for &v in &active {
                let local = v as usize - piece.start;
                parents[local] = std::mem::replace(&mut hooks[local], NONE);
            }
            let count = active.len();
            Ok(((made, got, active), count))
        });
        let (((lengths, mut names), got, mut active), total) = shared.counted(hooked)?;
        if total == 0 {
            break;
        }
        // Of two vertices that hook to each other, the smaller one is a root.
        let next = shared.ready(grandparents(&owned, &active, &parents))?;
        let mut next = next.into_iter();
        active.retain(|&v| {
            let parent = &mut parents[v as usize - piece.start];
            match next.next() {
                Some(next) if next == v => {
                    *parent = v.min(*parent);
                    false
                }
                Some(next) => {
                    *parent = next;
                    true
                }
                None => false,
            }
        });
        settle(&owned, active, &mut parents)?;
        // Relabels edges with roots; edges within a tree vanish.
        let answer = || {
            let mut answer: Vec<u32> = reserved(got.bytes.len() / 8, "answers")?;
            for bytes in got.iter() {
                for vertex in Bytes(bytes).indices(bytes.len() / 8)? {
                    answer.push(parents[owned.local(vertex)?]);
                }
            }
            Ok(answer)
        };
        let answer = shared.ready(answer())?;
        let half = |lengths: &[usize]| lengths.iter().map(|n| n / 2).collect::<Vec<_>>();
        shared.world.exchange_over(bytes(&answer), &half(&got.lengths), &half(&lengths), bytes_mut(&mut names));
        stars = shared.ready(stars.renamed(&names))?;
    }
    // Vertices hooked in earlier rounds need their final roots.
    let moving = || {
        let is_moving = |v: &u32| parents[*v as usize - piece.start] != *v;
        let all = piece.clone().map(|v| v as u32);
        collected(all.clone().filter(is_moving).count(), all.filter(is_moving), "vertices")
    };
    let moving = shared.ready(moving())?;
    settle(&owned, moving, &mut parents)?;
    // The smallest vertex of a component and its smallest neighbor hook to each other in every round, so the former
    // stays a root.
    Ok(parents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_united_in_order() {
        for (a, b) in [
            (0..5, 0..5),
            (0..4, 2..7),
            (3..8, 0..5),
            (0..3, 6..9),
            (6..9, 0..3),
            (0..3, 3..5),
            (4..4, 2..6),
            (1..1, 3..5),
        ] {
            let union = Union::of(a.clone(), b.clone());
            let mut all: Vec<usize> = a.clone().chain(b.clone()).collect();
            all.sort_unstable();
            all.dedup();
            let found: Vec<usize> = (0..union.len()).map(|position| union.vertex(position) as usize).collect();
            assert!(all.iter().all(|v| found.contains(v)), "{a:?} {b:?}");
            assert!(found.windows(2).all(|w| w[0] < w[1]));
            for range in [a, b] {
                for v in range.clone() {
                    let position = union.position(range.start) as usize + v - range.start;
                    assert_eq!(union.vertex(position) as usize, v);
                }
            }
        }
    }
    #[test]
    fn the_center_of_a_star_is_its_smallest_vertex() {
        let trees = Trees::new(9).unwrap();
        [(7, 3), (3, 5), (8, 1), (2, 2)].iter().for_each(|&(u, v)| trees.link(u, v));
        let stars = Stars::of(&trees.roots(), |v| 10 * v as u32).unwrap();
        assert_eq!((&stars.names[..], &stars.centers[..]), (&[10, 30, 50, 70, 80][..], &[0, 1, 1, 1, 0][..]));
        assert_eq!(stars.least().unwrap(), [80, 50, 30, 30, 10]);
        let renamed = stars.renamed(&[4, 6, 6, 2, 4]).unwrap();
        assert_eq!((&renamed.names[..], &renamed.centers[..]), (&[2, 6][..], &[0, 0][..]));
    }
}
