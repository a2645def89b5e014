//! The entries of a matrix that an operator keeps.

use std::ops::Range;
use std::sync::Arc;

use super::blocks::{append_rows, in_order, row_blocks, stretch};
use crate::algebra::{Constant, Formula, Host, IndexUnaryOp, Place, V, Value};
use crate::kernels::fill;
use crate::par::Threads;
use crate::{Csr, Index, Pattern, Result};

/// The entries of A for which `f(A(i, j), i, j, s)` holds; rows sorted.
///
/// Cost: O(nrows + nnz) time, one byte per entry beside the result; a matrix whose rows are not sorted is sorted first.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn select<O: IndexUnaryOp<Out = bool>, I: Index>(
    threads: &Threads,
    op: O,
    a: &Csr<O::A, I>,
    s: O::S,
) -> Result<Csr<O::A, I>> {
    let a = &*in_order(threads, a)?;
    let row_ptr = a.row_ptr();
    let kept = fill(threads, "select", &row_blocks(a.pattern())?, &|i| row_ptr[i], false, &|rows, kept| {
        let mut kept = kept.iter_mut();
        for i in rows {
            let (js, values) = a.row(i);
            for ((&j, &x), kept) in js.iter().zip(values).zip(&mut kept) {
                let at = Place { i: V(i as u64), j: V(j.get() as u64) };
                *kept = op.apply::<Host>(V(x), V(s), at).0;
            }
        }
    })?;
    keep(threads, a, &kept)
}

/// The entries whose flag is set.
fn keep<T: Value, I: Index>(threads: &Threads, a: &Csr<T, I>, kept: &[bool]) -> Result<Csr<T, I>> {
    let (c, values) = keep_values(threads, a.pattern(), a.values(), kept)?;
    Csr::with_pattern(Arc::new(c), values)
}

/// Flags that are looked at together.
const CHUNK: usize = 8;

/// [`keep`], for values or for words.
pub(crate) fn keep_values<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    values: &[T],
    kept: &[bool],
) -> Result<(Pattern<I>, Vec<T>)> {
    let ptr = a.row_ptr();
    let Some(&first) = values.first() else { return Ok((a.clone(), Vec::new())) };
    let append = |rows: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, to: &mut Vec<T>| {
        let mut n = 0;
        for (i, len) in rows.clone().zip(lens) {
            *len = kept[ptr[i]..ptr[i + 1]].iter().map(|&keep| usize::from(keep)).sum();
            n += *len;
        }
        // What is not kept is written over: no branch to be guessed. Columns and values of none that is kept are not read.
        stretch(cols, n + 1, I::default(), "a block of rows")?;
        stretch(to, n + 1, first, "a block of rows")?;
        let (of, mut n) = (ptr[rows.start]..ptr[rows.end], 0);
        let entries = a.col_idx()[of.clone()].chunks(CHUNK).zip(values[of.clone()].chunks(CHUNK));
        for ((js, xs), kept) in entries.zip(kept[of].chunks(CHUNK)) {
            if kept.iter().fold(false, |any, &keep| any | keep) {
                for ((&j, &x), &keep) in js.iter().zip(xs).zip(kept) {
                    (cols[n], to[n]) = (j, x);
                    n += usize::from(keep);
                }
            }
        }
        cols.truncate(n);
        to.truncate(n);
        Ok(())
    };
    let (row_ptr, cols, values) = append_rows(threads, "select", &row_blocks(a)?, a.nnz(), &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}

/// The entries of a row whose columns are in a range, or, if the flag is set, those whose columns are not.
type KeptColumns = (Range<u64>, bool);

/// An operator on the places of entries alone that keeps at most two runs of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Band {
    /// On the diagonal k, those below it, above it; `GrB_DIAG`, and so on.
    Diag(i64),
    OffDiag(i64),
    Tril(i64),
    Triu(i64),
    /// Columns, or rows, up to this one; those behind it.
    ColLe(i64),
    ColGt(i64),
    RowLe(i64),
    RowGt(i64),
}

impl Band {
    /// The operator of this name in [`algebra::builtin`](crate::algebra), with the scalar k.
    pub(crate) fn named(name: &str, k: i64) -> Option<Self> {
        Some(match name {
            "diag" => Self::Diag(k),
            "offdiag" => Self::OffDiag(k),
            "tril" => Self::Tril(k),
            "triu" => Self::Triu(k),
            "col_le" => Self::ColLe(k),
            "col_gt" => Self::ColGt(k),
            "row_le" => Self::RowLe(k),
            "row_gt" => Self::RowGt(k),
            _ => return None,
        })
    }
    /// The operator, if it is one of these.
    pub(crate) fn of<O: IndexUnaryOp>(op: O, s: O::S) -> Option<Self> {
        let k = Constant::of(s).get::<i64>()?;
        let formula = Formula::of_index_unary(op);
        Self::named(formula.name().filter(|_| !formula.reads("a"))?, k)
    }
    /// What it keeps of row i: j − i is compared with k, or i or j with it.
    #[inline(always)]
    fn of_row(self, i: usize) -> KeptColumns {
        // Of columns that exist none is negative, so what is below 0 is as good as 0.
        let column = |j: i128| u64::try_from(j.max(0)).unwrap_or(u64::MAX);
        let i = i as i128;
        let all_if = |holds: bool| if holds { 0..u64::MAX } else { 0..0 };
        match self {
            Self::Diag(k) => (column(i + i128::from(k))..column(i + i128::from(k) + 1), false),
            Self::OffDiag(k) => (column(i + i128::from(k))..column(i + i128::from(k) + 1), true),
            Self::Tril(k) => (0..column(i + i128::from(k) + 1), false),
            Self::Triu(k) => (column(i + i128::from(k))..u64::MAX, false),
            Self::ColLe(k) => (0..column(i128::from(k) + 1), false),
            Self::ColGt(k) => (column(i128::from(k) + 1)..u64::MAX, false),
            Self::RowLe(k) => (all_if(i <= i128::from(k)), false),
            Self::RowGt(k) => (all_if(i > i128::from(k)), false),
        }
    }
}

/// The entries that an operator on places keeps; rows sorted, those of A too.
///
/// Cost: O(nrows + nnz), nothing beside the result: long rows are cut, entries of short ones compared.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn band_values<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    values: &[T],
    band: Band,
) -> Result<(Pattern<I>, Vec<T>)> {
    /// Entries of a row from which on a search for its cuts is faster.
    const LONG: usize = 64;
    let ptr = a.row_ptr();
    let Some(&first) = values.first() else { return Ok((a.clone(), Vec::new())) };
    let append = |rows: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, to: &mut Vec<T>| {
        let most = ptr[rows.end] - ptr[rows.start];
        stretch(cols, most, I::default(), "a block of rows")?;
        stretch(to, most, first, "a block of rows")?;
        let mut n = 0;
        for (i, len) in rows.zip(lens) {
            let start = n;
            let (js, xs) = (a.row(i), &values[ptr[i]..ptr[i + 1]]);
            let (columns, others) = band.of_row(i);
            if js.len() < LONG {
                // What is not kept is written over: no branch to be guessed.
                for (&j, &x) in js.iter().zip(xs) {
                    (cols[n], to[n]) = (j, x);
                    let j = j.get() as u64;
                    n += usize::from((columns.start <= j && j < columns.end) != others);
                }
            } else {
                let cut = |at: u64| js.partition_point(|j| (j.get() as u64) < at);
                let (from, end) = (cut(columns.start), cut(columns.end));
                let runs = if others { [0..from, end.max(from)..js.len()] } else { [from..end.max(from), 0..0] };
                for run in runs {
                    cols[n..n + run.len()].copy_from_slice(&js[run.clone()]);
                    to[n..n + run.len()].copy_from_slice(&xs[run.clone()]);
                    n += run.len();
                }
            }
            *len = n - start;
        }
        cols.truncate(n);
        to.truncate(n);
        Ok(())
    };
    let (row_ptr, cols, values) = append_rows(threads, "select", &row_blocks(a)?, a.nnz(), &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of any length, cut by each operator at places within, at their ends and far outside.
    #[test]
    fn bands_are_what_their_formulas_say() {
        let n = 300;
        let rows: Vec<Vec<u32>> =
            (0..n).map(|i| (0..n as u32).filter(|j| (i * i + *j as usize) % (i + 1) < 7).collect()).collect();
        let row_ptr = rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        });
        let row_ptr: Vec<usize> = std::iter::once(0).chain(row_ptr).collect();
        assert!(rows.iter().any(|row| row.len() > 250) && rows.iter().any(|row| row.len() < 10));
        let a = Pattern::<u32>::new(n, n, row_ptr, rows.concat()).unwrap();
        let values: Vec<usize> = (0..a.nnz()).collect();
        let threads = &Threads::new(2).unwrap();
        for k in [0, 1, -1, 57, -57, 299, -299, 300, -300, i64::MAX, i64::MIN] {
            type Holds = fn(i128, i128, i128) -> bool;
            let all: [(&str, Holds); 8] = [
                ("diag", |i, j, k| j - i == k),
                ("offdiag", |i, j, k| j - i != k),
                ("tril", |i, j, k| j - i <= k),
                ("triu", |i, j, k| j - i >= k),
                ("col_le", |_, j, k| j <= k),
                ("col_gt", |_, j, k| j > k),
                ("row_le", |i, _, k| i <= k),
                ("row_gt", |i, _, k| i > k),
            ];
            for (name, holds) in all {
                let (c, kept) = band_values(threads, &a, &values, Band::named(name, k).unwrap()).unwrap();
                let (mut p, mut q) = (0, 0);
                for i in 0..n {
                    for j in a.row(i) {
                        if holds(i as i128, i128::from(*j), k.into()) {
                            assert_eq!((c.col_idx()[q], kept[q]), (*j, p), "{name} {k} row {i}");
                            q += 1;
                        }
                        p += 1;
                    }
                    assert_eq!(c.row_ptr()[i + 1], q, "{name} {k} row {i}");
                }
            }
        }
        assert_eq!(Band::named("row_index", 0), None);
    }
}
