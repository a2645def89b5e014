//! Redistribution of vectors, and folds of partial results on their owners in grid order.

use std::ops::Range;
use std::sync::Arc;

use sparring::Result;
use sparring::algebra::Type;
use sparring::runtime::{BinaryOp, IndexList, Machine, Op, Vector};

use crate::cluster::Shared;
use crate::link::Link;
use crate::wire::{Entries, here, joined};

/// A line of the grid, along which a part of a vector is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A grid row, with the rows of its blocks.
    Row,
    /// A grid column, with the columns of its blocks.
    Column,
}

impl Shared {
    /// The group of this rank's grid row or grid column.
    pub(crate) fn line(&self, line: Line) -> &Arc<dyn Link> {
        match line {
            Line::Row => &self.row,
            Line::Column => &self.col,
        }
    }
    /// The range of a dimension of `n` that belongs to the line.
    pub(crate) fn span(&self, line: Line, n: usize) -> Range<usize> {
        let (i, j) = self.grid.at();
        match line {
            Line::Row => self.grid.rows(n, i),
            Line::Column => self.grid.cols(n, j),
        }
    }
    /// How the span of the line is split over its ranks for gathers and folds, relative to the start of the span.
    ///
    /// Along a grid row, these are the pieces that its ranks own.
    pub(crate) fn parts(&self, line: Line, n: usize) -> Vec<Range<usize>> {
        let ((i, j), (rows, cols)) = (self.grid.at(), self.grid.shape());
        let start = self.span(line, n).start;
        let parts: Vec<_> = match line {
            Line::Row => (0..cols).map(|j| self.grid.piece_of(n, (i, j))).collect(),
            Line::Column => (0..rows).map(|i| self.grid.column_piece_of(n, (i, j))).collect(),
        };
        parts.into_iter().map(|part| part.start - start..part.end - start).collect()
    }
    /// Redistributes a vector from the ranges `from` of all ranks to the ranges `to`.
    fn redistributed(
        &self,
        x: Result<Vector>,
        from: impl Fn((usize, usize)) -> Range<usize>,
        to: impl Fn((usize, usize)) -> Range<usize>,
    ) -> Result<Vector> {
        let (mine, next) = (from(self.grid.at()), to(self.grid.at()));
        let both = |a: &Range<usize>, b: &Range<usize>| {
            let start = a.start.max(b.start);
            start..a.end.min(b.end).max(start)
        };
        let counted = |range: Range<usize>, start: usize| match range.is_empty() {
            true => 0..0,
            false => range.start - start..range.end - start,
        };
        let ranges: Vec<_> = self.grid.all().map(|at| counted(both(&mine, &to(at)), mine.start)).collect();
        #[cfg(all(feature = "cuda", feature = "mpi"))]
        if self.by_gpus() {
            let comes: Vec<_> = self.grid.all().map(|at| counted(both(&next, &from(at)), next.start)).collect();
            return self.redistributed_by_gpus(x, &ranges, &comes);
        }
        let sent = x.and_then(|x| {
            let entries = Entries::of(&x)?;
            let mut sent = entries.parts(&ranges)?;
            // Most pairs of ranks have no common range, and exchange no message.
            sent.retain(|k| !ranges[k].is_empty());
            Ok((entries.ty(), sent))
        });
        let (ty, got) = self.world.all_to_all(sent)?;
        let starts = self.grid.all().map(|at| counted(both(&next, &from(at)), next.start).start);
        let mut parts: Vec<_> = starts.zip(got.iter()).filter(|(_, bytes)| !bytes.is_empty()).collect();
        // Column parts are not contiguous in rank order.
        parts.sort_by_key(|part| part.0);
        joined(ty, next.len(), parts.into_iter())
    }
    /// Gathers the span of this rank's line, of a vector of length `n` distributed in pieces.
    pub(crate) fn gathered(&self, line: Line, n: usize, piece: &Vector) -> Result<Vector> {
        if self.world.size() == 1 {
            return Ok(piece.clone());
        }
        let grid = self.grid;
        let part = match line {
            Line::Row => Ok(piece.clone()),
            Line::Column => {
                self.redistributed(Ok(piece.clone()), |at| grid.piece_of(n, at), |at| grid.column_piece_of(n, at))
            }
        };
        #[cfg(all(feature = "cuda", feature = "mpi"))]
        if self.by_gpus() {
            return self.gathered_by_gpus(line, part);
        }
        let (ty, all) = self.line(line).gather(part.and_then(|part| entries_of(&part)))?;
        let starts = self.parts(line, n).into_iter().map(|range| range.start);
        let parts: Vec<_> = starts.zip(all.iter()).collect();
        here(&self.inner, joined(ty, self.span(line, n).len(), parts.into_iter())?)
    }
    /// Gathers all of a vector of length `n` distributed in pieces, in host memory.
    pub(crate) fn whole(&self, n: usize, piece: &Vector) -> Result<Vector> {
        let (ty, all) = self.world.gather(entries_of(piece))?;
        let starts = self.grid.all().map(|at| self.grid.piece_of(n, at).start);
        let parts: Vec<_> = starts.zip(all.iter()).collect();
        joined(ty, n, parts.into_iter())
    }
    /// The same on the device of this rank.
    pub(crate) fn gathered_whole(&self, n: usize, piece: &Vector) -> Result<Vector> {
        here(&self.inner, self.whole(n, piece)?)
    }
    /// This rank's piece of a vector of length `n`, out of the span of its grid row.
    pub(crate) fn own_piece(&self, n: usize, of_row: &Vector) -> Result<Vector> {
        let (start, piece) = (self.span(Line::Row, n).start, self.grid.piece(n));
        let range = IndexList::from(piece.start - start..piece.end - start);
        self.inner.call(Op::Extract(&range, &IndexList::all()), of_row).eval()
    }
    /// This rank's piece of a vector of length `n`, out of the span of its grid column.
    pub(crate) fn own_piece_of_column(&self, n: usize, of_column: Result<Vector>) -> Result<Vector> {
        let (grid, start) = (self.grid, self.span(Line::Column, n).start);
        let part = grid.column_piece_of(n, grid.at());
        let range = IndexList::from(part.start - start..part.end - start);
        let part = of_column.and_then(|x| self.inner.call(Op::Extract(&range, &IndexList::all()), &x).eval());
        here(&self.inner, self.redistributed(part, |at| grid.column_piece_of(n, at), |at| grid.piece_of(n, at))?)
    }
    /// Reduce-scatter: this rank's piece of the ⊕-sum of the vectors that the ranks of the line have for its span,
    /// folded in the order of the line.
    ///
    /// Collective; a rank that has an error instead of a vector must also call it.
    pub(crate) fn fold(&self, line: Line, n: usize, add: &BinaryOp, part: Result<Vector>) -> Result<Vector> {
        if self.world.size() == 1 {
            return part;
        }
        let (ranges, grid) = (self.parts(line, n), self.grid);
        #[cfg(all(feature = "cuda", feature = "mpi"))]
        let sum = if self.by_gpus() {
            self.folded_by_gpus(line, add, part, &ranges)
        } else {
            self.folded_by_host(line, add, part, &ranges)
        };
        #[cfg(not(all(feature = "cuda", feature = "mpi")))]
        let sum = self.folded_by_host(line, add, part, &ranges);
        match line {
            Line::Row => sum,
            Line::Column => {
                let piece = self.redistributed(sum, |at| grid.column_piece_of(n, at), |at| grid.piece_of(n, at))?;
                here(&self.inner, piece)
            }
        }
    }
    /// The ⊕-sum of the line's vectors over this rank's part, in the order of the line.
    fn folded_by_host(
        &self,
        line: Line,
        add: &BinaryOp,
        part: Result<Vector>,
        ranges: &[Range<usize>],
    ) -> Result<Vector> {
        let len = ranges[self.line(line).rank()].len();
        let sent = part.and_then(|part| {
            let entries = Entries::of(&part)?;
            Ok((entries.ty(), entries.parts(ranges)?))
        });
        self.line(line).all_to_all(sent).and_then(|(ty, got)| {
            let parts = got.iter().map(|bytes| here(&self.inner, joined(ty, len, [(0, bytes)].into_iter())?));
            let sum = added(&self.inner, add, parts)?;
            sum.map_or_else(|| Vector::empty(ty, len), Ok)
        })
    }
}

/// The ⊕-sum of vectors, in their order.
pub(crate) fn added(
    machine: &Machine,
    add: &BinaryOp,
    mut parts: impl Iterator<Item = Result<Vector>>,
) -> Result<Option<Vector>> {
    let Some(first) = parts.next() else { return Ok(None) };
    parts.try_fold(first?, |sum, next| machine.ewise_add(add, &sum, &next?)).map(Some)
}

/// Type and serialized entries of a vector.
fn entries_of(x: &Vector) -> Result<(Type, Vec<u8>)> {
    let entries = Entries::of(x)?;
    Ok((entries.ty(), entries.all()?))
}
