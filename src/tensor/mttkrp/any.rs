//! MTTKRP over a semiring chosen at run time.

use crate::algebra::{Array, Slice, Type};
use crate::kernels::{CompiledRing, Entries, Lists, mttkrp_by_formula};
use crate::par::{Threads, note, order_by};
use crate::tensor::{Pattern, check_mode};
use crate::{Error, Index, Result};

/// `V(i, r) = ⊕ x ⊗ A₁(i₁, r) ⊗ …` for `mode`: ⊗ from left to right in the order of the modes, ⊕ in the stored order of
/// the entries of a row. Factors are row-major with `rank` columns; the factor of `mode` is not read.
/// # Errors
/// [`Error::Dims`], [`Error::Argument`] as for the statically typed product; [`Error::Length`] if a factor has not one
/// row for each index of its mode; [`Error::Unsupported`] if the semiring has values of another type or uses indices;
/// [`Error::Budget`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn mttkrp_any<I: Index>(
    threads: &Threads,
    ring: &CompiledRing,
    (pattern, x): (Pattern<'_, I>, Slice<'_>),
    (factors, rank): (&[Slice<'_>], usize),
    mode: usize,
    budget: Option<u64>,
) -> Result<Array> {
    check_any_factors((pattern.dims, rank), factors.iter().map(|f| (f.ty(), f.len())), x.ty(), mode)?;
    let (rows, n) = (pattern.dims[mode], pattern.nnz());
    let own = rows as u128 * rank as u128 * x.ty().size() as u128;
    let bytes = own + n as u128 * size_of::<I>() as u128 + (rows as u128 + 1) * size_of::<usize>() as u128;
    if let Some(budget) = budget.filter(|&budget| bytes > budget.into()) {
        return Err(Error::Budget { what: "mttkrp", bytes, budget: budget.into() });
    }
    if !crate::par::enough(bytes) {
        return Err(Error::OutOfMemory { what: "mttkrp", bytes });
    }
    if n > I::MAX_LEN {
        let (needed, max) = (n as u128, I::MAX_LEN as u128);
        return Err(Error::IndexOverflow { what: "number of entries", needed, max });
    }
    let (ptr, order) = order_by::<I, I>(threads, &pattern.indices[mode], rows)?;
    let others = || (0..pattern.dims.len()).filter(|&m| m != mode);
    let indices: Vec<&[I]> = others().map(|m| &pattern.indices[m][..]).collect();
    let factors: Vec<Slice<'_>> = others().map(|m| factors[m]).collect();
    note(|| {
        "  a permutation of the entries, then ⊗ of blocks of columns and ⊕ of each: the semiring is known at run time"
            .into()
    });
    let entries = Entries { ptr: &ptr, indices: &Lists { order: &order, indices: &indices } };
    mttkrp_by_formula(threads, ring, entries, x, &factors, rank)
}

/// Checks that each factor, given by its type and number of values, has this type, `rank` columns and one row for each
/// index of its mode.
/// # Errors
/// As [`mttkrp_any`].
pub(crate) fn check_any_factors(
    (dims, rank): (&[usize], usize),
    factors: impl ExactSizeIterator<Item = (Type, usize)>,
    ty: Type,
    mode: usize,
) -> Result<()> {
    check_mode(dims.len(), "mode", mode)?;
    if factors.len() != dims.len() {
        return Err(Error::Length { what: "factors", found: factors.len(), expected: dims.len() });
    }
    for (m, (of, found)) in factors.enumerate().filter(|(m, _)| *m != mode) {
        if of != ty {
            let message = format!("values of the tensor are {ty}, those of factor {m} are {of}");
            return Err(Error::Argument { name: "factors", message });
        }
        let (needed, max) = (dims[m] as u128 * rank as u128, isize::MAX as u128);
        let expected =
            dims[m].checked_mul(rank).ok_or(Error::IndexOverflow { what: "values of a factor", needed, max })?;
        if found != expected {
            return Err(Error::Length { what: "values of a factor", found, expected });
        }
    }
    Ok(())
}
