//! Parallel validation of row pointers and columns from outside; branch-free on valid input.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::par::{Threads, filled, reserved, try_split};
use crate::{Error, Index, Result};

/// Entries per task: few enough to stay in cache until the rows are checked.
const BLOCK: usize = 1 << 14;
/// Up to this many entries, the caller's thread is done before other threads would have started.
const ALONE: usize = 1 << 16;

/// Whether row pointers and columns are valid and columns increase in each row. Otherwise slower checks find the
/// violation.
pub(super) fn is_sorted<I: Index>(row_ptr: &[usize], col_idx: &[I], ncols: usize) -> bool {
    let (Some((&last, starts)), nnz) = (row_ptr.split_last(), col_idx.len()) else { return false };
    if row_ptr[0] != 0 || last != nnz {
        return false;
    }
    let tasks = nnz.div_ceil(BLOCK).max(1);
    // The rows of a task start in its block of entries. For any row pointers, no row is skipped unless `first`
    // decreases.
    let first = |task: usize| match task {
        0 => 0,
        _ if task == tasks => starts.len(),
        _ => starts.partition_point(|&start| start < task * BLOCK),
    };
    let threads = if nnz > ALONE { Threads::current() } else { Threads::caller() };
    let good = AtomicBool::new(true);
    // Descents (columns not larger than their predecessor) minus those at row starts: 0 if rows are sorted.
    let excess = AtomicUsize::new(0);
    let read = |(): &mut (), task: usize| {
        let (rows, from) = (first(task)..first(task + 1), task * BLOCK);
        let (within, descents) = columns(&col_idx[from.saturating_sub(1)..(from + BLOCK).min(nnz)], ncols);
        let row_ptr = row_ptr.get(rows.start..=rows.end).unwrap_or_default();
        let (increasing, begins) = self::rows(row_ptr, col_idx);
        excess.fetch_add(descents.wrapping_sub(begins), Relaxed);
        if rows.start > rows.end || !increasing || !within {
            good.store(false, Relaxed);
        }
        Ok(())
    };
    threads.for_each(tasks, || Ok(()), read).is_ok() && good.into_inner() && excess.into_inner() == 0
}

/// Whether all of these columns are below `ncols`, and the number of descents.
fn columns<I: Index>(cols: &[I], ncols: usize) -> (bool, usize) {
    let Some((&first, rest)) = cols.split_first() else { return (true, 0) };
    // Counters of 32 bits are as wide as columns, so both use the same vector lanes.
    if let (4, Ok(last)) = (size_of::<I>(), i32::try_from(ncols as i128 - 1)) {
        // Baseline SSE2 compares signed integers only. Past the last column, either j or last − j is negative.
        let signed = |j: I| j.get() as u32 as i32;
        let signs = |j: I| signed(j) | last.wrapping_sub(signed(j));
        let (mut all, mut ascents) = (signs(first), 0u32);
        for (&before, &j) in cols.iter().zip(rest) {
            all |= signs(j);
            ascents += u32::from(signed(j) > signed(before));
        }
        return (all >= 0, rest.len() - ascents as usize);
    }
    let (mut largest, mut descents) = (first, 0u32);
    for (&before, &j) in cols.iter().zip(rest) {
        largest = largest.max(j);
        descents += u32::from(before >= j);
    }
    (largest.get() < ncols, descents as usize)
}

/// Whether these row pointers do not decrease, and the number of descents at the starts of their rows.
fn rows<I: Index>(row_ptr: &[usize], col_idx: &[I]) -> (bool, usize) {
    let Some(last) = col_idx.len().checked_sub(1) else { return (row_ptr.windows(2).all(|w| w[0] <= w[1]), 0) };
    let (mut increasing, mut begins) = (true, 0);
    for w in row_ptr.windows(2) {
        increasing &= w[0] <= w[1];
        // Branch-free: an empty row reads columns that do not count.
        let at = w[0].min(last);
        let falls = col_idx[at.saturating_sub(1)] >= col_idx[at];
        begins += usize::from((w[0] < w[1]) & (w[0] > 0) & falls);
    }
    (increasing, begins)
}

/// Whether row pointers are valid and all columns below `ncols`; order and duplicates do not matter.
pub(super) fn is_within<I: Index>(threads: &Threads, row_ptr: &[usize], col_idx: &[I], ncols: usize) -> bool {
    let (Some((&last, starts)), nnz) = (row_ptr.split_last(), col_idx.len()) else { return false };
    if row_ptr[0] != 0 || last != nnz {
        return false;
    }
    let tasks = if starts.len() + nnz > ALONE { (starts.len() + nnz).div_ceil(BLOCK) } else { 1 };
    let (some_rows, some) = (starts.len().div_ceil(tasks), nnz.div_ceil(tasks));
    let good = AtomicBool::new(true);
    let read = |(): &mut (), task: usize| {
        let ends = &row_ptr[(task * some_rows).min(starts.len())..=((task + 1) * some_rows).min(starts.len())];
        // Branch-free.
        let increasing = ends.windows(2).fold(true, |all, w| all & (w[0] <= w[1]));
        if !increasing || !columns(&col_idx[(task * some).min(nnz)..((task + 1) * some).min(nnz)], ncols).0 {
            good.store(false, Relaxed);
        }
        Ok(())
    };
    threads.for_each(tasks, || Ok(()), read).is_ok() && good.into_inner()
}

/// Rejects rows that repeat a column; columns may be in any order.
/// # Errors
/// [`Error::Duplicate`] for the first one; [`Error::OutOfMemory`].
pub(super) fn check_distinct<I: Index>(row_ptr: &[usize], col_idx: &[I], ncols: usize) -> Result<()> {
    let nrows = row_ptr.len() - 1;
    let tasks = try_split(nrows, col_idx.len().div_ceil(ALONE).max(1), |row| row_ptr[row] as u64)?;
    let threads = if tasks.len() > 1 { Threads::current() } else { Threads::caller() };
    // A stamp array over the columns is cheaper than sorting, unless ncols > nnz.
    let stamped = ncols <= col_idx.len();
    let state = || Ok((filled(if stamped { ncols } else { 0 }, 0u32, "the check of rows")?, 0u32, Vec::<I>::new()));
    // An earlier row may have a duplicate too, so the first is searched for again.
    let seen = AtomicBool::new(false);
    threads.for_each(tasks.len(), state, |(stamps, stamp, sorted), task| {
        for row in tasks[task].clone() {
            let cols = &col_idx[row_ptr[row]..row_ptr[row + 1]];
            if cols.windows(2).all(|w| w[0] < w[1]) {
                continue;
            }
            let twice = if stamped {
                if *stamp == u32::MAX {
                    (*stamp, ()) = (0, stamps.fill(0));
                }
                *stamp += 1;
                cols.iter().any(|j| std::mem::replace(&mut stamps[j.get()], *stamp) == *stamp)
            } else {
                sort_aside(cols, sorted)?;
                sorted.windows(2).any(|w| w[0] == w[1])
            };
            if twice {
                seen.store(true, Relaxed);
            }
        }
        Ok(())
    })?;
    if !seen.into_inner() {
        return Ok(());
    }
    let mut sorted = Vec::new();
    for row in 0..nrows {
        sort_aside(&col_idx[row_ptr[row]..row_ptr[row + 1]], &mut sorted)?;
        if let Some(w) = sorted.windows(2).find(|w| w[0] == w[1]) {
            return Err(Error::Duplicate { row, column: w[0].get() });
        }
    }
    Ok(())
}

fn sort_aside<I: Index>(cols: &[I], sorted: &mut Vec<I>) -> Result<()> {
    sorted.clear();
    if sorted.capacity() < cols.len() {
        *sorted = reserved(cols.len(), "the check of a row")?;
    }
    sorted.extend_from_slice(cols);
    sorted.sort_unstable();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, row by row.
    fn plain(row_ptr: &[usize], col_idx: &[u32], ncols: usize) -> bool {
        let fits =
            row_ptr.windows(2).all(|w| w[0] <= w[1]) && row_ptr.last() == Some(&col_idx.len()) && row_ptr[0] == 0;
        let row = |w: &[usize]| col_idx[w[0]..w[1]].windows(2).all(|w| w[0] < w[1]);
        fits && col_idx.iter().all(|&j| (j as usize) < ncols) && row_ptr.windows(2).all(row)
    }

    #[test]
    fn scans_are_the_definition() {
        // Several blocks, rows across their borders, empty rows at both ends.
        let (nrows, ncols) = (9000usize, 1000usize);
        let lengths: Vec<usize> =
            (0..nrows).map(|i| if (2..nrows - 2).contains(&i) { i * 7 % 53 } else { 0 }).collect();
        let row_ptr: Vec<usize> = std::iter::once(0)
            .chain(lengths.iter().scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            }))
            .collect();
        let cols: Vec<u32> =
            lengths.iter().enumerate().flat_map(|(i, &n)| (0..n).map(move |k| (i % 7 + k * 18) as u32)).collect();
        assert!(cols.len() > 3 * ALONE && plain(&row_ptr, &cols, ncols) && is_sorted(&row_ptr, &cols, ncols));
        for at in [0, 1, 5, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, cols.len() - 1] {
            for j in [0, 1, 500, 999, 1000, u32::MAX] {
                let mut changed = cols.clone();
                changed[at] = j;
                assert_eq!(is_sorted(&row_ptr, &changed, ncols), plain(&row_ptr, &changed, ncols), "{at}: {j}");
            }
        }
        for at in [0, 1, 7, 4000, nrows - 1, nrows] {
            for by in [1, 30_000, usize::MAX / 2] {
                let mut changed = row_ptr.clone();
                changed[at] += by;
                let found = is_sorted(&changed, &cols, ncols);
                assert_eq!(found, by == 1 && plain(&changed, &cols, ncols), "{at}: {by}");
            }
        }
        // Columns of 64 bits, and more 32-bit columns than i32 can represent.
        let wide: Vec<u64> = cols.iter().map(|&j| j.into()).collect();
        for (at, j, good) in
            [(0, 0, true), (cols.len() - 1, 999, true), (7, 1000, false), (cols.len() - 1, 1 << 40, false)]
        {
            let mut changed = wide.clone();
            changed[at] = if good { changed[at] } else { j };
            assert_eq!(is_sorted(&row_ptr, &changed, ncols), good, "{at}: {j}");
        }
        assert!(is_sorted(&[0, 3], &[1u32, 1 << 31, u32::MAX - 1], u32::MAX as usize));
        assert!(!is_sorted(&[0, 3], &[1u32, 1 << 31, u32::MAX], u32::MAX as usize));
        assert!(is_sorted(&[0, 2], &[0u32, (1 << 31) - 1], 1 << 31) && !is_sorted(&[0, 2], &[0u32, 1 << 31], 1 << 31));
        assert!(!is_sorted(&[0, 2], &[3u32, 3], 9) && !is_sorted(&[0, 2], &[3u64, 3], 9));
        assert!(is_sorted::<u32>(&[0], &[], 0) && is_sorted::<u32>(&[0, 0], &[], 3) && !is_sorted(&[0, 1], &[0u32], 0));
    }

    #[test]
    fn columns_in_any_order_are_within() {
        for (nrows, each) in [(0usize, 0usize), (3, 0), (5, 4), (5000, 30), (3, 70_000)] {
            let row_ptr: Vec<usize> = (0..=nrows).map(|i| i * each).collect();
            let mut cols: Vec<u32> = (0..nrows * each).map(|k| (k * k % 97) as u32).collect();
            for threads in [1, 2, 3] {
                let threads = Threads::new(threads).unwrap();
                assert!(is_within(&threads, &row_ptr, &cols, 97));
                let nnz = cols.len();
                for at in [0, nnz / 2, nnz.saturating_sub(1)].into_iter().filter(|&at| at < nnz) {
                    for j in [97, 1 << 31, u32::MAX] {
                        let before = std::mem::replace(&mut cols[at], j);
                        assert!(!is_within(&threads, &row_ptr, &cols, 97), "{at}: {j}");
                        cols[at] = before;
                    }
                }
                for at in [0, nrows / 2, nrows] {
                    let mut changed = row_ptr.clone();
                    changed[at] += each * nrows + 1;
                    assert!(!is_within(&threads, &changed, &cols, 97), "{at}");
                }
            }
        }
        assert!(!is_within::<u32>(&Threads::caller(), &[], &[], 3));
    }

    #[test]
    fn the_first_duplicate_is_reported() {
        for ncols in [100, 1 << 30] {
            let row_ptr: Vec<usize> = (0..=4000).map(|i| i * 50).collect();
            // Columns in descending order.
            let mut cols: Vec<u32> = (0..4000 * 50).map(|k| 99 - k % 50).collect();
            assert_eq!(check_distinct(&row_ptr, &cols, ncols).ok(), Some(()));
            for row in [3999, 3000, 17] {
                cols[row * 50 + 49] = cols[row * 50];
                let Err(Error::Duplicate { row: found, column }) = check_distinct(&row_ptr, &cols, ncols) else {
                    panic!("row {row} passed")
                };
                assert_eq!((found, column), (row, 99));
            }
        }
    }
}
