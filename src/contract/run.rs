//! Execution of a plan, block by block, by all threads.

use std::sync::{Mutex, PoisonError};

use super::action::Fields;
use super::einsum::Einsum;
use super::lanes::lanes;
use super::plan::{Form, Loops, Plan, Step};
use super::planes::planes;
use super::product::{Arrays, Offsets, matrices};
use super::side::{Side, Source};
use super::single::single;
use super::target::Target;
use super::tiny::tiny;
use super::update::Update;
use super::view::View;
use crate::Result;
use crate::algebra::{Arithmetic, Value};
use crate::par::{Threads, filled, note, reserved};

/// The inputs of steps: operands, intermediates common to all blocks, and those of this block.
struct Sources<'a, 'v, T> {
    operands: &'a [View<'v, T>],
    plan: &'a Plan,
    once: &'a [Vec<T>],
    block: &'a [Vec<T>],
}

impl<'a, T> Sources<'a, '_, T> {
    /// The array of a side, and its first offset in the block that begins at value `first`.
    fn side(&self, side: &Side, first: usize) -> (&'a [T], usize) {
        let data = match side.source {
            Source::Operand(k) => match self.operands[k].arrays() {
                [one] => one,
                // In a group, a block is one tensor.
                many => many[first],
            },
            Source::Intermediate(t) if self.plan.intermediates[t].once => &self.once[t][..],
            Source::Intermediate(t) => &self.block[t][..],
        };
        (data, side.base.wrapping_add((first as isize).wrapping_mul(side.stride) as usize))
    }
}

/// Computes the contraction into C as `update` says. The plan must be for these operands and this result layout; the
/// result has one array or, if it is a group, one for each tensor.
pub(crate) fn run<A: Arithmetic<T>, T: Value>(
    threads: &Threads,
    ring: A,
    einsum: &Einsum<'_, T>,
    plan: &Plan,
    update: Update<T>,
    out: &mut [&mut [T]],
) -> Result<()> {
    if plan.large {
        return run_large(threads, ring, einsum, plan, update, out);
    }
    note(|| format!("einsum: {} of {}\n{}", einsum.text(), T::TYPE, plan.explain()));
    if plan.steps.is_empty() {
        return Ok(());
    }
    if let (Some(cut), [Step { loops: Loops::Product(p), .. }], [out]) = (plan.planes, &plan.steps[..], &mut *out) {
        let sources = Sources { operands: &einsum.operands, plan, once: &[], block: &[] };
        let arrays = Arrays { a: sources.side(&p.a, 0), b: sources.side(&p.b, 0), c: &mut out[plan.cut.base..] };
        let offsets =
            Offsets { l: p.l.of(plan.cut.block), m: p.m.of(plan.cut.block), n: p.n.of(plan.cut.block), k: p.k.of(0) };
        return planes(threads, ring, arrays, offsets, update, cut);
    }
    let mut once = room::<A, T>(plan, true)?;
    let mut tile = filled(plan.packed, A::ZERO, "einsum")?;
    for step in &plan.steps {
        if let Some(t) = step.target.filter(|&t| plan.intermediates[t].once) {
            let mut into = std::mem::take(&mut once[t]);
            let sources = Sources { operands: &einsum.operands, plan, once: &once, block: &[] };
            execute(ring, step, &sources, (0, plan.cut.block), &mut into, Update::PLAIN, &mut tile);
            once[t] = into;
        }
    }
    let blocks = pieces(plan, out)?;
    let state = || Ok((room::<A, T>(plan, false)?, filled(plan.packed, A::ZERO, "einsum")?));
    threads.for_each_beside("einsum", plan.cut.blocks(), state, |(locals, tile), t| {
        let values = plan.cut.values(t);
        // Blocks that overlap share one piece.
        let (piece, start) = if blocks.len() < plan.cut.blocks() { (0, values.0 * plan.cut.stride) } else { (t, 0) };
        let mut c = blocks[piece].lock().unwrap_or_else(PoisonError::into_inner);
        let c = &mut c[start..];
        for step in &plan.steps {
            match step.target {
                Some(t) if plan.intermediates[t].once => {}
                Some(t) => {
                    let mut into = std::mem::take(&mut locals[t]);
                    let sources = Sources { operands: &einsum.operands, plan, once: &once, block: locals };
                    execute(ring, step, &sources, values, &mut into, Update::PLAIN, tile);
                    locals[t] = into;
                }
                None => {
                    let sources = Sources { operands: &einsum.operands, plan, once: &once, block: locals };
                    execute(ring, step, &sources, values, c, update, tile);
                }
            }
        }
        Ok(())
    })
}

/// [`run`] for a plan of large tensors: step after step, each by all threads.
pub(super) fn run_large<A: Arithmetic<T>, T: Value>(
    threads: &Threads,
    ring: A,
    einsum: &Einsum<'_, T>,
    plan: &Plan,
    update: Update<T>,
    out: &mut [&mut [T]],
) -> Result<()> {
    note(|| format!("einsum: {} of {}\n{}", einsum.text(), T::TYPE, plan.explain()));
    let mut intermediates: Vec<Vec<T>> = reserved(plan.intermediates.len(), "steps")?;
    for step in &plan.steps {
        let sources = Sources { operands: &einsum.operands, plan, once: &[], block: &intermediates };
        let compute = |c: &Target<'_, T>| match &step.loops {
            Loops::Blocked(p) => p.run(threads, ring, sources.side(&p.a, 0), sources.side(&p.b, 0), c),
            Loops::Folds(f) => f.run(threads, ring, sources.side(&f.a, 0), f.b.as_ref().map(|b| sources.side(b, 0)), c),
            _ => unreachable!("steps of large tensors"),
        };
        match step.target {
            // Targets are numbered in the order of steps.
            Some(t) => {
                let mut into = filled(plan.intermediates[t].len, A::ZERO, "einsum")?;
                compute(&Target::new(&mut into, Update::PLAIN)?)?;
                intermediates.push(into);
            }
            None => {
                let [out] = &mut *out else { unreachable!("groups are cut") };
                compute(&Target::new(&mut out[plan.cut.base..][..plan.elements], update)?)?;
            }
        }
    }
    Ok(())
}

/// Allocates intermediates: those computed once, or those of each thread.
fn room<A: Arithmetic<T>, T: Value>(plan: &Plan, once: bool) -> Result<Vec<Vec<T>>> {
    plan.intermediates.iter().map(|b| filled(if b.once == once { b.len } else { 0 }, A::ZERO, "einsum")).collect()
}

/// The part of the result that each block writes. One part for all, written by one thread at a time, if the operands
/// are groups but the batch is not the outermost index of the result.
fn pieces<'a, T>(plan: &Plan, out: &'a mut [&mut [T]]) -> Result<Vec<Mutex<&'a mut [T]>>> {
    let cut = &plan.cut;
    let mut found = reserved(cut.blocks(), "blocks")?;
    let data = match out {
        [one] => &mut **one,
        many => {
            found.extend(many.iter_mut().map(|array| Mutex::new(&mut array[cut.base..])));
            return Ok(found);
        }
    };
    if cut.blocks() > 1 && cut.stride <= cut.reach {
        found.push(Mutex::new(&mut data[cut.base..]));
        return Ok(found);
    }
    let (mut rest, mut at) = (data, 0);
    for t in 0..cut.blocks() {
        // Within the array: the result is, and a block ends before the next begins.
        let (first, count) = cut.values(t);
        let start = cut.base + first * cut.stride;
        let len = (count - 1) * cut.stride + cut.reach + 1;
        let (piece, tail) = std::mem::take(&mut rest).split_at_mut(start - at).1.split_at_mut(len);
        (rest, at) = (tail, start + len);
        found.push(Mutex::new(piece));
    }
    Ok(found)
}

/// Executes a step for the `count` values from `first` on.
fn execute<A: Arithmetic<T>, T: Value>(
    ring: A,
    step: &Step,
    sources: &Sources<'_, '_, T>,
    (first, count): (usize, usize),
    c: &mut [T],
    update: Update<T>,
    tile: &mut [T],
) {
    match &step.loops {
        Loops::Single(s) => {
            single(ring, sources.side(&s.a, first), c, (s.o.of(count), s.k.of(count)), s.run, update);
        }
        Loops::Action(action) => {
            let [basis, weights, v] = action.sides().map(|side| sources.side(side, first));
            action.run(ring, Fields { basis, weights, v, u: c }, count, update, tile);
        }
        Loops::Product(p) => {
            let arrays = Arrays { a: sources.side(&p.a, first), b: sources.side(&p.b, first), c };
            let offsets = Offsets { l: p.l.of(count), m: p.m.of(count), n: p.n.of(count), k: p.k.of(count) };
            match p.form {
                Form::Tiny(n, contiguous) => tiny(ring, arrays, offsets, update, (n, contiguous)),
                Form::Lanes(fixed) => lanes(ring, arrays, offsets, update, fixed.unwrap_or(count)),
                Form::Matrices(packed) => matrices(ring, arrays, offsets, update, if packed { tile } else { &mut [] }),
            }
        }
        Loops::Blocked(_) | Loops::Folds(_) => unreachable!("steps of large tensors are not cut"),
    }
}
