//! Runs the steps of a contraction, one kernel after the other on the device's stream.

use std::sync::Arc;

use super::action::Action;
use super::arrays::{Change, Contraction, How, Operands};
use super::matrices::Matrices;
use super::numbers::numbers;
use super::steps::{Source, Step, Steps};
use super::strided::Strided;
use super::tiled::{For, Tiled};
use super::tiles::Tiles;
use super::tune::tune;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::kernel_cache::GeneratedKernel;
use crate::gpu::launch::Program;
use crate::par::reserved;
use crate::{Error, Result};

/// One line per step.
pub(super) fn explain(case: For<'_>, steps: &Steps, library: bool) -> String {
    let plain = Change::default();
    let each = steps.list.iter().map(|step| {
        let case = if step.target.is_some() { For { change: &plain, ..case } } else { case };
        if let Some(numbers) = library.then(|| numbers(step, &steps.extents, case.ring)).flatten()
            && case.cuda.has_cublas()
        {
            return numbers.explain();
        }
        if let Some(tiles) =
            case.tiling.is_none().then(|| Tiles::of(step, &steps.extents, case.ring.out.size())).flatten()
        {
            return tiles.explain();
        }
        let matrices = Matrices::of(step, &steps.extents, case.ring.out.size());
        match matrices.and_then(|matrices| Some(matrices.explain(&*case.chosen(&matrices)?))) {
            Some(words) => words,
            None => Strided::of(step, &steps.extents).explain(),
        }
    });
    each.collect::<Vec<_>>().join("\n")
}

impl Contraction<'_> {
    /// Runs all steps, the last one into `out`.
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
                    let missing = || Error::Argument { name: "einsum", message: format!("step {t} has no result") };
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
            // Inputs that are read for the last time are freed, in stream order.
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
        if let (How::By(None), true, Some(b)) = (self.how, self.library, on.b)
            && let Some(numbers) = numbers(step, &steps.extents, self.ring)
            && self.cuda.has_cublas()
        {
            return numbers.run(self, on, b);
        }
        if let (How::By(None), Some(b)) = (self.how, on.b)
            && let Some(tiles) = Tiles::of(step, &steps.extents, self.ring.out.size())
        {
            return tiles.run(self, on, b);
        }
        let done = match Matrices::of(step, &steps.extents, self.ring.out.size()) {
            Some(matrices) => {
                self.tiled(&matrices, &on.update, &|generated, program| matrices.start(generated, program, on))?
            }
            None => false,
        };
        if done { Ok(()) } else { Strided::of(step, &steps.extents).run(self, on) }
    }
    /// Runs the action of a mass operator; false if an element is too large for a block.
    pub(super) fn action(&self, action: &Action, out: &RawBuffer, update: &Change) -> Result<bool> {
        self.tiled(action, update, &|generated, program| action.start(generated, program, self.operands, out, update))
    }
    /// Launches a tileable kernel; false if its block does not fit.
    fn tiled(
        &self,
        kernel: &(dyn Tiled + Sync),
        change: &Change,
        start: &dyn Fn(&GeneratedKernel, &Program) -> Result<()>,
    ) -> Result<bool> {
        let tiling = if let How::By(tiling) = self.how { tiling } else { None };
        let case = For { cuda: self.cuda, ring: self.ring, change, tiling };
        let Some(mut generated) = case.chosen(kernel) else { return Ok(false) };
        if let How::Tuned(found) = self.how {
            let tuned = tune(case, kernel, change.old > 0, start)?;
            let best = For { tiling: Some(tuned.best), ..case };
            generated = best.chosen(kernel).unwrap_or(generated);
            found.borrow_mut().push(tuned);
        }
        let program = case.prefix(&generated, |prefix| self.cuda.program_of(kernel.source(), prefix))?;
        start(&generated, &program)?;
        Ok(true)
    }
}
