//! A scalar written where a sparse vector has entries.

use crate::algebra::Value;
use crate::sparse::SparseVec;
use crate::{Error, Index, Result};

/// `w(i) = x` where `places` has an entry, whatever its value.
///
/// Cost: O(nnz) time.
/// # Errors
/// [`Error::Length`] if the vectors differ in length.
/// # Example
/// ```
/// use sparring::{ops::assign, sparse::SparseVec};
/// let mut w = [0; 4];
/// assign(&mut w, &SparseVec::<bool>::new(4, vec![1, 3], vec![true, false])?, 7)?;
/// assert_eq!(w, [0, 7, 0, 7]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn assign<T: Value, S: Value, I: Index>(w: &mut [T], places: &SparseVec<S, I>, x: T) -> Result<()> {
    if places.len() != w.len() {
        return Err(Error::Length { what: "places of an assignment", found: places.len(), expected: w.len() });
    }
    for i in places.indices() {
        w[i.get()] = x;
    }
    Ok(())
}
