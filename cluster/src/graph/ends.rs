//! The rows and columns of a block that have entries, and the ranks that hold these places of vectors.

use std::ops::Range;

use sparring::{Pattern, Result};

use crate::cluster::Shared;
use crate::fold::Line;
use crate::link::Parts;
use crate::wire::{buffer, put_indices, reserved, zeros};

/// Degrees below this are told apart when targets are put in order, larger ones by their logarithm.
const SMALL: usize = 64;
/// Classes of degrees.
const CLASSES: usize = SMALL + 27;

/// The rows, or the columns, of a block that have entries: numbered by the rank that holds them, and on each by their
/// degree, the largest first, or by their places.
pub(super) struct Numbers {
    /// By place in the block; of any value where there are no entries.
    pub(super) number: Vec<u32>,
    /// By number: place in what the holder has.
    pub(super) places: Vec<u32>,
    /// How many each rank holds.
    pub(super) counts: Vec<usize>,
}

impl Numbers {
    /// By degrees, and for each rank the part of the block that it holds and the place there of its first.
    fn new(degrees: &[u32], parts: &[(Range<usize>, usize)], by_degree: bool) -> Result<Self> {
        let class = |degree: u32| {
            let degree = degree as usize;
            let of = if degree < SMALL { degree } else { SMALL - 6 + degree.ilog2() as usize };
            if by_degree { CLASSES - 1 - of } else { 0 }
        };
        let mut made = Self {
            number: zeros(degrees.len())?,
            places: zeros(degrees.iter().filter(|d| **d > 0).count())?,
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
                made.places[*at as usize] = (start + k) as u32;
                *at += 1;
            }
            made.counts.push((next[CLASSES] - first) as usize);
            first = next[CLASSES];
        }
        Ok(made)
    }
    /// Messages to the holders: the places, and of each the word that goes with it.
    pub(super) fn messages(&self, word: Option<&[u32]>) -> Result<Parts> {
        let size = if word.is_some() { 8 } else { 4 };
        let mut made =
            Parts { bytes: buffer(size * self.places.len())?, lengths: reserved(self.counts.len(), "ranks")? };
        let mut first = 0;
        for &count in &self.counts {
            put_indices(&mut made.bytes, self.places[first..first + count].iter().copied());
            if let Some(word) = word {
                put_indices(&mut made.bytes, word[first..first + count].iter().copied());
            }
            made.lengths.push(size * count);
            first += count;
        }
        Ok(made)
    }
    /// Of something for each place of the block, that of each number.
    pub(super) fn by_number(&self, of_places: &[u32], degrees: &[u32]) -> Result<Vec<u32>> {
        let mut made = zeros(self.places.len())?;
        for ((&number, &x), _) in self.number.iter().zip(of_places).zip(degrees).filter(|(_, d)| **d > 0) {
            made[number as usize] = x;
        }
        Ok(made)
    }
}

/// Both ends of the edges of a block.
pub(super) struct Ends {
    /// Entries of each row and column.
    pub(super) row_degrees: Vec<u32>,
    pub(super) col_degrees: Vec<u32>,
    /// Rows are held by ranks of the row of the grid, columns by ranks of the world.
    pub(super) rows: Numbers,
    pub(super) cols: Numbers,
}

impl Ends {
    /// Of the block of this rank, of an n×n pattern.
    pub(super) fn new(shared: &Shared, n: usize, block: &Pattern, by_degree: bool) -> Result<Self> {
        let ((rows, cols), grid) = (shared.grid.block((n, n)), shared.grid);
        let mut row_degrees = reserved(rows.len(), "degrees")?;
        row_degrees.extend(block.row_ptr().windows(2).map(|w| (w[1] - w[0]) as u32));
        let mut col_degrees: Vec<u32> = zeros(cols.len())?;
        block.col_idx().iter().for_each(|&j| col_degrees[j as usize] += 1);
        let of_row: Vec<_> = shared.parts(Line::Row, n).into_iter().map(|part| (part, 0)).collect();
        let of_world = grid.all().map(|at| {
            let held = grid.piece_of(n, at);
            let (first, end) = (held.start.max(cols.start), held.end.min(cols.end));
            if first < end { (first - cols.start..end - cols.start, first - held.start) } else { (0..0, 0) }
        });
        Ok(Self {
            rows: Numbers::new(&row_degrees, &of_row, by_degree)?,
            cols: Numbers::new(&col_degrees, &of_world.collect::<Vec<_>>(), by_degree)?,
            row_degrees,
            col_degrees,
        })
    }
}
