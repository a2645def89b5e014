//! The steps of a contraction, one kernel after the other on the device's stream.

use std::sync::Arc;

use super::arrays::{Change, Contraction, Operands};
use super::matrices::Matrices;
use super::steps::{Source, Step, Steps};
use super::strided::Strided;
use crate::gpu::Cuda;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::worked::Worked;
use crate::par::reserved;
use crate::{Error, Result};

/// The step as a batch of small matrices, if it is one for which a block of this device has room.
fn matrices(cuda: &Cuda, steps: &Steps, step: &Step, size: usize) -> Option<(Matrices, Arc<Worked>)> {
    let limits = cuda.limits();
    // Two blocks of a multiprocessor, so that one computes while the other waits.
    let room = (limits.shared_per_multiprocessor / 2).saturating_sub(1024).min(limits.shared_per_block) as usize;
    let matrices = Matrices::of(step, &steps.extents, size)?;
    let program = cuda.worked().get(&matrices.numbers(room), || matrices.program(room))?;
    Some((matrices, program))
}

/// Each step in words, for values of so many bytes.
pub(super) fn explain(cuda: &Cuda, steps: &Steps, size: usize) -> String {
    let each = steps.list.iter().map(|step| match matrices(cuda, steps, step, size) {
        Some((matrices, program)) => matrices.explain(&program),
        None => Strided::of(step, &steps.extents).explain(),
    });
    each.collect::<Vec<_>>().join("\n")
}

impl Contraction<'_> {
    /// All steps, the last one into `out`.
    pub(super) fn run(&self, steps: &Steps, out: &RawBuffer, update: &Change) -> Result<()> {
        let mut between: Vec<Option<Arc<RawBuffer>>> = reserved(steps.between.len(), "steps")?;
        for step in &steps.list {
            let made = match step.target {
                Some(target) => Some(self.cuda.alloc_raw(self.ring.out, steps.between[target], "einsum")?),
                None => None,
            };
            let array = |source: Source| match source {
                Source::Operand(k) => Ok(self.operands[k]),
                Source::Between(t) => {
                    let missing = || Error::Argument { name: "einsum", message: format!("step {t} was not made") };
                    between.get(t).and_then(Option::as_deref).ok_or_else(missing)
                }
            };
            let on = Operands {
                a: array(step.a.0)?,
                b: step.b.as_ref().map(|b| array(b.0)).transpose()?,
                c: made.as_deref().unwrap_or(out),
                update: if made.is_some() { Change::default() } else { update.clone() },
            };
            if on.c.len() > 0 {
                self.step(steps, step, &on)?;
            }
            // What was read is given back, in the order of the stream.
            for (source, _) in [Some(&step.a), step.b.as_ref()].into_iter().flatten() {
                if let Source::Between(t) = *source {
                    between[t] = None;
                }
            }
            between.extend(made.map(Some));
        }
        Ok(())
    }
    fn step(&self, steps: &Steps, step: &Step, on: &Operands<'_>) -> Result<()> {
        match matrices(self.cuda, steps, step, self.ring.out.size()) {
            Some((matrices, program)) => matrices.run(&program, self, on),
            None => Strided::of(step, &steps.extents).run(self, on),
        }
    }
}
