//! Columns and values of C: the host side of `cuda/kk_numeric.cu`.

use super::plan::Plan;
use super::pool::{Chunk, Pool};
use super::select::{self, Lists, Method, Probing, TEAM};
use super::symbolic::{second, warps_at_a_time};
use crate::algebra::{AnyPair, MinPlus, MinSecondI, PlusTimes, Printed, printed_ring};
use crate::gpu::Cuda;
use crate::gpu::buffer::{Buffer, RawBuffer};
use crate::gpu::csr::RawCsr;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Shape, args};
use crate::gpu::pattern::Offsets;
use crate::{Error, Result};

const SOURCE: Source = source!("kk_numeric.cu");

fn settings([a, b, c]: [&'static str; 3], lanes: u32, threads: u32) -> [Setting; 5] {
    [
        Setting::Type("OffsetA", a),
        Setting::Type("OffsetB", b),
        Setting::Type("OffsetC", c),
        Setting::Number("LANES", lanes),
        Setting::Number("THREADS", threads),
    ]
}

/// Values of C at `columns`; unless `known`, the columns themselves are computed too.
pub(super) fn fill(
    cuda: &Cuda,
    plan: &Plan,
    ring: &Printed,
    [a, b]: [&RawCsr; 2],
    known: bool,
    columns: &Buffer<u32>,
    values: &RawBuffer,
) -> Result<()> {
    a.values.check("the left matrix of a product", ring.a)?;
    b.values.check("the right matrix of a product", ring.b)?;
    values.check("the values of a product", ring.out)?;
    if plan.nnz == 0 {
        return Ok(());
    }
    let (pa, pb) = (&a.pattern, &b.pattern);
    let nrows = pa.nrows;
    let operands: [Arg; 10] = [
        (&pa.row_ptr).into(),
        (&pa.col_idx).into(),
        (&a.values).into(),
        (&pb.row_ptr).into(),
        (&pb.col_idx).into(),
        (&b.values).into(),
        (&*plan.row_ptr).into(),
        columns.into(),
        values.into(),
        u32::from(known).into(),
    ];
    let value = ring.out.size() as u32;
    let most = cuda.limits().shared_per_block.saturating_sub(1024);
    let (rows, kk) = (&plan.rows, &plan.settings);
    let program = |lanes, threads| {
        let offsets = [&pa.row_ptr, &pb.row_ptr, &plan.row_ptr].map(Offsets::cuda);
        cuda.program_of(SOURCE, Prefix::new(&ring.text, &settings(offsets, lanes, threads)))
    };
    match plan.method {
        Method::Kkmem => {
            let (Lists { lanes, hashes, room }, _) = select::linked_lists(rows, value, 1, kk, most);
            let kernel = program(lanes, TEAM)?.kernel("kk_linked_lists")?;
            let groups = TEAM / lanes;
            let shared = (value * room * groups).next_multiple_of(16) + 4 * (hashes + 2 * room) * groups;
            let shape = Shape { shared, ..Shape::for_each(nrows * lanes as usize, TEAM)? };
            let (hashes2, room2) = second(rows.longest);
            let tables = u64::from(32 / lanes);
            let pool = if u64::from(room) >= rows.longest {
                Pool::none(cuda, ring.out)?
            } else {
                let warps = warps_at_a_time(cuda, kernel.blocks_per_multiprocessor(TEAM, shared)?, shape);
                let chunk = Chunk { marks: tables * hashes2, words: tables * 2 * room2, values: tables * room2 };
                Pool::new(cuda, ring.out, warps, kk.chunks, chunk)?
            };
            let levels = args![hashes, room, hashes2 as u32, room2 as u32, pool.chunks, &pool.locks, &pool.marks];
            let all = [args![nrows as u32], &operands[..], levels, args![&pool.words, &pool.values]].concat();
            kernel.launch(shape, &all)
        }
        Method::Kklp => {
            let (shape, _) = select::linear_probe(rows, value, kk, most);
            let Probing { threads, slots, limit } = shape;
            let kernel = program(32, threads)?.kernel("kk_linear_probe")?;
            let shared = select::probing_bytes(shape, value, if pb.row_ptr.is_large() { 8 } else { 4 });
            let shape = Shape::blocks(nrows, threads, shared)?;
            let (pool, slots2) = if u64::from(limit) >= rows.longest {
                (Pool::none(cuda, ring.out)?, 0)
            } else {
                let slots2 = select::second_slots(rows.longest, kk.max_occupancy).ok_or(Error::IndexOverflow {
                    what: "keys of a second level",
                    needed: rows.longest.into(),
                    max: (1 << 31) - 1,
                })?;
                let warps = warps_at_a_time(cuda, kernel.blocks_per_multiprocessor(threads, shared)?, shape);
                let slots = u64::from(slots2);
                let chunk = Chunk { marks: 2 * slots, words: 0, values: slots };
                (Pool::new(cuda, ring.out, warps / u64::from(threads / 32), kk.chunks, chunk)?, slots2)
            };
            let levels = args![slots, limit, slots2, pool.chunks, &pool.locks, &pool.marks, &pool.values];
            kernel.launch(shape, &[&operands[..], levels].concat())
        }
    }
}

/// The numeric phase's shape for values of 8 bytes, as text.
pub(super) fn explain(cuda: &Cuda, plan: &Plan) -> String {
    let most = cuda.limits().shared_per_block.saturating_sub(1024);
    match plan.method {
        Method::Kkmem => select::linked_lists(&plan.rows, 8, 1, &plan.settings, most).1,
        Method::Kklp => select::linear_probe(&plan.rows, 8, &plan.settings, most).1,
    }
}

pub(super) fn programs() -> Vec<Unit> {
    let (small, large) = ("unsigned int", "unsigned long long");
    let unit = |ring: &Printed, offsets, lanes, threads| Unit {
        source: SOURCE,
        prefix: Prefix::new(&ring.text, &settings(offsets, lanes, threads)).text(),
        hot: HOT,
    };
    let times = printed_ring(PlusTimes::<f64>::default());
    vec![
        unit(&times, [small; 3], 8, 256),
        unit(&times, [small; 3], 32, 512),
        unit(&printed_ring(PlusTimes::<f32>::default()), [small, small, large], 2, 64),
        unit(&printed_ring(AnyPair::<bool>::default()), [large; 3], 4, 128),
        unit(&printed_ring(MinPlus::<i64>::default()), [small; 3], 16, 256),
        unit(&printed_ring(MinSecondI::<bool>::default()), [small; 3], 8, 256),
    ]
}

const HOT: &[&str] = &["kk_linked_lists", "kk_linear_probe"];
