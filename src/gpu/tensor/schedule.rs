//! Work distribution of an order of entries: blocks, runs of entries of one row within them, and rows whose runs span
//! several blocks.

use super::entries::Store;
use super::form::tile;
use crate::gpu::Cuda;
use crate::gpu::arg::Arg;
use crate::gpu::buffer::Buffer;
use crate::gpu::launch::{Shape, args};
use crate::gpu::pattern::Offsets;
use crate::par::reserved;
use crate::{Error, Result};

/// Most runs of a row that one group folds; a block folds more.
const FEW: u32 = 32;

/// A row of several runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitRow {
    pub(super) row: u32,
    /// Index of its first run among those of split rows: `first` of `slot_of` in `cuda/entries.cuh`.
    pub(super) first: u32,
    /// Its runs.
    pub(super) runs: u32,
}

/// Rows of several runs, those with few runs first.
#[derive(Debug)]
pub(super) struct SplitRows {
    pub(super) rows: Buffer<u32>,
    pub(super) firsts: Buffer<u32>,
    pub(super) counts: Buffer<u32>,
    pub(super) all: usize,
    pub(super) small: usize,
}

impl SplitRows {
    pub(super) fn new(cuda: &Cuda, mut rows: Vec<SplitRow>) -> Result<Self> {
        // The sort is stable and in place, so the order depends on the rows alone.
        rows.sort_by_key(|row| row.runs > FEW);
        let small = rows.partition_point(|row| row.runs <= FEW);
        let put = |of: &dyn Fn(&SplitRow) -> u32| {
            let what = "rows of several blocks";
            cuda.put(&crate::par::collected(rows.len(), rows.iter().map(of), what)?, what)
        };
        Ok(Self {
            rows: put(&|row| row.row)?,
            firsts: put(&|row| row.first)?,
            counts: put(&|row| row.runs)?,
            all: rows.len(),
            small,
        })
    }
}

/// The order of a mode, divided into blocks and runs.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Blocks.
    pub(super) blocks: usize,
    bounds: Buffer<u32>,
    first: Buffer<u32>,
    starts: Buffer<u32>,
    targets: Buffer<u32>,
    pub(super) split: SplitRows,
    /// Slots for runs of split rows.
    pub(super) slots: usize,
    /// Nonempty rows.
    pub(super) rows: usize,
}

impl Schedule {
    /// Assembles these arrays; `rows` is the number of nonempty rows, and slots are numbered below `slots`.
    pub(super) fn new(
        [bounds, first, starts, targets]: [Buffer<u32>; 4],
        split: SplitRows,
        slots: usize,
        rows: usize,
    ) -> Self {
        Self { blocks: bounds.len().saturating_sub(1), bounds, first, starts, targets, split, slots, rows }
    }
    /// `Runs` of `cuda/mttkrp.cu`.
    pub(super) fn runs(&self) -> Arg {
        Arg::all([&self.bounds, &self.first, &self.starts, &self.targets].map(Arg::from))
    }
    /// Bytes of device memory.
    pub(super) fn bytes(&self) -> u64 {
        let split = [&self.split.rows, &self.split.firsts, &self.split.counts];
        let all = [&self.bounds, &self.first, &self.starts, &self.targets].into_iter().chain(split);
        all.map(|a| a.bytes()).sum()
    }
}

impl Store<'_> {
    /// The schedule of an order with these sorted row `keys`.
    pub(super) fn schedule(&self, keys: &Buffer<u32>) -> Result<Schedule> {
        let (cuda, n) = (self.cuda, keys.len());
        let what = "runs of a tensor's entries";
        let tile = tile(n);
        let blocks = n.div_ceil(tile);
        let counts = cuda.alloc::<u32>(blocks, what)?;
        let program = self.program()?;
        let shape = Shape::blocks(blocks, 256, 0)?;
        program.kernel("count_runs")?.launch(shape, args![keys, n as u64, tile as u32, &counts])?;
        let (first, runs) = self.small_offsets(&counts, what)?;
        let [bounds, tails, lasts] = [blocks + 1, blocks, blocks].map(|n| cuda.alloc::<u32>(n, what));
        let (bounds, tails, lasts) = (bounds?, tails?, lasts?);
        let (starts, targets) = (cuda.alloc::<u32>(runs + 1, what)?, cuda.alloc::<u32>(runs, what)?);
        let arguments = args![keys, n as u64, tile as u32, &first, &bounds, &starts, &targets, &tails, &lasts];
        program.kernel("place_runs")?.launch(shape, arguments)?;
        let (tails, lasts) = (cuda.get(&tails, what)?, cuda.get(&lasts, what)?);
        let mut split = reserved(tails.iter().filter(|&&row| row != u32::MAX).count(), what)?;
        let mut more = 0;
        for (block, (&row, &last)) in tails.iter().zip(&lasts).enumerate().filter(|(_, (row, _))| **row != u32::MAX) {
            let first = block as u32;
            more += (last - first) as usize;
            split.push(SplitRow { row, first, runs: last - first + 1 });
        }
        let split = SplitRows::new(cuda, split)?;
        Ok(Schedule::new([bounds, first, starts, targets], split, 2 * blocks, runs - more))
    }

    /// 32-bit offsets, and their total.
    /// # Errors
    /// [`Error::IndexOverflow`] if the total needs more bits.
    pub(super) fn small_offsets(&self, counts: &Buffer<u32>, what: &'static str) -> Result<(Buffer<u32>, usize)> {
        match self.cuda.offsets(counts, what)? {
            (Offsets::Small(offsets), total) => Ok((offsets, total as usize)),
            (_, total) => Err(Error::IndexOverflow { what, needed: total.into(), max: u32::MAX.into() }),
        }
    }
}
