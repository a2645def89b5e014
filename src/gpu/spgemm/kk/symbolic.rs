//! Lengths of C's rows: the host side of `cuda/kk_symbolic.cu`.

use super::compress::Words;
use super::pool::{Chunk, Pool};
use super::select::{self, Lists, RowStats, TEAM};
use crate::Result;
use crate::algebra::Type;
use crate::gpu::buffer::Buffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Shape, args};
use crate::gpu::{Cuda, DevicePattern};
use crate::spgemm::KkSettings;

const SOURCE: Source = source!("kk_symbolic.cu");

fn settings(a: &'static str, b: &'static str, lanes: u32, compressed: bool) -> [Setting; 4] {
    [
        Setting::Type("OffsetA", a),
        Setting::Type("OffsetB", b),
        Setting::Number("LANES", lanes),
        Setting::Number("COMPRESSED", compressed.into()),
    ]
}

/// Warps of a launch that are resident at a time.
pub(super) fn warps_at_a_time(cuda: &Cuda, blocks: u32, shape: Shape) -> u64 {
    let resident = u64::from(blocks.max(1)) * u64::from(cuda.limits().multiprocessors);
    resident.min(u64::from(shape.grid)) * u64::from(shape.block / 32)
}

/// Hashes and room of a warp's second level for `longest` keys.
pub(super) fn second(longest: u64) -> (u64, u64) {
    (longest.max(1).next_power_of_two().min(1 << 31), longest)
}

/// The length of every row of C, and the shape that computed them.
pub(super) fn lengths(
    cuda: &Cuda,
    a: &DevicePattern,
    b: &DevicePattern,
    words: Option<&Words>,
    rows: &RowStats,
    kk: &KkSettings,
) -> Result<(Buffer<u32>, String)> {
    let value = if words.is_some() { 4 } else { 0 };
    let most = cuda.limits().shared_per_block.saturating_sub(1024);
    let (Lists { lanes, hashes, room }, why) = select::linked_lists(rows, value, 4, kk, most);
    let keys = words.map_or(b, |w| &w.pattern);
    let of = settings(a.row_ptr.cuda(), keys.row_ptr.cuda(), lanes, words.is_some());
    let program = cuda.program_of(SOURCE, Prefix::new("", &of))?;
    let kernel = program.kernel("kk_lengths")?;
    let shape = Shape {
        shared: (4 * hashes + (8 + value) * room) * (TEAM / lanes),
        ..Shape::for_each(a.nrows * lanes as usize, TEAM)?
    };
    let (hashes2, room2) = second(rows.longest);
    let tables = u64::from(32 / lanes);
    let pool = if u64::from(room) >= rows.longest {
        Pool::none(cuda, Type::U32)?
    } else {
        let warps = warps_at_a_time(cuda, kernel.blocks_per_multiprocessor(TEAM, shape.shared)?, shape);
        let arrays = u64::from(2 + value / 4);
        let chunk = Chunk { marks: tables * hashes2, words: tables * arrays * room2, values: 0 };
        Pool::new(cuda, Type::U32, warps, kk.chunks, chunk)?
    };
    let lengths = cuda.alloc::<u32>(a.nrows, "lengths of C's rows")?;
    let operands: [Arg; 6] = [
        (a.nrows as u32).into(),
        (&a.row_ptr).into(),
        (&a.col_idx).into(),
        (&keys.row_ptr).into(),
        (&keys.col_idx).into(),
        words.map(|w| &w.bits).into(),
    ];
    let levels = args![hashes, room, hashes2 as u32, room2 as u32, pool.chunks, &pool.locks, &pool.marks, &pool.words];
    kernel.launch(shape, &[&operands[..], levels, args![&lengths]].concat())?;
    Ok((lengths, why))
}

pub(super) fn programs() -> Vec<Unit> {
    let (small, large) = ("unsigned int", "unsigned long long");
    [(small, small, 4, true), (small, small, 8, false), (small, small, 32, true), (large, large, 16, true)]
        .map(|(a, b, lanes, compressed)| Unit {
            source: SOURCE,
            prefix: Prefix::new("", &settings(a, b, lanes, compressed)).text(),
            hot: &["kk_lengths"],
        })
        .into()
}
