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
    pub(super) parts: Option<Parts>,
    pub(super) long: Option<Parts>,
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
    // Of those that a warp takes, none are far.
    let classes = [(4, part, u32::MAX), (5, long_part(part), NEAR_WORDS)];
    if classes.iter().all(|&(bin, ..)| bins.len(bin) == 0) {
        return Ok(Rows { bins, parts: None, long: None });
    }
    // How many are close and how many are not, of either class.
    let ends = cuda.zeroed::<u32>(4, "parts of long rows")?;
    let mut made = vec![];
    for (class, (bin, entries, near)) in classes.into_iter().enumerate() {
        made.push(cut(cuda, c, (bins.list(bin), bins.len(bin)), [entries, near], &ends.from(2 * class))?);
    }
    let ends = cuda.get(&ends, "parts of long rows")?;
    let mut parts = made.into_iter().zip(ends.chunks(2)).map(|([rows, numbers], ends)| {
        let [close, far] = [ends[0] as usize, ends[1] as usize];
        (close + far > 0).then_some(Parts { rows, numbers, close, far })
    });
    Ok(Rows { bins, parts: parts.next().flatten(), long: parts.next().flatten() })
}

/// Starts cutting the rows of a list into parts of so many entries: their rows and numbers, those within so many words from the front.
fn cut(
    cuda: &Cuda,
    c: &DevicePattern,
    (list, n): (Arg, usize),
    [entries, near]: [u32; 2],
    ends: &Arg,
) -> Result<[Buffer<u32>; 2]> {
    // Each row has at most one part that is not full.
    let room = if n == 0 { 0 } else { c.nnz / entries as usize + n };
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
