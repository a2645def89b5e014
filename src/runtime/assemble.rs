//! Matrices from arrays and from files, of types known at run time.

use std::sync::Arc;

use super::matrix::not_made;
use super::operator::check;
use super::wide::is_wide;
use super::{BinaryOp, IndexList, Matrix, Scalar, Vector};
use crate::algebra::{Array, Number};
use crate::kernels::with_type;
use crate::ops::by_formula;
use crate::par::{Threads, collected, filled};
use crate::sparse::VectorPattern;
use crate::sparse::sums::summed;
use crate::{Coo, Error, Pattern, Result};

impl Matrix {
    /// The nrows × ncols matrix of compressed rows; the columns of a row may come in any order, without duplicates.
    /// # Errors
    /// Those of [`Pattern::from_unsorted`]; [`Error::Length`](crate::Error::Length) if there is not one value per
    /// entry; [`Error::Unsupported`](crate::Error::Unsupported) for structs.
    pub fn from_csr(nrows: usize, ncols: usize, row_ptr: Vec<usize>, col_idx: Vec<u32>, values: Array) -> Result<Self> {
        Self::new(Arc::new(Pattern::from_unsorted(nrows, ncols, row_ptr, col_idx)?), values)
    }
    /// The nrows × ncols matrix of these entries, in any order; duplicates are added up (bool: or) in the given order.
    /// # Errors
    /// Those of [`Coo::new`]; [`Error::Unsupported`](crate::Error::Unsupported) for structs, and if the type cannot
    /// hold a sum.
    pub fn from_coo(
        threads: &Threads,
        nrows: usize,
        ncols: usize,
        rows: Vec<u32>,
        cols: Vec<u32>,
        values: Array,
    ) -> Result<Self> {
        if is_wide(nrows) || is_wide(ncols) {
            let make = |(m, n), rows, cols| Self::from_coo(threads, m, n, rows, cols, values);
            return Self::of_indices((nrows, ncols), (&widened(&rows)?, &widened(&cols)?), make);
        }
        let ty = values.ty();
        with_type!(ty, T => {
            let values = values.into_vec::<T>().map_err(|_| not_made(ty))?;
            let coo = Coo::new(nrows, ncols, rows, cols, values)?;
            Ok(summed(threads, &coo, "coordinates, counted from 1", Number::checked_add)?.into())
        }, Err(not_made(ty)))
    }
    /// The nrows × ncols matrix of these entries, in any order. Duplicates are combined by `dup` in the given order,
    /// from the left, or are an error without it (`GrB_Matrix_build`).
    ///
    /// Cost: O(nrows + entries) time, plus sorting of rows whose columns do not increase.
    /// ```
    /// use sparring::algebra::{Array, Type};
    /// use sparring::par::Threads;
    /// use sparring::runtime::{BinaryOp, Matrix};
    /// let (threads, minus) = (Threads::new(1)?, BinaryOp::new("minus", Type::I32)?);
    /// let entries = || (vec![1, 0, 1], vec![2, 0, 2], Array::of(vec![7, 1, 5]));
    /// let a = Matrix::build(&threads, (2, 3), entries(), Some(&minus))?;
    /// assert_eq!(a.csr::<i32>().unwrap().values(), [1, 2]);
    /// assert!(Matrix::build(&threads, (2, 3), entries(), None).is_err());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Duplicate`] without `dup`; [`Error::Argument`] if it is on another type; those of [`Coo::new`];
    /// [`Error::Unsupported`] for structs.
    pub fn build(
        threads: &Threads,
        shape: (usize, usize),
        (rows, cols, values): (Vec<u32>, Vec<u32>, Array),
        dup: Option<&BinaryOp>,
    ) -> Result<Self> {
        if let Some(dup) = dup {
            let (a, b) = dup.takes();
            [a, b, dup.ty()].iter().try_for_each(|&takes| check("values", dup, takes, values.ty()))?;
        }
        if is_wide(shape.0) || is_wide(shape.1) {
            return Self::build_wide(threads, shape, (widened(&rows)?, widened(&cols)?, values), dup);
        }
        let (pattern, values) =
            by_formula::build(threads, shape, (rows, cols), values.slice(), dup.map(BinaryOp::compiled))?;
        Self::new(pattern, values)
    }
    /// The full matrix with this value at every position.
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::IndexOverflow`] for 2³² positions or more; [`Error::Unsupported`] for structs.
    pub fn constant(s: &Scalar, (nrows, ncols): (usize, usize)) -> Result<Self> {
        let places = nrows as u128 * ncols as u128;
        let len = usize::try_from(places).ok().filter(|len| *len < u32::MAX as usize);
        let len = len.ok_or(Error::IndexOverflow {
            what: "entries of a full matrix",
            needed: places,
            max: u128::from(u32::MAX),
        })?;
        Self::from_row_major((nrows, ncols), &Vector::constant_at(s, &IndexList::all(), len)?)
    }
}

/// Indices of 64 bits.
fn widened(indices: &[u32]) -> Result<Vec<usize>> {
    collected(indices.len(), indices.iter().map(|&i| i as usize), "indices")
}

impl Vector {
    /// A vector of length `len` with the value at the indices of a list.
    ///
    /// ```
    /// use sparring::runtime::{IndexList, Scalar, Vector};
    /// let x = Vector::constant_at(&Scalar::from(2.5), &IndexList::from(vec![3, 1]), 5)?;
    /// assert_eq!(x.entries()?.0, [1, 3]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::ListIndex`]; [`Error::OutOfMemory`]; [`Error::Unsupported`] for structs.
    pub fn constant_at(s: &Scalar, list: &IndexList, len: usize) -> Result<Self> {
        let pattern = Arc::new(VectorPattern::of_list(list, len)?);
        let ty = s.ty();
        with_type!(ty, T => {
            let x = s.get::<T>().ok_or_else(|| not_made(ty))?;
            let values = filled(pattern.values(), x, "values")?;
            Ok(crate::Vector::of_values(pattern, Arc::new(values))?.into())
        }, Err(not_made(ty)))
    }
}
