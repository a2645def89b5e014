//! Distribution of a tensor: the block of each rank, and the factor rows that each rank owns.
//!
//! Source: Smith and Karypis 2016, "A medium-grained algorithm for sparse tensor factorization".

use std::ops::Range;

use sparring::{Index, Result};

use crate::grid::cut;
use crate::wire::collected;

/// A grid of ranks with one dimension per mode of a tensor, and the boundaries of its parts.
#[derive(Debug)]
pub(crate) struct TensorGrid {
    /// Number of parts of each mode; the product is the number of ranks.
    pub(crate) parts: Vec<usize>,
    /// Boundaries of the parts of each mode, including its end.
    cuts: Vec<Vec<usize>>,
}

impl TensorGrid {
    /// The grid for a tensor of `entries` entries. `sorted` returns the sorted local indices of a mode; `sum` adds
    /// counts over all ranks if the entries are distributed, and is the identity if they are replicated.
    pub(crate) fn new(
        dims: &[usize],
        ranks: usize,
        entries: usize,
        sorted: impl Fn(usize) -> Result<Vec<usize>>,
        sum: impl Fn(Vec<usize>) -> Result<Vec<usize>>,
    ) -> Result<Self> {
        let mut parts = vec![1; dims.len()];
        for factor in prime_factors(ranks) {
            // The first mode with the longest parts.
            let longest = (0..dims.len())
                .rev()
                .max_by(|&m, &n| (dims[m] as u128 * parts[n] as u128).cmp(&(dims[n] as u128 * parts[m] as u128)));
            parts[longest.unwrap_or(0)] *= factor;
        }
        let cuts = dims.iter().zip(&parts).enumerate().map(|(mode, (&n, &parts))| {
            if parts == 1 || entries == 0 {
                return Ok((0..=parts).map(|part| cut(n, parts, part)).collect());
            }
            let sorted = sorted(mode)?;
            cuts(n, parts, entries, |below| sum(below.iter().map(|&i| sorted.partition_point(|&x| x < i)).collect()))
        });
        Ok(Self { cuts: cuts.collect::<Result<_>>()?, parts })
    }
    /// Distance in rank numbers between neighbours along the mode.
    fn stride(&self, mode: usize) -> usize {
        self.parts[mode + 1..].iter().product()
    }
    pub(crate) fn part(&self, mode: usize, rank: usize) -> usize {
        rank / self.stride(mode) % self.parts[mode]
    }
    /// Size of a mode.
    pub(crate) fn len(&self, mode: usize) -> usize {
        self.cuts[mode].last().copied().unwrap_or(0)
    }
    /// The index range of the mode covered by a rank's block.
    pub(crate) fn layer(&self, mode: usize, rank: usize) -> Range<usize> {
        let part = self.part(mode, rank);
        self.cuts[mode][part]..self.cuts[mode][part + 1]
    }
    /// The part of [`layer`](Self::layer) whose factor rows the rank owns.
    pub(crate) fn owned(&self, mode: usize, rank: usize) -> Range<usize> {
        let (layer, stride) = (self.layer(mode, rank), self.stride(mode));
        let all = self.parts.iter().product::<usize>() / self.parts[mode];
        // Number of the rank within its layer, whose ranks are in increasing order.
        let number = rank / (stride * self.parts[mode]) * stride + rank % stride;
        layer.start + cut(layer.len(), all, number)..layer.start + cut(layer.len(), all, number + 1)
    }
    /// The rank whose block contains an index tuple.
    pub(crate) fn owner(&self, index: impl Iterator<Item = usize>) -> usize {
        index.enumerate().map(|(mode, i)| (self.cuts[mode].partition_point(|&c| c <= i) - 1) * self.stride(mode)).sum()
    }
}

/// Prime factors, largest first.
fn prime_factors(mut n: usize) -> Vec<usize> {
    let (mut found, mut factor) = (Vec::new(), 2);
    while n > 1 {
        while n.is_multiple_of(factor) {
            found.push(factor);
            n /= factor;
        }
        factor += 1;
        if factor * factor > n && n > 1 {
            found.push(n);
            n = 1;
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}

/// The indices of a mode, sorted.
pub(crate) fn sorted<I: Index>(indices: &[I]) -> Result<Vec<usize>> {
    let mut sorted = collected(indices.len(), indices.iter().map(|i| i.get()), "indices of a mode")?;
    sorted.sort_unstable();
    Ok(sorted)
}

/// Boundaries of the parts of a mode of length `len`, balanced by number of entries (`entries` > 0). `below` counts the
/// entries whose index is less than each given index.
fn cuts(
    len: usize,
    parts: usize,
    entries: usize,
    below: impl Fn(&[usize]) -> Result<Vec<usize>>,
) -> Result<Vec<usize>> {
    let at: Vec<usize> = (1..parts).map(|part| cut(entries, parts, part)).collect();
    // Ideal end of each part: the largest index with at most the target number of entries before it.
    let (mut least, mut most) = (vec![0; at.len()], vec![len.saturating_sub(1); at.len()]);
    while least != most {
        let middle: Vec<usize> = least.iter().zip(&most).map(|(&a, &b)| a + (b - a).div_ceil(2)).collect();
        for (k, count) in below(&middle)?.into_iter().enumerate().take(at.len()) {
            if count <= at[k] {
                least[k] = middle[k];
            } else {
                most[k] = middle[k] - 1;
            }
        }
    }
    let before = below(&least)?;
    let after = below(&least.iter().map(|i| i + 1).collect::<Vec<_>>())?;
    let mut cuts = vec![0];
    for (k, index) in least.into_iter().enumerate() {
        // The slice at the boundary goes to the side that leaves the smaller imbalance.
        let end = if at[k] - before[k] <= after[k] - at[k] { index } else { index + 1 };
        cuts.push(end.max(cuts[k]));
    }
    cuts.push(len);
    Ok(cuts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(indices: &[&[u32]], dims: &[usize], ranks: usize) -> TensorGrid {
        let entries = indices.first().map_or(0, |list| list.len());
        TensorGrid::new(dims, ranks, entries, |mode| sorted(indices[mode]), Ok).unwrap()
    }

    #[test]
    fn grids_take_every_rank() {
        for (ranks, dims, parts) in
            [(1, vec![5, 5], vec![1, 1]), (6, vec![100, 10, 10], vec![6, 1, 1]), (12, vec![4, 4, 4], vec![3, 2, 2])]
        {
            assert_eq!(of(&[], &dims, ranks).parts, parts);
        }
        assert_eq!(prime_factors(360), [5, 3, 3, 2, 2, 2]);
        assert_eq!((prime_factors(1), prime_factors(7)), (vec![], vec![7]));
    }

    #[test]
    fn every_row_and_every_index_has_one_owner() {
        let dims = [7, 3, 11];
        let indices: Vec<Vec<u32>> =
            dims.iter().map(|&n| (0..200u32).map(|e| e * e * 31 / (n as u32 + 2) % n as u32).collect()).collect();
        let lists: Vec<&[u32]> = indices.iter().map(Vec::as_slice).collect();
        for ranks in 1..=12 {
            let grid = of(&lists, &dims, ranks);
            for (mode, &n) in dims.iter().enumerate() {
                let mut owned = vec![0; n];
                (0..ranks).flat_map(|rank| grid.owned(mode, rank)).for_each(|i| owned[i] += 1);
                assert!(owned.iter().all(|&x| x == 1), "{ranks} ranks, mode {mode}: {owned:?}");
            }
            for e in 0..200 {
                let index: Vec<usize> = lists.iter().map(|list| list[e] as usize).collect();
                let has = |rank: usize| index.iter().enumerate().all(|(m, i)| grid.layer(m, rank).contains(i));
                let ranks: Vec<usize> = (0..ranks).filter(|&rank| has(rank)).collect();
                assert_eq!(ranks, [grid.owner(index.iter().copied())]);
            }
        }
    }

    #[test]
    fn modes_are_cut_by_their_entries() {
        let cuts = |indices: &[u32], len, parts| of(&[indices], &[len], parts).cuts[0].clone();
        assert_eq!(cuts(&[0, 0, 0, 0, 1, 2, 3, 4], 6, 2), [0, 1, 6]);
        assert_eq!(cuts(&[], 6, 3), [0, 2, 4, 6]);
        assert_eq!(cuts(&[5; 4], 6, 3), [0, 5, 5, 6]);
        assert_eq!(cuts(&[0; 4], 1, 3), [0, 0, 0, 1]);
    }
}
