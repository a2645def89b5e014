//! Matrices from arrays and from files, of types known at run time.

use std::sync::Arc;

use super::Matrix;
use super::matrix::not_made;
use crate::algebra::{Array, Number};
use crate::kernels::with_type;
use crate::par::Threads;
use crate::sparse::sums::summed;
use crate::{Coo, Pattern, Result};

impl Matrix {
    /// The nrows × ncols matrix of compressed rows; the columns of a row may come in any order, none of them twice.
    /// # Errors
    /// Those of [`Pattern::from_unsorted`]; [`Error::Length`](crate::Error::Length) if there is not one value per
    /// entry; [`Error::Unsupported`](crate::Error::Unsupported) for structs.
    pub fn from_csr(nrows: usize, ncols: usize, row_ptr: Vec<usize>, col_idx: Vec<u32>, values: Array) -> Result<Self> {
        Self::new(Arc::new(Pattern::from_unsorted(nrows, ncols, row_ptr, col_idx)?), values)
    }
    /// The nrows × ncols matrix of these entries, in any order; those at the same place are added up (bool: or) in the
    /// order given.
    /// # Errors
    /// Those of [`Coo::new`]; [`Error::Unsupported`](crate::Error::Unsupported) for structs, and where the type does
    /// not hold a sum.
    pub fn from_coo(
        threads: &Threads,
        nrows: usize,
        ncols: usize,
        rows: Vec<u32>,
        cols: Vec<u32>,
        values: Array,
    ) -> Result<Self> {
        let ty = values.ty();
        with_type!(ty, T => {
            let values = values.into_vec::<T>().map_err(|_| not_made(ty))?;
            let coo = Coo::new(nrows, ncols, rows, cols, values)?;
            Ok(summed(threads, &coo, "coordinates, counted from 1", Number::checked_add)?.into())
        }, Err(not_made(ty)))
    }
}
