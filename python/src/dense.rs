//! Products of sparse matrices with dense arrays.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use sparring::algebra::Type;
use sparring::runtime::{Matrix, Semiring};

use crate::arrays::{self, Values, array, name_of, promoted};
use crate::errors::Raise;
use crate::machines::machine_of_arrays;
use crate::operands::{Operand, cast, cast_vector, give_vector, is_array_there, matrix, values_there};
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
    if written.writes() {
        return Err(PyValueError::new_err("a dense result does not support mask, accum, replace or out"));
    }
    let [mut flip_a, mut flip_b] = written.transposed();
    let is_left = !is_dense(a) && !is_array_there(a, 2);
    let (sparse, mut dense) = if is_left { (a, b.clone()) } else { (b, a.clone()) };
    if !is_left {
        // Xᵀ and Bᵀ are swapped.
        (flip_a, flip_b) = (!flip_b, !flip_a);
    }
    if flip_b {
        dense = dense.getattr(intern!(a.py(), "T"))?;
    }
    let there = is_array_there(&dense, 2);
    let made = if there { on_gpu } else { on_host }(&matrix(sparse)?.0, &dense, (semiring, is_left, flip_a), written)?;
    if is_left { Ok(made) } else { made.getattr(intern!(a.py(), "T")) }
}

/// A ⊕.⊗ X; without `is_left`, the operands of ⊗ are swapped; with `flip`, A is transposed.
fn on_host<'py>(
    a: &Matrix,
    x: &Bound<'py, PyAny>,
    (semiring, is_left, flip): (&str, bool, bool),
    written: &Written<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let ty = promoted(py, a.ty(), arrays::type_of(&x.cast::<PyUntypedArray>()?.dtype(), "b")?)?;
    let x = x.call_method1(intern!(py, "astype"), (name_of(ty),))?;
    let (values, shape) = Values::of(&x, "b")?;
    let (a, ring) = (cast(py, a, ty)?, ring(semiring, ty, is_left)?);
    let rows = check(a.shape(), flip, &shape)?;
    let on = written.machine(&[&Operand::Matrix(a.clone())])?;
    let made = on.compute(py, a.nnz().saturating_mul(shape[1]), || {
        let call = on.spmm(&ring, &a, values.slice(), shape[1]);
        if flip { call.transpose_a() } else { call }.eval()
    })?;
    array(py, made)?.call_method1(intern!(py, "reshape"), (rows, shape[1]))
}

/// The same for X in the memory of a GPU, where the result stays.
fn on_gpu<'py>(
    a: &Matrix,
    x: &Bound<'py, PyAny>,
    (semiring, is_left, flip): (&str, bool, bool),
    written: &Written<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let (x, shape, kind) = values_there(x)?;
    let on = machine_of_arrays(&x.machine(), written.device())?;
    let ty = promoted(py, a.ty(), x.ty())?;
    let (a, x, ring) = (cast(py, a, ty)?, cast_vector(py, &x, ty)?, ring(semiring, ty, is_left)?);
    let rows = check(a.shape(), flip, &shape)?;
    let made = on.compute(py, a.nnz().saturating_mul(shape[1]), || {
        let a = if flip { on.transpose(&a)? } else { a };
        on.spmm_vector(&ring, &a, &x, shape[1])
    })?;
    give_vector(py, made, &kind)?.call_method1(intern!(py, "reshape"), ((rows, shape[1]),))
}

fn ring(semiring: &str, ty: Type, is_left: bool) -> PyResult<Semiring> {
    let ring = Semiring::new(semiring, ty).raise()?;
    Ok(if is_left { ring } else { ring.transposed() })
}

/// Rows of the product of a matrix, transposed if `flip`, and an array of `shape`.
fn check((m, n): (usize, usize), flip: bool, shape: &[usize]) -> PyResult<usize> {
    let (m, n) = if flip { (n, m) } else { (m, n) };
    let &[p, q] = shape else {
        return Err(PyValueError::new_err(format!("product with an array of {} dimensions", shape.len())));
    };
    if n != p {
        return Err(PyValueError::new_err(format!("product of {m}×{n} and {p}×{q}")));
    }
    Ok(m)
}
