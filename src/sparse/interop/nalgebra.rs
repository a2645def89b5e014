//! Conversions from and to matrices of `nalgebra-sparse` (feature `nalgebra`).
//!
//! ```
//! use nalgebra_sparse::CsrMatrix;
//! use sparring::Csr;
//! let theirs = CsrMatrix::<f64>::identity(3);
//! let ours = Csr::<f64>::from_nalgebra(theirs.clone())?;
//! assert_eq!(ours.get(2, 2), Some(&1.0));
//! assert_eq!(ours.to_nalgebra()?, theirs);
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! Row pointers and values are moved unless they are shared. Columns are converted, as they are `usize` in nalgebra.
//! There are no views, because its matrices own their arrays.

use std::sync::Arc;

use nalgebra_sparse::{CscMatrix, CsrMatrix};

use super::converted;
use crate::algebra::Value;
use crate::par::{Threads, copied};
use crate::{Csr, Error, Index, Result};

impl<T: Value, I: Index> Csr<T, I> {
    /// From a CSR matrix.
    /// # Errors
    /// [`Error::IndexOverflow`] for a column that does not fit `I`; [`Error::OutOfMemory`].
    pub fn from_nalgebra(a: CsrMatrix<T>) -> Result<Self> {
        let (nrows, ncols) = (a.nrows(), a.ncols());
        let (row_ptr, cols, values) = a.disassemble();
        Self::new(nrows, ncols, row_ptr, converted(cols, "column indices", I::MAX_LEN, Some, I::new)?, values)
    }
    /// From a CSC matrix, converted to CSR.
    /// # Errors
    /// [`Error::IndexOverflow`] for a row or column that does not fit `I`; [`Error::OutOfMemory`].
    pub fn from_nalgebra_csc(a: CscMatrix<T>) -> Result<Self> {
        let (nrows, ncols) = (a.nrows(), a.ncols());
        let (col_ptr, rows, values) = a.disassemble();
        let rows = converted(rows, "row indices", I::MAX_LEN, Some, I::new)?;
        Self::new(ncols, nrows, col_ptr, rows, values)?.transpose(&Threads::current())
    }
    /// The matrix as a CSR matrix of nalgebra; a shared pattern and shared values are copied.
    /// # Errors
    /// [`Error::Unsupported`] for unsorted rows; [`Error::OutOfMemory`].
    pub fn into_nalgebra(self) -> Result<CsrMatrix<T>> {
        let (nrows, ncols) = self.shape();
        self.compressed()?;
        let (pattern, values) = self.into_parts();
        let (row_ptr, cols) = match Arc::try_unwrap(pattern) {
            Ok(pattern) => pattern.into_parts(),
            Err(shared) => (copied(shared.row_ptr(), "row pointers")?, copied(shared.col_idx(), "column indices")?),
        };
        let cols = converted(cols, "column indices", usize::MAX, |j: I| Some(j.get()), Some)?;
        CsrMatrix::try_from_csr_data(nrows, ncols, row_ptr, cols, values)
            .map_err(|e| Error::Unsupported { what: "this matrix in nalgebra-sparse".into(), why: e.to_string() })
    }
    /// A copy as a CSR matrix of nalgebra.
    /// # Errors
    /// As [`into_nalgebra`](Self::into_nalgebra).
    pub fn to_nalgebra(&self) -> Result<CsrMatrix<T>> {
        let here = self.compressed()?;
        Csr::with_pattern(Arc::clone(here.pattern()), copied(here.values(), "values")?)?.into_nalgebra()
    }
}

impl<T: Value, I: Index> TryFrom<CsrMatrix<T>> for Csr<T, I> {
    type Error = Error;
    fn try_from(a: CsrMatrix<T>) -> Result<Self> {
        Self::from_nalgebra(a)
    }
}
impl<T: Value, I: Index> TryFrom<CscMatrix<T>> for Csr<T, I> {
    type Error = Error;
    fn try_from(a: CscMatrix<T>) -> Result<Self> {
        Self::from_nalgebra_csc(a)
    }
}
impl<T: Value, I: Index> TryFrom<Csr<T, I>> for CsrMatrix<T> {
    type Error = Error;
    fn try_from(a: Csr<T, I>) -> Result<Self> {
        a.into_nalgebra()
    }
}
