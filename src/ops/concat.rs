//! Block matrices: blocks beside and below each other, of values of any type.

use std::ops::Range;

use super::blocks::blocks as split_rows;
use crate::algebra::{Array, Slice};
use crate::kernels::fill_any;
use crate::par::{Fresh, Slots, Threads, collected};
use crate::sparse::IndexList;
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
    let tops = blocks.iter().scan((0, 0), |next, row| {
        let nnz: usize = row.iter().map(|block| block.0.nnz()).sum();
        let below = (next.0 + row[0].0.nrows(), next.1 + nnz);
        Some(std::mem::replace(next, below))
    });
    let tops = collected(blocks.len(), tops, "blocks")?;
    let lefts = blocks[0].iter().scan(0, |left, block| Some(std::mem::replace(left, *left + block.0.ncols())));
    let lefts = collected(blocks[0].len(), lefts, "blocks")?;
    // What rows of C are: rows of blocks, the rows of these, and the entries of C before them all.
    let of_blocks = |rows: Range<usize>| {
        let first = tops.partition_point(|top| top.0 <= rows.start).saturating_sub(1);
        let below = blocks[first..].iter().zip(&tops[first..]);
        below.take_while(move |(_, top)| top.0 < rows.end).map(move |(row, &(top, before))| {
            (row, rows.start.max(top) - top..rows.end.min(top + row[0].0.nrows()) - top, before)
        })
    };
    let parts = split_rows(nrows, &|i| i as u64)?;
    let start = |t: usize| if t > parts.len() { nrows + 1 } else { t.checked_sub(1).map_or(0, |t| parts[t].end) };
    let fill = |(): &mut (), t: usize, to: &mut Slots<'_, usize>| {
        let Some(rows) = parts.get(t) else {
            to.take(1, nnz);
            return Ok(());
        };
        for (row, rows, before) in of_blocks(rows.clone()) {
            let starts = to.take(rows.len(), before);
            for (block, _) in row {
                starts.iter_mut().zip(&block.row_ptr()[rows.clone()]).for_each(|(start, of_block)| *start += of_block);
            }
        }
        Ok(())
    };
    let row_ptr =
        Fresh::new(nrows + 1, "row pointers")?.fill(threads, "concat", parts.len() + 1, start, || Ok(()), fill)?;
    let parts = split_rows(nrows, &|i| (row_ptr[i] + i) as u64)?;
    let start = |t: usize| t.checked_sub(1).map_or(0, |t| row_ptr[parts[t].end]);
    let fill = |(): &mut (), t: usize, cols: &mut Slots<'_, I>| {
        for (row, rows, _) in of_blocks(parts[t].clone()) {
            for i in rows {
                for ((block, _), &left) in row.iter().zip(&lefts) {
                    let entries = block.row_ptr()[i]..block.row_ptr()[i + 1];
                    let js = &block.col_idx()[entries.start..];
                    cols.copy_row(js, entries.len(), |j| I::cast(j.get() + left));
                }
            }
        }
        Ok(())
    };
    let cols = Fresh::new(nnz, "column indices")?.fill(threads, "concat", parts.len(), start, || Ok(()), fill)?;
    let ty = blocks[0][0].1.ty();
    let values = fill_any(ty, threads, "concat", &parts, &|i| row_ptr[i], &|rows, to| {
        let parts =
            of_blocks(rows).flat_map(|(row, rows, _)| rows.flat_map(move |i| row.iter().map(move |of| (of, i))));
        to.copy_parts(parts.map(|((of, values), i)| (*values, of.row_ptr()[i]..of.row_ptr()[i + 1])));
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
