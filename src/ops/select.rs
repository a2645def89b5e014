//! The entries of a matrix that an operator selects.

use std::ops::Range;
use std::sync::Arc;

use super::blocks::{append_rows, in_order, row_blocks, stretch};
use crate::algebra::words::{Fold, Moves, moved};
use crate::algebra::{Constant, Formula, Host, IndexUnaryOp, Place, V, Value, Word};
use crate::par::{Threads, filled};
use crate::{Csr, Index, Pattern, Result};

/// The entries of A for which `f(A(i, j), i, j, s)` holds; rows sorted.
///
/// Cost: O(nrows + nnz) time, no memory of this size beyond the result; unsorted rows are sorted first.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn select<O: IndexUnaryOp<Out = bool>, I: Index>(
    threads: &Threads,
    op: O,
    a: &Csr<O::A, I>,
    s: O::S,
) -> Result<Csr<O::A, I>> {
    let a = &*in_order(threads, a)?;
    let keeps = |rows: Range<usize>, kept: &mut [bool]| {
        let mut kept = kept.iter_mut();
        for i in rows {
            let (js, values) = a.row(i);
            for ((&j, &x), kept) in js.iter().zip(values).zip(&mut kept) {
                let at = Place { i: V(i as u64), j: V(j.get() as u64) };
                *kept = op.apply::<Host>(V(x), V(s), at).0;
            }
        }
    };
    let (c, values) = keep(threads, a.pattern(), a.values(), &keeps)?;
    Csr::with_pattern(Arc::new(c), values)
}

/// Sets the flags of the selected entries of some rows; all are initially clear.
pub(crate) type Keeps<'a> = dyn Fn(Range<usize>, &mut [bool]) + Sync + 'a;

/// The entries selected by `keeps`: on words, so that it is compiled once per value size.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn keep<T: Value, I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    values: &[T],
    keeps: &Keeps<'_>,
) -> Result<(Pattern<I>, Vec<T>)> {
    moved(Keep { threads, a, keeps }, values, None::<fn(T, T) -> T>)
}
struct Keep<'a, I: Index> {
    threads: &'a Threads,
    a: &'a Pattern<I>,
    keeps: &'a Keeps<'a>,
}
impl<I: Index> Moves for Keep<'_, I> {
    type Structure = Pattern<I>;
    fn run<W: Word>(self, values: &[W], _: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        keep_values(self.threads, self.a, values, self.keeps)
    }
}

/// Flags tested together.
const CHUNK: usize = 8;

/// Flags as the bytes of a number, the first lowest.
#[inline(always)]
fn bytes(kept: &[bool; CHUNK]) -> u64 {
    u64::from_le_bytes(kept.map(u8::from))
}

/// The number of set flags among the first `len`; `more` has [`CHUNK`] more behind them.
#[inline(always)]
fn count(more: &[bool], len: usize) -> usize {
    /// Number of flags whose count fits a byte.
    const PART: usize = 31 * CHUNK;
    let part = |start: usize, len: usize| {
        let (mut sum, mut at) = (0, start);
        while start + len - at > CHUNK {
            sum += more[at..].first_chunk().map_or(0, bytes);
            at += CHUNK;
        }
        let rest = u64::MAX.checked_shr((8 * (at + CHUNK - start - len)) as u32).unwrap_or(0);
        sum += more[at..].first_chunk().map_or(0, bytes) & rest;
        // Multiplying sums all bytes into the highest.
        (sum.wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize
    };
    if len <= PART {
        return part(0, len);
    }
    (0..len).step_by(PART).map(|start| part(start, PART.min(len - start))).sum()
}

/// [`keep`] on typed values or on words. Flags live as long as a block of rows.
pub(crate) fn keep_values<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    values: &[T],
    keeps: &Keeps<'_>,
) -> Result<(Pattern<I>, Vec<T>)> {
    let ptr = a.row_ptr();
    let Some(&first) = values.first() else { return Ok((Pattern::empty(a.nrows(), a.ncols())?, Vec::new())) };
    let append = |rows: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, to: &mut Vec<T>| {
        let of = ptr[rows.start]..ptr[rows.end];
        let mut kept = filled(of.len() + CHUNK, false, "a block of rows")?;
        keeps(rows.clone(), &mut kept[..of.len()]);
        let mut n = 0;
        for (i, len) in rows.zip(lens) {
            *len = count(&kept[ptr[i] - of.start..], ptr[i + 1] - ptr[i]);
            n += *len;
        }
        // Branch-free: a dropped entry is overwritten by the next. A chunk without selected entries reads no columns or
        // values.
        stretch(cols, n + 1, I::default(), "a block of rows")?;
        stretch(to, n + 1, first, "a block of rows")?;
        let mut n = 0;
        let entries = a.col_idx()[of.clone()].chunks(CHUNK).zip(values[of].chunks(CHUNK));
        for ((js, xs), kept) in entries.zip(kept.as_chunks::<CHUNK>().0) {
            if bytes(kept) != 0 {
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
    let most = guess(ptr, |rows| {
        let (start, mut kept) = (ptr[rows.start], [false; 32 * CHUNK]);
        // As many rows as there are flags.
        let rows = rows.start
            ..rows.start + ptr[rows.start + 1..=rows.end].partition_point(|&p| p - start <= kept.len() - CHUNK);
        let len = ptr[rows.end] - start;
        keeps(rows, &mut kept[..len]);
        (count(&kept, len), len)
    });
    let (row_ptr, cols, values) = append_rows(threads, "select", &row_blocks(a)?, most, &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}

/// The entries of a row with columns in the range, or, if the flag is set, outside it.
type SelectedColumns = (Range<u64>, bool);

/// A positional operator that selects at most two ranges of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Band {
    /// On, below or above the diagonal k: `GrB_DIAG`, and so on.
    Diag(i64),
    OffDiag(i64),
    Tril(i64),
    Triu(i64),
    /// Columns, or rows, up to this one or after it.
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
    /// The operator, if it is a band.
    pub(crate) fn of<O: IndexUnaryOp>(op: O, s: O::S) -> Option<Self> {
        let k = Constant::of(s).get::<i64>()?;
        let formula = Formula::of_index_unary(op);
        Self::named(formula.name().filter(|_| !formula.reads("a"))?, k)
    }
    /// The selected columns of row i: k bounds j − i, i or j.
    #[inline(always)]
    fn of_row(self, i: usize) -> SelectedColumns {
        // Existing columns are nonnegative, so negative bounds clamp to 0.
        let column = |j: i64| j.max(0) as u64;
        let i = i as i64;
        let all_if = |holds: bool| if holds { 0..u64::MAX } else { 0..0 };
        match self {
            Self::Diag(k) => (column(i.saturating_add(k))..column(i.saturating_add(k).saturating_add(1)), false),
            Self::OffDiag(k) => (column(i.saturating_add(k))..column(i.saturating_add(k).saturating_add(1)), true),
            Self::Tril(k) => (0..column(i.saturating_add(k).saturating_add(1)), false),
            Self::Triu(k) => (column(i.saturating_add(k))..u64::MAX, false),
            Self::ColLe(k) => (0..column(k.saturating_add(1)), false),
            Self::ColGt(k) => (column(k.saturating_add(1))..u64::MAX, false),
            Self::RowLe(k) => (all_if(i <= k), false),
            Self::RowGt(k) => (all_if(i > k), false),
        }
    }
}

/// The number of columns of a sorted row below `end`.
#[inline(always)]
fn below<I: Index>(row: &[I], end: u64) -> usize {
    /// Minimum length of a row for binary search.
    const LONG: usize = 64;
    if end > I::LAST.get() as u64 {
        return row.len();
    }
    let end = I::cast(end as usize);
    if row.len() < LONG {
        row.iter().map(|j| u32::from(*j < end)).sum::<u32>() as usize
    } else {
        row.partition_point(|j| *j < end)
    }
}

/// An estimate, usually an upper bound, of the number of selected entries. It extrapolates from sample rows, for which
/// `of_rows` returns the numbers of selected and of all entries. Memory for all entries would not be touched, but
/// blocks of twice the size make the allocator release memory that the next call needs.
fn guess(ptr: &[usize], of_rows: impl Fn(Range<usize>) -> (usize, usize)) -> usize {
    /// Number of samples, and rows per sample: a call per row takes longer than the row.
    const SAMPLES: usize = 64;
    const ROWS: usize = 8;
    let (nrows, nnz) = (ptr.len() - 1, ptr[ptr.len() - 1]);
    let samples = (0..nrows).step_by((nrows / SAMPLES).max(ROWS)).map(|i| of_rows(i..nrows.min(i + ROWS)));
    let (kept, all) = samples.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    if all == 0 {
        return nnz;
    }
    // One eighth above the extrapolation.
    let likely = nnz as u128 * (9 * kept as u128) / (8 * all as u128);
    (likely as usize).saturating_add(nnz / 16).min(nnz)
}

/// The entries that a positional operator selects. All rows are sorted.
///
/// Cost: O(nrows + nnz), no memory beyond the result: long rows are cut, entries of short ones compared.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn band_values<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    values: &[T],
    band: Band,
) -> Result<(Pattern<I>, Vec<T>)> {
    /// Minimum length of a row whose selected ranges are copied whole.
    const SHORT: usize = 24;
    let ptr = a.row_ptr();
    let Some(&first) = values.first() else { return Ok((Pattern::empty(a.nrows(), a.ncols())?, Vec::new())) };
    // The one or two selected ranges of a row.
    let runs_of = |i: usize| {
        let (js, (columns, others)) = (a.row(i), band.of_row(i));
        let from = if columns.start == 0 { 0 } else { below(js, columns.start) };
        let end = below(js, columns.end);
        if others { [0..from, end.max(from)..js.len()] } else { [from..end.max(from), 0..0] }
    };
    let append = |rows: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, to: &mut Vec<T>| {
        let most = ptr[rows.end] - ptr[rows.start];
        stretch(cols, most, I::default(), "a block of rows")?;
        stretch(to, most, first, "a block of rows")?;
        let mut n = 0;
        for (i, len) in rows.zip(lens) {
            let start = n;
            let (js, xs) = (a.row(i), &values[ptr[i]..ptr[i + 1]]);
            if js.len() < SHORT {
                let (columns, others) = band.of_row(i);
                // Branch-free: a dropped entry is overwritten by the next.
                for (&j, &x) in js.iter().zip(xs) {
                    (cols[n], to[n]) = (j, x);
                    let j = j.get() as u64;
                    n += usize::from((columns.start <= j && j < columns.end) != others);
                }
            } else {
                for run in runs_of(i) {
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
    let most = guess(ptr, |rows| {
        let all = ptr[rows.end] - ptr[rows.start];
        (rows.flat_map(runs_of).map(|run| run.len()).sum(), all)
    });
    let (row_ptr, cols, values) = append_rows(threads, "select", &row_blocks(a)?, most, &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, true), values))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of any length, cut by each operator inside, at the ends and far outside.
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
        let wide = a.col_idx().iter().map(|&j| u64::from(j)).collect();
        let wide = Pattern::<u64>::new(n, n, a.row_ptr().to_vec(), wide).unwrap();
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
                let band = Band::named(name, k).unwrap();
                let (c, kept) = band_values(threads, &a, &values, band).unwrap();
                let (d, of_wide) = band_values(threads, &wide, &values, band).unwrap();
                assert!(d.row_ptr() == c.row_ptr() && of_wide == kept, "{name} {k}");
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

    /// The largest columns that exist, and an empty row.
    #[test]
    fn columns_below_are_counted() {
        let last = u32::MAX - 1;
        let long: Vec<u32> = (0..100).map(|j| j * j).chain([last]).collect();
        for row in [&[][..], &[0], &[last], &[0, 1, 2, last - 1, last], &[3, 4, 5, 6, 7, 8, 9, last], &long] {
            for end in [0, 1, 4, 9, 10, u64::from(last), u64::from(last) + 1, u64::from(u32::MAX) + 1, u64::MAX] {
                let want = row.iter().filter(|&&j| u64::from(j) < end).count();
                assert_eq!(below(row, end), want, "{row:?} below {end}");
            }
        }
        let empty = Pattern::<u32>::empty(0, 0).unwrap();
        assert_eq!(band_values(&Threads::caller(), &empty, &[0u8; 0], Band::Tril(0)).unwrap().0, empty);
    }

    /// No flag, all flags and some, in rows of up to a thousand entries: the flagged entries remain.
    #[test]
    fn entries_are_kept_by_their_flags() {
        let n = 1000;
        let lens: Vec<usize> = (0..300).map(|i| [0, 1, 3, 8, 0, 27, 16, 255, 5, n][i % 10]).collect();
        let ptr = std::iter::once(0).chain(lens.iter().scan(0, |end, len| {
            *end += len;
            Some(*end)
        }));
        let cols = lens.iter().flat_map(|&len| 0..len as u32).collect();
        let a = Pattern::<u32>::new(300, n, ptr.collect(), cols).unwrap();
        let values: Vec<u16> = (0..a.nnz()).map(|p| p as u16).collect();
        type Keep = fn(usize) -> bool;
        for holds in [(|_| false) as Keep, |_| true, |p| p % 27 == 13, |p| p % 2 == 0, |p| p < 20_000, |p| p == 0] {
            let keeps = |rows: Range<usize>, kept: &mut [bool]| {
                let entries = a.row_ptr()[rows.start]..a.row_ptr()[rows.end];
                entries.zip(kept).for_each(|(p, keep)| *keep = holds(p));
            };
            let kept: Vec<usize> = (0..a.nnz()).filter(|&p| holds(p)).collect();
            for threads in [1, 2, 3] {
                let (c, found) = keep(&Threads::new(threads).unwrap(), &a, &values, &keeps).unwrap();
                assert!(found.iter().copied().eq(kept.iter().map(|&p| p as u16)));
                assert!(c.col_idx().iter().copied().eq(kept.iter().map(|&p| a.col_idx()[p])));
                let before = |i: usize| kept.partition_point(|&p| p < a.row_ptr()[i]);
                assert!(c.row_ptr().iter().copied().eq((0..=300).map(before)));
            }
        }
    }
}
