//! Compressed sparse rows: a shared pattern and one value per entry.

use std::sync::Arc;

use crate::algebra::Value;
use crate::par::Storage;
use crate::pattern::Pattern;
use crate::{Error, Index, Result};

/// An nrows × ncols sparse matrix in compressed rows.
///
/// The pattern is shared: matrices with the same structure (the results of one plan, say) hold one
/// copy of it. Stored zeros are entries like any other.
///
/// A clone is another name for the same matrix and costs nothing; the values are copied when one of the two is
/// [written](Self::values_mut).
#[derive(Debug)]
pub struct Csr<T, I: Index = u32> {
    pattern: Arc<Pattern<I>>,
    values: Arc<Storage<T>>,
}

impl<T, I: Index> Clone for Csr<T, I> {
    fn clone(&self) -> Self {
        Self { pattern: Arc::clone(&self.pattern), values: Arc::clone(&self.values) }
    }
}

impl<T: PartialEq, I: Index> PartialEq for Csr<T, I> {
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.pattern, &other.pattern) || self.pattern == other.pattern) && self.values == other.values
    }
}

impl<T, I: Index> Csr<T, I> {
    /// From row pointers, columns that increase within each row, and values.
    /// # Errors
    /// Those of [`Pattern::new`]; [`Error::Length`] if there is not one value per entry.
    /// # Example
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
    /// assert_eq!(a.nnz(), 3);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn new(nrows: usize, ncols: usize, row_ptr: Vec<usize>, col_idx: Vec<I>, values: Vec<T>) -> Result<Self> {
        Self::with_pattern(Arc::new(Pattern::new(nrows, ncols, row_ptr, col_idx)?), values)
    }

    /// From row pointers, columns in any order within each row, and values.
    /// # Errors
    /// Those of [`Pattern::from_unsorted`]; [`Error::Length`] if there is not one value per entry.
    pub fn from_unsorted(
        nrows: usize,
        ncols: usize,
        row_ptr: Vec<usize>,
        col_idx: Vec<I>,
        values: Vec<T>,
    ) -> Result<Self> {
        Self::with_pattern(Arc::new(Pattern::from_unsorted(nrows, ncols, row_ptr, col_idx)?), values)
    }

    /// From a pattern, which may be shared with other matrices, and its values.
    /// # Errors
    /// [`Error::Length`] if there is not one value per entry.
    pub fn with_pattern(pattern: Arc<Pattern<I>>, values: Vec<T>) -> Result<Self> {
        Self::with_storage(pattern, values.into())
    }

    /// From arrays that may belong to another owner, without copying them; columns in any order within each row.
    ///
    /// Cost: O(nrows + nnz), once, to check them. [`Storage`] shows how arrays of SciPy's types are taken.
    /// # Errors
    /// Those of [`from_unsorted`](Self::from_unsorted).
    pub fn from_storage(
        nrows: usize,
        ncols: usize,
        row_ptr: Storage<usize>,
        col_idx: Storage<I>,
        values: Storage<T>,
    ) -> Result<Self> {
        Self::with_storage(Arc::new(Pattern::from_storage(nrows, ncols, row_ptr, col_idx)?), values)
    }

    /// From a pattern and values that may belong to another owner.
    /// # Errors
    /// [`Error::Length`] if there is not one value per entry.
    pub fn with_storage(pattern: Arc<Pattern<I>>, values: Storage<T>) -> Result<Self> {
        if values.len() != pattern.nnz() {
            return Err(Error::Length { what: "values", found: values.len(), expected: pattern.nnz() });
        }
        Ok(Self { pattern, values: Arc::new(values) })
    }

    /// The nrows × ncols matrix without entries.
    /// # Errors
    /// Those of [`Pattern::empty`].
    pub fn empty(nrows: usize, ncols: usize) -> Result<Self> {
        Ok(Self { pattern: Arc::new(Pattern::empty(nrows, ncols)?), values: Arc::default() })
    }

    /// Rows.
    #[inline]
    pub fn nrows(&self) -> usize {
        self.pattern.nrows()
    }
    /// Columns.
    #[inline]
    pub fn ncols(&self) -> usize {
        self.pattern.ncols()
    }
    /// Rows and columns.
    #[inline]
    pub fn shape(&self) -> (usize, usize) {
        self.pattern.shape()
    }
    /// Entries, stored zeros included.
    #[inline]
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Where the entries are.
    #[inline]
    pub fn pattern(&self) -> &Arc<Pattern<I>> {
        &self.pattern
    }
    /// Row pointers: row i is `row_ptr[i]..row_ptr[i + 1]`.
    #[inline]
    pub fn row_ptr(&self) -> &[usize] {
        self.pattern.row_ptr()
    }
    /// Column indices, row by row.
    #[inline]
    pub fn col_idx(&self) -> &[I] {
        self.pattern.col_idx()
    }
    /// Values, row by row.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// Values, row by row, for change in place, if no clone shares them and they do not belong to another owner.
    #[inline]
    pub fn unshared_mut(&mut self) -> Option<&mut [T]> {
        Arc::get_mut(&mut self.values).and_then(Storage::owned_mut)
    }
    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[I], &[T]) {
        let range = self.row_ptr()[i]..self.row_ptr()[i + 1];
        (&self.col_idx()[range.clone()], &self.values[range])
    }
    /// Entries as (row, column, value), row by row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, &T)> + '_ {
        (0..self.nrows()).flat_map(move |i| {
            let (cols, values) = self.row(i);
            cols.iter().zip(values).map(move |(j, x)| (i, j.get(), x))
        })
    }
    /// The value at (i, j), or `None` where there is no entry (or no such place).
    pub fn get(&self, i: usize, j: usize) -> Option<&T> {
        self.values.get(self.pattern.find(i, j)?)
    }
    /// Values, row by row, for change in place. Values that a clone shares, or that belong to another owner, are copied
    /// first, and there must be memory for them, as there must be for any clone in Rust;
    /// [`unshared_mut`](Self::unshared_mut) never copies.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T]
    where
        T: Clone,
    {
        // A clone of a storage is a vector of its own.
        if self.values.is_foreign() {
            self.values = Arc::new(Storage::clone(&self.values));
        }
        Arc::make_mut(&mut self.values).owned_mut().unwrap_or_default()
    }
    /// The pattern and the values, which are copied if a clone shares them.
    pub fn into_parts(self) -> (Arc<Pattern<I>>, Vec<T>)
    where
        T: Clone,
    {
        (self.pattern, Arc::unwrap_or_clone(self.values).into_vec())
    }
    /// The same pattern with values `f(x)`.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn map<U: Value>(&self, f: impl Fn(&T) -> U) -> Result<Csr<U, I>> {
        let mut values = super::reserved(self.values.len(), "values")?;
        values.extend(self.values.iter().map(f));
        Ok(Csr { pattern: Arc::clone(&self.pattern), values: Arc::new(values.into()) })
    }
}
