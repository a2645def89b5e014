//! Block matrices: blocks beside and below each other, of values of any type.

use super::blocks::blocks as split_rows;
use crate::algebra::{Array, Slice};
use crate::kernels::fill_any;
use crate::par::{Fresh, Slots, Threads, collected};
use crate::sparse::{IndexList, count_rows};
use crate::{Error, Index, Pattern, Result};

/// Rows, columns and entries of the block matrix of blocks of these shapes and entries, each row of blocks as many as
/// the others.
/// # Errors
/// [`Error::Shape`] for blocks that do not fit, [`Error::Argument`] for no blocks or rows of different numbers;
/// [`Error::IndexOverflow`].
pub(crate) fn concat_shape<I: Index>(blocks: &[Vec<((usize, usize), usize)>]) -> Result<(usize, usize, usize)> {
    let Some(first) = blocks.first().filter(|row| !row.is_empty()) else {
        return Err(Error::Argument { name: "blocks", message: "there are none".into() });
    };
    for row in blocks {
        if row.len() != first.len() {
            let message = format!("a row has {} of them, the first has {}", row.len(), first.len());
            return Err(Error::Argument { name: "blocks", message });
        }
        for ((shape, _), (above, _)) in row.iter().zip(first) {
            let expected = (row[0].0.0, above.1);
            if *shape != expected {
                return Err(Error::Shape { op: "concat", lhs: expected, rhs: *shape });
            }
        }
    }
    let total = |lens: &mut dyn Iterator<Item = usize>| lens.fold(0u128, |sum, len| sum + len as u128);
    let nrows = total(&mut blocks.iter().map(|row| row[0].0.0));
    let ncols = total(&mut first.iter().map(|block| block.0.1));
    let nnz = total(&mut blocks.iter().flatten().map(|block| block.1));
    let fits = |what, needed: u128, max: usize| {
        let max = max as u128;
        if needed <= max { Ok(needed as usize) } else { Err(Error::IndexOverflow { what, needed, max }) }
    };
    let most = isize::MAX as usize;
    Ok((
        fits("rows of blocks", nrows, most)?,
        fits("columns of blocks", ncols, I::MAX_LEN)?,
        fits("entries of blocks", nnz, most)?,
    ))
}

/// The block matrix of these blocks, of the shape that [`concat_shape`] has found: its pattern and its values; rows of
/// the blocks are sorted, and their values of one type.
///
/// Cost: O(rows · blocks of a row + entries).
/// # Errors
/// [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn concat_blocks<I: Index>(
    threads: &Threads,
    blocks: &[Vec<(&Pattern<I>, Slice<'_>)>],
    (nrows, ncols, nnz): (usize, usize, usize),
) -> Result<(Pattern<I>, Array)> {
    // Row i is row i − top of the blocks below the place `top`.
    let tops = blocks.iter().scan(0, |top, row| Some(std::mem::replace(top, *top + row[0].0.nrows())));
    let tops = collected(blocks.len(), tops, "blocks")?;
    let of_row = |i: usize| {
        let r = tops.partition_point(|top| *top <= i) - 1;
        let top = tops[r];
        blocks[r].iter().map(move |block| (block, i - top))
    };
    let before = |i: usize| (nnz as u128 * i as u128 / nrows.max(1) as u128) as u64 + i as u64;
    let count = |(): &mut (), i: usize| Ok(of_row(i).map(|(block, i)| block.0.row(i).len()).sum());
    let row_ptr = count_rows(threads, nrows, before, || Ok(()), count)?;
    let parts = split_rows(nrows, &|i| (row_ptr[i] + i) as u64)?;
    let start = |t: usize| t.checked_sub(1).map_or(0, |t| row_ptr[parts[t].end]);
    let fill = |(): &mut (), t: usize, cols: &mut Slots<'_, I>| {
        for i in parts[t].clone() {
            let mut left = 0;
            for (block, i) in of_row(i) {
                let js = block.0.row(i);
                let to = cols.take(js.len(), I::default());
                to.iter_mut().zip(js).for_each(|(to, j)| *to = I::cast(j.get() + left));
                left += block.0.ncols();
            }
        }
        Ok(())
    };
    let cols = Fresh::new(nnz, "column indices")?.fill(threads, "concat", parts.len(), start, || Ok(()), fill)?;
    let ty = blocks[0][0].1.ty();
    let values = fill_any(ty, threads, "concat", &parts, &|i| row_ptr[i], &|rows, to| {
        let parts = rows.flat_map(of_row);
        to.copy_parts(parts.map(|(block, i)| (block.1, block.0.row_ptr()[i]..block.0.row_ptr()[i + 1])));
    })?;
    Ok((Pattern::from_parts(nrows, ncols, row_ptr, cols, true), values))
}

/// The ranges of blocks of these lengths, of a dimension.
/// # Errors
/// [`Error::Argument`] unless they add up to the dimension; [`Error::OutOfMemory`].
pub(crate) fn block_ranges(name: &'static str, lens: &[usize], dimension: usize) -> Result<Vec<IndexList>> {
    let total = lens.iter().try_fold(0usize, |sum, len| sum.checked_add(*len));
    if total != Some(dimension) {
        let message = format!("blocks of {lens:?} do not add up to {dimension}");
        return Err(Error::Argument { name, message });
    }
    let mut start = 0;
    let ranges = lens.iter().map(|&len| {
        start += len;
        IndexList::from(start - len..start)
    });
    collected(lens.len(), ranges, "blocks")
}
