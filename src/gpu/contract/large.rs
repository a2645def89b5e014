//! Recognition of large matrix products, single or batched.

use super::axes::{Axis, In, joined, values};
use super::steps::Step;
use crate::contract::INDICES;

/// Lower bounds on rows, columns and terms; on the largest of them; and on the terms of all products. Other kernels are
/// as fast for smaller products.
const LEAST: usize = 16;
const LARGEST: usize = 48;
const TERMS: u128 = 1 << 20;

/// The row index of A and C, the column index of B and C, the batch index of all three, and the folded indices.
pub(super) struct Large {
    pub(super) m: Axis,
    pub(super) n: Axis,
    pub(super) batch: Option<Axis>,
    pub(super) folded: Vec<Axis>,
}

impl Large {
    /// Recognizes a matrix product.
    pub(super) fn of(step: &Step, extents: &[usize; INDICES]) -> Option<Self> {
        Self::of_lines(step, extents).filter(|large| large.m.extent > 1 && large.n.extent > 1)
    }
    /// Also accepts matrix × vector products, with one row or column.
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

/// Fuses the indices into one: `Some(None)` if there are none, `None` if some tensor's strides do not allow it.
#[allow(clippy::option_option, reason = "no index is not the same as too many")]
pub(super) fn one(axes: Vec<Axis>) -> Option<Option<Axis>> {
    match joined(&axes)[..] {
        [] => Some(None),
        [axis] => Some(Some(axis)),
        _ => None,
    }
}
