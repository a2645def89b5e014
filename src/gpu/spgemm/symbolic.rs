//! The symbolic phase: the plan of A·B, masked or not.

use std::sync::Arc;

use super::bins::{self, Work, group};
use super::columns::{self, Columns, Structure};
use super::parts;
use super::plan::Plan;
use super::values;
use crate::algebra::{AnyPair, Type, printed_ring};
use crate::gpu::buffer::Buffer;
use crate::gpu::csr::RawCsr;
use crate::gpu::defines::Prefix;
use crate::gpu::launch::{Shape, args};
use crate::gpu::scan;
use crate::gpu::{Cuda, DevicePattern};
use crate::{Error, Result};

/// An error for operands whose shapes do not match, or that are too large for the device.
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

/// The plan of A·B, within a mask or, with `true`, outside it.
pub(super) fn make(
    cuda: &Cuda,
    a: Arc<DevicePattern>,
    b: Arc<DevicePattern>,
    mask: Option<(&Arc<DevicePattern>, bool)>,
) -> Result<Plan> {
    check_shapes(&a, &b)?;
    let shape = (a.nrows, b.ncols);
    if let Some((pattern, _)) = mask
        && pattern.shape() != shape
    {
        return Err(Error::Shape { op: "mxm mask", lhs: pattern.shape(), rhs: shape });
    }
    let sorted_mask = match mask {
        Some((pattern, _)) => Some(cuda.sort_rows(pattern)?),
        None => None,
    };
    let rows = bins::settings([a.row_ptr.cuda(), b.row_ptr.cuda(), bins::SMALL, bins::SMALL]);
    let columns = columns::likely(&a, &b, sorted_mask.as_deref());
    let [rows, columns] = [(bins::SOURCE, Prefix::new("", &rows)), (columns::SOURCE, Prefix::new("", &columns))];
    match mask {
        Some((_, false)) => cuda.precompile(&[rows, scan::PROGRAM]),
        _ => cuda.precompile(&[rows, scan::PROGRAM, columns]),
    }
    let (work, fresh) = bins::work(cuda, &a, &b)?;
    let mean = work.flops as f64 / a.nnz.max(1) as f64;
    let mut map = None;
    let (c, lengths, form) = match (mask, &sorted_mask) {
        (Some((_, false)), Some(pattern)) => {
            let (c, lengths) = masked_pattern(cuda, &a, &b, pattern, &work)?;
            (c, (lengths, None), "the entries of the product in the mask".to_string())
        }
        _ => {
            let of = Columns::new(cuda, &a, &b, sorted_mask.as_deref(), &work)?;
            let form = format!(
                "rows by work: sorted in registers up to 64, hashed up to 768 words, bitmaps above; {}",
                of.explain()
            );
            let Structure { row_ptr, lengths, columns, map: few, bins } = of.structure(fresh)?;
            map = few;
            (Arc::new(DevicePattern::new(shape, true, row_ptr, columns)), (lengths, Some(bins)), form)
        }
    };
    let why = format!("{form}; {} lanes for a row of B, mean length {mean:.1}", group(mean));
    Ok(Plan::new([&a, &b, &c], lengths, mask.is_some(), &work, map, why))
}

/// The entries of `mask` that A·B has, and the lengths of their rows: the masked product over any-pair, then the
/// entries that it touched.
fn masked_pattern(
    cuda: &Cuda,
    a: &Arc<DevicePattern>,
    b: &Arc<DevicePattern>,
    mask: &Arc<DevicePattern>,
    work: &Work,
) -> Result<(Arc<DevicePattern>, Buffer<u32>)> {
    let program = parts::program(cuda, &mask.row_ptr, &mask.row_ptr)?;
    // Any-pair reads no values, so the patterns stand in for the matrices.
    let values = cuda.alloc_raw(Type::Bool, 0, "no values")?;
    let [left, right] = [a, b].map(|pattern| RawCsr { pattern: Arc::clone(pattern), values: Arc::clone(&values) });
    let flags = cuda.zeroed::<bool>(mask.nnz, "entries of the mask")?;
    let plan = Plan::new([a, b, mask], (parts::lengths(cuda, mask)?, None), true, work, None, String::new());
    values::fill(cuda, &plan, &printed_ring(AnyPair::<bool>::default()), &left, &right, flags.raw())?;
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
    let fill = parts::program(cuda, &mask.row_ptr, &row_ptr)?;
    fill.kernel("keep_fill")?.launch(shape, args![rows, &mask.row_ptr, &mask.col_idx, &flags, &row_ptr, &col_idx])?;
    let c = DevicePattern::new((mask.nrows, mask.ncols), true, row_ptr, col_idx);
    Ok((Arc::new(c), counts))
}
