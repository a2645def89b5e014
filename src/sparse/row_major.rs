//! A matrix as one vector in row-major order: the bitmap and full forms of SuiteSparse:GraphBLAS.

use std::sync::Arc;

use super::rows::Rows;
use super::vector::{Vector, View};
use super::vector_pattern::{Indices, VectorPattern};
use super::{copied, reserved};
use crate::algebra::{Slice, SliceMut, Value};
use crate::par::zero_values;
use crate::pattern::Pattern;
use crate::{Error, Index, Result};

/// A matrix whose entry (i, j) is entry i·n + j of a vector, which stores a value slot for each index.
#[derive(Debug)]
pub(crate) struct RowMajor<T, I: Index> {
    shape: (usize, usize),
    pub(super) entries: Vector<T, I>,
}

impl<T, I: Index> Clone for RowMajor<T, I> {
    fn clone(&self) -> Self {
        Self { shape: self.shape, entries: self.entries.clone() }
    }
}

/// nrows·ncols, if `I` can represent every row-major index.
pub(super) fn row_major_len<I: Index>((nrows, ncols): (usize, usize)) -> Option<usize> {
    nrows.checked_mul(ncols).filter(|&len| len <= I::MAX_LEN)
}

/// Row-major indices of the entries of a pattern with sorted rows, increasing.
///
/// Cost: O(nrows + nnz).
/// # Errors
/// [`Error::OutOfMemory`]; [`Error::IndexOverflow`] if nrows·ncols does not fit `I`.
pub(super) fn row_major_indices<I: Index>(pattern: &Pattern<I>) -> Result<VectorPattern<I>> {
    debug_assert!(pattern.is_sorted());
    let (shape, ncols) = (pattern.shape(), pattern.ncols());
    let Some(len) = row_major_len::<I>(shape) else {
        let needed = shape.0 as u128 * shape.1 as u128;
        return Err(Error::IndexOverflow { what: "row-major indices of a matrix", needed, max: I::MAX_LEN as u128 });
    };
    if pattern.nnz() == len {
        return Ok(VectorPattern::full(len));
    }
    let mut indices = reserved(pattern.nnz(), "indices")?;
    for i in 0..shape.0 {
        indices.extend(pattern.row(i).iter().map(|j| I::cast(i * ncols + j.get())));
    }
    Ok(VectorPattern::list(len, indices))
}

/// The pattern of a matrix with entries at these row-major indices.
///
/// Cost: O(nrows + nnz), of a bitmap O(nrows + nrows·ncols / 64 + nnz).
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn pattern_of_row_major<I: Index>(
    (nrows, ncols): (usize, usize),
    indices: Indices<'_, I>,
) -> Result<Pattern<I>> {
    let (len, mut row_ptr) = (nrows * ncols, reserved(nrows + 1, "row pointers")?);
    let mut cols = reserved(indices.count(len), "columns")?;
    row_ptr.push(0);
    if let Indices::All = indices {
        for i in 1..=nrows {
            cols.extend((0..ncols).map(I::cast));
            row_ptr.push(i * ncols);
        }
        return Ok(Pattern::from_parts(nrows, ncols, row_ptr, cols, true));
    }
    let mut start = 0;
    for p in indices.iter(len) {
        while p >= start + ncols {
            start += ncols;
            row_ptr.push(cols.len());
        }
        cols.push(I::cast(p - start));
    }
    row_ptr.resize(nrows + 1, cols.len());
    Ok(Pattern::from_parts(nrows, ncols, row_ptr, cols, true))
}

impl<T, I: Index> RowMajor<T, I> {
    pub(super) fn shape(&self) -> (usize, usize) {
        self.shape
    }
    pub(super) fn len(&self) -> usize {
        self.shape.0 * self.shape.1
    }
    pub(super) fn nnz(&self) -> usize {
        self.entries.entries()
    }
    pub(super) fn get(&self, i: usize, j: usize) -> Option<&T> {
        let (nrows, ncols) = self.shape;
        if i < nrows && j < ncols { self.entries.at(i * ncols + j) } else { None }
    }
}

impl<T: Value, I: Index> RowMajor<T, I> {
    /// The length of the vector must be nrows·ncols.
    pub(super) fn new(shape: (usize, usize), entries: Vector<T, I>) -> Self {
        debug_assert_eq!(row_major_len::<I>(shape), Some(entries.len()));
        Self { shape, entries }
    }
    /// The entries as compressed rows.
    ///
    /// Cost: O(nrows + nnz), of a bitmap O(nrows + nrows·ncols / 64 + nnz).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn compress(&self) -> Result<Rows<T, I>> {
        let entries = &self.entries;
        let pattern = Arc::new(pattern_of_row_major(self.shape, entries.pattern().indices())?);
        let values = match entries.view() {
            View::List(_, values) | View::Full(values) => copied(values, "values")?,
            View::Bitmap(_, values) => {
                let mut kept = zero_values(entries.nnz(), "values")?;
                SliceMut::of(&mut kept).gather(&Slice::of(values), entries.pattern().iter());
                kept
            }
        };
        Ok(Rows { pattern, values: Arc::new(values.into()) })
    }
}
