//! The k nearest rows of Y for every row of X, without ever holding all distances.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::engine::{Batches, Engine, Far, Opened, query_blocks};
use super::float::{Float, Form, OfType, Typed};
use super::inverted_index;
use super::neighbours::{Lists, Neighbours};
use crate::par::{Fresh, Threads, counters, out_of_memory, reserved};
use crate::simd::{self, dispatch_work};
use crate::{Error, Result};

/// Bytes of lists that threads may have of their own.
const OWN_LISTS: u64 = 256 << 20;

/// Where rows keep what they have found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    /// Every thread has lists for all rows, so that one key serves both of its rows.
    OfThread,
    /// A block of rows has its lists, and is asked by one thread at a time.
    OfBlock,
}

/// How a search goes, and the bytes that it takes.
struct Way {
    keep: Keep,
    bytes: u64,
}

fn way(threads: &Threads, engine: &dyn Engine, k: usize, entry: usize, budget: Option<u64>) -> Way {
    let n = engine.nrows().0;
    let result = (n as u64).saturating_mul(k as u64).saturating_mul(4 + entry as u64);
    let lists = Lists::bytes(n, k);
    let scratch = Batches::new(engine).all_bytes(threads);
    // And of each row what threads tell each other.
    let own = lists.saturating_mul(threads.count() as u64).saturating_add(8 * n as u64);
    let all = |lists: u64| result.saturating_add(lists).saturating_add(scratch);
    if engine.symmetric()
        && own <= OWN_LISTS.max(lists.saturating_add(8 * n as u64))
        && budget.is_none_or(|b| all(own) <= b)
    {
        Way { keep: Keep::OfThread, bytes: all(own) }
    } else {
        Way { keep: Keep::OfBlock, bytes: all(lists) }
    }
}

/// Bytes that it takes where rows ask all of Y at once, if they do.
fn whole_bytes(threads: &Threads, engine: &dyn Engine, k: usize, entry: usize, budget: Option<u64>) -> Option<u64> {
    let result = (engine.nrows().0 as u64).saturating_mul(k as u64).saturating_mul(4 + entry as u64);
    let of_candidates = inverted_index::bytes(threads, k);
    let bytes = engine.whole_bytes(threads)?.saturating_add(result).saturating_add(of_candidates);
    budget.is_none_or(|budget| bytes <= budget).then_some(bytes)
}

/// Bytes that [`search`] takes, with the prepared rows.
pub(super) fn bytes(
    threads: &Threads,
    engine: &dyn Engine,
    k: usize,
    entry: usize,
    exclude_self: bool,
    budget: Option<u64>,
) -> u64 {
    let k = there_are(engine, k, exclude_self);
    whole_bytes(threads, engine, k, entry, budget).unwrap_or_else(|| way(threads, engine, k, entry, budget).bytes)
}

/// Neighbours that a row has where `k` are asked for.
fn there_are(engine: &dyn Engine, k: usize, exclude_self: bool) -> usize {
    let m = engine.nrows().1;
    k.min(m - usize::from(exclude_self && m > 0))
}

/// Neighbours as a [`Form`].
pub(super) struct Found;

impl Form for Found {
    type Of<T: Float> = Neighbours<T>;
}

/// How many rows are wanted, which, and the bytes that they may take.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    pub(super) k: usize,
    pub(super) similarity: bool,
    pub(super) exclude_self: bool,
    pub(super) budget: Option<u64>,
}

/// The `k` nearest rows of Y for each row of X, with distances of the type `of`.
pub(super) fn search(
    threads: &Threads,
    engine: &dyn Engine,
    wanted: Nearest,
    of: Typed<OfType>,
) -> Result<Typed<Found>> {
    Ok(match of {
        Typed::F32(_) => Typed::F32(search_as(threads, engine, wanted)?),
        Typed::F64(_) => Typed::F64(search_as(threads, engine, wanted)?),
    })
}

fn search_as<T: Float>(threads: &Threads, engine: &dyn Engine, wanted: Nearest) -> Result<Neighbours<T>> {
    let Nearest { k, similarity, exclude_self, budget } = wanted;
    let far = Far { engine, similarity, rounded: |d| T::from_f64(d).as_f64() };
    let (n, m) = engine.nrows();
    let most = u32::MAX as usize;
    if m > most {
        return Err(Error::IndexOverflow { what: "rows to search", needed: m as u128, max: most as u128 });
    }
    let k = there_are(engine, k, exclude_self);
    if whole_bytes(threads, engine, k, size_of::<T>(), budget).is_some()
        && let Some(whole) = engine.whole(threads)?
    {
        let (indices, distances) = inverted_index::nearest(threads, engine, &*whole, &far, k, exclude_self)?;
        return Ok(Neighbours::new(m, k, indices, distances, n, engine.explain_whole()));
    }
    let Way { keep, bytes } = way(threads, engine, k, size_of::<T>(), budget);
    if let Some(budget) = budget.filter(|&b| bytes > b) {
        return Err(Error::Budget { what: "nearest neighbours", bytes: bytes.into(), budget: budget.into() });
    }
    let blocks = query_blocks(engine, threads)?;
    let found: Vec<Lists> = match keep {
        Keep::OfThread => by_pairs(threads, engine, &far, &blocks, k, exclude_self)?,
        Keep::OfBlock => by_rows(threads, engine, &far, &blocks, k, exclude_self)?,
    };
    // Lists of a thread are of all rows, those of a block of its rows alone.
    let of_block = |b: usize| match keep {
        Keep::OfThread => (0, &found[..]),
        Keep::OfBlock => (blocks[b].start, &found[b..=b]),
    };
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end) * k;
    let indices = Fresh::new(n.saturating_mul(k), "neighbours")?;
    let (indices, distances) = indices.fill_with(
        Fresh::new(n.saturating_mul(k), "distances")?,
        threads,
        "neighbours",
        blocks.len(),
        end,
        || Ok(Vec::new()),
        |all: &mut Vec<(f64, u32)>, b, indices, distances| {
            let (first, lists) = of_block(b);
            for i in blocks[b].clone() {
                all.clear();
                let found = lists.iter().map(|l| l.row(i - first).len()).sum();
                all.try_reserve(found).map_err(|_| out_of_memory::<(f64, u32)>("neighbours", found))?;
                all.extend(lists.iter().flat_map(|l| l.row(i - first)));
                all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                all.truncate(k);
                for (slot, &(_, j)) in indices.take(k, 0u32).iter_mut().zip(&*all) {
                    *slot = j;
                }
                for (slot, &(d, _)) in distances.take(k, T::ZERO).iter_mut().zip(&*all) {
                    *slot = T::from_f64(far.signed(d));
                }
            }
            Ok(())
        },
    )?;
    let kept = match keep {
        Keep::OfThread => "lists of each thread",
        Keep::OfBlock => "lists of each row",
    };
    Ok(Neighbours::new(m, k, indices, distances, n, format!("{}, {kept}", engine.explain())))
}

/// Offers the keys of a row against the rows of Y from `first` on to the list at `at`.
fn offer(lists: &mut Lists, far: &Far<'_>, at: usize, first: usize, keys: &[f64], skip: Option<usize>) {
    dispatch_work(Offer { lists, far, at, first, keys, skip });
}

struct Offer<'a, 'f> {
    lists: &'a mut Lists,
    far: &'a Far<'f>,
    at: usize,
    first: usize,
    keys: &'a [f64],
    skip: Option<usize>,
}

impl simd::Work for Offer<'_, '_> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { lists, far, at, first, keys, skip } = self;
        // Most keys are refused: sixty-four at a time, by the list's worst key as it was before them.
        for (chunk, first) in keys.chunks(64).zip((first..).step_by(64)) {
            let worst = lists.worst()[at];
            if chunk.iter().fold(false, |any, &key| any | passes(key, worst)) {
                for (&key, j) in chunk.iter().zip(first..) {
                    if passes(key, lists.worst()[at]) && Some(j) != skip {
                        lists.push(at, key, far.of(key), j as u32);
                    }
                }
            }
        }
    }
}

/// Offers row `i` to the rows from `first` on, whose keys these are.
fn offer_back(lists: &mut Lists, far: &Far<'_>, i: usize, first: usize, keys: &[f64]) {
    dispatch_work(OfferBack { lists, far, i, first, keys });
}

struct OfferBack<'a, 'f> {
    lists: &'a mut Lists,
    far: &'a Far<'f>,
    i: usize,
    first: usize,
    keys: &'a [f64],
}

impl simd::Work for OfferBack<'_, '_> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { lists, far, i, first, keys } = self;
        for (chunk, first) in keys.chunks(64).zip((first..).step_by(64)) {
            let worst = &lists.worst()[first..][..chunk.len()];
            if chunk.iter().zip(worst).fold(false, |any, (&key, &worst)| any | passes(key, worst)) {
                for (&key, j) in chunk.iter().zip(first..) {
                    if passes(key, lists.worst()[j]) {
                        lists.push(j, key, far.of(key), i as u32);
                    }
                }
            }
        }
    }
}

/// Whether a key may enter a list. A list that is not full has NaN for its worst, and refuses none.
#[inline(always)]
#[allow(clippy::neg_cmp_op_on_partial_ord)]
fn passes(key: f64, worst: f64) -> bool {
    !(key >= worst)
}

/// Lists that go back to a stock when a thread is done with them.
struct Own<'a> {
    lists: Option<Lists>,
    stock: &'a Mutex<Vec<Lists>>,
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner).extend(self.lists.take());
    }
}

/// Each pair once, offered to both of its rows.
///
/// A thread takes its tasks in order, so it meets the candidates of every row in order of their numbers: first the rows
/// before it, as the row asks, then the rows after it, as they ask. That is why what is as far as the worst may be
/// refused at once.
fn by_pairs(
    threads: &Threads,
    engine: &dyn Engine,
    far: &Far<'_>,
    blocks: &[Range<usize>],
    k: usize,
    exclude_self: bool,
) -> Result<Vec<Lists>> {
    let n = engine.nrows().0;
    let stock = Mutex::new(Vec::new());
    // A list of each thread alone would take many candidates that another's list does not: with 16 threads most of the
    // time.
    let bounds = counters(if threads.count() > 1 { n } else { 0 }, "neighbours")?;
    Batches::new(engine).for_each(threads, |open: &[Opened<'_>]| {
        let mut tasks = reserved(blocks.len() * open.len(), "tasks")?;
        let all = (0..open.len()).flat_map(|t| (0..blocks.len()).map(move |b| (t, b)));
        tasks.extend(all.filter(|&(t, b)| blocks[b].end > open[t].0.start));
        threads.for_each_of(
            "nearest neighbours",
            tasks.len(),
            || {
                let had = stock.lock().unwrap_or_else(PoisonError::into_inner).pop();
                Ok(Own { lists: Some(had.map_or_else(|| Lists::new(n, k), Ok)?), stock: &stock })
            },
            |own, task| {
                let (t, b) = tasks[task];
                let (rows, tile) = &open[t];
                let Some(lists) = &mut own.lists else { return Ok(()) };
                // Rows that ask, and those that are offered to; those of both once.
                let touched = [rows.clone(), blocks[b].start.max(rows.end)..blocks[b].end];
                let touched = || touched.iter().filter(|rows| !bounds.is_empty() && !rows.is_empty()).cloned();
                touched().for_each(|rows| lists.hear(&bounds, rows));
                tile.keys(blocks[b].clone(), true, &mut |i, keys| {
                    let itself = rows.contains(&i);
                    offer(lists, far, i, rows.start, keys, (itself && exclude_self).then_some(i));
                    // The last key is that of the row with itself, which was offered.
                    let others = keys.len() - usize::from(itself);
                    offer_back(lists, far, i, rows.start, &keys[..others]);
                    Ok(())
                })?;
                touched().for_each(|rows| lists.tell(&bounds, rows, |keys| far.of_all(keys)));
                Ok(())
            },
        )
    })?;
    Ok(stock.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Each row asks all rows of Y, tile after tile.
fn by_rows(
    threads: &Threads,
    engine: &dyn Engine,
    far: &Far<'_>,
    blocks: &[Range<usize>],
    k: usize,
    exclude_self: bool,
) -> Result<Vec<Lists>> {
    let mut lists = reserved(blocks.len(), "neighbours")?;
    for block in blocks {
        lists.push(Mutex::new(Lists::new(block.len(), k)?));
    }
    Batches::new(engine).for_each(threads, |open: &[Opened<'_>]| {
        threads.for_each_of(
            "nearest neighbours",
            blocks.len(),
            || Ok(()),
            |(), b| {
                let mut lists = lists[b].lock().unwrap_or_else(PoisonError::into_inner);
                for (rows, tile) in open {
                    tile.keys(blocks[b].clone(), false, &mut |i, keys| {
                        let skip = exclude_self.then_some(i);
                        offer(&mut lists, far, i - blocks[b].start, rows.start, keys, skip);
                        Ok(())
                    })?;
                }
                Ok(())
            },
        )
    })?;
    Ok(lists.into_iter().map(|l| l.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}
