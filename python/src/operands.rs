//! Conversion of Python objects to matrices and vectors, and of results to the type of the inputs.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use sparring::Error;
use sparring::algebra::{Array, Type};
use sparring::num_complex::Complex;
use sparring::par::note;
use sparring::runtime::{BinaryOp, Matrix, Op, Vector};
use sparring::sparse::IndexList;

use crate::arrays::{self, DeviceMemory, Stored};
use crate::dense::is_dense;
use crate::errors::{Raise, shown};
use crate::machines::{On, machine};
use crate::matrix::PyMatrix;
use crate::scalars::scalar;
use crate::vector::PyVector;

/// The Python type of a result.
pub(crate) enum Kind {
    /// An object of this package.
    Own,
    /// An object of SciPy, PyData or NumPy, like this one.
    Like(Py<PyAny>),
    /// The transpose, as a SciPy CSC matrix like this object.
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
    /// Converts the values to a type.
    pub(crate) fn cast(self, py: Python<'_>, ty: sparring::algebra::Type) -> PyResult<Self> {
        if self.ty() == ty {
            return Ok(self);
        }
        Ok(match self {
            Self::Matrix(a) => Self::Matrix(cast(py, &a, ty)?),
            Self::Vector(x) => Self::Vector(cast_vector(py, &x, ty)?),
        })
    }
    /// Entries of a matrix, length of a vector: the size of an operation.
    pub(crate) fn entries(&self) -> usize {
        match self {
            Self::Matrix(a) => a.nnz(),
            Self::Vector(x) => x.len(),
        }
    }
}

/// Converts the values of a matrix, which stays on its device; a matrix on a GPU is converted through the host.
pub(crate) fn cast(py: Python<'_>, a: &Matrix, ty: Type) -> PyResult<Matrix> {
    if a.is_on_host() || a.ty() == ty {
        return py.detach(|| a.cast(ty)).raise();
    }
    let on = machine(Some(&a.machine()))?;
    on.compute(py, a.nnz(), || on.upload(&a.download()?.cast(ty)?))
}
/// The same for a vector.
pub(crate) fn cast_vector(py: Python<'_>, x: &Vector, ty: Type) -> PyResult<Vector> {
    if x.is_on_host() || x.ty() == ty {
        return py.detach(|| x.cast(ty)).raise();
    }
    let on = machine(Some(&x.machine()))?;
    on.compute(py, x.len(), || on.upload_vector(&x.download()?.cast(ty)?))
}

/// An object as a matrix: a Matrix, a SciPy sparse array or matrix, any object with `tocsr`, or a dense array.
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
            let t = transposed(a)?;
            let on = machine(Some(&t.machine()))?;
            return Ok((on.compute(py, t.nnz(), || on.transpose(&t))?, kind));
        }
        _ if a.hasattr(intern!(py, "tocsr"))? => {
            note(|| format!("{} converted to compressed rows", a.get_type()));
            a.call_method0(intern!(py, "tocsr"))?
        }
        _ if is_dense(a) => {
            // Zeros are not stored.
            arrays::unmasked(a, "a")?;
            note(|| "a dense array converted to compressed rows".into());
            static CSR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let made = CSR.import(py, "scipy.sparse", "csr_array")?.call1((a,))?;
            return Ok((of_arrays(&made, shape(&made)?)?, Kind::Own));
        }
        _ => {
            let message = format!("expected a sparse matrix, not {}", a.get_type().name()?);
            return Err(PyTypeError::new_err(message));
        }
    };
    Ok((of_arrays(&compressed, shape(&compressed)?)?, kind))
}

/// A matrix, with the fewest calls into Python; None for CSC matrices and for vectors.
/// # Errors
/// Those of [`matrix`].
pub(crate) fn by_rows(a: &Bound<'_, PyAny>) -> PyResult<Option<Matrix>> {
    if let Ok(own) = a.cast::<PyMatrix>() {
        return Ok(Some(own.get().held.get(a.py())));
    }
    match &format(a)? {
        Some(format) if is(format, "csr") => of_arrays(a, shape(a)?).map(Some),
        Some(format) if is(format, "csc") => Ok(None),
        _ if is_vector(a) => Ok(None),
        _ => Ok(Some(matrix(a)?.0)),
    }
}

/// The transpose of a SciPy CSC matrix, as CSR without conversion; None for every other object.
/// # Errors
/// Those of its arrays.
pub(crate) fn columns(a: &Bound<'_, PyAny>) -> PyResult<Option<(Matrix, Kind)>> {
    match &format(a)? {
        Some(format) if is(format, "csc") => Ok(Some((transposed(a)?, Kind::Columns(a.clone().unbind())))),
        _ => Ok(None),
    }
}

/// The format name of a sparse matrix, if any.
fn format<'py>(a: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if a.is_instance_of::<PyMatrix>() { Ok(None) } else { a.getattr_opt(intern!(a.py(), "format")) }
}

fn is(format: &Bound<'_, PyAny>, name: &str) -> bool {
    format.cast::<PyString>().is_ok_and(|text| text.to_str().is_ok_and(|text| text == name))
}

/// The arrays of a SciPy matrix in host memory, and whether they are CSC; None for any other object.
pub(crate) fn stored<'py>(a: &Bound<'py, PyAny>) -> PyResult<Option<(Stored<'py>, bool)>> {
    let by_columns = match &format(a)? {
        Some(format) if is(format, "csr") => false,
        Some(format) if is(format, "csc") => true,
        _ => return Ok(None),
    };
    let ([indptr, indices, data], (nrows, ncols)) = (parts(a)?, shape(a)?);
    if data.cast::<PyUntypedArray>().is_err() || indices.cast::<PyUntypedArray>().is_err() {
        return Ok(None);
    }
    let (lines, across) = if by_columns { (ncols, nrows) } else { (nrows, ncols) };
    Ok(Some((Stored { lines, across, indptr, indices, data }, by_columns)))
}

fn transposed(a: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let (nrows, ncols) = shape(a)?;
    of_arrays(a, (ncols, nrows))
}

fn shape(a: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
    let shape = part(a, intern!(a.py(), "shape"))?;
    shape
        .extract()
        .map_err(|_| PyValueError::new_err(format!("a matrix needs two dimensions, not the shape {}", shown(&shape))))
}

/// An attribute of sparse matrices.
fn part<'py>(a: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    let Some(part) = a.getattr_opt(name)? else {
        let message = format!("expected a sparse matrix, not {}, which has no {name}", a.get_type().name()?);
        return Err(PyTypeError::new_err(message));
    };
    Ok(part)
}

/// Row pointers, columns and values.
fn parts<'py>(a: &Bound<'py, PyAny>) -> PyResult<[Bound<'py, PyAny>; 3]> {
    let py = a.py();
    Ok([part(a, intern!(py, "indptr"))?, part(a, intern!(py, "indices"))?, part(a, intern!(py, "data"))?])
}

fn of_arrays(a: &Bound<'_, PyAny>, shape: (usize, usize)) -> PyResult<Matrix> {
    let py = a.py();
    let [indptr, indices, data] = parts(a)?;
    if arrays::is_on_device(&data)? {
        static CANONICAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let sorted = CANONICAL.import(py, "sparring._foreign", "canonical")?.call1((a,))?;
        let [indptr, indices, data] = &parts(&sorted)?;
        return arrays::matrix_on_device(&*device_of(data)?, shape, [indptr, indices, data]);
    }
    match arrays::matrix(shape, &indptr, &indices, &data)? {
        // Duplicates represent their sum, computed in a copy: in place, it would modify the caller's matrix.
        Err(Error::Duplicate { .. }) if a.hasattr(intern!(py, "sum_duplicates"))? => {
            let a = &a.call_method0(intern!(py, "copy"))?;
            a.call_method0(intern!(py, "sum_duplicates"))?;
            let [indptr, indices, data] = parts(a)?;
            arrays::matrix(shape, &indptr, &indices, &data)?.raise()
        }
        made => made.raise(),
    }
}

/// The GPU of an array.
fn device_of(x: &Bound<'_, PyAny>) -> PyResult<On> {
    let py = x.py();
    let number = x.getattr_opt(intern!(py, "device"))?.map(|of| of.getattr_opt(intern!(py, "id"))).transpose()?;
    let number = number.flatten().map_or(Ok(0), |of| of.extract::<usize>())?;
    machine(Some(&format!("cuda:{number}")))
}

/// Whether the object is a CuPy object, or another array in GPU memory.
fn is_of_device(of: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = of.py();
    if of.cast::<PyUntypedArray>().is_ok() {
        return Ok(false);
    }
    match of.getattr_opt(intern!(py, "data"))? {
        Some(data) if of.hasattr(intern!(py, "format"))? => arrays::is_on_device(&data),
        _ => arrays::is_on_device(of),
    }
}

/// An object as a vector: a Vector, or a one-dimensional NumPy array as a full vector.
/// # Errors
/// `TypeError` for another object; those of its array.
pub(crate) fn vector(x: &Bound<'_, PyAny>) -> PyResult<(Vector, Kind)> {
    if let Ok(own) = x.cast::<PyVector>() {
        return Ok((own.get().held.get(x.py()), Kind::Own));
    }
    if arrays::is_on_device(x)? {
        return Ok((arrays::vector_on_device(&*device_of(x)?, x)?, Kind::Like(x.clone().unbind())));
    }
    let values = arrays::copied(x, "x")?;
    Ok((Vector::full(values).raise()?, Kind::Like(x.clone().unbind())))
}

/// An array in GPU memory as a vector in the order of its rows, with its shape and its kind.
pub(crate) fn values_there(x: &Bound<'_, PyAny>) -> PyResult<(Vector, Vec<usize>, Kind)> {
    let py = x.py();
    let shape = x.getattr(intern!(py, "shape"))?.extract()?;
    let (vector, kind) = vector(&x.call_method1(intern!(py, "reshape"), (-1,))?)?;
    Ok((vector, shape, kind))
}

/// Whether the object is a vector: a Vector, or a one-dimensional array.
pub(crate) fn is_vector(x: &Bound<'_, PyAny>) -> bool {
    if x.is_instance_of::<PyVector>() {
        return true;
    }
    match x.cast::<PyUntypedArray>() {
        Ok(x) => x.ndim() == 1,
        Err(_) => is_array_there(x, 1),
    }
}

/// Whether the object is an array in GPU memory with that many dimensions.
pub(crate) fn is_array_there(x: &Bound<'_, PyAny>, dimensions: usize) -> bool {
    let py = x.py();
    // Looking up an existing attribute is faster than a missing one.
    let is_matrix = || x.is_instance_of::<PyMatrix>() || x.hasattr(intern!(py, "tocsr")).unwrap_or(false);
    let fits = || x.getattr(intern!(py, "ndim")).is_ok_and(|n| n.extract::<usize>().is_ok_and(|n| n == dimensions));
    !is_matrix() && arrays::is_on_device(x).unwrap_or(false) && fits()
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

/// Converts a matrix to an object of that kind.
pub(crate) fn give<'py>(py: Python<'py>, a: Matrix, kind: &Kind) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        Kind::Own => Ok(Bound::new(py, PyMatrix::new(a))?.into_any()),
        Kind::Like(of) | Kind::Columns(of) => {
            static LIKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let (by_columns, (m, n)) = (matches!(kind, Kind::Columns(_)), a.shape());
            let shape = if by_columns { (n, m) } else { (m, n) };
            if is_of_device(of.bind(py))? {
                static THERE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
                let on = device_of(&of.bind(py).getattr("data")?)?;
                let there = on.compute(py, a.nnz(), || on.upload(&a))?;
                let [data, indices, indptr] = DeviceMemory::of_matrix(&on, &there)?;
                let like = THERE.import(py, "sparring._foreign", "like_on_device")?;
                return like.call1((of, shape, data, indices, indptr, by_columns));
            }
            let ([data, indices, indptr], is_sorted) = arrays::parts_of(py, a)?;
            let like = LIKE.import(py, "sparring._foreign", "like")?;
            like.call1((of, shape, data, indices, indptr, is_sorted, by_columns))
        }
    }
}

/// Converts a vector to an object of that kind: a NumPy array if it is full.
pub(crate) fn give_vector<'py>(py: Python<'py>, x: Vector, kind: &Kind) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        Kind::Own => Ok(Bound::new(py, PyVector::new(x))?.into_any()),
        Kind::Like(of) if is_of_device(of.bind(py))? => {
            static THERE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let on = device_of(of.bind(py))?;
            let given = |there| THERE.import(py, "sparring._foreign", "on_device")?.call1((of.bind(py), there));
            if x.machine() == on.name()
                && let Some(there) = DeviceMemory::of_vector(&on, &x)?
            {
                return given(there);
            }
            let zero = scalar(0i32.into_pyobject(py)?.as_any(), x.ty())?;
            let full = on.compute(py, x.len(), || {
                // Absent entries are 0, on the device.
                let (all, second) = (IndexList::all(), BinaryOp::new("second", x.ty())?);
                let mut full = on.upload_vector(&Vector::empty(x.ty(), x.len())?)?;
                on.call(Op::AssignScalar(&zero, &all, &all), ()).into(&mut full)?;
                on.call(Op::Identity, &x).accum(&second).into(&mut full)?;
                Ok(full)
            })?;
            match DeviceMemory::of_vector(&on, &full)? {
                Some(there) => given(there),
                None => dense(py, &full, None),
            }
        }
        Kind::Like(_) | Kind::Columns(_) => dense(py, &x, None),
    }
}

/// The vector as a NumPy array, with 0 or `fill` for absent entries.
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
