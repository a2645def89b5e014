//! Masking of a matrix, and the pattern of its nonzero values: see `cuda/apply_mask.cu`.

use std::sync::Arc;

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::DevicePattern;
use super::rows::tiles;
use crate::algebra::Type;
use crate::{Error, Result};

const SOURCE: Source = source!("apply_mask.cu");
const SMALL: &str = "unsigned int";

fn settings(ty: Type, [a, m, c]: [&'static str; 3]) -> [Setting; 4] {
    [Setting::words(ty), Setting::Type("OffsetA", a), Setting::Type("OffsetM", m), Setting::Type("OffsetC", c)]
}

impl Cuda {
    /// The entries of A in the pattern of a mask, or with `complement` outside it, in their order.
    ///
    /// Shapes: `a`, `mask` and the result m×n. Cost: a binary search in a row of the mask for each entry of A, and 8
    /// bytes an entry beside the result; a mask with unsorted rows is sorted first.
    pub(crate) fn apply_mask_raw(&self, a: &RawCsr, mask: &Arc<DevicePattern>, complement: bool) -> Result<RawCsr> {
        let p = &*a.pattern;
        if a.shape() != mask.shape() {
            return Err(Error::Shape { op: "a mask", lhs: a.shape(), rhs: mask.shape() });
        }
        if Arc::ptr_eq(&a.pattern, mask) && !complement {
            return Ok(a.clone());
        }
        let mask = self.sort_rows(mask)?;
        let marks = self.alloc::<u32>(p.nnz, "entries in a mask's pattern")?;
        // Marking does not depend on the type of the result's offsets. It uses the program that most matrices go on
        // with.
        let settings = settings(a.ty(), [p.row_ptr.cuda(), mask.row_ptr.cuda(), SMALL]);
        let (nrows, nnz, complement) = (p.nrows as u64, p.nnz as u64, u32::from(complement));
        self.program_of(SOURCE, Prefix::new("", &settings))?.kernel("marks_at")?.launch(
            tiles(p.nnz)?,
            args![&p.row_ptr, &p.col_idx, nrows, nnz, &mask.row_ptr, &mask.col_idx, complement, &marks],
        )?;
        let (pattern, values) = self.marked_entries(p, Some(&a.values), a.ty(), &marks)?;
        match values {
            Some(values) => Ok(RawCsr::new(pattern, values)),
            None => Ok(RawCsr::new(pattern, self.alloc_raw(a.ty(), 0, "values in a mask's pattern")?)),
        }
    }

    /// The pattern of A's nonzero values: a valued mask. NaN is not 0.
    /// # Errors
    /// [`Error::Unsupported`] for structs; [`Error::DeviceMemory`], [`Error::Device`].
    pub(crate) fn nonzero_raw(&self, a: &RawCsr) -> Result<Arc<DevicePattern>> {
        let marks = self.marks_nonzero(&a.values)?;
        Ok(Arc::new(self.marked_entries(&a.pattern, None, a.ty(), &marks)?.0))
    }

    /// The marked entries in their order, with their values if A has any. Waits for their number.
    fn marked_entries(
        &self,
        p: &DevicePattern,
        values: Option<&RawBuffer>,
        ty: Type,
        marks: &Buffer<u32>,
    ) -> Result<(DevicePattern, Option<Arc<RawBuffer>>)> {
        let what = "the marked entries";
        let (before, nnz) = self.offsets(marks, what)?;
        let nnz = nnz as usize;
        let row_ptr = self.alloc_offsets(before.is_large(), p.nrows + 1, what)?;
        let col_idx = self.alloc::<u32>(nnz, what)?;
        let kept = values.map(|from| self.alloc_raw(from.ty(), nnz, what)).transpose()?;
        let settings = settings(ty, [p.row_ptr.cuda(), SMALL, before.cuda()]);
        let program = self.program_of(SOURCE, Prefix::new("", &settings))?;
        program
            .kernel("marked_rows")?
            .launch(Shape::for_each(p.nrows + 1, 256)?, args![&p.row_ptr, p.nrows as u64, &before, &row_ptr])?;
        program.kernel("marked_entries")?.launch(
            Shape::for_each(p.nnz, 256)?,
            args![&p.col_idx, values, p.nnz as u64, &before, &col_idx, kept.as_deref()],
        )?;
        Ok((DevicePattern::new(p.shape(), p.sorted, row_ptr, col_idx), kept))
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    let large = "unsigned long long";
    [[SMALL; 3], [large, SMALL, SMALL], [large; 3]]
        .map(|offsets| Unit {
            source: SOURCE,
            prefix: Prefix::new("", &settings(Type::F64, offsets)).text(),
            hot: &["marks_at", "marked_entries"],
        })
        .into()
}
