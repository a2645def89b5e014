//! Parts of vectors to the ranks that hold them, folded there in the order of the grid.

use std::ops::Range;
use std::sync::Arc;

use sparring::Result;
use sparring::runtime::{BinaryOp, Vector};

use crate::cluster::Shared;
use crate::link::Link;
use crate::wire::{Entries, here, joined};

/// Along which line of the grid a vector lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The part of a dimension that a row of the grid has.
    Row,
    /// The part that a column has.
    Column,
}

impl Shared {
    /// The ranks that have parts of the line in which this rank is: those of its row, or of its column.
    fn line(&self, line: Line) -> &Arc<dyn Link> {
        match line {
            Line::Row => &self.row,
            Line::Column => &self.col,
        }
    }
    /// The part of a dimension of `n` that the line has.
    pub(crate) fn span(&self, line: Line, n: usize) -> Range<usize> {
        let (i, j) = self.grid.at();
        match line {
            Line::Row => self.grid.rows(n, i),
            Line::Column => self.grid.cols(n, j),
        }
    }
    /// The pieces of a vector of `n` that the ranks of the line hold, counted from the start of the line's part.
    fn pieces(&self, line: Line, n: usize) -> Vec<Range<usize>> {
        let ((i, j), (rows, cols)) = (self.grid.at(), self.grid.shape());
        let start = self.span(line, n).start;
        let places: Vec<_> = match line {
            Line::Row => (0..cols).map(|j| (i, j)).collect(),
            Line::Column => (0..rows).map(|i| (i, j)).collect(),
        };
        let shifted = |piece: Range<usize>| match piece.is_empty() {
            true => 0..0,
            false => piece.start - start..piece.end - start,
        };
        places.into_iter().map(|at| shifted(self.grid.piece_of(n, at))).collect()
    }
    /// Of a vector of `n` places that lies in pieces, the part of this rank's line.
    pub(crate) fn gathered(&self, line: Line, n: usize, piece: &Vector) -> Result<Vector> {
        if self.world.size() == 1 {
            return Ok(piece.clone());
        }
        let entries = Entries::of(piece)?;
        let all = self.line(line).all_gather(entries.part(0..piece.len())?)?;
        let starts = self.pieces(line, n).into_iter().map(|range| range.start);
        let parts: Vec<(usize, &[u8])> = starts.zip(all.iter().map(Vec::as_slice)).collect();
        here(&self.inner, joined(entries.ty, self.span(line, n).len(), &parts)?)
    }
    /// Of the vectors that the ranks of the line have for its part of `n` places, the piece of this rank: where several
    /// have an entry, all of them joined by ⊕ in the order of the line.
    pub(crate) fn folded(&self, line: Line, n: usize, add: &BinaryOp, part: &Vector) -> Result<Vector> {
        let link = self.line(line);
        if link.size() == 1 && self.world.size() == 1 {
            return Ok(part.clone());
        }
        let entries = Entries::of(part)?;
        let pieces = self.pieces(line, n);
        let to = pieces.iter().map(|range| entries.part(range.clone())).collect::<Result<Vec<_>>>()?;
        let from = link.exchange(to)?;
        let len = self.grid.piece(n).len();
        let mut sum: Option<Vector> = None;
        for bytes in &from {
            let next = here(&self.inner, joined(entries.ty, len, &[(0, bytes)])?)?;
            sum = Some(match sum {
                None => next,
                Some(sum) => self.inner.ewise_add(add, &sum, &next)?,
            });
        }
        sum.map_or_else(|| Vector::empty(entries.ty, len), Ok)
    }
}
