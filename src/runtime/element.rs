//! Single entries, and empty and full objects.

use super::matrix::not_made;
use super::remote::{Remote, elsewhere};
use super::serialize::to_matrix;
use super::wide::{Wide, is_wide};
use super::{Matrix, Scalar, Vector};
use crate::algebra::{Array, Type};
use crate::kernels::with_type;
use crate::par::{Threads, collected};
use crate::sparse::SerializedMatrix;
use crate::{Error, Result};

/// Rejects an index out of bounds.
fn check(axis: &'static str, index: usize, bound: usize) -> Result<()> {
    if index < bound { Ok(()) } else { Err(Error::IndexRange { axis, position: 0, index: index as u128, bound }) }
}

impl Matrix {
    /// The empty nrows × ncols matrix of a type; rows and columns are at most 2⁶⁰.
    ///
    /// Cost: O(min(nrows, 2²⁰)).
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::Matrix;
    /// let a = Matrix::empty(Type::F32, 1 << 40, 7)?;
    /// assert_eq!((a.ty(), a.shape(), a.nnz()), (Type::F32, (1 << 40, 7), 0));
    /// assert_eq!(a.get(3, 4)?, None);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`]; [`Error::Unsupported`] for structs.
    pub fn empty(ty: Type, nrows: usize, ncols: usize) -> Result<Self> {
        if let Some(wide) = Self::empty_wide(ty, (nrows, ncols)) {
            return wide;
        }
        let none = with_type!(ty, T => Ok(Array::of(Vec::<T>::new())), Err(not_made(ty)))?;
        to_matrix(SerializedMatrix::empty(none, nrows, ncols)?)
    }
    /// The value at (i, j); `None` if there is no entry.
    ///
    /// Cost: O(log d) for a row of d entries, O(d) if it is unsorted.
    /// # Errors
    /// [`Error::IndexRange`] outside of the matrix; [`Error::Argument`] for a matrix on a GPU.
    pub fn get(&self, i: usize, j: usize) -> Result<Option<Scalar>> {
        let (nrows, ncols) = self.shape();
        check("row", i, nrows)?;
        check("column", j, ncols)?;
        if !self.is_on_host() {
            return Err(elsewhere("matrix"));
        }
        if let Some(wide) = Wide::of(self) {
            return wide.get([i, j]);
        }
        let ty = self.ty();
        with_type!(ty, T => Ok(self.csr::<T>().and_then(|a| a.get(i, j)).map(|&x| Scalar::from(x))), Err(not_made(ty)))
    }
    /// Sets the entry at (i, j) (`GrB_Matrix_setElement`). The matrix is in host memory.
    ///
    /// Changes are pending until the matrix is read: n of them cost O(n log n), and the next read O(rows + entries)
    /// once; see [`Csr::set`](crate::Csr::set). In a dimension beyond 2³² − 1 a new index costs O(entries) instead:
    /// build from many entries by [`build_wide`](Self::build_wide).
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{Matrix, Scalar};
    /// let mut a = Matrix::empty(Type::I32, 3, 3)?;
    /// a.set(2, 1, 5)?;
    /// a.set(0, 2, 7)?;
    /// a.remove(2, 1)?;
    /// assert_eq!((a.nnz(), a.get(0, 2)?, a.get(2, 1)?), (1, Some(Scalar::from(7)), None));
    /// assert_eq!(a.csr::<i32>().unwrap().col_idx(), [2]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::IndexRange`] outside of the matrix; [`Error::Argument`] for a value of another type, or a matrix on a
    /// GPU; [`Error::OutOfMemory`].
    pub fn set(&mut self, i: usize, j: usize, x: impl Into<Scalar>) -> Result<()> {
        let (x, (nrows, ncols)) = (x.into(), self.shape());
        check("row", i, nrows)?;
        check("column", j, ncols)?;
        if x.ty() != self.ty() {
            let message = format!("it is {}, the matrix's values are {}", x.ty(), self.ty());
            return Err(Error::Argument { name: "x", message });
        }
        match self.edit_wide(i, j, Some(&x)) {
            Some(done) => done,
            None => self.edit(i, j, Some(x.slice())),
        }
    }
    /// Removes the entry at (i, j), if it exists (`GrB_Matrix_removeElement`).
    /// # Errors
    /// As for [`set`](Self::set).
    pub fn remove(&mut self, i: usize, j: usize) -> Result<()> {
        let (nrows, ncols) = self.shape();
        check("row", i, nrows)?;
        check("column", j, ncols)?;
        match self.edit_wide(i, j, None) {
            Some(done) => done,
            None => self.edit(i, j, None),
        }
    }
    /// Rows, columns and values of the entries, row by row (`GrB_Matrix_extractTuples`).
    ///
    /// Cost: O(rows + entries).
    /// ```
    /// use sparring::{Csr, runtime::Matrix};
    /// let a = Matrix::from(Csr::<i32>::new(2, 3, vec![0, 1, 3], vec![2, 0, 1], vec![5, 6, 7])?);
    /// let (rows, cols, values) = a.extract_tuples()?;
    /// assert_eq!((rows, cols, values.slice().get::<i32>()), (vec![0, 1, 1], vec![2, 0, 1], Some(&[5, 6, 7][..])));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::IndexOverflow`] for a row index above 32 bits; [`Error::Argument`] for a matrix on a GPU;
    /// [`Error::OutOfMemory`]; [`Error::Unsupported`] for structs, and for a dimension beyond 2³² − 1:
    /// [`extract_tuples_wide`](Self::extract_tuples_wide).
    pub fn extract_tuples(&self) -> Result<(Vec<u32>, Vec<u32>, Array)> {
        if !self.is_on_host() {
            return Err(elsewhere("matrix"));
        }
        let ty = self.ty();
        if let Some(wide) = Wide::of(self) {
            return Err(wide.unreadable("matrix"));
        }
        with_type!(ty, T => {
            let a = self.csr::<T>().ok_or_else(|| not_made(ty))?;
            let (rows, cols, values) = a.extract_tuples()?;
            Ok((rows, cols, Array::of(values)))
        }, Err(not_made(ty)))
    }
}

impl Vector {
    /// Indices and values of the entries, indices increasing (`GrB_Vector_extractTuples`): [`entries`](Self::entries).
    /// # Errors
    /// As [`entries`](Self::entries).
    pub fn extract_tuples(&self) -> Result<(Vec<u32>, Array)> {
        self.entries()
    }
    /// The empty vector of length `len` of a type, at most 2⁶⁰.
    /// # Errors
    /// [`Error::IndexOverflow`]; [`Error::Unsupported`] for structs.
    pub fn empty(ty: Type, len: usize) -> Result<Self> {
        if let Some(wide) = Self::empty_wide(ty, len) {
            return wide;
        }
        with_type!(ty, T => Ok(crate::Vector::<T>::empty(len)?.into()), Err(not_made(ty)))
    }
    /// The vector with a value at every index.
    /// ```
    /// use sparring::algebra::Array;
    /// use sparring::runtime::{Scalar, Vector};
    /// let x = Vector::full(Array::of(vec![7i16, 8]))?;
    /// assert_eq!((x.len(), x.nvals()?, x.get(1)?), (2, 2, Some(Scalar::from(8i16))));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`Vector::full`](crate::Vector::full); [`Error::Unsupported`] for structs; [`Error::OutOfMemory`].
    pub fn full(values: Array) -> Result<Self> {
        let ty = values.ty();
        with_type!(ty, T => {
            let values = match values.into_vec::<T>() {
                Ok(values) => values,
                // The result of an operation may be a buffer of another kind.
                Err(buffer) => {
                    let values = buffer.slice();
                    let values = values.get::<T>().ok_or_else(|| not_made(ty))?;
                    collected(values.len(), values.iter().copied(), "values of a vector")?
                }
            };
            Ok(crate::Vector::full(values)?.into())
        }, Err(not_made(ty)))
    }
    /// The vector of these entries, in any order; duplicates are added up (bool: or) in the given order.
    ///
    /// Cost: O(entries) if the indices increase, otherwise that of [`Matrix::from_coo`].
    /// # Errors
    /// Those of [`Matrix::from_coo`], with the indices as columns.
    pub fn from_coo(threads: &Threads, len: usize, indices: Vec<u32>, values: Array) -> Result<Self> {
        if is_wide(len) && indices.len() == values.len() {
            let indices = collected(indices.len(), indices.iter().map(|&i| i as usize), "indices")?;
            return Self::from_coo_wide(threads, len, indices, values);
        }
        if indices.len() == values.len() && indices.is_sorted_by(|a, b| a < b) {
            return Self::new(len, indices, values);
        }
        let row = Matrix::from_coo(threads, 1, len, vec![0; indices.len()], indices, values)?;
        let ty = row.ty();
        with_type!(ty, T => {
            let row = row.csr::<T>().ok_or_else(|| not_made(ty))?;
            let indices = collected(row.nnz(), row.col_idx().iter().copied(), "indices")?;
            let values = collected(row.nnz(), row.values().iter().copied(), "values")?;
            Ok(crate::Vector::new(len, indices, values)?.into())
        }, Err(not_made(ty)))
    }
    /// The value at an index; `None` if there is no entry.
    ///
    /// Cost: O(log entries).
    /// # Errors
    /// [`Error::IndexRange`] outside of the vector; [`Error::Argument`] for a vector on a GPU.
    pub fn get(&self, i: usize) -> Result<Option<Scalar>> {
        check("vector", i, self.len())?;
        if !self.is_on_host() {
            return Err(elsewhere("vector"));
        }
        if let Some(wide) = Wide::of(self) {
            return wide.get([i, 0]);
        }
        let ty = self.ty();
        with_type!(ty, T => Ok(self.typed::<T>().and_then(|x| x.get(i)).map(|&x| Scalar::from(x))), Err(not_made(ty)))
    }
    /// Name of the machine whose memory holds it, as of [`Machine::name`](super::Machine::name).
    #[must_use]
    pub fn machine(&self) -> String {
        self.as_remote().map_or_else(|| "cpu".into(), Remote::engine)
    }
}
