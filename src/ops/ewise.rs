//! C = A ∘ B, entry by entry, on the union or the intersection of two patterns.
//!
//! Rows of C are counted from the patterns, then filled, both by merging two sorted rows.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::blocks::{AppendRows, blocks, fill_rows};
use super::in_order;
use crate::algebra::{BinaryOp, Host, V, Value};
use crate::kernels::fill;
use crate::par::Threads;
use crate::sparse::count_rows;
use crate::{Csr, Error, Index, Pattern, Result};

/// `C(i, j) = A(i, j) ∘ B(i, j)` where both have an entry; where one has, C(i, j) is that entry. Rows sorted.
///
/// Shapes: all m×n. Cost: O(m + nnz(A) + nnz(B)) time, nothing beside the result; an operand whose rows are not sorted
/// is sorted first. Matrices that share one pattern give a result that shares it too.
/// # Errors
/// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Cancelled`].
/// # Example
/// ```
/// use sparring::{Csr, algebra::Plus, ops::ewise_union, par::Threads};
/// let a = Csr::<f64>::new(1, 3, vec![0, 2], vec![0, 1], vec![1.0, 2.0])?;
/// let b = Csr::<f64>::new(1, 3, vec![0, 2], vec![1, 2], vec![10.0, 20.0])?;
/// let c = ewise_union(&Threads::current(), Plus::new(), &a, &b)?;
/// assert_eq!(c.row(0), (&[0, 1, 2][..], &[1.0, 12.0, 20.0][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn ewise_union<T: Value, O: BinaryOp<A = T, B = T, Out = T>, I: Index>(
    threads: &Threads,
    op: O,
    a: &Csr<T, I>,
    b: &Csr<T, I>,
) -> Result<Csr<T, I>> {
    check_shapes("ewise_add", a.pattern(), b.pattern())?;
    let (a, b) = (&*in_order(threads, a)?, &*in_order(threads, b)?);
    if Arc::ptr_eq(a.pattern(), b.pattern()) {
        return on_one_pattern(threads, "ewise_add", op, a, b);
    }
    let append = |rows: Range<usize>, cols: &mut Vec<I>, values: &mut Vec<T>| {
        for i in rows {
            let ((ja, xa), (jb, xb)) = (a.row(i), b.row(i));
            let (mut p, mut q) = (0, 0);
            while p < ja.len() && q < jb.len() {
                let (j, x, (da, db)) = match ja[p].cmp(&jb[q]) {
                    Ordering::Less => (ja[p], xa[p], (1, 0)),
                    Ordering::Greater => (jb[q], xb[q], (0, 1)),
                    Ordering::Equal => (ja[p], op.apply::<Host>(V(xa[p]), V(xb[q])).0, (1, 1)),
                };
                cols.push(j);
                values.push(x);
                (p, q) = (p + da, q + db);
            }
            cols.extend_from_slice(&ja[p..]);
            values.extend_from_slice(&xa[p..]);
            cols.extend_from_slice(&jb[q..]);
            values.extend_from_slice(&xb[q..]);
        }
    };
    let union = |na: usize, nb: usize, common: usize| na + nb - common;
    merge(threads, "ewise_add", a.pattern(), b.pattern(), &union, &append)
}

/// `C(i, j) = A(i, j) ∘ B(i, j)` where both have an entry; rows sorted.
///
/// Shapes: all m×n; the types of the entries may differ. Cost and patterns as for [`ewise_union`].
/// # Errors
/// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Cancelled`].
/// # Example
/// ```
/// use sparring::{Csr, algebra::Times, ops::ewise_intersection, par::Threads};
/// let a = Csr::<f64>::new(1, 3, vec![0, 2], vec![0, 1], vec![1.0, 2.0])?;
/// let b = Csr::<f64>::new(1, 3, vec![0, 2], vec![1, 2], vec![10.0, 20.0])?;
/// let c = ewise_intersection(&Threads::current(), Times::new(), &a, &b)?;
/// assert_eq!(c.row(0), (&[1][..], &[20.0][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn ewise_intersection<O: BinaryOp, I: Index>(
    threads: &Threads,
    op: O,
    a: &Csr<O::A, I>,
    b: &Csr<O::B, I>,
) -> Result<Csr<O::Out, I>> {
    check_shapes("ewise_mult", a.pattern(), b.pattern())?;
    let (a, b) = (&*in_order(threads, a)?, &*in_order(threads, b)?);
    if Arc::ptr_eq(a.pattern(), b.pattern()) {
        return on_one_pattern(threads, "ewise_mult", op, a, b);
    }
    let append = |rows: Range<usize>, cols: &mut Vec<I>, values: &mut Vec<O::Out>| {
        for i in rows {
            let ((ja, xa), (jb, xb)) = (a.row(i), b.row(i));
            each_common(ja, jb, |p, q| {
                cols.push(ja[p]);
                values.push(op.apply::<Host>(V(xa[p]), V(xb[q])).0);
            });
        }
    };
    merge(threads, "ewise_mult", a.pattern(), b.pattern(), &|_, _, common| common, &append)
}

fn check_shapes<I: Index>(op: &'static str, a: &Pattern<I>, b: &Pattern<I>) -> Result<()> {
    if a.shape() == b.shape() { Ok(()) } else { Err(Error::Shape { op, lhs: a.shape(), rhs: b.shape() }) }
}

/// Matrices that share a pattern: values alone.
fn on_one_pattern<O: BinaryOp, I: Index>(
    threads: &Threads,
    name: &'static str,
    op: O,
    a: &Csr<O::A, I>,
    b: &Csr<O::B, I>,
) -> Result<Csr<O::Out, I>> {
    let (x, y) = (a.values(), b.values());
    let (Some(&first), Some(&other)) = (x.first(), y.first()) else {
        return Csr::with_pattern(Arc::clone(a.pattern()), Vec::new());
    };
    let (blocks, first) = (blocks(x.len(), &|p| p as u64), op.apply::<Host>(V(first), V(other)).0);
    let values = fill(threads, name, &blocks, &|p| p, first, &|block, c| {
        for ((c, &x), &y) in c.iter_mut().zip(&x[block.clone()]).zip(&y[block]) {
            *c = op.apply::<Host>(V(x), V(y)).0;
        }
    })?;
    Csr::with_pattern(Arc::clone(a.pattern()), values)
}

/// Calls `f(p, q)` for the positions of each column that two sorted rows share, in order.
#[inline(always)]
fn each_common<I: Index>(a: &[I], b: &[I], mut f: impl FnMut(usize, usize)) {
    let (mut p, mut q) = (0, 0);
    while p < a.len() && q < b.len() {
        match a[p].cmp(&b[q]) {
            Ordering::Less => p += 1,
            Ordering::Greater => q += 1,
            Ordering::Equal => {
                f(p, q);
                (p, q) = (p + 1, q + 1);
            }
        }
    }
}

/// The matrix whose rows `append` appends, row i with `len(nnz(A(i)), nnz(B(i)), common)` entries.
fn merge<T: Value, I: Index>(
    threads: &Threads,
    op: &'static str,
    a: &Pattern<I>,
    b: &Pattern<I>,
    len: &(dyn Fn(usize, usize, usize) -> usize + Sync),
    append: &AppendRows<'_, T, I>,
) -> Result<Csr<T, I>> {
    let row_ptr = count(threads, a, b, len)?;
    let blocks = blocks(a.nrows(), &|i| work_before(a, b, i));
    let (cols, values) = fill_rows(threads, op, &blocks, &row_ptr, append)?;
    Csr::with_pattern(Arc::new(Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true)), values)
}

/// Row pointers of C.
fn count<I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    b: &Pattern<I>,
    len: &(dyn Fn(usize, usize, usize) -> usize + Sync),
) -> Result<Vec<usize>> {
    let of_row = |(): &mut (), i| {
        let mut common = 0;
        each_common(a.row(i), b.row(i), |_, _| common += 1);
        Ok(len(a.row(i).len(), b.row(i).len(), common))
    };
    count_rows(threads, a.nrows(), |i| work_before(a, b, i), || Ok(()), of_row)
}

fn work_before<I: Index>(a: &Pattern<I>, b: &Pattern<I>, i: usize) -> u64 {
    a.row_ptr()[i] as u64 + b.row_ptr()[i] as u64 + i as u64
}
