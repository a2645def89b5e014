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
    pub(super) fn of(step: &Step, extents: &[usize; INDICES]) -> Option<Self> {
        step.b.as_ref()?;
        let (out, folded) = (step.out(extents), step.folded(extents));
        let group = |of: In| one(out.iter().filter(|axis| axis.of == of).copied().collect());
        let (m, n, batch) = (group(In::A)??, group(In::B)??, group(In::Both)?);
        let k = values(&folded).filter(|_| folded.iter().all(|axis| axis.of == In::Both))?;
        let (sizes, count) = ([m.extent, n.extent, k], batch.map_or(1, |batch| batch.extent));
        let terms = sizes.iter().fold(count as u128, |all, &n| all.saturating_mul(n as u128));
        let is_large = sizes.iter().all(|&n| n >= LEAST) && sizes.iter().any(|&n| n >= LARGEST) && terms >= TERMS;
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
