//! Graphs on the device, and the kernels of algorithms on them: see `cuda/graph.cuh`.

mod brandes;
mod components;
mod device;
mod labels;
mod part;
mod rank;
mod search;
mod sssp;

pub(crate) use device::DeviceGraph;
pub use part::RankPart;
pub(crate) use rank::Ranking;

use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit};

/// Programs to compile without a device.
pub(super) fn programs() -> Vec<Unit> {
    let files: [(Source, &'static [&'static str]); 6] = [
        (search::SOURCE, &["graph_bfs", "graph_parents"]),
        (sssp::SOURCE, &["graph_sssp"]),
        (components::SOURCE, &["components_link"]),
        (rank::SOURCE, &["rank_step", "part_step"]),
        (labels::SOURCE, &["labels_few", "labels_warp", "labels_block", "labels_table"]),
        // `graph_brandes` spills two registers before sm_90: two resident blocks are worth more.
        (brandes::SOURCE, &[]),
    ];
    let widths = ["unsigned int", "unsigned long long"];
    let unit = |(source, hot), offset| Unit {
        source,
        prefix: Prefix::new("", &[Setting::Type("Offset", offset)]).text(),
        hot,
    };
    files.into_iter().flat_map(|file| widths.map(|offset| unit(file, offset))).collect()
}
