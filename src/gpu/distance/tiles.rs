//! Y by columns, partitioned into tiles of rows: see `cuda/distance_tiles.cu`.

use std::sync::Arc;

use super::rows::{Beside, Rows};
use crate::Result;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::csr::{Offsets, RawCsr};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Shape, args};
use crate::gpu::{Cuda, Limits};

const SOURCE: Source = source!("distance_tiles.cu");

/// Shared memory reserved per block beyond its request.
const OF_BLOCK: u32 = 1024;
/// Segment starts may take this many bytes, or as many as the entries, whichever is more; otherwise segments are found
/// by binary search.
const STARTS: u64 = 64 << 20;

/// Rows per tile, for `nrows` rows with `column` entries per column.
///
/// A warp has one tile in shared memory. Small tiles leave room for more warps, which hide each other's latency; large
/// ones have longer segments, which occupy more of the 32 lanes. `bytes` is the size of a tile's row. If ⊗ is expensive
/// (`long`) and segments are long enough, tiles are half as large: all distances then take 0.79 to 0.94 of the time,
/// neighbours up to 1.06.
pub(super) fn rows_of_tile(nrows: usize, column: f64, bytes: u32, long: bool) -> usize {
    /// Size of a tile, such that 13 warps fit a multiprocessor of 228 KiB.
    const TILE_BYTES: u32 = 16 << 10;
    /// Entries of a segment that fill two steps of a warp.
    const SEGMENT: f64 = 64.0;
    let half = TILE_BYTES / 2 / bytes;
    let enough = column * f64::from(half) >= SEGMENT * nrows as f64;
    let most = if long && enough { half } else { TILE_BYTES / bytes } as usize & !31;
    // Balanced tiles.
    nrows.div_ceil(nrows.div_ceil(most).max(1)).next_multiple_of(32).max(32)
}

/// Resident blocks of one warp with `shared` bytes each.
pub(super) fn blocks_at_a_time(limits: &Limits, shared: u32) -> usize {
    let of_one = (limits.shared_per_multiprocessor / (shared + OF_BLOCK)).clamp(1, 32);
    of_one as usize * limits.multiprocessors as usize
}

/// Bytes of the segment starts, of `width` bytes each; `None` if segments are found by binary search. `entries` is the
/// size of Y in bytes.
pub(super) fn starts(columns: usize, tiles: usize, width: u64, entries: u64) -> Option<u64> {
    let bytes = (columns as u64).saturating_mul(tiles as u64).saturating_add(1).saturating_mul(width);
    (tiles > 0 && bytes <= STARTS.max(entries)).then_some(bytes)
}

/// Y by columns.
pub(super) struct Columns {
    transposed: RawCsr,
    ranks: Option<Arc<RawBuffer>>,
    starts: Option<Offsets>,
    /// Rows per tile.
    pub(super) tile: usize,
    /// Number of tiles.
    pub(super) tiles: usize,
}

impl Columns {
    pub(super) fn offset(&self) -> &'static str {
        self.transposed.pattern.row_ptr.cuda()
    }
    /// The kernel arguments for these columns.
    pub(super) fn args(&self) -> [Arg; 5] {
        let p = &*self.transposed.pattern;
        let starts = self.starts.as_ref().map_or(Arg::null(), Arg::from);
        [
            (&p.row_ptr).into(),
            (&p.col_idx).into(),
            (&self.transposed.values).into(),
            self.ranks.as_deref().into(),
            starts,
        ]
    }
    /// Whether segments are found by binary search.
    pub(super) fn is_searched(&self) -> bool {
        self.starts.is_none()
    }
}

fn prefix(offset: &str) -> String {
    format!("typedef {offset} OffsetT;\n")
}

impl Columns {
    /// Total number of columns shared by pairs of a row of X and a row of Y.
    pub(super) fn shared_columns(&self, cuda: &Cuda, x: &RawCsr) -> Result<u64> {
        let p = &*self.transposed.pattern;
        let count = cuda.zeroed::<u64>(1, "columns that pairs share")?;
        let nnz = x.pattern.nnz;
        let blocks = nnz.div_ceil(256).min(16 * cuda.limits().multiprocessors as usize);
        cuda.program(SOURCE, &prefix(p.row_ptr.cuda()))?
            .kernel("count_shared")?
            .launch(Shape::blocks(blocks, 256, 0)?, args![&x.pattern.col_idx, nnz as u64, &p.row_ptr, &count])?;
        cuda.get_at(&count, 0)
    }
    /// Yᵀ.
    pub(super) fn transposed(&self) -> &RawCsr {
        &self.transposed
    }
}

impl Cuda {
    /// The rows by columns, in tiles of `tile` rows.
    pub(super) fn columns_of(&self, y: &Rows, tile: usize) -> Result<Columns> {
        let (transposed, ranks) = match &y.beside {
            Beside::Norms(..) => (self.transpose_raw(&y.matrix)?, None),
            Beside::Ranks { of_entries, .. } => {
                let (transposed, ranks) = self.transpose_beside_raw(&y.matrix, of_entries)?;
                (transposed, Some(ranks))
            }
        };
        let p = &*transposed.pattern;
        let tiles = y.nrows().div_ceil(tile);
        let large = p.row_ptr.is_large();
        let width = if large { 8 } else { 4 };
        let starts =
            if let Some(bytes) = starts(p.nrows, tiles, width, y.matrix.pattern.bytes() + y.matrix.values.bytes()) {
                let count = bytes / width;
                let starts = self.alloc_offsets(large, count as usize, "starts of segments")?;
                self.program(SOURCE, &prefix(p.row_ptr.cuda()))?.kernel("tile_starts")?.launch(
                    Shape::for_each(count as usize, 256)?,
                    args![&p.row_ptr, &p.col_idx, p.nrows as u64, tiles as u64, tile as u32, &starts],
                )?;
                Some(starts)
            } else {
                None
            };
        Ok(Columns { transposed, ranks, starts, tile, tiles })
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(super) fn programs() -> Vec<Unit> {
    ["unsigned int", "unsigned long long"]
        .map(|offset| Unit { source: SOURCE, prefix: prefix(offset), hot: &["tile_starts", "count_shared"] })
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_even_and_leave_room_for_warps() {
        let rows = |nrows, bytes| rows_of_tile(nrows, 1e9, bytes, false);
        assert_eq!(rows(20_000, 8), 2016, "ten of them, not nine and a rest");
        assert_eq!(rows(20_000, 4), 4000);
        assert_eq!(rows(8_000, 8), 2016);
        assert_eq!(rows(2_048, 8), 2048);
        assert_eq!(rows(2_049, 8), 1056);
        assert_eq!(rows(10, 8), 32);
        assert_eq!(rows(0, 8), 32);
        assert_eq!(rows(1_000_000, 12) % 32, 0);
        // 638 entries per column of 8000 rows: 80 in 1000 rows. 110 in 20 000 rows: 6.
        assert_eq!(rows_of_tile(8_000, 638.0, 8, true), 1024);
        assert_eq!(rows_of_tile(20_000, 110.0, 8, true), 2016);
    }
}
