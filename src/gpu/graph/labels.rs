//! Label propagation: see `cuda/graph_labels.cu`.

use super::super::jit::{Source, source};
use super::super::launch::{Arg, Shape, args};
use super::device::DeviceGraph;
use crate::Result;

pub(super) const SOURCE: Source = source!("graph_labels.cu");
/// Bytes of the tables of vertices with many neighbors, at most, beside one table.
const TABLES: usize = 1 << 30;

/// Labels of vertices.
pub(crate) struct Labels {
    pub(crate) labels: Vec<u32>,
    pub(crate) iterations: usize,
    /// Whether a further step changes no label.
    pub(crate) stable: bool,
}

impl DeviceGraph {
    /// Labels after so many steps, at least one; fewer are computed where further ones change nothing, or repeat the
    /// last two.
    pub(crate) fn label_propagation(&self, iterations: usize) -> Result<Labels> {
        let (cuda, n) = (&self.cuda, self.n as u64);
        let program = self.program(SOURCE)?;
        let out = &*self.outgoing;
        let (in_ptr, in_ends) = if self.both {
            (Arg::null(), Arg::null())
        } else {
            let into = self.incoming()?;
            (Arg::from(&into.row_ptr), Arg::from(&into.col_idx))
        };
        let queues = cuda.alloc::<u32>(4 * self.n, "classes of vertices")?;
        let counts = cuda.zeroed::<u32>(5, "classes of vertices")?;
        program
            .kernel("labels_classes")?
            .launch(Shape::for_each(self.n, 256)?, args![&out.row_ptr, &in_ptr, n, &queues, &counts])?;
        let counts = cuda.get(&counts, "classes of vertices")?;
        // Places for twice the neighbors, in each of two words.
        let room = 2 * (counts[4] as usize).next_power_of_two();
        let blocks = (TABLES / (8 * room)).clamp(1, 2 * cuda.limits().multiprocessors as usize);
        let blocks = blocks.min(counts[3] as usize);
        let tables = cuda.alloc::<u32>(2 * room * blocks, "counts of labels")?;
        let shapes = [
            Shape::for_each(counts[0] as usize, 256)?,
            Shape::blocks((counts[1] as usize).div_ceil(8), 256, 0)?,
            Shape::blocks(counts[2] as usize, 256, 0)?,
            Shape::blocks(blocks, 1024, 0)?,
        ];
        let names = ["labels_few", "labels_warp", "labels_block", "labels_table"];
        let mut labels = cuda.put(&crate::par::collected(self.n, 0..self.n as u32, "labels")?, "labels")?;
        // The state before the first is no state of a vertex.
        let mut next = self.all_ones(self.n, "labels")?;
        let told = cuda.alloc::<u32>(2, "labels that changed")?;
        let mut done = 0;
        loop {
            cuda.fill_bytes(&told, 0)?;
            for (class, (name, shape)) in names.into_iter().zip(shapes).enumerate() {
                let mut arguments = args![
                    &out.row_ptr,
                    &out.col_idx,
                    &in_ptr,
                    &in_ends,
                    queues.from(class * self.n),
                    u64::from(counts[class]),
                    &labels,
                    &next,
                    &told,
                ]
                .to_vec();
                if class == 3 {
                    arguments.extend([Arg::from(&tables), (room as u64).into()]);
                }
                program.kernel(name)?.launch(shape, &arguments)?;
            }
            let told = cuda.get(&told, "labels that changed")?;
            std::mem::swap(&mut labels, &mut next);
            done += 1;
            let (changed, differ) = (told[0], told[1]);
            if changed > 0 && differ > 0 && done < iterations {
                continue;
            }
            // Of two states that take turns, the one that the last step has.
            let is_other = changed > 0 && differ == 0 && (iterations - done) % 2 == 1;
            let labels = cuda.get(if is_other { &next } else { &labels }, "labels")?;
            return Ok(Labels { labels, iterations: done, stable: changed == 0 });
        }
    }
}
