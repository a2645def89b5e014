//! LL: a hash map of linked lists in four parallel arrays.
//!
//! `begins[hash]` is the slot of the first key with that hash, `nexts[slot]` that of the next one. Slots are
//! given out by a counter, so it works the same whether nearly empty or full, and the ids in use are
//! themselves the list by which `begins` is reset.

use super::super::budget::bytes_of;
use super::{Accumulator, Shape, Table};
use crate::par::filled;
use crate::sparse::out_of_memory;
use crate::{Index, Result};

pub(in crate::spgemm) struct LinkedList<I, V> {
    empty: V,
    /// A power of 2 of lists; `I::LAST` is the end of a list.
    begins: Vec<I>,
    nexts: Vec<I>,
    ids: Vec<I>,
    values: Vec<V>,
    len: usize,
}

impl<I: Index, V: Copy> LinkedList<I, V> {
    fn new(slots: usize, hashes: usize, empty: V) -> Result<Self> {
        Ok(Self {
            empty,
            begins: filled(hashes, I::LAST, "begins of linked lists")?,
            nexts: filled(slots, I::LAST, "linked lists")?,
            ids: filled(slots, I::LAST, "keys of linked lists")?,
            values: filled(slots, empty, "values of linked lists")?,
            len: 0,
        })
    }
    /// Bytes that [`new`](Self::new) takes.
    fn sizes(slots: usize, hashes: usize) -> u128 {
        bytes_of::<Self>(1) + bytes_of::<I>(hashes) + 2 * bytes_of::<I>(slots) + bytes_of::<V>(slots)
    }
    #[inline(always)]
    fn hash(&self, key: I) -> usize {
        key.get() & (self.begins.len() - 1)
    }
}

impl<I: Index, V: Copy> Accumulator<I, V> for LinkedList<I, V> {
    #[inline(always)]
    fn place(&mut self, key: I) -> Option<usize> {
        let hash = self.hash(key);
        let begin = self.begins[hash];
        let mut slot = begin;
        while slot != I::LAST {
            let s = slot.get();
            if self.ids[s] == key {
                return Some(s);
            }
            slot = self.nexts[s];
        }
        let s = self.len;
        if s == self.ids.len() {
            return None;
        }
        self.ids[s] = key;
        self.values[s] = self.empty;
        self.nexts[s] = begin;
        self.begins[hash] = I::cast(s);
        self.len = s + 1;
        Some(s)
    }

    #[inline(always)]
    fn values(&mut self) -> &mut [V] {
        &mut self.values
    }

    #[inline(always)]
    fn get(&self, key: I) -> Option<V> {
        let mut slot = self.begins[self.hash(key)];
        while slot != I::LAST {
            let s = slot.get();
            if self.ids[s] == key {
                return Some(self.values[s]);
            }
            slot = self.nexts[s];
        }
        None
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn each(&self, mut f: impl FnMut(I, V)) {
        for (&key, &value) in self.ids[..self.len].iter().zip(&self.values[..self.len]) {
            f(key, value);
        }
    }

    #[inline(always)]
    fn clear(&mut self) {
        let mask = self.begins.len() - 1;
        for key in &self.ids[..self.len] {
            self.begins[key.get() & mask] = I::LAST;
        }
        self.len = 0;
    }
}

impl<I: Index, V: Copy + Send> Table<I, V> for LinkedList<I, V> {
    fn for_entries(entries: usize, shape: &Shape<V>) -> Result<Self> {
        Self::new(entries, shape.table(|size| size >= entries)?, shape.empty)
    }
    fn bytes(entries: usize, shape: &Shape<V>) -> u128 {
        shape.table(|size| size >= entries).map_or(u128::MAX, |hashes| Self::sizes(entries, hashes))
    }
    fn first_level_bytes(slots: usize, _: &Shape<V>) -> u128 {
        slots.checked_next_power_of_two().map_or(u128::MAX, |hashes| Self::sizes(slots, hashes))
    }
    fn first_level(slots: usize, shape: &Shape<V>) -> Result<Self> {
        let hashes = slots.checked_next_power_of_two().ok_or_else(|| out_of_memory::<I>("linked lists", slots))?;
        Self::new(slots, hashes, shape.empty)
    }
    fn first_level_takes(slots: usize, _: &Shape<V>) -> Option<usize> {
        Some(slots)
    }
}
