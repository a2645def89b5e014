//! y = x ⊕.⊗ A column by column, for an x with most of its entries: see `cuda/spmv_columns.cu`.

use std::sync::{Arc, OnceLock};

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::RawCsr;
use super::front::{Front, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::{DevicePattern, Offsets};
use super::spmv::RawMask;
use super::transpose::Sorter;
use super::vector::check_mask;
use super::vector_form::{Form, RawVector};
use crate::algebra::{PlusTimes, Printed, Type, printed_ring};
use crate::{Error, Result};

const SOURCE: Source = source!("spmv_columns.cu");

/// Most entries of a matrix that are all gone through for a bitmap, however few entries it has: reading them takes about as long as the
/// wait for the bitmap's number of entries, from which a list would begin (20 µs at 2 TB/s).
const MOST_FOR_BITMAPS: usize = 1 << 22;

/// The columns of a pattern: its transpose, and where each entry stands in it.
struct Columns {
    rows: DevicePattern,
    positions: Offsets,
    /// Whether each has an entry, once that was asked.
    all: OnceLock<bool>,
}

/// Whether a vector of this form is multiplied with whole columns of a matrix of `nnz` entries.
fn by_columns(x: &Form, nnz: usize) -> bool {
    match x {
        Form::Full => true,
        Form::Bitmap(_) => nnz <= MOST_FOR_BITMAPS,
        Form::List(_) => false,
    }
}

impl Cuda {
    /// The columns of a pattern, sorted once and kept with it: 8 bytes an entry, 16 from 2³² entries on.
    fn sorted_columns(&self, p: &Arc<DevicePattern>) -> Result<Arc<Columns>> {
        p.facts.get_or_make(|| {
            let (rows, positions) = Sorter::new(self, Type::U32, p.nnz)?.transpose(p)?;
            Ok(Columns { rows, positions, all: OnceLock::new() })
        })
    }
    /// Whether every column has an entry. Waits for the device the first time.
    fn all_columns(&self, columns: &Columns) -> Result<bool> {
        if let Some(&all) = columns.all.get() {
            return Ok(all);
        }
        let all = self.empty_rows(&columns.rows)? == 0;
        Ok(*columns.all.get_or_init(|| all))
    }

    /// `y(j) = ⊕_k x(k) ⊗ A(k,j)` for a full vector or a bitmap x, by one kernel that goes through the columns of A, and no wait but for
    /// the first of a pattern, which sorts its entries by column. The bits are those of [`vxm_sorted`](Self::vxm_sorted): each fold starts
    /// at the identity of ⊕ and goes in the order of k. `None` where a list of x's entries is the better way, or there is no memory for the
    /// columns.
    pub(super) fn vxm_by_columns(
        &self,
        ring: &Printed,
        x: &RawVector,
        a: &RawCsr,
        mask: RawMask<'_>,
    ) -> Result<Option<RawVector>> {
        let p = &a.pattern;
        if !by_columns(&x.form, p.nnz) {
            return Ok(None);
        }
        check_mask(mask, p.ncols)?;
        let columns = match self.sorted_columns(p) {
            Err(Error::DeviceMemory { .. } | Error::Budget { .. } | Error::IndexOverflow { .. }) => return Ok(None),
            found => found?,
        };
        let everywhere = matches!(x.form, Form::Full) && mask.is_none() && self.all_columns(&columns)?;
        let present: Option<Buffer<bool>> = match everywhere {
            true => None,
            false => Some(self.alloc(p.ncols, "places of a vector")?),
        };
        let values = self.alloc_raw(ring.out, p.ncols, "values of vxm")?;
        let settings = [Setting::Type("Position", columns.positions.cuda())];
        let program = self.program_of(SOURCE, Front::new(&ring.text, &settings))?;
        let complement = u32::from(mask.is_some_and(|(_, c)| c));
        let mask: Option<&RawBuffer> = mask.map(|(m, _)| m);
        let arguments = args![
            &columns.rows.row_ptr,
            &columns.rows.col_idx,
            &columns.positions,
            p.ncols as u64,
            &a.values,
            x.present(),
            &x.values,
            mask,
            complement,
            present.as_ref(),
            &values,
        ];
        program.kernel("spmv_columns")?.launch(Shape::for_each(p.ncols, 256)?, arguments)?;
        Ok(Some(match present {
            None => RawVector::full(values),
            Some(present) => RawVector::bitmap(present, values),
        }))
    }
}

/// Programs to compile where there is no device.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::MinPlus;
    let unit = |ring: &Printed, position| Unit {
        source: SOURCE,
        prefix: Front::new(&ring.text, &[Setting::Type("Position", position)]).text(),
        hot: &["spmv_columns"],
    };
    vec![
        unit(&printed_ring(PlusTimes::<f64>::default()), "unsigned int"),
        unit(&printed_ring(MinPlus::<f32>::default()), "unsigned long long"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_vectors_go_through_columns() {
        // The other forms hold memory of a device: tests/gpu_spmv.rs has them all.
        assert!(by_columns(&Form::Full, usize::MAX));
    }
}
