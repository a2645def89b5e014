//! One pass over common columns by an inverted index: the engine of every distance whose ⊕ is +.
//!
//! A tile of rows of Y is transposed, so that each column lists the rows that have it. A row of X then adds `a ⊗ b`
//! into one accumulator per row of the tile, column after column. Work is done for common columns only: Σ_c |X_c|
//! |Y_c|, where a scan of rows would do nrows(X) · nnz(Y). Each accumulator's fold follows the order of X's columns,
//! whatever the tiles and threads.
//!
//! A column that many rows of the tile have is stored dense where ⊗ is cheap: vector instructions over all rows then
//! beat a scalar loop over the rows that have it. The other rows add 0, so the sums are bitwise the same.
//!
//! Where all rows are so dense that an index saves little, tiles of Y are stored dense without an index: `dense`.
//!
//! Tiles do not use pruning bounds. With bounds each row has to query for itself, whereas this pass computes a pair
//! once for both rows. Where few pairs share a column, rows do query for themselves, and all of Y at once:
//! `by_columns`.
//!
//! Source: Gustavson 1978 (row-wise products); the one-pass form of [`Recipe`](super::Recipe).

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::by_columns::{ByColumns, RowSums};
use super::dense::{self, CostModel, Dense, QueryRows};
use super::engine::{Engine, Sink, Tile, Whole};
use super::float::Float;
use super::loops::{Loops, TOGETHER};
use super::options::Search;
use super::postings::Postings;
use super::query_accumulator::WholeIndex;
use super::recipe::{DisjointOrder, Side};
use super::rows::Rows;
use super::tile::{DENSE, Indexed, Query};
use crate::Result;
use crate::par::{Threads, collected, filled};
use crate::simd::register;

/// Rows in a tile: accumulators of 16 KiB, half of a common first-level cache, leave room for streamed data. Half as
/// many where rows are long, so that the tile's entries stay in cache too.
const TILE: usize = 2048;
/// Bytes of a thread's scratch besides sums in a query of all of Y.
const QUERY_BYTES: u64 = 16 << 10;
/// Entries of a tile above which it has half as many rows.
const TILE_ENTRIES: usize = 1 << 17;

/// Nanoseconds of a thread, about. For queries of all of Y: of a shared column (`SHARED_COLUMN`), of a column of a row
/// of X (`COLUMN`), of a row (`ROW`). By tiles: of a pair (`PAIR`), of a shared column (`ADDED`).
const SHARED_COLUMN: f64 = 4.0;
const COLUMN: f64 = 50.0;
const ROW: f64 = 100.0;
const PAIR: f64 = 1.6;
const ADDED: f64 = 0.5;
/// Of a shared column where ⊗ is not cheap (`COMPUTED`); where sums of several rows of X are interleaved
/// (`SIDE_BY_SIDE`); the extra cost where the sums for all rows of Y exceed the first-level cache (`CACHE_MISS`), of
/// `CACHE_BYTES` bytes.
const COMPUTED: f64 = 3.0;
const SIDE_BY_SIDE: f64 = 0.35;
const CACHE_MISS: f64 = 0.2;
const CACHE_BYTES: usize = 32 << 10;
/// Of finding a column in a tile, or in all rows.
const FOUND: f64 = 5.0;
/// Most rows of Y for which several rows of X have interleaved sums.
const TOGETHER_ROWS: usize = 1 << 16;
/// And the least mean fraction of Y's rows that have a shared column. (With 0.15 interleaving takes 6 % longer than
/// separate sums, with 0.17 10 % less, with 0.4 up to 30 % less.)
const MIN_FREQUENCY: f64 = 0.16;
/// Mean number of shared columns per row above which a bound may skip some.
const PRUNE_SHARED: u64 = 512;

/// Prepared rows, of both sides, or of one if Y is X.
pub(crate) struct OnePassEngine<'a, W: Float> {
    pub(crate) loops: Arc<dyn Loops<W>>,
    pub(crate) x: Rows<'a, W>,
    /// `None` where Y is X and one preparation serves both sides.
    pub(crate) y: Option<Arc<Rows<'a, W>>>,
    /// Y is X.
    pub(crate) same: bool,
    /// Entries are finite, so that ⊗ with 0 gives what it should.
    pub(crate) finite: bool,
    /// Tiles of Y may be stored dense, which takes more memory.
    pub(crate) may_be_dense: bool,
    /// Bytes of the prepared rows.
    pub(crate) prepared: u64,
    /// Statistics of the columns.
    pub(crate) columns: OnceLock<Columns>,
    /// The index of all of Y, built on first use.
    pub(crate) by_columns: Arc<OnceLock<ByColumns<W>>>,
    /// The index was built earlier.
    pub(crate) prebuilt: bool,
    /// The search strategy.
    pub(crate) search: Search,
}

/// Statistics of the columns of X and Y.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    /// Columns that a tile would store dense if all tiles were alike.
    dense: usize,
    /// Σ_c |X_c| |Y_c|: shared columns of all pairs.
    shared: u64,
    /// Σ_c |X_c| |Y_c|²; divided by `shared`, the mean number of rows of Y that have a shared column.
    frequency: f64,
    /// `shared` without the columns that tiles store dense; and entries of X in the columns that tiles do.
    rare: u64,
    dense_entries: u64,
    /// Prepared rows of X are finite.
    finite: bool,
}

impl Columns {
    /// Unknown.
    const NOTHING: Self =
        Self { dense: 0, shared: u64::MAX, frequency: 0.0, rare: u64::MAX, dense_entries: 0, finite: false };

    /// Counts a column that `of_x` rows of X and `of_y` of Y have.
    fn count(&mut self, of_x: u64, of_y: u64, kept_dense: bool) {
        let shared = of_x.saturating_mul(of_y);
        self.shared = self.shared.saturating_add(shared);
        self.frequency += shared as f64 * of_y as f64;
        if kept_dense { self.dense_entries += of_x } else { self.rare = self.rare.saturating_add(shared) }
    }
}

impl<'a, W: Float> OnePassEngine<'a, W> {
    fn y(&self) -> &Rows<'a, W> {
        self.y.as_deref().unwrap_or(&self.x)
    }
    /// Whether frequent columns are stored dense.
    fn keeps_dense(&self) -> bool {
        let facts = self.loops.facts();
        facts.cheap && !facts.counts && self.finite
    }
    /// Whether a bound is known for rows that share few of a row's columns, and columns are few enough for a dense row.
    fn prunes(&self) -> bool {
        let rows = self.nrows().0.max(1) as u64;
        !self.y().entries.has_few_columns()
            && self.loops.at_least([W::ONE; 2], 0.5).is_some()
            && self.columns().shared / rows >= PRUNE_SHARED
    }
    /// Whether queries of all of Y may use a sum for each row of Y, because rows share columns with many rows.
    fn sums_all(&self) -> bool {
        let (facts, (n, m)) = (self.loops.facts(), self.nrows());
        facts.cheap && !facts.counts && self.columns().shared >= (n as u64).saturating_mul(m as u64) / 8
    }
    /// Whether several queries may interleave their sums: shared columns must be frequent, and the sums fit the cache.
    fn sums_together(&self) -> bool {
        let ((n, m), facts, columns) = (self.nrows(), self.loops.facts(), self.columns());
        let many = columns.frequency >= MIN_FREQUENCY * columns.shared as f64 * m as f64;
        n >= TOGETHER && m <= TOGETHER_ROWS && many && self.sums_all() && facts.annihilates && columns.finite
    }
    fn columns(&self) -> Columns {
        self.columns_by(&Threads::caller())
    }
    /// The same, computed by these threads if unknown.
    fn columns_by(&self, threads: &Threads) -> Columns {
        *self.columns.get_or_init(|| {
            let (entries, nrows) = (&self.y().entries, self.y().entries.nrows());
            let facts = self.loops.facts();
            let (keeps_dense, cheap) = (self.keeps_dense(), facts.cheap && !facts.counts);
            let finite = cheap && self.x.entries.values.iter().fold(true, |all, x| all & x.as_f64().is_finite());
            let is_frequent = |count: u64| keeps_dense && nrows > 0 && count * DENSE as u64 >= nrows as u64;
            let mut found = Columns { shared: 0, rare: 0, finite, ..Columns::NOTHING };
            let columns_of_x = self.x.entries.pattern.col_idx();
            if let Some(by_columns) = self.by_columns.get() {
                found.dense = if keeps_dense { by_columns.dense_columns() } else { 0 };
                for &c in columns_of_x {
                    let count = by_columns.count(c) as u64;
                    found.count(1, count, is_frequent(count));
                }
                return found;
            }
            // Without memory for counting there will be none for tiles.
            let Ok(counts) = counts_of(threads, entries.pattern.col_idx(), entries.width()) else {
                return Columns::NOTHING;
            };
            found.dense = counts.iter().filter(|&&count| is_frequent(count.into())).count();
            if self.y.is_some() {
                for &c in columns_of_x {
                    let count = u64::from(counts[c as usize]);
                    found.count(1, count, is_frequent(count));
                }
            } else {
                for count in counts.into_iter().map(u64::from) {
                    found.count(count, count, is_frequent(count));
                }
            }
            found
        })
    }
    /// The inputs of the cost model of an index against dense tiles.
    fn terms(&self) -> CostModel {
        let (columns, (n, m), y) = (self.columns(), self.nrows(), &self.y().entries);
        let (shape, entries) = ([n, m, y.width()], [self.x.entries.values.len(), y.values.len()]);
        CostModel { shape, entries, dense_entries: columns.dense_entries, rare: columns.rare, half: self.symmetric() }
    }
    /// Whether tiles of Y are stored dense.
    fn uses_dense_tiles(&self) -> bool {
        // The extra terms are zeros, so the sum is bitwise the same; entries that are not finite would not give zeros.
        self.may_be_dense && self.columns().finite && self.terms().prefers_dense::<W>(register())
    }
    fn dense_columns(&self) -> usize {
        self.columns().dense
    }
    /// Whether rows query all of Y at once, rather than tile after tile.
    fn queries_whole(&self) -> bool {
        let (facts, (n, m), y) = (self.loops.facts(), self.nrows(), &self.y().entries);
        if !facts.queries_all || !self.finite || m > u32::MAX as usize {
            return false;
        }
        // Data that tiles store by column is too large where few columns have entries.
        if self.search != Search::Auto || self.prebuilt && y.has_few_columns() {
            return self.search != Search::Tiles;
        }
        let (shared, pairs) = (self.columns().shared as f64, n as f64 * m as f64);
        let columns = self.x.entries.values.len() as f64;
        // Without an order this strategy examines all rows too.
        let all = if facts.disjoint_order == DisjointOrder::Unknown { PAIR * pairs } else { 0.0 };
        let sparse = SHARED_COLUMN * shared + all + COLUMN * columns;
        let dense = if self.sums_all() {
            let cache_miss = if m * size_of::<W>() > CACHE_BYTES { CACHE_MISS } else { 0.0 };
            let summed = cache_miss + if self.sums_together() { SIDE_BY_SIDE } else { ADDED };
            summed * shared + PAIR * pairs + FOUND * columns
        } else {
            f64::INFINITY
        };
        let whole = sparse.min(dense) + ROW * n as f64;
        // Tiles would have to be opened, for few queries.
        let tiles = m.div_ceil(self.tile_rows().max(1));
        let opening = if self.prebuilt { PAIR * (2 * y.values.len() + tiles * y.width()) as f64 } else { 0.0 };
        let part = if self.symmetric() { 0.5 } else { 1.0 };
        if self.uses_dense_tiles() {
            return whole < part * PAIR * pairs + self.terms().times(register())[1];
        }
        whole < part * (PAIR * pairs + ADDED * shared + FOUND * columns * tiles as f64) + opening
    }
    /// The key of a pair over the union of its columns.
    fn exact(&self, i: usize, j: usize) -> W {
        let (x, y) = (&self.x, self.y());
        self.loops.exact(x.entries.row(i), y.entries.row(j), [x.norms(i), y.norms(j)])
    }
    /// Keys of row `i` of X and the rows of Y from `first` on, from their sums.
    fn keys_of(&self, i: usize, first: usize, sums: &[W], shared: &[W], keys: &mut [f64]) {
        let (x, y, loops) = (&self.x, self.y(), &*self.loops);
        let (of_x, of_y) = (x.norms(i), y.norms_from(first, keys.len()));
        let any_near = loops.keys(of_x, of_y, sums, shared, keys);
        let itself = loops.facts().zero_self && self.same && (first..first + keys.len()).contains(&i);
        let itself = itself.then(|| i - first);
        if any_near {
            loops.refine(of_x, of_y, keys, itself, &mut |j| self.exact(i, first + j));
        }
        // NaN stays NaN.
        if let Some(key) = itself.and_then(|j| keys.get_mut(j)).filter(|key| !key.is_nan()) {
            *key = 0.0;
        }
    }
}

impl<W: Float> Engine for OnePassEngine<'_, W> {
    fn nrows(&self) -> (usize, usize) {
        (self.x.entries.nrows(), self.y().entries.nrows())
    }
    fn work_before(&self, i: usize) -> u64 {
        (self.x.entries.pattern.row_ptr()[i] + 16 * i) as u64
    }
    fn symmetric(&self) -> bool {
        self.same && self.loops.facts().symmetric
    }
    fn pair_time(&self) -> f64 {
        let (n, m) = self.nrows();
        let pairs = (n as f64 * m as f64).max(1.0);
        if self.uses_dense_tiles() {
            return PAIR + self.terms().times(register())[1] / pairs;
        }
        let term = if self.loops.facts().cheap { ADDED } else { COMPUTED };
        PAIR + term * self.columns().shared as f64 / pairs
    }
    fn tile_rows(&self) -> usize {
        if self.uses_dense_tiles() {
            return dense::tile_rows::<W>(self.y().entries.width());
        }
        let (entries, rows) = (self.y().entries.values.len(), self.nrows().1);
        let most = if entries / TILE_ENTRIES > rows / TILE { TILE / 2 } else { TILE };
        most.min(rows.next_power_of_two())
    }
    fn tile_bytes(&self) -> u64 {
        let y = &self.y().entries;
        if self.uses_dense_tiles() {
            return dense::tile_bytes::<W>(y.width());
        }
        // Its row, its value, its one-sided term, its number in the column.
        let values = if self.loops.facts().one_sided { 2 } else { 1 };
        let of_entry = 2 + values * size_of::<W>() + if self.symmetric() { 2 } else { 0 };
        let dense = self.dense_columns() * self.tile_rows() * size_of::<W>();
        (8 * (y.width() + 1) + y.most_entries(self.tile_rows()) * of_entry + dense) as u64
    }
    fn task_bytes(&self) -> u64 {
        if self.uses_dense_tiles() {
            return dense::task_bytes::<W>(self.x.entries.width());
        }
        let accumulators = if self.loops.facts().counts { 2 } else { 1 };
        (self.tile_rows() * (accumulators * size_of::<W>() + 8)) as u64
    }
    fn bytes(&self) -> u64 {
        self.prepared
    }
    fn open(&self, rows: Range<usize>) -> Result<Box<dyn Tile + '_>> {
        let y = &self.y().entries;
        if self.uses_dense_tiles() {
            return Ok(Box::new(DenseTile { engine: self, tile: Dense::new(y, rows)? }));
        }
        let postings = Postings::new(&y.pattern, rows.clone(), self.symmetric(), W::ZERO, |at| y.values[at])?;
        let mut index = Indexed::new(rows, postings);
        if self.keeps_dense() {
            index.keep_dense(y.width())?;
        }
        if self.loops.facts().one_sided {
            let entries = index.postings.entries();
            let mut one_sided = filled(entries.len(), W::ZERO, "postings")?;
            self.loops.one_sided(Side::Y, entries, &mut one_sided);
            index.one_sided = one_sided;
        }
        Ok(Box::new(Opened { engine: self, index }))
    }
    fn finish(&self, keys: &mut [f64]) {
        self.loops.finish(keys);
    }
    fn explain(&self) -> String {
        let halves = if self.symmetric() { "each pair once" } else { "all pairs" };
        if self.uses_dense_tiles() {
            let (tile, group, columns) = (self.tile_rows(), dense::group_rows::<W>(), dense::COLUMNS);
            return format!("dense tiles of {tile} rows, {group} by {columns} columns at once, {halves}");
        }
        let dense = match self.dense_columns() {
            0 => String::new(),
            dense => {
                format!(", {dense} of {} columns dense (in 1/{DENSE} of the rows or more)", self.y().entries.ncols())
            }
        };
        format!("inverted index, one pass, tiles of {} rows, {halves}{dense}", self.tile_rows())
    }
    fn whole_bytes(&self, threads: &Threads) -> Option<u64> {
        self.columns_by(threads);
        let (rows, entries) = (self.nrows().1, &self.y().entries);
        self.queries_whole().then(|| {
            let by_columns = ByColumns::<W>::bytes(threads.count(), rows, entries.width(), entries.values.len());
            let of_threads =
                (RowSums::<W>::bytes(rows, self.loops.facts().counts) + QUERY_BYTES) * threads.count() as u64;
            let row = if self.prunes() { entries.width() * size_of::<W>() } else { 0 };
            let sums = if self.sums_together() { TOGETHER } else { usize::from(self.sums_all()) };
            let row = row + sums * rows.next_power_of_two() * size_of::<W>();
            self.prepared + by_columns + of_threads + (row * threads.count()) as u64
        })
    }
    fn whole(&self, threads: &Threads) -> Result<Option<Box<dyn Whole + '_>>> {
        if self.by_columns.get().is_none() {
            let made = {
                let y = self.y();
                ByColumns::new(
                    threads,
                    &y.entries,
                    y.norms_from(0, y.entries.nrows()),
                    self.loops.facts().disjoint_order,
                )?
            };
            // Another thread would have built the same.
            let _ = self.by_columns.set(made);
        }
        Ok(self.by_columns.get().map(|by_columns| {
            let Self { x, same, .. } = self;
            let (loops, dense) = (&*self.loops, self.sums_all());
            let together = self.sums_together() && by_columns.is_finite();
            let prunes = self.prunes() && !together;
            Box::new(WholeIndex { loops, x, y: self.y(), by_columns, same: *same, prunes, dense, together }) as _
        }))
    }
    fn explain_whole(&self) -> String {
        let (n, m) = self.nrows();
        let shared = self.columns().shared as f64 / (n as f64 * m as f64).max(1.0);
        let ordered = self.by_columns.get().is_some_and(ByColumns::is_ordered);
        let others = if ordered { "others by norm" } else { "then all rows" };
        let finite = self.by_columns.get().is_some_and(ByColumns::is_finite);
        let together = if self.sums_together() && finite { ", some rows together" } else { "" };
        let rare = if self.prunes() && !self.sums_together() { ", rare columns first" } else { "" };
        let prebuilt = if self.prebuilt { ", prebuilt" } else { "" };
        format!(
            "inverted index of all rows{prebuilt}, one pass over the rows that share a column, {shared:.2e} in a pair{rare}{together}; {others}"
        )
    }
}

/// The frequency of each of `width` columns. Each thread counts a range of columns and reads all entries: in sorted
/// rows a thread's columns are adjacent.
fn counts_of(threads: &Threads, columns: &[u32], width: usize) -> Result<Vec<u32>> {
    // With few columns the counts stay in the cache of one CPU.
    const MIN_COLUMNS: usize = 1 << 17;
    let mut counts = filled(width, 0u32, "counts of columns")?;
    let parts = if width > MIN_COLUMNS { threads.count().min(8) } else { 1 };
    let each = width.div_ceil(parts).max(1);
    let parts = collected(parts, counts.chunks_mut(each).map(Mutex::new), "counts of columns")?;
    threads.for_each(
        parts.len(),
        || Ok(()),
        |(), part| {
            let (mut counts, first) = (parts[part].lock().unwrap_or_else(PoisonError::into_inner), part * each);
            for &c in columns {
                if let Some(count) = counts.get_mut((c as usize).wrapping_sub(first)) {
                    *count = count.saturating_add(1);
                }
            }
            Ok(())
        },
    )?;
    drop(parts);
    Ok(counts)
}

/// A tile of rows of Y.
struct Opened<'a, W: Float> {
    engine: &'a OnePassEngine<'a, W>,
    index: Indexed<W>,
}

impl<W: Float> Tile for Opened<'_, W> {
    fn keys(&self, queries: Range<usize>, half: bool, sink: &mut Sink<'_>) -> Result<()> {
        let n = self.index.rows.len();
        let room = n.next_power_of_two();
        let counts = self.engine.loops.facts().counts;
        let mut sums = filled(room, W::ZERO, "accumulators")?;
        let mut shared = filled(if counts { room } else { 0 }, W::ZERO, "accumulators")?;
        let mut keys = filled(n, 0.0f64, "keys")?;
        for i in queries {
            let len = if half { (i + 1).saturating_sub(self.index.rows.start).min(n) } else { n };
            if len > 0 {
                self.row(i, &mut sums, &mut shared, &mut keys[..len]);
                sink(i, &mut keys[..len])?;
            }
        }
        Ok(())
    }
}

impl<W: Float> Opened<'_, W> {
    /// Keys of row `i` of X; leaves the accumulators at 0.
    fn row(&self, i: usize, sums: &mut [W], shared: &mut [W], keys: &mut [f64]) {
        let (x, loops) = (&self.engine.x, &*self.engine.loops);
        let (columns, entries) = x.entries.row(i);
        let (first, len) = (self.index.rows.start, keys.len());
        // With `half`, only rows up to this one are needed.
        let row_ptr = x.entries.pattern.row_ptr();
        let before = (len < self.index.rows.len()).then(|| row_ptr[i] - row_ptr[first]);
        loops.add(Query { columns, entries, one_sided: x.one_sided(i), len, before }, &self.index, sums, shared);
        self.engine.keys_of(i, first, sums, shared, keys);
        sums.fill(W::ZERO);
        shared.fill(W::ZERO);
    }
}

/// A dense tile of rows of Y.
struct DenseTile<'a, W: Float> {
    engine: &'a OnePassEngine<'a, W>,
    tile: Dense<W>,
}

impl<W: Float> Tile for DenseTile<'_, W> {
    fn keys(&self, queries: Range<usize>, half: bool, sink: &mut Sink<'_>) -> Result<()> {
        let (engine, first, n, room) = (self.engine, self.tile.rows.start, self.tile.rows.len(), self.tile.room());
        let queries = if half { queries.start.max(first)..queries.end } else { queries };
        let mut sums = filled(queries.len().min(dense::TOGETHER) * room, W::ZERO, "sums")?;
        let mut keys = filled(n, 0.0f64, "keys")?;
        for start in queries.clone().step_by(dense::TOGETHER) {
            let rows = start..queries.end.min(start + dense::TOGETHER);
            sums.fill(W::ZERO);
            engine.loops.add_dense(&QueryRows::new(&engine.x.entries, rows.clone())?, &self.tile, half, &mut sums);
            for (i, sums) in rows.zip(sums.chunks(room)) {
                let len = if half { (i + 1 - first).min(n) } else { n };
                engine.keys_of(i, first, sums, &[], &mut keys[..len]);
                sink(i, &mut keys[..len])?;
            }
        }
        Ok(())
    }
}
