//! Permuted entries: u(I), `w(I) = u`, diagonals, and matrices built from entries in any order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::super::diagonal::{diagonal_entries, diagonal_of, diagonal_pattern};
use super::super::extract::extract_positions;
use super::entries::gathered;
use super::vector::{AnyVector, View};
use crate::algebra::{Array, Input, Slice};
use crate::kernels::{BLOCK, CompiledOp, Operand};
use crate::par::{Threads, collected, reserved};
use crate::sparse::IndexList;
use crate::{Coo, Error, Index, Pattern, Result};

/// w(p) = u(I(p)) where u has an entry there.
///
/// Cost: O(|I|), times a binary search if u is a list.
/// # Errors
/// [`Error::ListIndex`]; [`Error::IndexOverflow`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn extract_vector(threads: &Threads, u: View<'_>, list: &IndexList) -> Result<AnyVector> {
    let (indices, positions) = extract_positions(list, u.len(), |i| u.pattern().find(i))?;
    let values = gathered(threads, "extract", u.values(), &positions)?;
    Ok(AnyVector::list(list.len(u.len()), indices, values))
}

/// Pairs of an entry's index in `w(I) = u` and its position in u, sorted by index; equal indices keep the order of u.
fn index_pairs(u: &[u32], list: &IndexList, (of_u, len): (usize, usize)) -> Result<Vec<(u32, u32)>> {
    let list = list.check("indices", len)?;
    if list.len() != of_u {
        return Err(Error::Shape { op: "assign", lhs: (list.len(), 1), rhs: (of_u, 1) });
    }
    if len > u32::MAX_LEN {
        return Err(Error::IndexOverflow {
            what: "indices of a vector",
            needed: len as u128,
            max: u32::MAX_LEN as u128,
        });
    }
    let pairs = u.iter().zip(0..).map(|(&i, p)| (u32::cast(list.at(i as usize)), p));
    let mut pairs: Vec<(u32, u32)> = collected(u.len(), pairs, "indices of an assign")?;
    if !pairs.is_sorted_by(|x, y| x.0 < y.0) {
        pairs.sort_unstable();
    }
    Ok(pairs)
}

/// T(I(p)) = u(p), of length `len`.
///
/// Cost: O(|I| + nnz(u)); plus sorting if I is unsorted.
/// # Errors
/// [`Error::Shape`] unless u has length |I|; [`Error::ListIndex`], [`Error::RepeatedIndex`];
/// [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn place_vector(threads: &Threads, u: View<'_>, list: &IndexList, len: usize) -> Result<AnyVector> {
    list.check("indices", len)?.no_repeats("indices")?;
    let (indices, values) = u.entries(threads)?;
    let pairs = index_pairs(&indices, list, (u.len(), len))?;
    let (indices, values) = in_order(threads, &pairs, &values)?;
    Ok(AnyVector::list(len, indices, values))
}

/// T(i) = u(p) ⊕ u(q) ⊕ … over the p, q, … with I(p) = I(q) = … = i, in order, of length `len`.
///
/// Cost: as for [`place_vector`].
/// # Errors
/// As for [`place_vector`], without [`Error::RepeatedIndex`].
pub(crate) fn scatter_fold(
    threads: &Threads,
    u: View<'_>,
    list: &IndexList,
    len: usize,
    dup: &CompiledOp,
) -> Result<AnyVector> {
    let (indices, values) = u.entries(threads)?;
    let pairs = index_pairs(&indices, list, (u.len(), len))?;
    let (mut indices, values) = in_order(threads, &pairs, &values)?;
    let mut starts = reserved(indices.len() + 1, "parts of a fold")?;
    starts.extend((0..indices.len()).filter(|&p| p == 0 || indices[p - 1] != indices[p]));
    indices.dedup();
    starts.push(values.len());
    Ok(AnyVector::list(len, indices, fold_groups(threads, dup, &starts, values.slice())?))
}

/// Left folds x ⊕ y ⊕ … of groups of the values in the order `order`. The groups begin at `starts`, whose last element
/// is the end of the last group.
/// # Errors
/// [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn summed_groups(
    threads: &Threads,
    op: &CompiledOp,
    starts: &[usize],
    values: Slice<'_>,
    order: &[usize],
) -> Result<Array> {
    fold_groups(threads, op, starts, gathered(threads, "fold of repeats", values, order)?.slice())
}

/// Left folds x ⊕ y ⊕ … of groups of values. The groups begin at `starts`, whose last element is the end of the last
/// group. ⊕ is on one type, and need not have an identity.
fn fold_groups(threads: &Threads, op: &CompiledOp, starts: &[usize], values: Slice<'_>) -> Result<Array> {
    let groups = starts.len().saturating_sub(1);
    let mut folded = gathered(threads, "fold of repeats", values, &starts[..groups])?;
    let len = |g: usize| starts[g + 1] - starts[g];
    let mut open = collected(groups, (0..groups).filter(|&g| len(g) > 1), "groups of repeats")?;
    if open.is_empty() {
        return Ok(folded);
    }
    let (mut sums, evaluator) = (Array::zeros(op.ty(), BLOCK)?, op.evaluator()?);
    evaluator.with(|blocks, workspace| {
        // Round t folds in value t of every group that has one: sequential within a group, vectorized across groups.
        for t in 1.. {
            if open.is_empty() {
                break;
            }
            for groups in open.chunks(BLOCK) {
                let ([x, y], n) = (&mut workspace.operands, groups.len());
                x.slice_mut().part(0..n).gather(&folded.slice(), groups.iter().copied());
                y.slice_mut().part(0..n).gather(&values, groups.iter().map(|&g| starts[g] + t));
                let inputs = [Input::Values(x.slice().part(0..n)), Input::Values(y.slice().part(0..n))];
                blocks.run_trusted(&inputs, &mut workspace.scratch, &mut sums.slice_mut().part(0..n));
                folded.slice_mut().scatter(&sums.slice().part(0..n), groups.iter().copied());
            }
            open.retain(|&g| len(g) > t + 1);
        }
    });
    Ok(folded)
}

/// The matrix of these entries (i, j, x), in any order. Duplicates are combined by ⊕ in the given order, or are an
/// error without it.
///
/// Cost: O(nrows + entries), plus sorting of unsorted rows.
/// # Errors
/// [`Error::Duplicate`]; those of [`Coo::new`]; [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn build(
    threads: &Threads,
    (nrows, ncols): (usize, usize),
    (rows, cols): (Vec<u32>, Vec<u32>),
    values: Slice<'_>,
    dup: Option<&CompiledOp>,
) -> Result<(Arc<Pattern>, Array)> {
    let n = values.len();
    if n > u32::MAX_LEN {
        return Err(Error::IndexOverflow { what: "entries of a build", needed: n as u128, max: u32::MAX_LEN as u128 });
    }
    // A chain of duplicates is its first and last position; `next` links each entry to the following one.
    let chain = |first: u64, last: u64| first << 32 | last;
    let next = collected(n, std::iter::repeat_with(|| AtomicU32::new(u32::MAX)).take(n), "chains of repeats")?;
    let join = |x: u64, y: u64| {
        next[(x & u64::from(u32::MAX)) as usize].store((y >> 32) as u32, Relaxed);
        chain(x >> 32, y & u64::from(u32::MAX))
    };
    let chains = collected(n, (0..n as u64).map(|p| chain(p, p)), "positions")?;
    let coo = Coo::<u64>::new(nrows, ncols, rows, cols, chains)?;
    let made = coo.compress(threads, dup.map(|_| join))?;
    let made = made.compressed()?;
    let mut order = reserved(n, "positions")?;
    let mut starts = reserved(made.nnz() + 1, "groups of repeats")?;
    for &chain in made.values() {
        starts.push(order.len());
        let (mut p, last) = ((chain >> 32) as u32, chain as u32);
        order.push(p as usize);
        while p != last {
            p = next[p as usize].load(Relaxed);
            order.push(p as usize);
        }
    }
    starts.push(order.len());
    let values = gathered(threads, "build", values, &order)?;
    let values = match dup {
        Some(dup) => fold_groups(threads, dup, &starts, values.slice())?,
        None => values,
    };
    Ok((Arc::clone(made.pattern()), values))
}

fn in_order(threads: &Threads, pairs: &[(u32, u32)], values: &Array) -> Result<(Vec<u32>, Array)> {
    let positions = collected(pairs.len(), pairs.iter().map(|pair| pair.1 as usize), "positions")?;
    let indices = collected(pairs.len(), pairs.iter().map(|pair| pair.0), "indices")?;
    Ok((indices, gathered(threads, "assign", values.slice(), &positions)?))
}

/// The diagonal k of a matrix, above the main one for k > 0: w(p) = A(p, p + k), or A(p − k, p) for k < 0.
///
/// Cost: O(length of the diagonal) binary searches of its sorted rows.
/// # Errors
/// [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn diagonal(threads: &Threads, a: Operand<'_>, k: i64) -> Result<AnyVector> {
    let (indices, positions) = diagonal_entries(a.pattern, k)?;
    let values = gathered(threads, "diagonal", a.values, &positions)?;
    Ok(AnyVector::list(diagonal_of(a.pattern.shape(), k).1, indices, values))
}

/// The square matrix whose diagonal k is v: n + |k| rows for length n.
///
/// Cost: O(n + |k|).
/// # Errors
/// [`Error::IndexOverflow`] for too many columns; [`Error::OutOfMemory`].
pub(crate) fn diagonal_matrix(threads: &Threads, v: View<'_>, k: i64) -> Result<(Arc<Pattern>, Array)> {
    let (indices, values) = v.entries(threads)?;
    Ok((Arc::new(diagonal_pattern(v.len(), indices, k)?), values))
}
