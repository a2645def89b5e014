//! Block-parallel output: the part of every operation that does not depend on the operator.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::algebra::Value;
use crate::kernels::LOOK;
use crate::par::{Threads, UninitOutput, append_both_as_left, reserved, try_split, zeros};
use crate::sparse::{accumulate, out_of_memory};
use crate::{Csr, Index, Pattern, Result};

/// Minimum number of entries per block, which hides the cost of scheduling it.
const BLOCK_WORK: u64 = 1 << 15;
/// [`BLOCK_WORK`] for blocks without memory of their own: waking a thread costs as much as half of it.
const LIGHT_WORK: u64 = 1 << 13;
/// Maximum number of blocks.
const BLOCKS: u64 = 1024;

/// Cuts `0..n` into blocks of about equal work, `work_before(i)` being the work of `0..i`.
pub(super) fn blocks(n: usize, work_before: &dyn Fn(usize) -> u64) -> Result<Vec<Range<usize>>> {
    blocks_of(BLOCK_WORK, n, work_before)
}

fn blocks_of(work: u64, n: usize, work_before: &dyn Fn(usize) -> u64) -> Result<Vec<Range<usize>>> {
    try_split(n, (work_before(n) / work).clamp(1, BLOCKS) as usize, work_before)
}

/// Ranges of rows with about equal numbers of entries.
pub(super) fn row_blocks<I: Index>(a: &Pattern<I>) -> Result<Vec<Range<usize>>> {
    blocks(a.nrows(), &|i| (a.row_ptr()[i] + i) as u64)
}

/// [`row_blocks`] for blocks without memory of their own: smaller ones, for load balance.
pub(super) fn light_row_blocks<I: Index>(a: &Pattern<I>) -> Result<Vec<Range<usize>>> {
    blocks_of(LIGHT_WORK, a.nrows(), &|i| (a.row_ptr()[i] + i) as u64)
}

/// Appends the columns and values of some rows.
pub(super) type AppendRows<'a, T, I> = dyn Fn(Range<usize>, &mut Vec<I>, &mut Vec<T>) + Sync + 'a;

/// Columns and values of the rows with row pointers `row_ptr`, appended by `append` block by block.
pub(super) fn fill_rows<T: Copy + Send, I: Index>(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    row_ptr: &[usize],
    append: &AppendRows<'_, T, I>,
) -> Result<(Vec<I>, Vec<T>)> {
    let start = starts(blocks, row_ptr);
    let nnz = start(blocks.len());
    UninitOutput::new(nnz, "column indices")?.fill_with(
        UninitOutput::new(nnz, "values")?,
        threads,
        op,
        blocks.len(),
        start,
        || Ok((Vec::new(), Vec::new())),
        |(cols, values), b, to_cols, to_values| {
            let n = start(b + 1) - start(b);
            room(cols, n, "a block of rows")?;
            room(values, n, "a block of rows")?;
            append(blocks[b].clone(), cols, values);
            to_cols.copy(cols);
            to_values.copy(values);
            Ok(())
        },
    )
}

/// The first entry of each block of rows, and the end of the last.
fn starts<'a>(blocks: &'a [Range<usize>], row_ptr: &'a [usize]) -> impl Fn(usize) -> usize + Copy + Sync + 'a {
    |b| b.checked_sub(1).map_or(0, |b| row_ptr[blocks[b].end])
}

/// Computes the columns and values of some rows in reused buffers, and writes the length of each row.
pub(super) type AppendLens<'a, T, I> =
    dyn Fn(Range<usize>, &mut [usize], &mut Vec<I>, &mut Vec<T>) -> Result<()> + Sync + 'a;

/// Row pointers, columns and values of the rows that `append` appends block by block, at most `most` entries.
pub(super) fn append_rows<T: Copy + Send, I: Index>(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    most: usize,
    append: &AppendLens<'_, T, I>,
) -> Result<(Vec<usize>, Vec<I>, Vec<T>)> {
    let mut row_ptr = zeros(blocks.last().map_or(0, |b| b.end).saturating_add(1), "row pointers")?;
    let (mut lens, mut rest) = (reserved(blocks.len(), "blocks")?, &mut row_ptr[1..]);
    for block in blocks {
        lens.push(Mutex::new(rest.split_off_mut(..block.len()).unwrap_or_default()));
    }
    let (cols, values) = append_both_as_left(
        threads,
        op,
        blocks.len(),
        most,
        || Ok(()),
        |(), b, cols, values| {
            append(blocks[b].clone(), &mut lens[b].lock().unwrap_or_else(PoisonError::into_inner), cols, values)
        },
    )?;
    drop(lens);
    accumulate(threads, &mut row_ptr)?;
    Ok((row_ptr, cols, values))
}

/// Clears `v` and reserves `len` elements.
pub(super) fn room<T>(v: &mut Vec<T>, len: usize, what: &'static str) -> Result<()> {
    v.clear();
    v.try_reserve(len).map_err(|_| out_of_memory::<T>(what, len))
}

/// Extends `v` to at least `len` elements; existing elements keep their values.
pub(super) fn stretch<T: Copy>(v: &mut Vec<T>, len: usize, new: T, what: &'static str) -> Result<()> {
    if v.len() < len {
        v.try_reserve(len - v.len()).map_err(|_| out_of_memory::<T>(what, len))?;
        v.resize(len, new);
    }
    Ok(())
}

/// The matrix itself if its rows are sorted, otherwise a sorted copy.
pub(super) fn in_order<'a, T: Value, I: Index>(threads: &Threads, a: &'a Csr<T, I>) -> Result<Cow<'a, Csr<T, I>>> {
    Ok(if a.pattern().is_sorted() { Cow::Borrowed(a) } else { Cow::Owned(a.sorted(threads)?) })
}

/// Entries between two checks for the terminal value of ⊕; unlimited if ⊕ has none.
pub(super) const fn stride<T>(terminal: &Option<T>) -> usize {
    if terminal.is_some() { LOOK } else { usize::MAX }
}
