//! LP: a hash map by linear probing.
//!
//! A key occupies the first free slot from its hash on, so a search costs little while the table is not too full: above
//! a given occupancy it refuses new keys. The list of used slots resets it without a scan.

use std::hint::select_unpredictable;

use super::super::budget::bytes_of;
use super::{Columns, Shape, Table, table_size};
use crate::par::filled;
use crate::sparse::out_of_memory;
use crate::{Index, Result};

pub(in crate::spgemm) struct LinearProbe<I, V> {
    /// A power of 2 of slots; `I::LAST`, which is no column, marks an empty slot.
    ids: Vec<I>,
    /// The positions of the ids.
    positions: Vec<I>,
    /// Slots in use, by position.
    used: Vec<usize>,
    /// Values, by position.
    values: Vec<V>,
    len: usize,
    /// Slots that this row uses, a power of 2, less 1; and the most keys they hold.
    mask: usize,
    limit: usize,
    max_occupancy: f64,
}

/// Most keys of a table. One slot stays empty whatever the occupancy: it ends the search for a new key.
fn limit(slots: usize, max_occupancy: f64) -> usize {
    ((slots as f64 * max_occupancy) as usize).min(slots - 1)
}

impl<I: Index, V: Columns> LinearProbe<I, V> {
    fn new(slots: usize, shape: &Shape) -> Result<Self> {
        let limit = limit(slots, shape.max_occupancy);
        Ok(Self {
            ids: filled(slots, I::LAST, "keys of a probing table")?,
            positions: filled(slots, I::cast(0), "positions of a probing table")?,
            used: filled(limit, 0, "used slots of a probing table")?,
            values: filled(limit, V::NONE, "values of a probing table")?,
            len: 0,
            mask: slots - 1,
            limit,
            max_occupancy: shape.max_occupancy,
        })
    }
    /// Bytes that [`new`](Self::new) takes.
    fn sizes(slots: usize, shape: &Shape) -> u128 {
        let limit = limit(slots, shape.max_occupancy);
        bytes_of::<Self>(1) + 2 * bytes_of::<I>(slots) + bytes_of::<usize>(limit) + bytes_of::<V>(limit)
    }
    fn slots(entries: usize, shape: &Shape) -> Result<usize> {
        table_size(|slots| limit(slots, shape.max_occupancy) >= entries)
    }
    fn first_slots(slots: usize) -> Result<usize> {
        slots.max(2).checked_next_power_of_two().ok_or_else(|| out_of_memory::<I>("probing table", slots))
    }
}

/// The slot of `key`, or the empty slot where it would go.
#[inline(always)]
fn find<I: Index>(ids: &[I], mask: usize, key: I) -> usize {
    // Odd, so that neighboring columns get different, scattered slots. KokkosKernels' factor.
    let mut slot = key.get().wrapping_mul(107) & mask;
    while ids[slot] != key && ids[slot] != I::LAST {
        slot = (slot + 1) & mask;
    }
    slot
}

impl<I: Index, V: Columns> Table<I, V> for LinearProbe<I, V> {
    fn for_entries(entries: usize, shape: &Shape) -> Result<Self> {
        Self::new(Self::slots(entries, shape)?, shape)
    }
    fn bytes(entries: usize, shape: &Shape) -> u128 {
        Self::slots(entries, shape).map_or(u128::MAX, |slots| Self::sizes(slots, shape))
    }
    fn first_level_bytes(slots: usize, shape: &Shape) -> u128 {
        Self::first_slots(slots).map_or(u128::MAX, |slots| Self::sizes(slots, shape))
    }
    fn first_level(slots: usize, shape: &Shape) -> Result<Self> {
        Self::new(Self::first_slots(slots)?, shape)
    }
    fn first_level_capacity(slots: usize, shape: &Shape) -> usize {
        Self::first_slots(slots).map_or(usize::MAX, |slots| limit(slots, shape.max_occupancy))
    }

    #[inline(always)]
    fn begin(&mut self, bound: usize) {
        let mut slots = bound.clamp(2, self.ids.len()).next_power_of_two();
        while slots < self.ids.len() && limit(slots, self.max_occupancy) < bound {
            slots *= 2;
        }
        (self.mask, self.limit) = (slots - 1, limit(slots, self.max_occupancy));
    }

    #[inline(always)]
    fn insert(&mut self, keys: &[I], value: impl Fn(usize) -> V) -> usize {
        let (mask, limit, mut len) = (self.mask, self.limit, self.len);
        let (ids, positions) = (&mut self.ids[..], &mut self.positions[..]);
        let (used, values) = (&mut self.used[..], &mut self.values[..]);
        let mut taken = 0;
        for (t, &key) in keys.iter().enumerate() {
            let slot = find(ids, mask, key);
            let new = ids[slot] != key;
            if new & (len == limit) {
                break;
            }
            // Branch-free: CPUs cannot predict which column is new.
            let position = select_unpredictable(new, len, positions[slot].get());
            (ids[slot], positions[slot], used[position]) = (key, I::cast(position), slot);
            values[position] = values[position].or(value(t));
            len += usize::from(new);
            taken = t + 1;
        }
        self.len = len;
        taken
    }

    #[inline(always)]
    fn insert_new(&mut self, keys: &[I]) -> usize {
        self.insert(keys, |_| V::NONE)
    }

    #[inline(always)]
    fn positions(&self, keys: &[I], out: &mut [usize]) -> usize {
        let (mask, ids, positions) = (self.mask, &self.ids[..], &self.positions[..]);
        for ((t, &key), position) in keys.iter().enumerate().zip(out) {
            let slot = find(ids, mask, key);
            if ids[slot] != key {
                return t;
            }
            *position = positions[slot].get();
        }
        keys.len()
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }
    #[inline(always)]
    fn values(&self) -> &[V] {
        &self.values[..self.len]
    }
    #[inline(always)]
    fn each(&self, mut f: impl FnMut(I, V)) {
        for (&slot, &value) in self.used[..self.len].iter().zip(self.values()) {
            f(self.ids[slot], value);
        }
    }
    #[inline(always)]
    fn keys(&self, out: &mut [I]) {
        for (key, &slot) in out.iter_mut().zip(&self.used[..self.len]) {
            *key = self.ids[slot];
        }
    }

    #[inline(always)]
    fn clear(&mut self) {
        for &slot in &self.used[..self.len] {
            self.ids[slot] = I::LAST;
        }
        self.values[..self.len].fill(V::NONE);
        self.len = 0;
    }
}
