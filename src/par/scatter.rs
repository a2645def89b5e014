//! Conversion of entry lists to compressed rows: a parallel stable counting sort that writes each entry once, to its
//! final position.

use std::ops::Range;

use super::{Threads, collected, filled, for_each_part, reserved, try_split};
#[cfg(doc)]
use crate::Error;
use crate::{Index, Result};

/// Rows and columns of consecutive entries, of equal lengths.
type EntryList<'a, I> = (&'a [I], &'a [I]);

/// Row pointers; columns and values by row, in the order of the lists within a row.
type Rows<I, T> = (Vec<usize>, Vec<I>, Vec<T>);

/// Compressed rows of the entries in `lists` with values `values`. With `mirrored`, each off-diagonal entry is followed
/// by its mirror image with the same value.
///
/// Cost: O(entries + nrows·threads), two passes over the lists. The result does not depend on the number of threads.
/// # Errors
/// [`Error::OutOfMemory`].
/// # Panics
/// If a row, or with `mirrored` a column, is not below nrows, or if there is not one value for each entry: bugs of
/// callers in this crate.
pub(crate) fn scattered<I: Index, T: Copy + Send + Sync>(
    threads: &Threads,
    nrows: usize,
    lists: &[EntryList<'_, I>],
    values: &[T],
    mirrored: bool,
) -> Result<Rows<I, T>> {
    const SMALL: usize = 1 << 15;
    let mut before = reserved(lists.len().saturating_add(1), "lists of entries")?;
    before.push(0);
    for (rows, cols) in lists {
        assert_eq!(rows.len(), cols.len(), "rows and columns of entries");
        before.push(before.last().map_or(0, |n| n + rows.len()));
    }
    let n = values.len();
    assert_eq!(before[lists.len()], n, "one value for each entry");
    // Each share has its own counts, whose total must stay below the number of entries.
    let most = if n < SMALL { 1 } else { (n / nrows.max(1)).clamp(1, threads.count()) };
    let mut shares = try_split(lists.len(), most, |l| before[l] as u64)?;
    if shares.is_empty() {
        shares.push(0..0);
    }
    let len = shares.len().checked_mul(nrows).ok_or_else(|| super::out_of_memory::<usize>("counts of rows", nrows))?;
    let mut cursors = filled(len, 0usize, "counts of rows")?;
    each(threads, &shares, &mut cursors, nrows, |share, counts| {
        for (rows, cols) in &lists[share] {
            for (i, j) in rows.iter().zip(*cols) {
                counts[i.get()] += 1;
                if mirrored && i != j {
                    counts[j.get()] += 1;
                }
            }
        }
    })?;
    let mut ptr = reserved(nrows.saturating_add(1), "row pointers")?;
    let mut end = 0;
    for i in 0..nrows {
        ptr.push(end);
        for s in 0..shares.len() {
            end += std::mem::replace(&mut cursors[s * nrows + i], end);
        }
    }
    ptr.push(end);

    let (mut cols_out, mut values_out) = (reserved(end, "column indices")?, reserved(end, "values")?);
    let to = OutputArrays { cols: cols_out.as_mut_ptr(), values: values_out.as_mut_ptr() };
    each(threads, &shares, &mut cursors, nrows, |share, cursors| {
        let to: &OutputArrays<I, T> = &to;
        let values = &values[before[share.start]..before[share.end]];
        let entries = lists[share].iter().flat_map(|(rows, cols)| rows.iter().zip(*cols));
        for ((&i, &j), &x) in entries.zip(values) {
            let mut put = |i: I, j: I| {
                let position = &mut cursors[i.get()];
                // SAFETY: the cursor of this share and row starts at the number of entries of lower rows, plus those of
                // this row in earlier shares, and advances by one for each entry of the share in the row. There are as
                // many of these as were counted: the lists are borrowed, `Index` is sealed, and both passes apply the
                // same rule. So every position is below `end`, within the capacity, and is written once.
                unsafe {
                    to.cols.add(*position).write(j);
                    to.values.add(*position).write(x);
                }
                *position += 1;
            };
            put(i, j);
            if mirrored && i != j {
                put(j, i);
            }
        }
    })?;
    // SAFETY: the capacity is sufficient, and every position was written: `each` processed all shares, or returned an
    // error above.
    unsafe {
        cols_out.set_len(end);
        values_out.set_len(end);
    }
    Ok((ptr, cols_out, values_out))
}

/// Runs `work` for each share with its part of `cursors`.
fn each(
    threads: &Threads,
    shares: &[Range<usize>],
    cursors: &mut [usize],
    nrows: usize,
    work: impl Fn(Range<usize>, &mut [usize]) + Sync,
) -> Result<()> {
    let mut rest = cursors;
    let parts = shares.iter().map(|share| (share.clone(), rest.split_off_mut(..nrows).unwrap_or_default()));
    let work = |(): &mut (), (share, part): (Range<usize>, &mut [usize])| {
        work(share, part);
        Ok(())
    };
    for_each_part(threads, collected(shares.len(), parts, "shares of entries")?, || Ok(()), work)
}

/// Output arrays that several threads write at disjoint positions.
struct OutputArrays<I, T> {
    cols: *mut I,
    values: *mut T,
}
// SAFETY: the memory is written in `scattered` alone, each position by one thread.
unsafe impl<I: Send, T: Send> Sync for OutputArrays<I, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with a table, for lists of odd lengths, including empty ones.
    #[test]
    fn entries_are_scattered_in_order() {
        let mut state = 3u64;
        let mut next = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for (n, entries) in [(0, 0), (1, 0), (1, 5), (40, 100), (300, 100_000), (70_000, 90_000)] {
            let rows: Vec<u32> = (0..entries).map(|_| next(n) as u32).collect();
            let cols: Vec<u32> = (0..entries).map(|_| next(n) as u32).collect();
            let values: Vec<u64> = (0..entries as u64).collect();
            let mut lists: Vec<EntryList<'_, u32>> = vec![];
            let mut at = 0;
            while at < entries {
                let end = (at + next(entries / 3 + 2)).min(entries);
                lists.push((&rows[at..end], &cols[at..end]));
                at = end;
            }
            for mirrored in [false, true] {
                let mut want = vec![vec![]; n];
                for ((&i, &j), &x) in rows.iter().zip(&cols).zip(&values) {
                    want[i as usize].push((j, x));
                    if mirrored && i != j {
                        want[j as usize].push((i, x));
                    }
                }
                for count in [1, 2, 5] {
                    let threads = Threads::new(count).unwrap();
                    let (ptr, to, xs) = scattered(&threads, n, &lists, &values, mirrored).unwrap();
                    assert_eq!((ptr.len(), ptr[n]), (n + 1, to.len()));
                    for i in 0..n {
                        let row = ptr[i]..ptr[i + 1];
                        let found: Vec<_> = to[row.clone()].iter().copied().zip(xs[row].iter().copied()).collect();
                        assert_eq!(found, want[i]);
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_row_out_of_range_panics() {
        let _ = scattered::<u32, u8>(&Threads::caller(), 3, &[(&[3], &[0])], &[1], false);
    }
}
