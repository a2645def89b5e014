//! Matrices with one value at every (i, j) of a submatrix.

use std::sync::Arc;

use super::IndexList;
use super::csr::Csr;
use super::row_major::row_major_len;
use super::vector::Vector;
use crate::algebra::Value;
use crate::par::{filled, out_of_memory, reserved};
use crate::pattern::{Pattern, check_ncols};
use crate::{Index, Result};

impl<T: Value, I: Index> Csr<T, I> {
    /// The full nrows × ncols matrix with every value `x`.
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<f64>::constant((2, 3), 0.5)?;
    /// assert_eq!((a.nnz(), a.get(1, 2)), (6, Some(&0.5)));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::IndexOverflow`](crate::Error::IndexOverflow) if ncols does not fit `I`;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn constant(shape: (usize, usize), x: T) -> Result<Self> {
        let all = IndexList::all();
        Self::constant_at(shape, x, (&all, &all))
    }
    /// The matrix with `x` at each (i, j) with i in I and j in J; the lists may repeat indices.
    ///
    /// Cost: O(nrows + |I|·|J|).
    /// # Errors
    /// [`Error::ListIndex`](crate::Error::ListIndex); those of [`constant`](Self::constant).
    pub(crate) fn constant_at(
        (nrows, ncols): (usize, usize),
        x: T,
        (rows, cols): (&IndexList, &IndexList),
    ) -> Result<Self> {
        check_ncols::<I>(ncols)?;
        if let (true, true, Some(len)) = (rows.is_all(), cols.is_all(), row_major_len::<I>((nrows, ncols))) {
            return Self::from_row_major((nrows, ncols), Vector::constant(len, x)?);
        }
        let pattern = pattern_of((nrows, ncols), (rows, cols))?;
        let values = filled(pattern.nnz(), x, "values")?;
        Self::with_pattern(Arc::new(pattern), values)
    }
}

/// The pattern of I × J.
fn pattern_of<I: Index>((nrows, ncols): (usize, usize), (rows, cols): (&IndexList, &IndexList)) -> Result<Pattern<I>> {
    let mut of_row = cols.to_vec("cols", ncols)?;
    of_row.sort_unstable();
    of_row.dedup();
    let mut of_rows = rows.to_vec("rows", nrows)?;
    of_rows.sort_unstable();
    of_rows.dedup();
    let nnz = of_row.len().checked_mul(of_rows.len());
    let nnz = nnz.ok_or_else(|| out_of_memory::<I>("column indices", usize::MAX))?;
    let mut row_ptr = reserved(nrows.saturating_add(1), "row pointers")?;
    let mut col_idx = reserved(nnz, "column indices")?;
    row_ptr.push(0);
    for i in of_rows {
        row_ptr.resize(i + 1, col_idx.len());
        col_idx.extend(of_row.iter().map(|&j| I::cast(j)));
        row_ptr.push(col_idx.len());
    }
    row_ptr.resize(nrows + 1, col_idx.len());
    Ok(Pattern::from_parts(nrows, ncols, row_ptr, col_idx, true))
}
