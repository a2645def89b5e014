//! The k nearest rows of Y for every row of X, without ever storing all distances.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::best::{self, TopK, code, put};
use super::engine::{Batches, Engine, Opened, Ranking, query_blocks};
use super::float::{Float, Form, OfType, Typed};
use super::inverted_index;
use super::neighbours::{Lists, Neighbours};
use crate::par::{Threads, UninitOutput, collected, counters, out_of_memory, reserved};
use crate::simd::{self, dispatch_work};
use crate::{Error, Result};

/// Byte limit of the per-thread lists.
const OWN_LISTS: u64 = 256 << 20;

/// Where candidates are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    /// Every thread has lists for all rows, so that one key serves both of its rows.
    PerThread,
    /// Each row has its own candidates and computes its own keys.
    PerRow,
}

/// The plan of a search, and its bytes.
struct SearchPlan {
    storage: Storage,
    bytes: u64,
}

fn plan_search(threads: &Threads, engine: &dyn Engine, k: usize, entry: usize, budget: Option<u64>) -> SearchPlan {
    let n = engine.nrows().0;
    let result = (n as u64).saturating_mul(k as u64).saturating_mul(4 + entry as u64);
    let lists = Lists::bytes(n, k);
    let scratch = Batches::new(engine).all_bytes(threads);
    // Plus the bound of each row that threads share.
    let own = lists.saturating_mul(threads.count() as u64).saturating_add(8 * n as u64);
    let all = |lists: u64| result.saturating_add(lists).saturating_add(scratch);
    if engine.symmetric()
        && pays_in_pairs(engine, k)
        && own <= OWN_LISTS.max(lists.saturating_add(8 * n as u64))
        && budget.is_none_or(|b| all(own) <= b)
    {
        SearchPlan { storage: Storage::PerThread, bytes: all(own) }
    } else {
        SearchPlan { storage: Storage::PerRow, bytes: all(bytes_by_rows(threads, engine, k)) }
    }
}

/// Extra nanoseconds, about, of a candidate in a per-thread list over one in a per-row list.
const LISTED: f64 = 55.0;

/// Whether computing each key once for both of its rows pays: per-thread lists take candidates more slowly.
fn pays_in_pairs(engine: &dyn Engine, k: usize) -> bool {
    let (m, k) = (engine.nrows().1 as f64, k as f64);
    // A list accepts each of its first k candidates, and then, in random order, the j-th with probability k / j.
    let candidates = k * (1.0 + (m / k).max(1.0).ln());
    candidates * LISTED <= engine.pair_time() * m / 2.0
}

/// Bytes of a search by queries of all of Y, if that strategy applies.
fn whole_bytes(threads: &Threads, engine: &dyn Engine, k: usize, entry: usize, budget: Option<u64>) -> Option<u64> {
    let result = (engine.nrows().0 as u64).saturating_mul(k as u64).saturating_mul(4 + entry as u64);
    let of_candidates = best::bytes(k).saturating_mul(threads.count() as u64);
    let bytes = engine.whole_bytes(threads)?.saturating_add(result).saturating_add(of_candidates);
    budget.is_none_or(|budget| bytes <= budget).then_some(bytes)
}

/// Bytes that [`search`] takes, including the prepared rows.
pub(super) fn bytes(
    threads: &Threads,
    engine: &dyn Engine,
    k: usize,
    entry: usize,
    exclude_self: bool,
    budget: Option<u64>,
) -> u64 {
    let k = available(engine, k, exclude_self);
    whole_bytes(threads, engine, k, entry, budget)
        .unwrap_or_else(|| plan_search(threads, engine, k, entry, budget).bytes)
}

/// Neighbours that each row has when `k` are requested.
fn available(engine: &dyn Engine, k: usize, exclude_self: bool) -> usize {
    let m = engine.nrows().1;
    k.min(m - usize::from(exclude_self && m > 0))
}

/// Neighbours as a [`Form`].
pub(super) struct NeighboursForm;

impl Form for NeighboursForm {
    type Of<T: Float> = Neighbours<T>;
}

/// The parameters of a nearest-neighbour search.
#[derive(Clone, Copy)]
pub(super) struct KnnSpec {
    pub(super) k: usize,
    pub(super) similarity: bool,
    pub(super) exclude_self: bool,
    pub(super) budget: Option<u64>,
}

/// The `k` nearest rows of Y for each row of X, with distances of the type `of`.
pub(super) fn search(
    threads: &Threads,
    engine: &dyn Engine,
    wanted: KnnSpec,
    of: Typed<OfType>,
) -> Result<Typed<NeighboursForm>> {
    Ok(match of {
        Typed::F32(_) => Typed::F32(search_as(threads, engine, wanted)?),
        Typed::F64(_) => Typed::F64(search_as(threads, engine, wanted)?),
    })
}

fn search_as<T: Float>(threads: &Threads, engine: &dyn Engine, wanted: KnnSpec) -> Result<Neighbours<T>> {
    let KnnSpec { k, similarity, exclude_self, budget } = wanted;
    let ranking = Ranking { engine, similarity, rounded: |d| T::from_f64(d).as_f64() };
    let (n, m) = engine.nrows();
    let most = u32::MAX as usize;
    if m > most {
        return Err(Error::IndexOverflow { what: "rows to search", needed: m as u128, max: most as u128 });
    }
    let k = available(engine, k, exclude_self);
    if whole_bytes(threads, engine, k, size_of::<T>(), budget).is_some()
        && let Some(whole) = engine.whole(threads)?
    {
        let (indices, distances) = inverted_index::nearest(threads, engine, &*whole, &ranking, k, exclude_self)?;
        return Ok(Neighbours::new(m, k, indices, distances, n, engine.explain_whole()));
    }
    let SearchPlan { storage, bytes } = plan_search(threads, engine, k, size_of::<T>(), budget);
    if let Some(budget) = budget.filter(|&b| bytes > b) {
        return Err(Error::Budget { what: "nearest neighbours", bytes: bytes.into(), budget: budget.into() });
    }
    let blocks = query_blocks(engine, threads)?;
    let ((indices, distances), kept) = match storage {
        Storage::PerThread => (by_pairs(threads, engine, &ranking, &blocks, k, exclude_self)?, "lists of each thread"),
        Storage::PerRow => (by_rows(threads, engine, &ranking, &blocks, k, exclude_self)?, "lists of each row"),
    };
    Ok(Neighbours::new(m, k, indices, distances, n, format!("{}, {kept}", engine.explain())))
}

/// Offers the keys of a row against the rows of Y from `first` on to the list at `at`.
fn offer(lists: &mut Lists, ranking: &Ranking<'_>, at: usize, first: usize, keys: &[f64], skip: Option<usize>) {
    dispatch_work(Offer { lists, ranking, at, first, keys, skip });
}

struct Offer<'a, 'f> {
    lists: &'a mut Lists,
    ranking: &'a Ranking<'f>,
    at: usize,
    first: usize,
    keys: &'a [f64],
    skip: Option<usize>,
}

impl simd::Work for Offer<'_, '_> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { lists, ranking, at, first, keys, skip } = self;
        // Most keys are refused, so sixty-four at a time are compared with the list's worst key before them.
        for (chunk, first) in keys.chunks(64).zip((first..).step_by(64)) {
            let worst = lists.worst()[at];
            if chunk.iter().fold(false, |any, &key| any | passes(key, worst)) {
                for (&key, j) in chunk.iter().zip(first..) {
                    if passes(key, lists.worst()[at]) && Some(j) != skip {
                        lists.push(at, key, ranking.of(key), j as u32);
                    }
                }
            }
        }
    }
}

/// Offers row `i` to the rows from `first` on; `keys` are the keys of the pairs.
fn offer_back(lists: &mut Lists, ranking: &Ranking<'_>, i: usize, first: usize, keys: &[f64]) {
    dispatch_work(OfferBack { lists, ranking, i, first, keys });
}

struct OfferBack<'a, 'f> {
    lists: &'a mut Lists,
    ranking: &'a Ranking<'f>,
    i: usize,
    first: usize,
    keys: &'a [f64],
}

impl simd::Work for OfferBack<'_, '_> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { lists, ranking, i, first, keys } = self;
        for (chunk, first) in keys.chunks(64).zip((first..).step_by(64)) {
            let worst = &lists.worst()[first..][..chunk.len()];
            if chunk.iter().zip(worst).fold(false, |any, (&key, &worst)| any | passes(key, worst)) {
                for (&key, j) in chunk.iter().zip(first..) {
                    if passes(key, lists.worst()[j]) {
                        lists.push(j, key, ranking.of(key), i as u32);
                    }
                }
            }
        }
    }
}

/// Whether a key may enter a list. A list that is not full has NaN as its worst key, which refuses nothing.
#[inline(always)]
#[allow(clippy::neg_cmp_op_on_partial_ord)]
fn passes(key: f64, worst: f64) -> bool {
    !(key >= worst)
}

/// Lists that return to a free list when a thread is done with them.
struct BorrowedLists<'a> {
    lists: Option<Lists>,
    idle: &'a Mutex<Vec<Lists>>,
}

impl Drop for BorrowedLists<'_> {
    fn drop(&mut self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(self.lists.take());
    }
}

/// Computes each pair once and offers it to both of its rows.
///
/// A thread takes its tasks in order, so each row sees its candidates in order of their numbers: first the rows before
/// it, when it queries, then the rows after it, when they query. Candidates at the distance of the worst one may
/// therefore be refused at once.
fn by_pairs<T: Float>(
    threads: &Threads,
    engine: &dyn Engine,
    ranking: &Ranking<'_>,
    blocks: &[Range<usize>],
    k: usize,
    exclude_self: bool,
) -> Result<(Vec<u32>, Vec<T>)> {
    let n = engine.nrows().0;
    let idle = Mutex::new(Vec::new());
    // Without shared bounds, each thread's list would accept many candidates that another thread's list refuses, which
    // would take most of the time with 16 threads.
    let bounds = counters(if threads.count() > 1 { n } else { 0 }, "neighbours")?;
    Batches::new(engine).for_each(threads, |open: &[Opened<'_>]| {
        let mut tasks = reserved(blocks.len() * open.len(), "tasks")?;
        let all = (0..open.len()).flat_map(|t| (0..blocks.len()).map(move |b| (t, b)));
        tasks.extend(all.filter(|&(t, b)| blocks[b].end > open[t].0.start));
        threads.for_each_of(
            "nearest neighbours",
            tasks.len(),
            || {
                let had = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                Ok(BorrowedLists { lists: Some(had.map_or_else(|| Lists::new(n, k), Ok)?), idle: &idle })
            },
            |own, task| {
                let (t, b) = tasks[task];
                let (rows, tile) = &open[t];
                let Some(lists) = &mut own.lists else { return Ok(()) };
                // The rows that query and the rows that receive offers; their intersection only once.
                let touched = [rows.clone(), blocks[b].start.max(rows.end)..blocks[b].end];
                let touched = || touched.iter().filter(|rows| !bounds.is_empty() && !rows.is_empty()).cloned();
                touched().for_each(|rows| lists.adopt_bounds(&bounds, rows));
                tile.keys(blocks[b].clone(), true, &mut |i, keys| {
                    let itself = rows.contains(&i);
                    offer(lists, ranking, i, rows.start, keys, (itself && exclude_self).then_some(i));
                    // The last key is that of the row with itself, which was already offered.
                    let others = keys.len() - usize::from(itself);
                    offer_back(lists, ranking, i, rows.start, &keys[..others]);
                    Ok(())
                })?;
                touched().for_each(|rows| lists.publish_bounds(&bounds, rows, |keys| ranking.of_all(keys)));
                Ok(())
            },
        )
    })?;
    let found: Vec<Lists> = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end) * k;
    UninitOutput::new(n.saturating_mul(k), "neighbours")?.fill_with(
        UninitOutput::new(n.saturating_mul(k), "distances")?,
        threads,
        "neighbours",
        blocks.len(),
        end,
        || Ok(Vec::new()),
        |codes: &mut Vec<u128>, b, indices, distances| {
            for i in blocks[b].clone() {
                codes.clear();
                let all = found.iter().map(|l| l.row(i).len()).sum();
                codes.try_reserve(all).map_err(|_| out_of_memory::<u128>("neighbours", all))?;
                codes.extend(found.iter().flat_map(|l| l.row(i)).map(|&(distance, j)| code(distance, j)));
                codes.sort_unstable();
                put(&codes[..k], ranking, indices, distances);
            }
            Ok(())
        },
    )
}

/// Bytes of the candidates that a thread holds at a time, unless one row has more; and the most rows.
const BLOCK_BYTES: u64 = 4 << 20;
const ROWS: usize = 128;

/// Rows of `n` whose candidates a thread holds at a time.
fn rows_at_once(n: usize, k: usize) -> usize {
    ((BLOCK_BYTES / best::bytes(k)) as usize).clamp(1, n.clamp(1, ROWS))
}

/// Bytes of candidates in a search by rows: those of the rows that threads hold at a time, and the results so far of
/// all rows while further batches of tiles are opened.
fn bytes_by_rows(threads: &Threads, engine: &dyn Engine, k: usize) -> u64 {
    let n = engine.nrows().0;
    let of_thread = best::bytes(k).saturating_mul(rows_at_once(n, k) as u64);
    let at_once = of_thread.saturating_mul(threads.count() as u64);
    let all = (n as u64).saturating_mul(size_of::<u128>() as u64 * k as u64 + size_of::<usize>() as u64);
    at_once.saturating_add(if Batches::new(engine).count() > 1 { all } else { 0 })
}

/// The nearest rows found in earlier batches for a block of rows, one row after another.
#[derive(Default)]
struct Earlier {
    codes: Vec<u128>,
    ends: Vec<usize>,
}

impl Earlier {
    fn row(&self, row: usize) -> &[u128] {
        let end = |row: usize| self.ends.get(row).copied().unwrap_or(0);
        &self.codes[row.checked_sub(1).map_or(0, end)..end(row)]
    }
}

/// Queries by rows of X of the open tiles.
struct RowQueries<'a, 'e> {
    ranking: &'a Ranking<'e>,
    open: &'a [Opened<'e>],
    k: usize,
    exclude_self: bool,
}

impl RowQueries<'_, '_> {
    /// Empty candidate lists for `rows` rows.
    fn candidates(&self, rows: usize) -> Result<Vec<TopK>> {
        let mut all = reserved(rows, "neighbours")?;
        for _ in 0..rows {
            all.push(TopK::new(self.k)?);
        }
        Ok(all)
    }
    /// Calls `each` with the nearest of each row, sorted, including those found before.
    fn query(
        &self,
        nearest: &mut [TopK],
        rows: Range<usize>,
        before: &Earlier,
        mut each: impl FnMut(&[u128]) -> Result<()>,
    ) -> Result<()> {
        for first in rows.clone().step_by(nearest.len()) {
            let at_once = first..rows.end.min(first + nearest.len());
            for (i, best) in at_once.clone().zip(&mut *nearest) {
                best.clear();
                best.resume(before.row(i - rows.start));
            }
            for (of_tile, tile) in self.open {
                tile.keys(at_once.clone(), false, &mut |i, keys| {
                    let skip = self.exclude_self.then_some(i as u32);
                    nearest[i - first].offer_all(self.ranking, of_tile.start as u32, keys, skip);
                    Ok(())
                })?;
            }
            for best in &mut nearest[..at_once.len()] {
                each(best.sorted())?;
            }
        }
        Ok(())
    }
}

/// Each row queries all rows of Y, tile after tile.
fn by_rows<T: Float>(
    threads: &Threads,
    engine: &dyn Engine,
    ranking: &Ranking<'_>,
    blocks: &[Range<usize>],
    k: usize,
    exclude_self: bool,
) -> Result<(Vec<u32>, Vec<T>)> {
    let (n, m) = engine.nrows();
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end) * k;
    let before = collected(blocks.len(), blocks.iter().map(|_| Mutex::new(Earlier::default())), "neighbours")?;
    let taken = |b: usize| std::mem::take(&mut *before[b].lock().unwrap_or_else(PoisonError::into_inner));
    let mut found = (Vec::new(), Vec::new());
    Batches::new(engine).for_each(threads, |open: &[Opened<'_>]| {
        let queries = RowQueries { ranking, open, k, exclude_self };
        if open.last().is_some_and(|(rows, _)| rows.end == m) {
            found = UninitOutput::new(n.saturating_mul(k), "neighbours")?.fill_with(
                UninitOutput::new(n.saturating_mul(k), "distances")?,
                threads,
                "nearest neighbours",
                blocks.len(),
                end,
                || queries.candidates(rows_at_once(n, k)),
                |nearest, b, indices, distances| {
                    queries.query(nearest, blocks[b].clone(), &taken(b), |codes| {
                        put(codes, ranking, indices, distances);
                        Ok(())
                    })
                },
            )?;
            return Ok(());
        }
        threads.for_each_of(
            "nearest neighbours",
            blocks.len(),
            || queries.candidates(rows_at_once(n, k)),
            |nearest, b| {
                let mut now = Earlier { codes: Vec::new(), ends: reserved(blocks[b].len(), "neighbours")? };
                queries.query(nearest, blocks[b].clone(), &taken(b), |codes| {
                    let more = codes.len();
                    now.codes.try_reserve(more).map_err(|_| out_of_memory::<u128>("neighbours", more))?;
                    now.codes.extend_from_slice(codes);
                    now.ends.push(now.codes.len());
                    Ok(())
                })?;
                *before[b].lock().unwrap_or_else(PoisonError::into_inner) = now;
                Ok(())
            },
        )
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::engine::{OPEN_BYTES, Sink, Tile};
    use super::*;

    /// Rows with few distinct distances, so that there are many ties, and some NaN; tiles of 8 rows, `at_once` of them
    /// open at a time.
    struct Ties {
        nrows: usize,
        at_once: u64,
    }

    impl Ties {
        fn key(i: usize, j: usize) -> f64 {
            let (i, j) = (i.min(j), i.max(j));
            if (i + j) % 11 == 3 { f64::NAN } else { ((i * 37 + j * 53) % 13) as f64 }
        }
    }

    struct Rows(Range<usize>);

    impl Tile for Rows {
        fn keys(&self, queries: Range<usize>, half: bool, sink: &mut Sink<'_>) -> Result<()> {
            for i in queries {
                let end = if half { self.0.end.min(i + 1) } else { self.0.end };
                let mut keys: Vec<f64> = (self.0.start..end).map(|j| Ties::key(i, j)).collect();
                if !keys.is_empty() {
                    sink(i, &mut keys)?;
                }
            }
            Ok(())
        }
    }

    impl Engine for Ties {
        fn nrows(&self) -> (usize, usize) {
            (self.nrows, self.nrows)
        }
        fn work_before(&self, i: usize) -> u64 {
            i as u64
        }
        fn symmetric(&self) -> bool {
            true
        }
        fn tile_rows(&self) -> usize {
            8
        }
        fn tile_bytes(&self) -> u64 {
            OPEN_BYTES / self.at_once
        }
        fn task_bytes(&self) -> u64 {
            0
        }
        fn bytes(&self) -> u64 {
            0
        }
        fn open(&self, rows: Range<usize>) -> Result<Box<dyn Tile + '_>> {
            Ok(Box::new(Rows(rows)))
        }
        fn finish(&self, _: &mut [f64]) {}
        fn explain(&self) -> String {
            String::new()
        }
    }

    #[test]
    fn rows_and_pairs_find_the_first_of_all_sorted() {
        for (nrows, at_once) in [(0, 1), (1, 1), (60, 1), (60, 3), (300, 2), (300, 100)] {
            let engine = Ties { nrows, at_once };
            for threads in [1, 3] {
                let threads = Threads::new(threads).unwrap();
                let blocks = query_blocks(&engine, &threads).unwrap();
                let ranking = Ranking { engine: &engine, similarity: false, rounded: |d| d };
                for exclude_self in [false, true] {
                    let available = nrows - usize::from(exclude_self && nrows > 0);
                    for k in [0, 1, 7, 100, 300].map(|k: usize| k.min(available)) {
                        let mut right = (vec![], vec![]);
                        for i in 0..nrows {
                            let mut all: Vec<(f64, u32)> = (0..nrows as u32)
                                .filter(|&j| !(exclude_self && i == j as usize))
                                .map(|j| (Ties::key(i, j as usize), j))
                                .collect();
                            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                            right.0.extend(all[..k].iter().map(|near| near.1));
                            right.1.extend(all[..k].iter().map(|near| near.0.to_bits()));
                        }
                        let bits = |(rows, d): (Vec<u32>, Vec<f64>)| (rows, d.iter().map(|d| d.to_bits()).collect());
                        let found = by_rows(&threads, &engine, &ranking, &blocks, k, exclude_self).unwrap();
                        assert_eq!(bits(found), right, "{nrows} rows, {at_once} tiles, {k} nearest");
                        let found = by_pairs(&threads, &engine, &ranking, &blocks, k, exclude_self).unwrap();
                        assert_eq!(bits(found), right, "{nrows} rows, {at_once} tiles, {k} nearest");
                    }
                }
            }
        }
    }

    #[test]
    fn few_neighbours_are_found_in_pairs() {
        let engine = Ties { nrows: 4000, at_once: 100 };
        assert!(pays_in_pairs(&engine, 10) && !pays_in_pairs(&engine, 1000));
        let plan_search = |k, budget| plan_search(&Threads::new(2).unwrap(), &engine, k, 8, budget).storage;
        assert_eq!(
            (plan_search(10, None), plan_search(1000, None), plan_search(10, Some(1))),
            (Storage::PerThread, Storage::PerRow, Storage::PerRow)
        );
    }

    #[test]
    fn rows_have_their_candidates_in_little_memory() {
        assert_eq!([0, 10, 1000, 1 << 20].map(|k| rows_at_once(4000, k)), [ROWS, ROWS, ROWS, 1]);
        assert_eq!([0, 1, 20].map(|n| rows_at_once(n, 10)), [1, 1, 20]);
        let (threads, engine) = (Threads::new(2).unwrap(), |at_once| Ties { nrows: 4000, at_once });
        // All rows store their results so far where tiles are opened in several batches.
        let kept = bytes_by_rows(&threads, &engine(1), 1000) - bytes_by_rows(&threads, &engine(1000), 1000);
        assert_eq!(kept, 4000 * (16 * 1000 + 8));
    }
}
