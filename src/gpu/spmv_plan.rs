//! The mapping of y = A ⊕.⊗ x to the device: a choice from a few statistics of A's pattern, made once and cached with
//! it.

use std::sync::{Arc, Mutex};

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::defines::{Prefix, Setting};
use super::jit::{Source, source};
use super::launch::{Shape, args};
use super::pattern::DevicePattern;
use crate::Result;
use crate::algebra::Type;

pub(super) const SOURCE: Source = source!("spmv_plan.cu");
/// Threads of a block of the merge.
pub(super) const THREADS: u32 = 128;
/// Items (entries and row ends) of each of its threads: odd, so that the threads' words in shared memory fall into
/// different banks.
const EACH: u32 = 7;
/// Items of a block.
pub(super) const TILE: usize = (THREADS * EACH) as usize;
/// The merge's constants.
pub(super) const CONSTANTS: [Setting; 3] =
    [Setting::Constant("THREADS", THREADS), Setting::Constant("EACH", EACH), Setting::Constant("TILE", TILE as u32)];

/// Statistics of a matrix from which `mxv` chooses its strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpmvStats {
    /// Rows.
    pub nrows: usize,
    /// Entries.
    pub nnz: usize,
    /// Entries of the longest row.
    pub longest_row: usize,
}

/// The mapping of a matrix's rows to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpmvKind {
    /// Each row has `lanes` threads: 1, 2, 4, 8, 16 or 32.
    Rows {
        /// Threads of a row.
        lanes: u32,
    },
    /// Each block has equally many entries and row ends; long rows span several blocks.
    Merge,
}

impl SpmvKind {
    /// Threads per row of the compiled kernel: a power of two up to 32.
    pub(super) fn lanes(self) -> u32 {
        match self {
            Self::Rows { lanes } => lanes.clamp(1, 32).next_power_of_two().min(32),
            Self::Merge => 1,
        }
    }
}

/// The strategy for a matrix, and the reason.
///
/// | rule | from |
/// | --- | --- |
/// | a row longer than 64 + 16 · mean: merge | R-MAT 2¹⁸ loses a factor of 26 with a thread for each row |
/// | under 4096 rows of over 1024 entries on average: merge | 32 threads per row would leave most of a device idle |
/// | else mean / 4 threads per row, as a power of two | best on the 5-point (1), ER (2) and 27-point (4) matrices |
///
/// Source of the measurements: `benches/gpu_spmv.rs`.
#[must_use]
pub(super) fn choose(s: &SpmvStats) -> (SpmvKind, &'static str) {
    let rows = s.nrows.max(1);
    let mean = (s.nnz + rows / 2) / rows;
    if s.longest_row > 64 + 16 * mean {
        return (SpmvKind::Merge, "a row is far longer than the mean");
    }
    if s.nrows < 4096 && mean > 1024 {
        return (SpmvKind::Merge, "few long rows");
    }
    let quarter = (mean / 4).clamp(1, 32) as u32;
    // Rounded down to a power of two.
    (SpmvKind::Rows { lanes: 1 << quarter.ilog2() }, "rows of similar length: a thread for about four entries")
}

/// The choice for a pattern.
struct Choice(SpmvStats, SpmvKind, &'static str);

/// Equal shares of the work of a merge.
#[derive(Debug)]
pub(super) struct Shares {
    /// Blocks.
    pub(super) tiles: usize,
    /// Rows that end before each tile, and before the end: tiles + 1.
    pub(super) starts: Buffer<u64>,
    /// Bytes for each tile's open row (its carry). Locked while a product is enqueued; the stream orders the rest.
    pub(super) carry: Mutex<Arc<RawBuffer>>,
}

impl Cuda {
    /// The strategy of `mxv` for matrices of this pattern, and the reason. The first call for a pattern reads its row
    /// pointers.
    pub(super) fn mxv_choice(&self, pattern: &DevicePattern) -> Result<(SpmvStats, SpmvKind, &'static str)> {
        let choice = pattern.facts.get_or_make(|| {
            let longest = self.zeroed::<u64>(1, "length of the longest row")?;
            let program = self.program_of(SOURCE, Prefix::new("", &settings(pattern.row_ptr.cuda())))?;
            let blocks = pattern.nrows.div_ceil(256).min(16 * self.limits().multiprocessors.max(1) as usize);
            let arguments = args![&pattern.row_ptr, pattern.nrows as u64, &longest];
            program.kernel("spmv_longest")?.launch(Shape::blocks(blocks, 256, 0)?, arguments)?;
            let longest_row = self.get_at(&longest, 0)? as usize;
            let stats = SpmvStats { nrows: pattern.nrows, nnz: pattern.nnz, longest_row };
            let (kind, why) = choose(&stats);
            Ok(Choice(stats, kind, why))
        })?;
        let &Choice(stats, kind, why) = &*choice;
        Ok((stats, kind, why))
    }

    /// The pattern's shares for a merge.
    pub(super) fn shares(&self, pattern: &DevicePattern) -> Result<Arc<Shares>> {
        pattern.facts.get_or_make(|| {
            let (nrows, nnz) = (pattern.nrows, pattern.nnz);
            let tiles = (nrows + nnz).div_ceil(TILE);
            let starts = self.alloc::<u64>(tiles + 1, "shares of mxv")?;
            let arguments = args![&pattern.row_ptr, nrows as u64, nnz as u64, tiles as u64, &starts];
            let program = self.program_of(SOURCE, Prefix::new("", &settings(pattern.row_ptr.cuda())))?;
            program.kernel("spmv_starts")?.launch(Shape::for_each(tiles + 1, 256)?, arguments)?;
            Ok(Shares { tiles, starts, carry: Mutex::new(self.alloc_raw(Type::U8, 0, "carries of mxv")?) })
        })
    }
}

/// The prefix of `cuda/spmv_plan.cu`.
pub(super) fn settings(offset: &'static str) -> [Setting; 4] {
    let [threads, each, tile] = CONSTANTS;
    [Setting::Type("Offset", offset), threads, each, tile]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_fires() {
        let kind = |nrows, nnz, longest_row| choose(&SpmvStats { nrows, nnz, longest_row }).0;
        let rows = |lanes| SpmvKind::Rows { lanes };
        assert_eq!(kind(4_000_000, 19_992_000, 5), rows(1));
        assert_eq!(kind(1 << 20, (8 << 20) - 33, 25), rows(2));
        assert_eq!(kind(1_000_000, 26_463_592, 27), rows(4));
        assert_eq!(kind(100_000, 6_400_000, 80), rows(16));
        assert_eq!(kind(100_000, 100_000_000, 1200), rows(32));
        assert_eq!(kind(0, 0, 0), rows(1));
        assert_eq!(kind(1 << 18, 2_000_000, 9000), SpmvKind::Merge);
        assert_eq!(kind(1, 65, 65), rows(16));
        assert_eq!(kind(100, 200_000, 2000), SpmvKind::Merge);
        assert_eq!(kind(1000, 64, 64), rows(1));
        assert_eq!(kind(1000, 65, 65), SpmvKind::Merge);
    }

    #[test]
    fn every_number_of_lanes_is_supported() {
        let lanes = |lanes| SpmvKind::Rows { lanes }.lanes();
        assert_eq!([0, 1, 2, 3, 8, 31, 32, 1000].map(lanes), [1, 1, 2, 4, 8, 32, 32, 32]);
    }
}
