//! Conversions from and to matrices of `sprs` (feature `sprs`).
//!
//! ```
//! use sparring::Csr;
//! use sprs::CsMat;
//! let theirs: CsMat<f64> = CsMat::eye(3);
//! let ours = Csr::<f64>::from_sprs(theirs.clone())?;
//! assert_eq!(ours.get(2, 2), Some(&1.0));
//! assert_eq!(ours.to_sprs()?, theirs);
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! | from | to | copies |
//! | --- | --- | --- |
//! | `CsMatI<T, J, P>`, CSR | [`Csr`], by [`from_sprs`](Csr::from_sprs) or `try_from` | nothing if J is its index type and P is `usize`: the arrays are moved; otherwise indices or row pointers are converted |
//! | `CsMatI<T, J, P>`, CSC | [`Csr`] | one transpose |
//! | [`Csr`], sorted | `CsMatI<T, J, P>`, CSR, by [`into_sprs`](Csr::into_sprs) or `try_from` | as above, and a shared pattern |
//! | `&`[`Csr`], sorted | `CsMatI<T, J, P>`, CSR, by [`to_sprs`](Csr::to_sprs) | everything |
//! | `&`[`Csr`], sorted | `CsMatViewI<T, I, usize>`, by [`as_sprs`](Csr::as_sprs) | nothing |
//!
//! `CsMat<f64>` is `CsMatI<f64, usize, usize>`. Conversions to [`Csr`] validate the structure in O(nnz).
//! `to_sprs()?.into_csc()` is the CSC form.
//!
//! There are no views of `sprs` matrices as [`Csr`]. Plans and GPU copies identify a matrix by its pattern, which they
//! share through an `Arc`, so borrowed arrays would be copied at the first operation. An explicit conversion is paid
//! once, and by value it is free.

use std::sync::Arc;

use sprs::{CsMatI, CsMatViewI, SpIndex};

use super::converted;
use crate::algebra::Value;
use crate::par::{Threads, copied};
use crate::{Csr, Error, Index, Result};

impl<T: Value, I: Index> Csr<T, I> {
    /// From an `sprs` matrix with any index types. In CSR form, arrays of the types of [`Csr`] (columns `I`, row
    /// pointers `usize`) are moved and others converted; a CSC matrix is converted by one transpose.
    /// # Errors
    /// [`Error::IndexOverflow`] for an index that does not fit `I`; those of [`Csr::new`] if `a` was constructed
    /// unchecked; [`Error::OutOfMemory`].
    pub fn from_sprs<J: SpIndex + 'static, P: SpIndex + 'static>(a: CsMatI<T, J, P>) -> Result<Self> {
        let (by_rows, (rows, cols)) = (a.is_csr(), a.shape());
        let (nrows, ncols) = if by_rows { (rows, cols) } else { (cols, rows) };
        let (row_ptr, col_idx, values) = a.into_raw_storage();
        let mut row_ptr = converted(row_ptr, "row pointers", usize::MAX, P::try_index, Some)?;
        let col_idx = converted(col_idx, "column indices", I::MAX_LEN, J::try_index, I::new)?;
        if row_ptr.is_empty() {
            row_ptr = copied(&[0], "row pointers")?;
        }
        let first = row_ptr[0];
        row_ptr.iter_mut().for_each(|p| *p = p.wrapping_sub(first));
        let stored = Csr::new(nrows, ncols, row_ptr, col_idx, values)?;
        if by_rows { Ok(stored) } else { stored.transpose(&Threads::current()) }
    }

    /// The matrix as an `sprs` CSR matrix with the requested index types: arrays of these types are moved, a shared
    /// pattern is copied.
    /// # Errors
    /// [`Error::Unsupported`] for unsorted rows or a size beyond the limits of `sprs`;
    /// [`Error::IndexOverflow`] for an index that does not fit; [`Error::OutOfMemory`].
    pub fn into_sprs<J: SpIndex + 'static, P: SpIndex + 'static>(self) -> Result<CsMatI<T, J, P>> {
        let shape = self.shape();
        let (pattern, values) = self.into_parts();
        let (row_ptr, cols) = match Arc::try_unwrap(pattern) {
            Ok(pattern) => pattern.into_parts(),
            Err(shared) => (copied(shared.row_ptr(), "row pointers")?, copied(shared.col_idx(), "column indices")?),
        };
        let row_ptr = converted(row_ptr, "row pointers", largest::<P>(), Some, P::try_from_usize)?;
        let cols = converted(cols, "column indices", largest::<J>(), |j| Some(j.get()), J::try_from_usize)?;
        CsMatI::try_new(shape, row_ptr, cols, values).map_err(|e| refused(&e.3))
    }

    /// A copy of this matrix as an `sprs` CSR matrix with the requested index types.
    /// # Errors
    /// As [`into_sprs`](Self::into_sprs).
    /// # Example
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<f64>::new(1, 3, vec![0, 2], vec![0, 2], vec![1.0, 2.0])?;
    /// let b: sprs::CsMat<f64> = a.to_sprs()?;
    /// assert_eq!(b.get(0, 2), Some(&2.0));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn to_sprs<J: SpIndex + 'static, P: SpIndex + 'static>(&self) -> Result<CsMatI<T, J, P>> {
        Csr::with_pattern(Arc::clone(self.pattern()), copied(self.values(), "values")?)?.into_sprs()
    }
}

impl<T: Value, I: Index + SpIndex> Csr<T, I> {
    /// An `sprs` CSR view of this matrix.
    /// # Errors
    /// [`Error::Unsupported`] for unsorted rows or a size beyond the limits of `sprs`.
    /// # Example
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<f64>::new(1, 3, vec![0, 2], vec![0, 2], vec![1.0, 2.0])?;
    /// assert_eq!(a.as_sprs()?.get(0, 2), Some(&2.0));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn as_sprs(&self) -> Result<CsMatViewI<'_, T, I, usize>> {
        CsMatViewI::try_new(self.shape(), self.row_ptr(), self.col_idx(), self.values()).map_err(|e| refused(&e.3))
    }
}

impl<T: Value, I: Index, J: SpIndex + 'static, P: SpIndex + 'static> TryFrom<CsMatI<T, J, P>> for Csr<T, I> {
    type Error = Error;
    fn try_from(a: CsMatI<T, J, P>) -> Result<Self> {
        Self::from_sprs(a)
    }
}

impl<T: Value, I: Index, J: SpIndex + 'static, P: SpIndex + 'static> TryFrom<Csr<T, I>> for CsMatI<T, J, P> {
    type Error = Error;
    fn try_from(a: Csr<T, I>) -> Result<Self> {
        a.into_sprs()
    }
}

/// The largest index of the type.
fn largest<J: SpIndex>() -> usize {
    J::max_value().to_usize().unwrap_or(usize::MAX)
}

fn refused(e: &sprs::errors::StructureError) -> Error {
    Error::Unsupported { what: "this matrix in sprs".into(), why: e.to_string() }
}
