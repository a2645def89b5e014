//! Rows of C by length, long ones cut into parts: the host side of `cuda/spgemm_parts.cu`.

use std::sync::Arc;

use super::bins::{self, Bins, Counts, Stage, place};
use crate::gpu::buffer::Buffer;
use crate::gpu::front::{Front, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Program, Shape, args};
use crate::gpu::pattern::Offsets;
use crate::gpu::{Cuda, DevicePattern};
use crate::{Error, Result};

const SOURCE: Source = source!("spgemm_parts.cu");

/// Words within which the columns of a part lie close: `NEAR_WORDS` of the kernel.
pub(super) const NEAR_WORDS: u32 = 1024;

/// Entries of a row that one warp takes: `PART` of the kernel, for values of `bytes` bytes.
pub(super) fn part(bytes: usize) -> u32 {
    match bytes {
        0..=8 => 512,
        9..=16 => 256,
        _ => 128,
    }
}
/// Entries of a very long row that one block takes: `LONG_PART` of the kernel.
pub(super) fn long_part(part: u32) -> u32 {
    4 * part
}

/// Rows of C by length.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) bins: Bins,
    pub(super) parts: Option<WarpParts>,
    pub(super) long: Option<Parts>,
}

/// Rows cut into parts that a warp takes each: for each its row and its number within the row, and how many there are, which only the
/// device knows.
#[derive(Debug)]
pub(super) struct WarpParts {
    pub(super) rows: Buffer<u32>,
    pub(super) numbers: Buffer<u32>,
    pub(super) count: Buffer<u32>,
}

/// Long rows cut into parts: for each its row and its number within the row; those whose columns lie close from the front of the
/// arrays, the others at their end.
#[derive(Debug)]
pub(super) struct Parts {
    rows: Buffer<u32>,
    numbers: Buffer<u32>,
    close: usize,
    far: usize,
}

impl Parts {
    /// Number of parts whose columns lie close, or of the others.
    pub(super) fn len(&self, close: bool) -> usize {
        if close { self.close } else { self.far }
    }
    /// Rows and numbers of either, as arguments.
    pub(super) fn lists(&self, close: bool) -> [Arg; 2] {
        let from = if close { 0 } else { self.rows.len() - self.far };
        [self.rows.from(from), self.numbers.from(from)]
    }
}

/// The program for row pointers of these types: of a pattern, and of what is kept of it.
pub(super) fn program(cuda: &Cuda, c: &Offsets, kept: &Offsets) -> Result<Arc<Program>> {
    cuda.program_of(SOURCE, Front::new("", &settings(c.cuda(), kept.cuda())))
}
fn settings(c: &'static str, kept: &'static str) -> [Setting; 2] {
    [Setting::Type("OffsetC", c), Setting::Type("OffsetK", kept)]
}

/// Rows of C in bins, and its long rows in parts, `part` entries to a part of those that warps take; `counts` are the rows in each bin,
/// if that is known.
pub(super) fn rows(
    cuda: &Cuda,
    [a, c]: [&DevicePattern; 2],
    work: &Buffer<u32>,
    lengths: &Buffer<u32>,
    counts: Option<Counts>,
    part: u32,
) -> Result<Rows> {
    let counts = counts.map_or_else(|| bins::for_values(cuda, a, work, lengths), Ok)?;
    let bins = place(cuda, a, (Stage::Values, counts), work, lengths)?;
    let ends = || cuda.zeroed::<u32>(2, "parts of long rows");
    // Rows that warps take have at most 1024 entries; none of their parts are far.
    let parts = match bins.len(4) {
        0 => None,
        n => {
            let (count, room) = (ends()?, n.saturating_mul(1024usize.div_ceil(part as usize)));
            let [rows, numbers] = cut(cuda, c, (bins.list(4), n), room, [part, u32::MAX], &count)?;
            Some(WarpParts { rows, numbers, count })
        }
    };
    let long = match bins.len(5) {
        0 => None,
        n => {
            // Each row has at most one part that is not full.
            let (ends, entries) = (ends()?, long_part(part));
            let room = c.nnz / entries as usize + n;
            let [rows, numbers] = cut(cuda, c, (bins.list(5), n), room, [entries, NEAR_WORDS], &ends)?;
            let found = cuda.get(&ends, "parts of long rows")?;
            Some(Parts { rows, numbers, close: found[0] as usize, far: found[1] as usize })
        }
    };
    Ok(Rows { bins, parts, long })
}

/// Starts cutting the rows of a list into parts of so many entries: their rows and numbers, those within so many words from the front,
/// the others at the end; how many of each comes to `ends`. There is room for `room`.
fn cut(
    cuda: &Cuda,
    c: &DevicePattern,
    (list, n): (Arg, usize),
    room: usize,
    [entries, near]: [u32; 2],
    ends: &Buffer<u32>,
) -> Result<[Buffer<u32>; 2]> {
    let Ok(most) = u32::try_from(room) else {
        let (what, max) = ("parts of long rows", u32::MAX.into());
        return Err(Error::IndexOverflow { what, needed: room as u128, max });
    };
    let rows = cuda.alloc::<u32>(room, "parts of long rows")?;
    let numbers = cuda.alloc::<u32>(room, "parts of long rows")?;
    let all = args![n as u32, list, &c.row_ptr, &c.col_idx, entries, near, most, ends, &rows, &numbers];
    program(cuda, &c.row_ptr, &c.row_ptr)?.kernel("parts_fill")?.launch(Shape::for_each(n, 256)?, all)?;
    Ok([rows, numbers])
}

/// Length of every row of a pattern.
pub(super) fn lengths(cuda: &Cuda, of: &DevicePattern) -> Result<Buffer<u32>> {
    let lengths = cuda.alloc::<u32>(of.nrows, "lengths of rows")?;
    let all = args![of.nrows as u32, &of.row_ptr, &lengths];
    program(cuda, &of.row_ptr, &of.row_ptr)?.kernel("row_lengths")?.launch(Shape::for_each(of.nrows, 256)?, all)?;
    Ok(lengths)
}

/// Whether two patterns have the same entries in the same order.
pub(super) fn same(cuda: &Cuda, x: &DevicePattern, y: &DevicePattern) -> Result<bool> {
    if x.shape() != y.shape() || x.nnz != y.nnz {
        return Ok(false);
    }
    let program = program(cuda, &x.row_ptr, &x.row_ptr)?;
    let differ = cuda.zeroed::<u32>(1, "a comparison of patterns")?;
    let compare = |words: usize, x: Arg, y: Arg| {
        program.kernel("compare")?.launch(Shape::for_each(words, 256)?, args![words as u64, x, y, &differ])
    };
    let words = (x.nrows + 1) * if matches!(x.row_ptr, Offsets::Small(_)) { 1 } else { 2 };
    compare(words, (&x.row_ptr).into(), (&y.row_ptr).into())?;
    compare(x.nnz, (&x.col_idx).into(), (&y.col_idx).into())?;
    Ok(cuda.get_at(&differ, 0)? == 0)
}

pub(super) fn programs() -> Vec<Unit> {
    ["unsigned int", "unsigned long long"]
        .map(|t| Unit { source: SOURCE, prefix: Front::new("", &settings(t, t)).text(), hot: &[] })
        .into()
}
