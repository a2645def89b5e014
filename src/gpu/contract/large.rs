//! A step that is a large product of matrices, or a batch of such.

use super::axes::{Axis, In, joined, values};
use super::steps::Step;
use crate::contract::INDICES;

/// Rows, columns and terms at least, the largest of them at least, and terms of all products at least: what is smaller
/// has kernels that are as fast.
const LEAST: usize = 16;
const LARGEST: usize = 48;
const TERMS: u128 = 1 << 20;

/// Rows of A and C, columns of B and C, the batch of all three, each as one index, and what is folded.
pub(super) struct Large {
    pub(super) m: Axis,
    pub(super) n: Axis,
    pub(super) batch: Option<Axis>,
    pub(super) folded: Vec<Axis>,
}

impl Large {
    /// Of matrices, if the step is one.
    pub(super) fn of(step: &Step, extents: &[usize; INDICES]) -> Option<Self> {
        Self::of_lines(step, extents).filter(|large| large.m.extent > 1 && large.n.extent > 1)
    }
    /// Also of a matrix and a vector, which has one row or column.
    pub(super) fn of_lines(step: &Step, extents: &[usize; INDICES]) -> Option<Self> {
        step.b.as_ref()?;
        let (out, folded) = (step.out(extents), step.folded(extents));
        let group = |of: In| one(out.iter().filter(|axis| axis.of == of).copied().collect());
        let line = |of: In| group(of).map(|axis| axis.unwrap_or(Axis { extent: 1, strides: [1; 3], of }));
        let (m, n, batch) = (line(In::A)?, line(In::B)?, group(In::Both)?);
        let k = values(&folded).filter(|_| folded.iter().all(|axis| axis.of == In::Both))?;
        let (sizes, count) = ([m.extent, n.extent, k], batch.map_or(1, |batch| batch.extent));
        let terms = sizes.iter().fold(count as u128, |all, &n| all.saturating_mul(n as u128));
        let enough =
            k >= LEAST && m.extent.max(n.extent) >= LEAST && [m, n].iter().all(|x| x.extent == 1 || x.extent >= LEAST);
        let is_large = enough && sizes.iter().any(|&n| n >= LARGEST) && terms >= TERMS;
        is_large.then_some(Self { m, n, batch, folded })
    }
}

/// The indices as one, `Some(None)` if there are none; `None` if they are not one in all tensors.
#[allow(clippy::option_option, reason = "no index is not the same as too many")]
pub(super) fn one(axes: Vec<Axis>) -> Option<Option<Axis>> {
    match joined(&axes)[..] {
        [] => Some(None),
        [axis] => Some(Some(axis)),
        _ => None,
    }
}
