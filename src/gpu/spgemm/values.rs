//! C's values: the host side of `cuda/spgemm_values.cu`.

use super::columns::{Stage, bins, group};
use super::plan::{Parts, Plan, Rows};
use crate::Result;
use crate::algebra::{Lhs, Out, PlusTimes, Rhs, Semiring, emit_contract};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Shape, args};
use crate::gpu::memory::Buffer;
use crate::gpu::{Cuda, DeviceCsr};

const SOURCE: Source = source!("spgemm_values.cu");

/// Entries of a row that one block takes: `LONG` of the kernel, for values of `bytes` bytes.
fn part(bytes: usize) -> u32 {
    match bytes {
        0..=8 => 4096,
        9..=16 => 2048,
        _ => 1024,
    }
}

/// Text in front of the program.
fn prefix<R: Semiring>(ring: R, a: &str, b: &str, c: &str, group: u32) -> String {
    format!(
        "{}typedef {a} OffsetA;\ntypedef {b} OffsetB;\ntypedef {c} OffsetC;\n#define GROUP {group}\n",
        emit_contract(ring)
    )
}

/// Shared memory of `short_rows<slots>`: values, keys, ranks.
fn short_shape(rows: usize, slots: u32, group: u32, value: u32) -> Result<Shape> {
    let groups = 256 / group.max(slots / 32);
    let shared = (value * slots / 2 * groups).next_multiple_of(16) + 5 * slots * groups;
    Shape::blocks(rows.div_ceil(groups as usize), 256, shared)
}

/// Shared memory of `part_of_row<entries, threads>`: values, keys, claims, the chunk's sums and starts, ranks.
fn part_shape(blocks: usize, entries: u32, threads: u32, value: u32, offset: u32) -> Result<Shape> {
    let shared = (value * entries).next_multiple_of(16)
        + 8 * entries
        + 4 * entries
        + 4 * (threads + 4)
        + offset * threads
        + 4 * entries;
    Shape::blocks(blocks, threads, shared)
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
    let lanes = group(plan.flops() as f64 / pa.nnz.max(1) as f64);
    let text = prefix(ring, pa.row_ptr.cuda(), pb.row_ptr.cuda(), c.row_ptr.cuda(), lanes);
    let program = cuda.program(SOURCE, &text)?;
    let bytes = size_of::<Out<R>>();
    let rows = plan.rows(cuda, part(bytes))?;
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
    let offset = if pb.row_ptr.cuda() == "unsigned int" { 4 } else { 8 };
    if let Some(Parts { rows, numbers }) = &rows.parts {
        let shape = part_shape(rows.len(), part(bytes), 1024, value, offset)?;
        let all = [args![rows, numbers, sorted], &operands[..]].concat();
        program.kernel("values_parts")?.launch(shape, &all)?;
    }
    if rows.bins.len(4) > 0 {
        let shape = part_shape(rows.bins.len(4), part(bytes) / 4, 256, value, offset)?;
        let all = [&[rows.bins.list(4), sorted.into()], &operands[..]].concat();
        program.kernel("values_1024")?.launch(shape, &all)?;
    }
    for (bin, slots, name) in [(3, 256, "values_128"), (2, 128, "values_64"), (1, 32, "values_16")] {
        let n = rows.bins.len(bin);
        if n > 0 {
            let all = [&[Arg::from(n as u32), rows.bins.list(bin)], &operands[..]].concat();
            program.kernel(name)?.launch(short_shape(n, slots, lanes, value)?, &all)?;
        }
    }
    Ok(())
}

/// Rows in bins and parts of long rows, for values whose part is `part` entries.
pub(super) fn rows(
    cuda: &Cuda,
    lengths: &Buffer<u32>,
    part: u32,
    parts: impl Fn(Arg, usize) -> Result<Option<Parts>>,
) -> Result<Rows> {
    let bins = bins(cuda, Stage::Values(part / 4), None, Some(lengths), lengths.len())?;
    let parts = match bins.len(5) {
        0 => None,
        n => parts(bins.list(5), n)?,
    };
    Ok(Rows { bins, parts })
}

pub(super) fn programs() -> Vec<Unit> {
    let (small, large) = ("unsigned int", "unsigned long long");
    let mut units = vec![];
    for group in [4, 8, 16, 32] {
        units.push(Unit {
            source: SOURCE,
            prefix: prefix(PlusTimes::<f64>::default(), small, small, small, group),
            hot: HOT,
        });
    }
    units.push(Unit { source: SOURCE, prefix: prefix(PlusTimes::<f32>::default(), small, small, large, 32), hot: HOT });
    units.push(Unit { source: SOURCE, prefix: prefix(super::Hits::default(), large, large, large, 8), hot: HOT });
    units.push(Unit {
        source: SOURCE,
        prefix: prefix(crate::algebra::MinPlus::<i64>::default(), small, small, small, 8),
        hot: HOT,
    });
    units.push(Unit {
        source: SOURCE,
        prefix: prefix(crate::algebra::MinSecondI::<bool>::default(), small, small, small, 8),
        hot: HOT,
    });
    units
}

const HOT: &[&str] = &["values_16", "values_64", "values_128", "values_1024", "values_parts"];
