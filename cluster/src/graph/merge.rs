//! Sums that come from many ranks, added for each vertex that a rank holds.

use std::ops::Range;

use sparring::Result;

use crate::wire::zeros;
use crate::wire::{broken, reserved};

/// The order in which a rank computes with its vertices: those of as many sums beside each other, so that no branch of
/// the loop over them is a guess, and among these by the first of their sums.
pub(super) struct Merge {
    /// Places of the piece.
    pub(super) order: Vec<u32>,
    groups: Vec<Group>,
    /// Of each vertex its sums among those that come, in the order of ranks.
    sums: Vec<u32>,
}

/// Vertices of `each` sums.
struct Group {
    vertices: Range<usize>,
    each: usize,
    /// Where their sums begin.
    at: usize,
}

impl Merge {
    /// For a piece of so many places, and the place of each sum that comes; and the number of each place in the order.
    pub(super) fn new(len: usize, places: &[u32]) -> Result<(Self, Vec<u32>)> {
        const NONE: u32 = u32::MAX;
        let mut each: Vec<u32> = zeros(len)?;
        for &place in places {
            *each.get_mut(place as usize).ok_or_else(broken)? += 1;
        }
        let most = each.iter().copied().max().unwrap_or(0) as usize;
        let mut counts: Vec<usize> = zeros(most + 1)?;
        each.iter().for_each(|&n| counts[n as usize] += 1);
        let (mut groups, mut next) = (reserved(most + 1, "groups of vertices")?, zeros(most + 1)?);
        let (mut first, mut at) = (0, 0);
        for n in (0..=most).rev() {
            next[n] = first;
            groups.push(Group { vertices: first..first + counts[n], each: n, at });
            (first, at) = (first + counts[n], at + n * counts[n]);
        }
        let (mut order, mut number): (Vec<u32>, Vec<u32>) = (zeros(len)?, zeros(len)?);
        let (mut seen, mut sums): (Vec<u32>, Vec<u32>) = (zeros(len)?, zeros(at)?);
        number.fill(NONE);
        let mut numbered = |place: usize, number: &mut u32| {
            let next = &mut next[each[place] as usize];
            *number = *next as u32;
            order[*next] = place as u32;
            *next += 1;
        };
        for (sum, &place) in places.iter().enumerate() {
            let place = place as usize;
            if number[place] == NONE {
                numbered(place, &mut number[place]);
            }
            let group = &groups[most - each[place] as usize];
            let vertex = number[place] as usize - group.vertices.start;
            sums[group.at + vertex * group.each + seen[place] as usize] = sum as u32;
            seen[place] += 1;
        }
        for place in (0..len).filter(|&place| each[place] == 0) {
            numbered(place, &mut number[place]);
        }
        Ok((Self { order, groups, sums }, number))
    }
    /// `each(v, Σ)` for the vertices of a range, in their order.
    #[inline(always)]
    pub(super) fn for_each(&self, range: Range<usize>, got: &[f64], mut each: impl FnMut(usize, f64)) {
        for group in &self.groups {
            let (first, end) = (group.vertices.start.max(range.start), group.vertices.end.min(range.end));
            if first >= end {
                continue;
            }
            let at = group.at + (first - group.vertices.start) * group.each;
            let sums = &self.sums[at..at + (end - first) * group.each];
            match group.each {
                0 => (first..end).for_each(|v| each(v, 0.0)),
                1 => (first..end).zip(sums).for_each(|(v, &k)| each(v, got[k as usize])),
                n => (first..end).zip(sums.chunks_exact(n)).for_each(|(v, sums)| {
                    each(v, sums.iter().fold(0.0, |sum, &k| sum + got[k as usize]));
                }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_gets_its_sums() {
        let places = [4, 1, 1, 7, 4, 0, 4, 9];
        let (merge, number) = Merge::new(11, &places).unwrap();
        let got: Vec<f64> = (0..places.len()).map(|k| f64::from(1 << k)).collect();
        for step in [1, 3, 11] {
            let mut found = vec![];
            for first in (0..11).step_by(step) {
                merge.for_each(first..(first + step).min(11), &got, |v, sum| found.push((v, sum)));
            }
            found.sort_by_key(|x| x.0);
            assert_eq!(found.len(), 11);
            for (v, sum) in found {
                let place = merge.order[v];
                assert_eq!(number[place as usize] as usize, v);
                let want: f64 = places.iter().zip(&got).filter(|(p, _)| **p == place).map(|(_, x)| x).sum();
                assert_eq!(sum, want, "place {place}");
            }
        }
        assert_eq!(merge.order, [4, 1, 7, 0, 9, 2, 3, 5, 6, 8, 10]);
        assert!(Merge::new(3, &[3]).is_err());
    }
}
