//! Properties of the rows of a pattern on the device: see `cuda/rows.cu`.

use std::ops::Range;
use std::sync::Arc;

use super::buffer::Buffer;
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Program, Shape, args};
use super::pattern::{DevicePattern, Offsets};
use super::{Cuda, DeviceCsr};
use crate::Result;
use crate::algebra::Value;

const SOURCE: Source = source!("rows.cu");
/// Entries per block, also for the other kernels that use `tile_of`.
pub(super) const TILE: usize = 1024;

/// Launch shape of a kernel that processes the entries tile by tile.
pub(super) fn tiles(nnz: usize) -> Result<Shape> {
    Shape::blocks(nnz.div_ceil(TILE), 256, 0)
}

impl Cuda {
    fn rows_program(&self, pattern: &DevicePattern) -> Result<Arc<Program>> {
        self.program_of(SOURCE, Prefix::new("", &[Setting::Type("OffsetA", pattern.row_ptr.cuda())]))
    }
    /// Entries of the longest row; 0 if there are none. Waits for the device.
    /// # Errors
    /// [`Error::DeviceMemory`](crate::Error::DeviceMemory), [`Error::Device`](crate::Error::Device).
    pub fn longest_row(&self, pattern: &DevicePattern) -> Result<usize> {
        let longest = self.zeroed::<u64>(1, "the length of the longest row")?;
        // A grid-stride loop over rows: 8 blocks a multiprocessor are all that run at a time.
        let blocks = pattern.nrows.div_ceil(256).min(8 * self.limits().multiprocessors as usize);
        self.rows_program(pattern)?
            .kernel("longest_row")?
            .launch(Shape::blocks(blocks, 256, 0)?, args![&pattern.row_ptr, pattern.nrows as u64, &longest])?;
        Ok(self.get_at(&longest, 0)? as usize)
    }
    /// Number of empty rows. Waits for the device.
    pub(super) fn empty_rows(&self, pattern: &DevicePattern) -> Result<usize> {
        let empty = self.zeroed::<u64>(1, "rows without an entry")?;
        self.rows_program(pattern)?
            .kernel("empty_rows")?
            .launch(Shape::for_each(pattern.nrows, 256)?, args![&pattern.row_ptr, pattern.nrows as u64, &empty])?;
        Ok(self.get_at(&empty, 0)? as usize)
    }
    /// Writes the row of each entry to `rows`, which has one element per entry.
    pub(super) fn row_indices(&self, pattern: &DevicePattern, rows: &Buffer<u32>) -> Result<()> {
        debug_assert_eq!(rows.len(), pattern.nnz);
        self.rows_program(pattern)?
            .kernel("row_indices")?
            .launch(tiles(pattern.nnz)?, args![&pattern.row_ptr, pattern.nrows as u64, pattern.nnz as u64, rows])
    }
    /// The first entry of row `i`; for `i` = nrows, the number of entries. Waits for the device.
    pub(super) fn row_start(&self, pattern: &DevicePattern, i: usize) -> Result<usize> {
        Ok(match &pattern.row_ptr {
            Offsets::Small(ptr) => self.get_at(ptr, i)? as usize,
            Offsets::Large(ptr) => self.get_at(ptr, i)? as usize,
        })
    }
    /// A range of rows as a matrix of its own. Waits for the device.
    pub(super) fn some_rows<T: Value>(&self, a: &DeviceCsr<T>, rows: Range<usize>) -> Result<DeviceCsr<T>> {
        self.some_rows_raw(&a.raw(), rows)?.typed()
    }
    pub(super) fn some_rows_raw(&self, a: &RawCsr, rows: Range<usize>) -> Result<RawCsr> {
        let p = &*a.pattern;
        debug_assert!(rows.start <= rows.end && rows.end <= p.nrows);
        if rows == (0..p.nrows) {
            return Ok(a.clone());
        }
        let entries = self.row_start(p, rows.start)?..self.row_start(p, rows.end)?;
        let what = "some rows of a matrix";
        let row_ptr = self.alloc_offsets(p.row_ptr.is_large(), rows.len() + 1, what)?;
        self.rows_program(p)?.kernel("rows_from")?.launch(
            Shape::for_each(rows.len() + 1, 256)?,
            args![&p.row_ptr, rows.start as u64, rows.len() as u64, &row_ptr],
        )?;
        let columns = Buffer::of(self.duplicate_raw(&p.col_idx, entries.clone(), what)?)?;
        let pattern = DevicePattern::new((rows.len(), p.ncols), p.sorted, row_ptr, columns);
        Ok(RawCsr::new(pattern, self.duplicate_raw(&a.values, entries, what)?))
    }
    /// Whether columns increase within every row, determined from the columns. Waits for the device.
    pub(super) fn columns_increase(&self, pattern: &DevicePattern) -> Result<bool> {
        let found = self.zeroed::<u32>(1, "the check of the order of columns")?;
        self.rows_program(pattern)?.kernel("find_descents")?.launch(
            tiles(pattern.nnz)?,
            args![&pattern.row_ptr, &pattern.col_idx, pattern.nrows as u64, pattern.nnz as u64, &found],
        )?;
        Ok(self.get_at(&found, 0)? == 0)
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    ["unsigned int", "unsigned long long"]
        .map(|offset| Unit { source: SOURCE, prefix: format!("typedef {offset} OffsetA;\n"), hot: &["row_indices"] })
        .into()
}
