//! The entries of a matrix that a mask allows, and the value mask of a matrix.

use std::ops::Range;
use std::sync::Arc;

use super::blocks::{blocks, fill_rows, in_order};
use crate::algebra::words::{Fold, Moves, moved};
use crate::algebra::{Num, Value, Word, precompiled};
use crate::par::Threads;
use crate::sparse::count_rows;
use crate::{Csr, Error, Index, Pattern, Result};

/// The entries of A in the mask, or with `complement` those outside it; rows sorted.
///
/// Shapes: both m×n. Cost: O(m + nnz(A) + nnz(M)) time, no memory beyond the result.
/// # Errors
/// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn apply_mask<T: Value, I: Index>(
    threads: &Threads,
    a: &Csr<T, I>,
    mask: &Pattern<I>,
    complement: bool,
) -> Result<Csr<T, I>> {
    let a = &*in_order(threads, a)?;
    let sorted;
    let mask = if mask.is_sorted() {
        mask
    } else {
        sorted = mask.sorted(threads)?;
        &sorted
    };
    let moves = ApplyMask { threads, a: a.pattern(), mask, complement };
    let (pattern, values) = moved(moves, a.values(), None::<fn(T, T) -> T>)?;
    Csr::with_pattern(Arc::new(pattern), values)
}

struct ApplyMask<'a, I: Index> {
    threads: &'a Threads,
    a: &'a Pattern<I>,
    mask: &'a Pattern<I>,
    complement: bool,
}
impl<I: Index> Moves for ApplyMask<'_, I> {
    type Structure = Pattern<I>;
    fn run<W: Word>(self, values: &[W], _: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        let Self { threads, a, mask, complement } = self;
        let make: Make<W, I> = precompiled!(word apply_mask_values: Make<W, I>);
        make(threads, a, values, mask, complement)
    }
}
type Make<W, I> = fn(&Threads, &Pattern<I>, &[W], &Pattern<I>, bool) -> Result<(Pattern<I>, Vec<W>)>;

/// [`apply_mask`] on words; rows are sorted.
pub(crate) fn apply_mask_values<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    values: &[T],
    mask: &Pattern<I>,
    complement: bool,
) -> Result<(Pattern<I>, Vec<T>)> {
    if a.shape() != mask.shape() {
        return Err(Error::Shape { op: "mask", lhs: a.shape(), rhs: mask.shape() });
    }
    let work = |i: usize| (a.row_ptr()[i] + mask.row_ptr()[i] + i) as u64;
    let row_ptr = count_rows(
        threads,
        a.nrows(),
        work,
        || Ok(()),
        |(): &mut (), i| {
            let mut n = 0;
            each_allowed(a.row(i), mask.row(i), complement, |_| n += 1);
            Ok(n)
        },
    )?;
    let append = |rows: Range<usize>, cols: &mut Vec<I>, to: &mut Vec<T>| {
        for i in rows {
            let (js, xs) = (a.row(i), &values[a.row_ptr()[i]..a.row_ptr()[i + 1]]);
            each_allowed(js, mask.row(i), complement, |p| {
                cols.push(js[p]);
                to.push(xs[p]);
            });
        }
    };
    let (cols, values) = fill_rows(threads, "mask", &blocks(a.nrows(), &work)?, &row_ptr, &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}

/// Calls `f` with the position of each sorted column that is in the sorted mask, or with `complement` not in it.
#[inline(always)]
fn each_allowed<I: Index>(cols: &[I], mask: &[I], complement: bool, mut f: impl FnMut(usize)) {
    let mut q = 0;
    for (p, j) in cols.iter().enumerate() {
        while mask.get(q).is_some_and(|m| m < j) {
            q += 1;
        }
        if (mask.get(q) == Some(j)) != complement {
            f(p);
        }
    }
}

/// The pattern of the nonzero values of A.
pub(crate) fn nonzero<T: Num, I: Index>(threads: &Threads, a: &Csr<T, I>) -> Result<Arc<Pattern<I>>> {
    if a.values().iter().all(|x| *x != T::ZERO) {
        return Ok(Arc::clone(a.pattern()));
    }
    Ok(Arc::clone(a.select(threads, |_, _, x| *x != T::ZERO)?.pattern()))
}
