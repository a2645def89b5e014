//! Connected components: see `cuda/graph_components.cu`.

use super::super::jit::{Source, source};
use super::super::launch::{Shape, args};
use super::device::DeviceGraph;
use crate::Result;

pub(super) const SOURCE: Source = source!("graph_components.cu");
/// Edges per block.
const EDGES: usize = 2048;

impl DeviceGraph {
    /// The least vertex of the component of each vertex.
    pub(crate) fn components(&self) -> Result<Vec<u32>> {
        let (cuda, a, n) = (&self.cuda, &*self.outgoing, self.n as u64);
        let program = self.program(SOURCE)?;
        let parents = cuda.alloc::<u32>(self.n, "components")?;
        let vertices = Shape::for_each(self.n, 256)?;
        program.kernel("components_begin")?.launch(vertices, args![&a.row_ptr, &a.col_idx, n, &parents])?;
        program.kernel("components_link")?.launch(
            Shape::blocks(self.nnz().div_ceil(EDGES), 256, 0)?,
            args![&a.row_ptr, &a.col_idx, n, self.nnz() as u64, u32::from(self.both), &parents],
        )?;
        program.kernel("components_end")?.launch(vertices, args![n, &parents])?;
        cuda.get(&parents, "components")
    }
}
