//! Label propagation: see `cuda/graph_labels.cu`.

use super::super::jit::{Source, source};
use super::super::launch::{Arg, Shape, args};
use super::device::DeviceGraph;
use crate::Result;

pub(super) const SOURCE: Source = source!("graph_labels.cu");
/// Upper bound on the bytes of hash tables for high-degree vertices; one table always fits.
const TABLES: usize = 1 << 30;

/// Labels of vertices.
pub(crate) struct Labels {
    pub(crate) labels: Vec<u32>,
    pub(crate) iterations: usize,
    /// Whether another step would change no label.
    pub(crate) stable: bool,
}

impl DeviceGraph {
    /// Labels after this many steps, at least one. It stops early when labels are stable or alternate with period 2.
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
        // Hash tables of twice the degree, two words per slot.
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
        // The initial previous state matches no labels.
        let mut next = self.all_ones(self.n, "labels")?;
        let stats = cuda.alloc::<u32>(2, "labels that changed")?;
        let mut done = 0;
        loop {
            cuda.fill_bytes(&stats, 0)?;
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
                    &stats,
                ]
                .to_vec();
                if class == 3 {
                    arguments.extend([Arg::from(&tables), (room as u64).into()]);
                }
                program.kernel(name)?.launch(shape, &arguments)?;
            }
            let stats = cuda.get(&stats, "labels that changed")?;
            std::mem::swap(&mut labels, &mut next);
            done += 1;
            let (changed, differ) = (stats[0], stats[1]);
            if changed > 0 && differ > 0 && done < iterations {
                continue;
            }
            // Of two alternating states, the one that the last step yields.
            let is_other = changed > 0 && differ == 0 && (iterations - done) % 2 == 1;
            let labels = cuda.get(if is_other { &next } else { &labels }, "labels")?;
            return Ok(Labels { labels, iterations: done, stable: changed == 0 });
        }
    }
}
