//! What computes keys, seen from the tasks: pairwise, nearest neighbours, radius.
//!
//! Rows of Y are taken in tiles. A tile is opened once and then asked by every row of X; keys come as f64 whatever was
//! computed in, so that tasks are compiled once and not for every metric.

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
    /// Entries before row `i` of X, and rows.
    fn work_before(&self, i: usize) -> u64;
    /// Y is X, and the keys of (i, j) and (j, i) are the same.
    fn symmetric(&self) -> bool;
    /// Rows in a tile.
    fn tile_rows(&self) -> usize;
    /// Bytes of one tile's index, about.
    fn tile_bytes(&self) -> u64;
    /// Makes the tile of these rows of Y.
    fn open(&self, rows: Range<usize>) -> Result<Box<dyn Tile + '_>>;
    /// Turns keys into distances.
    fn finish(&self, keys: &mut [f64]);
    /// What runs, and why.
    fn explain(&self) -> String;
}

/// Some rows of Y, ready to be compared with.
pub(crate) trait Tile: Send + Sync {
    /// Keys of each of these rows of X against the rows of the tile, rows of X in order; with `half`, against the rows up to
    /// itself alone, for a symmetric engine.
    fn keys(&self, queries: Range<usize>, half: bool, sink: &mut Sink<'_>) -> Result<()>;
}

/// Rows of Y and their tile.
pub(crate) type Opened<'a> = (Range<usize>, Box<dyn Tile + 'a>);

/// Bytes that tiles opened at the same time may take, unless one takes more.
const OPEN_BYTES: u64 = 64 << 20;

/// The tiles of Y, opened some at a time and in order.
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
    /// Bytes of the tiles that are open at the same time.
    pub(crate) fn bytes(&self) -> u64 {
        let tiles = self.engine.nrows().1.div_ceil(self.rows).min(self.at_once);
        tiles as u64 * self.engine.tile_bytes()
    }
    /// Runs `work` on each batch: first rows and tiles.
    pub(crate) fn for_each(&self, threads: &Threads, mut work: impl FnMut(&[Opened<'a>]) -> Result<()>) -> Result<()> {
        let n = self.engine.nrows().1;
        let tiles = n.div_ceil(self.rows);
        for first in (0..tiles).step_by(self.at_once) {
            let count = self.at_once.min(tiles - first);
            let slots: Vec<OnceLock<Opened<'a>>> = (0..count).map(|_| OnceLock::new()).collect();
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
pub(crate) fn query_blocks(engine: &dyn Engine, threads: &Threads) -> Vec<Range<usize>> {
    let n = engine.nrows().0;
    let parts = (32 * threads.count()).min(n.div_ceil(8));
    crate::par::split(n, parts.max(n.div_ceil(128)), |i| engine.work_before(i))
}
