//! Sparse matrices of `faer` as ours and back (feature `faer`).
//!
//! ```
//! use faer::sparse::{SparseColMat, Triplet};
//! use sparring::Csr;
//! let entries = [Triplet::new(0usize, 1usize, 2.0), Triplet::new(1, 0, 3.0)];
//! let theirs = SparseColMat::<usize, f64>::try_new_from_triplets(2, 2, &entries).expect("a matrix");
//! let ours = Csr::<f64>::from_faer_columns(theirs.as_ref())?;
//! assert_eq!((ours.get(0, 1), ours.get(1, 0)), (Some(&2.0), Some(&3.0)));
//! // A view: their functions read our columns and values where they are.
//! assert_eq!(ours.as_faer()?.matrix().val(), [2.0, 3.0]);
//! assert_eq!(Csr::<f64>::from_faer(ours.to_faer::<usize>()?.as_ref())?, ours);
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! Row pointers are of the type of columns there, so those of a view are converted, O(nrows); columns and values are
//! shared.

use faer::Index as FaerIndex;
use faer::sparse::{SparseColMatRef, SparseRowMat, SparseRowMatRef, SymbolicSparseRowMat, SymbolicSparseRowMatRef};

use super::converted;
use crate::algebra::Value;
use crate::par::{Threads, collected, copied, reserved};
use crate::{Csr, Error, Index, Result};

/// Starts of rows, indices and values as faer keeps them: `lens`, if rows are not filled to their ends.
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

/// A matrix whose columns and values faer reads where they are.
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

/// The matrix as faer takes it: rows are sorted, and sizes fit the signed counterpart of `J`.
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
    /// A copy of a matrix by rows.
    /// # Errors
    /// [`Error::IndexOverflow`] for a column that does not fit `I`; [`Error::OutOfMemory`].
    pub fn from_faer<J: FaerIndex>(a: SparseRowMatRef<'_, J, T>) -> Result<Self> {
        let (nrows, ncols, starts, lens, indices) = a.symbolic().parts();
        Compressed { nrows, ncols, starts, lens, indices, values: a.val() }.to_csr()
    }
    /// A copy of a matrix by columns; it is transposed, so that it is the same matrix.
    /// # Errors
    /// As [`from_faer`](Self::from_faer).
    pub fn from_faer_columns<J: FaerIndex>(a: SparseColMatRef<'_, J, T>) -> Result<Self> {
        let (nrows, ncols, starts, lens, indices) = a.symbolic().parts();
        let by_columns = Compressed { nrows: ncols, ncols: nrows, starts, lens, indices, values: a.val() };
        by_columns.to_csr::<I>()?.transpose(&Threads::current())
    }
    /// A copy of this matrix for faer, by rows.
    /// # Errors
    /// [`Error::Unsupported`] if rows are not sorted; [`Error::IndexOverflow`] for a size beyond half of what `J` counts;
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
    /// This matrix for faer, by rows: columns and values are not copied.
    ///
    /// Cost: O(nrows).
    /// # Errors
    /// [`Error::Unsupported`] if rows are not sorted; [`Error::IndexOverflow`] for a size beyond half of what `I` counts;
    /// [`Error::OutOfMemory`].
    pub fn as_faer(&self) -> Result<FaerView<'_, T, I>> {
        let a = sorted::<I, T, I>(self)?;
        let row_ptr = collected(a.nrows() + 1, a.row_ptr().iter().map(|&p| I::cast(p)), "row pointers")?;
        Ok(FaerView { a, row_ptr })
    }
}
