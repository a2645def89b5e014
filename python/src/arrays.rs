//! Conversion from and to NumPy arrays, without copies if the layout matches.
//!
//! The only `unsafe` code of this package: NumPy memory as slices, and library vectors as arrays.

use numpy::{
    Element, PyArray1, PyArrayDescr, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBool, PyDict, PySlice, PyString};
use sparring::algebra::{Array, Slice, Type, Value};
use sparring::gpu::DeviceArray;
use sparring::num_complex::Complex;
use sparring::par::{SignedIndex, Storage, filled, note};
use sparring::runtime::{Machine, Matrix, Vector};
use sparring::{Csr, Error, Pattern, Result};
use std::sync::Arc;

use crate::errors::{Raise, shown};
use crate::machines::machine;

/// Calls `$then!` with each value type and its NumPy name.
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

/// The value type of a NumPy name.
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

/// The NumPy name of a type.
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

/// The value type of a dtype.
/// # Errors
/// `TypeError` for an unsupported type; `ValueError` for foreign byte order.
pub(crate) fn type_of(dtype: &Bound<'_, PyArrayDescr>, what: &str) -> PyResult<Type> {
    if dtype.is_native_byteorder() == Some(false) {
        let message =
            format!("{what}: dtype {dtype} is not in native byte order; use a.astype(a.dtype.newbyteorder('='))");
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
        _ => return Err(PyTypeError::new_err(format!("{what}: dtype {dtype} is not supported in sparse matrices"))),
    })
}

/// A dtype argument: a NumPy dtype, a type or a name.
/// # Errors
/// `TypeError` for None, which NumPy takes as float64, and for objects that are not dtypes; those of [`type_of`].
pub(crate) fn dtype_argument(py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<Type> {
    if let Some(ty) = dtype.cast::<PyString>().ok().and_then(|name| type_named(name.to_str().ok()?)) {
        return Ok(ty);
    }
    if dtype.is_none() {
        return Err(PyTypeError::new_err("dtype: None is not a type"));
    }
    type_of(&PyArrayDescr::new(py, dtype)?, "dtype")
}

/// The common type by NumPy's promotion rules.
pub(crate) fn promoted(py: Python<'_>, a: Type, b: Type) -> PyResult<Type> {
    if a == b {
        return Ok(a);
    }
    static PROMOTE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let promote = PROMOTE.import(py, "numpy", "promote_types")?;
    type_of(promote.call1((name_of(a), name_of(b)))?.cast()?, "dtype")
}

/// Rejects a masked array: masked elements have no sparse counterpart, and their memory holds values.
pub(crate) fn unmasked(array: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    static MASKED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = array.py();
    // Plain NumPy arrays, and objects that are not arrays, need no check.
    if array.get_type().is(py.get_type::<PyUntypedArray>()) || !array.is_instance_of::<PyUntypedArray>() {
        return Ok(());
    }
    if array.is_instance(MASKED.import(py, "numpy.ma", "MaskedArray")?)? {
        return Err(PyTypeError::new_err(format!("{what}: a masked array is not supported; use a.filled(x)")));
    }
    Ok(())
}

/// A plain NumPy array: the object itself, or converted by NumPy, to the given type if any.
/// # Errors
/// `TypeError` for a masked array, and for values of another kind (complex as real, floats as integers, text as
/// numbers); those of `numpy.asarray`.
pub(crate) fn as_array<'py>(
    of: &Bound<'py, PyAny>,
    dtype: Option<&str>,
    what: &str,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    unmasked(of, what)?;
    let py = of.py();
    let array = AS_ARRAY.import(py, "numpy", "asarray")?.call1((of,))?;
    let Some(dtype) = dtype else { return Ok(array.cast_into()?) };
    let (same_kind, never) = (intern!(py, "same_kind"), PyBool::new(py, false));
    let rule = [(intern!(py, "casting"), same_kind.as_any()), (intern!(py, "copy"), never.as_any())];
    match array.call_method(intern!(py, "astype"), (dtype,), Some(&rule.into_py_dict(py)?)) {
        Ok(array) => Ok(array.cast_into()?),
        Err(e) if e.is_instance_of::<PyTypeError>(py) => {
            let own = array.getattr(intern!(py, "dtype"))?;
            Err(PyTypeError::new_err(format!("{what}: values of {own}, where {dtype} is expected")))
        }
        Err(e) => Err(e),
    }
}

/// A one-dimensional, contiguous and aligned NumPy array: the object itself, or a copy.
/// # Errors
/// `TypeError` for a masked array; `ValueError` for another number of dimensions.
pub(crate) fn line<'py>(array: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    let refused = |why: &str| PyValueError::new_err(format!("{what}: {why}"));
    let line = match array.cast::<PyUntypedArray>() {
        Ok(line) => {
            unmasked(array, what)?;
            line.clone()
        }
        Err(_) => as_array(array, None, what)?,
    };
    if line.ndim() == 0 {
        return Err(refused(&format!("expected a one-dimensional array, not {}", shown(array))));
    }
    if line.ndim() != 1 {
        return Err(refused(&format!("expected a one-dimensional array, not one of {} dimensions", line.ndim())));
    }
    if is_line(&line) {
        return Ok(line);
    }
    note(|| format!("{what}: copied, because it is not contiguous"));
    // By NumPy's function, because the method of a subclass may return anything.
    static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = array.py();
    let order = [(intern!(py, "order"), intern!(py, "C"))].into_py_dict(py)?;
    let copy = ARRAY.import(py, "numpy", "array")?.call((&line,), Some(&order))?.cast_into::<PyUntypedArray>()?;
    if is_line(&copy) { Ok(copy) } else { Err(refused("it cannot be copied to a contiguous array")) }
}

/// Whether the array is contiguous and aligned.
fn is_line(array: &Bound<'_, PyUntypedArray>) -> bool {
    array.ndim() == 1 && array.is_c_contiguous() && array.is_aligned()
}

/// Keeps a NumPy array alive while its memory is borrowed.
struct Lender(#[allow(dead_code, reason = "it is held")] Py<PyUntypedArray>);

/// The array's memory as values of `T`.
/// # Safety
/// The array has values of `T`'s layout, all of them valid, and is a [`line`].
unsafe fn lent<T: Copy>(array: &Bound<'_, PyUntypedArray>) -> Storage<T> {
    // SAFETY: an array object, alive while it is borrowed.
    let at = unsafe { (*array.as_array_ptr()).fields.data }.cast::<T>();
    // SAFETY: 1. NumPy has `len` values there, contiguous and aligned (`line`), until the array is freed, and its
    // lender holds it; 2. nobody writes them, by the contract of the package: shared arrays are not modified while a
    // matrix over them is in use; 3. a NumPy allocation has at most `isize::MAX` bytes.
    unsafe { Storage::foreign(at, array.len(), Lender(array.clone().unbind())) }
}

/// Collects `len` values, with fallible allocation.
/// # Errors
/// `MemoryError`; the first error of the values.
pub(crate) fn collected<T>(len: usize, values: impl Iterator<Item = PyResult<T>>, what: &str) -> PyResult<Vec<T>> {
    let mut all = Vec::new();
    let message = || format!("out of memory: {len} numbers are needed for {what}");
    all.try_reserve_exact(len).map_err(|_| PyMemoryError::new_err(message()))?;
    for value in values.take(len) {
        all.push(value?);
    }
    Ok(all)
}

/// A copy of values.
pub(crate) fn copy_of<T: Value>(values: &[T]) -> Result<Vec<T>> {
    let Some(&first) = values.first() else { return Ok(Vec::new()) };
    let mut copy = filled(values.len(), first, "a copy of an array")?;
    copy.copy_from_slice(values);
    Ok(copy)
}

/// Values of an array of bools, whose bytes may be arbitrary.
fn truths(array: &Bound<'_, PyUntypedArray>) -> Result<Vec<bool>> {
    // SAFETY: one byte each; every byte is a valid u8.
    let bytes = unsafe { lent::<u8>(array) };
    let mut values = filled(bytes.len(), false, "a copy of an array")?;
    for (value, &byte) in values.iter_mut().zip(&*bytes) {
        *value = byte != 0;
    }
    Ok(values)
}

/// Row pointers or columns of one of two signed types, as unsigned ones.
fn signed<S: SignedIndex>(array: &Bound<'_, PyUntypedArray>) -> PyResult<Storage<S::Unsigned>> {
    // SAFETY: the caller checked the dtype; every bit pattern is an integer.
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
            note(|| format!("indptr: {} numbers converted from int32 to int64", narrow.len()));
            by_all(array.py(), narrow.len(), || Storage::widened(&narrow))?.raise()
        }
        ty => Err(PyTypeError::new_err(format!("indptr: {}, not int32 or int64", name_of(ty)))),
    }
}

/// Column indices. Negative ones become large, so that the validation of the pattern rejects them.
fn columns(array: &Bound<'_, PyAny>) -> PyResult<Storage<u32>> {
    let line = line(array, "indices")?;
    match type_of(&line.dtype(), "indices")? {
        // SAFETY: the dtype says that the numbers have 32 bits; every bit pattern is an integer.
        Type::I32 => Ok(unsafe { lent::<u32>(&line) }),
        Type::I64 => {
            // SAFETY: the dtype says so; every bit pattern is an integer.
            let wide = unsafe { lent::<i64>(&line) };
            note(|| format!("indices: {} numbers converted from int64 to int32", wide.len()));
            Storage::narrowed(&wide[..]).raise()
        }
        ty => Err(PyTypeError::new_err(format!("indices: {}, not int32 or int64", name_of(ty)))),
    }
}

/// Runs work that reads `numbers` elements: for long arrays on all threads, without the GIL.
fn by_all<T: Send>(py: Python<'_>, numbers: usize, work: impl FnOnce() -> Result<T> + Send) -> PyResult<Result<T>> {
    /// For shorter arrays, starting another thread takes longer than the work.
    const LONG: usize = 1 << 16;
    if numbers < LONG {
        return Ok(work());
    }
    let on = machine(None)?;
    Ok(py.detach(|| match on.threads() {
        Some(threads) => threads.install(work),
        None => work(),
    }))
}

/// A matrix from SciPy's arrays, shared if their types match; or the library's error for invalid CSR arrays.
/// # Errors
/// For objects that are not such arrays.
pub(crate) fn matrix(
    (nrows, ncols): (usize, usize),
    indptr: &Bound<'_, PyAny>,
    indices: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
) -> PyResult<Result<Matrix>> {
    let (row_ptr, col_idx, values) = (row_pointers(indptr)?, columns(indices)?, line(data, "data")?);
    let ty = type_of(&values.dtype(), "data")?;
    let py = data.py();
    // SciPy's arrays may be longer than the number of entries.
    let nnz = row_ptr.last().copied().unwrap_or(0);
    let entries = || Ok::<_, PyErr>(PySlice::new(py, 0, isize::try_from(nnz)?, 1));
    let col_idx = if col_idx.len() > nnz { columns(&indices.get_item(entries()?)?)? } else { col_idx };
    let values = if values.len() > nnz { line(&data.get_item(entries()?)?, "data")? } else { values };
    // With this many columns, a negative index would pass as a valid one.
    if i32::try_from(ncols).is_err() && col_idx.iter().max().is_some_and(|&j| i32::try_from(j).is_err()) {
        negative(indices)?;
    }
    let made = by_all(py, nnz.max(nrows), || Pattern::from_storage(nrows, ncols, row_ptr, col_idx))?;
    if matches!(made, Err(Error::IndexRange { .. })) {
        negative(indices)?;
    }
    match made {
        Ok(pattern) => with_values(Arc::new(pattern), &values, ty),
        Err(e) => Ok(Err(e)),
    }
}

/// Row pointers, columns and values.
type Entries = (Storage<usize>, Storage<u32>, Values);

/// Compressed rows or columns of a SciPy array, not validated.
pub(crate) struct Stored<'py> {
    /// Number of compressed dimensions: rows of CSR, columns of CSC.
    pub(crate) lines: usize,
    /// Length of each.
    pub(crate) across: usize,
    pub(crate) indptr: Bound<'py, PyAny>,
    pub(crate) indices: Bound<'py, PyAny>,
    pub(crate) data: Bound<'py, PyAny>,
}

impl Stored<'_> {
    /// Values and their number, after a check of the row pointers alone. None for bools and for invalid arrays, which
    /// the checked path reports.
    pub(crate) fn values(&self) -> PyResult<Option<(Values, usize)>> {
        let (Some(nnz), values) = (self.entries()?, line(&self.data, "data")?) else { return Ok(None) };
        let ty = type_of(&values.dtype(), "data")?;
        if ty == Type::Bool || values.len() < nnz || self.indices.len()? < nnz {
            return Ok(None);
        }
        Ok(Some((Values::lent(&values, "data")?, nnz)))
    }
    /// Number of entries, if the row pointers are valid.
    fn entries(&self) -> PyResult<Option<usize>> {
        fn last<T: Copy + Ord + Into<i64>>(ends: &[T]) -> Option<usize> {
            let (first, last) = (ends.first().copied()?.into(), ends.last().copied()?.into());
            // Branch-free.
            let increasing = ends.windows(2).fold(true, |all, w| all & (w[0] <= w[1]));
            usize::try_from(last).ok().filter(|_| first == 0 && increasing)
        }
        let ends = line(&self.indptr, "indptr")?;
        if Some(ends.len()) != self.lines.checked_add(1) {
            return Ok(None);
        }
        Ok(match type_of(&ends.dtype(), "indptr")? {
            // SAFETY: the dtype says so; every bit pattern is an integer.
            Type::I32 => last(&unsafe { lent::<i32>(&ends) }),
            // SAFETY: as above.
            Type::I64 => last(&unsafe { lent::<i64>(&ends) }),
            _ => None,
        })
    }
    /// Raw entries, if they have the type of x and x has a value per column.
    pub(crate) fn entries_of(&self, x: Slice<'_>) -> PyResult<Option<Entries>> {
        let values = line(&self.data, "data")?;
        if type_of(&values.dtype(), "data")? != x.ty() || x.len() != self.across || i32::try_from(x.len()).is_err() {
            return Ok(None);
        }
        let (row_ptr, columns) = (self.ends()?, self.cols()?);
        if columns.len() != values.len() || row_ptr.last() != Some(&values.len()) {
            return Ok(None);
        }
        Ok(Some((row_ptr, columns, Values::lent(&values, "data")?)))
    }
    /// Row pointers, not validated.
    pub(crate) fn ends(&self) -> PyResult<Storage<usize>> {
        row_pointers(&self.indptr)
    }
    /// Column indices, not validated; negative ones become large.
    pub(crate) fn cols(&self) -> PyResult<Storage<u32>> {
        columns(&self.indices)
    }
}

/// Rejects negative 32-bit column indices.
fn negative(indices: &Bound<'_, PyAny>) -> PyResult<()> {
    let line = line(indices, "indices")?;
    match type_of(&line.dtype(), "indices")? {
        Type::I32 => signed::<i32>(&line).map(drop),
        _ => Ok(()),
    }
}

/// A matrix from a pattern and a NumPy array of values.
fn with_values(pattern: Arc<Pattern>, values: &Bound<'_, PyUntypedArray>, ty: Type) -> PyResult<Result<Matrix>> {
    if ty == Type::Bool {
        let values = truths(values).raise()?;
        note(|| format!("data: {} bools copied", values.len()));
        return Ok(Csr::with_pattern(pattern, values).map(Matrix::from));
    }
    macro_rules! shared {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match ty {
                // SAFETY: the dtype says so; except for bool, handled above, every bit pattern is a number.
                $(Type::$variant => Ok(Csr::with_storage(pattern, unsafe { lent::<$t>(values) }).map(Matrix::from)),)*
                Type::Struct(of) => Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
            }
        };
    }
    numbers!(shared)
}

/// Values of a NumPy array, borrowed if contiguous.
pub(crate) struct Values(Box<dyn Sliced>);

/// A container of values of some type.
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
    /// An empty container of a type.
    pub(crate) fn none(ty: Type) -> Self {
        macro_rules! none {
            ($($variant:ident $t:ty, $name:literal;)*) => {
                match ty {
                    $(Type::$variant => Self(Box::new(Storage::<$t>::default())),)*
                    Type::Struct(_) => Self(Box::new(Storage::<u8>::default())),
                }
            };
        }
        numbers!(none)
    }
    /// The values of an array of any shape, row-major, and its shape.
    pub(crate) fn of(array: &Bound<'_, PyAny>, what: &str) -> PyResult<(Self, Vec<usize>)> {
        static COMPACT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = array.py();
        unmasked(array, what)?;
        let compact = COMPACT.import(py, "numpy", "ascontiguousarray")?.call1((array,))?;
        // A number is converted to a one-dimensional array, but its shape is empty.
        let is_number =
            array.getattr_opt(intern!(py, "ndim"))?.is_some_and(|ndim| ndim.extract().is_ok_and(|n: usize| n == 0));
        let compact = compact.cast_into::<PyUntypedArray>()?;
        let shape = if is_number { vec![] } else { compact.shape().to_vec() };
        Ok((Self::lent(&line(&compact.call_method1(intern!(py, "reshape"), (-1,))?, what)?, what)?, shape))
    }
    /// The values of a one-dimensional array, shared if contiguous.
    pub(crate) fn of_line(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        Self::lent(&line(array, what)?, what)
    }
    fn lent(line: &Bound<'_, PyUntypedArray>, what: &str) -> PyResult<Self> {
        let ty = type_of(&line.dtype(), what)?;
        if ty == Type::Bool {
            return Ok(Self(Box::new(Storage::from(truths(line).raise()?))));
        }
        macro_rules! shared {
            ($($variant:ident $t:ty, $name:literal;)*) => {
                match ty {
                    // SAFETY: the dtype says so; except for bool, handled above, every bit pattern is a number.
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
        return Ok(Array::of(truths(&values).raise()?));
    }
    macro_rules! copied {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match ty {
                // SAFETY: the dtype says so; except for bool, handled above, every bit pattern is a number.
                $(Type::$variant => Ok(Array::of(copy_of(&unsafe { lent::<$t>(&values) }).raise()?)),)*
                Type::Struct(of) => Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
            }
        };
    }
    numbers!(copied)
}

/// The owner of memory that NumPy arrays read in place, kept alive and unchanged by them.
#[pyclass(frozen, module = "sparring._sparring")]
pub(crate) struct Memory(#[allow(dead_code, reason = "it is held")] Box<dyn std::any::Any + Send + Sync>);

/// A read-only NumPy array over `len` values at `at`, which `owner` keeps alive.
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
    // SAFETY: as above: `memory` keeps the values in place, and the array is made read-only before it is shared.
    let array = unsafe { PyArray1::borrow_from_array(&view, memory) };
    let array = array.readwrite().make_nonwriteable();
    Ok(array.as_any().clone())
}

/// The values of a matrix as a NumPy array that shares them.
pub(crate) fn values_of<'py>(py: Python<'py>, owner: &Matrix, values: Slice<'_>) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! arrays {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match values.ty() {
                // SAFETY: values of the matrix, which the array keeps alive and nobody else can write: a clone shares
                // it.
                $(Type::$variant => unsafe { over(py, values.as_ptr().cast::<$t>(), values.len(), owner.clone()) },)*
                Type::Struct(of) => Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
            }
        };
    }
    numbers!(arrays)
}

/// Row pointers and column indices of a pattern as NumPy arrays, int64 and int32, that share them.
pub(crate) fn indices_of<'py>(py: Python<'py>, pattern: &Arc<Pattern>) -> PyResult<[Bound<'py, PyAny>; 2]> {
    let (row_ptr, col_idx) = (pattern.row_ptr(), pattern.col_idx());
    if i32::try_from(pattern.ncols()).is_err() {
        return Err(PyTypeError::new_err(format!("{} columns do not fit int32", pattern.ncols())));
    }
    // SAFETY: arrays of the pattern, which the NumPy arrays keep alive and nobody writes; below 2³¹ and 2⁶³, signed and
    // unsigned integers have the same bits.
    unsafe {
        let of_rows = over(py, row_ptr.as_ptr().cast::<i64>(), row_ptr.len(), Arc::clone(pattern))?;
        let of_columns = over(py, col_idx.as_ptr().cast::<i32>(), col_idx.len(), Arc::clone(pattern))?;
        Ok([of_rows, of_columns])
    }
}

/// The CSR pattern of a matrix in host memory.
/// # Errors
/// `ValueError` for a matrix elsewhere; `MemoryError` if there is no room for the row pointers.
pub(crate) fn on_host(a: &Matrix) -> PyResult<&Arc<Pattern>> {
    let none = || match a.is_on_host() {
        true => PyMemoryError::new_err(format!("out of memory for the row pointers of {} rows", a.shape().0)),
        false => PyValueError::new_err(format!("the matrix is on {}: use a.to('cpu')", a.machine())),
    };
    a.pattern().ok_or_else(none)
}

/// SciPy's arrays of a matrix, data, indices and indptr, and whether rows are sorted. Arrays without another owner are
/// writable, others are shared and read-only. Row pointers are int32, like column indices, if they fit.
pub(crate) fn parts_of(py: Python<'_>, a: Matrix) -> PyResult<([Bound<'_, PyAny>; 3], bool)> {
    // The matrix is decomposed through its only handle.
    let here = if a.is_on_host() { a } else { py.detach(|| a.download()).raise()? };
    macro_rules! parts {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match here.ty() {
                $(Type::$variant => taken_apart::<$t>(py, here),)*
                Type::Struct(of) => Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
            }
        };
    }
    let (pattern, values) = numbers!(parts)?;
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
    Ok(([values, indices, indptr], is_sorted))
}

/// The pattern of a matrix, and its values as an array: the type-dependent part.
#[inline(never)]
fn taken_apart<T: Value + Element>(py: Python<'_>, a: Matrix) -> PyResult<(Arc<Pattern>, Bound<'_, PyAny>)> {
    // Converts any storage form to compressed rows.
    on_host(&a)?;
    let Some(typed) = a.csr::<T>().cloned() else {
        return Err(PyTypeError::new_err(format!("values of {}", a.ty())));
    };
    // Another owner would force a copy below.
    drop(a);
    let (pattern, values) = typed.into_parts();
    Ok((pattern, PyArray1::from_vec(py, values).into_any()))
}

/// Row pointers as int32, if they fit: the last one is the largest.
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

/// Column indices of a pattern with fewer than 2³¹ columns, as signed integers.
fn signed_columns(pattern: Pattern) -> Vec<i32> {
    let (_, columns) = pattern.into_parts();
    let mut columns = std::mem::ManuallyDrop::new(columns);
    let (at, len, capacity) = (columns.as_mut_ptr().cast::<i32>(), columns.len(), columns.capacity());
    // SAFETY: the memory of a vector that is not dropped here; i32 has the size and alignment of u32, and every bit
    // pattern is valid.
    unsafe { Vec::from_raw_parts(at, len, capacity) }
}

/// A NumPy array that takes over a vector.
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

/// An array in GPU memory, for readers of `__cuda_array_interface__` (CuPy, PyTorch, JAX, Numba). It is valid as long
/// as this object, and must not be written.
#[pyclass(frozen, module = "sparring._sparring")]
pub(crate) struct DeviceMemory {
    array: DeviceArray,
    ty: &'static str,
    #[allow(dead_code, reason = "it is held")]
    owner: Memory,
}

impl DeviceMemory {
    /// The arrays of a matrix on a GPU, data, indices and indptr: int32 if they are 32 bits wide.
    pub(crate) fn of_matrix(on: &Machine, a: &Matrix) -> PyResult<[Self; 3]> {
        let [row_ptr, columns, values] = on.device_arrays(a).raise()?;
        Ok([Self::new(values, a.clone()), Self::new(columns, a.clone()), Self::new(row_ptr, a.clone())])
    }
    /// The values of a full vector on a GPU.
    pub(crate) fn of_vector(on: &Machine, x: &Vector) -> PyResult<Option<Self>> {
        Ok(on.device_array(x).raise()?.map(|array| Self::new(array, x.clone())))
    }
    fn new(array: DeviceArray, owner: impl std::any::Any + Send + Sync) -> Self {
        // Below 2³¹ and 2⁶³, signed and unsigned integers have the same bits.
        Self { array, ty: name_of(array.ty()), owner: Memory(Box::new(owner)) }
    }
}

#[pymethods]
impl DeviceMemory {
    /// Version 3 of the interface. All work on the array is complete, so there is no stream to wait for.
    #[getter(__cuda_array_interface__)]
    fn interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let of = PyDict::new(py);
        of.set_item("shape", (self.array.len(),))?;
        of.set_item("typestr", PyArrayDescr::new(py, self.ty)?.getattr("str")?)?;
        of.set_item("data", (if self.array.is_empty() { 0 } else { self.array.address() }, false))?;
        of.set_item("version", 3)?;
        Ok(of)
    }
    fn __len__(&self) -> usize {
        self.array.len()
    }
    fn __repr__(&self) -> String {
        format!("<{} values of {} in GPU memory>", self.array.len(), self.ty)
    }
}

/// Whether the object has an array in GPU memory.
pub(crate) fn is_on_device(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(x.cast::<PyUntypedArray>().is_err() && x.hasattr(intern!(x.py(), "__cuda_array_interface__"))?)
}

/// The one-dimensional array of an object in GPU memory, valid as long as the object.
fn device_array(x: &Bound<'_, PyAny>, what: &str) -> PyResult<DeviceArray> {
    let py = x.py();
    let refused = |why: String| PyValueError::new_err(format!("{what}: {why}"));
    let of = x.getattr(intern!(py, "__cuda_array_interface__"))?.cast_into::<PyDict>()?;
    let item = |name: &str| of.get_item(name)?.ok_or_else(|| refused(format!("its interface has no {name:?}")));
    let shape: Vec<usize> = item("shape")?.extract()?;
    let &[len] = &shape[..] else {
        return Err(refused(format!("expected a one-dimensional array, not one of {} dimensions", shape.len())));
    };
    let ty = type_of(&PyArrayDescr::new(py, item("typestr")?)?, what)?;
    let strides = of.get_item("strides")?.filter(|strides| !strides.is_none());
    if let Some(strides) = strides
        && strides.extract::<(isize,)>()? != (isize::try_from(ty.size())?,)
        && len > 1
    {
        return Err(refused("it is not contiguous".into()));
    }
    let (at, _): (u64, bool) = item("data")?.extract()?;
    if at == 0 && len > 0 {
        return Err(refused("it has no address".into()));
    }
    // SAFETY: the interface promises `len` values of the type while the object lives, which the caller holds; nobody
    // writes them during the call, by the contract of the package. CuPy's bools are 0 or 1. The driver validates the
    // address before it is read.
    Ok(unsafe { DeviceArray::new(at, len, ty) })
}

/// A matrix from arrays in GPU memory, copied on the device.
pub(crate) fn matrix_on_device(
    on: &Machine,
    shape: (usize, usize),
    [indptr, indices, data]: [&Bound<'_, PyAny>; 3],
) -> PyResult<Matrix> {
    let narrow = |of: &Bound<'_, PyAny>, what: &str| -> PyResult<(DeviceArray, Option<Py<PyAny>>)> {
        let array = device_array(of, what)?;
        if array.ty() != Type::I64 {
            return Ok((array, None));
        }
        let narrow = of.call_method1("astype", ("int32",))?;
        Ok((device_array(&narrow, what)?, Some(narrow.unbind())))
    };
    // Converted arrays are held until they are copied.
    let ((row_ptr, _rows), (col_idx, _columns)) = (narrow(indptr, "indptr")?, narrow(indices, "indices")?);
    let values = device_array(data, "data")?;
    data.py().detach(|| on.matrix_from_device(shape, &row_ptr, &col_idx, &values)).raise()
}

/// A vector from an array in GPU memory, copied on the device.
pub(crate) fn vector_on_device(on: &Machine, x: &Bound<'_, PyAny>) -> PyResult<Vector> {
    let values = device_array(x, "x")?;
    x.py().detach(|| on.vector_from_device(&values)).raise()
}
