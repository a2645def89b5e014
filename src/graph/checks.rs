//! Checks of the arguments of graph algorithms.

use crate::algebra::Value;
use crate::backend::Backend;
use crate::{Error, Result};

/// The number of vertices, after checking that the matrix is square and the sources are vertices.
/// # Errors
/// [`Error::NotSquare`]; [`Error::Argument`] naming a source that is no vertex.
pub(super) fn vertices<B: Backend, T: Value>(
    on: &B,
    op: &'static str,
    a: &B::Matrix<T>,
    sources: &[usize],
) -> Result<usize> {
    let (n, ncols) = on.shape(a);
    if n != ncols {
        return Err(Error::NotSquare { op, nrows: n, ncols });
    }
    if let Some(source) = sources.iter().find(|&&source| source >= n) {
        return Err(Error::Argument { name: "source", message: format!("vertex {source} of a graph of {n}") });
    }
    Ok(n)
}
