//! What kernels that are made for their sizes are free to choose.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a kernel for a batch of small tensors is cut: results are the same bits under any, times are not.
///
/// Where nothing else is asked for it is a rule's; [`DeviceEinsum::tune`](super::DeviceEinsum::tune) finds better ones,
/// where there are.
///
/// Source: Abdelfattah et al. 2016, Figure 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiling {
    /// Rows of a thread.
    pub rows: usize,
    /// Columns of a thread that lie side by side, a power of two.
    pub columns: usize,
    /// How many times a thread takes so many columns, apart from each other.
    pub times: usize,
    /// Members of the batch that the threads of a block take at once.
    pub group: usize,
    /// How many such groups a block takes.
    pub turns: usize,
    /// Values that the result has are asked for before the operands have arrived.
    pub prefetch: bool,
    /// Blocks of a multiprocessor that the compiler leaves registers for; 0: as it sees fit.
    pub resident: usize,
}

impl Tiling {
    /// Members of the batch that a block takes.
    #[must_use]
    pub fn slab(&self) -> usize {
        self.group.saturating_mul(self.turns)
    }
    /// What is in front of a program: threads, and blocks of a multiprocessor if registers are to be left for them.
    pub(super) fn bounds(&self, threads: usize) -> String {
        match self.resident {
            0 => format!("#define BOUNDS ({threads})\n"),
            resident => format!("#define BOUNDS ({threads}, {resident})\n"),
        }
    }
}

impl fmt::Display for Tiling {
    /// `2 × 1·2 values a thread, 4·2 members a block, C first`: rows by times · columns, turns · group.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, times, group, turns, prefetch, resident } = self;
        write!(f, "{rows} × {times}·{columns} values a thread, {turns}·{group} members a block")?;
        if *prefetch {
            f.write_str(", C first")?;
        }
        match resident {
            0 => Ok(()),
            resident => write!(f, ", {resident} blocks"),
        }
    }
}

/// Whether contractions take the tilings that were found by measuring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tuning {
    /// By the rule: the same program on every machine.
    #[default]
    Off,
    /// What was found for the same case on the same kind of device and kept beside the compiled programs; else by the
    /// rule.
    Kept,
}

/// A kernel of a contraction and the fastest of its tilings.
#[derive(Clone, Debug)]
pub struct TunedKernel {
    /// What it computes, as [`DeviceEinsum::explain`](super::DeviceEinsum::explain) has it.
    pub what: String,
    /// The tiling by the rule.
    pub rule: Tiling,
    /// Milliseconds of a call by the rule.
    pub rule_ms: f64,
    /// The fastest tiling; the rule's if none is faster by half a percent.
    pub best: Tiling,
    /// Milliseconds of a call by the fastest.
    pub best_ms: f64,
    /// Tilings that a multiprocessor has room for.
    pub possible: usize,
    /// Tilings that were compiled and run.
    pub tried: usize,
    /// Seconds that their compilation took.
    pub compile_s: f64,
    /// Seconds that all of it took.
    pub total_s: f64,
}
