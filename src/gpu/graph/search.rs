//! Breadth-first search: see `cuda/graph_bfs.cu`.

use super::super::jit::{Source, source};
use super::super::launch::{Shape, args};
use super::device::DeviceGraph;
use crate::Result;

pub(super) const SOURCE: Source = source!("graph_bfs.cu");
/// Words of state: the counters of three levels and of one block's last one, the barrier, and statistics.
const STATE: usize = 10;

/// Result of a search.
pub(crate) struct Search {
    pub(crate) levels: Vec<u32>,
    /// Empty unless requested.
    pub(crate) parents: Vec<u32>,
    /// Levels, and those of them that ran bottom-up.
    pub(crate) steps: [u32; 2],
}

impl DeviceGraph {
    /// Levels of the vertices from `source`, with all bits set for unreachable vertices. With `parents`, also the
    /// parents: the least in-neighbor in the previous level.
    pub(crate) fn bfs(&self, source: usize, parents: bool) -> Result<Search> {
        let cuda = &self.cuda;
        let (out, into) = (&*self.outgoing, self.incoming()?);
        let program = self.program(SOURCE)?;
        let kernel = program.kernel("graph_bfs")?;
        let levels = cuda.alloc::<u32>(self.n, "levels")?;
        let queues = cuda.alloc::<u32>(2 * self.n, "a frontier")?;
        let bits = cuda.alloc::<u32>(2 * self.n.div_ceil(32), "a frontier")?;
        let pieces = cuda.alloc::<u64>(self.long_lists(), "pieces of lists")?;
        let state = cuda.zeroed::<u64>(STATE, "state of a search")?;
        let n = self.n as u64;
        kernel.launch_at_once(
            self.whole(&kernel)?,
            args![
                &out.row_ptr,
                &out.col_idx,
                &into.row_ptr,
                &into.col_idx,
                n,
                self.nnz() as u64,
                source as u32,
                &levels,
                &queues,
                &bits,
                &pieces,
                &state,
                state.from(8),
                state.from(9),
            ],
        )?;
        let found = if parents {
            let found = cuda.alloc::<u32>(self.n, "parents")?;
            let shape = Shape::for_each(self.n, 256)?;
            let kernel = program.kernel("graph_parents")?;
            kernel.launch(shape, args![&into.row_ptr, &into.col_idx, n, &levels, &found])?;
            cuda.get(&found, "parents")?
        } else {
            vec![]
        };
        let steps = cuda.get_at(&state, 9)?;
        let levels = cuda.get(&levels, "levels")?;
        Ok(Search { levels, parents: found, steps: [steps as u32, (steps >> 32) as u32] })
    }
}
