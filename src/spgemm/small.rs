//! Products so small that a plan would take longer than they do.

use super::{Compress, Request};
use crate::Pattern;
use crate::Result;
use crate::algebra::Array;
use crate::kernels::{CompiledRing, Operand, small_flops, small_product};

/// C = A ⊕.⊗ B without a plan, rows sorted; `None` unless A has at most 1024 rows, C takes at most 1024 multiplications, and no row of
/// it more than 128. A mask, a budget, compression or an accumulator are for the other ways.
pub(crate) fn small_any(
    request: &Request<'_, u32>,
    ring: &CompiledRing,
    a: Operand<'_>,
    b: Operand<'_>,
) -> Option<Result<(Pattern, Array)>> {
    let &Request { options, budget, mask } = request;
    let plain = mask.is_none() && budget.is_none() && options.compress != Compress::On && !request.is_theirs();
    if !plain || a.pattern.ncols() != b.pattern.nrows() {
        return None;
    }
    small_flops(a.pattern, b.pattern).map(|flops| small_product(ring, a, b, flops))
}
