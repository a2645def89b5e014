//! How a union product is mapped to the device: the layout of a row in shared memory, and the split of the work.

use super::Limits;
use crate::{Error, Result};

/// How a row of one matrix is stored in shared memory while the entries of the other matrix are looked up in it.
///
/// Source: Nolet et al. 2022, §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnionStrategy {
    /// One slot for every column. Rejected if they do not fit.
    Dense,
    /// A hash table, at most half full: murmur's finalizer, linear probing. Longer rows are processed in column ranges
    /// of about equally many entries.
    Hash,
}

impl UnionStrategy {
    /// The table's name in `cuda/union_tables.cuh`.
    pub(super) fn cuda(self) -> &'static str {
        match self {
            Self::Dense => "DenseTable",
            Self::Hash => "HashTable",
        }
    }
}

/// The sizes that decide the layout of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnionStats {
    /// Columns of both matrices.
    pub columns: usize,
    /// Entries of the longest row of either.
    pub longest_row: usize,
    /// Bytes of a value, the larger of the two.
    pub value_bytes: usize,
    /// Bytes of shared memory for a row if two blocks share a multiprocessor.
    pub half: usize,
    /// Bytes of shared memory for a row at most.
    pub most: usize,
}

/// The layout of rows, and the reason.
///
/// | rule | from |
/// | --- | --- |
/// | dense, if two blocks have room for one slot per column | Nolet et al. §3.3.2: fastest, while occupancy allows |
/// | hash, if a table holds the longest row | ibid. |
/// | dense, if one block has room for one slot per column | each further part reads the other matrix once more |
/// | else hash, longer rows in parts | ibid., §3.3.3 |
///
/// On an H200, over 17 metrics and three sets of rows, these rules chose the faster of the two in all 51 cases. The
/// paper's third strategy, a Bloom filter in front of a search in global memory, is not implemented: it was the fastest
/// in one case (by 1.06) and ran at 0.44 of the speed of the better of these two in the geometric mean, and the paper
/// gives no rule for choosing it (benches/results/2026-11-21-h200-distance.md).
#[must_use]
pub fn choose(s: &UnionStats) -> (UnionStrategy, &'static str) {
    let dense = s.columns as u128 * s.value_bytes as u128;
    let hash = 2 * s.longest_row as u128 * (s.value_bytes as u128 + 4);
    if dense <= s.half as u128 {
        return (UnionStrategy::Dense, "every column has a slot, and two blocks fit at once");
    }
    if hash <= s.most as u128 {
        return (UnionStrategy::Hash, "too many columns; the longest row fills at most half a hash table");
    }
    if dense <= s.most as u128 {
        return (
            UnionStrategy::Dense,
            "every column has a slot in a block; the longest row overfills half a hash table",
        );
    }
    (UnionStrategy::Hash, "too many columns; rows that would fill more than half a hash table are split into parts")
}

/// Bytes of shared memory that the system reserves in every block.
const SYSTEM: usize = 1024;

/// Bytes of shared memory of a block besides the row: two rows and two folds of `out_bytes` bytes for each warp.
fn beside(out_bytes: usize) -> usize {
    32 * (8 + 2 * out_bytes)
}

impl UnionStats {
    /// The figures on a device.
    pub(super) fn new(
        limits: &Limits,
        columns: usize,
        longest_row: usize,
        value_bytes: usize,
        out_bytes: usize,
    ) -> Self {
        let beside = beside(out_bytes);
        let most = (limits.shared_per_block as usize).saturating_sub(beside);
        let half = (limits.shared_per_multiprocessor as usize / 2).saturating_sub(SYSTEM + beside).min(most);
        Self { columns, longest_row, value_bytes, half, most }
    }
}

/// The layout of a row in shared memory, and the launch shape of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Columns of a dense row, or slots of the hash table.
    pub(super) size: u32,
    /// Its bytes.
    pub(super) bytes: u32,
    /// Blocks that share a multiprocessor.
    pub(super) blocks: u32,
    /// Threads of a block.
    pub(super) threads: u32,
    /// Whether rows must be sorted.
    pub(super) sorted: bool,
}

/// The layout for rows with values of `value_bytes` bytes. A table for the intersection (`common`) must tell stored
/// zeros from absent entries.
pub(super) fn layout(
    strategy: UnionStrategy,
    limits: &Limits,
    stats: &UnionStats,
    value_bytes: usize,
    out_bytes: usize,
    common: bool,
) -> Result<Layout> {
    let longest = stats.longest_row;
    let (size, bytes) = match strategy {
        UnionStrategy::Dense => {
            let bits = if common { stats.columns.div_ceil(128) * 16 } else { 0 };
            let bytes = bits as u128 + stats.columns as u128 * value_bytes as u128;
            if bytes > stats.most as u128 {
                return Err(Error::Unsupported {
                    what: "UnionStrategy::Dense".into(),
                    why: format!(
                        "{} columns need {bytes} bytes of shared memory, a block has {}",
                        stats.columns, stats.most
                    ),
                });
            }
            (stats.columns, bytes as usize)
        }
        UnionStrategy::Hash => {
            // The number of slots is a multiple of four, so that the values behind the keys are aligned.
            let slot = 4 + value_bytes;
            let fits = |room: usize| (room / slot / 4 * 4).max(4);
            let slots = match (longest.saturating_mul(2), fits(stats.half), fits(stats.most)) {
                // A quarter full where there is room.
                (twice, half, _) if twice <= half => longest.saturating_mul(4).next_multiple_of(4).clamp(4, half),
                (twice, _, most) if twice <= most => twice.next_multiple_of(4),
                // Processed in parts anyway. Two blocks, so that one builds its table while the other computes.
                (_, half, _) => half,
            };
            (slots, slots * slot)
        }
    };
    let taken = bytes + beside(out_bytes) + SYSTEM;
    // A thread needs about 60 registers, so a multiprocessor runs 1024 threads at a time.
    let blocks = (limits.shared_per_multiprocessor as usize / taken).clamp(1, 8) as u32;
    let threads = 1u32 << (1024 / blocks).ilog2();
    // Parts are ranges of columns.
    let sorted = strategy == UnionStrategy::Hash && longest > size / 2;
    Ok(Layout { size: size as u32, bytes: bytes as u32, blocks, threads, sorted })
}

/// Chunks of the entries that are looked up: their number, and the entries of each, not counting the rest of its last
/// row.
///
/// As few as keep the device busy, since each block builds its table anew; more if the entries do not stay in the cache
/// while all rows are processed.
pub(super) fn chunks(
    limits: &Limits,
    layout: &Layout,
    rows: usize,
    mean_row: usize,
    nnz: usize,
    entry_bytes: usize,
) -> (usize, usize) {
    if nnz == 0 || rows == 0 {
        return (0, 1);
    }
    let build = (layout.size as usize).min(4 * mean_row + 16) + mean_row;
    let least = (4 * build).max(16 * layout.threads as usize);
    let blocks = 8 * limits.multiprocessors.max(1) as usize * layout.blocks as usize;
    let cache = (limits.l2 as usize / 2).max(1 << 20);
    let wanted = blocks.div_ceil(rows).max((nnz as u128 * entry_bytes as u128).div_ceil(cache as u128) as usize);
    // The kernel counts the entries of a warp in 32 bits.
    let fewest = nnz.div_ceil(1 << 30);
    let most = (i32::MAX as usize / rows).min(nnz / least).max(fewest);
    let count = wanted.clamp(fewest, most);
    (count, nnz.div_ceil(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An H200.
    fn limits() -> Limits {
        Limits {
            ordinal: 0,
            name: String::new(),
            capability: (9, 0),
            multiprocessors: 132,
            threads_per_multiprocessor: 2048,
            registers_per_multiprocessor: 65536,
            shared_per_block: 232_448,
            shared_per_multiprocessor: 233_472,
            l2: 60 << 20,
            memory: 0,
        }
    }
    fn stats(columns: usize, longest_row: usize) -> UnionStats {
        UnionStats::new(&limits(), columns, longest_row, 8, 8)
    }

    #[test]
    fn each_rule_fires() {
        let kind = |columns, longest| choose(&stats(columns, longest));
        assert_eq!(stats(0, 0).half, 233_472 / 2 - 1024 - 768);
        assert_eq!(kind(14_000, 14_000).0, UnionStrategy::Dense);
        assert_eq!(kind(15_000, 5000).0, UnionStrategy::Hash);
        assert_eq!(kind(28_000, 9600), (UnionStrategy::Hash, kind(15_000, 5000).1));
        assert_eq!(kind(28_000, 9700).0, UnionStrategy::Dense);
        assert_eq!(kind(29_000, 9700).0, UnionStrategy::Hash);
        assert_ne!(kind(29_000, 9700).1, kind(28_000, 9600).1);
        assert_eq!(kind(usize::MAX, usize::MAX).0, UnionStrategy::Hash);
    }

    #[test]
    fn tables_fit_and_are_at_most_half_full() {
        for (value, out) in [(1, 1), (2, 4), (4, 4), (8, 8), (32, 32)] {
            for longest in [0, 1, 2, 3, 100, 2400, 4800, 4900, 9600, 9700, 1 << 20, u32::MAX as usize] {
                let s = UnionStats::new(&limits(), 5000, longest, value, out);
                for strategy in [UnionStrategy::Dense, UnionStrategy::Hash] {
                    let Ok(l) = layout(strategy, &limits(), &s, value, out, true) else {
                        assert!(strategy == UnionStrategy::Dense && 5000 * value > 200 << 10 || value == 32);
                        continue;
                    };
                    assert!(l.bytes as usize <= s.most && l.size > 0);
                    assert!(l.threads.is_power_of_two() && (128..=1024).contains(&l.threads));
                    assert!(l.threads * l.blocks <= 1024);
                    if strategy == UnionStrategy::Hash {
                        assert_eq!((l.size % 4, l.bytes as usize), (0, l.size as usize * (4 + value)));
                        assert_eq!(l.sorted, longest > l.size as usize / 2);
                        let largest = s.most / (4 + value) / 8 * 4;
                        assert_eq!(l.sorted, longest > largest, "{value} {longest}");
                    }
                }
            }
        }
        let wide = layout(UnionStrategy::Dense, &limits(), &stats(40_000, 3), 8, 8, false).unwrap_err().to_string();
        assert_eq!(
            wide,
            "UnionStrategy::Dense is not supported: 40000 columns need 320000 bytes of shared memory, a block has 231680"
        );
    }

    #[test]
    fn chunks_cover_the_entries() {
        let l = layout(UnionStrategy::Hash, &limits(), &stats(100_000, 3000), 8, 8, false).expect("fits");
        for rows in [0, 1, 5, 3000, 1 << 20, 1 << 31] {
            for nnz in [0, 1, 100, 50_000, 10_000_000, 1 << 36] {
                let (count, each) = chunks(&limits(), &l, rows, 80, nnz, 16);
                assert_eq!(count == 0, rows == 0 || nnz == 0);
                assert!(count == 0 || count * each >= nnz && (1..=1 << 30).contains(&each), "{rows} {nnz}");
            }
        }
        assert_eq!(chunks(&limits(), &l, 1 << 16, 80, 1_000_000, 16).0, 1, "rows enough");
        assert!(chunks(&limits(), &l, 1, 80, 10_000_000, 16).0 > 132, "one row");
        assert!(chunks(&limits(), &l, 1 << 16, 80, 1 << 30, 16).0 >= 512, "by the cache");
    }
}
