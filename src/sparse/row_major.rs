//! A matrix as one vector of its places, row after row: what GraphBLAS calls bitmap and full.

use std::sync::Arc;

use super::rows::Rows;
use super::vector::{Vector, View};
use super::vector_pattern::{Indices, VectorPattern};
use super::{copied, reserved};
use crate::algebra::{Slice, SliceMut, Value};
use crate::par::zero_values;
use crate::pattern::Pattern;
use crate::{Error, Index, Result};

/// A matrix whose entry (i, j) is entry i·n + j of a vector, which has a value for each place.
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

/// How many places a matrix has, if an index can name all of them.
pub(super) fn places_of<I: Index>((nrows, ncols): (usize, usize)) -> Option<usize> {
    nrows.checked_mul(ncols).filter(|&places| places <= I::MAX_LEN)
}

/// The places of the entries of a pattern with sorted rows, increasing.
///
/// Cost: O(nrows + nnz).
/// # Errors
/// [`Error::OutOfMemory`]; [`Error::IndexOverflow`] if an index cannot name all places.
pub(super) fn places_of_rows<I: Index>(pattern: &Pattern<I>) -> Result<VectorPattern<I>> {
    debug_assert!(pattern.is_sorted());
    let (shape, ncols) = (pattern.shape(), pattern.ncols());
    let Some(len) = places_of::<I>(shape) else {
        let needed = shape.0 as u128 * shape.1 as u128;
        return Err(Error::IndexOverflow { what: "places of a matrix", needed, max: I::MAX_LEN as u128 });
    };
    if pattern.nnz() == len {
        return Ok(VectorPattern::full(len));
    }
    let mut places = reserved(pattern.nnz(), "places")?;
    for i in 0..shape.0 {
        places.extend(pattern.row(i).iter().map(|j| I::cast(i * ncols + j.get())));
    }
    Ok(VectorPattern::list(len, places))
}

/// The pattern of a matrix whose entries are at these places.
///
/// Cost: O(nrows + nnz), of a bitmap O(nrows + places / 64 + nnz).
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn rows_of_places<I: Index>((nrows, ncols): (usize, usize), places: Indices<'_, I>) -> Result<Pattern<I>> {
    let (len, mut row_ptr) = (nrows * ncols, reserved(nrows + 1, "row pointers")?);
    let mut cols = reserved(places.count(len), "columns")?;
    row_ptr.push(0);
    if let Indices::All = places {
        for i in 1..=nrows {
            cols.extend((0..ncols).map(I::cast));
            row_ptr.push(i * ncols);
        }
        return Ok(Pattern::from_parts(nrows, ncols, row_ptr, cols, true));
    }
    let mut start = 0;
    for p in places.iter(len) {
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
    pub(super) fn places(&self) -> usize {
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
    /// The vector has as many places as the shape.
    pub(super) fn new(shape: (usize, usize), entries: Vector<T, I>) -> Self {
        debug_assert_eq!(places_of::<I>(shape), Some(entries.len()));
        Self { shape, entries }
    }
    /// The same entries as compressed rows.
    ///
    /// Cost: O(nrows + nnz), of a bitmap O(nrows + places / 64 + nnz).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn compress(&self) -> Result<Rows<T, I>> {
        let entries = &self.entries;
        let pattern = Arc::new(rows_of_places(self.shape, entries.pattern().indices())?);
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
