//! Rows of C by work: the host side of `cuda/spgemm_rows.cu`.

use std::sync::Arc;

use crate::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::front::{Front, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Program, Shape, args};
use crate::gpu::pattern::Offsets;
use crate::gpu::{Cuda, DevicePattern};

const SOURCE: Source = source!("spgemm_rows.cu");
const SMALL: &str = "unsigned int";

/// What rows are put into bins for.
#[derive(Clone, Copy)]
pub(super) enum Stage {
    /// Counting, by multiplications and words of the products.
    Count,
    /// Writing, by words of C.
    Fill,
    /// Values, by length; rows that are sorted in registers have bins of their own.
    Values,
}

/// Rows by bin: bin b is `rows[start[b]..start[b + 1]]`.
#[derive(Debug)]
pub(super) struct Bins {
    rows: Buffer<u32>,
    start: [u32; 9],
}

impl Bins {
    pub(super) fn len(&self, bin: usize) -> usize {
        (self.start[bin + 1] - self.start[bin]) as usize
    }
    /// The list of a bin, as an argument.
    pub(super) fn list(&self, bin: usize) -> Arg {
        self.rows.from(self.start[bin] as usize)
    }
}

/// The program for rows, by the types of the row pointers of A, B and C, and of places of columns that were kept.
pub(super) fn program(cuda: &Cuda, types: [&'static str; 4]) -> Result<Arc<Program>> {
    cuda.program_of(SOURCE, Front::new("", &settings(types)))
}
fn settings([a, b, c, kept]: [&'static str; 4]) -> [Setting; 4] {
    [("OffsetA", a), ("OffsetB", b), ("OffsetC", c), ("OffsetK", kept)].map(|(name, of)| Setting::Type(name, of))
}

/// Lanes that share a row of B of `mean` entries.
pub(super) fn group(mean: f64) -> u32 {
    match mean {
        m if m <= 4.0 => 4,
        m if m <= 8.0 => 8,
        m if m <= 16.0 => 16,
        _ => 32,
    }
}

/// Multiplications of every row, of all, and of the heaviest.
pub(super) struct Work {
    pub(super) rows: Buffer<u32>,
    pub(super) flops: u64,
    pub(super) most: u64,
}

/// Work of A's rows on rows of B that begin at `b_ptr`.
pub(super) fn work_on(cuda: &Cuda, a: &DevicePattern, b_ptr: &Offsets) -> Result<Work> {
    let program = program(cuda, [a.row_ptr.cuda(), b_ptr.cuda(), SMALL, SMALL])?;
    let rows = cuda.alloc::<u32>(a.nrows, "multiplications of each row")?;
    let totals = cuda.zeroed::<u64>(2, "multiplications in all")?;
    let shape = all_rows(cuda, a.nrows.saturating_mul(8))?;
    program.kernel("row_work")?.launch(shape, args![a.nrows as u32, &a.row_ptr, &a.col_idx, b_ptr, &rows, &totals])?;
    let found = cuda.get(&totals, "multiplications in all")?;
    Ok(Work { rows, flops: found[0], most: found[1] })
}

pub(super) fn work(cuda: &Cuda, a: &DevicePattern, b: &DevicePattern) -> Result<Work> {
    work_on(cuda, a, &b.row_ptr)
}

/// Blocks for kernels whose warps take rows in turn: enough to fill the device.
fn all_rows(cuda: &Cuda, threads: usize) -> Result<Shape> {
    let most = cuda.limits().multiprocessors as usize * 8;
    Shape::blocks(threads.div_ceil(256).min(most), 256, 0)
}

/// Rows in bins for `stage`; `words` are what the stage goes by.
pub(super) fn bins(cuda: &Cuda, stage: Stage, work: &Buffer<u32>, words: &Buffer<u32>) -> Result<Bins> {
    let program = program(cuda, [SMALL; 4])?;
    let (stage, nrows) = (stage as u32, words.len());
    let counters = cuda.zeroed::<u32>(8, "bins of rows")?;
    let n = nrows as u32;
    program.kernel("bin_count")?.launch(all_rows(cuda, nrows)?, args![stage, n, work, words, &counters])?;
    let found = cuda.get(&counters, "bins of rows")?;
    let mut start = [0u32; 9];
    for bin in 0..8 {
        start[bin + 1] = start[bin] + found[bin];
    }
    let rows = cuda.alloc::<u32>(nrows, "bins of rows")?;
    let cursors = cuda.put(&start, "bins of rows")?;
    let shape = Shape::for_each(nrows, 256)?;
    program.kernel("bin_place")?.launch(shape, args![stage, n, work, words, &cursors, &rows])?;
    Ok(Bins { rows, start })
}

pub(super) fn programs() -> Vec<Unit> {
    [[SMALL; 4], ["unsigned long long"; 4]]
        .map(|types| Unit {
            source: SOURCE,
            prefix: Front::new("", &settings(types)).text(),
            hot: &["row_work", "pack_fill", "move_kept"],
        })
        .into()
}
