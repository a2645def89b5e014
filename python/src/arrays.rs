//! Arrays of NumPy in and out, without copies where their layout is that of the library.
//!
//! The one home of `unsafe` of this package: memory of NumPy arrays as slices, and vectors of the library as arrays.

use numpy::{
    Element, PyArray1, PyArrayDescr, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PySlice, PyString};
use sparring::algebra::{Array, Slice, Type, Value};
use sparring::num_complex::Complex;
use sparring::par::{SignedIndex, Storage};
use sparring::runtime::Matrix;
use sparring::{Csr, Pattern};
use std::sync::Arc;

use crate::errors::Raise;
use crate::machines::machine;

/// Calls `$then!` with each type of values and its name in NumPy.
macro_rules! numbers {
    ($then:ident) => {
        $then! {
            Bool bool, "bool"; I8 i8, "int8"; I16 i16, "int16"; I32 i32, "int32"; I64 i64, "int64"; U8 u8, "uint8";
            U16 u16, "uint16"; U32 u32, "uint32"; U64 u64, "uint64"; F32 f32, "float32"; F64 f64, "float64";
            ComplexF32 Complex<f32>, "complex64"; ComplexF64 Complex<f64>, "complex128";
        }
    };
}
pub(crate) use numbers;

/// The type of values of that name in NumPy.
pub(crate) fn type_named(name: &str) -> Option<Type> {
    macro_rules! named {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match name {
                $($name => Some(Type::$variant),)*
                _ => None,
            }
        };
    }
    numbers!(named)
}

/// What NumPy calls a type.
pub(crate) fn name_of(ty: Type) -> &'static str {
    macro_rules! names {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match ty {
                $(Type::$variant => $name,)*
                Type::Struct(of) => of.name,
            }
        };
    }
    numbers!(names)
}

/// The type of values of a dtype.
/// # Errors
/// `TypeError` for one that the library does not have; `ValueError` for one of the other byte order.
pub(crate) fn type_of(dtype: &Bound<'_, PyArrayDescr>, what: &str) -> PyResult<Type> {
    if dtype.is_native_byteorder() == Some(false) {
        let message =
            format!("{what}: dtype {dtype} is not of this machine's byte order; a.astype(a.dtype.newbyteorder('='))");
        return Err(PyValueError::new_err(message));
    }
    Ok(match (dtype.kind(), dtype.itemsize()) {
        (b'b', 1) => Type::Bool,
        (b'i', 1) => Type::I8,
        (b'i', 2) => Type::I16,
        (b'i', 4) => Type::I32,
        (b'i', 8) => Type::I64,
        (b'u', 1) => Type::U8,
        (b'u', 2) => Type::U16,
        (b'u', 4) => Type::U32,
        (b'u', 8) => Type::U64,
        (b'f', 4) => Type::F32,
        (b'f', 8) => Type::F64,
        (b'c', 8) => Type::ComplexF32,
        (b'c', 16) => Type::ComplexF64,
        _ => return Err(PyTypeError::new_err(format!("{what}: no values of dtype {dtype} in sparse matrices"))),
    })
}

/// The dtype that a caller named: an object of NumPy's, a type or a name.
pub(crate) fn asked_type(py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<Type> {
    if let Some(ty) = dtype.cast::<PyString>().ok().and_then(|name| type_named(name.to_str().ok()?)) {
        return Ok(ty);
    }
    type_of(&PyArrayDescr::new(py, dtype)?, "dtype")
}

/// The dtype that values of both types fit into, as NumPy promotes them.
pub(crate) fn promoted(py: Python<'_>, a: Type, b: Type) -> PyResult<Type> {
    if a == b {
        return Ok(a);
    }
    static PROMOTE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let promote = PROMOTE.import(py, "numpy", "promote_types")?;
    type_of(promote.call1((name_of(a), name_of(b)))?.cast()?, "dtype")
}

/// A NumPy array of one dimension, contiguous and aligned: itself, or a copy that is.
pub(crate) fn line<'py>(array: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    let refused = |why: &str| PyValueError::new_err(format!("{what}: {why}"));
    let line = match array.cast::<PyUntypedArray>() {
        Ok(line) => line.clone(),
        Err(_) => {
            let py = array.py();
            static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            AS_ARRAY.import(py, "numpy", "asarray")?.call1((array,))?.cast_into::<PyUntypedArray>()?
        }
    };
    if line.ndim() != 1 {
        return Err(refused(&format!("an array of {} dimensions, not of one", line.ndim())));
    }
    if line.is_c_contiguous() && line.is_aligned() {
        return Ok(line);
    }
    Ok(line.call_method0("copy")?.cast_into::<PyUntypedArray>()?)
}

/// An array of NumPy's that lends its memory.
struct Lender(#[allow(dead_code, reason = "it is held")] Py<PyUntypedArray>);

/// The array's memory as values of `T`.
/// # Safety
/// The array has values of `T`'s layout, all of them valid, and is a [`line`].
unsafe fn lent<T: Copy>(array: &Bound<'_, PyUntypedArray>) -> Storage<T> {
    // SAFETY: an array object, alive while it is borrowed.
    let at = unsafe { (*array.as_array_ptr()).fields.data }.cast::<T>();
    // SAFETY: 1. NumPy has `len` values there, contiguous and aligned (`line`), until the array is gone, which its
    // lender holds; 2. that nobody writes them is the contract of the package: arrays which are shared are not changed
    // while a matrix over them is in use; 3. an allocation of NumPy's is at most `isize::MAX` bytes.
    unsafe { Storage::foreign(at, array.len(), Lender(array.clone().unbind())) }
}

/// Row pointers or columns of one of two signed types, as unsigned ones.
fn signed<S: SignedIndex>(array: &Bound<'_, PyUntypedArray>) -> PyResult<Storage<S::Unsigned>> {
    // SAFETY: the caller looked at the dtype; every bit pattern is an integer.
    unsafe { lent::<S>(array) }.unsigned().raise()
}

/// Row pointers.
fn row_pointers(array: &Bound<'_, PyAny>) -> PyResult<Storage<usize>> {
    let line = line(array, "indptr")?;
    match type_of(&line.dtype(), "indptr")? {
        Type::I64 => signed::<i64>(&line),
        Type::I32 => {
            // SAFETY: the dtype says so; every bit pattern is an integer.
            let narrow = unsafe { lent::<i32>(&line) };
            by_all(array.py(), narrow.len(), || Storage::widened(&narrow))
        }
        ty => Err(PyTypeError::new_err(format!("indptr: {}, not int32 or int64", name_of(ty)))),
    }
}

/// Columns. Negative ones are large here, so that the check of the pattern refuses them.
fn columns(array: &Bound<'_, PyAny>) -> PyResult<Storage<u32>> {
    let line = line(array, "indices")?;
    match type_of(&line.dtype(), "indices")? {
        // SAFETY: the dtype says that the numbers have 32 bits; every bit pattern is an integer.
        Type::I32 => Ok(unsafe { lent::<u32>(&line) }),
        Type::I64 => {
            // SAFETY: the dtype says so; every bit pattern is an integer.
            let wide = unsafe { lent::<i64>(&line) };
            Storage::narrowed(&wide[..]).raise()
        }
        ty => Err(PyTypeError::new_err(format!("indices: {}, not int32 or int64", name_of(ty)))),
    }
}

/// Does what reads so many numbers: of long arrays by all threads, without the interpreter.
fn by_all<T: Send>(py: Python<'_>, numbers: usize, work: impl FnOnce() -> sparring::Result<T> + Send) -> PyResult<T> {
    /// Shorter arrays take less time than another thread needs to begin.
    const LONG: usize = 1 << 16;
    if numbers < LONG {
        return work().raise();
    }
    let on = machine(None)?;
    py.detach(|| match on.threads() {
        Some(threads) => threads.install(work),
        None => work(),
    })
    .raise()
}

/// The matrix of arrays as SciPy has them: shared where their types are those of the library.
/// # Errors
/// Those of the library for arrays that are no compressed rows.
pub(crate) fn matrix(
    (nrows, ncols): (usize, usize),
    indptr: &Bound<'_, PyAny>,
    indices: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
) -> PyResult<Matrix> {
    let (row_ptr, col_idx, values) = (row_pointers(indptr)?, columns(indices)?, line(data, "data")?);
    let ty = type_of(&values.dtype(), "data")?;
    let py = data.py();
    // SciPy's arrays may be longer than the entries.
    let nnz = row_ptr.last().copied().unwrap_or(0);
    let entries = PySlice::new(py, 0, isize::try_from(nnz)?, 1);
    let col_idx = if col_idx.len() > nnz { columns(&indices.get_item(&entries)?)? } else { col_idx };
    let values = if values.len() > nnz { line(&data.get_item(&entries)?, "data")? } else { values };
    // Of so many columns a negative one would be a column.
    if i32::try_from(ncols).is_err() && col_idx.iter().max().is_some_and(|&j| i32::try_from(j).is_err()) {
        negative(indices)?;
    }
    let made = by_all(py, nnz.max(nrows), || Pattern::from_storage(nrows, ncols, row_ptr, col_idx));
    if made.as_ref().is_err_and(|e| e.is_instance_of::<PyIndexError>(py)) {
        negative(indices)?;
    }
    with_values(Arc::new(made?), &values, ty)
}

/// Refuses columns of 32 bits of which one is negative.
fn negative(indices: &Bound<'_, PyAny>) -> PyResult<()> {
    let line = line(indices, "indices")?;
    match type_of(&line.dtype(), "indices")? {
        Type::I32 => signed::<i32>(&line).map(drop),
        _ => Ok(()),
    }
}

/// The matrix of a pattern and of values of NumPy's.
fn with_values(pattern: Arc<Pattern>, values: &Bound<'_, PyUntypedArray>, ty: Type) -> PyResult<Matrix> {
    if ty == Type::Bool {
        // SAFETY: a byte each; as bytes all are valid.
        let bytes = unsafe { lent::<u8>(values) };
        let values: Vec<bool> = bytes.iter().map(|&x| x != 0).collect();
        return Ok(Csr::with_pattern(pattern, values).raise()?.into());
    }
    macro_rules! shared {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match ty {
                // SAFETY: the dtype says so; but for bool, which was above, every bit pattern is a number.
                $(Type::$variant => Ok(Csr::with_storage(pattern, unsafe { lent::<$t>(values) }).raise()?.into()),)*
                Type::Struct(of) => Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
            }
        };
    }
    numbers!(shared)
}

/// Values of an array of NumPy's, in place where they are contiguous.
pub(crate) struct Values(Box<dyn Sliced>);

/// What has values of some type.
trait Sliced: Send + Sync {
    fn slice(&self) -> Slice<'_>;
}
impl<T: Value> Sliced for Storage<T> {
    fn slice(&self) -> Slice<'_> {
        Slice::of(self)
    }
}

impl Values {
    pub(crate) fn slice(&self) -> Slice<'_> {
        self.0.slice()
    }
    /// Those of an array of any dimensions, row-major, and its shape.
    pub(crate) fn of(array: &Bound<'_, PyAny>, what: &str) -> PyResult<(Self, Vec<usize>)> {
        static COMPACT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = array.py();
        let compact = COMPACT.import(py, "numpy", "ascontiguousarray")?.call1((array,))?;
        // A number becomes an array of one dimension; it has none.
        let is_number =
            array.getattr_opt(intern!(py, "ndim"))?.is_some_and(|ndim| ndim.extract().is_ok_and(|n: usize| n == 0));
        let compact = compact.cast_into::<PyUntypedArray>()?;
        let shape = if is_number { vec![] } else { compact.shape().to_vec() };
        Ok((Self::lent(&line(&compact.call_method1(intern!(py, "reshape"), (-1,))?, what)?, what)?, shape))
    }
    fn lent(line: &Bound<'_, PyUntypedArray>, what: &str) -> PyResult<Self> {
        let ty = type_of(&line.dtype(), what)?;
        if ty == Type::Bool {
            // SAFETY: a byte each; as bytes all are valid.
            let bytes = unsafe { lent::<u8>(line) };
            let values: Vec<bool> = bytes.iter().map(|&x| x != 0).collect();
            return Ok(Self(Box::new(Storage::from(values))));
        }
        macro_rules! shared {
            ($($variant:ident $t:ty, $name:literal;)*) => {
                match ty {
                    // SAFETY: the dtype says so; but for bool, which was above, every bit pattern is a number.
                    $(Type::$variant => Ok(Self(Box::new(unsafe { lent::<$t>(line) }))),)*
                    Type::Struct(of) => Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
                }
            };
        }
        numbers!(shared)
    }
}

/// A copy of a NumPy array's values.
pub(crate) fn copied(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Array> {
    let values = line(array, what)?;
    let ty = type_of(&values.dtype(), what)?;
    if ty == Type::Bool {
        // SAFETY: a byte each; as bytes all are valid.
        let bytes = unsafe { lent::<u8>(&values) };
        return Ok(Array::of(bytes.iter().map(|&x| x != 0).collect::<Vec<_>>()));
    }
    macro_rules! copied {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match ty {
                // SAFETY: the dtype says so; but for bool, which was above, every bit pattern is a number.
                $(Type::$variant => Ok(Array::of(unsafe { lent::<$t>(&values) }.to_vec())),)*
                Type::Struct(of) => Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
            }
        };
    }
    numbers!(copied)
}

/// What is read in place by arrays of NumPy's: it stays as it is while one of them lives.
#[pyclass(frozen, module = "sparring._sparring")]
pub(crate) struct Memory(#[allow(dead_code, reason = "it is held")] Box<dyn std::any::Any + Send + Sync>);

/// A NumPy array over `len` values at `at`, which `owner` keeps; read-only.
/// # Safety
/// There are `len` values of `T` at `at` until `owner` is dropped, and nobody writes them.
unsafe fn over<'py, T: Element, O: std::any::Any + Send + Sync>(
    py: Python<'py>,
    at: *const T,
    len: usize,
    owner: O,
) -> PyResult<Bound<'py, PyAny>> {
    let memory = Bound::new(py, Memory(Box::new(owner)))?.into_any();
    // SAFETY: the caller's promise; the view borrows for this call alone, and the array holds `memory` after it.
    let view = unsafe { numpy::ndarray::ArrayView1::from_shape_ptr(len, at) };
    // SAFETY: as above: `memory` keeps the values where they are, and the array is made read-only before anybody has it.
    let array = unsafe { PyArray1::borrow_from_array(&view, memory) };
    let array = array.readwrite().make_nonwriteable();
    Ok(array.as_any().clone())
}

/// Values of a matrix as an array of NumPy's that shares them.
pub(crate) fn values_of<'py>(py: Python<'py>, owner: &Matrix, values: Slice<'_>) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! arrays {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match values.ty() {
                // SAFETY: values of the matrix, which the array holds and which nobody else can write: a clone shares it.
                $(Type::$variant => unsafe { over(py, values.as_ptr().cast::<$t>(), values.len(), owner.clone()) },)*
                Type::Struct(of) => Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
            }
        };
    }
    numbers!(arrays)
}

/// Row pointers and columns of a pattern as arrays of NumPy's, int64 and int32, that share them.
pub(crate) fn indices_of<'py>(py: Python<'py>, pattern: &Arc<Pattern>) -> PyResult<[Bound<'py, PyAny>; 2]> {
    let (row_ptr, col_idx) = (pattern.row_ptr(), pattern.col_idx());
    if i32::try_from(pattern.ncols()).is_err() {
        return Err(PyTypeError::new_err(format!("{} columns do not fit int32", pattern.ncols())));
    }
    // SAFETY: arrays of the pattern, which the array holds and nobody writes; below 2³¹ and 2⁶³ signed numbers have the
    // bits of unsigned ones.
    unsafe {
        let of_rows = over(py, row_ptr.as_ptr().cast::<i64>(), row_ptr.len(), Arc::clone(pattern))?;
        let of_columns = over(py, col_idx.as_ptr().cast::<i32>(), col_idx.len(), Arc::clone(pattern))?;
        Ok([of_rows, of_columns])
    }
}

/// Arrays of a matrix as SciPy takes them, data, indices and indptr: to be written where nobody else holds them, else
/// shared and read-only. Row pointers are int32, as columns are, where all fit. And whether rows are sorted.
pub(crate) fn parts_of(py: Python<'_>, a: Matrix) -> PyResult<([Bound<'_, PyAny>; 3], bool)> {
    let here = if a.is_on_host() { a } else { py.detach(|| a.download()).raise()? };
    macro_rules! parts {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match here.ty() {
                $(Type::$variant => parts_of_type::<$t>(py, here),)*
                Type::Struct(of) => Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
            }
        };
    }
    numbers!(parts)
}

fn parts_of_type<T: Value + Element>(py: Python<'_>, a: Matrix) -> PyResult<([Bound<'_, PyAny>; 3], bool)> {
    // Compressed rows of any form that it has.
    let _ = a.pattern();
    let Some(typed) = a.csr::<T>().cloned() else {
        return Err(PyTypeError::new_err(format!("values of {}", a.ty())));
    };
    // Another owner would make a copy of what follows.
    drop(a);
    let (pattern, values) = typed.into_parts();
    let is_sorted = pattern.is_sorted();
    let indptr = match narrow(&pattern)? {
        Some(narrow) => PyArray1::from_vec(py, narrow).into_any(),
        None => indices_of(py, &pattern)?[0].clone(),
    };
    let indices = match Arc::try_unwrap(pattern) {
        Ok(pattern) if i32::try_from(pattern.ncols()).is_ok() => {
            PyArray1::from_vec(py, signed_columns(pattern)).into_any()
        }
        Ok(pattern) => indices_of(py, &Arc::new(pattern))?[1].clone(),
        Err(pattern) => indices_of(py, &pattern)?[1].clone(),
    };
    Ok(([PyArray1::from_vec(py, values).into_any(), indices, indptr], is_sorted))
}

/// Row pointers as int32, where all fit: none is larger than the last.
pub(crate) fn narrow(pattern: &Pattern) -> PyResult<Option<Vec<i32>>> {
    if i32::try_from(pattern.nnz()).is_err() || i32::try_from(pattern.nrows().max(pattern.ncols())).is_err() {
        return Ok(None);
    }
    let mut narrow = Vec::new();
    let fits = narrow.try_reserve_exact(pattern.row_ptr().len());
    fits.map_err(|e| PyMemoryError::new_err(format!("row pointers: {e}")))?;
    narrow.extend(pattern.row_ptr().iter().map(|&p| p as i32));
    Ok(Some(narrow))
}

/// Columns of a pattern of less than 2³¹ of them, as numbers with signs.
fn signed_columns(pattern: Pattern) -> Vec<i32> {
    let (_, columns) = pattern.into_parts();
    let mut columns = std::mem::ManuallyDrop::new(columns);
    let (at, len, capacity) = (columns.as_mut_ptr().cast::<i32>(), columns.len(), columns.capacity());
    // SAFETY: the memory of a vector that is not dropped here; i32 has the size and the alignment of u32, and every bit
    // pattern of it is a number.
    unsafe { Vec::from_raw_parts(at, len, capacity) }
}

/// A vector of numbers as an array of NumPy's, which takes it over.
pub(crate) fn array(py: Python<'_>, values: Array) -> PyResult<Bound<'_, PyAny>> {
    macro_rules! taken {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match values.ty() {
                $(Type::$variant => Ok(PyArray1::from_vec(py, vector::<$t>(values)?).into_any()),)*
                Type::Struct(of) => Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
            }
        };
    }
    numbers!(taken)
}

/// The values as a vector of `T`.
fn vector<T: Value>(values: Array) -> PyResult<Vec<T>> {
    values.into_vec().or_else(|values| {
        let copy = values.slice().get::<T>().map(<[T]>::to_vec);
        copy.ok_or_else(|| PyTypeError::new_err(format!("values of {}", values.ty())))
    })
}
