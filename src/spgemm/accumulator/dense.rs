//! Dense accumulators of the symbolic phase: one slot a key, a single level.

use super::super::budget::bytes_of;
use crate::par::{filled, zero_indices};
use crate::simd::count_new;
use crate::{Index, Result};

/// Counts the columns of one row after another.
pub(in crate::spgemm) trait DenseCounter<I: Index, V>: Sized + Send {
    /// For keys below `keys`, `longest` of them at most in a row.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn new(keys: usize, longest: usize) -> Result<Self>;
    /// Bytes that [`new`](Self::new) takes.
    fn bytes(keys: usize, longest: usize) -> u128;
    /// Adds `bits` to the words `keys` of the row.
    fn add(&mut self, keys: &[I], bits: &[V]);
    /// The number of columns of the row; then it has none.
    fn take_count(&mut self) -> usize;
}

/// A word for each 32 columns. A key is present if its word has a bit.
pub(in crate::spgemm) struct Words<I> {
    words: Vec<u32>,
    /// Keys present, `len` of them.
    touched: Vec<I>,
    len: usize,
}

impl<I: Index> DenseCounter<I, u32> for Words<I> {
    fn new(keys: usize, longest: usize) -> Result<Self> {
        // One more: a key that is not new is written behind the last.
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
            // Branch-free: processors cannot predict which key is new.
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

/// For each column the last row that had it, as so many-th that was counted: nothing is cleared between rows.
pub(in crate::spgemm) struct Marks {
    marks: Vec<u32>,
    row: u32,
    len: usize,
}

impl<I: Index> DenseCounter<I, ()> for Marks {
    fn new(keys: usize, _: usize) -> Result<Self> {
        Ok(Self { marks: zero_indices(keys, "marks of a dense accumulator")?, row: 1, len: 0 })
    }
    fn bytes(keys: usize, _: usize) -> u128 {
        bytes_of::<Self>(1) + bytes_of::<u32>(keys)
    }
    #[inline(always)]
    fn add(&mut self, keys: &[I], _: &[()]) {
        self.len += count_new(&mut self.marks, self.row, keys);
    }
    #[inline(always)]
    fn take_count(&mut self) -> usize {
        match self.row.checked_add(1) {
            Some(next) => self.row = next,
            None => {
                self.marks.fill(0);
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
        let mut marks = <Marks as DenseCounter<u32, ()>>::new(4, 2).unwrap();
        let count = |marks: &mut Marks, cols: &[u32]| {
            marks.add(cols, &[]);
            DenseCounter::<u32, ()>::take_count(marks)
        };
        assert_eq!(count(&mut marks, &[2]), 1);
        // Numbers of rows come round without old columns.
        marks.row = u32::MAX - 1;
        for _ in 0..3 {
            words.add(&[3, 0], &[0b101, 1]);
            words.add(&[3], &[0b110]);
            assert_eq!((words.take_count(), words.take_count()), (4, 0));
            assert_eq!(count(&mut marks, &[3, 0, 3]), 2);
        }
        marks.row = u32::MAX;
        assert_eq!((count(&mut marks, &[0]), marks.row, count(&mut marks, &[0, 2])), (1, 1, 2));
    }
}
