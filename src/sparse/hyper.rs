//! Hypersparse rows with a hash map: only non-empty rows are stored.

use hashbrown::HashMap;

use super::out_of_memory;
use crate::{Csr, Error, Index, Result};

/// A hypersparse matrix: memory does not depend on nrows.
///
/// Row `rows()[r]` of the matrix is row r of `compact()`; empty rows are not stored.
#[derive(Clone, Debug)]
pub struct HyperCsr<T, I: Index = u32> {
    nrows: usize,
    rows: Vec<I>,
    compact: Csr<T, I>,
    place: HashMap<I, usize>,
}

impl<T: PartialEq, I: Index> PartialEq for HyperCsr<T, I> {
    fn eq(&self, other: &Self) -> bool {
        // The map is determined by the rows.
        self.nrows == other.nrows && self.rows == other.rows && self.compact == other.compact
    }
}

/// Checks the indices of stored rows; `stored` is the required number of indices.
/// # Errors
/// [`Error::Length`], [`Error::IndexRange`]; [`Error::Argument`] unless they increase.
pub(super) fn check_stored<I: Index>(nrows: usize, rows: &[I], stored: usize) -> Result<()> {
    crate::pattern::check_nrows::<I>(nrows)?;
    if rows.len() != stored {
        return Err(Error::Length { what: "rows", found: rows.len(), expected: stored });
    }
    if let Some(position) = rows.iter().position(|i| i.get() >= nrows) {
        let index = rows[position].get() as u128;
        return Err(Error::IndexRange { axis: "row", position, index, bound: nrows });
    }
    match rows.windows(2).find(|w| w[0] >= w[1]) {
        Some(w) => Err(Error::Argument { name: "rows", message: format!("{} follows {}", w[1], w[0]) }),
        None => Ok(()),
    }
}

/// The position of each stored row.
fn places<I: Index>(rows: &[I]) -> Result<HashMap<I, usize>> {
    let mut places = HashMap::new();
    places.try_reserve(rows.len()).map_err(|_| out_of_memory::<(I, usize)>("a map of rows", rows.len()))?;
    places.extend(rows.iter().enumerate().map(|(r, &i)| (i, r)));
    Ok(places)
}

impl<T, I: Index> HyperCsr<T, I> {
    /// From the increasing indices of the stored rows, and the matrix of these rows.
    /// # Errors
    /// [`Error::Length`] if there is not one index per row of `compact`; [`Error::IndexRange`];
    /// [`Error::Argument`] if the indices do not increase; [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::{Csr, sparse::HyperCsr};
    /// let rows = Csr::<f64>::new(2, 3, vec![0, 1, 2], vec![2, 0], vec![5.0, 6.0])?;
    /// let a = HyperCsr::new(1_000_000_000, vec![7, 999_999_999], rows)?;
    /// assert_eq!((a.get(7, 2), a.get(8, 2)), (Some(&5.0), None));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn new(nrows: usize, rows: Vec<I>, compact: Csr<T, I>) -> Result<Self> {
        check_stored(nrows, &rows, compact.nrows())?;
        let place = places(&rows)?;
        Ok(Self { nrows, rows, compact, place })
    }
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.nrows, self.compact.ncols())
    }
    /// Entries, stored zeros included.
    pub fn nnz(&self) -> usize {
        self.compact.nnz()
    }
    /// Indices of the stored rows, increasing.
    pub fn rows(&self) -> &[I] {
        &self.rows
    }
    /// The stored rows as a matrix of their own.
    pub fn compact(&self) -> &Csr<T, I> {
        &self.compact
    }
    /// Position of row `i` among the stored rows.
    pub(crate) fn place(&self, i: I) -> Option<usize> {
        self.place.get(&i).copied()
    }
    /// Columns and values of row `i`, both empty if it is not stored.
    pub fn row(&self, i: usize) -> (&[I], &[T]) {
        let place = I::new(i).and_then(|i| self.place.get(&i));
        place.map_or((&[], &[]), |&r| self.compact.row(r))
    }
    /// The value at (i, j), or `None` where there is no entry.
    pub fn get(&self, i: usize, j: usize) -> Option<&T> {
        self.compact.get(*self.place.get(&I::new(i)?)?, j)
    }
    /// Entries as (row, column, value), row by row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, &T)> + '_ {
        self.compact.iter().map(|(r, j, x)| (self.rows[r].get(), j, x))
    }
    /// The matrix as compressed rows; O(nrows) memory.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn into_csr(self) -> Result<Csr<T, I>>
    where
        T: Clone,
    {
        let (pattern, values) = self.compact.into_parts();
        let len = self.nrows.checked_add(1).ok_or_else(|| out_of_memory::<usize>("row pointers", self.nrows))?;
        let mut row_ptr = super::reserved(len, "row pointers")?;
        for (r, i) in self.rows.iter().enumerate() {
            row_ptr.resize(i.get() + 1, pattern.row_ptr()[r]);
        }
        row_ptr.resize(len, pattern.nnz());
        let (ncols, sorted) = (pattern.ncols(), pattern.is_sorted());
        let cols = match std::sync::Arc::try_unwrap(pattern) {
            Ok(pattern) => pattern.into_parts().1,
            Err(shared) => super::copied(shared.col_idx(), "column indices")?,
        };
        let pattern = super::Pattern::from_parts(self.nrows, ncols, row_ptr, cols, sorted);
        Csr::with_pattern(std::sync::Arc::new(pattern), values)
    }
}
