//! Sums of SciPy's arrays that validate only what they read. Duplicates need no merging first: the sum is the same.

use pyo3::prelude::*;
use sparring::Error;
use sparring::runtime::{Matrix, Monoid, Scalar, Vector};

use crate::errors::Raise;
use crate::machines::{On, machine};
use crate::operands::stored;

/// The sum of all entries of a SciPy array; None where the caller must build a checked matrix.
pub(crate) fn of_all(a: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    let Some((of, _)) = stored(a)? else { return Ok(None) };
    let Some((values, nnz)) = of.values()? else { return Ok(None) };
    let (on, values) = (machine(None)?, values.slice().part(0..nnz));
    let plus = Monoid::new("plus", values.ty()).raise()?;
    on.compute(a.py(), nnz, || on.reduce_values(&plus, values)).map(Some)
}

/// The sum of each non-empty row of a SciPy array, or of each column; None likewise.
pub(crate) fn of_lines(a: &Bound<'_, PyAny>, transposed: bool) -> PyResult<Option<Vector>> {
    let Some((of, by_columns)) = stored(a)? else { return Ok(None) };
    let Some((values, nnz)) = of.values()? else { return Ok(None) };
    let (on, values) = (machine(None)?, values.slice().part(0..nnz));
    let plus = Monoid::new("plus", values.ty()).raise()?;
    if by_columns == transposed {
        let ends = of.ends()?;
        return on.compute(a.py(), nnz, || on.reduce_values_of_rows(&plus, &ends, values)).map(Some);
    }
    // With more columns, a negative index of 32 bits would pass as one.
    if i32::try_from(of.across).is_err() {
        return Ok(None);
    }
    let cols = of.cols()?;
    let Some(cols) = cols.get(..nnz) else { return Ok(None) };
    on.compute(a.py(), nnz, || match on.reduce_values_of_columns(&plus, of.across, cols, values) {
        // The checked path reports it.
        Err(Error::IndexRange { .. }) => Ok(None),
        found => found.map(Some),
    })
}

/// The sum of each non-empty column of a matrix; None on a GPU, and where rows far outnumber entries.
pub(crate) fn of_columns(py: Python<'_>, on: &On, a: &Matrix) -> PyResult<Option<Vector>> {
    if !a.is_on_host() || on.is_gpu() || a.shape().0 / 8 > a.nnz() {
        return Ok(None);
    }
    let (Some(pattern), Some(values)) = (a.pattern(), a.values()) else { return Ok(None) };
    let plus = Monoid::new("plus", a.ty()).raise()?;
    on.compute(py, a.nnz(), || on.reduce_values_of_columns(&plus, a.shape().1, pattern.col_idx(), values)).map(Some)
}
