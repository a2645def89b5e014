//! Lengths of shortest paths: see `cuda/graph_sssp.cu`.

use super::super::jit::{Source, source};
use super::super::launch::{Arg, args};
use super::device::DeviceGraph;
use crate::Result;
use crate::algebra::Slice;

pub(super) const SOURCE: Source = source!("graph_sssp.cu");
/// Words of state: three round counters, two counts of far vertices, the barrier, statistics, three minima, and where
/// one block leaves the search.
const STATE: usize = 11;

/// Result of a search.
pub(crate) struct Lengths {
    pub(crate) lengths: Vec<f64>,
    /// Numbers of rounds and buckets.
    pub(crate) steps: [u32; 2],
}

impl DeviceGraph {
    /// Lengths of shortest paths from `source` under non-negative weights, given on the host. `delta` is positive.
    pub(crate) fn sssp(&self, weights: &[f64], source: usize, delta: f64) -> Result<Lengths> {
        let cuda = &self.cuda;
        let (out, weights) = (&*self.outgoing, self.weights(weights)?);
        let kernel = self.program(SOURCE)?.kernel("graph_sssp")?;
        let lengths = cuda.alloc::<f64>(self.n, "distances")?;
        let near = cuda.alloc::<u32>(2 * self.n, "queues of vertices")?;
        let far = cuda.alloc::<u32>(2 * self.n, "queues of vertices")?;
        let waits = cuda.alloc::<u32>(self.n, "queues of vertices")?;
        let pieces = cuda.alloc::<u64>(self.long_lists(), "pieces of lists")?;
        let state = cuda.zeroed::<u64>(STATE, "state of a search")?;
        kernel.launch_at_once(
            self.whole(&kernel)?,
            args![
                &out.row_ptr,
                &out.col_idx,
                weights,
                self.n as u64,
                source as u32,
                Arg::value(Slice::of(&[delta])),
                &lengths,
                &near,
                &far,
                &waits,
                &pieces,
                &state,
                state.from(3),
                state.from(6),
                state.from(9),
                state.from(4),
                state.from(5),
            ],
        )?;
        let steps = cuda.get_at(&state, 5)?;
        let lengths = cuda.get(&lengths, "distances")?;
        Ok(Lengths { lengths, steps: [steps as u32, (steps >> 32) as u32] })
    }
}
