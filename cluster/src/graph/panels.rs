//! Distributed triangle counting: `Σ L ∘ (L·L)` by panels of L, distributed cyclically.
//!
//! Vertices are relabeled by decreasing degree, hubs first, and an edge is an entry of L in the row of its larger
//! label. Rank (i, j) of r × c owns the entries in rows ≡ i (mod r) and columns ≡ j (mod c), which spreads the hubs
//! over all ranks. It gathers L(i, ·) along its grid row and L(·, j) along its grid column, and counts the triangles
//! whose edge between the largest and the smallest label is in its own block.
//!
//! Source: Tom, Karypis 2019, "A 2D parallel triangle counting algorithm for distributed-memory architectures".

use sparring::par::Threads;
use sparring::runtime::engine::{PanelRows, masked_pairs};
use sparring::{Error, Pattern, Result};

use super::ends::Ends;
use super::held::pairs;
use crate::cluster::Shared;
use crate::link::{Link, Parts};
use crate::wire::{Bytes, broken, bytes, bytes_mut, collected, reserved, zeros};

/// No label: the vertex has fewer than two neighbors, hence no triangle.
const NAMELESS: u32 = u32::MAX;
/// Degrees below this have a class of their own; larger ones are resolved to one sixteenth.
const EXACT: u32 = 256;
/// Number of degree classes.
const CLASSES: usize = EXACT as usize + 24 * 16;

/// Class of a degree; decreases with the degree.
fn class(degree: u32) -> usize {
    let of = if degree < EXACT {
        degree
    } else {
        let bits = degree.ilog2();
        EXACT + 16 * (bits - 8) + (degree >> (bits - 4) & 15)
    };
    CLASSES - 1 - of as usize
}

/// Division by an invariant divisor below 2³¹, by multiplication with its inverse.
#[derive(Clone, Copy)]
struct Divisor {
    by: u32,
    inverse: u64,
}

impl Divisor {
    fn new(by: usize) -> Self {
        Self { by: by as u32, inverse: (1 << 63) / by as u64 + 1 }
    }
    /// Quotient ⌊x·inverse / 2⁶³⌋ and remainder. Exact: the inverse exceeds 2⁶³ / by by at most 1, which adds at most
    /// x / 2⁶³ < 1 / by to the quotient.
    #[inline(always)]
    fn divide(self, x: u32) -> (u32, u32) {
        let quotient = ((u128::from(x) * u128::from(self.inverse)) >> 63) as u32;
        (quotient, x - quotient * self.by)
    }
}

/// How many labels below `n` are ≡ `k` (mod `of`).
fn cyclic_len(n: usize, of: usize, k: usize) -> usize {
    (n + of - 1 - k) / of
}

/// Labels of the rows and columns of a block.
struct Names {
    rows: Vec<u32>,
    cols: Vec<u32>,
    /// Number of labels of the whole graph.
    total: usize,
}

impl Names {
    /// Labels all vertices by degree. Collective.
    fn new(shared: &Shared, n: usize, block: &Pattern) -> Result<Self> {
        let made = || {
            let ends = Ends::new(shared, n, block, false)?;
            let rows = ends.rows.messages(Some(&ends.rows.by_number(&ends.row_degrees, &ends.row_degrees)?))?;
            let cols = ends.cols.messages(Some(&ends.cols.by_number(&ends.col_degrees, &ends.col_degrees)?))?;
            Ok((ends, [rows, cols]))
        };
        let (ends, queries) = shared.ready(made())?;
        let links: [&dyn Link; 2] = [&*shared.row, &*shared.world];
        let [rows, cols] = [0, 1].map(|k| links[k].exchange(&queries[k]));
        let got = [shared.ready(rows)?, shared.ready(cols)?];
        // Degrees of the vertices that this rank owns.
        let counted = || {
            let mut degrees: Vec<u32> = zeros(shared.grid.piece(n).len())?;
            for bytes in got.iter().flat_map(Parts::iter) {
                for (index, degree) in pairs(bytes)? {
                    let sum = degrees.get_mut(index as usize).ok_or_else(broken)?;
                    *sum = sum.saturating_add(u32::from_le_bytes(degree));
                }
            }
            let mut counts: Vec<u64> = zeros(CLASSES)?;
            degrees.iter().filter(|d| **d >= 2).for_each(|&d| counts[class(d)] += 1);
            Ok((degrees, counts))
        };
        let (mut degrees, counts) = shared.ready(counted())?;
        let all = shared.ready(shared.world.all_gather(bytes(&counts)))?;
        let mut named = || {
            let of = |k: usize, rank: usize| {
                let at = 8 * (CLASSES * rank + k);
                all.bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes).ok_or_else(broken)
            };
            let (mut next, mut total): (Vec<u64>, u64) = (zeros(CLASSES)?, 0);
            for (k, next) in next.iter_mut().enumerate() {
                for rank in 0..all.lengths.len() {
                    if rank == shared.world.rank() {
                        *next = total;
                    }
                    total += of(k, rank)?;
                }
            }
            if total >= u64::from(NAMELESS) {
                let what = "vertices that have two neighbors";
                return Err(Error::IndexOverflow { what, needed: total.into(), max: NAMELESS.into() });
            }
            for degree in &mut degrees {
                if *degree < 2 {
                    *degree = NAMELESS;
                } else {
                    let next = &mut next[class(*degree)];
                    *degree = *next as u32;
                    *next += 1;
                }
            }
            let names = &degrees;
            let mut answers = Vec::with_capacity(2);
            for got in &got {
                let mut answer = reserved(got.bytes.len() / 8, "names")?;
                for bytes in got.iter() {
                    answer.extend(Bytes(bytes).indices(bytes.len() / 8)?.map(|index| names[index as usize]));
                }
                answers.push(answer);
            }
            let (of_rows, of_cols) = (zeros(ends.rows.indices.len())?, zeros(ends.cols.indices.len())?);
            Ok((answers, [of_rows, of_cols], total as usize))
        };
        let (answers, mut own, total) = shared.ready(named())?;
        for ((link, answer), (own, (queries, got))) in
            links.into_iter().zip(&answers).zip(own.iter_mut().zip(queries.iter().zip(&got)))
        {
            let half = |lengths: &[usize]| lengths.iter().map(|n| n / 2).collect::<Vec<_>>();
            link.exchange_over(bytes(answer), &half(&got.lengths), &half(&queries.lengths), bytes_mut(own));
        }
        let placed = || {
            let [of_rows, of_cols] = &own;
            let by_index = |numbers: &[u32], degrees: &[u32], names: &[u32]| -> Result<Vec<u32>> {
                let name = |(&k, &degree): (&u32, &u32)| if degree > 0 { names[k as usize] } else { NAMELESS };
                collected(degrees.len(), numbers.iter().zip(degrees).map(name), "names")
            };
            let rows = by_index(&ends.rows.number, &ends.row_degrees, of_rows)?;
            Ok(Self { rows, cols: by_index(&ends.cols.number, &ends.col_degrees, of_cols)?, total })
        };
        shared.ready(placed())
    }
}

/// A block of L in CSR form, with local row and column numbers. Columns of a row are distinct but unsorted.
struct Block {
    /// Row pointers followed by column indices.
    words: Vec<u32>,
    rows: usize,
}

impl Block {
    /// Sends the edges of the graph to their owners in L. Collective.
    fn new(shared: &Shared, n: usize, block: &Pattern, names: &Names) -> Result<Self> {
        let ((r, c), (i, j)) = (shared.grid.shape(), shared.grid.at());
        let (by_row, by_col) = (Divisor::new(r), Divisor::new(c));
        let ((rows, cols), ranks) = (shared.grid.block((n, n)), shared.world.size());
        let made = || {
            let (mut edges, mut to_rank): (Vec<u64>, Vec<u32>) =
                (reserved(block.nnz(), "edges")?, reserved(block.nnz(), "edges")?);
            let mut counts: Vec<usize> = zeros(ranks)?;
            for (u, &name) in names.rows.iter().enumerate().filter(|(_, name)| **name != NAMELESS) {
                let loop_at = (rows.start + u).wrapping_sub(cols.start);
                for &v in block.row(u) {
                    let other = names.cols[v as usize];
                    if other == NAMELESS || v as usize == loop_at {
                        continue;
                    }
                    let ((row, k), (col, l)) = (by_row.divide(name.max(other)), by_col.divide(name.min(other)));
                    let rank = k * c as u32 + l;
                    counts[rank as usize] += 1;
                    edges.push(u64::from(row) | u64::from(col) << 32);
                    to_rank.push(rank);
                }
            }
            let mut to: Vec<u8> = zeros(8 * edges.len())?;
            let (mut at, mut lengths) = (0, reserved(ranks, "ranks")?);
            for count in &mut counts {
                lengths.push(8 * *count);
                (*count, at) = (at, at + 8 * *count);
            }
            for (edge, rank) in edges.into_iter().zip(to_rank) {
                let at = &mut counts[rank as usize];
                to[*at..*at + 8].copy_from_slice(&edge.to_le_bytes());
                *at += 8;
            }
            Ok(Parts { bytes: to, lengths })
        };
        let got = shared.ready(shared.ready(made()).and_then(|to| shared.world.exchange(&to)))?;
        let (rows, cols) = (cyclic_len(names.total, r, i), cyclic_len(names.total, c, j));
        let pairs = || {
            got.bytes.as_chunks::<8>().0.iter().map(|b| {
                let word = |at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
                (word(0) as usize, word(4))
            })
        };
        let made = || {
            let count = pairs().len();
            if u32::try_from(count).is_err() {
                let (needed, max) = (count as u128, u32::MAX.into());
                return Err(Error::IndexOverflow { what: "edges of a rank", needed, max });
            }
            // Row ends, after counting and filling.
            let mut ends: Vec<u32> = zeros(rows + 2)?;
            for (row, _) in pairs() {
                *ends.get_mut(row + 2).ok_or_else(broken)? += 1;
            }
            (0..=rows).for_each(|k| ends[k + 1] += ends[k]);
            let mut placed: Vec<u32> = zeros(count)?;
            for (row, col) in pairs() {
                let at = &mut ends[row + 1];
                placed[*at as usize] = col;
                *at += 1;
            }
            // An edge stored in both directions arrives twice.
            let mut words = reserved(rows + 1 + count, "a block of L")?;
            words.resize(rows + 1, 0);
            let mut seen: Vec<u32> = zeros(cols)?;
            for row in 0..rows {
                for &col in &placed[ends[row] as usize..ends[row + 1] as usize] {
                    let seen = seen.get_mut(col as usize).ok_or_else(broken)?;
                    if *seen != row as u32 + 1 {
                        *seen = row as u32 + 1;
                        words.push(col);
                    }
                }
                words[row + 1] = (words.len() - rows - 1) as u32;
            }
            Ok(Self { words, rows })
        };
        shared.ready(made())
    }
    fn ptr(&self) -> &[u32] {
        &self.words[..=self.rows]
    }
    fn cols(&self) -> &[u32] {
        &self.words[self.rows + 1..]
    }
}

/// The blocks of the ranks of a line, side by side or stacked.
struct Panel {
    words: Vec<u32>,
    /// Number of words and rows of each block.
    blocks: Vec<[usize; 2]>,
}

impl Panel {
    /// Allocates a panel for the blocks of a line, given the words and rows of this rank's block. Collective.
    fn new(link: &dyn Link, block: [usize; 2]) -> Result<Self> {
        let blocks: Vec<_> = link.all_words(block.map(|x| x as u64)).iter().map(|w| w.map(|x| x as usize)).collect();
        Ok(Self { words: zeros(blocks.iter().map(|block| block[0]).sum())?, blocks })
    }
    fn gather(&mut self, link: &dyn Link, mine: &[u32]) {
        let lengths: Vec<usize> = self.blocks.iter().map(|block| 4 * block[0]).collect();
        link.all_gather_over(bytes(mine), &lengths, bytes_mut(&mut self.words));
    }
    fn rows(&self) -> Result<Vec<PanelRows<'_>>> {
        let mut rest = &self.words[..];
        let block = |&[words, rows]: &[usize; 2]| {
            let (block, others) = rest.split_at(words);
            rest = others;
            PanelRows::new(&block[..=rows], &block[rows + 1..])
        };
        self.blocks.iter().map(block).collect()
    }
}

/// Number of triangles in the simple undirected graph of a distributed n×n pattern. Collective.
pub(super) fn count(shared: &Shared, n: usize, block: &Pattern) -> Result<u64> {
    let names = Names::new(shared, n, block)?;
    let own = Block::new(shared, n, block, &names)?;
    let ((r, c), (_, j)) = (shared.grid.shape(), shared.grid.at());
    let total = names.total;
    drop(names);
    let size = [own.words.len(), own.rows];
    // Both calls are collective, so the second runs even if the first fails.
    let (a, b) = (Panel::new(&*shared.row, size), Panel::new(&*shared.col, size));
    let made = || {
        // Translates columns of A into rows of B, whose blocks are stacked.
        let (mut first, mut at) = (reserved(r, "ranks")?, 0);
        for k in 0..r {
            first.push(at as u32);
            at += cyclic_len(total, r, k);
        }
        let by_row = Divisor::new(r);
        let row_of_b = |col: u32| {
            let (row, k) = by_row.divide(col * c as u32 + j as u32);
            first[k as usize] + row
        };
        let mut left = reserved(size[0], "a panel")?;
        left.extend_from_slice(own.ptr());
        match r == c {
            true => left.extend(own.cols().iter().map(|col| first[j] + col)),
            false => left.extend(own.cols().iter().map(|&col| row_of_b(col))),
        }
        Ok((left, a?, b?))
    };
    let (left, mut a, mut b) = shared.ready(made())?;
    a.gather(&*shared.row, &left);
    b.gather(&*shared.col, &own.words);
    drop(left);
    let counted = || {
        let (current, mask) = (Threads::current(), PanelRows::new(own.ptr(), own.cols())?);
        let threads = shared.inner.threads().unwrap_or(&current);
        let found = masked_pairs(threads, cyclic_len(total, c, j), mask, &a.rows()?, &b.rows()?)?;
        Ok(((), found as usize))
    };
    Ok(shared.finish(counted())?.1 as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_exact() {
        for by in [1, 2, 3, 4, 5, 6, 7, 9, 16, 31, 255, 256, 65_535] {
            let divisor = Divisor::new(by);
            for x in (0..1000).chain((0..2000).map(|k| u32::MAX / 2000 * k)).chain(u32::MAX - 1000..=u32::MAX) {
                assert_eq!(divisor.divide(x), (x / by as u32, x % by as u32), "{x} by {by}");
            }
        }
    }
    #[test]
    fn classes_fall_with_degrees() {
        let mut last = CLASSES;
        for degree in (0..5000).chain((13..32).flat_map(|k| [(1 << k) - 1, 1 << k, 3 << (k - 1)])).chain([u32::MAX]) {
            assert!(class(degree) <= last && class(degree) < CLASSES);
            last = class(degree);
        }
        assert_eq!((class(u32::MAX), class(256) + 1, class(300) < class(299)), (0, class(255), false));
    }
    #[test]
    fn names_are_dealt_to_all() {
        for (n, of) in [(0, 3), (1, 3), (5, 1), (7, 3), (8, 4)] {
            let count = |k| (0..n).filter(|x| x % of == k).count();
            (0..of).for_each(|k| assert_eq!(cyclic_len(n, of, k), count(k)));
        }
    }
}
