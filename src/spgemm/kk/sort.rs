//! Sorts the columns of a row.

use super::super::budget::bytes_of;
use crate::par::{filled, out_of_memory};
use crate::simd::{SHORT, SLACK, ShortList, emit_columns, emit_flagged, or_bits, or_bits_flagged};
use crate::spgemm::columns::SPARSE;
use crate::{Index, Result};

/// Widest C whose long rows are sorted by a bitmap: 2 MiB of bits, about a second-level cache.
const WIDEST: usize = 1 << 24;

/// Sorts one row after another. One per thread.
pub(super) struct RowSort<I: Index> {
    ncols: usize,
    longest: usize,
    list: ShortList<I>,
    /// A bit per column, and a byte per eight words of bits; allocated at the first long row, and zero between rows.
    words: Vec<u64>,
    flags: Vec<u8>,
    sorted: Vec<I>,
    /// The words of a row, their keys, and the sorted keys with their positions.
    pairs: Vec<(I, u32)>,
    keys: [I; SHORT],
    ordered: [I; SHORT + SHORT],
    positions: [u32; SHORT],
}

impl<I: Index> RowSort<I> {
    /// For rows with at most `longest` of `ncols` columns.
    pub(super) fn new(ncols: usize, longest: usize) -> Self {
        let list = ShortList::new();
        Self {
            ncols,
            longest,
            list,
            words: Vec::new(),
            flags: Vec::new(),
            sorted: Vec::new(),
            pairs: Vec::new(),
            keys: [I::LAST; SHORT],
            ordered: [I::LAST; SHORT + SHORT],
            positions: [0; SHORT],
        }
    }
    /// Upper bound on its bytes.
    pub(super) fn bytes(ncols: usize, longest: usize) -> u128 {
        let words = Self::bit_words(ncols, longest);
        bytes_of::<Self>(1) + bytes_of::<u64>(words) + bytes_of::<u8>(words / 8) + bytes_of::<I>(Self::room(longest))
    }
    fn bit_words(ncols: usize, longest: usize) -> usize {
        if longest <= SHORT || ncols > WIDEST { 0 } else { ncols.div_ceil(64).next_power_of_two().max(8) }
    }
    fn room(longest: usize) -> usize {
        longest.max(ShortList::<I>::ROOM).saturating_add(SLACK)
    }

    /// Calls `f` for the `n` words of a row that `push` pushes, in the order of their keys.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    #[inline(always)]
    pub(super) fn words(
        &mut self,
        n: usize,
        push: impl FnOnce(&mut Vec<(I, u32)>),
        mut f: impl FnMut(I, u32),
    ) -> Result<()> {
        let Self { list, pairs, keys, ordered, positions, .. } = self;
        pairs.clear();
        pairs.try_reserve(n).map_err(|_| out_of_memory::<(I, u32)>("words of a row", n))?;
        push(pairs);
        if n <= SHORT && list.sorts_positions(self.ncols.div_ceil(32)) {
            keys.iter_mut().zip(&*pairs).for_each(|(key, pair)| *key = pair.0);
            list.sort_with_positions(&keys[..n], ordered, &mut positions[..n]);
            ordered.iter().zip(&positions[..n]).for_each(|(&key, &position)| f(key, pairs[position as usize].1));
        } else {
            pairs.sort_unstable();
            pairs.iter().for_each(|&(key, bits)| f(key, bits));
        }
        Ok(())
    }

    /// Sorts a row of distinct columns.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    #[inline(never)]
    pub(super) fn row(&mut self, cols: &mut [I]) -> Result<()> {
        if cols.is_sorted() {
            return Ok(());
        }
        if self.sorted.is_empty() {
            let words = Self::bit_words(self.ncols, self.longest);
            self.words = filled(words, 0, "bits of a row")?;
            self.flags = filled(words / 8, 0, "bits of a row")?;
            self.sorted = filled(Self::room(self.longest), I::cast(0), "columns of a row")?;
        }
        let (n, sorted) = (cols.len(), &mut self.sorted[..]);
        if n <= SHORT {
            self.list.clear();
            self.list.push_all(cols, cols);
            self.list.sort_dedup(sorted);
            cols.copy_from_slice(&sorted[..n]);
            return Ok(());
        }
        let (lo, hi) = cols.iter().fold((I::LAST, I::cast(0)), |(lo, hi), &j| (lo.min(j), hi.max(j)));
        let span = lo.get() >> 6..(hi.get() >> 6) + 1;
        // As in `columns`: scanning the flags of that many words takes longer than sorting, and scanning eight empty
        // words costs as much as flagging one.
        if self.words.is_empty() || span.len() / SPARSE > n {
            cols.sort_unstable();
            return Ok(());
        }
        let (words, flags) = (&mut self.words[..], &mut self.flags[..]);
        let mask = words.len() - 1;
        if span.len() / 8 > n {
            or_bits_flagged(words, flags, mask, cols);
            emit_flagged(words, flags, span, sorted);
        } else {
            or_bits(words, mask, cols);
            emit_columns(words, span, sorted);
        }
        cols.copy_from_slice(&sorted[..n]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of any length, of near and of scattered columns, of index types with and without a register sort.
    #[test]
    fn rows_are_sorted() {
        fn check<I: Index>(ncols: usize) {
            let longest = 3000.min(ncols);
            let mut sort = RowSort::<I>::new(ncols, longest);
            for (n, reach) in (0..=140).chain([700, longest]).flat_map(|n| [n, 4 * n, ncols].map(|reach| (n, reach))) {
                let (n, reach) = (n.min(ncols), reach.clamp(n.min(ncols), ncols));
                // Distinct and scattered over the range: 7919 is prime, and no number of columns is a multiple of it.
                let mut js: Vec<I> = (0..n).map(|t| I::cast(t * 7919 % n * (reach / n))).collect();
                let mut want = js.clone();
                want.sort_unstable();
                sort.row(&mut js).unwrap();
                assert!(js == want, "{n} of {reach}");
            }
        }
        check::<u32>(4096);
        check::<u32>(1 << 24);
        check::<u32>(u32::MAX as usize);
        check::<u64>(4096);
        check::<u64>(1 << 40);
        check::<u32>(1);
    }
}
