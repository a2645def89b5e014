//! Matrices: conversion from and to arrays, transfers to and from devices.

use std::ffi::{c_char, c_void};
use std::sync::Mutex;

use sparring::algebra::{Array, Slice};
use sparring::par::Threads;
use sparring::runtime::Matrix;
use sparring::{Error, Pattern};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, copied, input, output, output_as, size, write, write_text};
use crate::scalar::SparringScalar;
use crate::sparse::{Sparse, on_host};
use crate::status::SparringStatus;
use crate::types::{address, code, input_values, output_values, value_type};

/// A sparse CSR matrix of one of the types above, in host memory or on a GPU. It may be shared between threads.
pub struct SparringMatrix {
    data: Mutex<Matrix>,
}

impl Object for SparringMatrix {
    const NAME: &'static str = "SparringMatrix";
}

// Row pointers are usize in the library and uint64_t in C: the same type, passed without a copy.
const _: () = assert!(size_of::<usize>() == size_of::<u64>(), "the C interface is for 64-bit machines");

impl Sparse for SparringMatrix {
    type Held = Matrix;
    fn data(&self) -> &Mutex<Matrix> {
        &self.data
    }
}

impl From<Matrix> for SparringMatrix {
    fn from(matrix: Matrix) -> Self {
        Self { data: Mutex::new(matrix) }
    }
}

/// The error of arrays with these names in C.
pub(crate) fn of_arrays(e: Error, rows: &str, cols: &str) -> Fail {
    let status = SparringStatus::from(&e);
    let message = match e {
        Error::RowPointer { row, found, expected } => format!("{rows}[{row}] is {found}, expected {expected}"),
        Error::IndexRange { axis: "row", position, index, bound } => {
            format!("{rows}[{position}] is {index}, not below nrows, which is {bound}")
        }
        Error::IndexRange { position, index, bound, .. } => {
            format!("{cols}[{position}] is {index}, not below ncols, which is {bound}")
        }
        Error::Duplicate { .. } => format!("{cols}: {e}"),
        Error::IndexOverflow { what: "number of rows", .. } => format!("nrows: {e}"),
        Error::IndexOverflow { what: "number of columns", .. } => format!("ncols: {e}"),
        other => other.to_string(),
    };
    Fail { status, message }
}

/// A matrix from CSR arrays, without a copy.
pub(crate) fn from_csr(
    nrows: usize,
    ncols: usize,
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    values: Array,
) -> Fallible<Matrix> {
    Matrix::from_csr(nrows, ncols, row_ptr, col_idx, values).map_err(|e| of_arrays(e, "row_ptr", "col_idx"))
}

/// An nrows × ncols matrix from CSR arrays, which are validated and copied (sparring_arrays_new avoids the copy): the
/// entries of row i are `col_idx[p]` and `values[p]` for p from `row_ptr[i]` to `row_ptr[i + 1]` - 1. `type` is a
/// SparringType, and `values` points to `nnz` values of it; `row_ptr` has nrows + 1 elements and `col_idx` has `nnz`.
/// The columns of a row may be in any order, without duplicates. `*matrix` receives the handle, NULL on failure; free
/// it with sparring_matrix_free.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_matrix_from_csr(
    r#type: u32,
    nrows: u64,
    ncols: u64,
    row_ptr: *const u64,
    col_idx: *const u32,
    values: *const c_void,
    nnz: u64,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle.
        let out = unsafe { NewHandle::at(matrix, "matrix")? };
        let (nrows, ncols, nnz) = (size(nrows, "nrows")?, size(ncols, "ncols")?, size(nnz, "nnz")?);
        let ty = value_type(r#type)?;
        // `input` rejects an nrows for which nrows + 1 wraps, and any array larger than the address space.
        // SAFETY: by the contract above the arrays have these lengths, and every bit pattern is a number.
        let (row_ptr, col_idx) =
            unsafe { (input(row_ptr, nrows.saturating_add(1), "row_ptr")?, input(col_idx, nnz, "col_idx")?) };
        let row_ptr = copied(row_ptr, "row pointers", |p| p as usize)?;
        let col_idx = copied(col_idx, "column indices", |j| j)?;
        // SAFETY: as above, `values` has nnz values of the type.
        let values = unsafe { input_values(ty, values, nnz)? };
        out.give(from_csr(nrows, ncols, row_ptr, col_idx, values)?.into())
    })
}

/// An nrows × ncols matrix from coordinates, which are validated and copied: entries (rows[p], cols[p]) = values[p] for
/// p from 0 to len - 1, in any order. Duplicate entries are summed (bool: or); an overflowing sum of integers is an
/// error. Runs on the calling thread. `type` is a SparringType; all three arrays have `len` elements. `*matrix`
/// receives the handle, NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_matrix_from_coo(
    r#type: u32,
    nrows: u64,
    ncols: u64,
    rows: *const u32,
    cols: *const u32,
    values: *const c_void,
    len: u64,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle.
        let out = unsafe { NewHandle::at(matrix, "matrix")? };
        let (nrows, ncols, len) = (size(nrows, "nrows")?, size(ncols, "ncols")?, size(len, "len")?);
        let ty = value_type(r#type)?;
        // SAFETY: by the contract above the arrays have this length, and every bit pattern is a number.
        let (rows, cols) = unsafe { (input(rows, len, "rows")?, input(cols, len, "cols")?) };
        let (rows, cols) = (copied(rows, "row indices", |i| i)?, copied(cols, "column indices", |j| j)?);
        // SAFETY: as above, `values` has len values of the type.
        let values = unsafe { input_values(ty, values, len)? };
        let matrix = Matrix::from_coo(&Threads::caller(), nrows, ncols, rows, cols, values);
        out.give(matrix.map_err(|e| of_arrays(e, "rows", "cols"))?.into())
    })
}

/// An empty nrows × ncols matrix. `type` is a SparringType. `*matrix` receives the handle, NULL on failure; free it
/// with sparring_matrix_free. Rows and columns are at most 2^60: SPARRING_INDEX_OVERFLOW otherwise. Empty rows and
/// columns cost nothing; a matrix with more than 2^32 - 1 of either has no arrays to copy or borrow, but entries
/// (sparring_matrix_entries).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_new(
    r#type: u32,
    nrows: u64,
    ncols: u64,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle.
        let out = unsafe { NewHandle::at(matrix, "matrix")? };
        let (nrows, ncols) = (size(nrows, "nrows")?, size(ncols, "ncols")?);
        let empty = Matrix::empty(value_type(r#type)?, nrows, ncols);
        out.give(empty.map_err(|e| of_arrays(e, "rows", "cols"))?.into())
    })
}

/// A copy of the matrix under another handle; writing to one does not affect the other. Data is copied only on the
/// first write (copy on write). `*copy` receives the handle, NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_dup(
    matrix: *const SparringMatrix,
    copy: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `copy` points to room for a handle.
        let out = unsafe { NewHandle::at(copy, "copy")? };
        out.give(handle(matrix, "matrix")?.snapshot().into())
    })
}

/// Removes all entries; type, shape and device are unchanged. `device` is that of the matrix. Invalidates pointers from
/// sparring_matrix_borrow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_clear(
    device: *const SparringDevice,
    matrix: *mut SparringMatrix,
) -> SparringStatus {
    ffi!({ crate::device::clear(device, matrix, "matrix") })
}

/// The position (i, j), checked against the shape of the matrix.
pub(crate) fn position(i: u64, j: u64, (nrows, ncols): (usize, usize)) -> Fallible<(usize, usize)> {
    for (name, index, axis, bound) in [("i", i, "nrows", nrows), ("j", j, "ncols", ncols)] {
        if index >= bound as u64 {
            let message = format!("{name} is {index}, not below {axis}, which is {bound}");
            return Err(Fail { status: SparringStatus::SPARRING_INDEX_RANGE, message });
        }
    }
    Ok((i as usize, j as usize))
}

/// The value at row `i` and column `j`, written to `scalar`, which has the matrix's type; an absent entry makes the
/// scalar empty. The matrix is in host memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_get(
    matrix: *const SparringMatrix,
    i: u64,
    j: u64,
    scalar: *mut SparringScalar,
) -> SparringStatus {
    ffi!({
        let (matrix, scalar) = (handle(matrix, "matrix")?.snapshot(), handle(scalar, "scalar")?);
        on_host("matrix", &matrix)?;
        scalar.is_of("scalar", matrix.ty(), "the matrix'")?;
        let (i, j) = position(i, j, matrix.shape())?;
        scalar.put(matrix.get(i, j)?);
        Ok(())
    })
}

/// A new matrix with the values converted to another type: floats are rounded to nearest, integers are exact, bool is
/// value ≠ 0. A value that the type cannot represent is an error that names its position: SPARRING_UNSUPPORTED; with
/// `wrap` not 0 it is converted as in C, except that floats saturate and NaN becomes 0. `*there` receives the handle,
/// NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_cast(
    matrix: *const SparringMatrix,
    r#type: u32,
    wrap: u32,
    there: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `there` points to room for a handle.
        let out = unsafe { NewHandle::at(there, "there")? };
        let (matrix, ty) = (handle(matrix, "matrix")?.snapshot(), value_type(r#type)?);
        on_host("matrix", &matrix)?;
        let cast = if wrap == 0 { matrix.cast(ty) } else { matrix.wrapping_cast(ty) };
        out.give(cast.map_err(|e| Fail::from(e).naming("matrix"))?.into())
    })
}

/// Type of the values, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_type(matrix: *const SparringMatrix, r#type: *mut u32) -> SparringStatus {
    ffi!({
        let ty = code(handle(matrix, "matrix")?.snapshot().ty());
        // SAFETY: by the contract `type` points to room for a number.
        unsafe { write(r#type, ty, "type") }
    })
}

/// Number of rows and columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_shape(
    matrix: *const SparringMatrix,
    nrows: *mut u64,
    ncols: *mut u64,
) -> SparringStatus {
    ffi!({
        let shape = handle(matrix, "matrix")?.snapshot().shape();
        // SAFETY: by the contract both point to room for a number.
        unsafe {
            write(nrows, shape.0 as u64, "nrows")?;
            write(ncols, shape.1 as u64, "ncols")
        }
    })
}

/// Number of entries, stored zeros included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_nnz(matrix: *const SparringMatrix, nnz: *mut u64) -> SparringStatus {
    ffi!({
        let entries = handle(matrix, "matrix")?.snapshot().nnz();
        // SAFETY: by the contract `nnz` points to room for a number.
        unsafe { write(nnz, entries as u64, "nnz") }
    })
}

/// A copy of the matrix in the memory of `device`: of a GPU for "cuda:N", host memory for "cpu". Operations on that
/// device use it in place, and their results stay there; matrices elsewhere are uploaded for each call. A matrix on a
/// GPU belongs to the SparringDevice that it was sent to, and works with no other. `*there` receives the handle of a
/// new matrix, NULL on failure; free it with sparring_matrix_free. The two matrices are independent: writing to one
/// does not affect the other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_to(
    device: *const SparringDevice,
    matrix: *const SparringMatrix,
    there: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `there` points to room for a handle.
        let out = unsafe { NewHandle::at(there, "there")? };
        let (device, matrix) = (handle(device, "device")?, handle(matrix, "matrix")?.snapshot());
        // Shared, if already on the device, until one of the two is written.
        out.give(device.machine.upload(&matrix)?.into())
    })
}

/// The device of the matrix: "cpu", "cuda:0" and so on, written to `buffer` of `capacity` bytes as by
/// sparring_plan_explain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_device(
    matrix: *const SparringMatrix,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let name = handle(matrix, "matrix")?.snapshot().machine();
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&name, buffer, capacity, length) }
    })
}

/// Copies the matrix into your arrays; NULL omits an array. The matrix is in host memory: see sparring_matrix_to.
/// `row_ptr` has room for `row_ptr_len` elements (nrows + 1 are written), and `col_idx` and `values` have room for
/// `nnz_len` each (nnz are written): SPARRING_LENGTH if that is too short. `values` has the matrix's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_copy(
    matrix: *const SparringMatrix,
    row_ptr: *mut u64,
    row_ptr_len: u64,
    col_idx: *mut u32,
    values: *mut c_void,
    nnz_len: u64,
) -> SparringStatus {
    ffi!({
        let matrix = handle(matrix, "matrix")?.snapshot();
        let (pattern, data) = arrays(&matrix)?;
        // SAFETY: by the contract above each array that is not NULL has the length given.
        unsafe {
            output(pattern.row_ptr(), row_ptr, row_ptr_len, "row_ptr")?;
            output(pattern.col_idx(), col_idx, nnz_len, "col_idx")?;
            output_values(data, values, nnz_len)
        }
    })
}

/// Copies the entries into your arrays, row by row; NULL omits an array. The matrix is in host memory: see
/// sparring_matrix_to. `rows`, `cols` and `values` have room for `capacity` elements each: SPARRING_LENGTH if that is
/// less than the number of entries. `values` has the matrix's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_entries(
    matrix: *const SparringMatrix,
    rows: *mut u64,
    cols: *mut u64,
    values: *mut c_void,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let matrix = handle(matrix, "matrix")?.snapshot();
        on_host("matrix", &matrix)?;
        let (i, j, data) = matrix.extract_tuples_wide()?;
        // SAFETY: by the contract above each array that is not NULL has the length given.
        unsafe {
            output_as(&i, rows, capacity, "rows", |i| i as u64)?;
            output_as(&j, cols, capacity, "cols", |j| j as u64)?;
            output_values(data.slice(), values, capacity)
        }
    })
}

/// Pattern and values of a matrix in the processor's memory.
pub(crate) fn arrays(matrix: &Matrix) -> Fallible<(&Pattern, Slice<'_>)> {
    on_host("matrix", matrix)?;
    match (matrix.pattern(), matrix.values()) {
        (Some(pattern), Some(values)) => Ok((pattern, values)),
        _ => Err(Fail::argument("matrix", "it has no arrays in host memory".into())),
    }
}

/// Access to the arrays of a matrix in host memory, without a copy: nrows + 1 row pointers, nnz columns and nnz values
/// of the matrix's type. Do not write to them. They are valid until the matrix is freed or, on any thread, written by
/// sparring_plan_numeric_into or as the c of an operation. Each of `row_ptr`, `col_idx`, `values` may be NULL to omit
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_borrow(
    matrix: *const SparringMatrix,
    row_ptr: *mut *const u64,
    col_idx: *mut *const u32,
    values: *mut *const c_void,
) -> SparringStatus {
    ffi!({
        // The pointers outlive `matrix`: the table's object holds the same arrays until it is freed or written.
        let matrix = handle(matrix, "matrix")?.snapshot();
        let (pattern, data) = arrays(&matrix)?;
        // SAFETY: by the contract each that is not NULL points to room for a pointer.
        unsafe {
            if !row_ptr.is_null() {
                write(row_ptr, pattern.row_ptr().as_ptr().cast::<u64>(), "row_ptr")?;
            }
            if !col_idx.is_null() {
                write(col_idx, pattern.col_idx().as_ptr(), "col_idx")?;
            }
            if !values.is_null() {
                write(values, address(data), "values")?;
            }
        }
        Ok(())
    })
}

/// Frees a matrix; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_matrix_free(matrix: *mut SparringMatrix) -> SparringStatus {
    ffi!({ release(matrix, "matrix") })
}
