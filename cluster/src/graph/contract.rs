//! Connected components on the ranks of a grid: trees of vertices are contracted until no edge is left.
//!
//! A rank finds a spanning forest of its block, and keeps of each tree a star. In a round each vertex hooks to the
//! least of its neighbors on any rank, which at least halves those that have edges; the ranks that hold vertices follow
//! hooks to the roots, and edges get the names of these. O(log n) rounds; in the first a rank sends a name and an
//! answer for each row and column of its block that has entries, in the others for those that are left.
//!
//! Source: Chung, Condon 1996, "Parallel implementation of Borůvka's minimum spanning tree algorithm" (hooking and
//! contraction); Sutton et al. 2018 (linking within a block).

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;
use sparring::{Pattern, Result};

use super::held::Held;
use crate::cluster::Shared;
use crate::wire::{Bytes, bytes, bytes_mut, reserved, zeros};

/// No vertex.
const NONE: u32 = u32::MAX;
/// Edges of each row that are looked at before the others.
const FIRST: usize = 2;
/// Rows of a task.
const TASK: usize = 1 << 10;

/// Two ranges of vertices as one, in the order of their numbers.
struct Union {
    first: Range<usize>,
    second: Range<usize>,
}

impl Union {
    fn of(a: Range<usize>, b: Range<usize>) -> Self {
        let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
        Self { first, second }
    }
    /// By how much a number of the second range is behind its place in the union.
    fn gap(&self) -> usize {
        self.second.start.saturating_sub(self.first.end)
    }
    fn len(&self) -> usize {
        self.first.end.max(self.second.end) - self.first.start - self.gap()
    }
    /// The place of the first vertex of one of the ranges, if it has one.
    fn place(&self, start: usize) -> u32 {
        let behind = if start < self.first.end { 0 } else { self.gap() };
        (start - self.first.start).saturating_sub(behind) as u32
    }
    fn vertex(&self, place: usize) -> u32 {
        let vertex = self.first.start + place;
        (if vertex < self.first.end { vertex } else { vertex + self.gap() }) as u32
    }
}

/// Trees of vertices: the parent of a vertex is no larger than it.
struct Trees(Vec<AtomicU32>);

impl Trees {
    fn new(n: usize) -> Result<Self> {
        let mut parents = reserved(n, "parents")?;
        parents.extend((0..n as u32).map(AtomicU32::new));
        Ok(Self(parents))
    }
    fn parent(&self, x: u32) -> u32 {
        self.0[x as usize].load(Relaxed)
    }
    /// Joins the trees of two vertices, whatever other threads join.
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
    /// Makes the least vertex of a tree the parent of all in it: parents are smaller, so theirs are known.
    fn compress(&self) {
        (0..self.0.len()).for_each(|v| self.0[v].store(self.parent(self.parent(v as u32)), Relaxed));
    }
    /// The least vertex of the tree of each.
    fn roots(self) -> Vec<u32> {
        self.compress();
        self.0.into_iter().map(AtomicU32::into_inner).collect()
    }
}

/// Edges as stars: vertices that increase, and of each the place of its center, the least of the star, which is its
/// own.
#[derive(Default)]
struct Stars {
    names: Vec<u32>,
    centers: Vec<u32>,
}

impl Stars {
    /// Trees of more than one vertex.
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
    /// The forest of a block.
    fn of_block(shared: &Shared, n: usize, block: &Pattern) -> Result<Self> {
        let (rows, cols) = shared.grid.block((n, n));
        let union = Union::of(rows.clone(), cols.clone());
        let (row, col) = (union.place(rows.start), union.place(cols.start));
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
        // A few edges join most vertices; of the others most are then found to join none, at a glance.
        link(0..FIRST);
        trees.compress();
        link(FIRST..usize::MAX);
        Self::of(&trees.roots(), |place| union.vertex(place))
    }
    /// The least neighbor of each: the center, and of that the first of the others.
    fn least(&self) -> Result<Vec<u32>> {
        let mut least = reserved(self.names.len(), "neighbors")?;
        least.extend(self.centers.iter().map(|&center| self.names[center as usize]));
        for (k, &center) in self.centers.iter().enumerate().rev().filter(|(k, center)| **center as usize != *k) {
            least[center as usize] = self.names[k];
        }
        Ok(least)
    }
    /// The same edges between vertices of these names; those of two equal names are gone.
    fn renamed(&self, names: &[u32]) -> Result<Self> {
        let mut edges: Vec<[u32; 2]> = reserved(names.len(), "edges")?;
        let ends = names.iter().zip(&self.centers).map(|(&name, &center)| [name, names[center as usize]]);
        edges.extend(ends.filter(|[a, b]| a != b));
        let mut left: Vec<u32> = reserved(2 * edges.len(), "vertices")?;
        left.extend(edges.iter().flatten());
        left.sort_unstable();
        left.dedup();
        let trees = Trees::new(left.len())?;
        // All of them are there.
        let place = |name: u32| left.binary_search(&name).unwrap_or_else(|place| place) as u32;
        edges.iter().for_each(|&[a, b]| trees.link(place(a), place(b)));
        Self::of(&trees.roots(), |k| left[k])
    }
}

/// What ranks have in `table` for what it has for these vertices, in their order. Collective.
fn above(held: &Held<'_>, moving: &[u32], table: &[u32]) -> Result<Vec<u32>> {
    let at = |v: u32| table[v as usize - held.piece.start];
    let asked = || {
        let mut asked = reserved(moving.len(), "vertices")?;
        asked.extend(moving.iter().map(|&v| at(v)));
        asked.sort_unstable();
        asked.dedup();
        Ok(asked)
    };
    let (asked, found) = held.values(asked(), table)?;
    let mut made = reserved(moving.len(), "vertices")?;
    // All of them were asked for.
    made.extend(moving.iter().map(|&v| asked.binary_search(&at(v)).map_or(NONE, |k| found[k])));
    Ok(made)
}

/// Sets the parents of these vertices to the roots of their trees. Collective.
fn settle(held: &Held<'_>, mut moving: Vec<u32>, parents: &mut [u32]) -> Result<()> {
    while held.shared.world.all_words([moving.len() as u64, 0]).iter().any(|words| words[0] > 0) {
        let next = above(held, &moving, parents);
        // Where one rank has no room, none goes on.
        let next = held.shared.ready(next)?;
        let mut next = next.into_iter();
        moving.retain(|&v| {
            let parent = &mut parents[v as usize - held.piece.start];
            next.next().is_some_and(|next| std::mem::replace(parent, next) != next)
        });
    }
    Ok(())
}

/// For each vertex that this rank holds the least of its component, directions of edges left out of account, in an n×n
/// pattern of which this rank has a block. Collective.
pub(super) fn labels(shared: &Shared, n: usize, block: &Pattern) -> Result<Vec<u32>> {
    let held = Held::new(shared, n);
    let piece = held.piece.clone();
    let made = || {
        let mut parents: Vec<u32> = reserved(piece.len(), "parents")?;
        parents.extend(piece.clone().map(|v| v as u32));
        let mut hooks: Vec<u32> = zeros(piece.len())?;
        hooks.fill(NONE);
        Ok((parents, hooks, Stars::of_block(shared, n, block)?))
    };
    let (mut parents, mut hooks, mut stars) = shared.ready(made())?;
    loop {
        // What each vertex hooks to, at its holder.
        let sent = stars.least().and_then(|least| {
            let to = held.messages(&stars.names, Some(&least))?;
            let names: Vec<u32> = zeros(stars.names.len())?;
            Ok(((to.lengths.clone(), names), to))
        });
        let hooked = shared.world.deal(sent).and_then(|(made, got)| {
            let mut active: Vec<u32> = reserved((got.bytes.len() / 8).min(piece.len()), "vertices")?;
            for bytes in got.iter() {
                let (mut bytes, count) = (Bytes(bytes), bytes.len() / 8);
                for (vertex, least) in bytes.indices(count)?.zip(bytes.indices(count)?) {
                    let hook = &mut hooks[held.place(vertex)?];
                    if *hook == NONE {
                        active.push(vertex);
                    }
                    *hook = least.min(*hook);
                }
            }
            for &v in &active {
                let place = v as usize - piece.start;
                parents[place] = std::mem::replace(&mut hooks[place], NONE);
            }
            let count = active.len();
            Ok(((made, got, active), count))
        });
        let (((lengths, mut names), got, mut active), total) = shared.counted(hooked)?;
        if total == 0 {
            break;
        }
        // Of two that hook to each other the lesser is a root.
        let next = shared.ready(above(&held, &active, &parents))?;
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
        settle(&held, active, &mut parents)?;
        // The edges between different roots.
        let answer = || {
            let mut answer: Vec<u32> = reserved(got.bytes.len() / 8, "answers")?;
            for bytes in got.iter() {
                for vertex in Bytes(bytes).indices(bytes.len() / 8)? {
                    answer.push(parents[held.place(vertex)?]);
                }
            }
            Ok(answer)
        };
        let answer = shared.ready(answer())?;
        let half = |lengths: &[usize]| lengths.iter().map(|n| n / 2).collect::<Vec<_>>();
        shared.world.exchange_over(bytes(&answer), &half(&got.lengths), &half(&lengths), bytes_mut(&mut names));
        stars = shared.ready(stars.renamed(&names))?;
    }
    // Of rounds before the last, too.
    let moving = || {
        let is_moving = |v: &u32| parents[*v as usize - piece.start] != *v;
        let all = piece.clone().map(|v| v as u32);
        let mut moving = reserved(all.clone().filter(is_moving).count(), "vertices")?;
        moving.extend(all.filter(is_moving));
        Ok(moving)
    };
    let moving = shared.ready(moving())?;
    settle(&held, moving, &mut parents)?;
    // The least vertex of a component and the least of its neighbors hook to each other in each round, so that it is a
    // root in all of them.
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
            let found: Vec<usize> = (0..union.len()).map(|place| union.vertex(place) as usize).collect();
            assert!(all.iter().all(|v| found.contains(v)), "{a:?} {b:?}");
            assert!(found.windows(2).all(|w| w[0] < w[1]));
            for range in [a, b] {
                for v in range.clone() {
                    let place = union.place(range.start) as usize + v - range.start;
                    assert_eq!(union.vertex(place) as usize, v);
                }
            }
        }
    }
    #[test]
    fn stars_have_the_least_vertex_amid() {
        let trees = Trees::new(9).unwrap();
        [(7, 3), (3, 5), (8, 1), (2, 2)].iter().for_each(|&(u, v)| trees.link(u, v));
        let stars = Stars::of(&trees.roots(), |v| 10 * v as u32).unwrap();
        assert_eq!((&stars.names[..], &stars.centers[..]), (&[10, 30, 50, 70, 80][..], &[0, 1, 1, 1, 0][..]));
        assert_eq!(stars.least().unwrap(), [80, 50, 30, 30, 10]);
        let renamed = stars.renamed(&[4, 6, 6, 2, 4]).unwrap();
        assert_eq!((&renamed.names[..], &renamed.centers[..]), (&[2, 6][..], &[0, 0][..]));
    }
}
