//! Dense: one slot a key, a single level.
//!
//! A key is present if its mark is the number of the current row. Values are never cleared, so nothing relies
//! on a zero that would be the identity, and forgetting a row is one addition.

use super::super::budget::bytes_of;
use super::{Accumulator, Shape, Table};
use crate::par::filled;
use crate::{Index, Result};

/// Number of a row. Two bytes: one would have the marks wiped every 255 rows, which on a million columns
/// costs more than the rows; four would take more of the cache than values of four bytes.
type Epoch = u16;

pub(in crate::spgemm) struct Dense<I, V> {
    empty: V,
    values: Vec<V>,
    marks: Vec<Epoch>,
    epoch: Epoch,
    /// Keys present, `len` of them.
    touched: Vec<I>,
    len: usize,
}

impl<I: Index, V: Copy> Accumulator<I, V> for Dense<I, V> {
    #[inline(always)]
    fn place(&mut self, key: I) -> Option<usize> {
        let k = key.get();
        let mark = &mut self.marks[k];
        if *mark != self.epoch {
            *self.touched.get_mut(self.len)? = key;
            self.len += 1;
            *mark = self.epoch;
            self.values[k] = self.empty;
        }
        Some(k)
    }

    #[inline(always)]
    fn values(&mut self) -> &mut [V] {
        &mut self.values
    }

    #[inline(always)]
    fn get(&self, key: I) -> Option<V> {
        let k = key.get();
        (self.marks[k] == self.epoch).then(|| self.values[k])
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn each(&self, mut f: impl FnMut(I, V)) {
        for &key in &self.touched[..self.len] {
            f(key, self.values[key.get()]);
        }
    }

    #[inline(always)]
    fn clear(&mut self) {
        self.len = 0;
        match self.epoch.checked_add(1) {
            Some(next) => self.epoch = next,
            None => {
                self.marks.fill(0);
                self.epoch = 1;
            }
        }
    }
}

impl<I: Index, V: Copy + Send> Table<I, V> for Dense<I, V> {
    fn for_entries(entries: usize, shape: &Shape<V>) -> Result<Self> {
        Ok(Self {
            empty: shape.empty,
            values: filled(shape.keys, shape.empty, "values of a dense accumulator")?,
            marks: filled(shape.keys, 0, "marks of a dense accumulator")?,
            epoch: 1,
            touched: filled(entries, I::LAST, "columns of a dense accumulator")?,
            len: 0,
        })
    }
    fn bytes(entries: usize, shape: &Shape<V>) -> u128 {
        bytes_of::<Self>(1) + bytes_of::<V>(shape.keys) + bytes_of::<Epoch>(shape.keys) + bytes_of::<I>(entries)
    }
    fn first_level_bytes(slots: usize, shape: &Shape<V>) -> u128 {
        Self::bytes(slots, shape)
    }
    fn first_level(slots: usize, shape: &Shape<V>) -> Result<Self> {
        Self::for_entries(slots, shape)
    }
    fn first_level_takes(_: usize, _: &Shape<V>) -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_come_round_without_old_keys() {
        let shape = Shape { keys: 3, growth: 2, max_occupancy: 0.5, empty: 10u8 };
        let mut dense = Dense::<u32, u8>::for_entries(2, &shape).unwrap();
        assert!(dense.insert(2, |x| x + 1));
        for row in 0..=2 * u32::from(Epoch::MAX) {
            dense.clear();
            assert_eq!((dense.get(2), dense.get(row % 2)), (None, None), "row {row}");
            assert!(dense.insert(row % 2, |x| x + 1) && dense.insert(row % 2, |x| x + 1));
            assert_eq!((dense.get(row % 2), dense.len()), (Some(12), 1));
        }
    }
}
