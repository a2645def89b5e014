//! Products of sparse matrices with dense NumPy arrays.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use sparring::runtime::{Matrix, Semiring};

use crate::arrays::{self, Values, array, name_of, promoted};
use crate::errors::Raise;
use crate::operands::{Operand, cast, matrix};
use crate::written::Written;

/// Whether the object is a two-dimensional array.
pub(crate) fn is_dense(x: &Bound<'_, PyAny>) -> bool {
    x.cast::<PyUntypedArray>().is_ok_and(|x| x.ndim() == 2)
}

/// A ⊕.⊗ X for a dense X, or X ⊕.⊗ B for a dense X, as a dense array.
///
/// X·B is computed as (Bᵀ·Xᵀ)ᵀ, with the operands of ⊗ swapped.
pub(crate) fn product<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    semiring: &str,
    written: &Written<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    if written.writes() {
        return Err(PyValueError::new_err("a dense result does not support mask, accum, replace or out"));
    }
    let [mut flip_a, mut flip_b] = written.transposed();
    let (sparse, dense, is_left) = if is_dense(a) { (b, a, false) } else { (a, b, true) };
    let (of, _) = matrix(sparse)?;
    let ty = promoted(py, of.ty(), arrays::type_of(&dense.cast::<PyUntypedArray>()?.dtype(), "b")?)?;
    let mut dense = dense.call_method1(intern!(py, "astype"), (name_of(ty),))?;
    if !is_left {
        // Xᵀ and Bᵀ are swapped.
        (flip_a, flip_b) = (!flip_b, !flip_a);
    }
    if flip_b {
        dense = dense.getattr(intern!(py, "T"))?;
    }
    let (values, shape) = Values::of(&dense, "b")?;
    let (of, ring) = (cast(py, &of, ty)?, Semiring::new(semiring, ty).raise()?);
    let ring = if is_left { ring } else { ring.transposed() };
    let (rows, columns) = (if flip_a { of.shape().1 } else { of.shape().0 }, shape[1]);
    if shape[0] != if flip_a { of.shape().0 } else { of.shape().1 } {
        let ((m, n), (p, q)) = (dims(&of, flip_a), (shape[0], shape[1]));
        return Err(PyValueError::new_err(format!("product of {m}×{n} and {p}×{q}")));
    }
    let on = written.machine(&[&Operand::Matrix(of.clone())])?;
    let made = on.compute(py, of.nnz().saturating_mul(columns), || {
        let call = on.spmm(&ring, &of, values.slice(), columns);
        if flip_a { call.transpose_a() } else { call }.eval()
    })?;
    let made = array(py, made)?.call_method1(intern!(py, "reshape"), (rows, columns))?;
    if is_left { Ok(made) } else { made.getattr(intern!(py, "T")) }
}

fn dims(of: &Matrix, flip: bool) -> (usize, usize) {
    let (m, n) = of.shape();
    if flip { (n, m) } else { (m, n) }
}
