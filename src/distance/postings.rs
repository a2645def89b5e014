//! Rows indexed by column: each column lists the rows that have it.

use std::ops::Range;

use crate::par::filled;
use crate::{Error, Pattern, Result};

/// The transpose of a block of rows: for each column the rows that have it, relative to the first, with a payload for
/// each entry.
pub(crate) struct Postings<E> {
    starts: Vec<u32>,
    positions: Vec<u16>,
    entries: Vec<E>,
    /// For each entry, in row order, the number of earlier rows that have its column; empty unless requested.
    before: Vec<u16>,
}

impl<E: Copy> Postings<E> {
    /// The transpose of at most 65,536 rows, by a stable counting sort; `entry` gives the payload of an entry. With
    /// `ordered`, the position of every entry in its column is stored.
    /// # Errors
    /// [`Error::IndexOverflow`] for more than 2³² entries; [`Error::OutOfMemory`].
    pub(crate) fn new(
        pattern: &Pattern<u32>,
        rows: Range<usize>,
        ordered: bool,
        zero: E,
        entry: impl Fn(usize) -> E,
    ) -> Result<Self> {
        let row_ptr = pattern.row_ptr();
        let range = row_ptr[rows.start]..row_ptr[rows.end];
        if range.len() > u32::MAX as usize {
            let (needed, max) = (range.len() as u128, u128::from(u32::MAX));
            return Err(Error::IndexOverflow { what: "entries of a tile of rows", needed, max });
        }
        let mut starts = filled(pattern.ncols() + 1, 0u32, "starts of postings")?;
        for &c in &pattern.col_idx()[range.clone()] {
            starts[c as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            let here = *start;
            *start = sum;
            sum += here;
        }
        let mut positions = filled(range.len(), 0u16, "postings")?;
        let mut entries = filled(range.len(), zero, "postings")?;
        for i in rows.clone() {
            for at in row_ptr[i]..row_ptr[i + 1] {
                let next = &mut starts[pattern.col_idx()[at] as usize];
                positions[*next as usize] = (i - rows.start) as u16;
                entries[*next as usize] = entry(at);
                *next += 1;
            }
        }
        // Each start has advanced to that of the next column.
        starts.rotate_right(1);
        starts[0] = 0;
        let mut before = filled(if ordered { range.len() } else { 0 }, 0u16, "postings")?;
        if ordered {
            let mut seen = filled(pattern.ncols(), 0u16, "postings")?;
            for (before, &c) in before.iter_mut().zip(&pattern.col_idx()[range]) {
                *before = seen[c as usize];
                seen[c as usize] += 1;
            }
        }
        Ok(Self { starts, positions, entries, before })
    }
    /// The payloads of all entries, column after column.
    pub(crate) fn entries(&self) -> &[E] {
        &self.entries
    }
    /// The range of column `c`: up to the row of entry `up_to`, counted from the block's first entry, or whole.
    #[inline(always)]
    pub(crate) fn range(&self, c: u32, up_to: Option<usize>) -> Range<usize> {
        let start = self.starts[c as usize] as usize;
        match up_to {
            Some(at) => start..start + usize::from(self.before[at]) + 1,
            None => start..self.starts[c as usize + 1] as usize,
        }
    }
    /// The rows of a range, and their payloads.
    #[inline(always)]
    pub(crate) fn at(&self, range: Range<usize>) -> (&[u16], &[E]) {
        (&self.positions[range.clone()], &self.entries[range])
    }
    /// Number of rows that have each column.
    pub(crate) fn counts(&self) -> impl Iterator<Item = usize> {
        self.starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize)
    }
}
