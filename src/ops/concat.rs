//! Block matrices: the pattern of blocks beside and below each other, of values of any type.

use std::ops::Range;

use crate::par::{collected, reserved, zeros};
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

/// The pattern of the block matrix, of the shape that [`concat_shape`] has found; rows of the blocks are sorted.
/// `copy(r, c, from, to)`: values `from` of block (r, c) are those from `to` on. It is called in the order of `to`.
///
/// Cost: O(rows · blocks of a row + entries).
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn concat_pattern<I: Index>(
    blocks: &[Vec<&Pattern<I>>],
    (nrows, ncols, nnz): (usize, usize, usize),
    mut copy: impl FnMut(usize, usize, Range<usize>, usize),
) -> Result<Pattern<I>> {
    let (mut row_ptr, mut cols) = (zeros(nrows + 1, "row pointers")?, reserved(nnz, "column indices")?);
    let mut top = 0;
    for (r, row) in blocks.iter().enumerate() {
        let rows = row[0].nrows();
        for i in 0..rows {
            let mut left = 0;
            for (c, block) in row.iter().enumerate() {
                copy(r, c, block.row_ptr()[i]..block.row_ptr()[i + 1], cols.len());
                cols.extend(block.row(i).iter().map(|j| I::cast(j.get() + left)));
                left += block.ncols();
            }
            row_ptr[top + i + 1] = cols.len();
        }
        top += rows;
    }
    Ok(Pattern::from_parts(nrows, ncols, row_ptr, cols, true))
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
