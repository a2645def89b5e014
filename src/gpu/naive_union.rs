//! Two naive union products, the baselines for `cuda/union.cu`: see `cuda/naive_union.cu`.

use std::sync::Arc;

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::{DeviceCsr, RawCsr};
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::vector::DeviceDense;
use crate::algebra::{Lhs, Manhattan, Namm, Num, Out, Printed, Rhs, printed_ring};
use crate::{Error, Result};

const SOURCE: Source = source!("naive_union.cu");
const THREADS: u32 = 256;

/// How a pair of rows is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaiveKind {
    /// Both rows in shared memory, sorted together, equal columns contracted; a pair per block (Nolet et al. §3.2.1).
    ExpandSortContract,
    /// Both rows merged; a pair per thread (Nolet et al. §3.2.2).
    IterateSorted,
}

fn settings([a, b]: [&'static str; 2]) -> [Setting; 2] {
    [Setting::Type("OffsetA", a), Setting::Type("OffsetB", b)]
}

/// C(i,j) = ⊕_k A(i,k) ⊗ B(j,k) over the union of the two rows.
/// # Errors
/// [`Error::Shape`]; [`Error::Unsupported`] if two rows do not fit into shared memory to be sorted; those of memory,
/// compilation and the device.
pub fn naive_union_mxm<N: Namm>(
    cuda: &Cuda,
    namm: N,
    a: &DeviceCsr<Lhs<N>>,
    b: &DeviceCsr<Rhs<N>>,
    kind: NaiveKind,
) -> Result<DeviceDense<Out<N>>>
where
    Lhs<N>: Num,
    Rhs<N>: Num,
{
    let values = naive_union_raw(cuda, &printed_ring(namm), &a.raw(), &b.raw(), kind)?;
    Ok(DeviceDense { nrows: a.pattern.nrows, ncols: b.pattern.nrows, values: Buffer::of(values)? })
}

fn naive_union_raw(cuda: &Cuda, ring: &Printed, a: &RawCsr, b: &RawCsr, kind: NaiveKind) -> Result<Arc<RawBuffer>> {
    if a.pattern.ncols != b.pattern.ncols {
        return Err(Error::Shape { op: "naive_union_mxm", lhs: a.shape(), rhs: b.shape() });
    }
    let (m, n) = (a.pattern.nrows, b.pattern.nrows);
    let len = m.checked_mul(n).ok_or(Error::IndexOverflow {
        what: "number of values",
        needed: m as u128 * n as u128,
        max: usize::MAX as u128,
    })?;
    let out = cuda.alloc_raw(ring.out, len, "the result of a union product")?;
    let (a, b) = (cuda.sorted_raw(a)?, cuda.sorted_raw(b)?);
    let (ap, bp) = (&*a.pattern, &*b.pattern);
    let program =
        cuda.program_of(SOURCE, Prefix::new(&ring.text, &settings([ap.row_ptr.cuda(), bp.row_ptr.cuda()])))?;
    let (pairs, width) = (len as u64, n as u64);
    let most = i32::MAX as usize;
    match kind {
        NaiveKind::IterateSorted => program.kernel("naive_iterate")?.launch(
            Shape::blocks(len.div_ceil(THREADS as usize).min(most), THREADS, 0)?,
            args![&ap.row_ptr, &ap.col_idx, &a.values, &bp.row_ptr, &bp.col_idx, &b.values, pairs, width, &out],
        )?,
        NaiveKind::ExpandSortContract => {
            let (of_a, of_b) = (cuda.longest_row(ap)?, cuda.longest_row(bp)?);
            let size = (of_a + of_b).next_power_of_two();
            let a_room = (of_a * ring.a.size()).next_multiple_of(8);
            let bytes = 8 * size + a_room + of_b * ring.b.size();
            let room = (cuda.limits().shared_per_block as usize).saturating_sub(THREADS as usize * ring.out.size());
            if bytes > room {
                return Err(Error::Unsupported {
                    what: "NaiveKind::ExpandSortContract".into(),
                    why: format!(
                        "rows of {of_a} and {of_b} entries need {bytes} bytes of shared memory, a block has {room}"
                    ),
                });
            }
            program.kernel("naive_expand_sort_contract")?.launch(
                Shape::blocks(len.min(most), THREADS, bytes as u32)?,
                args![
                    &ap.row_ptr,
                    &ap.col_idx,
                    &a.values,
                    &bp.row_ptr,
                    &bp.col_idx,
                    &b.values,
                    pairs,
                    width,
                    size as u32,
                    a_room as u32,
                    &out
                ],
            )?;
        }
    }
    Ok(out)
}

/// Programs to compile without a device.
pub(crate) fn programs() -> Vec<Unit> {
    let ring = printed_ring(Manhattan::<f64>::default());
    let prefix = Prefix::new(&ring.text, &settings(["unsigned int", "unsigned long long"])).text();
    vec![Unit { source: SOURCE, prefix, hot: &["naive_iterate"] }]
}
