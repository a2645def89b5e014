//! A step of any strides, a thread for each element of C: see `cuda/strided.cu`.

use super::arrays::{Change, Contraction, Operands};
use super::axes::{Axis, joined, values};
use super::steps::Step;
use crate::contract::INDICES;
use crate::gpu::arg::Arg;
use crate::gpu::front::{Front, Setting};
use crate::gpu::jit::{Source, source};
use crate::gpu::launch::{Shape, args};
use crate::{Error, Result};

pub(super) const SOURCE: Source = source!("strided.cu");

/// Indices of C and folded ones, and where A, B and C begin.
pub(super) struct Strided {
    out: Vec<Axis>,
    folded: Vec<Axis>,
    bases: [usize; 3],
}

impl Strided {
    pub(super) fn of(step: &Step, extents: &[usize; INDICES]) -> Self {
        let (out, folded) = (joined(&step.out(extents)), joined(&step.folded(extents)));
        Self { out, folded, bases: step.bases() }
    }
    /// The one element of A everywhere in C, which has `len` elements side by side.
    pub(super) fn filled(len: usize) -> Self {
        let out = vec![Axis { extent: len, strides: [0, 0, 1], of: super::axes::In::A }];
        Self { out, folded: vec![], bases: [0; 3] }
    }

    /// What is computed.
    pub(super) fn explain(&self) -> String {
        let all = |axes: &[Axis]| axes.iter().map(|axis| axis.extent.to_string()).collect::<Vec<_>>().join("×");
        format!("a thread for each element: indices [{}], folded [{}]", all(&self.out), all(&self.folded))
    }

    pub(super) fn run(&self, contraction: &Contraction<'_>, on: &Operands<'_>) -> Result<()> {
        // Elements of C are there, so they can be counted.
        let count = values(&self.out).ok_or(Error::OutOfMemory { what: "einsum", bytes: u128::MAX })?;
        let (out, folded) = (padded(&self.out), padded(&self.folded));
        let settings = settings(out.len(), folded.len(), on.b.is_none());
        let program = contraction.cuda.program_of(SOURCE, Front::new(&contraction.ring.text, &settings))?;
        let extents = |axes: &[Axis]| axes.iter().map(|axis| axis.extent as u64).collect::<Vec<_>>();
        let strides = |axes: &[Axis], t: usize| axes.iter().map(|axis| axis.strides[t] as u64).collect::<Vec<_>>();
        let words = [
            extents(&out),
            strides(&out, 0),
            strides(&out, 1),
            strides(&out, 2),
            extents(&folded),
            strides(&folded, 0),
            strides(&folded, 1),
        ];
        let indices = Arg::list(&words.concat().into_iter().map(Arg::from).collect::<Vec<_>>());
        let b = on.b.map_or_else(Arg::null, |b| b.from(self.bases[1]));
        let (a, c) = (on.a.from(self.bases[0]), on.c.from(self.bases[2]));
        let Change { alpha, old, ref scalars } = on.update;
        let arguments = args![a, b, c, count as u64, indices, u32::from(alpha), old, scalars.as_deref()];
        program.kernel("strided")?.launch(Shape::for_each(count, 256)?, arguments)
    }
}

/// What stands in front of the program for so many indices.
pub(super) fn settings(out: usize, folded: usize, single: bool) -> Vec<Setting> {
    let sizes = [Setting::Constant("OUT", out as u32), Setting::Constant("FOLDED", folded as u32)];
    sizes.into_iter().chain(single.then_some(Setting::Switch("SINGLE"))).collect()
}

/// As many indices as a power of two, those in front having one value: few programs serve all.
fn padded(axes: &[Axis]) -> Vec<Axis> {
    let more = axes.len().max(1).next_power_of_two() - axes.len();
    let one = Axis { extent: 1, strides: [0; 3], of: super::axes::In::Both };
    std::iter::repeat_n(one, more).chain(axes.iter().copied()).collect()
}
