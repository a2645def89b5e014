//! Which rank has which block of a tensor, and which rows of its factors.
//!
//! Source: Smith and Karypis 2016, "A medium-grained algorithm for sparse tensor factorization".

use std::ops::Range;

use sparring::{Index, Result};

use crate::grid::cut;
use crate::wire::reserved;

/// A grid of ranks with a dimension for each mode of a tensor, and where it cuts the modes.
#[derive(Debug)]
pub(crate) struct Deal {
    /// Parts of each mode; their product is the number of ranks.
    pub(crate) parts: Vec<usize>,
    /// Where the parts of each mode begin, and its end.
    cuts: Vec<Vec<usize>>,
}

impl Deal {
    /// The grid for a tensor of `entries`: `sorted` gives the indices of a mode that are here, `sum` adds numbers to
    /// those of other ranks, where these have other entries.
    pub(crate) fn new(
        dims: &[usize],
        ranks: usize,
        entries: usize,
        sorted: impl Fn(usize) -> Result<Vec<usize>>,
        sum: impl Fn(Vec<usize>) -> Result<Vec<usize>>,
    ) -> Result<Self> {
        let mut parts = vec![1; dims.len()];
        for factor in prime_factors(ranks) {
            // The mode whose parts are longest, the first of these.
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
    /// Ranks of which the next in the mode is so many farther.
    fn stride(&self, mode: usize) -> usize {
        self.parts[mode + 1..].iter().product()
    }
    pub(crate) fn part(&self, mode: usize, rank: usize) -> usize {
        rank / self.stride(mode) % self.parts[mode]
    }
    /// The size of a mode.
    pub(crate) fn len(&self, mode: usize) -> usize {
        self.cuts[mode].last().copied().unwrap_or(0)
    }
    /// The indices of the mode that the block of a rank has.
    pub(crate) fn layer(&self, mode: usize, rank: usize) -> Range<usize> {
        let part = self.part(mode, rank);
        self.cuts[mode][part]..self.cuts[mode][part + 1]
    }
    /// Of these, those whose rows of the factor the rank holds.
    pub(crate) fn held(&self, mode: usize, rank: usize) -> Range<usize> {
        let (layer, stride) = (self.layer(mode, rank), self.stride(mode));
        let all = self.parts.iter().product::<usize>() / self.parts[mode];
        // Its number in the layer, whose ranks are in order.
        let number = rank / (stride * self.parts[mode]) * stride + rank % stride;
        layer.start + cut(layer.len(), all, number)..layer.start + cut(layer.len(), all, number + 1)
    }
    /// The rank whose block has a place.
    pub(crate) fn holder(&self, place: impl Iterator<Item = usize>) -> usize {
        place.enumerate().map(|(mode, i)| (self.cuts[mode].partition_point(|&c| c <= i) - 1) * self.stride(mode)).sum()
    }
}

/// The largest first.
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

/// The indices of a mode in their order.
pub(crate) fn sorted<I: Index>(indices: &[I]) -> Result<Vec<usize>> {
    let mut sorted = reserved(indices.len(), "indices of a mode")?;
    sorted.extend(indices.iter().map(|i| i.get()));
    sorted.sort_unstable();
    Ok(sorted)
}

/// Where parts of a mode of `len` begin, so that each has about as many of its entries, of which there are some;
/// `below` counts entries whose index is below each of some.
fn cuts(
    len: usize,
    parts: usize,
    entries: usize,
    below: impl Fn(&[usize]) -> Result<Vec<usize>>,
) -> Result<Vec<usize>> {
    let at: Vec<usize> = (1..parts).map(|part| cut(entries, parts, part)).collect();
    // The index in whose entries each part would end: the largest with no more entries before.
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
        // It goes where more of its entries would be.
        let end = if at[k] - before[k] <= after[k] - at[k] { index } else { index + 1 };
        cuts.push(end.max(cuts[k]));
    }
    cuts.push(len);
    Ok(cuts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(indices: &[&[u32]], dims: &[usize], ranks: usize) -> Deal {
        let entries = indices.first().map_or(0, |list| list.len());
        Deal::new(dims, ranks, entries, |mode| sorted(indices[mode]), Ok).unwrap()
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
    fn every_row_is_held_once_and_every_place_by_one_rank() {
        let dims = [7, 3, 11];
        let indices: Vec<Vec<u32>> =
            dims.iter().map(|&n| (0..200u32).map(|e| e * e * 31 / (n as u32 + 2) % n as u32).collect()).collect();
        let lists: Vec<&[u32]> = indices.iter().map(Vec::as_slice).collect();
        for ranks in 1..=12 {
            let deal = of(&lists, &dims, ranks);
            for (mode, &n) in dims.iter().enumerate() {
                let mut held = vec![0; n];
                (0..ranks).flat_map(|rank| deal.held(mode, rank)).for_each(|i| held[i] += 1);
                assert!(held.iter().all(|&x| x == 1), "{ranks} ranks, mode {mode}: {held:?}");
            }
            for e in 0..200 {
                let place: Vec<usize> = lists.iter().map(|list| list[e] as usize).collect();
                let has = |rank: usize| place.iter().enumerate().all(|(m, i)| deal.layer(m, rank).contains(i));
                let ranks: Vec<usize> = (0..ranks).filter(|&rank| has(rank)).collect();
                assert_eq!(ranks, [deal.holder(place.iter().copied())]);
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
