//! Block matrices of values of any type.

use std::ops::Range;

use super::blocks::blocks as split_rows;
use crate::algebra::{Array, Slice};
use crate::kernels::{Joins, joined_any};
use crate::par::{OutputSlice, Threads, UninitOutput, collected, reserved};
use crate::sparse::{IndexList, units};
use crate::{Error, Index, Pattern, Result};

/// Rows, columns and entries of the block matrix with blocks of these shapes and entry counts; every row of blocks has
/// the same number of blocks.
/// # Errors
/// [`Error::Shape`] for nonconforming blocks, [`Error::Argument`] for no blocks or rows of different numbers;
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

/// The pattern and values of the block matrix, of the shape computed by [`concat_shape`]. Rows of the blocks are
/// sorted, and all values have one type.
///
/// Cost: O(rows · blocks of a row + entries).
/// # Errors
/// [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn concat_blocks<I: Index>(
    threads: &Threads,
    blocks: &[Vec<(&Pattern<I>, Slice<'_>)>],
    shape: (usize, usize, usize),
) -> Result<(Pattern<I>, Array)> {
    let concat = Concat { threads, blocks, shape };
    let all = blocks.iter().flatten();
    let values = collected(all.clone().count(), all.clone().map(|block| block.1), "blocks")?;
    if let Some(joined) = joined_any(&values, &concat)? {
        return Ok(joined);
    }
    // Structs.
    let none = collected(values.len(), all.map(|block| units(block.0.nnz())), "blocks")?;
    let (pattern, _) = concat.join(&none)?;
    let mut values = Array::zeros(blocks[0][0].1.ty(), shape.2)?;
    let rows_of = |row: &Vec<(&Pattern<I>, _)>| row.first().map_or(0, |block| block.0.nrows());
    let rows = blocks.iter().flat_map(|row| (0..rows_of(row)).flat_map(move |i| row.iter().map(move |of| (of, i))));
    let parts = rows.map(|((of, values), i)| (*values, of.row_ptr()[i]..of.row_ptr()[i + 1]));
    values.slice_mut().copy_parts(parts);
    Ok((pattern, values))
}

/// Blocks and the shape of their block matrix.
struct Concat<'a, I: Index> {
    threads: &'a Threads,
    blocks: &'a [Vec<(&'a Pattern<I>, Slice<'a>)>],
    shape: (usize, usize, usize),
}

/// A block: its pattern, its values, and its first column in C.
type Block<'a, T, I> = (&'a Pattern<I>, &'a [T], usize);

impl<I: Index> Joins for Concat<'_, I> {
    type Structure = Pattern<I>;
    fn join<T: Copy + Send + Sync>(&self, values: &[&[T]]) -> Result<(Pattern<I>, Vec<T>)> {
        let &Self { threads, blocks, shape: (nrows, ncols, nnz) } = self;
        let mut values = values.iter();
        let mut all = reserved(blocks.len(), "blocks")?;
        let (mut top, mut before) = (0, 0);
        for row in blocks {
            let mut left = 0;
            let placed = row.iter().zip(&mut values).map(|((of, _), xs)| {
                left += of.ncols();
                (*of, *xs, left - of.ncols())
            });
            let placed: Vec<Block<'_, T, I>> = collected(row.len(), placed, "blocks")?;
            all.push((placed, top, before));
            top += row[0].0.nrows();
            before += row.iter().map(|block| block.0.nnz()).sum::<usize>();
        }
        // Splits rows of C at rows of blocks: the block row, its rows, and the entries of C before them.
        let of_blocks = |rows: Range<usize>| {
            let first = all.partition_point(|row| row.1 <= rows.start).saturating_sub(1);
            all[first..].iter().take_while(move |row| row.1 < rows.end).map(move |(row, top, before)| {
                (row, rows.start.max(*top) - top..rows.end.min(top + row[0].0.nrows()) - top, *before)
            })
        };
        let parts = split_rows(nrows, &|i| i as u64)?;
        let start = |t: usize| if t > parts.len() { nrows + 1 } else { t.checked_sub(1).map_or(0, |t| parts[t].end) };
        let fill = |(): &mut (), t: usize, to: &mut OutputSlice<'_, usize>| {
            let Some(rows) = parts.get(t) else {
                to.take(1, nnz);
                return Ok(());
            };
            for (row, rows, before) in of_blocks(rows.clone()) {
                let starts = to.take(rows.len(), before);
                for (block, ..) in row {
                    let of_block = &block.row_ptr()[rows.clone()];
                    starts.iter_mut().zip(of_block).for_each(|(start, of_block)| *start += of_block);
                }
            }
            Ok(())
        };
        let row_ptr = UninitOutput::new(nrows + 1, "row pointers")?.fill(
            threads,
            "concat",
            parts.len() + 1,
            start,
            || Ok(()),
            fill,
        )?;
        let parts = split_rows(nrows, &|i| (row_ptr[i] + i) as u64)?;
        let (cols, values) = UninitOutput::new(nnz, "column indices")?.fill_with(
            UninitOutput::new(nnz, "values")?,
            threads,
            "concat",
            parts.len(),
            |t| t.checked_sub(1).map_or(0, |t| row_ptr[parts[t].end]),
            || Ok(()),
            |(), t, cols, values| {
                for (row, rows, _) in of_blocks(parts[t].clone()) {
                    for i in rows {
                        for &(block, xs, left) in row {
                            let (start, end) = (block.row_ptr()[i], block.row_ptr()[i + 1]);
                            cols.copy_row(&block.col_idx()[start..], end - start, |j| I::cast(j.get() + left));
                            values.copy_row(&xs[start..], end - start, |x| x);
                        }
                    }
                }
                Ok(())
            },
        )?;
        Ok((Pattern::from_parts(nrows, ncols, row_ptr, cols, true), values))
    }
}

/// Cuts a dimension into consecutive ranges of these lengths.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::Value;
    use num_complex::Complex;

    crate::value! {
        /// A struct with no word size.
        struct Wide {
            /// Eight bytes.
            x: u64,
            /// Sixteen bytes.
            y: Complex<f64>,
        }
    }

    /// Rows of up to 90 entries, some empty, in a matrix of `m` rows.
    fn block<I: Index>(m: usize, n: usize, seed: usize) -> Pattern<I> {
        let row = |i: usize| {
            let len = [0, 1, 2, 7, 8, 9, 0, 16, 17, 63, 64, 65, 90][(i * 7 + seed) % 13].min(n);
            let first = (i * 31 + seed) % (n - len + 1);
            (first..first + len).map(I::cast)
        };
        let ptr = std::iter::once(0).chain((0..m).scan(0, |end, i| {
            *end += row(i).len();
            Some(*end)
        }));
        Pattern::new(m, n, ptr.collect(), (0..m).flat_map(row).collect()).unwrap()
    }

    /// Values of every size and both index types: the result has the entries of the blocks, row after row.
    #[test]
    fn blocks_are_joined_whatever_the_size_of_a_value() {
        fn check<T: Value, I: Index>(make: impl Fn(usize) -> T) {
            let shapes = [[(40, 100), (40, 0), (40, 300)], [(0, 100), (0, 0), (0, 300)], [(1, 100), (1, 0), (1, 300)]];
            let patterns = shapes.iter().enumerate().map(|(r, row)| {
                row.iter().enumerate().map(|(c, &(m, n))| block::<I>(m, n, 3 * r + 5 * c)).collect::<Vec<_>>()
            });
            let patterns: Vec<Vec<Pattern<I>>> = patterns.collect();
            let nnz = patterns.iter().flatten().map(Pattern::nnz).max().unwrap();
            let values: Vec<T> = (0..nnz).map(make).collect();
            let all: Vec<Vec<_>> =
                patterns.iter().map(|row| row.iter().map(|p| (p, Slice::of(&values[..p.nnz()]))).collect()).collect();
            let of = |row: &Vec<(&Pattern<I>, Slice<'_>)>| row.iter().map(|b| (b.0.shape(), b.0.nnz())).collect();
            let shape = concat_shape::<I>(&all.iter().map(of).collect::<Vec<_>>()).unwrap();
            let (mut cols, mut want, mut ends) = (vec![], vec![], vec![0]);
            for row in &patterns {
                for i in 0..row[0].nrows() {
                    let mut left = 0;
                    for b in row {
                        cols.extend(b.row(i).iter().map(|j| I::cast(left + j.get())));
                        want.extend_from_slice(&values[b.row_ptr()[i]..b.row_ptr()[i + 1]]);
                        left += b.ncols();
                    }
                    ends.push(cols.len());
                }
            }
            for threads in [1, 2, 3] {
                let (c, found) = concat_blocks(&Threads::new(threads).unwrap(), &all, shape).unwrap();
                assert_eq!((c.shape(), c.row_ptr(), c.col_idx()), ((41, 400), &ends[..], &cols[..]));
                assert_eq!(found.slice().get::<T>().unwrap(), &want[..]);
            }
        }
        check::<bool, u32>(|p| p % 3 == 0);
        check::<u16, u64>(|p| p as u16);
        check::<f32, u32>(|p| p as f32);
        check::<f64, u32>(|p| p as f64);
        check::<Complex<f32>, u64>(|p| Complex::new(p as f32, 1.0));
        check::<Complex<f64>, u32>(|p| Complex::new(p as f64, 1.0));
        check::<Wide, u32>(|p| Wide { x: p as u64, y: Complex::new(0.5, p as f64) });
    }
}
