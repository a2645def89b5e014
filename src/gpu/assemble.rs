//! Rows, columns and diagonals as vectors, diagonal matrices, and concatenation of blocks: see `cuda/assemble.cu`.

use std::ops::Range;
use std::sync::Arc;

use super::Cuda;
use super::csr::{RawCsr, column_bound};
use super::defines::{Prefix, Setting};
use super::index::{DeviceList, offsets};
use super::jit::{Source, Unit, source};
use super::launch::{Program, Shape, args};
use super::pattern::{DevicePattern, Offsets};
use super::rows::tiles;
use super::vector_form::{Form, RawVector};
use super::vector_ops::row_as_list;
use crate::algebra::Type;
use crate::ops::diagonal_of;
use crate::sparse::IndexList;
use crate::{Error, Result};

const SOURCE: Source = source!("assemble.cu");

fn one(i: usize) -> Range<usize> {
    i..i.saturating_add(1)
}

impl Cuda {
    fn assemble_program(&self, ty: Type) -> Result<Arc<Program>> {
        self.program_of(SOURCE, Prefix::new("", &[Setting::words(ty)]))
    }
    /// y(p) = A(I(p), J(p)) for all p below `n` where A has that entry.
    fn line_raw(&self, a: &RawCsr, rows: &DeviceList, cols: &DeviceList, n: usize) -> Result<RawVector> {
        column_bound(n)?;
        let a = self.sorted_raw(a)?;
        let p = &*a.pattern;
        let (present, values) = (self.alloc::<bool>(n, "the bitmap of a line")?, self.alloc_raw(a.ty(), n, "a line")?);
        let arguments = args![offsets(&p.row_ptr), &p.col_idx, &a.values, rows, cols, n as u64, &present, &values];
        self.assemble_program(a.ty())?.kernel("line_entries")?.launch(Shape::for_each(n, 256)?, arguments)?;
        Ok(RawVector::bitmap(present, values))
    }
    /// A(i, J) as a vector of length |J|.
    ///
    /// Cost: a binary search for each index; for all columns, a copy of the row and a wait. A matrix with unsorted rows
    /// is sorted first, as in the next two.
    pub(crate) fn extract_row_raw(&self, a: &RawCsr, i: usize, cols: &IndexList) -> Result<RawVector> {
        let (m, n) = a.shape();
        IndexList::from(one(i)).check("rows", m)?;
        let list = self.device_list(cols, "cols", n)?;
        if list.is_all(n) {
            return Ok(row_as_list(self.sorted_raw(&self.some_rows_raw(a, one(i))?)?));
        }
        self.line_raw(a, &DeviceList::strided(i, 0, list.len), &list, list.len)
    }
    /// A(I, j) as a vector of length |I|.
    ///
    /// Cost: a binary search for each index.
    pub(crate) fn extract_column_raw(&self, a: &RawCsr, rows: &IndexList, j: usize) -> Result<RawVector> {
        let (m, n) = a.shape();
        IndexList::from(one(j)).check("cols", n)?;
        let list = self.device_list(rows, "rows", m)?;
        self.line_raw(a, &list, &DeviceList::strided(j, 0, list.len), list.len)
    }
    /// The diagonal k of A.
    ///
    /// Cost: a binary search for each of its indices.
    pub(crate) fn diagonal_raw(&self, a: &RawCsr, k: i64) -> Result<RawVector> {
        let ((top, left), len) = diagonal_of(a.shape(), k);
        self.line_raw(a, &DeviceList::range(top, len), &DeviceList::range(left, len), len)
    }
    /// The square matrix with v on diagonal k: n + |k| rows for a vector of length n. It shares v's values.
    ///
    /// Cost: O(n + |k|), a binary search for each row. Waits for the number of entries of a bitmap.
    pub(crate) fn diagonal_matrix_raw(&self, v: &RawVector, k: i64) -> Result<RawCsr> {
        let by = usize::try_from(k.unsigned_abs()).unwrap_or(usize::MAX);
        let n = v.len.checked_add(by).filter(|&n| column_bound(n).is_ok()).ok_or(Error::IndexOverflow {
            what: "columns",
            needed: v.len as u128 + u128::from(k.unsigned_abs()),
            max: u128::from(u32::MAX),
        })?;
        let (top, left) = if k >= 0 { (0, by) } else { (by, 0) };
        let listed = match v.form {
            Form::Bitmap(_) => self.to_list_raw(v)?,
            Form::Full | Form::List(_) => v.clone(),
        };
        let (indices, nnz) = (listed.indices(), listed.values.len());
        let row_ptr = self.alloc::<u32>(n + 1, "row pointers of a diagonal matrix")?;
        let cols = self.alloc::<u32>(nnz, "columns of a diagonal matrix")?;
        let program = self.assemble_program(v.ty())?;
        let arguments = args![indices, nnz as u64, top as u64, n as u64, &row_ptr];
        program.kernel("diagonal_rows")?.launch(Shape::for_each(n + 1, 256)?, arguments)?;
        let arguments = args![indices, nnz as u64, left as u64, &cols];
        program.kernel("diagonal_columns")?.launch(Shape::for_each(nnz, 256)?, arguments)?;
        let pattern = DevicePattern::new((n, n), true, Offsets::Small(row_ptr), cols);
        Ok(RawCsr::new(pattern, listed.values))
    }
    /// The block matrix of these rows of blocks, with the shape and number of entries from
    /// [`concat_shape`](crate::ops::concat_shape) and values of type `ty`; rows sorted.
    ///
    /// Cost: O(rows) and O(entries) of each block. No wait.
    pub(crate) fn concat_raw(
        &self,
        blocks: &[Vec<RawCsr>],
        (nrows, ncols, nnz): (usize, usize, usize),
        ty: Type,
    ) -> Result<RawCsr> {
        let (what, program) = ("a block matrix", self.assemble_program(ty)?);
        let (lengths, fill) = (program.kernel("add_lengths")?, program.kernel("block_fill")?);
        let mut sorted = vec![];
        for row in blocks {
            sorted.push(row.iter().map(|block| self.sorted_raw(block)).collect::<Result<Vec<_>>>()?);
        }
        let counts = self.zeroed::<u32>(nrows, what)?;
        let add = |block: &RawCsr, top: usize, to: &super::buffer::Buffer<u32>| {
            let rows = block.shape().0;
            let arguments = args![offsets(&block.pattern.row_ptr), rows as u64, to.from(top)];
            lengths.launch(Shape::for_each(rows, 256)?, arguments)
        };
        let mut top = 0;
        for row in &sorted {
            row.iter().try_for_each(|block| add(block, top, &counts))?;
            top += row.first().map_or(0, |block| block.shape().0);
        }
        let row_ptr = self.offsets_of_sum(&counts, nnz as u64, what)?;
        let (col_idx, values) = (self.alloc::<u32>(nnz, what)?, self.alloc_raw(ty, nnz, what)?);
        // Entries of each row in the blocks to the left.
        self.fill_bytes(&counts, 0)?;
        let mut top = 0;
        for row in &sorted {
            let mut left = 0;
            for block in row {
                block.values.check("a block", ty)?;
                let (p, (rows, cols)) = (&*block.pattern, block.shape());
                let arguments = args![
                    offsets(&p.row_ptr),
                    &p.col_idx,
                    &block.values,
                    rows as u64,
                    p.nnz as u64,
                    top as u64,
                    left as u32,
                    counts.from(top),
                    offsets(&row_ptr),
                    &col_idx,
                    &values
                ];
                fill.launch(tiles(p.nnz)?, arguments)?;
                add(block, top, &counts)?;
                left += cols;
            }
            top += row.first().map_or(0, |block| block.shape().0);
        }
        Ok(RawCsr::new(DevicePattern::new((nrows, ncols), true, row_ptr, col_idx), values))
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    [2, 8]
        .map(|size| Unit {
            source: SOURCE,
            prefix: Prefix::new("", &[Setting::Words("Value", size)]).text(),
            hot: &["line_entries", "block_fill"],
        })
        .into()
}
