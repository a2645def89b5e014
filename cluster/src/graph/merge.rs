//! Accumulation of partial sums from several ranks, per vertex of a piece.

use std::ops::Range;

use sparring::Result;

use crate::wire::{broken, reserved, zeros};

/// The processing order of a rank's vertices: grouped by number of partial sums, so that inner loops have fixed length
/// and predictable branches; within a group by the position of the first partial sum.
pub(super) struct Merge {
    /// Local indices of the piece, in processing order.
    pub(super) order: Vec<u32>,
    groups: Vec<Group>,
    /// Positions of each vertex's partial sums among those received, in rank order.
    sums: Vec<u32>,
}

/// The vertices with `each` partial sums.
struct Group {
    vertices: Range<usize>,
    each: usize,
    /// Start of their positions in `sums`.
    at: usize,
}

impl Merge {
    /// For a piece of length `len`, and the local index of each partial sum received. Also returns the number of each
    /// local index in the order.
    pub(super) fn new(len: usize, indices: &[u32]) -> Result<(Self, Vec<u32>)> {
        const NONE: u32 = u32::MAX;
        let mut each: Vec<u32> = zeros(len)?;
        for &index in indices {
            *each.get_mut(index as usize).ok_or_else(broken)? += 1;
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
        let mut numbered = |index: usize, number: &mut u32| {
            let next = &mut next[each[index] as usize];
            *number = *next as u32;
            order[*next] = index as u32;
            *next += 1;
        };
        for (sum, &index) in indices.iter().enumerate() {
            let index = index as usize;
            if number[index] == NONE {
                numbered(index, &mut number[index]);
            }
            let group = &groups[most - each[index] as usize];
            let vertex = number[index] as usize - group.vertices.start;
            sums[group.at + vertex * group.each + seen[index] as usize] = sum as u32;
            seen[index] += 1;
        }
        for index in (0..len).filter(|&index| each[index] == 0) {
            numbered(index, &mut number[index]);
        }
        Ok((Self { order, groups, sums }, number))
    }
    /// Calls `each(v, Σ)` for the vertices of a range, in order.
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
        let indices = [4, 1, 1, 7, 4, 0, 4, 9];
        let (merge, number) = Merge::new(11, &indices).unwrap();
        let got: Vec<f64> = (0..indices.len()).map(|k| f64::from(1 << k)).collect();
        for step in [1, 3, 11] {
            let mut found = vec![];
            for first in (0..11).step_by(step) {
                merge.for_each(first..(first + step).min(11), &got, |v, sum| found.push((v, sum)));
            }
            found.sort_by_key(|x| x.0);
            assert_eq!(found.len(), 11);
            for (v, sum) in found {
                let index = merge.order[v];
                assert_eq!(number[index as usize] as usize, v);
                let want: f64 = indices.iter().zip(&got).filter(|(p, _)| **p == index).map(|(_, x)| x).sum();
                assert_eq!(sum, want, "index {index}");
            }
        }
        assert_eq!(merge.order, [4, 1, 7, 0, 9, 2, 3, 5, 6, 8, 10]);
        assert!(Merge::new(3, &[3]).is_err());
    }
}
