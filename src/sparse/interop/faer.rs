//! Conversions from and to sparse matrices of `faer` (feature `faer`).
//!
//! ```
//! use faer::sparse::{SparseColMat, Triplet};
//! use sparring::Csr;
//! let entries = [Triplet::new(0usize, 1usize, 2.0), Triplet::new(1, 0, 3.0)];
//! let theirs = SparseColMat::<usize, f64>::try_new_from_triplets(2, 2, &entries).expect("a matrix");
//! let ours = Csr::<f64>::from_faer_columns(theirs.as_ref())?;
//! assert_eq!((ours.get(0, 1), ours.get(1, 0)), (Some(&2.0), Some(&3.0)));
//! // A view: functions of faer read the columns and values in place.
//! assert_eq!(ours.as_faer()?.matrix().val(), [2.0, 3.0]);
//! assert_eq!(Csr::<f64>::from_faer(ours.to_faer::<usize>()?.as_ref())?, ours);
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! In faer, row pointers have the type of columns, so a view converts them in O(nrows). Columns and values are shared.

use faer::Index as FaerIndex;
use faer::sparse::{SparseColMatRef, SparseRowMat, SparseRowMatRef, SymbolicSparseRowMat, SymbolicSparseRowMatRef};

use super::converted;
use crate::algebra::Value;
use crate::par::{Threads, collected, copied, reserved};
use crate::{Csr, Error, Index, Result};

/// Compressed rows in faer's layout: row starts, indices and values, and `lens` if rows have gaps behind their entries.
struct Compressed<'a, J, T> {
    nrows: usize,
    ncols: usize,
    starts: &'a [J],
    lens: Option<&'a [J]>,
    indices: &'a [J],
    values: &'a [T],
}
impl<J: FaerIndex, T: Value> Compressed<'_, J, T> {
    fn to_csr<I: Index>(&self) -> Result<Csr<T, I>> {
        let mut row_ptr = reserved(self.nrows + 1, "row pointers")?;
        let rows = |i: usize| {
            let start = self.starts[i].zx();
            start..self.lens.map_or_else(|| self.starts[i + 1].zx(), |lens| start + lens[i].zx())
        };
        row_ptr.push(0);
        let mut nnz = 0;
        for i in 0..self.nrows {
            nnz += rows(i).len();
            row_ptr.push(nnz);
        }
        let (mut cols, mut values) = (reserved(nnz, "column indices")?, reserved(nnz, "values")?);
        for i in 0..self.nrows {
            for j in &self.indices[rows(i)] {
                let j = j.zx();
                let max = I::MAX_LEN as u128;
                cols.push(I::new(j).ok_or(Error::IndexOverflow { what: "column indices", needed: j as u128, max })?);
            }
            values.extend_from_slice(&self.values[rows(i)]);
        }
        Csr::from_unsorted(self.nrows, self.ncols, row_ptr, cols, values)
    }
}

/// A view of a matrix for faer, which reads its columns and values in place.
#[derive(Debug)]
pub struct FaerView<'a, T, I: Index> {
    a: &'a Csr<T, I>,
    row_ptr: Vec<I>,
}
impl<T: Value, I: Index + FaerIndex> FaerView<'_, T, I> {
    /// The matrix, for faer's functions.
    #[must_use]
    pub fn matrix(&self) -> SparseRowMatRef<'_, I, T> {
        let (nrows, ncols) = self.a.shape();
        let rows = SymbolicSparseRowMatRef::new_checked(nrows, ncols, &self.row_ptr, None, self.a.col_idx());
        SparseRowMatRef::new(rows, self.a.values())
    }
}

/// Checks the requirements of faer: sorted rows, and sizes that fit the signed counterpart of `J`.
fn sorted<J: FaerIndex, T: Value, I: Index>(a: &Csr<T, I>) -> Result<&Csr<T, I>> {
    let (a, most) = (a.compressed()?, largest::<J>());
    let needed = a.nrows().max(a.ncols()).max(a.nnz());
    if needed > most {
        return Err(Error::IndexOverflow { what: "sizes of a matrix", needed: needed as u128, max: most as u128 });
    }
    if a.pattern().is_sorted() {
        return Ok(a);
    }
    Err(Error::Unsupported { what: "this matrix in faer".into(), why: "its rows are not sorted".into() })
}

/// The largest size that faer allows.
fn largest<J: FaerIndex>() -> usize {
    J::MAX.zx() / 2
}

impl<T: Value, I: Index> Csr<T, I> {
    /// A copy of a row-major (CSR) matrix.
    /// # Errors
    /// [`Error::IndexOverflow`] for a column that does not fit `I`; [`Error::OutOfMemory`].
    pub fn from_faer<J: FaerIndex>(a: SparseRowMatRef<'_, J, T>) -> Result<Self> {
        let (nrows, ncols, starts, lens, indices) = a.symbolic().parts();
        Compressed { nrows, ncols, starts, lens, indices, values: a.val() }.to_csr()
    }
    /// A copy of a column-major (CSC) matrix, converted to CSR.
    /// # Errors
    /// As [`from_faer`](Self::from_faer).
    pub fn from_faer_columns<J: FaerIndex>(a: SparseColMatRef<'_, J, T>) -> Result<Self> {
        let (nrows, ncols, starts, lens, indices) = a.symbolic().parts();
        let by_columns = Compressed { nrows: ncols, ncols: nrows, starts, lens, indices, values: a.val() };
        by_columns.to_csr::<I>()?.transpose(&Threads::current())
    }
    /// A copy of this matrix for faer, in CSR form.
    /// # Errors
    /// [`Error::Unsupported`] for unsorted rows; [`Error::IndexOverflow`] for a size beyond half the maximum of `J`;
    /// [`Error::OutOfMemory`].
    pub fn to_faer<J: FaerIndex>(&self) -> Result<SparseRowMat<J, T>> {
        let (here, most) = (sorted::<J, T, I>(self)?, largest::<J>());
        let fits = |i: usize| (i <= most).then(|| J::truncate(i));
        let row_ptr = converted(copied(here.row_ptr(), "row pointers")?, "row pointers", most, Some, fits)?;
        let cols = copied(here.col_idx(), "column indices")?;
        let cols = converted(cols, "column indices", most, |j: I| Some(j.get()), fits)?;
        let rows = SymbolicSparseRowMat::new_checked(self.nrows(), self.ncols(), row_ptr, None, cols);
        Ok(SparseRowMat::new(rows, copied(here.values(), "values")?))
    }
}

impl<T: Value, I: Index + FaerIndex> Csr<T, I> {
    /// A CSR view of this matrix for faer; columns and values are not copied.
    ///
    /// Cost: O(nrows).
    /// # Errors
    /// [`Error::Unsupported`] for unsorted rows; [`Error::IndexOverflow`] for a size beyond half the maximum of `I`;
    /// [`Error::OutOfMemory`].
    pub fn as_faer(&self) -> Result<FaerView<'_, T, I>> {
        let a = sorted::<I, T, I>(self)?;
        let row_ptr = collected(a.nrows() + 1, a.row_ptr().iter().map(|&p| I::cast(p)), "row pointers")?;
        Ok(FaerView { a, row_ptr })
    }
}
