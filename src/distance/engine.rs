//! Engines compute keys for the tasks: pairwise distances, nearest neighbours, radius.
//!
//! Rows of Y are processed in tiles. A tile is opened once and then queried by every row of X. Keys are f64 whatever
//! the arithmetic, so that tasks are compiled once and not for every metric.

use std::ops::Range;
use std::sync::OnceLock;

use crate::Result;
use crate::par::{Threads, reserved};

/// Receives the keys of row `i` of X against the rows of a tile, from its first row on.
pub(crate) type Sink<'a> = dyn FnMut(usize, &mut [f64]) -> Result<()> + 'a;

/// A measure applied to two matrices.
pub(crate) trait Engine: Sync {
    /// Rows of X and of Y.
    fn nrows(&self) -> (usize, usize);
    /// Entries and rows before row `i` of X.
    fn work_before(&self, i: usize) -> u64;
    /// Whether Y is X, and the keys of (i, j) and (j, i) are the same.
    fn symmetric(&self) -> bool;
    /// Nanoseconds of a thread, about, of a key; the default is for two rows compared entry by entry, without an index.
    fn pair_time(&self) -> f64 {
        20.0
    }
    /// Rows in a tile.
    fn tile_rows(&self) -> usize;
    /// Upper bound, about, on the bytes of one tile's index.
    fn tile_bytes(&self) -> u64;
    /// Bytes that one call of [`Tile::keys`] takes.
    fn task_bytes(&self) -> u64;
    /// Bytes of the prepared rows that are not the caller's.
    fn bytes(&self) -> u64;
    /// Builds the tile of these rows of Y.
    fn open(&self, rows: Range<usize>) -> Result<Box<dyn Tile + '_>>;
    /// Turns keys into distances.
    fn finish(&self, keys: &mut [f64]);
    /// The algorithm, and why.
    fn explain(&self) -> String;
    /// Bytes of a search by [`whole`](Self::whole), including the prepared rows; `None` if the search goes by tiles.
    fn whole_bytes(&self, _threads: &Threads) -> Option<u64> {
        None
    }
    /// All of Y, for queries; to be called if there are [`whole_bytes`](Self::whole_bytes).
    fn whole(&self, _threads: &Threads) -> Result<Option<Box<dyn Whole + '_>>> {
        Ok(None)
    }
    /// The algorithm of a search by [`whole`](Self::whole), and why.
    fn explain_whole(&self) -> String {
        String::new()
    }
}

/// A block of rows of Y, ready to be compared with.
pub(crate) trait Tile: Send + Sync {
    /// Keys of each of these rows of X, in order, against the rows of the tile; with `half`, only against the rows up
    /// to itself, for a symmetric engine.
    fn keys(&self, queries: Range<usize>, half: bool, sink: &mut Sink<'_>) -> Result<()>;
}

/// Receives a batch of rows of Y and their keys.
pub(crate) type EachKey<'a> = dyn FnMut(&[u32], &[f64]) + 'a;

/// All of Y, queried by one row of X at a time, in time proportional to the rows that share a column with it.
pub(crate) trait Whole: Sync {
    /// The query of one thread.
    fn row_query(&self) -> Result<Box<dyn RowQuery + '_>>;
}

/// A query of all of Y by one row of X.
pub(crate) trait RowQuery {
    /// Queries by the rare columns of row `i` of X alone, if that promises to save much. Then `touched` are the rows
    /// that share one of those columns, and the result is a lower bound on the keys of all others.
    fn query_rare(&mut self, i: usize) -> Option<f64>;
    /// Whether [`query_rare`](Self::query_rare) was enough.
    fn record_outcome(&mut self, enough: bool);
    /// Queries by row `i` of X: finds the rows that share a column with it.
    fn query(&mut self, i: usize);
    /// The keys of those rows, in batches and in no order.
    fn touched(&mut self, each: &mut EachKey<'_>);
    /// Whether the rows that share a column with the query are separated from the others, whose order is known. If not,
    /// only the keys of [`all`](Self::all) exist.
    fn is_ordered(&self) -> bool;
    /// Queries by several rows of X together, if that is cheaper; returns their number, from the first on. Then
    /// [`select_row`](Self::select_row) selects one of them.
    fn query_together(&mut self, _rows: Range<usize>) -> usize {
        0
    }
    /// Makes [`all`](Self::all) return the keys of row `i`, one of those that queried together.
    fn select_row(&mut self, _i: usize) {}
    /// The rows that share no column with the query, grouped by key and in order, smaller keys first, until `each`
    /// returns false.
    fn others(&mut self, each: &mut dyn FnMut(f64, &mut dyn Iterator<Item = u32>) -> bool);
    /// Keys of all rows against the query, in order; `each` gets the first row of a batch.
    fn all(&mut self, each: &mut dyn FnMut(usize, &mut [f64]));
}

/// The ranking of neighbours: by the returned distance, rounded to its type, or by its negative for a similarity.
/// Several keys may have the same rank.
pub(crate) struct Ranking<'a> {
    pub(crate) engine: &'a dyn Engine,
    pub(crate) similarity: bool,
    pub(crate) rounded: fn(f64) -> f64,
}

impl Ranking<'_> {
    pub(crate) fn of(&self, key: f64) -> f64 {
        let mut rank = [key];
        self.of_all(&mut rank);
        rank[0]
    }
    /// As [`of`](Self::of), in place.
    pub(crate) fn of_all(&self, keys: &mut [f64]) {
        self.engine.finish(keys);
        for key in keys {
            let rank = self.signed((self.rounded)(*key));
            *key = if rank.is_nan() { f64::NAN } else { rank };
        }
    }
    /// From distance to rank and back; −0 becomes 0.
    pub(crate) fn signed(&self, x: f64) -> f64 {
        if self.similarity { 0.0 - x } else { x + 0.0 }
    }
}

/// Rows of Y and their tile.
pub(crate) type Opened<'a> = (Range<usize>, Box<dyn Tile + 'a>);

/// Byte limit of the tiles that are open at the same time, unless one takes more.
pub(crate) const OPEN_BYTES: u64 = 64 << 20;

/// The tiles of Y, opened in batches and in order.
pub(crate) struct Batches<'a> {
    engine: &'a dyn Engine,
    rows: usize,
    at_once: usize,
}

impl<'a> Batches<'a> {
    pub(crate) fn new(engine: &'a dyn Engine) -> Self {
        let at_once = (OPEN_BYTES / engine.tile_bytes().max(1)).clamp(1, 1 << 20) as usize;
        Self { engine, rows: engine.tile_rows(), at_once }
    }
    /// Number of batches.
    pub(crate) fn count(&self) -> usize {
        self.engine.nrows().1.div_ceil(self.rows).div_ceil(self.at_once)
    }
    /// Bytes of the tiles that are open at the same time.
    pub(crate) fn bytes(&self) -> u64 {
        let tiles = self.engine.nrows().1.div_ceil(self.rows).min(self.at_once);
        tiles as u64 * self.engine.tile_bytes()
    }
    /// Bytes of the prepared rows, the open tiles, and the tasks of all threads.
    pub(crate) fn all_bytes(&self, threads: &Threads) -> u64 {
        let tasks = self.engine.task_bytes().saturating_mul(threads.count() as u64);
        self.engine.bytes().saturating_add(self.bytes()).saturating_add(tasks)
    }
    /// Runs `work` on the rows and tiles of each batch.
    pub(crate) fn for_each(&self, threads: &Threads, mut work: impl FnMut(&[Opened<'a>]) -> Result<()>) -> Result<()> {
        let n = self.engine.nrows().1;
        let tiles = n.div_ceil(self.rows);
        for first in (0..tiles).step_by(self.at_once) {
            let count = self.at_once.min(tiles - first);
            let mut slots: Vec<OnceLock<Opened<'a>>> = reserved(count, "tiles")?;
            slots.resize_with(count, OnceLock::new);
            threads.for_each(
                count,
                || Ok(()),
                |(), t| {
                    let rows = (first + t) * self.rows..((first + t + 1) * self.rows).min(n);
                    let tile = self.engine.open(rows.clone())?;
                    // Each slot is set once.
                    let _ = slots[t].set((rows, tile));
                    Ok(())
                },
            )?;
            let mut open = reserved(count, "tiles")?;
            open.extend(slots.into_iter().filter_map(OnceLock::into_inner));
            work(&open)?;
        }
        Ok(())
    }
}

/// Blocks of rows of X: enough to keep threads busy, each large enough to be worth handing out.
pub(crate) fn query_blocks(engine: &dyn Engine, threads: &Threads) -> Result<Vec<Range<usize>>> {
    let n = engine.nrows().0;
    let parts = (32 * threads.count()).min(n.div_ceil(8));
    crate::par::try_split(n, parts.max(n.div_ceil(128)), |i| engine.work_before(i))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Error;

    /// An engine that counts its tiles.
    struct Counted {
        nrows: usize,
        tile_rows: usize,
        tile_bytes: u64,
        /// The tile that cannot be allocated.
        refused: Option<usize>,
        open: AtomicUsize,
    }

    impl Counted {
        fn new(nrows: usize, tile_rows: usize, tile_bytes: u64) -> Self {
            Self { nrows, tile_rows, tile_bytes, refused: None, open: AtomicUsize::new(0) }
        }
    }

    struct Open<'a>(&'a AtomicUsize);

    impl Drop for Open<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    impl Tile for Open<'_> {
        fn keys(&self, _: Range<usize>, _: bool, _: &mut Sink<'_>) -> Result<()> {
            Ok(())
        }
    }

    impl Engine for Counted {
        fn nrows(&self) -> (usize, usize) {
            (1000, self.nrows)
        }
        fn work_before(&self, i: usize) -> u64 {
            // The first row is as heavy as all others.
            if i == 0 { 0 } else { 1000 + i as u64 }
        }
        fn symmetric(&self) -> bool {
            false
        }
        fn tile_rows(&self) -> usize {
            self.tile_rows
        }
        fn tile_bytes(&self) -> u64 {
            self.tile_bytes
        }
        fn task_bytes(&self) -> u64 {
            0
        }
        fn bytes(&self) -> u64 {
            0
        }
        fn open(&self, rows: Range<usize>) -> Result<Box<dyn Tile + '_>> {
            if self.refused.is_some_and(|tile| rows.start == tile * self.tile_rows) {
                return Err(Error::OutOfMemory { what: "a test", bytes: 1 });
            }
            self.open.fetch_add(1, Ordering::SeqCst);
            Ok(Box::new(Open(&self.open)))
        }
        fn finish(&self, _: &mut [f64]) {}
        fn explain(&self) -> String {
            String::new()
        }
    }

    /// The rows of the tiles, batch by batch; checks that exactly the batch's tiles are open.
    fn batches(engine: &Counted, threads: usize) -> Result<Vec<Vec<Range<usize>>>> {
        let mut seen = vec![];
        Batches::new(engine).for_each(&Threads::new(threads)?, |open| {
            assert_eq!(engine.open.load(Ordering::SeqCst), open.len(), "those before are closed");
            seen.push(open.iter().map(|(rows, _)| rows.clone()).collect());
            Ok(())
        })?;
        Ok(seen)
    }

    #[test]
    fn tiles_come_in_order_and_cover_all_rows() {
        for nrows in [0, 1, 7, 8, 9, 64, 100] {
            for tiles_at_once in [1, 2, 3, 100] {
                for threads in [1, 3] {
                    let engine = Counted::new(nrows, 8, OPEN_BYTES / tiles_at_once);
                    let found = batches(&engine, threads).unwrap();
                    let rows: Vec<usize> = found.iter().flatten().cloned().flatten().collect();
                    assert_eq!(rows, Vec::from_iter(0..nrows));
                    let tiles = nrows.div_ceil(8);
                    assert_eq!(found.len(), tiles.div_ceil(tiles_at_once as usize));
                    let full = &found[..found.len().saturating_sub(1)];
                    assert!(full.iter().all(|batch| batch.len() == tiles_at_once as usize));
                    assert_eq!(engine.open.load(Ordering::SeqCst), 0, "all are closed");
                    let at_once = tiles.min(tiles_at_once as usize) as u64;
                    assert_eq!(Batches::new(&engine).bytes(), at_once * engine.tile_bytes);
                }
            }
        }
    }

    #[test]
    fn a_tile_of_any_size_can_be_opened() {
        // A tile that exceeds the limit is opened alone.
        let engine = Counted::new(20, 8, 3 * OPEN_BYTES);
        let alone = |rows: Range<usize>| Vec::from_iter(Some(rows));
        assert_eq!(batches(&engine, 2).unwrap(), [alone(0..8), alone(8..16), alone(16..20)]);
        assert_eq!(Batches::new(&engine).bytes(), 3 * OPEN_BYTES);
        // Tiles that take nothing are all opened together.
        let engine = Counted::new(20, 8, 0);
        assert_eq!(batches(&engine, 2).unwrap(), [[0..8, 8..16, 16..20]]);
        assert_eq!(Batches::new(&engine).bytes(), 0);
    }

    #[test]
    fn the_first_error_ends_it() {
        for threads in [1, 3] {
            let engine = Counted { refused: Some(4), ..Counted::new(100, 8, OPEN_BYTES / 3) };
            assert!(matches!(batches(&engine, threads), Err(Error::OutOfMemory { what: "a test", bytes: 1 })));
            assert_eq!(engine.open.load(Ordering::SeqCst), 0, "what was opened is closed");
            let (engine, mut calls) = (Counted::new(100, 8, OPEN_BYTES / 3), 0);
            let ended = Batches::new(&engine).for_each(&Threads::new(threads).unwrap(), |_| {
                calls += 1;
                Err(Error::OutOfMemory { what: "the work", bytes: 2 })
            });
            assert!(matches!(ended, Err(Error::OutOfMemory { what: "the work", bytes: 2 })));
            assert_eq!((calls, engine.open.load(Ordering::SeqCst)), (1, 0));
        }
    }

    #[test]
    fn blocks_of_queries_cover_all_rows() {
        for threads in [1, 2, 5] {
            let blocks = query_blocks(&Counted::new(1, 8, 1), &Threads::new(threads).unwrap()).unwrap();
            assert_eq!(blocks.iter().cloned().flatten().collect::<Vec<_>>(), Vec::from_iter(0..1000));
            // The heavy row has a block of its own.
            assert_eq!(blocks[0], 0..1);
            assert!(blocks.len() > 8 * threads && blocks.len() <= 32 * threads, "{}", blocks.len());
        }
    }
}
