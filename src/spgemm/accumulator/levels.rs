//! The two levels of an accumulator, and the pool that the second comes from.
//!
//! On a processor both levels lie in the same memory. So where nothing forces a small first level, it is made
//! large enough for every row, there is no second, and the pool's chunks serve as first levels.

use std::sync::MutexGuard;

use super::super::pool::Pool;
use super::super::select::{Kind, KkSettings};
use super::{Accumulator, Dense, LinearProbe, LinkedList, Shape, Table};
use crate::par::Threads;
use crate::{Index, Result};

/// Slots found before their values are updated. They stay in the first-level cache.
pub(in crate::spgemm) const SLOTS: usize = 256;

/// The memory pool of a phase, for the kind of accumulator chosen.
pub(in crate::spgemm) enum Pools<I: Index, V: Copy> {
    LinkedList(Chunks<LinkedList<I, V>, V>),
    LinearProbe(Chunks<LinearProbe<I, V>, V>),
    Dense(Chunks<Dense<I, V>, V>),
}

/// Chunks that hold every row, and what a first level looks like if it does not.
pub(in crate::spgemm) struct Chunks<A, V> {
    pool: Pool<A>,
    shape: Shape<V>,
    first_level: Option<usize>,
}

/// The accumulator of a thread, for the kind chosen.
pub(in crate::spgemm) enum Worker<'p, I: Index, V: Copy> {
    LinkedList(Levels<'p, LinkedList<I, V>>),
    LinearProbe(Levels<'p, LinearProbe<I, V>>),
    Dense(Levels<'p, Dense<I, V>>),
}

/// The accumulator of a thread: its own first level, if any, and the pool.
pub(in crate::spgemm) struct Levels<'p, A> {
    first: Option<A>,
    pool: &'p Pool<A>,
    thread: usize,
}

impl<I: Index, V: Copy + Send + Sync> Pools<I, V> {
    /// For rows of at most `longest` different keys, worked on by at most `workers` threads.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(in crate::spgemm) fn new(
        threads: &Threads,
        workers: usize,
        kind: Kind,
        longest: usize,
        shape: Shape<V>,
        settings: &KkSettings,
    ) -> Result<Self> {
        Ok(match kind {
            Kind::LinkedList => Self::LinkedList(chunks(threads, workers, longest, shape, settings)?),
            Kind::LinearProbe => Self::LinearProbe(chunks(threads, workers, longest, shape, settings)?),
            Kind::Dense => Self::Dense(chunks(threads, workers, longest, shape, settings)?),
        })
    }

    /// Bytes that [`new`](Self::new) takes, and all its workers.
    pub(in crate::spgemm) fn bytes(
        workers: usize,
        kind: Kind,
        longest: usize,
        shape: Shape<V>,
        settings: &KkSettings,
    ) -> u128 {
        match kind {
            Kind::LinkedList => chunk_bytes::<I, V, LinkedList<I, V>>(workers, longest, shape, settings),
            Kind::LinearProbe => chunk_bytes::<I, V, LinearProbe<I, V>>(workers, longest, shape, settings),
            Kind::Dense => chunk_bytes::<I, V, Dense<I, V>>(workers, longest, shape, settings),
        }
    }

    /// The accumulator of one more thread.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(in crate::spgemm) fn worker(&self) -> Result<Worker<'_, I, V>> {
        Ok(match self {
            Self::LinkedList(chunks) => Worker::LinkedList(chunks.levels()?),
            Self::LinearProbe(chunks) => Worker::LinearProbe(chunks.levels()?),
            Self::Dense(chunks) => Worker::Dense(chunks.levels()?),
        })
    }
}

fn chunks<I: Index, V: Copy + Send + Sync, A: Table<I, V>>(
    threads: &Threads,
    workers: usize,
    longest: usize,
    shape: Shape<V>,
    settings: &KkSettings,
) -> Result<Chunks<A, V>> {
    let first_level = first_level::<I, V, A>(longest, &shape, settings);
    let number = number(workers, settings);
    let pool = Pool::new(threads, settings.pool, number, || A::for_entries(longest, &shape))?;
    Ok(Chunks { pool, shape, first_level })
}

/// Slots of the first level, if it may be too small for a row.
fn first_level<I: Index, V: Copy, A: Table<I, V>>(
    longest: usize,
    shape: &Shape<V>,
    settings: &KkSettings,
) -> Option<usize> {
    settings.first_level.filter(|&slots| A::first_level_takes(slots, shape).is_some_and(|takes| takes < longest))
}

/// Chunks of the pool.
fn number(workers: usize, settings: &KkSettings) -> usize {
    settings.chunks.unwrap_or(workers).clamp(1, workers.max(1))
}

/// Bytes of the chunks, and of the first levels of all workers.
fn chunk_bytes<I: Index, V: Copy, A: Table<I, V>>(
    workers: usize,
    longest: usize,
    shape: Shape<V>,
    settings: &KkSettings,
) -> u128 {
    let first = first_level::<I, V, A>(longest, &shape, settings);
    let first = first.map_or(0, |slots| A::first_level_bytes(slots, &shape));
    let chunk = A::bytes(longest, &shape).saturating_add(POOL);
    (number(workers, settings) as u128).saturating_mul(chunk).saturating_add(workers as u128 * first)
}

/// Bytes at most that a pool takes for a chunk beside the chunk.
const POOL: u128 = 64;

impl<A: Send, V: Copy> Chunks<A, V> {
    fn levels<I: Index>(&self) -> Result<Levels<'_, A>>
    where
        A: Table<I, V>,
    {
        let first = self.first_level.map(|slots| A::first_level(slots, &self.shape)).transpose()?;
        Ok(Levels { first, pool: &self.pool, thread: self.pool.enter() })
    }
}

impl<A: Send> Levels<'_, A> {
    /// Runs `work` on an empty accumulator for one row, then empties it and gives the pool's chunk back.
    #[inline(always)]
    pub(in crate::spgemm) fn row<I: Index, V: Copy, T>(&mut self, work: impl FnOnce(&mut Row<'_, A>) -> T) -> T
    where
        A: Accumulator<I, V>,
    {
        let mut chunk;
        let (first, more) = match &mut self.first {
            Some(first) => (first, Some((self.pool, self.thread))),
            None => {
                chunk = self.pool.take(self.thread);
                (&mut *chunk, None)
            }
        };
        let mut row = Row { first, second: None, more };
        let result = work(&mut row);
        row.clear::<I, V>();
        result
    }
}

/// The accumulator of one row.
pub(in crate::spgemm) struct Row<'a, A> {
    first: &'a mut A,
    second: Option<MutexGuard<'a, A>>,
    /// Where the second level comes from; `None` if the first holds every row.
    more: Option<(&'a Pool<A>, usize)>,
}

impl<A: Send> Row<'_, A> {
    /// Makes the value x of `key` `update(x)`, in one level or the other.
    #[inline(always)]
    pub(in crate::spgemm) fn add<I: Index, V: Copy>(&mut self, key: I, update: impl Fn(V) -> V + Copy)
    where
        A: Accumulator<I, V>,
    {
        if !self.first.insert(key, update) {
            let (values, slot) = self.overflow(key);
            values[slot] = update(values[slot]);
        }
    }
    /// Calls `fold` with the values of a level, the slots there of a run of `keys`, and where the run begins: run
    /// after run, until all keys have had their turn. One run holds all, unless there are more keys than `slots` or
    /// some are of the second level, which are runs of one.
    #[inline(always)]
    pub(in crate::spgemm) fn runs<I: Index, V: Copy>(
        &mut self,
        keys: &[I],
        slots: &mut [usize; SLOTS],
        mut fold: impl FnMut(&mut [V], &[usize], usize),
    ) where
        A: Accumulator<I, V>,
    {
        let mut from = 0;
        while from < keys.len() {
            let run = &keys[from..keys.len().min(from + SLOTS)];
            let mut n = 0;
            for (slot, &key) in slots.iter_mut().zip(run) {
                let Some(place) = self.first.place(key) else { break };
                *slot = place;
                n += 1;
            }
            fold(self.first.values(), &slots[..n], from);
            from += n;
            if let Some(&refused) = run.get(n) {
                let (values, slot) = self.overflow(refused);
                fold(values, &[slot], from);
                from += 1;
            }
        }
    }
    /// The values of the second level, and the slot of `key` there.
    #[inline(never)]
    fn overflow<I: Index, V: Copy>(&mut self, key: I) -> (&mut [V], usize)
    where
        A: Accumulator<I, V>,
    {
        let (pool, thread) = self.more.expect("an accumulator was made smaller than its rows");
        let second = self.second.get_or_insert_with(|| pool.take(thread));
        let slot = second.place(key).expect("the second level was made smaller than its rows");
        (second.values(), slot)
    }
    /// The value of `key`.
    #[inline(always)]
    pub(in crate::spgemm) fn get<I: Index, V: Copy>(&self, key: I) -> Option<V>
    where
        A: Accumulator<I, V>,
    {
        self.first.get(key).or_else(|| self.second.as_ref().and_then(|second| second.get(key)))
    }
    /// Number of keys.
    #[inline(always)]
    pub(in crate::spgemm) fn len<I: Index, V: Copy>(&self) -> usize
    where
        A: Accumulator<I, V>,
    {
        self.first.len() + self.second.as_ref().map_or(0, |second| second.len())
    }
    /// Calls `f` for each key and its value, first level first.
    #[inline(always)]
    pub(in crate::spgemm) fn each<I: Index, V: Copy>(&self, mut f: impl FnMut(I, V))
    where
        A: Accumulator<I, V>,
    {
        self.first.each(&mut f);
        if let Some(second) = &self.second {
            second.each(f);
        }
    }
    #[inline(always)]
    fn clear<I: Index, V: Copy>(&mut self)
    where
        A: Accumulator<I, V>,
    {
        self.first.clear();
        if let Some(mut second) = self.second.take() {
            second.clear();
        }
    }
}
