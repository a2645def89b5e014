//! Y = A ⊕.⊗ X: a sparse matrix times a dense one.

use super::super::blocks::blocks;
use crate::algebra::{Array, Slice, SliceMut};
use crate::kernels::{
    BLOCK, CompiledOp, CompiledRing, Operand, float_spmm, float_spmm_into, is_float_ring, spmm_by_formula,
};
use crate::par::{Threads, for_each_part, note, reserved};
use crate::{Error, Result};

/// The values of Y, row-major, with the fold order of [`spmm`](crate::ops::spmm()); `x` has `n` columns and one row per
/// column of A.
pub(crate) fn spmm(threads: &Threads, ring: &CompiledRing, a: Operand<'_>, x: Slice<'_>, n: usize) -> Result<Array> {
    if n == 0 || a.pattern.nrows() == 0 {
        return Array::zeros(ring.ty(), 0);
    }
    if u32::try_from(n).is_err() {
        return Err(Error::IndexOverflow { what: "columns", needed: n as u128, max: u32::MAX.into() });
    }
    note(|| format!("  each entry of A with a row of X, {n} columns side by side, rows split among the threads"));
    if is_float_ring(ring)
        && let Some(y) = float_spmm(threads, "spmm", (a.pattern, a.values), (x, n))
    {
        return y;
    }
    let work = |i: usize| ((a.pattern.row_ptr()[i] + i) as u64).saturating_mul(n as u64);
    spmm_by_formula(threads, &blocks(a.pattern.nrows(), &work)?, ring, (a.pattern, a.values), (x, n))
}

/// [`spmm`], overwriting `y`, which has as many values of the result type: in place for + and × of floats, otherwise
/// through a temporary. After [`Error::Cancelled`] some values may be new.
pub(crate) fn spmm_into(
    threads: &Threads,
    ring: &CompiledRing,
    a: Operand<'_>,
    x: (Slice<'_>, usize),
    y: &mut SliceMut<'_>,
) -> Result<()> {
    if is_float_ring(ring)
        && x.1 > 0
        && let Some(done) = float_spmm_into(threads, "spmm", (a.pattern, a.values), x, y)
    {
        return done;
    }
    y.copy_from(&spmm(threads, ring, a, x.0, x.1)?.slice());
    Ok(())
}

/// Values that one thread combines at a time.
const PART: usize = 256 * BLOCK;

/// y = y ⊙ t, elementwise.
/// # Errors
/// [`Error::OutOfMemory`], [`Error::Cancelled`]; [`Error::Unsupported`] for a formula that the CPU cannot run.
/// # Panics
/// If t has fewer values than y.
pub(crate) fn join_dense(threads: &Threads, op: &CompiledOp, y: SliceMut<'_>, t: Slice<'_>) -> Result<()> {
    let joins = super::joins(op)?;
    let mut parts = reserved(y.len().div_ceil(PART), "parts")?;
    let (mut rest, mut at) = (y, 0);
    while !rest.is_empty() {
        let n = rest.len().min(PART);
        let (part, behind) = rest.split_at(n);
        parts.push((part, t.part(at..at + n)));
        (rest, at) = (behind, at + n);
    }
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (mut y, t)| {
            joins(&mut y, &t);
            Ok(())
        },
    )
}
