//! What the rows of a pattern on the device look like: see `cuda/rows.cu`.

use std::sync::Arc;

use super::Cuda;
use super::csr::DevicePattern;
use super::jit::{Source, Unit, source};
use super::launch::{Program, Shape, args};
use super::memory::Buffer;
use crate::Result;

const SOURCE: Source = source!("rows.cu");
/// Entries that one block takes; also that of the other kernels that use `tile_of`.
pub(super) const TILE: usize = 1024;

/// Blocks of a kernel that takes the entries tile by tile.
pub(super) fn tiles(nnz: usize) -> Result<Shape> {
    Shape::blocks(nnz.div_ceil(TILE), 256, 0)
}

impl Cuda {
    fn rows_program(&self, pattern: &DevicePattern) -> Result<Arc<Program>> {
        self.program(SOURCE, &format!("typedef {} OffsetA;\n", pattern.row_ptr.cuda()))
    }
    /// Most entries in a row; 0 if there are none. Waits for the device.
    /// # Errors
    /// [`Error::DeviceMemory`](crate::Error::DeviceMemory), [`Error::Device`](crate::Error::Device).
    pub fn longest_row(&self, pattern: &DevicePattern) -> Result<usize> {
        let longest = self.zeroed::<u64>(1, "the length of the longest row")?;
        // Rows are taken in steps of the grid: 8 blocks a multiprocessor are all that run at a time.
        let blocks = pattern.nrows.div_ceil(256).min(8 * self.limits().multiprocessors as usize);
        self.rows_program(pattern)?
            .kernel("longest_row")?
            .launch(Shape::blocks(blocks, 256, 0)?, args![&pattern.row_ptr, pattern.nrows as u64, &longest])?;
        Ok(self.get_at(&longest, 0)? as usize)
    }
    /// Writes the row of each entry to `rows`, which has room for that many.
    pub(super) fn row_indices(&self, pattern: &DevicePattern, rows: &Buffer<u32>) -> Result<()> {
        debug_assert_eq!(rows.len(), pattern.nnz);
        self.rows_program(pattern)?
            .kernel("row_indices")?
            .launch(tiles(pattern.nnz)?, args![&pattern.row_ptr, pattern.nrows as u64, pattern.nnz as u64, rows])
    }
    /// Whether columns increase within every row, seen from the columns. Waits for the device.
    pub(super) fn columns_increase(&self, pattern: &DevicePattern) -> Result<bool> {
        let found = self.zeroed::<u32>(1, "the check of the order of columns")?;
        self.rows_program(pattern)?.kernel("find_descents")?.launch(
            tiles(pattern.nnz)?,
            args![&pattern.row_ptr, &pattern.col_idx, pattern.nrows as u64, pattern.nnz as u64, &found],
        )?;
        Ok(self.get_at(&found, 0)? == 0)
    }
}

/// The programs of this file, as they are used.
pub(crate) fn programs() -> Vec<Unit> {
    ["unsigned int", "unsigned long long"]
        .map(|offset| Unit { source: SOURCE, prefix: format!("typedef {offset} OffsetA;\n"), hot: &["row_indices"] })
        .into()
}
