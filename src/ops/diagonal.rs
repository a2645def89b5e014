//! Patterns of diagonals, and of matrices with a given diagonal, for values of any type.

use crate::par::{reserved, zeros};
use crate::pattern::check_ncols;
use crate::{Error, Index, Pattern, Result};

/// The first position of a diagonal, and its length.
pub(crate) fn diagonal_of((nrows, ncols): (usize, usize), k: i64) -> ((usize, usize), usize) {
    let by = usize::try_from(k.unsigned_abs()).unwrap_or(usize::MAX);
    if k >= 0 { ((0, by), nrows.min(ncols.saturating_sub(by))) } else { ((by, 0), ncols.min(nrows.saturating_sub(by))) }
}

/// The entries of diagonal k, above the main one for k > 0: their indices along the diagonal, and their positions among
/// the values of the matrix, whose rows are sorted.
///
/// Cost: O(length of the diagonal) binary searches.
/// # Errors
/// [`Error::IndexOverflow`] for a diagonal too long for `I`; [`Error::OutOfMemory`].
pub(crate) fn diagonal_entries<I: Index>(a: &Pattern<I>, k: i64) -> Result<(Vec<I>, Vec<usize>)> {
    let (first, len) = diagonal_of(a.shape(), k);
    check_ncols::<I>(len)?;
    let (mut indices, mut positions) = (reserved(len, "indices")?, reserved(len, "positions")?);
    for p in 0..len {
        let (i, j) = (first.0 + p, first.1 + p);
        if let Ok(q) = a.row(i).binary_search(&I::cast(j)) {
            indices.push(I::cast(p));
            positions.push(a.row_ptr()[i] + q);
        }
    }
    Ok((indices, positions))
}

/// The pattern of the square matrix of n + |k| rows whose diagonal k, of length n = `len`, has entries at these
/// increasing indices.
///
/// Cost: O(n + |k|).
/// # Errors
/// [`Error::IndexOverflow`] for too many columns; [`Error::OutOfMemory`].
pub(crate) fn diagonal_pattern<I: Index>(len: usize, mut indices: Vec<I>, k: i64) -> Result<Pattern<I>> {
    let needed = len as u128 + u128::from(k.unsigned_abs());
    if needed > I::MAX_LEN as u128 {
        return Err(Error::IndexOverflow { what: "rows of a diagonal matrix", needed, max: I::MAX_LEN as u128 });
    }
    let (n, by) = (needed as usize, k.unsigned_abs() as usize);
    let (down, right) = if k >= 0 { (0, by) } else { (by, 0) };
    let mut row_ptr = zeros(n + 1, "row pointers")?;
    indices.iter().for_each(|i| row_ptr[i.get() + down + 1] = 1);
    (0..n).for_each(|i| row_ptr[i + 1] += row_ptr[i]);
    indices.iter_mut().for_each(|i| *i = I::cast(i.get() + right));
    Ok(Pattern::from_parts(n, n, row_ptr, indices, true))
}
