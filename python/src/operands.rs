//! What Python's users have, as matrices and vectors of the library, and results as the same kind.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use sparring::algebra::{Array, Type};
use sparring::num_complex::Complex;
use sparring::runtime::{Matrix, Vector};

use crate::arrays;
use crate::errors::Raise;
use crate::machines::machine;
use crate::matrix::PyMatrix;
use crate::scalars::scalar;
use crate::vector::PyVector;

/// How a result is handed out.
pub(crate) enum Kind {
    /// As an object of this package.
    Own,
    /// As SciPy or PyData have it, or NumPy: like this object.
    Like(Py<PyAny>),
    /// The transpose, in compressed columns of SciPy's like this object.
    Columns(Py<PyAny>),
}

/// An operand.
pub(crate) enum Operand {
    Matrix(Matrix),
    Vector(Vector),
}

impl Operand {
    pub(crate) fn ty(&self) -> Type {
        match self {
            Self::Matrix(a) => a.ty(),
            Self::Vector(x) => x.ty(),
        }
    }
}

/// The matrix of an object: one of this package, a sparse array or matrix of SciPy, or whatever has `tocsr`.
/// # Errors
/// `TypeError` for another object; those of its arrays.
pub(crate) fn matrix(a: &Bound<'_, PyAny>) -> PyResult<(Matrix, Kind)> {
    let py = a.py();
    if let Ok(own) = a.cast::<PyMatrix>() {
        return Ok((own.get().held.get(py), Kind::Own));
    }
    let kind = Kind::Like(a.clone().unbind());
    let compressed = match &format(a)? {
        Some(format) if is(format, "csr") => a.clone(),
        Some(format) if is(format, "csc") => {
            let (t, on) = (transposed(a)?, machine(None)?);
            return Ok((py.detach(|| on.transpose(&t)).raise()?, kind));
        }
        _ if a.hasattr(intern!(py, "tocsr"))? => a.call_method0(intern!(py, "tocsr"))?,
        _ => {
            let message = format!("a sparse matrix was expected, not {}", a.get_type().name()?);
            return Err(PyTypeError::new_err(message));
        }
    };
    Ok((of_arrays(&compressed, shape(&compressed)?)?, kind))
}

/// The transpose of a matrix that SciPy has in compressed columns, as its compressed rows: nothing is converted. None
/// for every other object.
/// # Errors
/// Those of its arrays.
pub(crate) fn columns(a: &Bound<'_, PyAny>) -> PyResult<Option<(Matrix, Kind)>> {
    match &format(a)? {
        Some(format) if is(format, "csc") => Ok(Some((transposed(a)?, Kind::Columns(a.clone().unbind())))),
        _ => Ok(None),
    }
}

/// The name of a sparse matrix's format, where there is one.
fn format<'py>(a: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if a.is_instance_of::<PyMatrix>() { Ok(None) } else { a.getattr_opt(intern!(a.py(), "format")) }
}

fn is(format: &Bound<'_, PyAny>, name: &str) -> bool {
    format.cast::<PyString>().is_ok_and(|text| text.to_str().is_ok_and(|text| text == name))
}

fn transposed(a: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let (nrows, ncols) = shape(a)?;
    of_arrays(a, (ncols, nrows))
}

fn shape(a: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
    let shape = a.getattr(intern!(a.py(), "shape"))?;
    shape.extract().map_err(|_| PyValueError::new_err(format!("a matrix has two dimensions, not the shape {shape}")))
}

fn of_arrays(a: &Bound<'_, PyAny>, shape: (usize, usize)) -> PyResult<Matrix> {
    let py = a.py();
    let part = |name| a.getattr(name);
    arrays::matrix(shape, &part(intern!(py, "indptr"))?, &part(intern!(py, "indices"))?, &part(intern!(py, "data"))?)
}

/// The vector of an object: one of this package, or an array of NumPy's of one dimension, whose entries are all there.
/// # Errors
/// `TypeError` for another object; those of its array.
pub(crate) fn vector(x: &Bound<'_, PyAny>) -> PyResult<(Vector, Kind)> {
    if let Ok(own) = x.cast::<PyVector>() {
        return Ok((own.get().held.get(x.py()), Kind::Own));
    }
    let values = arrays::copied(x, "x")?;
    Ok((Vector::full(values).raise()?, Kind::Like(x.clone().unbind())))
}

/// Whether the object is a vector: one of this package, or an array of one dimension.
pub(crate) fn is_vector(x: &Bound<'_, PyAny>) -> bool {
    x.is_instance_of::<PyVector>() || x.cast::<PyUntypedArray>().is_ok_and(|x| x.ndim() == 1)
}

/// A matrix or a vector.
pub(crate) fn either(x: &Bound<'_, PyAny>) -> PyResult<(Operand, Kind)> {
    if is_vector(x) {
        let (x, kind) = vector(x)?;
        return Ok((Operand::Vector(x), kind));
    }
    let (a, kind) = matrix(x)?;
    Ok((Operand::Matrix(a), kind))
}

/// The matrix as an object of that kind.
pub(crate) fn give<'py>(py: Python<'py>, a: Matrix, kind: &Kind) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        Kind::Own => Ok(Bound::new(py, PyMatrix::new(a))?.into_any()),
        Kind::Like(of) | Kind::Columns(of) => {
            static LIKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let (by_columns, (m, n)) = (matches!(kind, Kind::Columns(_)), a.shape());
            let shape = if by_columns { (n, m) } else { (m, n) };
            let ([data, indices, indptr], is_sorted) = arrays::parts_of(py, a)?;
            let like = LIKE.import(py, "sparring._foreign", "like")?;
            like.call1((of, shape, data, indices, indptr, is_sorted, by_columns))
        }
    }
}

/// The vector as an object of that kind: an array of NumPy's where every entry is there.
pub(crate) fn give_vector<'py>(py: Python<'py>, x: Vector, kind: &Kind) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        Kind::Own => Ok(Bound::new(py, PyVector::new(x))?.into_any()),
        Kind::Like(_) | Kind::Columns(_) => dense(py, &x, None),
    }
}

/// The vector as an array of NumPy's, 0 or `fill` where it has no entry.
pub(crate) fn dense<'py>(py: Python<'py>, x: &Vector, fill: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let x = if x.is_on_host() { x.clone() } else { py.detach(|| x.download()).raise()? };
    let zero = 0i32.into_pyobject(py)?;
    let absent = scalar(fill.unwrap_or(zero.as_any()), x.ty())?;
    macro_rules! filled {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match x.ty() {
                $(Type::$variant => match (x.typed::<$t>(), absent.get::<$t>()) {
                    (Some(typed), Some(absent)) => Array::of(py.detach(|| typed.to_dense(absent)).raise()?),
                    _ => return Err(PyTypeError::new_err(format!("values of {}", x.ty()))),
                },)*
                Type::Struct(of) => return Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
            }
        };
    }
    arrays::array(py, arrays::numbers!(filled))
}
