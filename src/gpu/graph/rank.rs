//! PageRank: y = Aᵀ x as in `mxv`, and `cuda/graph_rank.cu`.

use std::sync::Arc;

use super::super::csr::RawCsr;
use super::super::jit::{Source, source};
use super::super::launch::{Arg, Shape, args};
use super::device::DeviceGraph;
use crate::Result;
use crate::algebra::{Plus, PlusTimes, Ring, Second, Slice, Type, printed_monoid, printed_ring};

pub(super) const SOURCE: Source = source!("graph_rank.cu");
/// Vertices per block.
pub(super) const BLOCK: usize = 1024;

/// Parameters of PageRank.
pub(crate) struct Ranking<'a> {
    pub(crate) damping: f64,
    pub(crate) tolerance: f64,
    pub(crate) max_iterations: u32,
    pub(crate) drop_dangling: bool,
    /// The personalization vector, one entry per vertex, with sum 1; uniform if `None`.
    pub(crate) jumps: Option<&'a [f64]>,
    /// Edge weights, if any.
    pub(crate) weights: Option<&'a [f64]>,
}

/// Ranks, the number of steps, and the change of the last one.
pub(crate) struct Ranked {
    pub(crate) ranks: Vec<f64>,
    pub(crate) iterations: u32,
    pub(crate) change: f64,
}

impl DeviceGraph {
    /// Ranks after the first step that changes them by less than the tolerance, or after the last step.
    pub(crate) fn pagerank(&self, of: &Ranking<'_>) -> Result<Ranked> {
        let (cuda, n) = (&self.cuda, self.n as u64);
        let program = self.program(SOURCE)?;
        let number = |x: f64| Arg::value(Slice::of(&[x]));
        // Without weights only the pattern counts: values are not read.
        let (a, ring) = match of.weights {
            Some(weights) => (self.incoming_weighted(weights)?, printed_ring(PlusTimes::<f64>::default())),
            None => {
                let pattern = Arc::clone(self.incoming()?);
                let values = cuda.alloc_raw(Type::Bool, self.nnz(), "values of edges")?;
                (RawCsr { pattern, values }, printed_ring(Ring(Plus::<f64>::new(), Second::<f64, bool>::default())))
            }
        };
        let share = cuda.alloc::<f64>(self.n, "shares of ranks")?;
        let vertices = Shape::for_each(self.n, 256)?;
        let mut pulled = cuda.alloc::<f64>(self.n, "pulled ranks")?;
        let strengths = match of.weights {
            None => None,
            Some(weights) => {
                let values = Arc::clone(self.weights(weights)?);
                let out = RawCsr { pattern: Arc::clone(&self.outgoing), values };
                Some(cuda.reduce_rows_raw(&printed_monoid(Plus::<f64>::new()), &out)?)
            }
        };
        program
            .kernel("rank_shares")?
            .launch(vertices, args![&self.outgoing.row_ptr, strengths.as_deref(), n, number(of.damping), &share])?;
        let jumps = of.jumps.map(|p| cuda.put(p, "personalization")).transpose()?;
        let ranks = cuda.alloc::<f64>(self.n, "ranks")?;
        let passed = cuda.alloc::<f64>(self.n, "passed ranks")?;
        let blocks = self.n.div_ceil(BLOCK);
        let sums = cuda.alloc::<f64>(2 * blocks, "sums of blocks")?;
        let total = cuda.zeroed::<f64>(2, "a change of ranks")?;
        let (step, add) = (program.kernel("rank_step")?, program.kernel("rank_total")?);
        let mut change = f64::INFINITY;
        let mut iterations = 0;
        loop {
            let first = u32::from(iterations == 0);
            if first == 0 {
                cuda.mxv_raw(None, &ring, &a, &passed, None, pulled.raw_mut())?;
            }
            step.launch(
                Shape::blocks(blocks, 256, 0)?,
                args![
                    n,
                    first,
                    number(of.damping),
                    number(1.0 / self.n as f64),
                    jumps.as_deref(),
                    &share,
                    &pulled,
                    &total,
                    &ranks,
                    &passed,
                    &sums
                ],
            )?;
            let drop = u32::from(of.drop_dangling);
            add.launch(Shape::blocks(1, 1024, 0)?, args![blocks as u64, drop, &sums, &total])?;
            if first == 0 {
                change = cuda.get_at(&total, 0)?;
            }
            if change < of.tolerance || iterations == of.max_iterations {
                return Ok(Ranked { ranks: cuda.get(&ranks, "ranks")?, iterations, change });
            }
            iterations += 1;
        }
    }
}
