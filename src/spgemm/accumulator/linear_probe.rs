//! LP: a hash map by linear probing.
//!
//! A key stands in the first free slot from its hash on, so a search costs little while the table is not too
//! full: above a set occupancy it refuses new keys. The list of slots in use resets it without a scan.

use super::super::budget::bytes_of;
use super::{Accumulator, Shape, Table};
use crate::par::filled;
use crate::sparse::out_of_memory;
use crate::{Index, Result};

pub(in crate::spgemm) struct LinearProbe<I, V> {
    empty: V,
    /// A power of 2 of slots; `I::LAST`, which is no column, is an empty slot.
    ids: Vec<I>,
    values: Vec<V>,
    /// Slots in use, `len` of them.
    used: Vec<usize>,
    len: usize,
}

/// Keys that a table takes. One slot stays empty whatever the occupancy: it ends the search for a new key.
fn limit(slots: usize, max_occupancy: f64) -> usize {
    ((slots as f64 * max_occupancy) as usize).min(slots - 1)
}

impl<I: Index, V: Copy> LinearProbe<I, V> {
    fn new(slots: usize, limit: usize, empty: V) -> Result<Self> {
        Ok(Self {
            empty,
            ids: filled(slots, I::LAST, "keys of a probing table")?,
            values: filled(slots, empty, "values of a probing table")?,
            used: filled(limit, 0, "used slots of a probing table")?,
            len: 0,
        })
    }
    /// Bytes that [`new`](Self::new) takes.
    fn sizes(slots: usize, limit: usize) -> u128 {
        bytes_of::<Self>(1) + bytes_of::<I>(slots) + bytes_of::<V>(slots) + bytes_of::<usize>(limit)
    }
    /// Where `key` stands, or the empty slot where it would.
    #[inline(always)]
    fn find(&self, key: I) -> usize {
        let mask = self.ids.len() - 1;
        // Odd, so that neighbouring columns keep different slots, and spread; KokkosKernels' factor.
        let mut slot = key.get().wrapping_mul(107) & mask;
        while self.ids[slot] != key && self.ids[slot] != I::LAST {
            slot = (slot + 1) & mask;
        }
        slot
    }
    #[cfg(test)]
    pub(super) fn takes(entries: usize, shape: &Shape<V>) -> usize {
        let slots = shape.table(|slots| limit(slots, shape.max_occupancy) >= entries);
        slots.map_or(0, |slots| limit(slots, shape.max_occupancy))
    }
}

impl<I: Index, V: Copy> Accumulator<I, V> for LinearProbe<I, V> {
    #[inline(always)]
    fn place(&mut self, key: I) -> Option<usize> {
        let slot = self.find(key);
        if self.ids[slot] != key {
            *self.used.get_mut(self.len)? = slot;
            self.len += 1;
            self.ids[slot] = key;
            self.values[slot] = self.empty;
        }
        Some(slot)
    }

    #[inline(always)]
    fn values(&mut self) -> &mut [V] {
        &mut self.values
    }

    #[inline(always)]
    fn get(&self, key: I) -> Option<V> {
        let slot = self.find(key);
        (self.ids[slot] == key).then(|| self.values[slot])
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn each(&self, mut f: impl FnMut(I, V)) {
        for &slot in &self.used[..self.len] {
            f(self.ids[slot], self.values[slot]);
        }
    }

    #[inline(always)]
    fn clear(&mut self) {
        for &slot in &self.used[..self.len] {
            self.ids[slot] = I::LAST;
        }
        self.len = 0;
    }
}

impl<I: Index, V: Copy + Send> Table<I, V> for LinearProbe<I, V> {
    fn for_entries(entries: usize, shape: &Shape<V>) -> Result<Self> {
        let slots = shape.table(|slots| limit(slots, shape.max_occupancy) >= entries)?;
        Self::new(slots, limit(slots, shape.max_occupancy), shape.empty)
    }
    fn bytes(entries: usize, shape: &Shape<V>) -> u128 {
        let slots = shape.table(|slots| limit(slots, shape.max_occupancy) >= entries);
        slots.map_or(u128::MAX, |slots| Self::sizes(slots, limit(slots, shape.max_occupancy)))
    }
    fn first_level_bytes(slots: usize, shape: &Shape<V>) -> u128 {
        let slots = slots.checked_next_power_of_two();
        slots.map_or(u128::MAX, |slots| Self::sizes(slots, limit(slots, shape.max_occupancy)))
    }
    fn first_level(slots: usize, shape: &Shape<V>) -> Result<Self> {
        let slots = slots.checked_next_power_of_two().ok_or_else(|| out_of_memory::<I>("probing table", slots))?;
        Self::new(slots, limit(slots, shape.max_occupancy), shape.empty)
    }
    fn first_level_takes(slots: usize, shape: &Shape<V>) -> Option<usize> {
        let slots = slots.checked_next_power_of_two();
        Some(slots.map_or(usize::MAX, |slots| limit(slots, shape.max_occupancy)))
    }
}
