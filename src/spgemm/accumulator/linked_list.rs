//! LL: a hash map of linked lists in parallel arrays.
//!
//! `begins[hash]` is the slot of the first key with that hash, `nexts[slot]` that of the next one. A counter allocates
//! slots, so the cost does not depend on the load. The ids in use double as the list by which `begins` is reset.

use std::hint::select_unpredictable;

use super::super::budget::bytes_of;
use super::{Columns, Hash, Shape, Table, table_size};
use crate::par::filled;
use crate::sparse::out_of_memory;
use crate::{Index, Result};

/// Lists per entry. With two, a fourth of the keys would collide with another one, and each collision is a
/// misprediction.
const LISTS: usize = 4;

pub(in crate::spgemm) struct LinkedList<I, V> {
    /// A power of 2 of lists; slot 0 is the end of a list.
    begins: Vec<I>,
    nexts: Vec<I>,
    /// The id of slot 0 is no column.
    ids: Vec<I>,
    values: Vec<V>,
    len: usize,
    hash: Hash,
}

impl<I: Index, V: Columns> LinkedList<I, V> {
    fn new(entries: usize, hashes: usize) -> Result<Self> {
        let slots = entries.checked_add(1).ok_or_else(|| out_of_memory::<I>("linked lists", entries))?;
        Ok(Self {
            begins: filled(hashes, I::cast(0), "begins of linked lists")?,
            nexts: filled(slots, I::cast(0), "linked lists")?,
            ids: filled(slots, I::LAST, "keys of linked lists")?,
            values: filled(slots, V::NONE, "values of linked lists")?,
            len: 0,
            hash: Hash::of(hashes),
        })
    }
    /// Bytes that [`new`](Self::new) takes.
    fn sizes(entries: usize, hashes: usize) -> u128 {
        let slots = entries.saturating_add(1);
        bytes_of::<Self>(1) + bytes_of::<I>(hashes) + 2 * bytes_of::<I>(slots) + bytes_of::<V>(slots)
    }
    /// Lists for `entries` entries; most of them stay empty.
    fn hashes(entries: usize) -> Result<usize> {
        table_size(|size| size / LISTS >= entries)
    }
    /// Inserts keys up to one that is refused or whose list begins with another key; returns the number inserted.
    #[inline(always)]
    fn insert_uncollided(&mut self, keys: &[I], value: impl Fn(usize) -> V) -> usize {
        let (hash, mut len, mut done) = (self.hash, self.len, 0);
        let (begins, ids, values) = (&mut self.begins[..], &mut self.ids[..], &mut self.values[..]);
        for (t, &key) in keys.iter().enumerate() {
            let begin = &mut begins[hash.slot(key)];
            let first = begin.get();
            let present = ids[first] == key;
            // Branch-free: CPUs cannot predict which column is new.
            let slot = select_unpredictable(present, first, len + 1);
            if (!present & (first != 0)) | (slot == ids.len()) {
                break;
            }
            (ids[slot], *begin, values[slot]) = (key, I::cast(slot), values[slot].or(value(t)));
            len += usize::from(!present);
            done = t + 1;
        }
        self.len = len;
        done
    }
    /// The slot of a key whose list begins with another key, inserted if missing; `None` if the table is full.
    #[inline(never)]
    fn collide(&mut self, key: I) -> Option<usize> {
        let begin = &mut self.begins[self.hash.slot(key)];
        // Slot 0 links to itself.
        let mut slot = self.nexts[begin.get()].get();
        while slot != 0 && self.ids[slot] != key {
            slot = self.nexts[slot].get();
        }
        if slot == 0 {
            slot = self.len + 1;
            *self.ids.get_mut(slot)? = key;
            self.nexts[slot] = *begin;
            *begin = I::cast(slot);
            self.len = slot;
        }
        Some(slot)
    }
}

impl<I: Index, V: Columns> Table<I, V> for LinkedList<I, V> {
    fn for_entries(entries: usize, _: &Shape) -> Result<Self> {
        Self::new(entries, Self::hashes(entries)?)
    }
    fn bytes(entries: usize, _: &Shape) -> u128 {
        Self::hashes(entries).map_or(u128::MAX, |hashes| Self::sizes(entries, hashes))
    }
    fn first_level_bytes(slots: usize, shape: &Shape) -> u128 {
        Self::bytes(slots, shape)
    }
    fn first_level(slots: usize, shape: &Shape) -> Result<Self> {
        Self::for_entries(slots, shape)
    }
    fn first_level_capacity(slots: usize, _: &Shape) -> usize {
        slots
    }

    #[inline(always)]
    fn begin(&mut self, bound: usize) {
        let hashes = bound.saturating_mul(LISTS).clamp(2, self.begins.len());
        // A power of 2 no larger than the table's.
        self.hash = Hash::of(hashes.next_power_of_two());
    }

    #[inline(always)]
    fn insert(&mut self, keys: &[I], value: impl Fn(usize) -> V) -> usize {
        let mut done = 0;
        loop {
            done += self.insert_uncollided(&keys[done..], |t| value(done + t));
            let Some(&key) = keys.get(done) else { return done };
            let Some(slot) = self.collide(key) else { return done };
            self.values[slot] = self.values[slot].or(value(done));
            done += 1;
        }
    }

    #[inline(always)]
    fn insert_new(&mut self, keys: &[I]) -> usize {
        let (hash, len) = (self.hash, self.len);
        let begins = &mut self.begins[..];
        let slots = self.ids[len + 1..].iter_mut().zip(&mut self.nexts[len + 1..]).zip(len + 1..);
        for (&key, ((id, next), slot)) in keys.iter().zip(slots) {
            *id = key;
            *next = std::mem::replace(&mut begins[hash.slot(key)], I::cast(slot));
        }
        let taken = keys.len().min(self.ids.len() - 1 - len);
        self.len += taken;
        taken
    }

    #[inline(always)]
    fn positions(&self, keys: &[I], positions: &mut [usize]) -> usize {
        let (hash, begins, ids, nexts) = (self.hash, &self.begins[..], &self.ids[..], &self.nexts[..]);
        for ((t, &key), position) in keys.iter().enumerate().zip(positions) {
            let mut slot = begins[hash.slot(key)].get();
            while ids[slot] != key {
                if slot == 0 {
                    return t;
                }
                slot = nexts[slot].get();
            }
            // The slot is not 0.
            *position = slot.wrapping_sub(1);
        }
        keys.len()
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }
    #[inline(always)]
    fn values(&self) -> &[V] {
        &self.values[1..=self.len]
    }
    #[inline(always)]
    fn each(&self, mut f: impl FnMut(I, V)) {
        for (&key, &value) in self.ids[1..=self.len].iter().zip(self.values()) {
            f(key, value);
        }
    }
    #[inline(always)]
    fn keys(&self, out: &mut [I]) {
        out.copy_from_slice(&self.ids[1..=self.len]);
    }

    #[inline(always)]
    fn clear(&mut self) {
        for &key in &self.ids[1..=self.len] {
            self.begins[self.hash.slot(key)] = I::cast(0);
        }
        self.nexts[1..=self.len].fill(I::cast(0));
        self.values[1..=self.len].fill(V::NONE);
        self.len = 0;
    }
}
