//! The union product in two simple ways, which `cuda/union.cu` is measured against: see `cuda/naive_union.cu`.

use super::Cuda;
use super::csr::DeviceCsr;
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::vector::DeviceDense;
use crate::algebra::{Lhs, Manhattan, Namm, Num, Out, Rhs, emit_contract};
use crate::{Error, Result};

const SOURCE: Source = source!("naive_union.cu");
const THREADS: u32 = 256;

/// How a pair of rows is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaiveKind {
    /// Both rows in shared memory, sorted together, equal columns contracted; a pair per block (Nolet et al. §3.2.1).
    ExpandSortContract,
    /// Both rows merged; a pair per thread (Nolet et al. §3.2.2).
    IterateSorted,
}

fn prefix<N: Namm>(namm: N, [a, b]: [&str; 2]) -> String {
    format!("{}typedef {a} OffsetA;\ntypedef {b} OffsetB;\n", emit_contract(namm))
}

/// C(i,j) = ⊕_k A(i,k) ⊗ B(j,k) over the union of the two rows.
/// # Errors
/// [`Error::Shape`]; [`Error::Unsupported`] if two rows do not fit into shared memory to be sorted there; those of memory,
/// compiling and the device.
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
    if a.pattern.ncols != b.pattern.ncols {
        return Err(Error::Shape { op: "naive_union_mxm", lhs: a.shape(), rhs: b.shape() });
    }
    let (m, n) = (a.pattern.nrows, b.pattern.nrows);
    let len = m.checked_mul(n).ok_or(Error::IndexOverflow {
        what: "number of values",
        needed: m as u128 * n as u128,
        max: usize::MAX as u128,
    })?;
    let out = cuda.alloc::<Out<N>>(len, "the result of a union product")?;
    let (a, b) = (cuda.sorted(a)?, cuda.sorted(b)?);
    let (ap, bp) = (&*a.pattern, &*b.pattern);
    let program = cuda.program(SOURCE, &prefix(namm, [ap.row_ptr.cuda(), bp.row_ptr.cuda()]))?;
    let (pairs, width) = (len as u64, n as u64);
    let most = i32::MAX as usize;
    match kind {
        NaiveKind::IterateSorted => program.kernel("naive_iterate")?.launch(
            Shape::blocks(len.div_ceil(THREADS as usize).min(most), THREADS, 0)?,
            args![&ap.row_ptr, &ap.col_idx, &*a.values, &bp.row_ptr, &bp.col_idx, &*b.values, pairs, width, &out],
        )?,
        NaiveKind::ExpandSortContract => {
            let (of_a, of_b) = (cuda.longest_row(ap)?, cuda.longest_row(bp)?);
            let size = (of_a + of_b).next_power_of_two();
            let a_room = (of_a * size_of::<Lhs<N>>()).next_multiple_of(8);
            let bytes = 8 * size + a_room + of_b * size_of::<Rhs<N>>();
            let room = (cuda.limits().shared_per_block as usize).saturating_sub(THREADS as usize * size_of::<Out<N>>());
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
                    &*a.values,
                    &bp.row_ptr,
                    &bp.col_idx,
                    &*b.values,
                    pairs,
                    width,
                    size as u32,
                    a_room as u32,
                    &out
                ],
            )?;
        }
    }
    Ok(DeviceDense { nrows: m, ncols: n, values: out })
}

/// Programs to compile where there is no device.
pub(crate) fn programs() -> Vec<Unit> {
    let prefix = prefix(Manhattan::<f64>::default(), ["unsigned int", "unsigned long long"]);
    vec![Unit { source: SOURCE, prefix, hot: &["naive_iterate"] }]
}
