//! A rough model of block times on a multiprocessor: enough to rank tilings for trial runs.

use crate::gpu::driver::Limits;
use crate::gpu::tiling::Tiling;

/// Bytes per cycle that memory delivers to one multiprocessor, and the bytes in flight needed to sustain that (a
/// latency of about 650 ns). Measured on an H200; other devices are close enough for ranking tilings.
const BYTES: f64 = 18.0;
const FLIGHT: f64 = 24e3;
/// Instructions issued per cycle, each for 32 lanes.
const ISSUE: f64 = 4.0;

/// Resources and work of a block.
pub(super) struct Load {
    pub(super) threads: usize,
    /// Bytes of shared memory.
    pub(super) shared: usize,
    /// Approximate registers per thread.
    pub(super) registers: usize,
    /// Total blocks.
    pub(super) blocks: usize,
    /// Bytes requested before any computation.
    pub(super) ahead: usize,
    /// Bytes read and written.
    pub(super) bytes: usize,
    /// Per thread: folds, shared-memory words accessed, other instructions.
    pub(super) folds: f64,
    pub(super) shared_words: f64,
    pub(super) overhead: f64,
}

/// Resources of a multiprocessor.
pub(super) struct Room {
    /// Shared memory available to a block: two blocks fit, so that one computes while the other waits.
    pub(super) shared: usize,
    shared_of_all: usize,
    threads: usize,
    registers: usize,
    multiprocessors: usize,
}

impl Room {
    pub(super) fn of(limits: &Limits) -> Self {
        let shared = (limits.shared_per_multiprocessor / 2).saturating_sub(1024).min(limits.shared_per_block);
        Self {
            shared: shared as usize,
            shared_of_all: limits.shared_per_multiprocessor as usize,
            threads: limits.threads_per_multiprocessor as usize,
            registers: limits.registers_per_multiprocessor as usize,
            multiprocessors: limits.multiprocessors as usize,
        }
    }
    /// Resident blocks; 0 if one does not fit.
    fn resident(&self, load: &Load) -> usize {
        if load.shared > self.shared || load.registers > 240 {
            return 0;
        }
        let threads = load.threads.next_multiple_of(32);
        let least = [
            self.shared_of_all / (load.shared + 1024),
            self.threads / threads,
            self.registers / (load.registers.next_multiple_of(8) * threads),
        ];
        least.into_iter().min().unwrap_or(0).min(32)
    }
    /// Approximate cycles that a multiprocessor takes for its share of all blocks; `None` if one does not fit.
    fn cycles(&self, load: &Load) -> Option<f64> {
        let resident = self.resident(load) as f64;
        if resident == 0.0 {
            return None;
        }
        let share = (resident * load.ahead as f64 / FLIGHT).clamp(0.05, 1.0);
        let memory = load.bytes as f64 / (BYTES * share);
        let warps = load.threads.div_ceil(32) as f64;
        let computed = warps * (load.folds + load.overhead + load.shared_words) / ISSUE;
        let banks = warps * load.shared_words;
        let longest = memory.max(computed).max(banks);
        // The shorter parts hide behind the longest, though not quite.
        let block = 0.8 * longest + 0.2 * (memory + computed.max(banks));
        // Some multiprocessors idle in the last wave.
        let waves = load.blocks as f64 / (resident * self.multiprocessors.max(1) as f64);
        let tail = if waves > 0.0 { waves.ceil() / waves } else { 1.0 };
        // Most blocks start when another ends, not all at once.
        Some(load.blocks as f64 * block * (1.0 + 0.25 * (tail - 1.0)))
    }
    /// The tilings that fit, predicted fastest first.
    pub(super) fn ranked(&self, all: impl Iterator<Item = (Tiling, Load)>) -> Vec<Tiling> {
        let mut found: Vec<(f64, Tiling)> =
            all.filter_map(|(tiling, load)| Some((self.cycles(&load)?, tiling))).collect();
        found.sort_by(|x, y| x.0.total_cmp(&y.0));
        found.into_iter().map(|(_, tiling)| tiling).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> Room {
        Room { shared: 115_000, shared_of_all: 233_472, threads: 2048, registers: 65536, multiprocessors: 132 }
    }
    fn load() -> Load {
        Load {
            threads: 128,
            shared: 8192,
            registers: 32,
            blocks: 100_000,
            ahead: 8192,
            bytes: 16384,
            folds: 100.0,
            shared_words: 50.0,
            overhead: 70.0,
        }
    }

    #[test]
    fn blocks_share_what_a_multiprocessor_has() {
        let resident = |load: Load| room().resident(&load);
        assert_eq!(resident(load()), 16, "by threads");
        assert_eq!(resident(Load { shared: 30_000, ..load() }), 7, "by shared memory");
        assert_eq!(resident(Load { registers: 128, ..load() }), 4, "by registers");
        assert_eq!(resident(Load { threads: 1, shared: 0, ..load() }), 32);
        assert_eq!(resident(Load { shared: 115_001, ..load() }), 0);
        assert!(room().cycles(&Load { registers: 300, ..load() }).is_none());
    }

    #[test]
    fn more_work_takes_longer() {
        let cycles = |load: Load| room().cycles(&load).expect("room");
        let least = cycles(load());
        for more in [
            Load { bytes: 32768, ..load() },
            Load { folds: 1000.0, ..load() },
            Load { shared_words: 500.0, ..load() },
            Load { ahead: 100, ..load() },
            Load { registers: 200, ahead: 1000, ..load() },
            Load { blocks: 200_000, ..load() },
        ] {
            assert!(cycles(more) > 1.05 * least);
        }
        // Half of the second wave idles.
        let (one, more) = (cycles(Load { blocks: 16 * 132, ..load() }), cycles(Load { blocks: 24 * 132, ..load() }));
        assert!(more > 1.55 * one, "{more} {one}");
    }
}
