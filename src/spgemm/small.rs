//! Tiny products, for which a plan would take longer than the product.

use super::{Compress, Request};
use crate::algebra::Array;
use crate::kernels::{CompiledRing, Operand, small_product};
use crate::par::Threads;
use crate::{Pattern, Result};

/// C = A ⊕.⊗ B without a plan, rows sorted, and its number of multiplications; `None` unless it is
/// [small](small_product). Masks, budgets, compression and accumulators are left to the other algorithms.
pub(super) fn product(
    threads: &Threads,
    request: &Request<'_, u32>,
    ring: &CompiledRing,
    a: Operand<'_>,
    b: Operand<'_>,
) -> Option<Result<(Pattern, Array, u64)>> {
    let &Request { options, budget, mask } = request;
    let plain = mask.is_none() && budget.is_none() && options.compress != Compress::On && !request.is_kk();
    if !plain || a.pattern.ncols() != b.pattern.nrows() {
        return None;
    }
    let made = small_product(ring, a, b)?;
    Some(threads.alone("mxm", || made))
}
