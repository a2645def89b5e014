//! C's values: the host side of `cuda/values.cuh` and of the six kernels that include it.

use super::bins::{Bins, group};
use super::lists;
use super::map::Map;
use super::parts::{NEAR_WORDS, long_part, part};
use super::plan::{MANY_ROWS, Plan};
use crate::Result;
use crate::algebra::{AnyPair, MinPlus, MinSecondI, PlusTimes, Printed, printed_ring};
use crate::gpu::Cuda;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::csr::RawCsr;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Launch, Shape, args};
use crate::gpu::pattern::Offsets;

const SHORT: Source = source!("values_short.cu");
const MAPPED: Source = source!("values_mapped.cu");
const PARTS: Source = source!("values_parts.cu");
const LONG: Source = source!("values_long.cu");
const LISTED: Source = source!("values_listed.cu");
const FOLDS: Source = source!("values_folds.cu");

/// Warps of a block that process parts.
const PART_WARPS: u32 = 4;
/// Threads of a block that processes a long part.
const TURN_THREADS: u32 = 256;
/// Lines of a chunk whose row of B is recorded, a byte each: `OWNERS` of the kernel.
const OWNERS: u32 = 1024;
/// The prefix of a program, behind its ring.
fn settings([a, b, c, p]: [&'static str; 4], group: u32) -> [Setting; 5] {
    [
        Setting::Type("OffsetA", a),
        Setting::Type("OffsetB", b),
        Setting::Type("OffsetC", c),
        Setting::Type("OffsetP", p),
        Setting::Number("GROUP", group),
    ]
}

/// Launch shape of `short_rows<slots>`; its shared memory has values, keys, ranks.
fn short_shape(rows: usize, slots: u32, group: u32, value: u32) -> Result<Shape> {
    let groups = 256 / group.max(slots / 32);
    let shared = (value * slots / 2 * groups).next_multiple_of(16) + 5 * slots * groups;
    Shape::blocks(rows.div_ceil(groups as usize), 256, shared)
}

/// Launch shape of `values_parts`; its shared memory has values and their ranks.
fn part_shape(parts: usize, entries: u32, value: u32) -> Result<Shape> {
    let part = (value * entries).next_multiple_of(4) + 12 * entries;
    Shape::blocks(parts.div_ceil(PART_WARPS as usize), 32 * PART_WARPS, part.next_multiple_of(16) * PART_WARPS)
}

/// Launch shape of `values_near` or `values_far`; its shared memory has values, their ranks, and the chunk of A's row.
fn long_shape(parts: usize, close: bool, entries: u32, value: u32) -> Result<Shape> {
    let ranks = if close { 6 * NEAR_WORDS } else { 12 * entries };
    let part = (value * entries).next_multiple_of(4) + ranks;
    Shape::blocks(parts, TURN_THREADS, (part.next_multiple_of(8) + 20 * TURN_THREADS + OWNERS).next_multiple_of(16))
}

/// Launch shape of `values_folds`; its shared memory has the products of one round, `CHUNK` of the kernel.
fn fold_shape(tiles: usize, value: u32) -> Result<Shape> {
    let each = match value {
        0..=8 => 4,
        9..=16 => 2,
        _ => 1,
    };
    Shape::blocks(tiles, 256, 256 * each * value)
}

/// Computes the values of C at the plan's columns.
pub(super) fn fill(cuda: &Cuda, plan: &Plan, ring: &Printed, a: &RawCsr, b: &RawCsr, values: &RawBuffer) -> Result<()> {
    let c = plan.pattern();
    a.values.check("the left matrix of a product", ring.a)?;
    b.values.check("the right matrix of a product", ring.b)?;
    values.check("the values of a product", ring.out)?;
    if c.nnz == 0 {
        return Ok(());
    }
    let (pa, pb) = (&a.pattern, &b.pattern);
    let bytes = ring.out.size();
    // For wide values a block takes fewer rows, so that they fit.
    let lanes = group(plan.flops() as f64 / pa.nnz.max(1) as f64).max((bytes / 6).next_power_of_two().min(32) as u32);
    let maps = plan.product_maps(cuda, lanes)?;
    let program = |source: Source, place: &Offsets| {
        let settings = settings([&pa.row_ptr, &pb.row_ptr, &c.row_ptr, place].map(Offsets::cuda), lanes);
        cuda.program_of(source, Prefix::new(&ring.text, &settings))
    };
    let operands = Arg::all([
        (&pa.row_ptr).into(),
        (&pa.col_idx).into(),
        (&a.values).into(),
        (&pb.row_ptr).into(),
        (&pb.col_idx).into(),
        (&b.values).into(),
        (&c.row_ptr).into(),
        (&c.col_idx).into(),
        values.into(),
    ]);
    let (sorted, value) = (u32::from(pb.sorted), bytes as u32);
    if let Some(folds) = &maps.folds {
        let all = [&folds.args()[..], args![&operands]].concat();
        return program(FOLDS, &c.row_ptr)?.kernel("values_folds")?.launch(fold_shape(folds.tiles, value)?, &all);
    }
    let (part, bins) = (part(bytes), plan.bins(cuda)?);
    precompile(
        cuda,
        plan,
        ring,
        &settings([&pa.row_ptr, &pb.row_ptr, &c.row_ptr, &c.row_ptr].map(Offsets::cuda), lanes),
        &bins,
    );
    // Values of a part must fit into shared memory several times.
    let listed = maps.lists.as_ref().filter(|_| bytes <= 16);
    // Long rows run concurrently with the others: the heaviest row's chain of folds sets the time.
    let mut long = vec![];
    if let Some(lists) = listed {
        let shape = Shape::blocks(lists.count, 32, lists::ENTRIES * value)?;
        let args = [&lists.args()[..], args![&operands]].concat();
        long.push(Launch { kernel: program(LISTED, &lists.word_at)?.kernel("values_listed")?, shape, args });
    } else if let Some(cut) = plan.cut(cuda, &bins, part)? {
        for (close, name) in [(false, "values_far"), (true, "values_near")] {
            let (n, lists) = cut.long(close);
            if n > 0 {
                let shape = long_shape(n, close, long_part(part), value)?;
                let args = [&lists[..], args![sorted, &operands]].concat();
                long.push(Launch { kernel: program(LONG, &c.row_ptr)?.kernel(name)?, shape, args });
            }
        }
        let (n, lists) = cut.short();
        if n > 0 {
            let args = [&lists[..], args![sorted, &operands]].concat();
            let kernel = program(PARTS, &c.row_ptr)?.kernel("values_parts")?;
            long.push(Launch { kernel, shape: part_shape(n, part, value)?, args });
        }
    }
    let mapped = |map: &Map, list: Arg, n: usize, entries: u32, threads: u32| {
        let args = args![n as u32, list, &map.place, &map.ranks, &operands].to_vec();
        let groups = 256 / threads;
        let shape = Shape::blocks(n.div_ceil(groups as usize), 256, groups * entries * value)?;
        Ok(Launch { kernel: program(MAPPED, &map.place)?.kernel(&format!("mapped_{entries}"))?, shape, args })
    };
    // A small number of short rows share one kernel, several lanes per row; of a large number the shortest have a
    // thread each, if values of this size fit.
    let few = bins.len(1) + bins.len(2);
    let together = few < MANY_ROWS && plan.few().is_some();
    let mut short = vec![];
    if let Some(map) = plan.few().filter(|_| together && few > 0) {
        short.push(mapped(map, bins.list(1), few, 64, lanes)?);
    }
    for (bin, slots, name) in [(3, 256, "values_128"), (2, 128, "values_64"), (1, 32, "values_16")] {
        let n = bins.len(bin);
        if n == 0 || bin < 3 && together {
            continue;
        }
        let list = bins.list(bin);
        let known = match bin {
            3 => maps.map.as_deref(),
            1 => plan.few().filter(|_| bytes <= 48),
            _ => plan.few(),
        };
        let to = if bin == 3 { &mut long } else { &mut short };
        if let Some(map) = known {
            to.push(mapped(map, list, n, slots / 2, if bin == 1 { 1 } else { lanes })?);
        } else {
            let (kernel, args) = (program(SHORT, &c.row_ptr)?.kernel(name)?, args![n as u32, list, &operands].to_vec());
            to.push(Launch { kernel, shape: short_shape(n, slots, lanes, value)?, args });
        }
    }
    cuda.launch_concurrently(&long, || short.iter().try_for_each(|of| of.kernel.launch(of.shape, &of.args)))
}

/// Compiles the programs that the first values of a plan are likely to need, in parallel.
fn precompile(cuda: &Cuda, plan: &Plan, ring: &Printed, settings: &[Setting; 5], bins: &Bins) {
    let some = |first: usize, last: usize| (first..=last).any(|bin| bins.len(bin) > 0);
    let mapped = plan.few().is_some();
    let sources = [
        (SHORT, some(3, 3) || !mapped && some(1, 2)),
        (MAPPED, mapped && some(1, 2)),
        (PARTS, some(4, 4)),
        (LONG, some(5, 5)),
    ];
    let wanted: Vec<_> = sources
        .iter()
        .filter(|(_, wanted)| *wanted)
        .map(|&(source, _)| (source, Prefix::new(&ring.text, settings)))
        .collect();
    cuda.precompile(&wanted);
}

pub(super) fn programs() -> Vec<Unit> {
    fn of(ring: &Printed, offset: &'static str, group: u32) -> impl Iterator<Item = Unit> {
        KERNELS.into_iter().map(move |(source, hot)| Unit {
            source,
            prefix: Prefix::new(&ring.text, &settings([offset; 4], group)).text(),
            hot,
        })
    }
    let (small, large) = ("unsigned int", "unsigned long long");
    let times = printed_ring(PlusTimes::<f64>::default());
    let mut units: Vec<Unit> = [8, 32].into_iter().flat_map(|group| of(&times, small, group)).collect();
    units.extend(of(&printed_ring(PlusTimes::<f32>::default()), large, 32));
    units.extend(of(&printed_ring(AnyPair::<bool>::default()), large, 8));
    units.extend(of(&printed_ring(MinPlus::<i64>::default()), small, 8));
    units.extend(of(&printed_ring(MinSecondI::<bool>::default()), small, 8));
    units
}

/// The value kernels. Each strategy is a program of its own, so that a new semiring does not wait for the compilation
/// of the others.
const KERNELS: [(Source, &[&str]); 6] = [
    (SHORT, &["values_16", "values_64", "values_128"]),
    (MAPPED, &["mapped_16", "mapped_64", "mapped_128"]),
    (PARTS, &["values_parts"]),
    (LONG, &["values_near", "values_far"]),
    (LISTED, &["values_listed"]),
    (FOLDS, &["values_folds"]),
];
