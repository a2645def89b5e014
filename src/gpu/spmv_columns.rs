//! y = x ⊕.⊗ A column by column, for an x that is full or nearly so: see `cuda/spmv_columns.cu`.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
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

/// Most entries of a matrix that are all read for a bitmap, however few entries the bitmap has. An estimate: reading
/// the matrix (16 to 40 bytes an entry, at 2 TB/s) takes no longer than the waits and the ten kernels of the sparse
/// product (benches/gpu_graph.rs, "sssp").
const MOST_FOR_BITMAPS: usize = 1 << 22;

/// From 1/DENSE of its indices on, a bitmap is multiplied by columns with any matrix: a sort of its products moves each
/// of them twelve times or more.
const DENSE: usize = 32;

/// Products of bitmaps with a pattern before its columns are sorted for them: by then the sparse products have cost as
/// much as the sort.
const FIRST: u32 = 3;

/// The number of products of bitmaps with matrices of a pattern.
#[derive(Default)]
struct Bitmaps(AtomicU32);

/// The columns of a pattern: its transpose, and the position of each of its entries in the original.
struct Columns {
    rows: DevicePattern,
    positions: Offsets,
    /// Whether every column has an entry, computed on first use.
    all: OnceLock<bool>,
}

impl Cuda {
    /// The columns of a pattern, sorted once and cached with it: 8 bytes an entry, 16 from 2³² entries on.
    fn sorted_columns(&self, p: &Arc<DevicePattern>) -> Result<Arc<Columns>> {
        p.facts.get_or_make(|| {
            let (rows, positions) = Sorter::new(self, Type::U32, p.nnz)?.transpose(p)?;
            Ok(Columns { rows, positions, all: OnceLock::new() })
        })
    }
    /// Whether to multiply x with the columns of a pattern. A full vector has a product with every entry, and sorting
    /// the pattern by column takes as long as sorting the products once.
    fn goes_by_columns(&self, x: &RawVector, p: &DevicePattern) -> Result<bool> {
        match x.form {
            Form::Full => Ok(true),
            Form::List(_) => Ok(false),
            Form::Bitmap(_) if p.nnz > MOST_FOR_BITMAPS && x.least_entries() < x.len / DENSE => Ok(false),
            Form::Bitmap(_) if p.facts.find::<Columns>().is_some() => Ok(true),
            Form::Bitmap(_) => {
                let before = p.facts.get_or_make(|| Ok(Bitmaps::default()))?;
                Ok(before.0.fetch_add(1, Ordering::Relaxed) >= FIRST)
            }
        }
    }
    /// Whether every column has an entry. Waits for the device the first time.
    fn all_columns(&self, columns: &Columns) -> Result<bool> {
        if let Some(&all) = columns.all.get() {
            return Ok(all);
        }
        let all = self.empty_rows(&columns.rows)? == 0;
        Ok(*columns.all.get_or_init(|| all))
    }

    /// `y(j) = ⊕_k x(k) ⊗ A(k,j)` for a full or bitmap x, by one kernel over the columns of A. Only the first product
    /// with a pattern waits: it sorts the entries by column. Bitwise the result of [`vxm_sorted`](Self::vxm_sorted):
    /// each fold starts at the identity of ⊕ and proceeds in the order of k. `None` if a list of x's entries is faster,
    /// or if the columns do not fit into memory.
    pub(super) fn vxm_by_columns(
        &self,
        ring: &Printed,
        x: &RawVector,
        a: &RawCsr,
        mask: RawMask<'_>,
    ) -> Result<Option<RawVector>> {
        let p = &a.pattern;
        check_mask(mask, p.ncols)?;
        if !self.goes_by_columns(x, p)? {
            return Ok(None);
        }
        let columns = match self.sorted_columns(p) {
            Err(Error::DeviceMemory { .. } | Error::Budget { .. } | Error::IndexOverflow { .. }) => return Ok(None),
            found => found?,
        };
        let everywhere = matches!(x.form, Form::Full) && mask.is_none() && self.all_columns(&columns)?;
        let present: Option<Buffer<bool>> = match everywhere {
            true => None,
            false => Some(self.alloc(p.ncols, "the bitmap of a vector")?),
        };
        let values = self.alloc_raw(ring.out, p.ncols, "values of vxm")?;
        let settings = [Setting::Type("Position", columns.positions.cuda())];
        let program = self.program_of(SOURCE, Prefix::new(&ring.text, &settings))?;
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

/// Programs to compile without a device.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::MinPlus;
    let unit = |ring: &Printed, position| Unit {
        source: SOURCE,
        prefix: Prefix::new(&ring.text, &[Setting::Type("Position", position)]).text(),
        hot: &["spmv_columns"],
    };
    vec![
        unit(&printed_ring(PlusTimes::<f64>::default()), "unsigned int"),
        unit(&printed_ring(MinPlus::<f32>::default()), "unsigned long long"),
    ]
}
