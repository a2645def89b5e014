//! Matrices: from arrays, and back into them; to a device, and back from it.

use std::ffi::{c_char, c_void};
use std::sync::Mutex;

use sparring::algebra::{Array, Slice};
use sparring::par::Threads;
use sparring::runtime::Matrix;
use sparring::{Error, Pattern};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, copied, input, output, size, write, write_text};
use crate::scalar::SparringScalar;
use crate::sparse::{Sparse, on_host};
use crate::status::SparringStatus;
use crate::types::{address, code, input_values, output_values, value_type};

/// A sparse matrix in compressed rows, of one of the types above, in the memory of the processor or of a GPU. Threads
/// of yours may share one.
pub struct SparringMatrix {
    data: Mutex<Matrix>,
}

impl Object for SparringMatrix {
    const NAME: &'static str = "SparringMatrix";
}

// Row pointers are usize in the library and uint64_t in C: one and the same, given, filled and lent without a copy.
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

/// The error of arrays, which are called so.
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

/// Compressed rows of C as a matrix; nothing is copied.
pub(crate) fn from_csr(
    nrows: usize,
    ncols: usize,
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    values: Array,
) -> Fallible<Matrix> {
    Matrix::from_csr(nrows, ncols, row_ptr, col_idx, values).map_err(|e| of_arrays(e, "row_ptr", "col_idx"))
}

/// An nrows × ncols matrix from compressed rows, which are checked and copied (sparring_arrays_new makes do without the
/// copy): the entries of row i are `col_idx[p]` and `values[p]` for p from `row_ptr[i]` to `row_ptr[i + 1]` - 1.
/// `type` is a SparringType, and `values` points to `nnz` values of it; `row_ptr` has nrows + 1 elements and
/// `col_idx` has `nnz`. The columns of a row may stand in any order, but none of them twice.
/// `*matrix` gets the handle, NULL on failure; free it with sparring_matrix_free.
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
        // An nrows so large that nrows + 1 wraps is refused by `input`, as is any array larger than the address space.
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

/// An nrows × ncols matrix from coordinates, which are checked and copied: entries (rows[p], cols[p]) = values[p]
/// for p from 0 to len - 1, in any order. Entries at the same place are summed (bool: or); an integer
/// type that does not hold a sum is refused. The caller's thread does it.
/// `type` is a SparringType; all three arrays have `len` elements.
/// `*matrix` gets the handle, NULL on failure; free it with sparring_matrix_free.
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

/// The nrows × ncols matrix without entries. `type` is a SparringType. `*matrix` gets the handle, NULL on failure; free
/// it with sparring_matrix_free. Rows may be any number, and cost nothing while they are empty; columns are below 2^32:
/// SPARRING_INDEX_OVERFLOW otherwise.
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

/// The same matrix under another handle: what is written to one leaves the other as it is. Nothing is copied before
/// one of the two is written. `*copy` gets the handle, NULL on failure; free it with sparring_matrix_free.
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

/// Removes all entries; the type, the shape and the memory in which it is stay. `device` is where it is. Pointers from
/// sparring_matrix_borrow end here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_clear(
    device: *const SparringDevice,
    matrix: *mut SparringMatrix,
) -> SparringStatus {
    ffi!({ crate::device::clear(device, matrix, "matrix") })
}

/// The place (i, j) of a matrix, if it has one.
pub(crate) fn place(i: u64, j: u64, (nrows, ncols): (usize, usize)) -> Fallible<(usize, usize)> {
    for (name, index, axis, bound) in [("i", i, "nrows", nrows), ("j", j, "ncols", ncols)] {
        if index >= bound as u64 {
            let message = format!("{name} is {index}, not below {axis}, which is {bound}");
            return Err(Fail { status: SparringStatus::SPARRING_INDEX_RANGE, message });
        }
    }
    Ok((i as usize, j as usize))
}

/// The value at row `i` and column `j` into `scalar`, which is of the matrix' type; where there is no entry, the scalar
/// becomes empty. The matrix is in the processor's memory.
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
        let (i, j) = place(i, j, matrix.shape())?;
        scalar.put(matrix.get(i, j)?);
        Ok(())
    })
}

/// A new matrix with the same entries, of values of another type: as floats the nearest, as integers the same numbers,
/// as bool whether they are not 0. A value that the type does not hold is refused with its place: SPARRING_UNSUPPORTED;
/// with `wrap` not 0 it is converted as C does, but that floats saturate and a NaN becomes 0. `*there` gets the handle,
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

/// Number of rows and of columns.
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

/// The same matrix in the memory of `device`: of a GPU for "cuda:N", of the processor for "cpu". Operations on that
/// device then find it there, and what they make of it stays there too; matrices that are elsewhere are sent for each
/// call. A matrix on a GPU belongs to the SparringDevice that it was sent to, and is used with no other. `*there` gets
/// the handle of a new matrix, NULL on failure; free it with sparring_matrix_free. Both matrices live on their own: new
/// values of the one leave the other as it is.
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
        // Shared, if it is there, until one of the two gets new values.
        out.give(device.machine.upload(&matrix)?.into())
    })
}

/// Where the matrix is: "cpu", "cuda:0" and so on, into `buffer` of `capacity` bytes as for sparring_plan_explain.
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

/// Copies the matrix into your arrays; an array that is NULL is not wanted.
/// The matrix is in the processor's memory: see sparring_matrix_to.
/// `row_ptr` has room for `row_ptr_len` elements (nrows + 1 are written), and `col_idx` and `values` have room for
/// `nnz_len` each (nnz are written): SPARRING_LENGTH if that is too few. `values` has the matrix's type.
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

/// Pattern and values of a matrix in the processor's memory.
pub(crate) fn arrays(matrix: &Matrix) -> Fallible<(&Pattern, Slice<'_>)> {
    on_host("matrix", matrix)?;
    match (matrix.pattern(), matrix.values()) {
        (Some(pattern), Some(values)) => Ok((pattern, values)),
        _ => Err(Fail::argument("matrix", "it has no arrays here".into())),
    }
}

/// Lends the arrays of a matrix in the processor's memory, without a copy: nrows + 1 row pointers, nnz columns and nnz
/// values of the matrix's type. Do not write to them. They are good until the matrix is freed or, on any thread,
/// written by sparring_plan_numeric_into or as the c of an operation. Each of `row_ptr`, `col_idx`, `values` may be
/// NULL: not wanted.
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
