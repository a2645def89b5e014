//! Dense accumulators of the symbolic phase: one slot per key, a single level.

use super::super::budget::bytes_of;
use crate::par::{filled, zero_indices};
use crate::simd::count_new;
use crate::{Index, Result};

/// Counts the columns of one row after another.
pub(in crate::spgemm) trait DenseCounter<I: Index, V>: Sized + Send {
    /// For keys below `keys`, at most `longest` of them in a row.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn new(keys: usize, longest: usize) -> Result<Self>;
    /// Bytes that [`new`](Self::new) takes.
    fn bytes(keys: usize, longest: usize) -> u128;
    /// Adds `bits` to the words `keys` of the row.
    fn add(&mut self, keys: &[I], bits: &[V]);
    /// Returns the number of columns of the row, and resets the row.
    fn take_count(&mut self) -> usize;
}

/// A word per 32 columns. A key is present if its word is nonzero.
pub(in crate::spgemm) struct Words<I> {
    words: Vec<u32>,
    /// The keys present, `len` of them.
    touched: Vec<I>,
    len: usize,
}

impl<I: Index> DenseCounter<I, u32> for Words<I> {
    fn new(keys: usize, longest: usize) -> Result<Self> {
        // One spare slot: a key that is not new is written behind the last.
        let touched = filled(longest.saturating_add(1), I::cast(0), "columns of a dense accumulator")?;
        Ok(Self { words: zero_indices(keys, "words of a dense accumulator")?, touched, len: 0 })
    }
    fn bytes(keys: usize, longest: usize) -> u128 {
        bytes_of::<Self>(1) + bytes_of::<u32>(keys) + bytes_of::<I>(longest.saturating_add(1))
    }
    #[inline(always)]
    fn add(&mut self, keys: &[I], bits: &[u32]) {
        let (words, touched, mut len) = (&mut self.words[..], &mut self.touched[..], self.len);
        for (&key, &bits) in keys.iter().zip(bits) {
            let word = &mut words[key.get()];
            // Branch-free: CPUs cannot predict which key is new.
            touched[len] = key;
            len += usize::from(*word == 0);
            *word |= bits;
        }
        self.len = len;
    }
    #[inline(always)]
    fn take_count(&mut self) -> usize {
        let mut n = 0;
        for key in &self.touched[..self.len] {
            n += std::mem::take(&mut self.words[key.get()]).count_ones() as usize;
        }
        self.len = 0;
        n
    }
}

/// Stamps: each column holds the number of the last row that had it, so nothing is cleared between rows.
pub(in crate::spgemm) struct RowStamps {
    stamps: Vec<u32>,
    row: u32,
    len: usize,
}

impl<I: Index> DenseCounter<I, ()> for RowStamps {
    fn new(keys: usize, _: usize) -> Result<Self> {
        Ok(Self { stamps: zero_indices(keys, "stamps of a dense accumulator")?, row: 1, len: 0 })
    }
    fn bytes(keys: usize, _: usize) -> u128 {
        bytes_of::<Self>(1) + bytes_of::<u32>(keys)
    }
    #[inline(always)]
    fn add(&mut self, keys: &[I], _: &[()]) {
        self.len += count_new(&mut self.stamps, self.row, keys);
    }
    #[inline(always)]
    fn take_count(&mut self) -> usize {
        match self.row.checked_add(1) {
            Some(next) => self.row = next,
            None => {
                self.stamps.fill(0);
                self.row = 1;
            }
        }
        std::mem::take(&mut self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_themselves() {
        let mut words = Words::<u32>::new(4, 2).unwrap();
        let mut stamps = <RowStamps as DenseCounter<u32, ()>>::new(4, 2).unwrap();
        let count = |stamps: &mut RowStamps, cols: &[u32]| {
            stamps.add(cols, &[]);
            DenseCounter::<u32, ()>::take_count(stamps)
        };
        assert_eq!(count(&mut stamps, &[2]), 1);
        // Row numbers wrap around without old columns showing.
        stamps.row = u32::MAX - 1;
        for _ in 0..3 {
            words.add(&[3, 0], &[0b101, 1]);
            words.add(&[3], &[0b110]);
            assert_eq!((words.take_count(), words.take_count()), (4, 0));
            assert_eq!(count(&mut stamps, &[3, 0, 3]), 2);
        }
        stamps.row = u32::MAX;
        assert_eq!((count(&mut stamps, &[0]), stamps.row, count(&mut stamps, &[0, 2])), (1, 1, 2));
    }
}
