//! Parallel construction without `unsafe`: arrays are split into disjoint `&mut` slices, one per task.
//!
//! All parallel construction of formats uses these functions. The content of a part never depends on the number of
//! threads.

use std::ops::Range;

use super::{Pattern, out_of_memory};
use crate::par::{Threads, collected, filled, for_each_part, try_split, zero_indices, zeros};
use crate::{Index, Result};

/// Below this amount of work (in entries), one thread is faster than waking the others.
pub(crate) const SERIAL_WORK: usize = 1 << 15;
const PARTS: &str = "parts of an array";

/// Cuts `slice` into `parts` consecutive parts of the given lengths.
pub(crate) fn cut<T>(mut slice: &mut [T], parts: usize, lens: impl Iterator<Item = usize>) -> Result<Vec<&mut [T]>> {
    collected(parts, lens.map(|len| slice.split_off_mut(..len).expect("parts lie within the slice")), PARTS)
}

/// Prefix sum of row lengths: on entry `row_ptr[i + 1]` is the length of row i. Returns the length of the longest row.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), also for sums beyond `usize`.
pub(crate) fn accumulate(threads: &Threads, row_ptr: &mut [usize]) -> Result<usize> {
    const BLOCK: usize = 1 << 16;
    let Some((_, lens)) = row_ptr.split_first_mut() else { return Ok(0) };
    if lens.len() <= BLOCK {
        let (mut before, mut longest) = (0usize, 0);
        for len in lens {
            longest = longest.max(*len);
            before = before.checked_add(*len).ok_or_else(|| out_of_memory::<usize>("entries", usize::MAX))?;
            *len = before;
        }
        return Ok(longest);
    }
    let mut found = filled(lens.len().div_ceil(BLOCK), (0, 0), PARTS)?;
    let parts = collected(found.len(), lens.chunks(BLOCK).zip(&mut found), PARTS)?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (lens, found)| {
            *found = lens.iter().fold((0, 0), |(sum, most), &len| (len.saturating_add(sum), len.max(most)));
            Ok(())
        },
    )?;
    let longest = found.iter().map(|f| f.1).max().unwrap_or(0);
    let mut before = 0usize;
    for (sum, _) in &mut found {
        let start = before;
        before = before.checked_add(*sum).ok_or_else(|| out_of_memory::<usize>("entries", usize::MAX))?;
        *sum = start;
    }
    let parts = collected(found.len(), lens.chunks_mut(BLOCK).zip(&found), PARTS)?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (lens, &(mut before, _))| {
            for len in lens {
                before += *len;
                *len = before;
            }
            Ok(())
        },
    )?;
    Ok(longest)
}

/// Ranges of rows of about equal work: a single one for little work, otherwise a few per thread.
pub(crate) fn row_blocks(
    threads: &Threads,
    nrows: usize,
    work_before: impl Fn(usize) -> u64,
) -> Result<Vec<Range<usize>>> {
    if nrows == 0 {
        return Ok(Vec::new());
    }
    let small = work_before(nrows) - work_before(0) < SERIAL_WORK as u64;
    try_split(nrows, if small { 1 } else { 8 * threads.count() }, work_before)
}

/// Builds an nrows × ncols matrix row by row in two phases: `count(state, i)` returns the number of entries of row i,
/// then `fill(state, i, cols, values)` writes exactly those.
///
/// `work_before(i)` is the work of rows 0..i; `filler` is any value, `None` only if there will be no entries.
pub(crate) fn build_rows<T: Copy + Send + Sync, I: Index, S>(
    threads: &Threads,
    (nrows, ncols): (usize, usize),
    work_before: impl Fn(usize) -> u64,
    filler: Option<T>,
    state: impl Fn() -> Result<S> + Sync,
    count: impl Fn(&mut S, usize) -> Result<usize> + Sync,
    fill: impl Fn(&mut S, usize, &mut [I], &mut [T]) -> Result<()> + Sync,
) -> Result<(Pattern<I>, Vec<T>)> {
    let row_ptr = count_rows(threads, nrows, &work_before, &state, count)?;
    fill_rows(threads, ncols, row_ptr, work_before, filler, state, fill)
}

/// The second phase of [`build_rows`], with known row pointers.
pub(crate) fn fill_rows<T: Copy + Send + Sync, I: Index, S>(
    threads: &Threads,
    ncols: usize,
    row_ptr: Vec<usize>,
    work_before: impl Fn(usize) -> u64,
    filler: Option<T>,
    state: impl Fn() -> Result<S> + Sync,
    fill: impl Fn(&mut S, usize, &mut [I], &mut [T]) -> Result<()> + Sync,
) -> Result<(Pattern<I>, Vec<T>)> {
    let nrows = row_ptr.len() - 1;
    let nnz = row_ptr[nrows];
    let mut cols = zero_indices::<I>(nnz, "column indices")?;
    let mut values = match filler {
        Some(x) => filled(nnz, x, "values")?,
        None => Vec::new(),
    };
    let blocks = row_blocks(threads, nrows, work_before)?;
    let lens = || blocks.iter().map(|b| row_ptr[b.end] - row_ptr[b.start]);
    let n = blocks.len();
    let slices = cut(&mut cols, n, lens())?.into_iter().zip(cut(&mut values, n, lens())?);
    let parts = collected(n, blocks.iter().zip(slices), PARTS)?;
    for_each_part(
        threads,
        parts,
        state,
        |s, (block, (mut cols, mut values)): (&Range<usize>, (&mut [I], &mut [T]))| {
            for i in block.clone() {
                let len = row_ptr[i + 1] - row_ptr[i];
                let (c, v) = (cols.split_off_mut(..len), values.split_off_mut(..len));
                fill(s, i, c.unwrap_or_default(), v.unwrap_or_default())?;
            }
            Ok(())
        },
    )?;
    Ok((Pattern::from_parts(nrows, ncols, row_ptr, cols, true), values))
}

/// Row pointers from a count for each row.
pub(crate) fn count_rows<S>(
    threads: &Threads,
    nrows: usize,
    work_before: impl Fn(usize) -> u64,
    state: impl Fn() -> Result<S> + Sync,
    count: impl Fn(&mut S, usize) -> Result<usize> + Sync,
) -> Result<Vec<usize>> {
    let len = nrows.checked_add(1).ok_or_else(|| out_of_memory::<usize>("row pointers", nrows))?;
    let mut row_ptr = zeros(len, "row pointers")?;
    let blocks = row_blocks(threads, nrows, work_before)?;
    let counts = cut(&mut row_ptr[1..], blocks.len(), blocks.iter().map(ExactSizeIterator::len))?;
    let parts = collected(blocks.len(), blocks.iter().zip(counts), PARTS)?;
    for_each_part(threads, parts, state, |s, (block, counts)| {
        block.clone().zip(counts).try_for_each(|(i, n)| {
            *n = count(s, i)?;
            Ok(())
        })
    })?;
    accumulate(threads, &mut row_ptr)?;
    Ok(row_ptr)
}
