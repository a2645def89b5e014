//! Rows that exceed the device or a budget: X in blocks, Y in parts, neighbour lists merged.
//!
//! A pair is computed from its two rows alone, so results have the same bits as in one piece. If ⊕ is not +, this holds
//! as long as ⊕ is exact. Preparation is repeated for every block and part.

use std::ops::Range;
use std::sync::Arc;

use super::engine::{Lists, Sizes};
use super::given::{Given, neighbours};
use crate::distance::{Float, Neighbours};
use crate::gpu::buffer::{Buffer, RawBuffer};
use crate::par::{filled, reserved, split};
use crate::{Error, Result};

/// Partition of X and Y into pieces.
struct Cut {
    /// Row pointers.
    starts: [Vec<usize>; 2],
    /// Pieces of about equal size in bytes.
    pieces: [Vec<Range<usize>>; 2],
}

impl Cut {
    fn new(given: &Given<'_>) -> Result<Self> {
        let starts = [given.x.row_ptr(given.cuda)?, given.searched().row_ptr(given.cuda)?];
        let all = |side: usize| std::iter::once(0..starts[side].len() - 1).collect();
        let pieces = [all(0), all(1)];
        Ok(Self { starts, pieces })
    }
    /// Sizes of the largest pieces.
    fn sizes(&self, ncols: usize) -> Sizes {
        let most =
            |side: usize, of: &dyn Fn(&Range<usize>) -> usize| self.pieces[side].iter().map(of).max().unwrap_or(0);
        let nnz = |side: usize| most(side, &|piece| self.starts[side][piece.end] - self.starts[side][piece.start]);
        Sizes { nrows: (most(0, &|p| p.len()), most(1, &|p| p.len())), ncols, nnz: (nnz(0), nnz(1)) }
    }
    /// Halves each piece of a side, balanced by bytes; false if all pieces are single rows.
    fn finer(&mut self, side: usize) -> bool {
        let starts = &self.starts[side];
        let halves = |piece: &Range<usize>| {
            let mut middle = split(piece.len(), 2, |i| (starts[piece.start + i] + 8 * i) as u64)[0].end + piece.start;
            // The last row outweighs the rest.
            if middle == piece.end {
                middle = piece.start + piece.len() / 2;
            }
            [piece.start..middle, middle..piece.end].into_iter().filter(|half| !half.is_empty())
        };
        let all: Vec<_> = self.pieces[side].iter().filter(|piece| !piece.is_empty()).flat_map(halves).collect();
        let finer = all.len() > self.pieces[side].len();
        if finer {
            self.pieces[side] = all;
        }
        finer
    }
    /// Refines until `bytes`, of either side, are at most `most`.
    /// # Errors
    /// [`Error::Budget`] if single rows exceed it.
    fn until(
        &mut self,
        what: &'static str,
        ncols: usize,
        most: u128,
        bytes: impl Fn(&Sizes) -> [u128; 2],
    ) -> Result<()> {
        loop {
            let [x, y] = bytes(&self.sizes(ncols));
            if x + y <= most {
                return Ok(());
            }
            let larger = usize::from(y >= x);
            if !self.finer(larger) && !self.finer(1 - larger) {
                return Err(Error::Budget { what, bytes: x + y, budget: most });
            }
        }
    }
}

/// Bytes of device memory available: the budget without `result`, or most of the free memory.
fn room(given: &Given<'_>, what: &'static str, result: u128) -> Result<u128> {
    let Some(budget) = given.question.options.memory_budget.map(u128::from) else {
        given.cuda.trim()?;
        return Ok(u128::from(given.cuda.free_memory()? / 8 * 7));
    };
    budget.checked_sub(result).ok_or(Error::Budget { what, bytes: result, budget })
}

/// The budget passed on to the algorithm.
fn as_budget(room: u128) -> Option<u64> {
    Some(u64::try_from(room).unwrap_or(u64::MAX))
}

/// Neighbours, by blocks of X and parts of Y.
pub(super) fn nearest<T: Float>(given: &Given<'_>, k: usize) -> Result<Neighbours<T>> {
    let (n, m) = given.sizes.nrows;
    let k = neighbours(m, k, given.question.options.exclude_self);
    if n == 0 || k == 0 {
        return Ok(Neighbours::new(m, k, vec![], vec![], n, "nothing to search".into()));
    }
    let (mut indices, mut distances) = (Vec::new(), Vec::new());
    let slots = n.saturating_mul(k);
    let explain = in_parts(given, k, &mut |block, ids, found| {
        // A search that ran out of memory starts over.
        if block == 0 {
            (indices, distances) = (reserved(slots, "neighbours")?, reserved(slots, "distances of neighbours")?);
        }
        indices.extend_from_slice(ids);
        let found = Buffer::<T>::of(Arc::clone(found))?;
        distances.extend_from_slice(&given.cuda.get(&found, "distances of neighbours")?);
        Ok(())
    })?;
    Ok(Neighbours::new(m, k, indices, distances, n, explain))
}

/// Receives the neighbours of a block: its first row, the indices, and the distances on the device.
type TakeNearest<'a> = dyn FnMut(usize, &[u32], &Arc<RawBuffer>) -> Result<()> + 'a;

/// Neighbours, in as many parts as needed; returns the explanation.
fn in_parts(given: &Given<'_>, k: usize, take: &mut TakeNearest<'_>) -> Result<String> {
    let what = "nearest neighbours in parts";
    let Sizes { nrows: (n, m), ncols, .. } = given.sizes;
    if u32::try_from(m).is_err() {
        return Err(Error::IndexOverflow { what: "rows to search", needed: m as u128, max: u128::from(u32::MAX) });
    }
    let neighbour = given.of.size() as u128;
    let room = room(given, what, n as u128 * k as u128 * (4 + neighbour))?;
    let mut cut = Cut::new(given)?;
    loop {
        cut.until(what, ncols, room, |sizes| {
            let [x, y] = given.way.bytes(sizes, given.of, as_budget(room));
            // The lists so far, those of a part, and the merged ones.
            [x + sizes.nrows.0 as u128 * k as u128 * (3 * Lists::BYTES + neighbour), y]
        })?;
        match by_cut(given, k, &cut, as_budget(room), take) {
            // The estimate was too low, or other allocations took the memory.
            Err(e @ (Error::Budget { .. } | Error::DeviceMemory { .. })) => {
                if !cut.finer(1) && !cut.finer(0) {
                    return Err(e);
                }
            }
            explain => return explain,
        }
    }
}

fn by_cut(given: &Given<'_>, k: usize, cut: &Cut, most: Option<u64>, take: &mut TakeNearest<'_>) -> Result<String> {
    let (cuda, exclude_self) = (given.cuda, given.question.options.exclude_self);
    let [blocks, parts] = &cut.pieces;
    let mut explain = String::new();
    for block in blocks {
        let x = given.part(given.x, block)?;
        let mut found: Option<(Lists, Arc<_>)> = None;
        for rows in parts {
            let y = given.part(given.searched(), rows)?;
            let ready = given.way.ready(cuda, &x, Some(&y), given.y.is_none(), most)?;
            let program = ready.nearest_program(cuda, k)?;
            let lists = ready.nearest(cuda, k, exclude_self)?;
            let joined = match found {
                Some((before, _)) => before.join(cuda, &program, [block.len(), k], &lists)?,
                None => lists,
            };
            found = Some((joined, program));
            explain = ready.explain();
        }
        if let Some((lists, program)) = found {
            let of_block = lists.distances(cuda, &program, given.of)?;
            take(block.start, &cuda.get(&lists.ids, "neighbours")?, &of_block)?;
        }
    }
    Ok(format!("{explain}; X in {} blocks, Y in {} parts", blocks.len(), parts.len()))
}

/// Distances of `rows_per_block` rows of X at a time, by parts of Y; returns the explanation.
pub(super) fn blocks<T: Float>(
    given: &Given<'_>,
    rows_per_block: usize,
    each: &mut dyn FnMut(usize, &[T]) -> Result<()>,
) -> Result<String> {
    let what = "a block of distances in parts";
    let cuda = given.cuda;
    let Sizes { nrows: (n, m), ncols, .. } = given.sizes;
    let block = rows_per_block.clamp(1, n.max(1));
    let (needed, max) = (block as u128 * m as u128, usize::MAX as u128);
    let slots = block.checked_mul(m).ok_or(Error::IndexOverflow { what: "number of distances", needed, max })?;
    let entry = given.of.size() as u128;
    let room = room(given, what, needed * entry)?;
    let mut cut = Cut::new(given)?;
    cut.pieces[0] = (0..n).step_by(block).map(|first| first..n.min(first + block)).collect();
    // The caller determines the blocks of X; Y is refined until it fits.
    loop {
        let sizes = cut.sizes(ncols);
        let [x, y] = given.way.bytes(&sizes, given.of, as_budget(room));
        let bytes = x + y + sizes.nrows.0 as u128 * sizes.nrows.1 as u128 * entry;
        if bytes <= room {
            break;
        }
        if !cut.finer(1) {
            return Err(Error::Budget { what, bytes, budget: room });
        }
    }
    let [blocks, parts] = &cut.pieces;
    let mut strip = filled(slots, T::ZERO, "a block of distances")?;
    let mut explain = String::new();
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        let x = given.part(given.x, block)?;
        for rows in parts.iter().filter(|rows| !rows.is_empty()) {
            let y = given.part(given.searched(), rows)?;
            let ready = given.way.ready(cuda, &x, Some(&y), given.y.is_none(), as_budget(room))?;
            let out = cuda.alloc::<T>(block.len().saturating_mul(rows.len()), "a block of distances")?;
            ready.pairs(cuda, 0..block.len(), &out)?;
            let found = cuda.get(&out, "a block of distances")?;
            for (to, from) in strip.chunks_exact_mut(m).zip(found.chunks_exact(rows.len())) {
                to[rows.clone()].copy_from_slice(from);
            }
            explain = ready.explain();
        }
        each(block.start, &strip[..block.len() * m])?;
    }
    Ok(format!("{explain}; X in {} blocks, Y in {} parts", blocks.len(), parts.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(lengths: &[usize]) -> Cut {
        let mut starts = vec![0];
        lengths.iter().for_each(|length| starts.push(starts[starts.len() - 1] + length));
        let all = || std::iter::once(0..lengths.len()).collect();
        Cut { starts: [starts.clone(), starts], pieces: [all(), all()] }
    }

    #[test]
    fn pieces_are_halved_down_to_single_rows() {
        for lengths in [&[][..], &[5], &[0, 0, 0], &[1000, 0, 0, 1], &[0, 0, 1, 1000], &[3; 33]] {
            let mut cut = cut(lengths);
            while cut.finer(1) {
                let pieces = &cut.pieces[1];
                assert!(pieces.windows(2).all(|w| w[0].end == w[1].start) && pieces.iter().all(|p| !p.is_empty()));
                assert_eq!((pieces[0].start, pieces[pieces.len() - 1].end), (0, lengths.len()));
            }
            assert!(cut.pieces[1].iter().all(|piece| piece.len() <= 1), "{:?}", cut.pieces[1]);
            assert_eq!(cut.pieces[0].len(), 1);
        }
    }

    #[test]
    fn cuts_until_it_fits_or_says_what_a_row_needs() {
        let mut some = cut(&[10; 64]);
        let bytes = |sizes: &Sizes| [sizes.nrows.0 as u128, 100 * sizes.nnz.1 as u128];
        some.until("rows", 5, 10_000, bytes).expect("fits");
        assert_eq!((some.pieces[0].len(), some.pieces[1].len()), (1, 8));
        let refused = some.until("rows", 5, 900, bytes).expect_err("a row is too much").to_string();
        assert_eq!(refused, "memory budget: rows needs 1001 bytes, the budget is 900 bytes");
    }
}
