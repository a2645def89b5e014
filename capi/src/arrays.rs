//! Matrices without a copy: library-owned arrays that C fills.
//!
//! A matrix owns its arrays and frees them with Rust's allocator, so it cannot take over memory from `malloc` or
//! `mmap`. Instead, the library allocates the arrays and lends them to C before it builds the matrix.

use std::ffi::c_void;
use std::sync::Arc;

use sparring::algebra::{Array, Type};
use sparring::par::filled;

use crate::guard::Fail;
use crate::handle::{Object, release, take};
use crate::matrix::{SparringMatrix, from_csr};
use crate::memory::{NewHandle, possible, size, write};
use crate::status::SparringStatus::{self, SPARRING_INVALID_HANDLE};
use crate::types::{value_type, written, zeros};

/// The arrays of a matrix under construction, to be filled by the caller.
pub struct SparringArrays {
    nrows: usize,
    ncols: usize,
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    ty: Type,
    /// Values of that type, but bytes for bool, because C may write any byte.
    values: Array,
}

impl Object for SparringArrays {
    const NAME: &'static str = "SparringArrays";
}

/// Allocates the CSR arrays of an nrows × ncols matrix with `nnz` entries, in memory that becomes the matrix without a
/// copy. All elements are 0. `type` is a SparringType. `*row_ptr` receives the address of nrows + 1 elements,
/// `*col_idx` and `*values` of `nnz` each; fill them as for sparring_matrix_from_csr, from any number of threads. The
/// pointers are valid until sparring_matrix_from_arrays or sparring_arrays_free. `*arrays` receives the handle, NULL on
/// failure; release it with one of those two functions.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_arrays_new(
    r#type: u32,
    nrows: u64,
    ncols: u64,
    nnz: u64,
    row_ptr: *mut *mut u64,
    col_idx: *mut *mut u32,
    values: *mut *mut c_void,
    arrays: *mut *mut SparringArrays,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above these point to room for a handle and for three pointers.
        let out = unsafe {
            let out = NewHandle::at(arrays, "arrays")?;
            write(row_ptr, std::ptr::null_mut(), "row_ptr")?;
            write(col_idx, std::ptr::null_mut(), "col_idx")?;
            write(values, std::ptr::null_mut(), "values")?;
            out
        };
        let (nrows, ncols, nnz) = (size(nrows, "nrows")?, size(ncols, "ncols")?, size(nnz, "nnz")?);
        let ty = value_type(r#type)?;
        possible::<usize>(nrows.saturating_add(1), "nrows")?;
        possible::<u32>(nnz, "nnz")?;
        // C writes through these pointers; the vectors are read afterwards. Moving a vector does not move its elements.
        let (mut p, mut j) = (filled(nrows + 1, 0, "row pointers")?, filled(nnz, 0, "column indices")?);
        let (p_at, j_at): (*mut usize, *mut u32) = (p.as_mut_ptr(), j.as_mut_ptr());
        let (x, x_at) = zeros(ty, nnz)?;
        out.give(SparringArrays { nrows, ncols, row_ptr: p, col_idx: j, ty, values: x })?;
        // SAFETY: as above.
        unsafe {
            write(row_ptr, p_at.cast::<u64>(), "row_ptr")?;
            write(col_idx, j_at, "col_idx")?;
            write(values, x_at, "values")
        }
    })
}

/// The matrix of filled arrays: they are checked as by sparring_matrix_from_csr, and not copied. Do not write to them
/// during or after this call; sparring_matrix_borrow describes access to them. `*matrix` receives the handle, NULL on
/// failure; free it with sparring_matrix_free. The call consumes `arrays`, even if their contents are invalid; only
/// SPARRING_NULL_POINTER and SPARRING_INVALID_HANDLE leave them unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_from_arrays(
    arrays: *mut SparringArrays,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle.
        let out = unsafe { NewHandle::at(matrix, "matrix")? };
        // Taking the arrays out of the table gives exclusive ownership.
        let owned = Arc::into_inner(take(arrays, "arrays")?).ok_or_else(|| Fail {
            status: SPARRING_INVALID_HANDLE,
            message: "arrays: another call uses them".into(),
        })?;
        let SparringArrays { nrows, ncols, row_ptr, col_idx, ty, values } = owned;
        out.give(from_csr(nrows, ncols, row_ptr, col_idx, written(ty, values))?.into())
    })
}

/// Frees arrays without making a matrix; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_arrays_free(arrays: *mut SparringArrays) -> SparringStatus {
    ffi!({ release(arrays, "arrays") })
}
