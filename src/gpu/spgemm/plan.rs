//! The plan of a product on the device: everything that follows from the patterns alone.

use std::sync::{Arc, Mutex, PoisonError};

use super::columns::{self, Bins, Columns};
use super::{Hits, Mask, values};
use crate::gpu::csr::Offsets;
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Shape, args};
use crate::gpu::memory::Buffer;
use crate::gpu::{Cuda, DeviceCsr, DevicePattern};
use crate::{Error, Result};

const SOURCE: Source = source!("spgemm_parts.cu");

/// The structure of C = A·B under our own policy: all of its pattern.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    a: Arc<DevicePattern>,
    b: Arc<DevicePattern>,
    c: Arc<DevicePattern>,
    lengths: Arc<Buffer<u32>>,
    flops: u64,
    max_row_flops: u64,
    why: Arc<str>,
    /// Rows in bins, by the entries of a part.
    rows: Arc<Mutex<Vec<(u32, Arc<Rows>)>>>,
}

/// Rows of C by length.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) bins: Bins,
    pub(super) parts: Option<Parts>,
}

/// Long rows cut into parts: for each its row and its number within the row.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) rows: Buffer<u32>,
    pub(super) numbers: Buffer<u32>,
}

impl Plan {
    /// Multiplications.
    pub(super) fn flops(&self) -> u64 {
        self.flops
    }
    /// Most multiplications in a row.
    pub(super) fn max_row_flops(&self) -> u64 {
        self.max_row_flops
    }
    /// Where C has entries.
    pub(super) fn pattern(&self) -> &Arc<DevicePattern> {
        &self.c
    }
    /// What was chosen, and why.
    pub(super) fn explain(&self) -> &str {
        &self.why
    }
    /// The patterns of A and B.
    pub(super) fn operands(&self) -> [&Arc<DevicePattern>; 2] {
        [&self.a, &self.b]
    }

    /// Rows in bins, for values whose part is `part` entries; made when first asked for.
    pub(super) fn rows(&self, cuda: &Cuda, part: u32) -> Result<Arc<Rows>> {
        let mut known = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rows)) = known.iter().find(|(p, _)| *p == part) {
            return Ok(Arc::clone(rows));
        }
        let made = Arc::new(values::rows(cuda, &self.lengths, part, |list, n| {
            let program = cuda.program(SOURCE, &prefix(&self.c.row_ptr))?;
            let counts = cuda.alloc::<u32>(n, "parts of long rows")?;
            let shape = Shape::for_each(n, 256)?;
            program.kernel("parts_count")?.launch(shape, args![n as u32, list, &self.c.row_ptr, part, &counts])?;
            let (Offsets::Small(offsets), total) = cuda.offsets(&counts, "parts of long rows")? else {
                return Err(Error::IndexOverflow {
                    what: "parts of long rows",
                    needed: u128::MAX,
                    max: u32::MAX.into(),
                });
            };
            let rows = cuda.alloc::<u32>(total as usize, "parts of long rows")?;
            let numbers = cuda.alloc::<u32>(total as usize, "parts of long rows")?;
            program.kernel("parts_fill")?.launch(shape, args![n as u32, list, &offsets, &rows, &numbers])?;
            Ok(Some(Parts { rows, numbers }))
        })?);
        known.push((part, Arc::clone(&made)));
        Ok(made)
    }
}

/// Refuses operands that a plan for `a` and `b` was not made for.
pub(super) fn check(cuda: &Cuda, planned: [&Arc<DevicePattern>; 2], found: [&Arc<DevicePattern>; 2]) -> Result<()> {
    for (operand, (planned, found)) in ["A", "B"].into_iter().zip(planned.into_iter().zip(found)) {
        if !Arc::ptr_eq(planned, found) && !same(cuda, planned, found)? {
            return Err(Error::PatternChanged { operand, found: found.nnz, planned: planned.nnz });
        }
    }
    Ok(())
}

fn prefix(c: &Offsets) -> String {
    kept_prefix(c, "unsigned int")
}

fn kept_prefix(c: &Offsets, kept: &str) -> String {
    format!("typedef {} OffsetC;\ntypedef {kept} OffsetK;\n", c.cuda())
}

/// Whether two patterns have the same entries in the same order.
fn same(cuda: &Cuda, x: &DevicePattern, y: &DevicePattern) -> Result<bool> {
    if x.shape() != y.shape() || x.nnz != y.nnz {
        return Ok(false);
    }
    let program = cuda.program(SOURCE, &prefix(&x.row_ptr))?;
    let differ = cuda.zeroed::<u32>(1, "a comparison of patterns")?;
    let mut compare = |words: usize, x: crate::gpu::launch::Arg, y: crate::gpu::launch::Arg| {
        program.kernel("compare")?.launch(Shape::for_each(words, 256)?, args![words as u64, x, y, &differ])
    };
    let words = (x.nrows + 1) * if matches!(x.row_ptr, Offsets::Small(_)) { 1 } else { 2 };
    compare(words, (&x.row_ptr).into(), (&y.row_ptr).into())?;
    compare(x.nnz, (&x.col_idx).into(), (&y.col_idx).into())?;
    Ok(cuda.get_at(&differ, 0)? == 0)
}

/// Refuses operands that do not fit together, or this device.
pub(super) fn check_shapes(a: &DevicePattern, b: &DevicePattern) -> Result<()> {
    if a.ncols != b.nrows {
        return Err(Error::Shape { op: "mxm", lhs: a.shape(), rhs: b.shape() });
    }
    // Rows are counted in 32 bits on the device.
    if u32::try_from(a.nrows).is_err() {
        return Err(Error::IndexOverflow { what: "rows on the device", needed: a.nrows as u128, max: u32::MAX.into() });
    }
    Ok(())
}

/// The plan of A·B, or of what a mask leaves of it.
pub(super) fn make(cuda: &Cuda, a: Arc<DevicePattern>, b: Arc<DevicePattern>, mask: Option<Mask<'_>>) -> Result<Plan> {
    check_shapes(&a, &b)?;
    let shape = (a.nrows, b.ncols);
    if let Some(mask) = mask
        && mask.pattern.shape() != shape
    {
        return Err(Error::Shape { op: "mxm mask", lhs: mask.pattern.shape(), rhs: shape });
    }
    let sorted_mask = match mask {
        Some(mask) if !mask.pattern.sorted => Some(cuda.sort_rows(mask.pattern)?),
        Some(mask) => Some(Arc::clone(mask.pattern)),
        None => None,
    };
    let work = columns::work(cuda, &a, &b)?;
    let mean = work.flops as f64 / a.nnz.max(1) as f64;
    let (c, lengths, form) = match (mask, &sorted_mask) {
        (Some(mask), Some(pattern)) if !mask.complement => {
            let (c, lengths) = hits(cuda, &a, &b, pattern, &work)?;
            (c, lengths, "entries of the mask that the product meets")
        }
        _ => {
            let of = Columns::new(cuda, &a, &b, sorted_mask.as_deref(), work.flops);
            let lengths = of.count(&work)?;
            let (row_ptr, nnz) = cuda.offsets(&lengths, "row pointers of C")?;
            let nnz = usize::try_from(nnz).unwrap_or(usize::MAX);
            let col_idx = of.fill(&work, &lengths, &row_ptr, nnz)?;
            let c = DevicePattern { nrows: shape.0, ncols: shape.1, nnz, sorted: true, row_ptr, col_idx };
            (Arc::new(c), lengths, "rows by work: sorted in registers up to 64, hashed up to 1024, bits beyond")
        }
    };
    let why = format!("{form}; {} lanes on a row of B, whose mean is {mean:.1}", columns::group(mean));
    Ok(Plan {
        a,
        b,
        c,
        lengths: Arc::new(lengths),
        flops: work.flops,
        max_row_flops: work.most,
        why: why.into(),
        rows: Arc::default(),
    })
}

/// The entries of `mask` that A·B has, and the lengths of their rows: values of the mask's entries over any-pair, then
/// those that were met.
fn hits(
    cuda: &Cuda,
    a: &Arc<DevicePattern>,
    b: &Arc<DevicePattern>,
    mask: &Arc<DevicePattern>,
    work: &columns::Work,
) -> Result<(Arc<DevicePattern>, Buffer<u32>)> {
    let program = cuda.program(SOURCE, &prefix(&mask.row_ptr))?;
    // Any-pair looks at no value, so the patterns stand in for the matrices.
    let none = || Ok::<_, Error>(Arc::new(cuda.alloc::<bool>(0, "no values")?));
    let (left, right) =
        (DeviceCsr { pattern: Arc::clone(a), values: none()? }, DeviceCsr { pattern: Arc::clone(b), values: none()? });
    let flags = cuda.zeroed::<bool>(mask.nnz, "entries of the mask")?;
    let plan = Plan {
        a: Arc::clone(a),
        b: Arc::clone(b),
        c: Arc::clone(mask),
        lengths: Arc::new(lengths(cuda, mask)?),
        flops: work.flops,
        max_row_flops: work.most,
        why: "".into(),
        rows: Arc::default(),
    };
    values::fill(cuda, &plan, Hits::default(), &left, &right, &flags)?;
    let counts = cuda.alloc::<u32>(mask.nrows, "lengths of C's rows")?;
    let shape = Shape::for_each(mask.nrows * 32, 256)?;
    let rows = mask.nrows as u32;
    program.kernel("keep_count")?.launch(shape, args![rows, &mask.row_ptr, &flags, &counts])?;
    let (row_ptr, nnz) = cuda.offsets(&counts, "row pointers of C")?;
    let nnz = usize::try_from(nnz).unwrap_or(usize::MAX);
    if nnz == mask.nnz {
        return Ok((Arc::clone(mask), counts));
    }
    let col_idx = cuda.alloc::<u32>(nnz, "columns of C")?;
    let fill = cuda.program(SOURCE, &kept_prefix(&mask.row_ptr, row_ptr.cuda()))?;
    fill.kernel("keep_fill")?.launch(shape, args![rows, &mask.row_ptr, &mask.col_idx, &flags, &row_ptr, &col_idx])?;
    let c = DevicePattern { nrows: mask.nrows, ncols: mask.ncols, nnz, sorted: true, row_ptr, col_idx };
    Ok((Arc::new(c), counts))
}

/// Length of every row of a pattern.
fn lengths(cuda: &Cuda, of: &DevicePattern) -> Result<Buffer<u32>> {
    let program = cuda.program(SOURCE, &prefix(&of.row_ptr))?;
    let lengths = cuda.alloc::<u32>(of.nrows, "lengths of rows")?;
    let all = args![of.nrows as u32, &of.row_ptr, &lengths];
    program.kernel("row_lengths")?.launch(Shape::for_each(of.nrows, 256)?, all)?;
    Ok(lengths)
}

pub(super) fn programs() -> Vec<Unit> {
    ["unsigned int", "unsigned long long"]
        .map(|c| Unit { source: SOURCE, prefix: format!("typedef {c} OffsetC;\ntypedef {c} OffsetK;\n"), hot: &[] })
        .into()
}
