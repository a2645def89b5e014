//! What Python's users have, as matrices and vectors of the library, and results as the same kind.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use sparring::Error;
use sparring::runtime::{Matrix, Vector};

use crate::arrays;
use crate::errors::{Raise, shown};
use crate::matrix::PyMatrix;
use crate::vector::PyVector;

/// How a result is handed out.
pub(crate) enum Kind {
    /// As an object of this package.
    Own,
    /// As SciPy or PyData have it, or NumPy: like this object.
    Like(Py<PyAny>),
}

/// An operand.
pub(crate) enum Operand {
    Matrix(Matrix),
    Vector(Vector),
}

impl Operand {
    pub(crate) fn ty(&self) -> sparring::algebra::Type {
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
    let format = a.getattr_opt(intern!(py, "format"))?;
    let format = format.as_ref().and_then(|f| f.extract::<&str>().ok());
    let compressed = match format {
        Some("csr") => a.clone(),
        Some("csc") => {
            // Compressed columns are the compressed rows of the transpose.
            let (ncols, nrows) = shape(a)?;
            let t = of_arrays(a, (nrows, ncols))?;
            let machine = crate::machines::machine(None)?;
            return Ok((py.detach(|| machine.transpose(&t)).raise()?, kind));
        }
        _ if a.hasattr(intern!(py, "tocsr"))? => a.call_method0(intern!(py, "tocsr"))?,
        _ => {
            let message = format!("a sparse matrix was expected, not {}", a.get_type().name()?);
            return Err(PyTypeError::new_err(message));
        }
    };
    Ok((of_arrays(&compressed, shape(&compressed)?)?, kind))
}

fn shape(a: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
    let shape = part(a, intern!(a.py(), "shape"))?;
    shape
        .extract()
        .map_err(|_| PyValueError::new_err(format!("a matrix has two dimensions, not the shape {}", shown(&shape))))
}

/// An attribute that sparse matrices have.
fn part<'py>(a: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    let Some(part) = a.getattr_opt(name)? else {
        let message = format!("a sparse matrix was expected, not {}, which has no {name}", a.get_type().name()?);
        return Err(PyTypeError::new_err(message));
    };
    Ok(part)
}

fn of_arrays(a: &Bound<'_, PyAny>, shape: (usize, usize)) -> PyResult<Matrix> {
    let py = a.py();
    let (indptr, indices, data) = (intern!(py, "indptr"), intern!(py, "indices"), intern!(py, "data"));
    match arrays::matrix(shape, &part(a, indptr)?, &part(a, indices)?, &part(a, data)?)? {
        // SciPy means their sum, which is computed in a copy: what it computes in place it also keeps.
        Err(Error::Duplicate { .. }) if a.hasattr(intern!(py, "sum_duplicates"))? => {
            let a = &a.call_method0(intern!(py, "copy"))?;
            a.call_method0(intern!(py, "sum_duplicates"))?;
            arrays::matrix(shape, &part(a, indptr)?, &part(a, indices)?, &part(a, data)?)?.raise()
        }
        made => made.raise(),
    }
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
        Kind::Like(of) => {
            static LIKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let shape = a.shape();
            let [data, indices, indptr] = arrays::parts_of(py, a)?;
            LIKE.import(py, "sparring._foreign", "like")?.call1((of.bind(py), shape, data, indices, indptr))
        }
    }
}

/// The vector as an object of that kind: an array of NumPy's where every entry is there.
pub(crate) fn give_vector<'py>(py: Python<'py>, x: Vector, kind: &Kind) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        Kind::Own => Ok(Bound::new(py, PyVector::new(x))?.into_any()),
        Kind::Like(_) => dense(py, &x, None),
    }
}

/// The vector as an array of NumPy's, 0 or `fill` where it has no entry.
pub(crate) fn dense<'py>(py: Python<'py>, x: &Vector, fill: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    static DENSE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let (len, (places, values)) = (x.len(), py.detach(|| x.entries()).raise()?);
    if places.len() == len {
        return arrays::array(py, values);
    }
    let places = arrays::array(py, sparring::algebra::Array::of(places))?;
    DENSE.import(py, "sparring._foreign", "dense")?.call1((len, places, arrays::array(py, values)?, fill))
}
