//! `Matrix`: a sparse matrix of any value type, on any device.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PySlice, PyTuple};
use sparring::Csr;
use sparring::algebra::{Array, Type};
use sparring::runtime::{BinaryOp, Matrix, Op, UnaryOp};
use sparring::sparse::IndexList;

use crate::arithmetic;
use crate::arrays::{
    self, DeviceMemory, array, collected, dtype_argument, indices_of, name_of, narrow, on_host, values_of,
};
use crate::compare::compare;
use crate::errors::Raise;
use crate::held::Held;
use crate::indices::{integer, integers};
use crate::machines::machine;
use crate::operands::{self, Kind, give, give_vector};
use crate::scalars::{number, scalar};
use crate::written::MaskOf;

/// A sparse matrix of m rows and n columns, in host memory or on a GPU.
///
/// Parameters
/// ----------
/// a : Matrix, sparse array or matrix of SciPy, or any object with ``tocsr``
///     The entries. SciPy's arrays are shared if their types match (int32 column indices, values of any type except
///     bool); do not modify them while the matrix is in use.
/// dtype : optional
///     Type of the values, by default that of ``a``.
/// device : str, optional
///     ``'cpu'``, the default, or ``'cuda:0'`` and so on.
///
/// Examples
/// --------
/// >>> import numpy as np, scipy.sparse, sparring as sp
/// >>> a = sp.Matrix(scipy.sparse.csr_array(np.array([[0., 2.], [3., 0.]])))
/// >>> a
/// <sparring.Matrix of float64, 2×2 with 2 entries as compressed rows, on cpu>
/// >>> (a @ a).to_scipy().toarray()
/// array([[6., 0.],
///        [0., 6.]])
#[pyclass(name = "Matrix", module = "sparring", frozen, weakref)]
pub(crate) struct PyMatrix {
    pub(crate) held: Held<Matrix>,
}

impl PyMatrix {
    pub(crate) fn new(a: Matrix) -> Self {
        Self { held: Held::new(a) }
    }
}

/// Indices of a dimension: a slice, or an array of integers or bools.
pub(crate) fn index_list(of: &Bound<'_, PyAny>, dimension: usize) -> PyResult<IndexList> {
    if let Ok(slice) = of.cast::<PySlice>() {
        let found = slice.indices(isize::try_from(dimension)?)?;
        if (found.start, found.step, found.slicelength) == (0, 1, dimension) {
            return Ok(IndexList::all());
        }
        return Ok(IndexList::strided(usize::try_from(found.start.max(0))?, found.step, found.slicelength));
    }
    let whole = |i: i64| {
        let at = if i < 0 { i.checked_add_unsigned(dimension as u64).filter(|&i| i >= 0) } else { Some(i) };
        let beyond = || PyIndexError::new_err(format!("index {i} is out of bounds for a dimension of {dimension}"));
        at.map(|i| i as usize).filter(|&i| i < dimension).ok_or_else(beyond)
    };
    let line = arrays::copied(of, "index")?;
    let numbers: Vec<i64> = match line.ty() {
        Type::Bool => {
            let flags = line.into_vec::<bool>().unwrap_or_default();
            if flags.len() != dimension {
                let message = format!("a boolean index of length {} for a dimension of {dimension}", flags.len());
                return Err(PyIndexError::new_err(message));
            }
            let count = flags.iter().filter(|&&yes| yes).count();
            collected(count, flags.iter().zip(0..).filter_map(|(&yes, i)| yes.then_some(Ok(i))), "index")?
        }
        Type::F32 | Type::F64 | Type::ComplexF32 | Type::ComplexF64 if !line.is_empty() => {
            return Err(PyIndexError::new_err(format!("indices must be integers, not {}", name_of(line.ty()))));
        }
        _ => integers(of, "index")?,
    };
    Ok(collected(numbers.len(), numbers.into_iter().map(whole), "index")?.into())
}

/// Two indices, each a number or a list.
enum Part {
    Entry(usize, usize),
    Row(usize, IndexList),
    Column(IndexList, usize),
    Block(IndexList, IndexList),
}

fn part(index: &Bound<'_, PyAny>, (m, n): (usize, usize)) -> PyResult<Part> {
    let py = index.py();
    let (rows, columns) = match index.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => (pair.get_item(0)?, pair.get_item(1)?),
        Ok(tuple) => return Err(PyIndexError::new_err(format!("a matrix takes two indices, not {}", tuple.len()))),
        Err(_) => (index.clone(), PySlice::full(py).into_any()),
    };
    let single = |of: &Bound<'_, PyAny>, bound: usize, axis: &str| -> PyResult<Option<usize>> {
        let Some(i) = integer(of)? else { return Ok(None) };
        let at = if i < 0 { i + i64::try_from(bound)? } else { i };
        let inside = usize::try_from(at).ok().filter(|&at| at < bound);
        inside.map(Some).ok_or_else(|| {
            PyIndexError::new_err(format!("{axis} {i} is out of bounds for a matrix of {m} rows and {n} columns"))
        })
    };
    Ok(match (single(&rows, m, "row")?, single(&columns, n, "column")?) {
        (Some(i), Some(j)) => Part::Entry(i, j),
        (Some(i), None) => Part::Row(i, index_list(&columns, n)?),
        (None, Some(j)) => Part::Column(index_list(&rows, m)?, j),
        (None, None) => Part::Block(index_list(&rows, m)?, index_list(&columns, n)?),
    })
}

/// Whether indices below `n` need more than 32 bits.
pub(crate) fn is_wide(n: usize) -> bool {
    u32::try_from(n).is_err()
}
/// Indices as an array of u64.
pub(crate) fn words(indices: Vec<usize>) -> PyResult<Array> {
    Ok(Array::of(collected(indices.len(), indices.iter().map(|&i| Ok(i as u64)), "indices")?))
}

#[pymethods]
impl PyMatrix {
    #[new]
    #[pyo3(signature = (a, dtype=None, device=None))]
    fn make(a: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>, device: Option<&str>) -> PyResult<Self> {
        let py = a.py();
        let (mut made, _) = operands::matrix(a)?;
        if let Some(dtype) = dtype {
            let ty = dtype_argument(py, dtype)?;
            made = operands::cast(py, &made, ty)?;
        }
        if let Some(device) = device {
            let on = machine(Some(device))?;
            made = py.detach(|| on.upload(&made)).raise()?;
        }
        Ok(Self::new(made))
    }
    /// A matrix from row indices, column indices and values, arrays or columns of data frames, in any order; duplicates
    /// are summed (bool: or), or combined by the operator ``dup`` in the given order.
    #[staticmethod]
    #[pyo3(signature = (rows, columns, values, shape, dup=None))]
    fn from_coo(
        rows: &Bound<'_, PyAny>,
        columns: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
        shape: (usize, usize),
        dup: Option<&str>,
    ) -> PyResult<Self> {
        let py = values.py();
        fn indices<I: TryFrom<usize>>(of: &Bound<'_, PyAny>, name: &str, bound: usize) -> PyResult<Vec<I>> {
            let found = integers(of, name)?;
            let check = |(position, &i): (usize, &i64)| {
                let inside = usize::try_from(i).ok().filter(|&i| i < bound).and_then(|i| I::try_from(i).ok());
                let beyond = || PyIndexError::new_err(format!("{name}: number {position} is {i}, not below {bound}"));
                inside.ok_or_else(beyond)
            };
            collected(found.len(), found.iter().enumerate().map(check), name)
        }
        let on = machine(None)?;
        let Some(threads) = on.threads() else { return Err(PyValueError::new_err("no threads")) };
        let combine = |values: &Array| dup.map(|name| BinaryOp::new(name, values.ty())).transpose().raise();
        let made = if is_wide(shape.0) || is_wide(shape.1) {
            let places = (indices::<usize>(rows, "rows", shape.0)?, indices::<usize>(columns, "columns", shape.1)?);
            let values = arrays::copied(values, "values")?;
            match combine(&values)? {
                None => py.detach(|| Matrix::from_coo_wide(threads, shape, (&places.0, &places.1), values)),
                dup => py.detach(|| Matrix::build_wide(threads, shape, (places.0, places.1, values), dup.as_ref())),
            }
        } else {
            let (rows, columns) = (indices(rows, "rows", shape.0)?, indices(columns, "columns", shape.1)?);
            let values = arrays::copied(values, "values")?;
            match combine(&values)? {
                None => py.detach(|| Matrix::from_coo(threads, shape.0, shape.1, rows, columns, values)),
                dup => py.detach(|| Matrix::build(threads, shape, (rows, columns, values), dup.as_ref())),
            }
        };
        Ok(Self::new(made.raise()?))
    }
    /// The identity matrix.
    #[staticmethod]
    #[pyo3(signature = (n, dtype=None))]
    fn eye(py: Python<'_>, n: usize, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let ty = dtype.map_or(Ok(Type::F64), |dtype| dtype_argument(py, dtype))?;
        let made: sparring::Result<Matrix> = py.detach(|| Matrix::from(Csr::<i8>::eye(n)?).cast(ty));
        Ok(Self::new(made.raise()?))
    }
    /// An empty matrix.
    #[staticmethod]
    #[pyo3(signature = (shape, dtype=None))]
    fn empty(shape: (usize, usize), dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let ty = dtype.map_or(Ok(Type::F64), |dtype| dtype_argument(dtype.py(), dtype))?;
        Ok(Self::new(Matrix::empty(ty, shape.0, shape.1).raise()?))
    }
    /// Rows and columns.
    #[getter]
    fn shape(&self, py: Python<'_>) -> (usize, usize) {
        self.held.get(py).shape()
    }
    /// Makes NumPy defer to the operators of this class, instead of building an object array.
    #[classattr]
    fn __array_ufunc__() -> Option<usize> {
        None
    }
    /// Number of dimensions.
    #[classattr]
    fn ndim() -> usize {
        2
    }
    /// Number of entries, including stored zeros.
    #[getter]
    fn nnz(&self, py: Python<'_>) -> usize {
        self.held.get(py).nnz()
    }
    /// NumPy dtype of the values.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtype_of(py, self.held.get(py).ty())
    }
    /// Device of the matrix.
    #[getter]
    fn device(&self, py: Python<'_>) -> String {
        self.held.get(py).machine()
    }
    /// The transpose: O(m + n + entries).
    #[getter(T)]
    fn transpose(&self, py: Python<'_>) -> PyResult<Self> {
        let a = self.held.get(py);
        let on = machine(Some(&a.machine()))?;
        Ok(Self::new(on.compute(py, a.nnz(), || on.transpose(&a))?))
    }
    /// Row pointers, int64: shared and read-only. On a GPU an object with ``__cuda_array_interface__``, uint32 or
    /// uint64.
    #[getter]
    fn indptr<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let a = self.held.get(py);
        if let Some([_, _, indptr]) = device_arrays(&a)? {
            return Ok(Bound::new(py, indptr)?.into_any());
        }
        let [indptr, _] = indices_of(py, on_host(&a)?)?;
        Ok(indptr)
    }
    /// Column indices, int32: shared and read-only. On a GPU an object with ``__cuda_array_interface__``, uint32.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let a = self.held.get(py);
        if let Some([_, indices, _]) = device_arrays(&a)? {
            return Ok(Bound::new(py, indices)?.into_any());
        }
        let [_, indices] = indices_of(py, on_host(&a)?)?;
        Ok(indices)
    }
    /// Values: shared and read-only. On a GPU an object with ``__cuda_array_interface__``.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let a = self.held.get(py);
        if let Some([data, _, _]) = device_arrays(&a)? {
            return Ok(Bound::new(py, data)?.into_any());
        }
        on_host(&a)?;
        let Some(values) = a.values() else { return Err(elsewhere(&a)) };
        values_of(py, &a, values)
    }
    /// The matrix as a ``scipy.sparse.csr_array``. The arrays are moved if the matrix has no other owner, else shared
    /// and read-only.
    fn to_scipy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let a = slf.get().held.get(py);
        static CSR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let csr = CSR.import(py, "sparring._foreign", "csr_array")?;
        let a = if a.is_on_host() { a } else { py.detach(|| a.download()).raise()? };
        let pattern = on_host(&a)?;
        let ([indptr, indices], narrow) = (indices_of(py, pattern)?, narrow(pattern)?);
        let indptr = narrow.map_or(indptr, |narrow| numpy::PyArray1::from_vec(py, narrow).into_any());
        let Some(values) = a.values() else { return Err(elsewhere(&a)) };
        csr.call1((a.shape(), values_of(py, &a, values)?, indices, indptr, pattern.is_sorted()))
    }
    /// The same as :meth:`to_scipy`, under SciPy's name.
    fn tocsr<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_scipy(slf)
    }
    /// A dense array, with 0 for absent entries.
    fn toarray<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_scipy(slf)?.call_method0("toarray")
    }
    /// The sum of all entries, or of each column (``axis=0``) or row (``axis=1``) as a dense array.
    #[pyo3(signature = (axis=None))]
    fn sum<'py>(slf: &Bound<'py, Self>, axis: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
        arithmetic::sum_along(slf.as_any(), axis)
    }
    /// Number of nonzero entries.
    fn count_nonzero(&self, py: Python<'_>) -> PyResult<usize> {
        let a = self.held.get(py);
        let on = machine(Some(&a.machine()))?;
        let nonzero = UnaryOp::new("a != 0", a.ty()).raise()?;
        Ok(on.compute(py, a.nnz(), || on.select(&nonzero, &a))?.nnz())
    }
    /// Diagonal ``k``, as a dense array.
    #[pyo3(signature = (k=0))]
    fn diagonal<'py>(&self, py: Python<'py>, k: i64) -> PyResult<Bound<'py, PyAny>> {
        let a = self.held.get(py);
        let on = machine(Some(&a.machine()))?;
        let x = on.compute(py, a.nnz(), || on.call(Op::Diagonal(k), &a).eval())?;
        operands::dense(py, &x, None)
    }
    /// Row indices, column indices and values of the entries, as arrays; indices are of type uint32, or of uint64 if there
    /// are more than 2³² - 1 rows or columns.
    fn to_coo<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let a = self.held.get(py);
        if is_wide(a.shape().0) || is_wide(a.shape().1) {
            let (rows, columns, values) = py.detach(|| a.download()?.extract_tuples_wide()).raise()?;
            return Ok((array(py, words(rows)?)?, array(py, words(columns)?)?, array(py, values)?));
        }
        let (rows, columns, values) = py.detach(|| a.download()?.extract_tuples()).raise()?;
        Ok((array(py, Array::of(rows))?, array(py, Array::of(columns))?, array(py, values)?))
    }
    /// The matrix on another device; itself if already there.
    fn to<'py>(slf: &Bound<'py, Self>, device: &str) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let (a, on) = (slf.get().held.get(py), machine(Some(device))?);
        if a.machine() == on.name() {
            return Ok(slf.clone());
        }
        Bound::new(py, Self::new(py.detach(|| on.upload(&a)).raise()?))
    }
    /// A matrix with values of another type: floats are rounded to nearest, integers are exact.
    #[pyo3(signature = (dtype))]
    fn astype(&self, dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (py, a) = (dtype.py(), self.held.get(dtype.py()));
        let ty = dtype_argument(py, dtype)?;
        Ok(Self::new(operands::cast(py, &a, ty)?))
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
        let (a, mut bytes) = (self.held.get(py), Bytes::default());
        py.detach(|| a.serialize(&mut bytes)).raise()?;
        Ok((py.import("sparring._sparring")?.getattr("_matrix_of_bytes")?, (bytes.object(py)?,)))
    }
    fn __repr__(&self, py: Python<'_>) -> String {
        let a = self.held.get(py);
        format!("<sparring.Matrix of {}, {}, on {}>", name_of(a.ty()), a.described(), a.machine())
    }
    fn __bool__(&self) -> PyResult<bool> {
        Err(PyValueError::new_err("the truth value of a matrix is ambiguous: compare a.nnz"))
    }

    /// The entry at (i, j), 0 if absent; rows, columns and blocks by slices and index arrays.
    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        let a = self.held.get(py);
        let on = machine(Some(&a.machine()))?;
        match part(index, a.shape())? {
            Part::Entry(i, j) => {
                let found = py.detach(|| a.download()?.get(i, j)).raise()?;
                match found {
                    Some(x) => number(py, &x),
                    None => number(py, &scalar(0i32.into_pyobject(py)?.as_any(), a.ty())?),
                }
            }
            Part::Row(i, columns) => {
                let x = on.compute(py, a.nnz(), || on.call(Op::ExtractRow(i, &columns), &a).eval())?;
                give_vector(py, x, &Kind::Own)
            }
            Part::Column(rows, j) => {
                let x = on.compute(py, a.nnz(), || on.call(Op::ExtractColumn(&rows, j), &a).eval())?;
                give_vector(py, x, &Kind::Own)
            }
            Part::Block(rows, columns) => {
                let c = on.compute(py, a.nnz(), || on.call(Op::Extract(&rows, &columns), &a).eval())?;
                give(py, c, &Kind::Own)
            }
        }
    }
    /// Sets the entry at (i, j), or assigns a matrix or a number to a block.
    fn __setitem__(&self, index: &Bound<'_, PyAny>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = index.py();
        // No Python code runs while the matrix is locked: it could wait for the lock.
        let (ty, shape, on) = {
            let a = self.held.get(py);
            (a.ty(), a.shape(), machine(Some(&a.machine()))?)
        };
        let part = part(index, shape)?;
        // On a GPU, a single entry is assigned as a 1×1 block.
        if let (Part::Entry(i, j), false) = (&part, on.is_gpu()) {
            let x = scalar(x, ty)?;
            return self.held.lock(py).set(*i, *j, x).raise();
        }
        let (rows, columns) = match part {
            Part::Row(i, columns) => (IndexList::from(vec![i]), columns),
            Part::Column(rows, j) => (rows, IndexList::from(vec![j])),
            Part::Block(rows, columns) => (rows, columns),
            Part::Entry(i, j) => (IndexList::from(vec![i]), IndexList::from(vec![j])),
        };
        if let Some(shape) = x.getattr_opt("shape")?
            && !shape.is_none()
            && shape.len()? == 2
        {
            let b = operands::cast(py, &operands::matrix(x)?.0, ty)?;
            let mut held = self.held.lock(py);
            let a = &mut *held;
            return on.compute(py, a.nnz() + b.nnz(), || on.call(Op::Assign(&rows, &columns), &b).into(a));
        }
        let x = scalar(x, ty)?;
        let mut held = self.held.lock(py);
        let a = &mut *held;
        on.compute(py, a.nnz(), || on.call(Op::AssignScalar(&x, &rows, &columns), ()).into(a))
    }
    /// Removes the entry at (i, j), if present.
    fn __delitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = index.py();
        let shape = self.held.get(py).shape();
        match part(index, shape)? {
            Part::Entry(i, j) => self.held.lock(py).remove(i, j).raise(),
            _ => Err(PyTypeError::new_err("only single entries can be removed: del a[i, j]")),
        }
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
    /// The complement of the matrix as a value mask, for ``mask=``.
    fn __invert__(slf: &Bound<'_, Self>) -> MaskOf {
        MaskOf::new(slf.as_any(), false, true)
    }
    /// The matrix as a structural mask, for ``mask=``.
    #[getter(S)]
    fn structure(slf: &Bound<'_, Self>) -> MaskOf {
        MaskOf::new(slf.as_any(), true, false)
    }
}

/// A byte buffer for pickle.
#[derive(Default)]
pub(crate) struct Bytes(Vec<u8>);

impl std::io::Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Vec's own growth would abort the process if out of memory.
        self.0.try_reserve(bytes.len()).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Bytes {
    pub(crate) fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.0.len(), |to| {
            to.copy_from_slice(&self.0);
            Ok(())
        })
    }
}

/// A matrix from pickled bytes.
#[pyfunction]
pub(crate) fn _matrix_of_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<PyMatrix> {
    Ok(PyMatrix::new(py.detach(|| Matrix::deserialize(&mut &*bytes)).raise()?))
}

fn elsewhere(a: &Matrix) -> PyErr {
    PyValueError::new_err(format!("the matrix is on {}: a.to('cpu') has arrays", a.machine()))
}

/// Data, indices and indptr of a matrix in GPU memory.
fn device_arrays(a: &Matrix) -> PyResult<Option<[DeviceMemory; 3]>> {
    if a.is_on_host() {
        return Ok(None);
    }
    DeviceMemory::of_matrix(&*machine(Some(&a.machine()))?, a).map(Some)
}

/// NumPy's dtype of a type.
pub(crate) fn dtype_of(py: Python<'_>, ty: Type) -> PyResult<Bound<'_, PyAny>> {
    Ok(numpy::PyArrayDescr::new(py, name_of(ty))?.into_any())
}
