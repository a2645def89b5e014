//! Products over a semiring that is known at run time.

use super::check_factors;
use crate::algebra::Value;
use crate::kernels::{CompiledRing, Entries, mttkrp_by_formula};
use crate::par::{Threads, order_by};
use crate::tensor::{Tensor, check_mode};
use crate::{Dense, Error, Index, Result};

/// `V(i, r) = ⊕ x ⊗ A₁(i₁, r) ⊗ …` for `mode`, ⊗ from left to right in the order of the modes, ⊕ in the order in which
/// the entries of a row come. The factor of `mode` is not read.
/// # Errors
/// [`Error::Dims`], [`Error::Shape`], [`Error::Argument`] as for the product by types; [`Error::Unsupported`] if the
/// semiring is not on values of this type, or reads places; [`Error::Budget`], [`Error::OutOfMemory`],
/// [`Error::Cancelled`].
pub(crate) fn mttkrp_any<T: Value, I: Index>(
    threads: &Threads,
    ring: &CompiledRing,
    x: &Tensor<T, I>,
    factors: &[Dense<T>],
    mode: usize,
    budget: Option<u64>,
) -> Result<Dense<T>> {
    check_mode(x.order(), "mode", mode)?;
    let rank = factors.iter().enumerate().find(|(m, _)| *m != mode).or(factors.iter().enumerate().next());
    let rank = rank.map_or(0, |(_, f)| f.ncols());
    let rows = x.dims()[mode];
    check_factors(x.dims(), factors, mode, (rows, rank))?;
    let own = rows as u128 * rank as u128 * size_of::<T>() as u128;
    let bytes = own + x.nnz() as u128 * size_of::<I>() as u128 + (rows as u128 + 1) * size_of::<usize>() as u128;
    if let Some(budget) = budget.filter(|&budget| bytes > budget.into()) {
        return Err(Error::Budget { what: "mttkrp", bytes, budget: budget.into() });
    }
    if !crate::par::enough(bytes) {
        return Err(Error::OutOfMemory { what: "mttkrp", bytes });
    }
    if x.nnz() > I::MAX_LEN {
        let (needed, max) = (x.nnz() as u128, I::MAX_LEN as u128);
        return Err(Error::IndexOverflow { what: "number of entries", needed, max });
    }
    let (ptr, order) = order_by::<I, I>(threads, x.indices(mode), rows)?;
    let others = || (0..x.order()).filter(|&m| m != mode);
    let indices: Vec<&[I]> = others().map(|m| x.indices(m)).collect();
    let values: Vec<&[T]> = others().map(|m| factors[m].values()).collect();
    let entries = Entries { ptr: &ptr, order: &order, indices: &indices };
    let v = mttkrp_by_formula(threads, ring, entries, x.values(), &values, rank)?;
    Dense::new(rows, rank, v)
}
