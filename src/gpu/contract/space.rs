//! The tilings of batches of small matrices, and the load that the time model ranks them by.

use super::axes::Axis;
use super::banks::AT_ONCE;
use super::matrices::{LINE, MOST, Matrices, ROWS, SOURCE, TIMES, TURNS, divisor};
use super::model::{Load, Room};
use super::tiled::Tiled;
use crate::gpu::driver::Limits;
use crate::gpu::jit::Source;
use crate::gpu::kernel_cache::GeneratedKernel;
use crate::gpu::tiling::Tiling;

/// Target threads per block in the search.
const THREADS: [usize; 6] = [64, 96, 128, 192, 256, 384];

impl Matrices {
    /// All tilings worth a trial.
    fn tilings(&self) -> Vec<Tiling> {
        let ((m, n, _), across, whole) = (self.sizes(), self.across(), self.multiple(AT_ONCE, 2));
        let mut found = vec![];
        for rows in [1, 2, 3, 4, 6, 8].into_iter().filter(|&rows| rows <= m.min(ROWS)) {
            for columns in [1, 2, 4].into_iter().filter(|&columns| columns <= across) {
                for times in [1, 2, 4].into_iter().filter(|&times| times <= TIMES && n.is_multiple_of(columns * times))
                {
                    let alone = Tiling { rows, columns, times, group: 1, turns: 1, prefetch: true, resident: 0 };
                    let Some(threads) = self.tile(alone).map(|tile| tile.threads()) else { continue };
                    let some = THREADS.map(|t| (t / threads).max(1));
                    // As given, rounded to whole 16-byte copies, and rounded to memory lines at the end of a block.
                    let down = some.map(|group| (group / whole * whole).max(1));
                    let powers = some.map(|group| 1 << group.ilog2());
                    let mut groups = [some, down, powers, powers.map(|group| 2 * group)].concat();
                    groups.sort_unstable();
                    groups.dedup();
                    for group in groups.into_iter().filter(|group| group * threads <= MOST) {
                        let turns = [1, 2, 3, 4].into_iter().filter(|&turns| turns <= TURNS);
                        found.extend(turns.map(|turns| Tiling { group, turns, ..alone }));
                    }
                }
            }
        }
        found
    }

    /// Load of a block under the tiling; `None` if the tiling is invalid for these sizes.
    fn load(&self, of: Tiling, reads: bool) -> Option<Load> {
        let tile = self.tile(of)?;
        let ((m, n, k), slab) = (self.sizes(), self.slab(tile));
        let (values, words) = (of.rows * of.columns * of.times, self.size.div_ceil(4));
        let step = slab.along[0].max(slab.along[1]);
        let cols = of.columns * of.times;
        // Old values of C held in registers while A and B are in flight.
        let kept = if reads && of.prefetch { of.turns * values } else { 0 };
        let (read, c) = (of.slab() * self.member(), of.slab() * m * n * self.size);
        // Shared-memory reads per fold step and lane, in 4-byte words.
        let reads_of = of.rows * step + cols * step;
        let folds = of.rows * cols * step;
        let steps = k.div_ceil(step) * of.turns;
        // A line shared by two blocks is written twice.
        let shared_line = !of.slab().is_multiple_of(self.multiple(LINE, 3));
        let bytes = read + if reads { 2 * c } else { c };
        Some(Load {
            threads: tile.threads(),
            shared: slab.shared,
            registers: 32 + words * (values + kept + step * (of.rows + cols)),
            blocks: self.batch.extent.div_ceil(of.slab()),
            ahead: read + if reads && of.prefetch { c } else { 0 },
            bytes: if shared_line { bytes + bytes / 12 } else { bytes },
            folds: (steps * folds * words) as f64,
            shared_words: (steps * reads_of * words) as f64,
            overhead: 40.0 + 30.0 * of.turns as f64 + read as f64 / (4 * tile.threads()) as f64,
        })
    }
}

impl Tiled for Matrices {
    fn source(&self) -> Source {
        SOURCE
    }
    fn numbers(&self) -> Vec<u64> {
        let aligned = self.bases.map(|base| (base % AT_ONCE) as u64);
        let lens = [self.m.len(), self.n.len(), self.k.len(), self.size].map(|x| x as u64);
        let axes = self.m.iter().chain(&self.n).chain(&self.k);
        let axes = axes.flat_map(|axis| [axis.extent as u64].into_iter().chain(axis.strides.map(|s| s as u64)));
        aligned.into_iter().chain(lens).chain(self.batch.strides.map(|s| s as u64)).chain(axes).collect()
    }
    fn batch(&self) -> usize {
        self.batch.extent
    }
    fn layout(&self) -> String {
        let all = |axes: &[Axis]| {
            let each = axes.iter().map(|axis| format!("{} {:?}", axis.extent, axis.strides));
            each.collect::<Vec<_>>().join(", ")
        };
        let ((m, n, _), [(_, a), (_, b)]) = (self.sizes(), self.sides());
        // Gaps between members matter only by the powers of two that divide them.
        let apart = |(stride, size): (isize, usize)| match stride {
            0 => "one".to_string(),
            _ if stride == size as isize => "dense".to_string(),
            _ => format!("apart by {} bytes", divisor(AT_ONCE, [stride.unsigned_abs().saturating_mul(self.size)])),
        };
        let [in_a, in_b, in_c] = self.batch.strides;
        let members = [(in_a, a), (in_b, b), (in_c, m * n)].map(apart).join(", ");
        let bases = self.bases.map(|base| base % AT_ONCE);
        format!("m {}; n {}; k {}; members {members}; from {bases:?}", all(&self.m), all(&self.n), all(&self.k))
    }
    fn rule(&self) -> Option<Tiling> {
        self.rule()
    }
    fn program(&self, limits: &Limits, tiling: Tiling) -> Option<GeneratedKernel> {
        self.program(Room::of(limits).shared, tiling)
    }
    fn space(&self, limits: &Limits, reads: bool) -> Vec<Tiling> {
        // Prefetching C is pointless where C is not read.
        let when =
            |of| [true, false].map(|prefetch| Tiling { prefetch, ..of }).into_iter().take(1 + usize::from(reads));
        let all = self.tilings().into_iter().flat_map(when);
        Room::of(limits).ranked(all.filter_map(|of| Some((of, self.load(of, reads)?))))
    }
    fn explain(&self, generated: &GeneratedKernel) -> String {
        self.explain(generated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::contract::units::matrices;

    fn squares(n: usize, size: usize) -> Matrices {
        let text = "bij,bjk->bik";
        let found = if size == 8 { matrices::<f64>(text, [n; 3]) } else { matrices::<f32>(text, [n; 3]) };
        found.expect("matrices")
    }

    #[test]
    fn the_rule_is_one_of_the_tilings() {
        for n in 1..=32 {
            for size in [4, 8] {
                let squares = squares(n, size);
                let (rule, all) = (squares.rule().expect("a rule"), squares.tilings());
                assert!(all.contains(&rule), "{n}: {rule}");
                // Few sizes are so odd that blocks do not end on a memory line.
                let ends = rule.slab().is_multiple_of(squares.multiple(LINE, 3));
                assert!(ends || n > 12, "{n}: {rule}");
                assert!(all.iter().all(|&of| squares.tile(of).is_some()), "{n}");
                let mut once = all.clone();
                once.dedup();
                assert_eq!(once.len(), all.len(), "{n}");
            }
        }
    }

    #[test]
    fn what_is_no_tiling_of_these_sizes_has_no_program() {
        let squares = squares(6, 8);
        let rule = squares.rule().expect("a rule");
        assert!(squares.program(48 << 10, rule).is_some());
        assert!(squares.program(100, rule).is_none(), "no room");
        for wrong in [
            Tiling { rows: 0, ..rule },
            Tiling { rows: 7, ..rule },
            Tiling { rows: usize::MAX, ..rule },
            Tiling { columns: 0, ..rule },
            Tiling { columns: 3, ..rule },
            Tiling { columns: 4, ..rule },
            Tiling { times: 0, ..rule },
            Tiling { times: 4, ..rule },
            Tiling { group: 0, ..rule },
            Tiling { group: usize::MAX, ..rule },
            Tiling { turns: 9, ..rule },
            Tiling { resident: 33, ..rule },
        ] {
            assert!(squares.program(48 << 10, wrong).is_none(), "{wrong:?}");
        }
    }
}
