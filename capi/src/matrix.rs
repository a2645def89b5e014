//! Matrices: from arrays, and back into them; to a device, and back from it.

use std::ffi::{c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sparring::algebra::{Array, Slice, Type};
use sparring::num_complex::Complex;
use sparring::par::Threads;
use sparring::runtime::Matrix;
use sparring::{Error, Pattern};

use crate::device::{SparringDevice, on_host};
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, take};
use crate::memory::{NewHandle, choice, copied, input, output, size, write, write_text};
use crate::status::SparringStatus;

/// Type of the values of a matrix.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringType {
    /// bool, or any type of one byte of which 0 is false.
    SPARRING_BOOL = 1,
    /// int8_t; sums and products of integers wrap.
    SPARRING_I8 = 2,
    /// uint8_t.
    SPARRING_U8 = 3,
    /// int16_t.
    SPARRING_I16 = 4,
    /// uint16_t.
    SPARRING_U16 = 5,
    /// int32_t.
    SPARRING_I32 = 6,
    /// uint32_t.
    SPARRING_U32 = 7,
    /// int64_t.
    SPARRING_I64 = 8,
    /// uint64_t.
    SPARRING_U64 = 9,
    /// float.
    SPARRING_F32 = 10,
    /// double.
    SPARRING_F64 = 11,
    /// float _Complex, std::complex<float>: two floats.
    SPARRING_COMPLEX_F32 = 12,
    /// double _Complex, std::complex<double>: two doubles.
    SPARRING_COMPLEX_F64 = 13,
}

use SparringType::*;

/// A sparse matrix in compressed rows, of one of the types above, in the memory of the processor or of a GPU. Threads of
/// yours may share one.
pub struct SparringMatrix {
    // The lock is held for as long as it takes to clone the matrix, which copies nothing, or by the one who writes new
    // values. So a call that reads never sees half of a write, and no call waits for a lock while it holds another.
    data: Mutex<Matrix>,
}

impl Object for SparringMatrix {
    const NAME: &'static str = "SparringMatrix";
}

impl SparringMatrix {
    /// The matrix as it is now.
    pub(crate) fn snapshot(&self) -> Matrix {
        self.lock().clone()
    }
    pub(crate) fn lock(&self) -> MutexGuard<'_, Matrix> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Matrix> for SparringMatrix {
    fn from(matrix: Matrix) -> Self {
        Self { data: Mutex::new(matrix) }
    }
}

macro_rules! types {
    ($($variant:ident $t:ty, $code:ident, $foreign:ty, $from:expr;)*) => {
        /// The type of a code, checked.
        pub(crate) fn value_type(code: u32) -> Fallible<Type> {
            choice("type", code, &[$(($code as u32, Type::$variant)),*])
        }
        /// The code of a type; 0 for one that C does not have.
        fn code(ty: Type) -> u32 {
            match ty {
                $(Type::$variant => $code as u32,)*
                Type::Struct(_) => 0,
            }
        }
        /// What C calls a type.
        pub(crate) fn named(ty: Type) -> &'static str {
            match ty {
                $(Type::$variant => stringify!($code),)*
                Type::Struct(of) => of.name,
            }
        }
        /// A copy of the caller's values.
        /// # Safety
        /// As for [`input`], of that type.
        unsafe fn input_values(ty: Type, p: *const c_void, len: usize) -> Fallible<Array> {
            match ty {
                $(Type::$variant => {
                    // SAFETY: the caller's promise; every bit pattern is a number, and a bool of C is any byte.
                    let values = unsafe { input(p.cast::<$foreign>(), len, "values")? };
                    Ok(Array::of(copied::<$t, $foreign>(values, "values", $from)?))
                })*
                Type::Struct(_) => Err(mistyped("values", ty, Type::F64).into()),
            }
        }
        /// Copies the values into the caller's array.
        /// # Safety
        /// As for [`output`], of the type of the values.
        unsafe fn output_values(values: Slice<'_>, p: *mut c_void, capacity: u64) -> Fallible {
            $(if let Some(values) = values.get::<$t>() {
                // SAFETY: the caller's promise.
                return unsafe { output(values, p.cast::<$t>(), capacity, "values") };
            })*
            Ok(())
        }
        /// Where the values are.
        fn address(values: Slice<'_>) -> *const c_void {
            $(if let Some(values) = values.get::<$t>() {
                return values.as_ptr().cast();
            })*
            std::ptr::null()
        }
    };
}
types! {
    Bool bool, SPARRING_BOOL, u8, |x| x != 0;
    I8 i8, SPARRING_I8, i8, |x| x;
    U8 u8, SPARRING_U8, u8, |x| x;
    I16 i16, SPARRING_I16, i16, |x| x;
    U16 u16, SPARRING_U16, u16, |x| x;
    I32 i32, SPARRING_I32, i32, |x| x;
    U32 u32, SPARRING_U32, u32, |x| x;
    I64 i64, SPARRING_I64, i64, |x| x;
    U64 u64, SPARRING_U64, u64, |x| x;
    F32 f32, SPARRING_F32, f32, |x| x;
    F64 f64, SPARRING_F64, f64, |x| x;
    ComplexF32 Complex<f32>, SPARRING_COMPLEX_F32, Complex<f32>, |x| x;
    ComplexF64 Complex<f64>, SPARRING_COMPLEX_F64, Complex<f64>, |x| x;
}

/// An nrows × ncols matrix from compressed rows, which are checked and copied: the entries of row i are
/// `col_idx[p]` and `values[p]` for p from `row_ptr[i]` to `row_ptr[i + 1]` - 1.
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
        for &p in row_ptr {
            size(p, "row_ptr")?;
        }
        let row_ptr = copied(row_ptr, "row pointers", |p| p as usize)?;
        let col_idx = copied(col_idx, "column indices", |j| j)?;
        // SAFETY: as above, `values` has nnz values of the type.
        let values = unsafe { input_values(ty, values, nnz)? };
        out.give(Matrix::from_csr(nrows, ncols, row_ptr, col_idx, values)?.into())
    })
}

/// An nrows × ncols matrix from coordinates, which are checked and copied: entries (rows[p], cols[p]) = values[p]
/// for p from 0 to len - 1, in any order. Entries at the same place are summed (bool: or). The caller's thread does it.
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
        out.give(Matrix::from_coo(&Threads::caller(), nrows, ncols, rows, cols, values)?.into())
    })
}

/// Type of the values, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_type(matrix: *const SparringMatrix, r#type: *mut u32) -> SparringStatus {
    ffi!({
        let ty = code(handle(matrix)?.snapshot().ty());
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
        let shape = handle(matrix)?.snapshot().shape();
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
        let entries = handle(matrix)?.snapshot().nnz();
        // SAFETY: by the contract `nnz` points to room for a number.
        unsafe { write(nnz, entries as u64, "nnz") }
    })
}

/// The same matrix in the memory of `device`: of a GPU for "cuda:N", of the processor for "cpu". Operations on that device
/// then find it there, and what they make of it stays there too; matrices that are elsewhere are sent for each call.
/// A matrix on a GPU belongs to the SparringDevice that it was sent to, and is used with no other.
/// `*there` gets the handle of a new matrix, NULL on failure; free it with sparring_matrix_free. Both matrices live on
/// their own: new values of the one leave the other as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_to(
    device: *const SparringDevice,
    matrix: *const SparringMatrix,
    there: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `there` points to room for a handle.
        let out = unsafe { NewHandle::at(there, "there")? };
        let (device, matrix) = (handle(device)?, handle(matrix)?.snapshot());
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
        let name = handle(matrix)?.snapshot().machine();
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
        let matrix = handle(matrix)?.snapshot();
        let (pattern, data) = arrays(&matrix)?;
        // Row pointers are usize here and uint64_t there: the same on 64-bit machines, copied one by one elsewhere.
        let wide = copied(pattern.row_ptr(), "row pointers", |p| p as u64)?;
        // SAFETY: by the contract above each array that is not NULL has the length given.
        unsafe {
            output(&wide, row_ptr, row_ptr_len, "row_ptr")?;
            output(pattern.col_idx(), col_idx, nnz_len, "col_idx")?;
            output_values(data, values, nnz_len)
        }
    })
}

/// Pattern and values of a matrix in the processor's memory.
fn arrays(matrix: &Matrix) -> Fallible<(&Pattern, Slice<'_>)> {
    on_host("matrix", matrix)?;
    match (matrix.pattern(), matrix.values()) {
        (Some(pattern), Some(values)) => Ok((pattern, values)),
        _ => Err(Fail::argument("matrix", "it has no arrays here".into())),
    }
}

/// Lends the arrays of a matrix in the processor's memory, without a copy: nrows + 1 row pointers, nnz columns and nnz
/// values of the matrix's type. Do not write to them. They are good until the matrix is freed or, on any thread, given as
/// the result to sparring_plan_numeric_into. Each of `row_ptr`, `col_idx`, `values` may be NULL: not wanted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_borrow(
    matrix: *const SparringMatrix,
    row_ptr: *mut *const usize,
    col_idx: *mut *const u32,
    values: *mut *const c_void,
) -> SparringStatus {
    ffi!({
        // The pointers outlive `matrix`: the table's object holds the same arrays until it is freed or written.
        let matrix = handle(matrix)?.snapshot();
        let (pattern, data) = arrays(&matrix)?;
        // SAFETY: by the contract each that is not NULL points to room for a pointer.
        unsafe {
            if !row_ptr.is_null() {
                write(row_ptr, pattern.row_ptr().as_ptr(), "row_ptr")?;
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
    ffi!({ take(matrix) })
}

/// The error that values have another type than they must.
pub(crate) fn mistyped(name: &'static str, found: Type, expected: Type) -> Error {
    let (found, expected) = (self::named(found), self::named(expected));
    Error::Argument { name, message: format!("values are {found}, expected {expected}, the type of the left operand") }
}
