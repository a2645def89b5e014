//! The two levels of an accumulator, and the pool that provides the second.
//!
//! On a CPU both levels lie in the same memory. Unless a small first level is forced, it is therefore large enough for
//! every row, there is no second, and the pool's chunks serve as first levels.

use std::marker::PhantomData;
use std::sync::MutexGuard;

use super::super::pool::Pool;
use super::super::select::{Kind, KkSettings};
use super::{Columns, LinearProbe, LinkedList, Shape, Table};
use crate::par::Threads;
use crate::{Index, Result};

/// The memory pool of a phase, for the kind of accumulator chosen; `D` is the dense accumulator.
pub(in crate::spgemm) enum Pools<I: Index, V: Columns, D> {
    LinkedList(Chunks<LinkedList<I, V>>),
    LinearProbe(Chunks<LinearProbe<I, V>>),
    Dense(Pool<D>),
}

/// Chunks that hold any row, and the shape of a separate first level, if there is one.
pub(in crate::spgemm) struct Chunks<A> {
    pool: Pool<A>,
    shape: Shape,
    first_level: Option<usize>,
}

/// The accumulator of a thread, of the kind chosen.
pub(in crate::spgemm) enum Worker<'p, I: Index, V: Columns, D> {
    LinkedList(Levels<'p, LinkedList<I, V>>),
    LinearProbe(Levels<'p, LinearProbe<I, V>>),
    Dense(PoolHandle<'p, D>),
}

/// The accumulator of a thread: its own first level, if any, and the pool.
pub(in crate::spgemm) struct Levels<'p, A> {
    first: Option<A>,
    pool: PoolHandle<'p, A>,
}

/// A pool, and the number of the thread that uses it.
pub(in crate::spgemm) struct PoolHandle<'p, A> {
    pool: &'p Pool<A>,
    thread: usize,
}
impl<A> Clone for PoolHandle<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for PoolHandle<'_, A> {}

impl<'p, A: Send> PoolHandle<'p, A> {
    fn new(pool: &'p Pool<A>) -> Self {
        Self { pool, thread: pool.enter() }
    }
    /// A chunk of the pool. A thread holds at most one, and enters no parallel work while it does.
    pub(in crate::spgemm) fn take(self) -> MutexGuard<'p, A> {
        self.pool.take(self.thread)
    }
}

impl<I: Index, V: Columns, D: Send> Pools<I, V, D> {
    /// For rows of at most `longest` distinct keys, and at most `workers` threads.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(in crate::spgemm) fn new(
        threads: &Threads,
        workers: usize,
        kind: Kind,
        longest: usize,
        settings: &KkSettings,
        dense: impl Fn() -> Result<D> + Sync,
    ) -> Result<Self> {
        Ok(match kind {
            Kind::LinkedList => Self::LinkedList(chunks::<I, V, _>(threads, workers, longest, settings)?),
            Kind::LinearProbe => Self::LinearProbe(chunks::<I, V, _>(threads, workers, longest, settings)?),
            Kind::Dense => Self::Dense(Pool::new(threads, settings.pool, number(workers, settings), dense)?),
        })
    }

    /// Bytes that [`new`](Self::new) and all its workers take, if a dense accumulator takes `dense`.
    pub(in crate::spgemm) fn bytes(
        workers: usize,
        kind: Kind,
        longest: usize,
        settings: &KkSettings,
        dense: u128,
    ) -> u128 {
        match kind {
            Kind::LinkedList => chunk_bytes::<I, V, LinkedList<I, V>>(workers, longest, settings),
            Kind::LinearProbe => chunk_bytes::<I, V, LinearProbe<I, V>>(workers, longest, settings),
            Kind::Dense => (number(workers, settings) as u128).saturating_mul(dense.saturating_add(POOL)),
        }
    }

    /// The accumulator of one more thread.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(in crate::spgemm) fn worker(&self) -> Result<Worker<'_, I, V, D>> {
        Ok(match self {
            Self::LinkedList(chunks) => Worker::LinkedList(chunks.levels::<I, V>()?),
            Self::LinearProbe(chunks) => Worker::LinearProbe(chunks.levels::<I, V>()?),
            Self::Dense(pool) => Worker::Dense(PoolHandle::new(pool)),
        })
    }
}

fn chunks<I: Index, V: Columns, A: Table<I, V>>(
    threads: &Threads,
    workers: usize,
    longest: usize,
    settings: &KkSettings,
) -> Result<Chunks<A>> {
    let shape = Shape { max_occupancy: settings.max_occupancy };
    let first_level = first_level::<I, V, A>(longest, &shape, settings);
    let number = number(workers, settings);
    let pool = Pool::new(threads, settings.pool, number, || A::for_entries(longest, &shape))?;
    Ok(Chunks { pool, shape, first_level })
}

/// Slots of the first level, if it may be too small for a row.
fn first_level<I: Index, V: Columns, A: Table<I, V>>(
    longest: usize,
    shape: &Shape,
    settings: &KkSettings,
) -> Option<usize> {
    settings.first_level.filter(|&slots| A::first_level_capacity(slots, shape) < longest)
}

/// Number of chunks of the pool.
fn number(workers: usize, settings: &KkSettings) -> usize {
    settings.chunks.unwrap_or(workers).clamp(1, workers.max(1))
}

/// Bytes of the chunks, and of the first levels of all workers.
fn chunk_bytes<I: Index, V: Columns, A: Table<I, V>>(workers: usize, longest: usize, settings: &KkSettings) -> u128 {
    let shape = Shape { max_occupancy: settings.max_occupancy };
    let first = first_level::<I, V, A>(longest, &shape, settings);
    let first = first.map_or(0, |slots| A::first_level_bytes(slots, &shape));
    let chunk = A::bytes(longest, &shape).saturating_add(POOL);
    (number(workers, settings) as u128).saturating_mul(chunk).saturating_add(workers as u128 * first)
}

/// Upper bound on the bytes of a pool per chunk besides the chunk: padding between chunks.
const POOL: u128 = 256;

impl<A: Send> Chunks<A> {
    fn levels<I: Index, V: Columns>(&self) -> Result<Levels<'_, A>>
    where
        A: Table<I, V>,
    {
        let first = self.first_level.map(|slots| A::first_level(slots, &self.shape)).transpose()?;
        Ok(Levels { first, pool: PoolHandle::new(&self.pool) })
    }
}

impl<A: Send> Levels<'_, A> {
    /// Runs `work` on an empty accumulator for a block of rows. A chunk that serves as the first level is held until
    /// `work` is done, one that serves as the second until the row is done.
    #[inline(always)]
    pub(in crate::spgemm) fn rows<I: Index, V: Columns, T>(
        &mut self,
        work: impl FnOnce(&mut Rows<'_, I, V, A>) -> T,
    ) -> T
    where
        A: Table<I, V>,
    {
        let mut chunk;
        let (first, more) = match &mut self.first {
            Some(first) => (first, Some(self.pool)),
            None => {
                chunk = self.pool.take();
                (&mut *chunk, None)
            }
        };
        work(&mut Rows { first, second: None, more, _keys: PhantomData })
    }
}

/// The accumulator of one row after another.
pub(in crate::spgemm) struct Rows<'a, I, V, A> {
    first: &'a mut A,
    second: Option<MutexGuard<'a, A>>,
    /// The source of the second level; `None` if the first holds every row.
    more: Option<PoolHandle<'a, A>>,
    _keys: PhantomData<(I, V)>,
}

impl<I: Index, V: Columns, A: Table<I, V>> Rows<'_, I, V, A> {
    /// Begins a row of at most `bound` distinct keys.
    #[inline(always)]
    pub(in crate::spgemm) fn begin(&mut self, bound: usize) {
        self.first.begin(bound);
    }
    /// Combines `value(t)` with the value of `keys[t]`, for all keys, in either level.
    #[inline(always)]
    pub(in crate::spgemm) fn insert(&mut self, keys: &[I], value: impl Fn(usize) -> V) {
        let mut from = self.first.insert(keys, &value);
        while from < keys.len() {
            self.overflow(keys[from], value(from));
            from += 1;
            let at = from;
            from += self.first.insert(&keys[at..], |t| value(at + t));
        }
    }
    /// Inserts new, distinct keys.
    #[inline(always)]
    pub(in crate::spgemm) fn insert_new(&mut self, keys: &[I]) {
        for &refused in &keys[self.first.insert_new(keys)..] {
            self.overflow(refused, V::NONE);
        }
    }
    /// Inserts a key that the first level refused.
    #[inline(never)]
    fn overflow(&mut self, key: I, value: V) {
        let pool = self.more.expect("an accumulator was made smaller than its rows");
        let second = self.second.get_or_insert_with(|| pool.take());
        if second.len() == 0 {
            second.begin(usize::MAX);
        }
        assert!(second.insert(&[key], |_| value) == 1, "the second level was made smaller than its rows");
    }
    /// The positions of `keys`, all of which must be present; those of the second level follow those of the first.
    #[inline(always)]
    pub(in crate::spgemm) fn positions(&self, keys: &[I], positions: &mut [usize]) {
        let mut from = self.first.positions(keys, positions);
        while from < keys.len() {
            let found = self
                .second
                .as_ref()
                .is_some_and(|second| second.positions(&keys[from..=from], &mut positions[from..=from]) == 1);
            assert!(found, "a key is missing");
            positions[from] += self.first.len();
            from += 1;
            from += self.first.positions(&keys[from..], &mut positions[from..]);
        }
    }
    /// Number of keys.
    #[inline(always)]
    pub(in crate::spgemm) fn len(&self) -> usize {
        self.first.len() + self.second.as_ref().map_or(0, |second| second.len())
    }
    /// Number of columns of all keys.
    #[inline(always)]
    pub(in crate::spgemm) fn count(&self) -> usize {
        let of = |values: &[V]| values.iter().map(|value| value.count()).sum::<usize>();
        of(self.first.values()) + self.second.as_ref().map_or(0, |second| of(second.values()))
    }
    /// Calls `f` for each key and its value.
    #[inline(always)]
    pub(in crate::spgemm) fn each(&self, mut f: impl FnMut(I, V)) {
        self.first.each(&mut f);
        if let Some(second) = &self.second {
            second.each(f);
        }
    }
    /// Writes the keys, by position, to `out`, which has as many elements.
    #[inline(always)]
    pub(in crate::spgemm) fn keys(&self, out: &mut [I]) {
        let (first, second) = out.split_at_mut(self.first.len());
        self.first.keys(first);
        if let Some(level) = &self.second {
            level.keys(second);
        }
    }
    /// Ends the row: removes all keys and returns the second level to the pool.
    #[inline(always)]
    pub(in crate::spgemm) fn clear(&mut self) {
        self.first.clear();
        if let Some(mut second) = self.second.take() {
            second.clear();
        }
    }
}
