//! `Vector`: a sparse vector of any value type, on any device.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBytes, PyList, PySlice, PyString};
use sparring::algebra::{Array, Type};
use sparring::runtime::{BinaryOp, Op, Vector};
use sparring::sparse::IndexList;

use crate::arithmetic;
use crate::arrays::{self, array, collected, dtype_argument, name_of};
use crate::compare::compare;
use crate::errors::{Raise, shown};
use crate::held::Held;
use crate::indices::{integer, integers};
use crate::machines::machine;
use crate::matrix::{Bytes, dtype_of, index_list, is_wide, words};
use crate::operands::{self, Kind, dense, give_vector};
use crate::parts;
use crate::scalars::{number, scalar};
use crate::written::MaskOf;

/// A sparse vector of length n, in host memory or on a GPU.
///
/// Parameters
/// ----------
/// x : Vector or array of one dimension
///     The entries; an array gives a full vector.
/// dtype : optional
///     Type of the values, by default that of ``x``.
/// device : str, optional
///     ``'cpu'``, the default, or ``'cuda:0'`` and so on.
///
/// Examples
/// --------
/// >>> import sparring as sp
/// >>> x = sp.Vector.from_coo([1, 3], [2.5, 4.0], size=5)
/// >>> x
/// <sparring.Vector of float64, length 5 with 2 entries as a bitmap, on cpu>
/// >>> x.to_numpy()
/// array([0. , 2.5, 0. , 4. , 0. ])
#[pyclass(name = "Vector", module = "sparring", frozen, weakref)]
pub(crate) struct PyVector {
    pub(crate) held: Held<Vector>,
}

impl PyVector {
    pub(crate) fn new(x: Vector) -> Self {
        Self { held: Held::new(x) }
    }
}

fn place(of: &Bound<'_, PyAny>, len: usize) -> PyResult<usize> {
    let none = || PyTypeError::new_err(format!("an index must be an integer, not {}", shown(of)));
    let i = integer(of)?.ok_or_else(none)?;
    let at = if i < 0 { i + i64::try_from(len)? } else { i };
    let beyond = || PyIndexError::new_err(format!("index {i} is out of bounds for a vector of length {len}"));
    usize::try_from(at).ok().filter(|&at| at < len).ok_or_else(beyond)
}

/// Whether an index selects several elements.
fn is_part(index: &Bound<'_, PyAny>) -> bool {
    index.is_instance_of::<PySlice>() || (!index.is_instance_of::<PyString>() && index.len().is_ok())
}

#[pymethods]
impl PyVector {
    #[new]
    #[pyo3(signature = (x, dtype=None, device=None))]
    fn make(x: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>, device: Option<&str>) -> PyResult<Self> {
        let py = x.py();
        let (mut made, _) = operands::vector(x)?;
        if let Some(dtype) = dtype {
            let ty = dtype_argument(py, dtype)?;
            made = operands::cast_vector(py, &made, ty)?;
        }
        if let Some(device) = device {
            let on = machine(Some(device))?;
            made = py.detach(|| on.upload_vector(&made)).raise()?;
        }
        Ok(Self::new(made))
    }
    /// A vector from indices and values, in any order; duplicates are combined by the operator ``dup`` in the given
    /// order, and are an error without it.
    #[staticmethod]
    #[pyo3(signature = (indices, values, size, dup=None))]
    fn from_coo(
        indices: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
        size: usize,
        dup: Option<&str>,
    ) -> PyResult<Self> {
        let py = values.py();
        let found = integers(indices, "indices")?;
        let place = |(position, &i): (usize, &i64)| {
            let beyond = || PyIndexError::new_err(format!("indices: number {position} is {i}, not below {size}"));
            usize::try_from(i).ok().filter(|&i| i < size).ok_or_else(beyond)
        };
        let places = collected(found.len(), found.iter().enumerate().map(place), "indices")?;
        let values = arrays::copied(values, "values")?;
        let dup = dup.map(|name| BinaryOp::new(name, values.ty())).transpose().raise()?;
        let on = machine(None)?;
        let Some(threads) = on.threads() else { return Err(PyValueError::new_err("no threads")) };
        let made = py.detach(|| Vector::build(threads, size, (places, values), dup.as_ref()));
        Ok(Self::new(made.raise()?))
    }
    /// An empty vector.
    #[staticmethod]
    #[pyo3(signature = (size, dtype=None))]
    fn empty(size: usize, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let ty = dtype.map_or(Ok(Type::F64), |dtype| dtype_argument(dtype.py(), dtype))?;
        Ok(Self::new(Vector::empty(ty, size).raise()?))
    }
    /// Places.
    #[getter]
    fn size(&self, py: Python<'_>) -> usize {
        self.held.get(py).len()
    }
    /// Length, in a tuple.
    #[getter]
    fn shape(&self, py: Python<'_>) -> (usize,) {
        (self.held.get(py).len(),)
    }
    /// Makes NumPy defer to the operators of this class, instead of building an object array.
    #[classattr]
    fn __array_ufunc__() -> Option<usize> {
        None
    }
    /// Number of dimensions.
    #[classattr]
    fn ndim() -> usize {
        1
    }
    fn __len__(&self, py: Python<'_>) -> usize {
        self.held.get(py).len()
    }
    /// Number of entries, including stored zeros.
    #[getter]
    fn nnz(&self, py: Python<'_>) -> PyResult<usize> {
        let x = self.held.get(py);
        py.detach(|| x.nvals()).raise()
    }
    /// NumPy dtype of the values.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtype_of(py, self.held.get(py).ty())
    }
    /// Device of the vector.
    #[getter]
    fn device(&self, py: Python<'_>) -> String {
        self.held.get(py).machine()
    }
    /// A dense array, with ``fill`` for absent entries, 0 by default.
    #[pyo3(signature = (fill=None))]
    fn to_numpy<'py>(&self, py: Python<'py>, fill: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        dense(py, &self.held.get(py), fill)
    }
    /// Indices and values of the entries, as arrays; indices are of type uint32, or of uint64 if there are more than
    /// 2³² - 1 places.
    fn to_coo<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let x = self.held.get(py);
        if is_wide(x.len()) {
            let (places, values) = py.detach(|| x.download()?.extract_tuples_wide()).raise()?;
            return Ok((array(py, words(places)?)?, array(py, values)?));
        }
        let (places, values) = py.detach(|| x.download()?.entries()).raise()?;
        Ok((array(py, Array::of(places))?, array(py, values)?))
    }
    /// The vector on another device; itself if already there.
    fn to<'py>(slf: &Bound<'py, Self>, device: &str) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let (x, on) = (slf.get().held.get(py), machine(Some(device))?);
        if x.machine() == on.name() {
            return Ok(slf.clone());
        }
        Bound::new(py, Self::new(py.detach(|| on.upload_vector(&x)).raise()?))
    }
    /// A vector with values of another type.
    fn astype(&self, dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        let x = self.held.get(dtype.py());
        let ty = dtype_argument(dtype.py(), dtype)?;
        Ok(Self::new(operands::cast_vector(dtype.py(), &x, ty)?))
    }
    /// An independent copy.
    fn copy(&self, py: Python<'_>) -> Self {
        Self::new(self.held.get(py))
    }
    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }
    #[pyo3(signature = (_memo))]
    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        self.copy(py)
    }
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let (x, mut bytes) = (self.held.get(py), Bytes::default());
        py.detach(|| x.serialize(&mut bytes)).raise()?;
        Ok((py.import("sparring._sparring")?.getattr("_vector_of_bytes")?, (bytes.object(py)?,)))
    }
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let x = self.held.get(py);
        let (ty, nvals) = (name_of(x.ty()), x.nvals().raise()?);
        let there = || format!("length {} with {nvals} entries", x.len());
        let described = if x.is_on_host() { x.described() } else { there() };
        Ok(format!("<sparring.Vector of {ty}, {described}, on {}>", x.machine()))
    }
    fn __bool__(&self) -> PyResult<bool> {
        Err(PyValueError::new_err("the truth value of a vector is ambiguous: compare x.nnz"))
    }
    /// The element at an index, 0 if absent; subvectors by slices and index arrays.
    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        let x = self.held.get(py);
        if is_part(index) {
            let (list, on) = (index_list(index, x.len())?, machine(Some(&x.machine()))?);
            let all = IndexList::all();
            let part = on.compute(py, x.len(), || on.call(Op::Extract(&list, &all), &x).eval())?;
            return give_vector(py, part, &Kind::Own);
        }
        let at = place(index, x.len())?;
        match py.detach(|| x.download()?.get(at)).raise()? {
            Some(found) => number(py, &found),
            None => number(py, &scalar(0i32.into_pyobject(py)?.as_any(), x.ty())?),
        }
    }
    /// Sets the element at an index, or assigns a vector or a number to a subvector.
    fn __setitem__(slf: &Bound<'_, Self>, index: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if is_part(index) {
            return parts::assign_part(slf.as_any(), value, index);
        }
        // No Python code runs while the vector is locked: it could wait for the lock.
        let (py, held) = (index.py(), &slf.get().held);
        let x = held.get(py);
        if !x.is_on_host() {
            let at = PyList::new(py, [place(index, x.len())?])?;
            return parts::assign_part(slf.as_any(), value, at.as_any());
        }
        let (at, value) = (place(index, x.len())?, scalar(value, x.ty())?);
        drop(x);
        held.lock(py).set(at, value).raise()
    }
    /// Removes the element at an index, if present.
    fn __delitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, len) = (index.py(), self.held.get(index.py()).len());
        let at = place(index, len)?;
        self.held.lock(py).remove(at).raise()
    }
    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::matmul(slf.as_any(), other)
    }
    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::matmul(other, slf.as_any())
    }
    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::sum(slf.as_any(), other)
    }
    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::sum(slf.as_any(), other)
    }
    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::difference(slf.as_any(), other)
    }
    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::difference(other, slf.as_any())
    }
    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::times(slf.as_any(), other, "times")
    }
    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::times(slf.as_any(), other, "times")
    }
    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::times(slf.as_any(), other, "div")
    }
    /// Elementwise power, as in NumPy.
    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if modulo.is_some() {
            return Err(PyTypeError::new_err("pow with a modulus is not supported"));
        }
        arithmetic::power(slf.as_any(), other)
    }
    /// Elementwise comparison, absent entries being 0; the result stores the true values.
    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        by: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        compare(slf.as_any(), other, by)
    }
    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::unary(slf.as_any(), "ainv")
    }
    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::unary(slf.as_any(), "abs")
    }
    /// The complement of the vector as a value mask, for ``mask=``.
    fn __invert__(slf: &Bound<'_, Self>) -> MaskOf {
        MaskOf::new(slf.as_any(), false, true)
    }
    /// The vector as a structural mask, for ``mask=``.
    #[getter(S)]
    fn structure(slf: &Bound<'_, Self>) -> MaskOf {
        MaskOf::new(slf.as_any(), true, false)
    }
}

/// A vector from pickled bytes.
#[pyfunction]
pub(crate) fn _vector_of_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<PyVector> {
    Ok(PyVector::new(py.detach(|| Vector::deserialize(&mut &*bytes)).raise()?))
}
