//! Free parameters of the kernels that are generated for given sizes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The tiling of a kernel for a batch of small tensors: it changes run times, but not a bit of the result.
///
/// By default a rule chooses it; [`DeviceEinsum::tune`](super::DeviceEinsum::tune) searches for better ones.
///
/// Source: Abdelfattah et al. 2016, Figure 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiling {
    /// Rows per thread.
    pub rows: usize,
    /// Adjacent columns per thread, a power of two.
    pub columns: usize,
    /// Number of such column groups per thread, strided.
    pub times: usize,
    /// Members of the batch that a block processes at once.
    pub group: usize,
    /// Number of such groups per block.
    pub turns: usize,
    /// Loads the previous values of the result before the operands have arrived.
    pub prefetch: bool,
    /// Blocks per multiprocessor for which the compiler reserves registers; 0 leaves it to the compiler.
    pub resident: usize,
}

impl Tiling {
    /// Members of the batch per block.
    #[must_use]
    pub fn slab(&self) -> usize {
        self.group.saturating_mul(self.turns)
    }
    /// The kernel's launch bounds: threads, and blocks per multiprocessor if registers are reserved for them.
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

/// Whether contractions use measured tilings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tuning {
    /// By the rule: the same program on every device.
    #[default]
    Off,
    /// The tiling measured for the same case on the same kind of device and stored beside the compiled programs; else
    /// by the rule.
    Kept,
}

/// A kernel of a contraction and its fastest tiling.
#[derive(Clone, Debug)]
pub struct TunedKernel {
    /// What it computes, as in [`DeviceEinsum::explain`](super::DeviceEinsum::explain).
    pub what: String,
    /// The rule's tiling.
    pub rule: Tiling,
    /// Milliseconds of a call with the rule's tiling.
    pub rule_ms: f64,
    /// The fastest tiling; the rule's if none is faster by half a percent.
    pub best: Tiling,
    /// Milliseconds of a call with the fastest tiling.
    pub best_ms: f64,
    /// Tilings that fit a multiprocessor.
    pub possible: usize,
    /// Tilings that were compiled and run.
    pub tried: usize,
    /// Seconds of compilation.
    pub compile_s: f64,
    /// Seconds in all.
    pub total_s: f64,
}
