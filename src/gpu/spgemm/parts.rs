//! Rows of C by length, long ones split into parts: the host side of `cuda/spgemm_parts.cu`.

use std::sync::Arc;

use super::bins::Bins;
use crate::gpu::buffer::Buffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Program, Shape, args};
use crate::gpu::pattern::Offsets;
use crate::gpu::{Cuda, DevicePattern};
use crate::{Error, Result};

const SOURCE: Source = source!("spgemm_parts.cu");

/// Words that the columns of a part span if they count as close: `NEAR_WORDS` of the kernel.
pub(super) const NEAR_WORDS: u32 = 1024;

/// Entries of a row per warp: `PART` of the kernel, for values of `bytes` bytes.
pub(super) fn part(bytes: usize) -> u32 {
    match bytes {
        0..=8 => 512,
        9..=16 => 256,
        _ => 128,
    }
}
/// Entries of a very long row per block: `LONG_PART` of the kernel.
pub(super) fn long_part(part: u32) -> u32 {
    4 * part
}

/// Parts of long rows up to which their exact number is not waited for: launching idle blocks costs less.
const NOT_WAITED_FOR: usize = 1 << 14;

/// The rows of the last two bins, split into parts.
#[derive(Debug)]
pub(super) struct Cut {
    /// Numbers of parts: of those for warps, of long ones with close columns, of other long ones.
    ends: Buffer<u32>,
    /// Parts for warps.
    short: Parts,
    /// Parts of long rows: those with close columns from the front of the arrays, the others from their end.
    long: Parts,
    /// Upper bounds of the two numbers of long parts.
    most: [usize; 2],
}

/// For each part its row, and its number within the row.
#[derive(Debug)]
struct Parts {
    rows: Buffer<u32>,
    numbers: Buffer<u32>,
}

impl Parts {
    fn new(cuda: &Cuda, room: usize) -> Result<Self> {
        let array = || cuda.alloc::<u32>(room, "parts of long rows");
        Ok(Self { rows: array()?, numbers: array()? })
    }
    fn arg(&self) -> Arg {
        Arg::all([(&self.rows).into(), (&self.numbers).into()])
    }
}

impl Cut {
    /// An upper bound of the number of parts for warps, and the arguments that describe them.
    pub(super) fn short(&self) -> (usize, [Arg; 3]) {
        let Parts { rows, numbers } = &self.short;
        (rows.len(), [(&self.ends).into(), rows.into(), numbers.into()])
    }
    /// An upper bound of the number of long parts with close columns, or of the others, and the arguments that describe
    /// them.
    pub(super) fn long(&self, close: bool) -> (usize, [Arg; 4]) {
        let (Parts { rows, numbers }, which) = (&self.long, usize::from(!close));
        (self.most[which], [self.ends.from(1 + which), (rows.len() as u32).into(), rows.into(), numbers.into()])
    }
}

/// The program for row pointers of these types: of a pattern, and of the part of it that a mask keeps.
pub(super) fn program(cuda: &Cuda, c: &Offsets, kept: &Offsets) -> Result<Arc<Program>> {
    cuda.program_of(SOURCE, Prefix::new("", &settings(c.cuda(), kept.cuda())))
}
fn settings(c: &'static str, kept: &'static str) -> [Setting; 2] {
    [Setting::Type("OffsetC", c), Setting::Type("OffsetK", kept)]
}

/// The longer rows of C split into parts, `part` entries to a part for a warp; `None` if there are no such rows.
pub(super) fn cut(cuda: &Cuda, c: &DevicePattern, bins: &Bins, part: u32) -> Result<Option<Cut>> {
    let (few, many) = (bins.len(4), bins.len(5));
    if few + many == 0 {
        return Ok(None);
    }
    // Rows for warps have at most 1024 entries. Each longer row has at most one part that is not full.
    let room = [few.saturating_mul(1024usize.div_ceil(part as usize)), c.nnz / long_part(part) as usize + many];
    let room = if many == 0 { [room[0], 0] } else { room };
    let needed = room[0].max(room[1]);
    if u32::try_from(needed).is_err() {
        return Err(Error::IndexOverflow { what: "parts of long rows", needed: needed as u128, max: u32::MAX.into() });
    }
    let ends = cuda.zeroed::<u32>(3, "parts of long rows")?;
    let (short, long) = (Parts::new(cuda, room[0])?, Parts::new(cuda, room[1])?);
    let (n, list, program) = (few + many, bins.list(4), program(cuda, &c.row_ptr, &c.row_ptr)?);
    let sizes = args![part, NEAR_WORDS, room[1] as u32, &ends, short.arg(), long.arg()];
    let all = [&args![few as u32, n as u32, list, &c.row_ptr, &c.col_idx][..], sizes].concat();
    program.kernel("parts_fill")?.launch(Shape::for_each(n, 256)?, &all)?;
    let most = if room[1] <= NOT_WAITED_FOR {
        [room[1]; 2]
    } else {
        let found = cuda.get(&ends, "parts of long rows")?;
        [found[1] as usize, found[2] as usize]
    };
    Ok(Some(Cut { ends, short, long, most }))
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
        .map(|t| Unit { source: SOURCE, prefix: Prefix::new("", &settings(t, t)).text(), hot: &[] })
        .into()
}
