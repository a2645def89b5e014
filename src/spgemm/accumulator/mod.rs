//! Accumulators: what gathers the products of one row of C, key by key.
//!
//! The symbolic phase gathers columns, or words of columns by or; the numeric phase gathers values by ⊕. Both
//! run the same structures: a key is given a slot, a new key's value is `empty`, the identity, and what updates the
//! values needs the slots alone. Folds therefore run from the identity in the order of insertion.
//!
//! A hash map has two levels: what the first refuses goes to the second, which holds every row. A key refused
//! once is refused for the rest of its row, so it stands in one level only.
//!
//! Source: Deveci, Trott, Rajamanickam 2018, §3.1.2, Algorithm 3.

mod dense;
mod levels;
mod linear_probe;
mod linked_list;

use crate::sparse::out_of_memory;
use crate::{Index, Result};

pub(super) use dense::Dense;
pub(super) use levels::{Levels, Pools, SLOTS, Worker};
pub(super) use linear_probe::LinearProbe;
pub(super) use linked_list::LinkedList;

/// Values by key, for the keys of one row.
pub(super) trait Accumulator<I: Index, V: Copy> {
    /// The slot of `key`, where a new key has `empty`; `None`, and nothing changed, if it is full.
    fn place(&mut self, key: I) -> Option<usize>;
    /// Values by slot; of slots without a key, anything.
    fn values(&mut self) -> &mut [V];
    /// Makes the value x of `key` (`empty`, if the key is new) `update(x)`; `false`, and nothing, if it is full.
    #[must_use]
    #[inline(always)]
    fn insert(&mut self, key: I, update: impl Fn(V) -> V) -> bool {
        let Some(slot) = self.place(key) else { return false };
        let value = &mut self.values()[slot];
        *value = update(*value);
        true
    }
    /// The value of `key`.
    fn get(&self, key: I) -> Option<V>;
    /// Number of keys.
    fn len(&self) -> usize;
    /// Calls `f` for each key and its value.
    fn each(&self, f: impl FnMut(I, V));
    /// Forgets all keys; O(keys).
    fn clear(&mut self);
}

/// An accumulator that stands in memory of its own.
pub(super) trait Table<I: Index, V: Copy>: Accumulator<I, V> + Sized + Send {
    /// One that holds `entries` different keys at least.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn for_entries(entries: usize, shape: &Shape<V>) -> Result<Self>;
    /// Bytes that [`for_entries`](Self::for_entries) takes.
    fn bytes(entries: usize, shape: &Shape<V>) -> u128;
    /// A first level of `slots` slots.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn first_level(slots: usize, shape: &Shape<V>) -> Result<Self>;
    /// Bytes that [`first_level`](Self::first_level) takes.
    fn first_level_bytes(slots: usize, shape: &Shape<V>) -> u128;
    /// Keys that a first level of `slots` slots takes; `None` if this kind has a single level.
    fn first_level_takes(slots: usize, shape: &Shape<V>) -> Option<usize>;
}

/// What the accumulators of a phase have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<V> {
    /// Keys are below this.
    pub keys: usize,
    /// Hash tables grow by powers of this, itself a power of 2.
    pub growth: usize,
    /// Part of a linear probing table that may be taken.
    pub max_occupancy: f64,
    /// Value of a new key before its first update.
    pub empty: V,
}

impl<V> Shape<V> {
    /// The smallest power of `growth` that is `enough`.
    fn table(&self, enough: impl Fn(usize) -> bool) -> Result<usize> {
        let mut size = 1usize;
        while !enough(size) {
            size = size.checked_mul(self.growth).ok_or_else(|| out_of_memory::<u64>("hash table", usize::MAX))?;
        }
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn shape(growth: usize, max_occupancy: f64) -> Shape<u64> {
        Shape { keys: 1000, growth, max_occupancy, empty: 7 }
    }

    /// Random insertions against a map, several rows in the same table.
    fn gathers<T: Table<u32, u64>>(mut table: T, takes: usize) {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32
        };
        for row in 0..50u32 {
            let mut want = BTreeMap::new();
            let spread = if row % 2 == 0 { 1000 } else { 20 };
            for _ in 0..row * 4 {
                // Multiples of 64 share their hash.
                let key = if row % 3 == 0 { random() % 15 * 64 } else { random() % spread };
                let x = u64::from(random());
                let fits = want.contains_key(&key) || want.len() < takes;
                // Not commutative, so that order and the start of the fold show.
                assert_eq!(table.insert(key, |z| z.wrapping_mul(31).wrapping_add(x)), fits, "row {row}, key {key}");
                if fits {
                    let z = want.entry(key).or_insert(7u64);
                    *z = z.wrapping_mul(31).wrapping_add(x);
                }
            }
            let mut found = BTreeMap::new();
            table.each(|k, v| assert!(found.insert(k, v).is_none()));
            assert_eq!(found, want, "row {row}");
            assert_eq!(table.len(), want.len());
            assert!((0..1000).all(|k| table.get(k) == want.get(&k).copied()), "row {row}");
            table.clear();
            assert_eq!(table.len(), 0);
        }
    }

    #[test]
    fn tables_are_maps_until_they_are_full() {
        for growth in [2, 4] {
            for occupancy in [0.1, 0.5, 1.0] {
                let shape = shape(growth, occupancy);
                for entries in [0, 1, 3, 16, 17, 300] {
                    gathers(LinkedList::for_entries(entries, &shape).unwrap(), entries);
                    let takes = LinearProbe::<u32, u64>::takes(entries, &shape);
                    assert!(takes >= entries);
                    gathers(LinearProbe::for_entries(entries, &shape).unwrap(), takes);
                }
                for slots in [0, 1, 2, 3, 4, 64] {
                    let takes = <LinkedList<u32, u64> as Table<_, _>>::first_level_takes(slots, &shape).unwrap();
                    assert_eq!(takes, slots);
                    gathers(LinkedList::first_level(slots, &shape).unwrap(), takes);
                    let takes = <LinearProbe<u32, u64> as Table<_, _>>::first_level_takes(slots, &shape).unwrap();
                    assert!(takes as f64 <= slots.next_power_of_two() as f64 * occupancy);
                    gathers(LinearProbe::first_level(slots, &shape).unwrap(), takes);
                }
            }
        }
        gathers(Dense::for_entries(1000, &shape(2, 0.5)).unwrap(), 1000);
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        let shape = Shape { keys: usize::MAX >> 1, growth: 4, max_occupancy: 0.5, empty: 0u64 };
        let most = usize::MAX >> 1;
        assert!(LinkedList::<u64, u64>::for_entries(most, &shape).is_err());
        assert!(LinearProbe::<u64, u64>::for_entries(most, &shape).is_err());
        assert!(Dense::<u64, u64>::for_entries(9, &shape).is_err());
    }
}
