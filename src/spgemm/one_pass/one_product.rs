//! Products with a diagonal, permutation or selection matrix: each entry of C is one product.
//!
//! Where no row of A has two entries, rows of C are rows of B. Where A or B is a full diagonal, C has the pattern of
//! the other.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::algebra::Word;
use crate::kernels::OneByOne;
use crate::par::{OutputSlice, Threads, UninitOutput, try_split};
use crate::sparse::accumulate;
use crate::{Index, Pattern, Result};

/// Approximate rows and entries of a task.
const TASK: usize = 1 << 14;

/// The structure of the factors that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factors {
    /// A is a full diagonal.
    DiagonalA,
    /// B is a full diagonal.
    DiagonalB,
    /// No row of A has two entries.
    RowsOfB,
}

/// The case that applies to A·B, if any; its rows must be sorted if `in_order`. Cost: O(1) where factors have more
/// entries than rows, else at most O(rows).
pub(super) fn suits<I: Index>(a: &Pattern<I>, b: &Pattern<I>, in_order: bool) -> Option<Factors> {
    let short = |a: &Pattern<I>| a.nnz() <= a.nrows() && a.row_ptr().windows(2).all(|ends| ends[1] - ends[0] <= 1);
    let allows = |c: &Pattern<I>| !in_order || c.is_sorted();
    if allows(b) && is_diagonal(a) {
        return Some(Factors::DiagonalA);
    }
    if allows(a) && is_diagonal(b) {
        return Some(Factors::DiagonalB);
    }
    (allows(b) && short(a)).then_some(Factors::RowsOfB)
}

/// Whether the matrix is square with exactly the entries (i, i).
fn is_diagonal<I: Index>(a: &Pattern<I>) -> bool {
    a.nrows() == a.ncols()
        && a.nnz() == a.nrows()
        && a.col_idx().iter().zip(0..).all(|(j, i)| j.get() == i)
        && a.row_ptr().iter().zip(0..).all(|(end, i)| *end == i)
}

/// C's structure and values. Cost: O(rows + flops) time, no memory besides C.
pub(super) fn product<W: Word, I: Index>(
    threads: &Threads,
    products: &dyn OneByOne<W, I>,
    by: Factors,
) -> Result<(Arc<Pattern<I>>, Vec<W>)> {
    let (a, b) = products.patterns();
    let (of_a, c) = match by {
        Factors::DiagonalA => (false, b),
        Factors::DiagonalB => (true, a),
        Factors::RowsOfB => return rows_of_b(threads, products),
    };
    let tasks = tasks(c.row_ptr())?;
    let values = UninitOutput::new(c.nnz(), "values of C")?.fill(
        threads,
        "mxm",
        tasks.len(),
        |t| starts(&tasks, c.row_ptr(), t),
        || Ok(()),
        |(), t, values: &mut OutputSlice<'_, W>| {
            let rows = tasks[t].clone();
            if of_a {
                products.rows_of_a(rows, values)
            } else {
                products.rows_of_b(rows, None, values)
            }
            Ok(())
        },
    )?;
    Ok((Arc::clone(c), values))
}

fn rows_of_b<W: Word, I: Index>(threads: &Threads, products: &dyn OneByOne<W, I>) -> Result<(Arc<Pattern<I>>, Vec<W>)> {
    let (a, b) = products.patterns();
    let nrows = a.nrows();
    // Lengths shifted by one row, as `accumulate` expects.
    let even = |t: usize| (t * TASK).min(nrows + 1);
    let mut row_ptr = UninitOutput::new(nrows.saturating_add(1), "row pointers of C")?.fill(
        threads,
        "count",
        nrows / TASK + 1,
        even,
        || Ok(()),
        |(), t, lens| {
            for (i, len) in lens.rest(0).iter_mut().enumerate() {
                let i = even(t) + i;
                *len = if i == 0 { 0 } else { a.row(i - 1).first().map_or(0, |k| b.row(k.get()).len()) };
            }
            Ok(())
        },
    )?;
    accumulate(threads, &mut row_ptr)?;
    let (nnz, tasks) = (row_ptr[nrows], tasks(&row_ptr)?);
    let sorted = AtomicBool::new(true);
    let (cols, values) = UninitOutput::new(nnz, "columns of C")?.fill_with(
        UninitOutput::new(nnz, "values of C")?,
        threads,
        "mxm",
        tasks.len(),
        |t| starts(&tasks, &row_ptr, t),
        || Ok(()),
        |(), t, cols, values| {
            // An unsorted B may still contribute only sorted rows.
            let is_sorted = |i: usize| a.row(i).iter().all(|k| b.row(k.get()).is_sorted());
            if !b.is_sorted() && sorted.load(Ordering::Relaxed) && !tasks[t].clone().all(is_sorted) {
                sorted.store(false, Ordering::Relaxed);
            }
            products.rows_of_b(tasks[t].clone(), Some(cols), values);
            Ok(())
        },
    )?;
    Ok((Arc::new(Pattern::from_parts(nrows, b.ncols(), row_ptr, cols, sorted.into_inner())), values))
}

/// Rows of C in parts of about equal work.
fn tasks(row_ptr: &[usize]) -> Result<Vec<Range<usize>>> {
    let (nrows, nnz) = (row_ptr.len() - 1, row_ptr.last().copied().unwrap_or(0));
    try_split(nrows, ((nnz + nrows) / TASK).max(1), |i| (row_ptr[i] + i) as u64)
}

/// Offset of the first entry of task `t`.
fn starts(tasks: &[Range<usize>], row_ptr: &[usize], t: usize) -> usize {
    row_ptr[tasks.get(t).map_or(row_ptr.len() - 1, |rows| rows.start)]
}
