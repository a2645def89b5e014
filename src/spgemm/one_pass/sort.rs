//! Sorts the columns of a row, with the permutation.

use crate::par::{filled, reserved};
use crate::simd::{
    self, SHORT, SLACK, ShortList, SparseAccumulator, dispatch_work, emit_columns, emit_flagged, or_bits,
    or_bits_flagged,
};
use crate::spgemm::columns::SPARSE;
use crate::{Index, Result};

/// Sorts one row after another, with the permutation. One per thread.
pub(super) struct SortWithPermutation<I: Index> {
    ncols: usize,
    /// Most columns of a row.
    most: usize,
    list: ShortList<I>,
    /// A bit per column, and a byte per eight words of bits; allocated at the first long row, and zero between rows.
    words: Vec<u64>,
    flags: Vec<u8>,
    /// Columns and positions of a row that spans a wide range.
    far: Vec<u64>,
    cols: Vec<I>,
    positions: Vec<u32>,
}

impl<I: Index> SortWithPermutation<I> {
    /// For rows with at most `most` of `ncols` columns.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(ncols: usize, most: usize) -> Result<Self> {
        let room = most.min(ncols).max(SHORT) + SLACK;
        Ok(Self {
            ncols,
            most,
            list: ShortList::new(),
            words: Vec::new(),
            flags: Vec::new(),
            far: Vec::new(),
            cols: filled(room + ShortList::<I>::ROOM, I::cast(0), "columns of a row")?,
            positions: filled(room, 0, "positions of a row")?,
        })
    }
    /// The touched columns, sorted, and the position of each in the accumulator.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn of(&mut self, spa: &SparseAccumulator<I>) -> Result<(&[I], &[u32])> {
        let n = spa.cols().len();
        if self.words.is_empty() && (n > SHORT || !self.list.sorts_positions(self.ncols)) {
            let words = self.ncols.div_ceil(64).next_power_of_two().max(8);
            self.words = filled(words, 0, "bits of a row")?;
            self.flags = filled(words / 8, 0, "bits of a row")?;
            self.far = reserved(self.most, "positions of a row")?;
        }
        dispatch_work(Row { order: self, spa });
        Ok((&self.cols[..n], &self.positions[..n]))
    }
}

/// One row.
struct Row<'a, I: Index> {
    order: &'a mut SortWithPermutation<I>,
    spa: &'a SparseAccumulator<I>,
}

impl<I: Index> simd::Work for Row<'_, I> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { order: SortWithPermutation { ncols, list, words, flags, far, cols, positions, .. }, spa } = self;
        let (found, n) = (spa.cols(), spa.cols().len());
        if n <= SHORT && list.sorts_positions(*ncols) {
            return list.sort_with_positions(found, cols, &mut positions[..n]);
        }
        if n == 0 {
            return;
        }
        let (lo, hi) = found.iter().fold((I::LAST, I::cast(0)), |(lo, hi), &j| (lo.min(j), hi.max(j)));
        let span = lo.get() >> 6..(hi.get() >> 6) + 1;
        // As in `columns`: scanning the flags of that many words takes longer than sorting, and scanning eight empty
        // words costs as much as flagging one.
        if span.len() / SPARSE > n {
            far.clear();
            // Columns have 32 bits, and positions are below 2³¹.
            far.extend(found.iter().zip(0u64..).map(|(j, position)| (j.get() as u64) << 32 | position));
            far.sort_unstable();
            for ((at, j), position) in far.iter().zip(cols).zip(positions) {
                (*j, *position) = (I::cast((at >> 32) as usize), *at as u32);
            }
            return;
        }
        let mask = words.len() - 1;
        let all = if span.len() / 8 > n {
            or_bits_flagged(words, flags, mask, found);
            emit_flagged(words, flags, span, cols)
        } else {
            or_bits(words, mask, found);
            emit_columns(words, span, cols)
        };
        debug_assert_eq!(all, n);
        for (position, &j) in positions.iter_mut().zip(&cols[..n]) {
            *position = spa.place(j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of any length, of near and of scattered columns, of index types with and without a register sort.
    #[test]
    fn columns_are_sorted_with_their_positions() {
        fn check<I: Index>(ncols: usize) {
            let most = 3000.min(ncols);
            let (mut spa, mut order) =
                (SparseAccumulator::<I>::new(ncols, most).unwrap(), SortWithPermutation::new(ncols, most).unwrap());
            for (n, reach) in (0..=140).chain([700, most]).flat_map(|n| [n, 4 * n, ncols].map(|reach| (n, reach))) {
                let (n, reach) = (n.min(ncols), reach.clamp(n.min(ncols), ncols));
                // Distinct and scattered over the range: 7919 is prime, and no number of columns is a multiple of it.
                let js: Vec<I> = (0..n).map(|t| I::cast(t * 7919 % n * (reach / n))).collect();
                spa.clear();
                spa.fold(&mut vec![0; most], &js, &vec![1; n], |z, y, _| z + y);
                let (cols, positions) = order.of(&spa).unwrap();
                assert!(cols.is_sorted_by(|a, b| a < b) && cols.len() == n, "{n} of {reach}");
                assert!(cols.iter().zip(positions).all(|(&j, &p)| js[p as usize] == j), "{n} of {reach}");
            }
        }
        check::<u32>(4096);
        check::<u32>(1 << 25);
        check::<u32>((1 << 25) + 1);
        check::<u64>(4096);
        check::<u32>(1);
    }
}
