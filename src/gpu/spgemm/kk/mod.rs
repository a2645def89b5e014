//! kkSpGEMM on the device, as in its paper.
//!
//! The symbolic phase compresses B if that saves enough work, and counts the entries of every row of C with linked
//! lists. The numeric phase accumulates each row in two levels: linked lists with a part of a warp per row (kkmem), or
//! linear probing with a block per row (kklp). Rows come out in accumulator order, and are sorted at the end unless
//! unsorted rows are allowed; later numeric phases fill in values at the columns determined by the first.
//!
//! Source: Deveci, Trott, Rajamanickam 2018, Algorithms 2 and 3, §3.

mod compress;
mod numeric;
mod plan;
mod pool;
mod select;
mod symbolic;

use std::sync::{Arc, PoisonError};

use super::bins::{self, Work};
use crate::algebra::Printed;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::csr::RawCsr;
use crate::gpu::jit::Unit;
use crate::gpu::{Cuda, DevicePattern};
use crate::spgemm::{Accumulator, Compress, Compression, Options, Policy, compresses};
use crate::{Error, Result};
use select::RowStats;

pub(super) use plan::Plan;

/// The symbolic phase. The caller has checked shapes.
pub(super) fn make(cuda: &Cuda, a: Arc<DevicePattern>, b: Arc<DevicePattern>, options: &Options) -> Result<Plan> {
    let settings = &options.kk;
    settings.check()?;
    if options.accumulator == Accumulator::Dense {
        return Err(Error::Unsupported {
            what: "a dense accumulator on the GPU".into(),
            why: "every block of the many that run at a time would need a slot for each column (Deveci et al. 2018, \
                  §3.1.2); ask for LinkedList or LinearProbe"
                .into(),
        });
    }
    let (Work { flops, most, .. }, _) = bins::work(cuda, &a, &b)?;
    let of_rows = |n: u64| n as f64 / a.nrows.max(1) as f64;

    // B's words are counted first and filled in only if that saves enough; `Off` does not even count.
    let counted = match options.compress {
        Compress::Off => None,
        _ => Some(compress::count(cuda, &b)?),
    };
    let compression = match &counted {
        None => None,
        Some(counted) => Some(saved(flops, most, b.ncols, &bins::work(cuda, &a, &counted.words)?.0)),
    };
    let (compressed, why_compressed) =
        compresses(options.compress, compression.map(|c| c.cf), settings.compress_cutoff);
    let words = counted.filter(|_| compressed).map(compress::Counted::fill).transpose()?;

    // A word covers 32 columns, so both the keys and the bound on a row's length shrink.
    let (fm, maxrf, keys, entries) = match (&words, compression) {
        (Some(words), Some(c)) => (c.compressed_fm, c.compressed_max_row, b.ncols.div_ceil(32), words.pattern.nnz),
        _ => (flops, most, b.ncols, b.nnz),
    };
    let mean_b = |entries: usize| entries as f64 / b.nrows.max(1) as f64;
    let guess = RowStats {
        mean_b: mean_b(entries),
        mean_flops: of_rows(fm),
        mean_c: select::guessed_row(maxrf, of_rows(fm)),
        longest: maxrf.min(keys as u64),
    };
    let (lengths, why_symbolic) = symbolic::lengths(cuda, &a, &b, words.as_ref(), &guess, settings)?;
    drop(words);
    let (row_ptr, nnz) = cuda.offsets(&lengths, "row pointers of C")?;
    drop(lengths);
    // Only the row pointers are used.
    let col_idx = cuda.alloc(0, "no columns")?;
    let nnz = usize::try_from(nnz).unwrap_or(usize::MAX);
    let mut c = DevicePattern::new((a.nrows, b.ncols), false, row_ptr, col_idx);
    c.nnz = nnz;
    let longest = cuda.longest_row(&c)? as u64;

    let rows = RowStats { mean_b: mean_b(b.nnz), mean_flops: of_rows(flops), mean_c: of_rows(nnz as u64), longest };
    let (method, why_method) = select::method(options.accumulator, &rows);
    let mut plan = Plan {
        a,
        b,
        row_ptr: Arc::new(c.row_ptr),
        nnz,
        flops,
        max_row_flops: most,
        compression,
        why: "".into(),
        method,
        rows,
        settings: settings.clone(),
        unsorted: options.unsorted,
        c: Arc::default(),
    };
    let policy = if options.policy == Policy::KkSpGemm { "kkSpGEMM" } else { "accumulators of kkSpGEMM" };
    let order = if options.unsorted { "" } else { "; rows sorted at the end" };
    let why = format!(
        "{policy}: {why_method}: {}, for values of 8 bytes; LL symbolic: {why_symbolic}; {why_compressed}{order}",
        numeric::explain(cuda, &plan)
    );
    plan.why = why.into();
    Ok(plan)
}

/// The work that compression leaves on a matrix of `ncols` columns.
fn saved(fm: u64, max_row_flops: u64, ncols: usize, work: &Work) -> Compression {
    let part = |x: u64, of: u64| if of == 0 { 1.0 } else { x as f64 / of as f64 };
    let k = ncols as u64;
    Compression {
        fm,
        max_row_flops,
        compressed_fm: work.flops,
        compressed_max_row: work.most,
        cf: part(work.flops, fm),
        cmrf: part(work.most.min(k.div_ceil(32)), max_row_flops.min(k)),
    }
}

/// The numeric phase.
pub(super) fn numeric(cuda: &Cuda, plan: &Plan, ring: &Printed, a: &RawCsr, b: &RawCsr) -> Result<RawCsr> {
    // Only one numeric phase determines the columns: the order of unsorted rows may differ from run to run.
    let first = plan.c.first.lock().unwrap_or_else(PoisonError::into_inner);
    let values = cuda.alloc_raw(ring.out, plan.nnz, "values of C")?;
    if let Some(pattern) = plan.pattern() {
        drop(first);
        numeric::fill(cuda, plan, ring, [a, b], true, &pattern.col_idx, &values)?;
        return Ok(RawCsr { pattern: Arc::clone(pattern), values });
    }
    let columns = cuda.alloc::<u32>(plan.nnz, "columns of C")?;
    numeric::fill(cuda, plan, ring, [a, b], false, &columns, &values)?;
    let row_ptr = cuda.duplicate_offsets(&plan.row_ptr, "row pointers of C")?;
    let mut pattern = DevicePattern::new(plan.shape(), false, row_ptr, columns);
    pattern.sorted = cuda.columns_increase(&pattern)?;
    let mut c = RawCsr::new(pattern, values);
    if !plan.unsorted {
        c = cuda.sorted_raw(&c)?;
    }
    c.pattern = Arc::clone(plan.c.pattern.get_or_init(|| c.pattern));
    Ok(c)
}

/// The numeric phase into the values of a matrix that an earlier one created.
pub(super) fn numeric_into(
    cuda: &Cuda,
    plan: &Plan,
    ring: &Printed,
    a: &RawCsr,
    b: &RawCsr,
    c: &DevicePattern,
    values: &RawBuffer,
) -> Result<()> {
    numeric::fill(cuda, plan, ring, [a, b], true, &c.col_idx, values)
}

pub(super) fn programs() -> Vec<Unit> {
    [compress::programs(), symbolic::programs(), numeric::programs()].concat()
}
