//! The non-empty rows and columns of a block, and the ranks that own the corresponding vector elements.

use std::ops::Range;

use sparring::{Pattern, Result};

use crate::cluster::Shared;
use crate::fold::Line;
use crate::link::Parts;
use crate::wire::{buffer, put_indices, reserved, row_lengths, zeros};

/// Degrees below this have a class of their own when targets are sorted by degree; larger ones are classed by
/// logarithm.
const SMALL: usize = 64;
/// Number of degree classes.
const CLASSES: usize = SMALL + 27;

/// A numbering of the non-empty rows, or columns, of a block: by owner, then by decreasing degree or by index.
pub(super) struct Numbers {
    /// Number by local index in the block; arbitrary if the row or column is empty.
    pub(super) number: Vec<u32>,
    /// By number: local index on the owner.
    pub(super) indices: Vec<u32>,
    /// How many each rank owns.
    pub(super) counts: Vec<usize>,
}

impl Numbers {
    /// From degrees, and for each rank the range of the block that it owns with the local index there of its first
    /// element.
    fn new(degrees: &[u32], parts: &[(Range<usize>, usize)], by_degree: bool) -> Result<Self> {
        let class = |degree: u32| {
            let degree = degree as usize;
            let of = if degree < SMALL { degree } else { SMALL - 6 + degree.ilog2() as usize };
            if by_degree { CLASSES - 1 - of } else { 0 }
        };
        let mut made = Self {
            number: zeros(degrees.len())?,
            indices: zeros(degrees.iter().filter(|d| **d > 0).count())?,
            counts: reserved(parts.len(), "ranks")?,
        };
        let mut first = 0;
        for (part, start) in parts {
            let mut next = [0u32; CLASSES + 1];
            let of = &degrees[part.clone()];
            of.iter().filter(|d| **d > 0).for_each(|&d| next[class(d) + 1] += 1);
            next[0] = first;
            (0..CLASSES).for_each(|k| next[k + 1] += next[k]);
            for (k, &degree) in of.iter().enumerate().filter(|(_, d)| **d > 0) {
                let at = &mut next[class(degree)];
                made.number[part.start + k] = *at;
                made.indices[*at as usize] = (start + k) as u32;
                *at += 1;
            }
            made.counts.push((next[CLASSES] - first) as usize);
            first = next[CLASSES];
        }
        Ok(made)
    }
    /// Messages to the owners: local indices, and an optional word for each.
    pub(super) fn messages(&self, word: Option<&[u32]>) -> Result<Parts> {
        let size = if word.is_some() { 8 } else { 4 };
        let mut made =
            Parts { bytes: buffer(size * self.indices.len())?, lengths: reserved(self.counts.len(), "ranks")? };
        let mut first = 0;
        for &count in &self.counts {
            put_indices(&mut made.bytes, self.indices[first..first + count].iter().copied());
            if let Some(word) = word {
                put_indices(&mut made.bytes, word[first..first + count].iter().copied());
            }
            made.lengths.push(size * count);
            first += count;
        }
        Ok(made)
    }
    /// Permutes values per row or column of the block into values per number.
    pub(super) fn by_number(&self, of_places: &[u32], degrees: &[u32]) -> Result<Vec<u32>> {
        let mut made = zeros(self.indices.len())?;
        for ((&number, &x), _) in self.number.iter().zip(of_places).zip(degrees).filter(|(_, d)| **d > 0) {
            made[number as usize] = x;
        }
        Ok(made)
    }
}

/// The endpoints of the edges of a block.
pub(super) struct Ends {
    /// Number of entries of each row and column.
    pub(super) row_degrees: Vec<u32>,
    pub(super) col_degrees: Vec<u32>,
    /// Rows are owned by ranks of the same grid row, columns by ranks of the world.
    pub(super) rows: Numbers,
    pub(super) cols: Numbers,
}

impl Ends {
    /// For this rank's block of an n×n pattern.
    pub(super) fn new(shared: &Shared, n: usize, block: &Pattern, by_degree: bool) -> Result<Self> {
        let (cols, grid) = (shared.grid.block((n, n)).1, shared.grid);
        let row_degrees = row_lengths(block)?;
        let mut col_degrees: Vec<u32> = zeros(cols.len())?;
        block.col_idx().iter().for_each(|&j| col_degrees[j as usize] += 1);
        let of_row: Vec<_> = shared.parts(Line::Row, n).into_iter().map(|part| (part, 0)).collect();
        let of_world = grid.all().map(|at| {
            let owned = grid.piece_of(n, at);
            let (first, end) = (owned.start.max(cols.start), owned.end.min(cols.end));
            if first < end { (first - cols.start..end - cols.start, first - owned.start) } else { (0..0, 0) }
        });
        Ok(Self {
            rows: Numbers::new(&row_degrees, &of_row, by_degree)?,
            cols: Numbers::new(&col_degrees, &of_world.collect::<Vec<_>>(), by_degree)?,
            row_degrees,
            col_degrees,
        })
    }
}
