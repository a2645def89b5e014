//! Contractions of dense arrays.

use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sparring::Cpu;
use sparring::algebra::{Array, PlusTimes, Slice, Type};
use sparring::contract::{AnyView, Einsum, Layout, View};
use sparring::runtime::{DenseView, Semiring};

use crate::arrays::{self, Values, array, name_of, promoted};
use crate::errors::Raise;
use crate::machines::{machine, machine_of_arrays};
use crate::operands;

/// Operands of a contraction, row-major.
fn views<'a, V>(
    values: &'a [Values],
    shapes: &[Vec<usize>],
    view: impl Fn(Slice<'a>, Layout) -> sparring::Result<V>,
) -> PyResult<Vec<V>> {
    let one = |(values, shape): (&'a Values, &Vec<usize>)| view(values.slice(), Layout::row_major(shape)?);
    values.iter().zip(shapes).map(|pair| one(pair).raise()).collect()
}

/// Extents of the result's indices.
fn result_shape(expression: &str, shapes: &[Vec<usize>]) -> Vec<usize> {
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<_>>();
    let (left, right) = expression.split_once("->").unwrap_or((expression, ""));
    let known: Vec<(char, usize)> =
        left.split(',').zip(shapes).flat_map(|(text, shape)| letters(text).into_iter().zip(shape.clone())).collect();
    let extent = |c| known.iter().find(|(letter, _)| *letter == c).map(|(_, n)| *n);
    letters(right).into_iter().filter_map(extent).collect()
}

/// The contraction of arrays in a GPU's memory.
fn einsum_on_device<'py>(
    py: Python<'py>,
    expression: &str,
    operands: &Bound<'py, PyTuple>,
    semiring: &str,
    device: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (mut vectors, mut shapes, mut kind, mut on) = (Vec::new(), Vec::new(), None, None);
    for of in operands.iter() {
        let (vector, shape, own) = operands::values_there(&of)?;
        shapes.push(shape);
        if on.is_none() {
            on = Some(machine_of_arrays(&vector.machine(), device)?);
        }
        kind.get_or_insert(own);
        vectors.push(vector);
    }
    let (Some(kind), Some(on)) = (kind, on) else { return Err(PyValueError::new_err("einsum: no operands")) };
    let ring = Semiring::new(semiring, vectors[0].ty()).raise()?;
    let views = vectors.iter().zip(&shapes).map(|(x, shape)| DenseView::vector(x, Layout::row_major(shape)?));
    let views = views.collect::<sparring::Result<Vec<_>>>().raise()?;
    let einsum = Einsum::new(expression, &views).raise()?;
    let places = shapes.iter().map(|shape| shape.iter().product::<usize>()).sum();
    let found = on.compute(py, places, || on.einsum_vectors(&ring, &einsum))?;
    let shape = result_shape(expression, &shapes);
    operands::give_vector(py, found, &kind)?.call_method1(intern!(py, "reshape"), (shape,))
}

/// The contraction of dense arrays over any semiring, like ``numpy.einsum`` over + and ×.
///
/// Parameters
/// ----------
/// expression : str
///     A letter for each index: ``"bij,bjk->bik"``.
/// operands : arrays
///     Of NumPy; or all of CuPy, or others in the memory of one GPU, which then computes: the result is of the same kind.
/// semiring : str
/// device : str, optional
///     ``"cuda:0"``: arrays of NumPy are sent to this GPU, and the result comes back. For arrays on a GPU, none but theirs.
///
/// Examples
/// --------
/// >>> import numpy as np, sparring as sp
/// >>> a = np.arange(4.0).reshape(2, 2)
/// >>> sp.einsum("ij,jk->ik", a, a)
/// array([[ 2.,  3.],
///        [ 6., 11.]])
/// >>> sp.einsum("ij,jk->ik", a, a, semiring="min_plus")
/// array([[0., 1.],
///        [2., 3.]])
#[pyfunction]
#[pyo3(signature = (expression, *operands, semiring="plus_times", device=None))]
pub(crate) fn einsum<'py>(
    py: Python<'py>,
    expression: &str,
    operands: &Bound<'py, PyTuple>,
    semiring: &str,
    device: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    if !expression.contains("->") {
        return Err(PyValueError::new_err(format!(
            "expression: {expression:?} needs -> and the indices of the result"
        )));
    }
    let there = operands.iter().map(|of| arrays::is_on_device(&of)).collect::<PyResult<Vec<_>>>()?;
    if there.contains(&true) {
        if there.contains(&false) {
            return Err(PyTypeError::new_err("operands: some are in a GPU's memory, others are not"));
        }
        return einsum_on_device(py, expression, operands, semiring, device);
    }
    let on = machine(device)?;
    let given = operands.iter().map(|of| arrays::as_array(&of, None, "operands")).collect::<PyResult<Vec<_>>>()?;
    let mut ty = None;
    for of in &given {
        let own = arrays::type_of(&of.dtype(), "operands")?;
        ty = Some(ty.map_or(Ok(own), |ty| promoted(py, ty, own))?);
    }
    let ty = ty.ok_or_else(|| PyValueError::new_err("einsum: no operands"))?;
    let (mut values, mut shapes) = (Vec::new(), Vec::new());
    for of in &given {
        let of = arrays::as_array(of.as_any(), Some(name_of(ty)), "operands")?;
        let (own, shape) = Values::of(of.as_any(), "operands")?;
        values.push(own);
        shapes.push(shape);
    }
    let ring = Semiring::new(semiring, ty).raise()?;
    let places = shapes.iter().map(|shape| shape.iter().product::<usize>()).sum();
    // + and × of f64 have compiled loops.
    let found = match on.typed::<Cpu>() {
        Some(cpu) if ty == Type::F64 && ring.formula().name().as_deref() == Some("plus_times") => {
            let views = views(&values, &shapes, |x, layout| View::new(x.get::<f64>().unwrap_or_default(), layout))?;
            let einsum = Einsum::new(expression, &views).raise()?;
            let ring = PlusTimes::<f64>::default();
            Array::of(on.compute(py, places, || cpu.einsum(ring, einsum).eval())?.into_values())
        }
        _ => {
            let views = views(&values, &shapes, AnyView::new)?;
            let einsum = Einsum::new(expression, &views).raise()?;
            on.compute(py, places, || on.einsum(&ring, &einsum))?
        }
    };
    let shape = result_shape(expression, &shapes);
    array(py, found)?.call_method1(intern!(py, "reshape"), (shape,))
}
