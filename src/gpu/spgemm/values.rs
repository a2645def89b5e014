//! C's values: the host side of `cuda/spgemm_values.cu`.

use super::columns::{Stage, bins, group};
use super::plan::{Parts, Plan, Rows};
use crate::Result;
use crate::algebra::{Lhs, MinPlus, MinSecondI, Out, PlusTimes, Rhs, Semiring, emit_contract};
use crate::gpu::csr::Offsets;
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Shape, args};
use crate::gpu::memory::Buffer;
use crate::gpu::{Cuda, DeviceCsr};

const SOURCE: Source = source!("spgemm_values.cu");

/// Entries of a row that one warp takes: `PART` of the kernel, for values of `bytes` bytes.
pub(super) fn part(bytes: usize) -> u32 {
    match bytes {
        0..=8 => 512,
        9..=16 => 256,
        _ => 128,
    }
}
/// Warps of a block that take parts.
const PART_WARPS: u32 = 4;
/// Entries of a very long row that one block takes: `LONG_PART` of the kernel.
fn long_part(part: u32) -> u32 {
    4 * part
}
/// Threads of a block that takes a long part.
const TURN_THREADS: u32 = 256;
/// Lines of a chunk whose row of B is kept: `OWNERS` of the kernel, a byte each.
const OWNERS: u32 = 1024;
/// Words within which the columns of a part lie close: `NEAR_WORDS` of the kernel.
pub(super) const NEAR_WORDS: u32 = 1024;

/// Text in front of the program, whose ring is printed already.
fn prefix(ring: &str, [a, b, c, p]: [&str; 4], group: u32, section: &str) -> String {
    format!(
        "{ring}typedef {a} OffsetA;\ntypedef {b} OffsetB;\ntypedef {c} OffsetC;\ntypedef {p} OffsetP;\n#define GROUP {group}\n#define SECTION {section}\n"
    )
}

/// Shared memory of `short_rows<slots>`: values, keys, ranks.
fn short_shape(rows: usize, slots: u32, group: u32, value: u32) -> Result<Shape> {
    let groups = 256 / group.max(slots / 32);
    let shared = (value * slots / 2 * groups).next_multiple_of(16) + 5 * slots * groups;
    Shape::blocks(rows.div_ceil(groups as usize), 256, shared)
}

/// Shared memory of a block of `values_parts`: values, and their ranks.
fn part_shape(parts: usize, entries: u32, value: u32) -> Result<Shape> {
    let part = (value * entries).next_multiple_of(4) + 12 * entries;
    Shape::blocks(parts.div_ceil(PART_WARPS as usize), 32 * PART_WARPS, part.next_multiple_of(16) * PART_WARPS)
}

/// Shared memory of a block of `values_near` or `values_far`: values, their ranks, and the chunk of A's row.
fn long_shape(parts: usize, close: bool, entries: u32, value: u32) -> Result<Shape> {
    let ranks = if close { 6 * NEAR_WORDS } else { 12 * entries };
    let part = (value * entries).next_multiple_of(4) + ranks;
    Shape::blocks(parts, TURN_THREADS, (part.next_multiple_of(8) + 20 * TURN_THREADS + OWNERS).next_multiple_of(16))
}

/// Values of C at the plan's columns.
pub(super) fn fill<R: Semiring>(
    cuda: &Cuda,
    plan: &Plan,
    ring: R,
    a: &DeviceCsr<Lhs<R>>,
    b: &DeviceCsr<Rhs<R>>,
    values: &Buffer<Out<R>>,
) -> Result<()> {
    let c = plan.pattern();
    if c.nnz == 0 {
        return Ok(());
    }
    let (pa, pb) = (&a.pattern, &b.pattern);
    let bytes = size_of::<Out<R>>();
    // Wide values: fewer rows to a block, so that it has room for them.
    let lanes = group(plan.flops() as f64 / pa.nnz.max(1) as f64).max((bytes / 6).next_power_of_two().min(32) as u32);
    let map = plan.map(cuda, lanes)?;
    let ring = emit_contract(ring);
    let program = |section: &str, place: &Offsets| {
        let text = prefix(&ring, [&pa.row_ptr, &pb.row_ptr, &c.row_ptr, place].map(Offsets::cuda), lanes, section);
        cuda.program(SOURCE, &text)
    };
    let part = part(bytes);
    let rows = plan.rows(cuda, part)?;
    let operands: [Arg; 9] = [
        (&pa.row_ptr).into(),
        (&pa.col_idx).into(),
        (&*a.values).into(),
        (&pb.row_ptr).into(),
        (&pb.col_idx).into(),
        (&*b.values).into(),
        (&c.row_ptr).into(),
        (&c.col_idx).into(),
        values.into(),
    ];
    let (sorted, value) = (u32::from(pb.sorted), bytes as u32);
    if let Some(long) = &rows.long {
        for (close, name) in [(false, "values_far"), (true, "values_near")] {
            let shape = long_shape(long.len(close), close, long_part(part), value)?;
            let all = [&long.lists(close)[..], args![sorted], &operands[..]].concat();
            if long.len(close) > 0 {
                program("LONG", &c.row_ptr)?.kernel(name)?.launch(shape, &all)?;
            }
        }
    }
    if let Some(parts) = &rows.parts {
        let n = parts.len(true) + parts.len(false);
        let all = [args![n as u32], &parts.lists(true)[..], args![sorted], &operands[..]].concat();
        program("PARTS", &c.row_ptr)?.kernel("values_parts")?.launch(part_shape(n, part, value)?, &all)?;
    }
    for (bin, slots, name) in [(3, 256, "values_128"), (2, 128, "values_64"), (1, 32, "values_16")] {
        let n = rows.bins.len(bin);
        if n == 0 {
            continue;
        }
        let list = rows.bins.list(bin);
        let known = match bin {
            3 => map.as_deref(),
            // A thread a row: there is room for values up to this size.
            1 => plan.few().filter(|_| bytes <= 48),
            _ => plan.few(),
        };
        if let Some(map) = known {
            let all = [args![n as u32, list, &map.place, &map.ranks], &operands[..]].concat();
            let groups = if bin == 1 { 256 } else { 256 / lanes };
            let shape = Shape::blocks(n.div_ceil(groups as usize), 256, groups * slots / 2 * value)?;
            program("MAPPED", &map.place)?.kernel(&format!("mapped_{}", slots / 2))?.launch(shape, &all)?;
        } else {
            let all = [&[Arg::from(n as u32), list], &operands[..]].concat();
            program("SHORT", &c.row_ptr)?.kernel(name)?.launch(short_shape(n, slots, lanes, value)?, &all)?;
        }
    }
    Ok(())
}

/// Rows in bins and parts of long rows, `part` entries to a part of those that warps take; `parts` cuts the rows of a list
/// into parts of so many entries.
pub(super) fn rows(
    cuda: &Cuda,
    work: &Buffer<u32>,
    lengths: &Buffer<u32>,
    part: u32,
    parts: impl Fn(Arg, usize, u32) -> Result<Parts>,
) -> Result<Rows> {
    let bins = bins(cuda, Stage::Values, work, lengths)?;
    let cut = |bin, entries| match bins.len(bin) {
        0 => Ok(None),
        n => parts(bins.list(bin), n, entries).map(Some),
    };
    let (parts, long) = (cut(4, part)?, cut(5, long_part(part))?);
    Ok(Rows { bins, parts, long })
}

pub(super) fn programs() -> Vec<Unit> {
    fn of<R: Semiring>(ring: R, offset: &str, group: u32) -> impl Iterator<Item = Unit> {
        let ring = emit_contract(ring);
        SECTIONS.into_iter().map(move |(section, hot)| Unit {
            source: SOURCE,
            prefix: prefix(&ring, [offset; 4], group, section),
            hot,
        })
    }
    let (small, large) = ("unsigned int", "unsigned long long");
    let mut units: Vec<Unit> =
        [8, 32].into_iter().flat_map(|group| of(PlusTimes::<f64>::default(), small, group)).collect();
    units.extend(of(PlusTimes::<f32>::default(), large, 32));
    units.extend(of(super::Hits::default(), large, 8));
    units.extend(of(MinPlus::<i64>::default(), small, 8));
    units.extend(of(MinSecondI::<bool>::default(), small, 8));
    units
}

/// The parts that a program is compiled for, and their kernels.
const SECTIONS: [(&str, &[&str]); 4] = [
    ("SHORT", &["values_16", "values_64", "values_128"]),
    ("MAPPED", &["mapped_16", "mapped_64", "mapped_128"]),
    ("PARTS", &["values_parts"]),
    ("LONG", &["values_near", "values_far"]),
];
