//! Accumulators: data structures that gather the keys of one row of C.
//!
//! The symbolic phase gathers columns, or words of columns combined by or. The numeric phase gathers columns and looks
//! them up for each product. Both use the same structures: the position of a key is the number of keys inserted before
//! it, so the values of a row of C lie in the order of its columns, wherever the key is stored in a table.
//!
//! A hash map has two levels: keys refused by the first go to the second, which holds any row. A key refused once is
//! refused for the rest of its row, so it is stored in one level only.
//!
//! Source: Deveci, Trott, Rajamanickam 2018, §3.1.2, Algorithm 3.

mod dense;
mod levels;
mod linear_probe;
mod linked_list;

use crate::sparse::out_of_memory;
use crate::{Index, Result};

pub(super) use dense::DenseCounter;
pub(super) use levels::{Pools, Rows, Worker};
pub(super) use linear_probe::LinearProbe;
pub(super) use linked_list::LinkedList;

/// The payload of a key in the symbolic phase: the columns of a word, or nothing besides the column itself.
pub(super) trait Columns: Copy + Send + Sync + 'static {
    /// No columns, or the payload of a key that carries nothing.
    const NONE: Self;
    /// A dense accumulator that counts them.
    type Dense<I: Index>: DenseCounter<I, Self>;
    /// The union.
    fn or(self, other: Self) -> Self;
    /// Number of columns.
    fn count(self) -> usize;
}
impl Columns for u32 {
    const NONE: Self = 0;
    type Dense<I: Index> = dense::Words<I>;
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn count(self) -> usize {
        self.count_ones() as usize
    }
}
impl Columns for () {
    const NONE: Self = ();
    type Dense<I: Index> = dense::RowStamps;
    #[inline(always)]
    fn or(self, (): Self) {}
    #[inline(always)]
    fn count(self) -> usize {
        1
    }
}

/// A hash map of the keys of one row, with their positions and values.
pub(super) trait Table<I: Index, V: Columns>: Sized + Send {
    /// A table for at least `entries` distinct keys.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn for_entries(entries: usize, shape: &Shape) -> Result<Self>;
    /// Bytes that [`for_entries`](Self::for_entries) takes.
    fn bytes(entries: usize, shape: &Shape) -> u128;
    /// A first level of `slots` slots.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn first_level(slots: usize, shape: &Shape) -> Result<Self>;
    /// Bytes that [`first_level`](Self::first_level) takes.
    fn first_level_bytes(slots: usize, shape: &Shape) -> u128;
    /// Most keys of a first level of `slots` slots.
    fn first_level_capacity(slots: usize, shape: &Shape) -> usize;
    /// Begins a row of at most `bound` distinct keys; the table is empty. A short row uses only the beginning of the
    /// memory, which stays in the first-level cache.
    fn begin(&mut self, bound: usize);
    /// Combines `value(t)` with the value of `keys[t]`, in order, up to a key that is refused; returns the number
    /// inserted.
    fn insert(&mut self, keys: &[I], value: impl Fn(usize) -> V) -> usize;
    /// Inserts new, distinct keys, up to one that is refused; returns the number inserted.
    fn insert_new(&mut self, keys: &[I]) -> usize;
    /// Writes the positions of `keys`, up to one that is missing; returns the number written.
    fn positions(&self, keys: &[I], positions: &mut [usize]) -> usize;
    /// Number of keys.
    fn len(&self) -> usize;
    /// The values, by position.
    fn values(&self) -> &[V];
    /// Calls `f` for each key and its value, by position.
    fn each(&self, f: impl FnMut(I, V));
    /// Writes the keys, by position, to `out`, which has as many elements.
    fn keys(&self, out: &mut [I]);
    /// Removes all keys; O(keys).
    fn clear(&mut self);
}

/// Parameters shared by the hash maps of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Maximum load of a linear-probing table.
    pub max_occupancy: f64,
}

/// The smallest power of 2, above 1, that is `enough`.
fn table_size(enough: impl Fn(usize) -> bool) -> Result<usize> {
    let mut size = 2usize;
    while !enough(size) {
        size = size.checked_mul(2).ok_or_else(|| out_of_memory::<u64>("hash table", usize::MAX))?;
    }
    Ok(size)
}

/// Fibonacci hashing: the upper bits of a key times 2⁶⁴/φ. Neighboring columns hash far apart, and grid neighbors,
/// whose distances are multiples of powers of 2, do not collide as they would by their lower bits.
#[derive(Clone, Copy, Debug)]
struct Hash {
    shift: u32,
}

impl Hash {
    /// For a table whose size is a power of 2 above 1.
    fn of(size: usize) -> Self {
        Self { shift: 64 - size.ilog2() }
    }
    #[inline(always)]
    fn slot<I: Index>(self, key: I) -> usize {
        ((key.get() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const SHAPE: Shape = Shape { max_occupancy: 0.5 };

    /// Random insertions against a map, several rows in the same table.
    fn gathers<T: Table<u32, u32>>(mut table: T, takes: usize) {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32
        };
        // Keys that collide in tables of up to 64 slots.
        let same: Vec<u32> = (0..u32::MAX).filter(|&key| Hash::of(64).slot(key) == 5).take(20).collect();
        for row in 0..50u32 {
            let bound = row as usize * 4;
            let (mut want, mut order) = (HashMap::new(), vec![]);
            let spread = if row % 2 == 0 { 1000 } else { 20 };
            table.begin(bound);
            let keys: Vec<u32> = (0..bound)
                .map(|_| if row % 3 == 0 { same[random() as usize % same.len()] } else { random() % spread })
                .collect();
            let bits: Vec<u32> = keys.iter().map(|_| 1 << (random() % 32)).collect();
            let mut from = 0;
            while from < keys.len() {
                let run = (1 + random() as usize % 9).min(keys.len() - from);
                let at = from;
                let taken = table.insert(&keys[at..at + run], |t| bits[at + t]);
                for t in at..at + run {
                    let fits = want.contains_key(&keys[t]) || want.len() < takes;
                    assert_eq!(fits, t < at + taken, "row {row}, key {t}");
                    if !fits {
                        break;
                    }
                    *want.entry(keys[t]).or_insert_with(|| {
                        order.push(keys[t]);
                        0
                    }) |= bits[t];
                }
                // A refused key is skipped.
                from += taken + usize::from(taken < run);
            }
            let mut found = vec![0; table.len()];
            table.keys(&mut found);
            assert_eq!(found, order, "row {row}");
            assert_eq!(table.values(), order.iter().map(|key| want[key]).collect::<Vec<_>>());
            let mut positions = vec![0; order.len() + 1];
            for missing in 0..1000 {
                let there = want.contains_key(&missing);
                assert_eq!(table.positions(&[missing], &mut positions), usize::from(there), "row {row}");
            }
            let missing = 77_777;
            let queries: Vec<u32> = order.iter().rev().copied().chain([missing, missing]).collect();
            assert_eq!(table.positions(&queries[..=order.len()], &mut positions), order.len());
            assert!(positions[..order.len()].iter().copied().eq((0..order.len()).rev()), "row {row}");
            table.clear();
            assert_eq!(table.len(), 0);
        }
    }

    #[test]
    fn tables_are_maps_until_they_are_full() {
        for max_occupancy in [0.1, 0.5, 1.0] {
            let shape = Shape { max_occupancy };
            // All rows fit: those of the test have at most 196 keys.
            gathers(<LinkedList<u32, u32> as Table<_, _>>::for_entries(200, &shape).unwrap(), 200);
            gathers(<LinearProbe<u32, u32> as Table<_, _>>::for_entries(200, &shape).unwrap(), 200);
            for slots in [0, 1, 2, 3, 4, 64] {
                let takes = <LinkedList<u32, u32> as Table<_, _>>::first_level_capacity(slots, &shape);
                assert_eq!(takes, slots);
                gathers(<LinkedList<u32, u32> as Table<_, _>>::first_level(slots, &shape).unwrap(), takes);
                let takes = <LinearProbe<u32, u32> as Table<_, _>>::first_level_capacity(slots, &shape);
                assert!(takes as f64 <= slots.max(2).next_power_of_two() as f64 * max_occupancy);
                gathers(<LinearProbe<u32, u32> as Table<_, _>>::first_level(slots, &shape).unwrap(), takes);
            }
        }
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        let most = usize::MAX >> 1;
        assert!(<LinkedList<u64, u32> as Table<_, _>>::for_entries(most, &SHAPE).is_err());
        assert!(<LinearProbe<u64, u32> as Table<_, _>>::for_entries(most, &SHAPE).is_err());
        assert!(<dense::Words<u64> as DenseCounter<u64, u32>>::new(most, 9).is_err());
        assert!(<dense::RowStamps as DenseCounter<u64, ()>>::new(most, 9).is_err());
    }

    #[test]
    fn hashes_of_grids_differ() {
        // Two steps along each axis of a grid of 256³ points.
        let hash = Hash::of(64);
        let axis = |step: i64| (-2..=2).map(move |t| t * step);
        let slots: std::collections::HashSet<usize> =
            [1, 256, 65536].into_iter().flat_map(axis).map(|d| hash.slot((8_000_000 + d) as u32)).collect();
        assert!(slots.len() >= 9, "{slots:?}");
    }
}
