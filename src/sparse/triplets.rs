//! Identity matrices, traces, and construction from triplets.

use super::builder::Builder;
use super::csr::Csr;
use crate::algebra::{Number, Value};
use crate::par::{collected, filled};
use crate::{Error, Index, Result};

impl<T: Number, I: Index> Csr<T, I> {
    /// The n × n matrix with ones on its diagonal.
    /// ```
    /// use sparring::Csr;
    /// assert_eq!(Csr::<i32>::eye(2)?, Csr::new(2, 2, vec![0, 1, 2], vec![0, 1], vec![1, 1])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`].
    pub fn eye(n: usize) -> Result<Self> {
        if n > I::MAX_LEN {
            return Err(Error::IndexOverflow { what: "columns", needed: n as u128, max: I::MAX_LEN as u128 });
        }
        let row_ptr = collected(n + 1, 0..=n, "row pointers")?;
        let columns = collected(n, (0..n).map(I::cast), "column indices")?;
        Self::new(n, n, row_ptr, columns, filled(n, T::ONE, "values")?)
    }
    /// The sum of the diagonal, in order; 0 if it has no entries. The matrix need not be square.
    ///
    /// Cost: O(rows · log d) for rows of d entries.
    /// ```
    /// use sparring::Csr;
    /// assert_eq!(Csr::<i32>::eye(5)?.trace(), 5);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    #[must_use]
    pub fn trace(&self) -> T {
        let (m, n) = self.shape();
        (0..m.min(n)).filter_map(|i| self.get(i, i)).fold(T::ZERO, |sum, x| sum.wrapping_add(*x))
    }
}

impl<T: Value, I: Index> Csr<T, I> {
    /// The nrows × ncols matrix of these entries (i, j, x), in any order.
    ///
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<f64>::from_triplets(2, 3, [(1, 2, 0.5), (0, 0, 2.0)])?;
    /// assert_eq!((a.get(1, 2), a.nnz()), (Some(&0.5), 2));
    /// let again = Csr::<f64>::from_triplets(2, 3, a.iter().map(|(i, j, x)| (i, j, *x)))?;
    /// assert_eq!(a, again);
    /// assert!(Csr::<f64>::from_triplets(2, 3, [(0, 0, 1.0), (0, 0, 1.0)]).is_err());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Duplicate`] for a repeated (i, j) ([`Builder::finish`] folds repeats);
    /// [`Error::IndexRange`], [`Error::IndexOverflow`], [`Error::OutOfMemory`].
    pub fn from_triplets(
        nrows: usize,
        ncols: usize,
        entries: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Result<Self> {
        let mut builder = Builder::new(nrows, ncols)?;
        entries.into_iter().try_for_each(|(i, j, x)| builder.push(i, j, x))?;
        builder.unique()
    }
}
