//! Products with vectors, and folds, over semirings and monoids known at run time.

use std::ops::Range;

use super::blocks::{fill, fill_words};
use super::by_formula::{Fused, Operand, check, fused_sums, with_type};
use super::listed::StagedVector;
use super::staged_rows::{Rows, StagedRows, fold_rows};
use super::unfused::no_structs;
use super::{CompiledMonoid, CompiledRing, Sums};
use crate::Pattern;
use crate::Result;
use crate::algebra::words::{from_words, value, words};
use crate::algebra::{Array, Contract, Lhs, Monoid, PlusTimes, Rhs, Semiring, Slice};
use crate::par::Threads;
use crate::simd::FloatRows;
use crate::sparse::{EffectiveMask, Indices};

/// y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ … over the k where A and x both have an entry, in the order of A's row, or in that of
/// `mxv` if x is full; e if there is none. Rows outside `rows` have unspecified values.
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) if ⊗ takes other types;
/// [`Error::Unsupported`](crate::Error::Unsupported) for structs; [`Error::OutOfMemory`](crate::Error::OutOfMemory),
/// [`Error::Cancelled`](crate::Error::Cancelled).
/// # Panics
/// Those of [`StagedRows::new`].
pub(crate) fn mxv_by_formula(
    threads: &Threads,
    blocks: &[Range<usize>],
    ring: &CompiledRing,
    (a, values): (&Pattern, Slice<'_>),
    (x, of_x): (Slice<'_>, Indices<'_, u32>),
    rows: Rows<'_>,
) -> Result<Array> {
    check(ring.formula(), values.ty(), x.ty())?;
    if let (Indices::All, Some(fused)) = (of_x, ring.fused()) {
        let [f64s, f32s] = Fused::PLUS_TIMES;
        let y = match fused {
            _ if fused == f64s => float_mxv(threads, blocks, PlusTimes::<f64>::default(), (a, values), x, rows),
            _ if fused == f32s => float_mxv(threads, blocks, PlusTimes::<f32>::default(), (a, values), x, rows),
            _ => None,
        };
        if let Some(y) = y {
            return y;
        }
    }
    with_type!(ring.ty(), T => {
        let kernels = ring.unfused::<T>()?;
        let fold = kernels.fold();
        // SAFETY: ⊕ is on T, ⊗ returns T and takes the operands' types (`check`).
        let products = unsafe { StagedRows::new((a, values), (x, of_x), fold, kernels, rows) };
        let y = fill_words(threads, "mxv", blocks, &|i| i, fold.identity(), &|block, y| products.rows(block, y))?;
        // SAFETY: each word is the identity or a value of type T written by `rows`.
        Ok(Array::of(unsafe { from_words::<T>(y) }))
    }, Err(no_structs()))
}

/// [`mxv_by_formula`] with the loops of a float semiring, if the values are of its type.
fn float_mxv<R: Semiring + Contract>(
    threads: &Threads,
    blocks: &[Range<usize>],
    floats: R,
    (a, values): (&Pattern, Slice<'_>),
    x: Slice<'_>,
    rows: Rows<'_>,
) -> Option<Result<Array>> {
    let (values, x) = (values.get::<Lhs<R>>()?, x.get::<Rhs<R>>()?);
    let floats = FloatRows::new(floats)?;
    let y = fill(threads, "mxv", blocks, &|i| i, <R::Add as Monoid>::IDENTITY, &|block, y| {
        let first = block.start;
        for run in rows.ranges(block, a.row_ptr()) {
            let y = &mut y[run.start - first..run.end - first];
            floats.rows((a, values), x, run, y);
        }
    });
    Some(y.map(Array::of))
}

/// y(j) = e ⊕ x(k) ⊗ A(k, j) ⊕ … where the mask allows, as columns and sums; x has entries at the indices `ks`. The
/// strategy has the same mask.
/// # Errors
/// As for [`mxv_by_formula`].
/// # Panics
/// If there is not one value per entry.
pub(crate) fn sums_by_formula(
    ring: &CompiledRing,
    (ks, xs): (&[u32], Slice<'_>),
    a: Operand<'_>,
    mask: Option<EffectiveMask<'_, u32>>,
    strategy: &impl Sums<u32>,
) -> Result<(Vec<u32>, Array)> {
    check(ring.formula(), xs.ty(), a.values.ty())?;
    if let Some(sums) = fused_sums(ring, (ks, xs), a, mask, strategy) {
        return sums;
    }
    with_type!(ring.ty(), T => {
        let kernels = ring.unfused::<T>()?;
        // SAFETY: as above.
        let products = unsafe { StagedVector::new((ks, xs), (a.pattern, a.values), kernels.fold(), kernels, mask) };
        let (columns, sums) = strategy.make(&products)?;
        // SAFETY: 1. `make` has no words but copies of those that the kernel returned or wrote (`Sums`); 2. these are
        // values of type T.
        Ok((columns, Array::of(unsafe { from_words::<T>(sums) })))
    }, Err(no_structs()))
}

/// y(i) = e ⊕ x(p) ⊕ … over the p of `starts[i]..starts[i + 1]`, in order.
/// # Errors
/// As for [`mxv_by_formula`].
/// # Panics
/// If `starts` is not increasing, or exceeds the values.
pub(crate) fn folds_by_formula(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    monoid: &CompiledMonoid,
    starts: &[usize],
    x: Slice<'_>,
) -> Result<Array> {
    with_type!(monoid.ty(), T => {
        let (fold, Some(x)) = (monoid.fold::<T>()?, x.get::<T>()) else { return Err(no_structs()) };
        let x = words(x);
        let y = fill_words(threads, op, blocks, &|i| i, fold.identity(), &|rows, y| fold_rows(fold, starts, x, rows, y))?;
        // SAFETY: each word is the identity or a fold of values of type T.
        Ok(Array::of(unsafe { from_words::<T>(y) }))
    }, Err(no_structs()))
}

/// e ⊕ (e ⊕ x(0) ⊕ x(1) ⊕ …), on the calling thread, as an array of one; e if there are no values.
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) for structs.
pub(crate) fn fold_by_formula(monoid: &CompiledMonoid, x: Slice<'_>) -> Result<Array> {
    with_type!(monoid.ty(), T => {
        let (fold, Some(x)) = (monoid.fold::<T>()?, x.get::<T>()) else { return Err(no_structs()) };
        let y = if x.is_empty() { fold.identity() } else { fold.folded(&[fold.folded(words(x))]) };
        // SAFETY: a fold of values of type T.
        Ok(Array::of(vec![unsafe { value::<T>(y) }]))
    }, Err(no_structs()))
}
