//! One pass over common columns by an inverted index: the engine of every distance whose ⊕ is +.
//!
//! A tile of rows of Y is transposed: for each column the rows that have it. A row of X then adds `a ⊗ b` into one
//! accumulator per row of the tile, column after column, so that work is done for common columns alone: Σ_c |X_c|
//! |Y_c|, where a scan of rows does nrows(X) · nnz(Y). Each accumulator's fold goes in the order of X's columns,
//! whatever the tiles and threads.
//!
//! A column that many rows of the tile have is kept dense where ⊗ is cheap: vector instructions then do all rows sooner
//! than one after the other those that have it. What is added for the others is 0, so the sums are the same bits.
//!
//! Where all rows are so dense that an index spares little, those of Y are spread out, and no index is made: `dense`.
//!
//! By tiles there are no bounds that spare pairs: with them each list has to ask for itself, where this pass does a
//! pair once for both. Where few pairs share a column rows do ask for themselves, and all of Y at once: `by_columns`.
//!
//! Source: Gustavson 1978 (row-wise products); the one-pass form of [`Recipe`](super::Recipe).

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::by_columns::{ByColumns, RowSums};
use super::dense::{self, Dense, QueryRows, Weighed};
use super::engine::{Engine, Sink, Tile, Whole};
use super::float::Float;
use super::loops::{Loops, TOGETHER};
use super::options::Search;
use super::postings::Postings;
use super::query_accumulator::All;
use super::recipe::{Apart, Side};
use super::rows::Rows;
use super::tile::{DENSE, Indexed, Query};
use crate::Result;
use crate::par::{Threads, collected, filled};
use crate::simd::register;

/// Rows in a tile: accumulators of 16 KiB, half of a common first-level cache, leave room for what streams by; half as
/// many where rows are long, so that the tile's entries stay near too.
const TILE: usize = 2048;
/// Bytes of what a thread has beside sums where it asks all of Y.
const QUERY_BYTES: u64 = 16 << 10;
/// Entries of a tile above which it has half as many rows.
const TILE_ENTRIES: usize = 1 << 17;

/// Nanoseconds, about, of a thread where rows ask all of Y at once: of a column that two rows share, of a column of a
/// row of X, of a row; and by tiles of a pair, and of a shared column.
const MET: f64 = 4.0;
const COLUMN: f64 = 50.0;
const ROW: f64 = 100.0;
const PAIR: f64 = 1.6;
const ADDED: f64 = 0.5;
/// Of a shared column where ⊗ is not cheap; where sums of some rows of X stand side by side; and more where sums for
/// all rows of Y have more bytes than a first-level cache.
const COMPUTED: f64 = 3.0;
const SIDE_BY_SIDE: f64 = 0.35;
const FAR: f64 = 0.2;
const NEAREST: usize = 32 << 10;
/// Of finding a column in a tile, or in all rows.
const FOUND: f64 = 5.0;
/// Most rows of Y for which some rows of X have sums side by side.
const NEAR: usize = 1 << 16;
/// And part of the rows that have a column which two share, in the mean. (With 0.15 they take 6 % longer than alone,
/// with 0.17 10 % less, with 0.4 up to 30 % less.)
const CROWD: f64 = 0.16;
/// Shared columns of a row, in the mean, from which on a bound may spare some.
const MANY: u64 = 512;

/// Prepared rows, of both sides, or of one if Y is X.
pub(crate) struct OnePassEngine<'a, W: Float> {
    pub(crate) loops: Arc<dyn Loops<W>>,
    pub(crate) x: Rows<'a, W>,
    /// Where Y is X, and its rows are prepared alike, there is none.
    pub(crate) y: Option<Arc<Rows<'a, W>>>,
    /// Y is X.
    pub(crate) same: bool,
    /// Entries are finite, so that ⊗ with 0 is what it should be.
    pub(crate) finite: bool,
    /// Rows of Y may be spread out, which takes more memory.
    pub(crate) may_spread: bool,
    /// Bytes of these rows.
    pub(crate) prepared: u64,
    /// What is known of the columns.
    pub(crate) columns: OnceLock<Columns>,
    /// All of Y by columns, once it was wanted.
    pub(crate) by_columns: Arc<OnceLock<ByColumns<W>>>,
    /// They were there before.
    pub(crate) kept: bool,
    /// How neighbours are looked for.
    pub(crate) search: Search,
}

/// What is known of the columns of X and Y.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    /// Those that a tile would keep dense if all tiles were alike.
    dense: usize,
    /// Σ_c |X_c| |Y_c|: columns that pairs share.
    shared: u64,
    /// Σ_c |X_c| |Y_c|²: by `shared`, how many rows of Y have a column that two rows share, in the mean.
    crowd: f64,
    /// Of those, the ones that no tile keeps dense; and entries of X in columns that tiles do.
    rare: u64,
    often: u64,
    /// Rows of X are finite as they are prepared.
    finite: bool,
}

impl Columns {
    /// What is not known.
    const NOTHING: Self = Self { dense: 0, shared: u64::MAX, crowd: 0.0, rare: u64::MAX, often: 0, finite: false };

    /// Counts a column that `of_x` rows of X and `of_y` of Y have.
    fn met(&mut self, of_x: u64, of_y: u64, kept_dense: bool) {
        let shared = of_x.saturating_mul(of_y);
        self.shared = self.shared.saturating_add(shared);
        self.crowd += shared as f64 * of_y as f64;
        if kept_dense { self.often += of_x } else { self.rare = self.rare.saturating_add(shared) }
    }
}

impl<'a, W: Float> OnePassEngine<'a, W> {
    fn y(&self) -> &Rows<'a, W> {
        self.y.as_deref().unwrap_or(&self.x)
    }
    /// Whether columns that many rows have are kept dense.
    fn keeps_dense(&self) -> bool {
        let facts = self.loops.facts();
        facts.cheap && !facts.counts && self.finite
    }
    /// Whether a bound is known for rows that share few of a row's columns, and those are not too many to have a row by
    /// columns.
    fn prunes(&self) -> bool {
        let rows = self.nrows().0.max(1) as u64;
        !self.y().entries.has_few_columns()
            && self.loops.at_least([W::ONE; 2], 0.5).is_some()
            && self.columns().shared / rows >= MANY
    }
    /// Whether rows that ask all of Y at once may have a sum for each row of it: where they share columns with many.
    fn sums_all(&self) -> bool {
        let (facts, (n, m)) = (self.loops.facts(), self.nrows());
        facts.cheap && !facts.counts && self.columns().shared >= (n as u64).saturating_mul(m as u64) / 8
    }
    /// Whether some may have their sums side by side: where many have the columns that they share, and sums stay near.
    fn sums_together(&self) -> bool {
        let ((n, m), facts, columns) = (self.nrows(), self.loops.facts(), self.columns());
        let many = columns.crowd >= CROWD * columns.shared as f64 * m as f64;
        n >= TOGETHER && m <= NEAR && many && self.sums_all() && facts.annihilates && columns.finite
    }
    fn columns(&self) -> Columns {
        self.columns_by(&Threads::caller())
    }
    /// The same, by these threads if it is not known.
    fn columns_by(&self, threads: &Threads) -> Columns {
        *self.columns.get_or_init(|| {
            let (entries, nrows) = (&self.y().entries, self.y().entries.nrows());
            let facts = self.loops.facts();
            let (keeps_dense, cheap) = (self.keeps_dense(), facts.cheap && !facts.counts);
            let finite = cheap && self.x.entries.values.iter().fold(true, |all, x| all & x.as_f64().is_finite());
            let is_often = |count: u64| keeps_dense && nrows > 0 && count * DENSE as u64 >= nrows as u64;
            let mut found = Columns { shared: 0, rare: 0, finite, ..Columns::NOTHING };
            let columns_of_x = self.x.entries.pattern.col_idx();
            if let Some(by_columns) = self.by_columns.get() {
                found.dense = if keeps_dense { by_columns.often() } else { 0 };
                for &c in columns_of_x {
                    let count = by_columns.count(c) as u64;
                    found.met(1, count, is_often(count));
                }
                return found;
            }
            // Where there is no memory for counting there will be none for tiles.
            let Ok(counts) = counts_of(threads, entries.pattern.col_idx(), entries.width()) else {
                return Columns::NOTHING;
            };
            found.dense = counts.iter().filter(|&&count| is_often(count.into())).count();
            if self.y.is_some() {
                for &c in columns_of_x {
                    let count = u64::from(counts[c as usize]);
                    found.met(1, count, is_often(count));
                }
            } else {
                for count in counts.into_iter().map(u64::from) {
                    found.met(count, count, is_often(count));
                }
            }
            found
        })
    }
    /// What comparing rows takes by an index, and with rows of Y spread out.
    fn terms(&self) -> Weighed {
        let (columns, (n, m), y) = (self.columns(), self.nrows(), &self.y().entries);
        let (shape, entries) = ([n, m, y.width()], [self.x.entries.values.len(), y.values.len()]);
        Weighed { shape, entries, often: columns.often, rare: columns.rare, half: self.symmetric() }
    }
    /// Whether rows of Y are spread out.
    fn spreads(&self) -> bool {
        // Of a sum with terms that an index leaves out, and are zeros, the bits are the same; what is not finite gives
        // no zeros.
        self.may_spread && self.columns().finite && self.terms().spreads::<W>(register())
    }
    fn dense_columns(&self) -> usize {
        self.columns().dense
    }
    /// Whether rows ask all of Y at once, and not tile after tile.
    fn asks_whole(&self) -> bool {
        let (facts, (n, m), y) = (self.loops.facts(), self.nrows(), &self.y().entries);
        if !facts.meets || !self.finite || m > u32::MAX as usize {
            return false;
        }
        // What tiles keep by columns is too much where few columns have entries.
        if self.search != Search::Auto || self.kept && y.has_few_columns() {
            return self.search != Search::Tiles;
        }
        let (shared, pairs) = (self.columns().shared as f64, n as f64 * m as f64);
        let columns = self.x.entries.values.len() as f64;
        // Without an order all rows are looked at here too.
        let all = if facts.apart == Apart::Unknown { PAIR * pairs } else { 0.0 };
        let sparse = MET * shared + all + COLUMN * columns;
        let dense = if self.sums_all() {
            let far = if m * size_of::<W>() > NEAREST { FAR } else { 0.0 };
            let summed = far + if self.sums_together() { SIDE_BY_SIDE } else { ADDED };
            summed * shared + PAIR * pairs + FOUND * columns
        } else {
            f64::INFINITY
        };
        let whole = sparse.min(dense) + ROW * n as f64;
        // Tiles would have to be opened, for few rows that ask.
        let tiles = m.div_ceil(self.tile_rows().max(1));
        let opening = if self.kept { PAIR * (2 * y.values.len() + tiles * y.width()) as f64 } else { 0.0 };
        let part = if self.symmetric() { 0.5 } else { 1.0 };
        if self.spreads() {
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
            loops.again(of_x, of_y, keys, itself, &mut |j| self.exact(i, first + j));
        }
        // What is not a number stays so.
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
        if self.spreads() {
            return PAIR + self.terms().times(register())[1] / pairs;
        }
        let term = if self.loops.facts().cheap { ADDED } else { COMPUTED };
        PAIR + term * self.columns().shared as f64 / pairs
    }
    fn tile_rows(&self) -> usize {
        if self.spreads() {
            return dense::tile_rows::<W>(self.y().entries.width());
        }
        let (entries, rows) = (self.y().entries.values.len(), self.nrows().1);
        let most = if entries / TILE_ENTRIES > rows / TILE { TILE / 2 } else { TILE };
        most.min(rows.next_power_of_two())
    }
    fn tile_bytes(&self) -> u64 {
        let y = &self.y().entries;
        if self.spreads() {
            return dense::tile_bytes::<W>(y.width());
        }
        // Its place, its value, what it adds alone, its number in the column.
        let values = if self.loops.facts().alone { 2 } else { 1 };
        let of_entry = 2 + values * size_of::<W>() + if self.symmetric() { 2 } else { 0 };
        let dense = self.dense_columns() * self.tile_rows() * size_of::<W>();
        (8 * (y.width() + 1) + y.most_entries(self.tile_rows()) * of_entry + dense) as u64
    }
    fn task_bytes(&self) -> u64 {
        if self.spreads() {
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
        if self.spreads() {
            return Ok(Box::new(Spread { engine: self, tile: Dense::new(y, rows)? }));
        }
        let postings = Postings::new(&y.pattern, rows.clone(), self.symmetric(), W::ZERO, |at| y.values[at])?;
        let mut index = Indexed::new(rows, postings);
        if self.keeps_dense() {
            index.keep_dense(y.width())?;
        }
        if self.loops.facts().alone {
            let entries = index.postings.entries();
            let mut alone = filled(entries.len(), W::ZERO, "postings")?;
            self.loops.alone(Side::Y, entries, &mut alone);
            index.alone = alone;
        }
        Ok(Box::new(Opened { engine: self, index }))
    }
    fn finish(&self, keys: &mut [f64]) {
        self.loops.finish(keys);
    }
    fn explain(&self) -> String {
        let halves = if self.symmetric() { "each pair once" } else { "all pairs" };
        if self.spreads() {
            let (tile, group, columns) = (self.tile_rows(), dense::group_rows::<W>(), dense::COLUMNS);
            return format!("rows spread out, {group} by {columns} columns at once, tiles of {tile} rows, {halves}");
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
        self.asks_whole().then(|| {
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
                ByColumns::new(threads, &y.entries, y.norms_from(0, y.entries.nrows()), self.loops.facts().apart)?
            };
            // What another thread made is the same.
            let _ = self.by_columns.set(made);
        }
        Ok(self.by_columns.get().map(|by_columns| {
            let Self { x, same, .. } = self;
            let (loops, dense) = (&*self.loops, self.sums_all());
            let together = self.sums_together() && by_columns.is_finite();
            let prunes = self.prunes() && !together;
            Box::new(All { loops, x, y: self.y(), by_columns, same: *same, prunes, dense, together }) as _
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
        let kept = if self.kept { ", kept" } else { "" };
        format!(
            "inverted index of all rows{kept}, one pass over the rows that share a column, {shared:.2e} in a pair{rare}{together}; {others}"
        )
    }
}

/// How often each of `width` columns comes. Threads have columns of their own, and read all: in sorted rows those of a
/// thread are beside each other.
fn counts_of(threads: &Threads, columns: &[u32], width: usize) -> Result<Vec<u32>> {
    // With few columns the counts stay near one processor.
    const FEW: usize = 1 << 17;
    let mut counts = filled(width, 0u32, "counts of columns")?;
    let parts = if width > FEW { threads.count().min(8) } else { 1 };
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
        // Rows up to this one: no more is asked for.
        let row_ptr = x.entries.pattern.row_ptr();
        let before = (len < self.index.rows.len()).then(|| row_ptr[i] - row_ptr[first]);
        loops.add(Query { columns, entries, alone: x.alone(i), len, before }, &self.index, sums, shared);
        self.engine.keys_of(i, first, sums, shared, keys);
        sums.fill(W::ZERO);
        shared.fill(W::ZERO);
    }
}

/// A tile of rows of Y that are spread out.
struct Spread<'a, W: Float> {
    engine: &'a OnePassEngine<'a, W>,
    tile: Dense<W>,
}

impl<W: Float> Tile for Spread<'_, W> {
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
