//! Extract, assign and transpose between GPUs: blocks are split on the sending GPU, sent by NCCL, and concatenated on
//! the receiving GPU.

use std::ops::Range;

use sparring::Result;
use sparring::runtime::{IndexList, Matrix, Op, Vector};

use crate::cluster::Shared;
use crate::grid::Grid;
use crate::wire::broken;

/// Redistribution of indices along one dimension.
pub(crate) struct Cut {
    /// For each part of the result, the local indices of the operand that are sent there, in list order.
    to: Vec<IndexList>,
    /// Number of indices received from each part of the operand.
    from: Vec<usize>,
    /// Local positions of the received indices in the result; `None` if they fill it in order.
    positions: Option<Vec<usize>>,
}

/// The parts of a dimension, and the number of this rank's part.
pub(crate) struct Ranges {
    pub(crate) all: Vec<Range<usize>>,
    pub(crate) mine: usize,
}

impl Ranges {
    /// The part that contains an index.
    fn of(&self, index: usize) -> usize {
        self.all.partition_point(|part| part.end <= index)
    }
    fn start(&self) -> usize {
        self.all[self.mine].start
    }
    fn len(&self) -> usize {
        self.all[self.mine].len()
    }
}

impl Cut {
    /// For a contiguous range: operand indices `from` map to result indices starting at `to`.
    pub(crate) fn of_range(operand: &Ranges, result: &Ranges, from: Range<usize>, to: usize) -> Self {
        // Maps a range of the result to operand indices.
        let back = |part: &Range<usize>| {
            let end = to + from.len();
            part.start.clamp(to, end) - to + from.start..part.end.clamp(to, end) - to + from.start
        };
        let both = |a: &Range<usize>, b: &Range<usize>| {
            let start = a.start.max(b.start);
            start..a.end.min(b.end).max(start)
        };
        let (first, mine) = (operand.start(), back(&result.all[result.mine]));
        let sent = |part: &Range<usize>| {
            let part = both(&operand.all[operand.mine], &back(part));
            if part.is_empty() { 0..0 } else { part.start - first..part.end - first }
        };
        let begins = (mine.start - from.start + to).saturating_sub(result.start());
        Self {
            to: result.all.iter().map(|part| IndexList::from(sent(part))).collect(),
            from: operand.all.iter().map(|part| both(part, &mine).len()).collect(),
            positions: (mine.len() < result.len()).then(|| (begins..begins + mine.len()).collect()),
        }
    }
    /// For arbitrary pairs (operand index, result index), in list order.
    pub(crate) fn of_pairs(operand: &Ranges, result: &Ranges, pairs: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut to = vec![Vec::new(); result.all.len()];
        let mut positions = vec![Vec::new(); operand.all.len()];
        for (from, at) in pairs {
            let (source, target) = (operand.of(from), result.of(at));
            if source == operand.mine {
                to[target].push(from - operand.start());
            }
            if target == result.mine {
                positions[source].push(at - result.start());
            }
        }
        let from = positions.iter().map(Vec::len).collect();
        let positions = positions.concat();
        let is_order = positions.len() == result.len() && positions.iter().enumerate().all(|(k, index)| k == *index);
        Self { to: to.into_iter().map(list).collect(), from, positions: (!is_order).then_some(positions) }
    }
}

/// An index list, as a range if it is contiguous.
fn list(of: Vec<usize>) -> IndexList {
    match as_range(&of) {
        Some(range) => range.into(),
        None => of.into(),
    }
}

/// The indices as a range, if they are consecutive.
fn as_range(of: &[usize]) -> Option<Range<usize>> {
    let first = of.first().copied().unwrap_or(0);
    of.iter().enumerate().all(|(k, index)| first + k == *index).then(|| first..first + of.len())
}

impl Ranges {
    /// The parts of a dimension over grid rows, over grid columns, and as pieces of a vector.
    pub(crate) fn of_rows(grid: Grid, n: usize) -> Self {
        Self { all: (0..grid.shape().0).map(|i| grid.rows(n, i)).collect(), mine: grid.at().0 }
    }
    pub(crate) fn of_cols(grid: Grid, n: usize) -> Self {
        Self { all: (0..grid.shape().1).map(|j| grid.cols(n, j)).collect(), mine: grid.at().1 }
    }
    pub(crate) fn of_pieces(grid: Grid, n: usize) -> Self {
        Self { all: grid.all().map(|at| grid.piece_of(n, at)).collect(), mine: grid.rank(grid.at()) }
    }
}

/// What the indices of a list refer to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indices {
    /// The operand: C(p) = A(I(p)).
    Operand,
    /// The result: C(I(p)) = A(p).
    Result,
}

impl Cut {
    /// For a list of indices below `dimension`; indices into the result must be distinct.
    pub(crate) fn of_list(
        parts: impl Fn(usize) -> Ranges,
        list: &IndexList,
        name: &'static str,
        dimension: usize,
        indices: Indices,
    ) -> Result<Self> {
        let (inside, len) = (parts(dimension), list.len(dimension));
        let outside = parts(len);
        let of_operand = indices == Indices::Operand;
        let (operand, result) = if of_operand { (&inside, &outside) } else { (&outside, &inside) };
        let of = if list.is_all() { None } else { Some(list.to_vec(name, dimension)?) };
        let range = match &of {
            None => Some(0..dimension),
            Some(of) => as_range(of),
        };
        if let Some(range) = range {
            let (from, to) = if of_operand { (range, 0) } else { (0..len, range.start) };
            return Ok(Self::of_range(operand, result, from, to));
        }
        let of = of.unwrap_or_default();
        let pairs = of.into_iter().enumerate().map(|(p, i)| if of_operand { (i, p) } else { (p, i) });
        Ok(Self::of_pairs(operand, result, pairs))
    }
}

impl Shared {
    /// This rank's piece of the redistributed vector, from its piece of the operand.
    pub(crate) fn moved_vector_by_gpus(&self, piece: &Vector, cut: &Cut, len: usize) -> Result<Vector> {
        let gpus = self.group(None).ok_or_else(broken)?;
        let part =
            |list: &IndexList| self.as_row(&self.inner.call(Op::Extract(list, &IndexList::all()), piece).eval()?);
        let shapes: Vec<_> = cut.from.iter().map(|&count| (1, count)).collect();
        let sent = cut.to.iter().map(part).collect();
        let got = gpus.exchanged(&*self.world, &self.inner, sent, &shapes)?;
        let made = self.side_by_side(&got)?;
        let Some(positions) = &cut.positions else { return Ok(made) };
        self.inner.call(Op::Place(&list(positions.clone()), &IndexList::all(), (len, 1)), &made).eval()
    }
    /// This rank's block of the result, from the operand blocks of all ranks. `transposed` if the operand is a
    /// transposed block: its rows are distributed over grid columns, and its columns over grid rows.
    pub(crate) fn moved_by_gpus(
        &self,
        operand: Result<Matrix>,
        transposed: bool,
        (rows, cols): (&Cut, &Cut),
        shape: (usize, usize),
    ) -> Result<Matrix> {
        let gpus = self.group(None).ok_or_else(broken)?;
        let grid = self.grid;
        // The row part and column part of the operand at grid coordinates.
        let part_of = |at: (usize, usize)| if transposed { (at.1, at.0) } else { at };
        let cut = |a: Matrix| -> Result<Vec<Matrix>> {
            let whole = a.shape();
            let part = |(k, l): (usize, usize)| {
                let (i, j) = (&rows.to[k], &cols.to[l]);
                match (i.len(whole.0), j.len(whole.1)) {
                    (0, _) | (_, 0) => self.inner.upload(&Matrix::empty(a.ty(), 0, 0)?),
                    _ if *i == IndexList::from(0..whole.0) && *j == IndexList::from(0..whole.1) => Ok(a.clone()),
                    _ => self.inner.call(Op::Extract(i, j), &a).eval(),
                }
            };
            grid.all().map(part).collect()
        };
        let comes = |at: (usize, usize)| match (rows.from[part_of(at).0], cols.from[part_of(at).1]) {
            (0, _) | (_, 0) => (0, 0),
            some => some,
        };
        let shapes: Vec<_> = grid.all().map(comes).collect();
        let got = gpus.exchanged(&*self.world, &self.inner, operand.and_then(cut), &shapes)?;
        let ty = got.first().ok_or_else(broken)?.ty();
        let some = |counts: &[usize]| (0..counts.len()).filter(|&k| counts[k] > 0).collect::<Vec<_>>();
        let (of_rows, of_cols) = (some(&rows.from), some(&cols.from));
        if of_rows.is_empty() || of_cols.is_empty() {
            return self.inner.upload(&Matrix::empty(ty, shape.0, shape.1)?);
        }
        let at = |i: usize, j: usize| &got[grid.rank(part_of((i, j)))];
        let joined: Vec<Vec<&Matrix>> = of_rows.iter().map(|&i| of_cols.iter().map(|&j| at(i, j)).collect()).collect();
        let made = match &joined[..] {
            [row] if row.len() == 1 => row[0].clone(),
            rows => {
                let rows: Vec<&[&Matrix]> = rows.iter().map(Vec::as_slice).collect();
                self.inner.upload(&self.inner.concat(&rows)?)?
            }
        };
        if rows.positions.is_none() && cols.positions.is_none() {
            return Ok(made);
        }
        let all = |positions: &Option<Vec<usize>>| positions.clone().map_or_else(IndexList::all, list);
        self.inner.call(Op::Place(&all(&rows.positions), &all(&cols.positions), shape), &made).eval()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a redistribution over all pairs of ranks: for each result index, the operand index it came from.
    fn moved(operand: &[usize], result: &[usize], cut: impl Fn(&Ranges, &Ranges) -> Cut) -> Vec<Option<usize>> {
        let parts = |ends: &[usize], mine| {
            let mut start = 0;
            let all = ends.iter().map(|&end| std::mem::replace(&mut start, end)..end).collect();
            Ranges { all, mine }
        };
        let mut made = vec![None; *result.last().unwrap()];
        for target in 0..result.len() {
            let to = parts(result, target);
            let mut coming = Vec::new();
            let mut counts = Vec::new();
            for source in 0..operand.len() {
                let from = parts(operand, source);
                let cut = cut(&from, &to);
                let mut sent = cut.to[target].to_vec("positions", from.len()).unwrap();
                sent.iter_mut().for_each(|index| *index += from.start());
                counts.push(sent.len());
                coming.extend(sent);
            }
            let cut = cut(&parts(operand, 0), &to);
            assert_eq!(cut.from, counts);
            let positions = cut.positions.unwrap_or_else(|| (0..to.len()).collect());
            assert_eq!(positions.len(), coming.len());
            positions.into_iter().zip(coming).for_each(|(index, from)| made[to.start() + index] = Some(from));
        }
        made
    }
    #[test]
    fn every_place_comes_from_the_rank_that_has_it() {
        let cuts: [(&[usize], &[usize]); 5] =
            [(&[4, 9], &[5, 9]), (&[0, 3, 9], &[3, 9]), (&[9], &[2, 2, 9]), (&[1, 9], &[9]), (&[3, 6, 9], &[4, 5, 9])];
        for (operand, result) in cuts {
            for (from, to) in [(0..9, 0), (2..7, 0), (2..7, 4), (5..5, 3), (0..4, 5)] {
                let want: Vec<_> =
                    (0..9).map(|at| (at >= to && at < to + from.len()).then(|| at - to + from.start)).collect();
                assert_eq!(moved(operand, result, |a, b| Cut::of_range(a, b, from.clone(), to)), want);
                let pairs = || from.clone().map(|index| (index, index - from.start + to));
                assert_eq!(moved(operand, result, |a, b| Cut::of_pairs(a, b, pairs())), want);
            }
            let list = [8, 1, 1, 0, 5, 7];
            let want: Vec<_> = (0..9).map(|at| list.get(at).copied()).collect();
            let pairs = || list.iter().copied().enumerate().map(|(at, from)| (from, at));
            assert_eq!(moved(operand, result, |a, b| Cut::of_pairs(a, b, pairs())), want);
        }
    }
}
