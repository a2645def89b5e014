//! Brandes' dependencies of vertices on shortest paths: see `cuda/graph_brandes.cu`.

use super::super::jit::{Source, source};
use super::super::launch::{Shape, args};
use super::device::{DeviceGraph, THREADS};
use crate::{Error, Result};

pub(super) const SOURCE: Source = source!("graph_brandes.cu");
/// Upper bound on the bytes of concurrent searches; one search always runs.
const BYTES: usize = 4 << 30;

/// Results of the searches.
pub(crate) struct Dependencies {
    /// Sums over the sources.
    pub(crate) of: Vec<f64>,
    /// Sources whose path counts exceed an f64; they are left out of the sums.
    pub(crate) left: Vec<usize>,
    /// Number of concurrent searches.
    pub(crate) at_once: usize,
}

impl DeviceGraph {
    /// Dependencies of all vertices on these sources, by unweighted shortest paths.
    pub(crate) fn dependencies(&self, sources: &[usize]) -> Result<Dependencies> {
        let (cuda, n) = (&self.cuda, self.n);
        let (out, into) = (&*self.outgoing, self.incoming()?);
        let program = self.program(SOURCE)?;
        let kernel = program.kernel("graph_brandes")?;
        let long_lists = self.long_lists();
        let each = 32 * n + 12 * long_lists;
        let blocks = self.blocks_at_once(&kernel, usize::MAX)?;
        let teams = sources.len().min(blocks).min((BYTES / each).max(1));
        let of_team = blocks / teams;
        let sources = crate::par::collected(sources.len(), sources.iter().map(|&s| s as u32), "sources")?;
        let on_device = cuda.put(&sources, "sources")?;
        let room = |len: usize| {
            len.checked_mul(teams).ok_or(Error::IndexOverflow {
                what: "searches on the device",
                needed: len as u128 * teams as u128,
                max: usize::MAX as u128,
            })
        };
        let levels = self.all_ones(room(n)?, "levels")?;
        let paths = cuda.alloc::<f64>(room(n)?, "path counts")?;
        let order = cuda.alloc::<u32>(room(n)?, "a queue of vertices")?;
        let starts = cuda.alloc::<u32>(room(n + 2)?, "levels")?;
        let pieces = cuda.alloc::<u64>(room(long_lists)?, "pieces of lists")?;
        let longer = cuda.alloc::<u32>(room(long_lists)?, "long lists")?;
        let state = cuda.alloc::<u32>(room(9)?, "state of a search")?;
        let sums = cuda.zeroed::<f64>(room(n)?, "dependencies")?;
        let barriers = cuda.zeroed::<u64>(teams, "barriers")?;
        let beyond = cuda.zeroed::<u32>(sources.len(), "path counts")?;
        kernel.launch_at_once(
            Shape::blocks(of_team * teams, THREADS, 0)?,
            args![
                &out.row_ptr,
                &out.col_idx,
                &into.row_ptr,
                &into.col_idx,
                n as u64,
                &on_device,
                sources.len() as u64,
                teams as u32,
                long_lists as u64,
                &levels,
                &paths,
                &order,
                &starts,
                &pieces,
                &longer,
                &state,
                &sums,
                &barriers,
                &beyond,
            ],
        )?;
        let total = cuda.alloc::<f64>(n, "dependencies")?;
        program
            .kernel("brandes_total")?
            .launch(Shape::for_each(n, 256)?, args![n as u64, teams as u32, &sums, &total])?;
        let of = cuda.get(&total, "dependencies")?;
        let beyond = cuda.get(&beyond, "path counts")?;
        let left = sources.iter().zip(beyond).filter(|(_, beyond)| *beyond != 0).map(|(&s, _)| s as usize);
        Ok(Dependencies { of, left: left.collect(), at_once: teams })
    }
}
