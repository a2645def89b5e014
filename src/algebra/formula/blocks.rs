//! Blocked evaluation of formulas on the CPU, for formulas known only at run time.
//!
//! Each function of the formula is one loop over a block, compiled once for the function and its types (`kernels`). A
//! formula thus costs one call per block and function, not per value. Subexpressions of scalars are computed once per
//! run.

use std::ops::Range;

use super::graph::{Builder, Kind, MOST, Node};
use super::kernels::{Kernel, Operand, kernel};
use super::{Formula, Function, HostCall, Input};
use crate::algebra::words::Zeroed;
use crate::algebra::{Constant, SliceMut, Type};
use crate::{Error, Result};

/// Values per block: the operands of all steps fit the first-level cache.
pub const BLOCK: usize = 128;

/// A formula prepared for blocked evaluation; results are bitwise those of the operator on the
/// [`Host`](crate::algebra::Host).
///
/// ```
/// use sparring::algebra::{Blocks, Formula, Input, Slice, SliceMut, Type};
/// let f = Formula::parse("a + 2 * b", &[("a", Type::F64), ("b", Type::F64)], None)?;
/// let blocks = Blocks::new(&f)?;
/// let mut out = [0.0; 3];
/// let inputs = [Input::Scalar(Slice::of(&[10.0])), Input::Values(Slice::of(&[1.0, 2.0, 3.0]))];
/// blocks.run(&inputs, &mut blocks.scratch()?, &mut SliceMut::of(&mut out))?;
/// assert_eq!(out, [12.0, 14.0, 16.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct Blocks {
    parameters: Vec<(String, Type, bool)>,
    constants: Vec<Constant>,
    steps: Vec<Step>,
    result: Source,
    out: Type,
}

/// Memory for the results of steps, reused across runs.
#[derive(Debug)]
pub struct Scratch {
    slots: Vec<Zeroed>,
    /// Whether the result of the step is a scalar.
    scalar: Vec<bool>,
}

#[derive(Debug)]
struct Step {
    action: Action,
    /// Up to [`MOST`] operands; `arity` is their number.
    operands: [Source; MOST],
    arity: usize,
    out: Type,
}

impl Step {
    fn operands(&self) -> &[Source] {
        &self.operands[..self.arity]
    }
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Parameter(usize),
    Constant(usize),
    /// Result of a step.
    Slot(usize),
}

enum Action {
    Kernel(Kernel),
    /// Selection of structs; numbers have a kernel.
    Select,
    Field(usize),
    Make,
    /// A custom host function.
    Host(HostCall),
}
impl std::fmt::Debug for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Action::Kernel(_) => "kernel",
            Action::Select => "select",
            Action::Field(_) => "field",
            Action::Make => "make",
            Action::Host(call) => call.name(),
        })
    }
}

impl Blocks {
    /// Prepares a formula.
    /// # Errors
    /// [`Error::Unsupported`] for custom device functions, which exist as GPU text only, and for comparisons of
    /// structs.
    pub fn new(formula: &Formula) -> Result<Self> {
        let formula = &with_differences(formula);
        let nodes = formula.nodes();
        let (mut constants, mut steps, mut sources) = (Vec::new(), Vec::new(), Vec::<Source>::new());
        for Node { kind, ty } in nodes {
            sources.push(match kind {
                Kind::Parameter(p) => Source::Parameter(*p),
                Kind::Constant(c) => {
                    constants.push(c.clone());
                    Source::Constant(constants.len() - 1)
                }
                Kind::Call(_, operands) | Kind::Host(_, operands) => {
                    let types: Vec<_> = operands.iter().map(|&o| nodes[o].ty).collect();
                    let action = match kind {
                        Kind::Call(function, _) => action(*function, &types, *ty)?,
                        Kind::Host(call, _) => Action::Host(call.clone()),
                        _ => unreachable!("a parameter or a constant has no operands"),
                    };
                    let mut of = [Source::Constant(0); MOST];
                    of.iter_mut().zip(operands.iter()).for_each(|(of, &o)| *of = sources[o]);
                    steps.push(Step { action, operands: of, arity: operands.len(), out: *ty });
                    Source::Slot(steps.len() - 1)
                }
            });
        }
        let parameters = formula.parameters().iter().map(|(name, ty)| (name.to_string(), *ty, formula.reads(name)));
        let result = sources[nodes.len() - 1];
        Ok(Self { parameters: parameters.collect(), constants, steps, result, out: formula.ty() })
    }
    /// Scratch memory for runs of this formula, one at a time.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn scratch(&self) -> Result<Scratch> {
        let slots = self.steps.iter().map(|s| Zeroed::new(s.out, BLOCK)).collect::<Result<_>>()?;
        Ok(Scratch { slots, scalar: vec![false; self.steps.len()] })
    }
    /// The custom host function, if the formula is a call of one with its two parameters in order. A fold calls it
    /// directly, without the overhead of a run.
    pub(crate) fn host_call(&self) -> Option<&HostCall> {
        match (self.steps.as_slice(), self.parameters.len()) {
            ([Step { action: Action::Host(call), operands, arity: 2, .. }], 2) => {
                matches!(operands[..2], [Source::Parameter(0), Source::Parameter(1)]).then_some(call)
            }
            _ => None,
        }
    }
    /// out\[x\] = the formula of the inputs at x, for each x; inputs are in the order of the formula's parameters.
    /// Unread inputs may be anything.
    /// # Errors
    /// [`Error::Argument`] or [`Error::Length`] if number, types or lengths of inputs, scratch and results do not match
    /// the formula.
    pub fn run(&self, inputs: &[Input<'_>], scratch: &mut Scratch, out: &mut SliceMut<'_>) -> Result<()> {
        self.check(inputs, scratch, out)?;
        self.run_trusted(inputs, scratch, out);
        Ok(())
    }
    /// [`run`](Self::run) without the check of its arguments, which takes longer than a run on few values.
    /// # Panics
    /// May panic or return wrong results if the arguments do not match the formula.
    pub(crate) fn run_trusted(&self, inputs: &[Input<'_>], scratch: &mut Scratch, out: &mut SliceMut<'_>) {
        debug_assert!(self.check(inputs, scratch, out).is_ok(), "{:?}", self.check(inputs, scratch, out));
        let n = out.len();
        let Scratch { slots, scalar } = scratch;
        let is_scalar = |s: Source, scalar: &[bool]| match s {
            Source::Parameter(p) => matches!(inputs[p], Input::Scalar(_)),
            Source::Constant(_) => true,
            Source::Slot(s) => scalar[s],
        };
        for (x, step) in self.steps.iter().enumerate() {
            scalar[x] = step.operands().iter().all(|&s| is_scalar(s, scalar));
            if scalar[x] {
                self.keep(x, inputs, 0..1, slots, scalar);
            }
        }
        let last = match self.result {
            Source::Slot(s) if !scalar[s] => s,
            // A scalar, or a parameter.
            source => {
                let all = self.operand(source, inputs, 0..n, slots, scalar);
                return out.copy_from(&all.slice());
            }
        };
        for start in (0..n).step_by(BLOCK) {
            let range = start..n.min(start + BLOCK);
            for x in (0..last).filter(|&x| !scalar[x]) {
                self.keep(x, inputs, range.clone(), slots, scalar);
            }
            self.step(last, inputs, range.clone(), slots, scalar, &mut out.part(range));
        }
    }

    /// Runs step `x` on a block, with its slot as output.
    #[inline]
    fn keep(&self, x: usize, inputs: &[Input<'_>], range: Range<usize>, slots: &mut [Zeroed], scalar: &[bool]) {
        // A step reads the slots of earlier steps only.
        let (before, own) = slots.split_at_mut(x);
        self.step(x, inputs, range.clone(), before, scalar, &mut own[0].slice_mut().part(0..range.len()));
    }

    /// Runs step `x` on a block, with output `out`.
    #[inline]
    fn step(
        &self,
        x: usize,
        inputs: &[Input<'_>],
        range: Range<usize>,
        slots: &[Zeroed],
        scalar: &[bool],
        out: &mut SliceMut<'_>,
    ) {
        let step = &self.steps[x];
        let at = |i: usize| self.operand(step.operands[i], inputs, range.clone(), slots, scalar);
        match (&step.action, step.arity) {
            (Action::Kernel(k), 1) => k(&[at(0)], out),
            (Action::Kernel(k), 2) => k(&[at(0), at(1)], out),
            (Action::Kernel(k), _) => k(&[at(0), at(1), at(2)], out),
            (Action::Select, _) => {
                out.strided().select(at(0).get(), at(1).slice().strided(), at(2).slice().strided());
            }
            (Action::Field(index), _) => out.strided().copy_from(at(0).slice().field(*index)),
            (Action::Host(call), n) => {
                let inputs: [Input<'_>; MOST] = std::array::from_fn(|i| at(if i < n { i } else { 0 }).into());
                call.run(&inputs[..n], out);
            }
            (Action::Make, fields) => (0..fields).for_each(|i| out.field(i).copy_from(at(i).slice().strided())),
        }
    }

    #[inline(always)]
    fn operand<'a>(
        &'a self,
        source: Source,
        inputs: &[Input<'a>],
        range: Range<usize>,
        slots: &'a [Zeroed],
        scalar: &[bool],
    ) -> Operand<'a> {
        match source {
            Source::Parameter(p) => match inputs[p] {
                Input::Scalar(s) => Operand::Scalar(s),
                Input::Values(s) => Operand::Values(s.part(range)),
            },
            Source::Constant(c) => Operand::Scalar(self.constants[c].slice()),
            Source::Slot(s) if scalar[s] => Operand::Scalar(slots[s].slice().part(0..1)),
            Source::Slot(s) => Operand::Values(slots[s].slice().part(0..range.len())),
        }
    }

    fn check(&self, inputs: &[Input<'_>], scratch: &Scratch, out: &SliceMut<'_>) -> Result<()> {
        let length = |what, found, expected| Err(Error::Length { what, found, expected });
        if inputs.len() != self.parameters.len() {
            return length("inputs of a formula", inputs.len(), self.parameters.len());
        }
        if out.ty() != self.out {
            let message = format!("the results are {}, the output is {}", self.out, out.ty());
            return Err(Error::Argument { name: "out", message });
        }
        for ((name, ty, read), input) in self.parameters.iter().zip(inputs) {
            let (found, len, expected) = match input {
                Input::Scalar(s) => (s.ty(), s.len(), 1),
                Input::Values(s) => (s.ty(), s.len(), out.len()),
            };
            if *read && found != *ty {
                return Err(Error::Argument {
                    name: "inputs",
                    message: format!("{name} is {ty}, but was given as {found}"),
                });
            }
            if *read && len != expected {
                return length("an input of a formula", len, expected);
            }
        }
        let fits = |(s, slot): (&Step, &Zeroed)| {
            let slot = slot.slice();
            slot.ty() == s.out && slot.len() == BLOCK
        };
        if scratch.slots.len() != self.steps.len() || !self.steps.iter().zip(&scratch.slots).all(fits) {
            let message = "it was made for another formula".to_string();
            return Err(Error::Argument { name: "scratch", message });
        }
        Ok(())
    }
}

/// The same formula with |a − b| of floats fused into one loop, with bitwise equal results.
fn with_differences(formula: &Formula) -> Formula {
    let (nodes, parameters) = (formula.nodes(), formula.parameters());
    let mut builder = Builder::new(parameters.to_vec());
    let mut at: Vec<usize> = Vec::new();
    for Node { kind, ty } in nodes {
        at.push(match kind {
            // The parameter exists.
            Kind::Parameter(p) => builder.parameter(&parameters[*p].0).unwrap_or_default(),
            Kind::Constant(c) => builder.constant(c.clone()),
            Kind::Host(call, operands) => {
                let operands: Vec<_> = operands.iter().map(|&o| at[o]).collect();
                builder.host(call.clone(), &operands, *ty)
            }
            Kind::Call(function, operands) => {
                let (function, operands) = match (function, &nodes[operands[0]].kind) {
                    (Function::Abs, Kind::Call(Function::Sub, of)) if matches!(ty, Type::F32 | Type::F64) => {
                        (Function::AbsDiff, of)
                    }
                    _ => (*function, operands),
                };
                let operands: Vec<_> = operands.iter().map(|&o| at[o]).collect();
                builder.call(function, &operands, *ty)
            }
        });
    }
    builder.finish(at[nodes.len() - 1])
}

fn action(function: Function, types: &[Type], out: Type) -> Result<Action> {
    let struct_ = |t: &Type| matches!(t, Type::Struct(_));
    Ok(match function {
        Function::Field(index) => Action::Field(index),
        Function::Make => Action::Make,
        Function::Select if struct_(&out) => Action::Select,
        Function::Device(f) => {
            return Err(Error::Unsupported {
                what: format!("the function {} on the processor, in a formula known at run time", f.name),
                why: "only its text for a GPU is known here; as an operator of `op!` it runs on both".into(),
            });
        }
        _ => match kernel(function, types, out) {
            Some(kernel) => Action::Kernel(kernel),
            None => {
                let types: Vec<_> = types.iter().map(|t| t.name()).collect();
                return Err(Error::Unsupported {
                    what: format!("{} of {}", function.name(), types.join(", ")),
                    why: "there is no loop for it; of structs, compare the fields".into(),
                });
            }
        },
    })
}
