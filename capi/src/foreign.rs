//! Matrices over caller-owned arrays, without a copy.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sparring::algebra::Type;
use sparring::par::{SignedIndex, Storage};
use sparring::{Error, Pattern};

use crate::guard::{Fail, Fallible};
use crate::matrix::{SparringMatrix, of_arrays};
use crate::memory::{NewHandle, check_any, input, size};
use crate::status::SparringStatus;
use crate::types::{foreign_values, named, value_type};

/// Flags for foreign arrays, to be combined by |.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringForeign {
    /// Row pointers and columns are not validated. You guarantee that they are valid; behaviour is undefined otherwise.
    SPARRING_UNCHECKED = 1,
    /// With SPARRING_UNCHECKED: columns increase within each row.
    SPARRING_SORTED_ROWS = 2,
}

use SparringForeign::*;

/// Called once with the caller's context when the last matrix over its arrays is dropped.
type Release = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// The caller's arrays, until the last matrix over them is dropped.
struct Lent {
    release: Release,
    context: *mut c_void,
    /// Whether a matrix was made of them; otherwise they still belong to the caller.
    taken: AtomicBool,
}

// SAFETY: the context is only passed to `release`; the caller promised that any thread may call it.
unsafe impl Send for Lent {}
// SAFETY: as above; shared access only sets a flag.
unsafe impl Sync for Lent {}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (true, Some(release)) = (*self.taken.get_mut(), self.release) {
            // SAFETY: the function and the context that belong together, called once, by the caller's contract from any
            // thread.
            unsafe { release(self.context) };
        }
    }
}

/// Row pointers or columns at an address, of one of four types.
#[derive(Clone, Copy)]
struct Indices {
    ty: Type,
    at: *const c_void,
    len: usize,
    name: &'static str,
    unchecked: bool,
}

impl Indices {
    /// The array as `T`, an integer of the size of the array's type, without a copy.
    /// # Safety
    /// The array satisfies the contract of [`sparring_matrix_from_foreign`], and `lent` is its owner.
    unsafe fn lent<T: Copy>(&self, lent: &Arc<Lent>) -> Fallible<Storage<T>> {
        check_any(self.at.cast::<T>(), self.len, self.name)?;
        // SAFETY: aligned and not too large by `check_any`; there, read-only and alive until `lent` is dropped by the
        // caller's promise; any bits are an integer.
        Ok(unsafe { Storage::foreign(self.at.cast(), self.len, Arc::clone(lent)) })
    }
    /// The same for signed integers, as unsigned ones; checked for negative ones unless the caller promised that there
    /// are none.
    /// # Safety
    /// As for [`lent`](Self::lent).
    unsafe fn lent_signed<S: SignedIndex>(&self, lent: &Arc<Lent>) -> Fallible<Storage<S::Unsigned>> {
        if self.unchecked {
            // SAFETY: as there; signed and unsigned integers have the same sizes.
            return unsafe { self.lent(lent) };
        }
        // SAFETY: as there.
        let signed = unsafe { self.lent::<S>(lent)? };
        signed.unsigned().map_err(|e| self.of_indices(e))
    }
    fn refused<T>(&self, takes: &str) -> Fallible<T> {
        Err(Fail::of_type(self.name, format!("{} is none of {takes}", named(self.ty))))
    }
    /// # Safety
    /// As for [`lent`](Self::lent).
    unsafe fn row_pointers(&self, lent: &Arc<Lent>) -> Fallible<Storage<usize>> {
        // SAFETY: as there.
        unsafe {
            match self.ty {
                Type::I64 => self.lent_signed::<i64>(lent),
                // The same type on 64-bit machines (`matrix.rs`).
                Type::U64 => self.lent::<usize>(lent),
                Type::I32 => {
                    let narrow = input(self.at.cast::<i32>(), self.len, self.name)?;
                    Ok(Storage::widened(narrow)?)
                }
                _ => self.refused("SPARRING_I32, SPARRING_I64, SPARRING_U64"),
            }
        }
    }
    /// # Safety
    /// As for [`lent`](Self::lent).
    unsafe fn columns(&self, lent: &Arc<Lent>) -> Fallible<Storage<u32>> {
        // SAFETY: as there.
        unsafe {
            match self.ty {
                Type::U32 => self.lent(lent),
                Type::I32 => self.lent_signed::<i32>(lent),
                Type::I64 => self.narrowed::<i64>(),
                Type::U64 => self.narrowed::<u64>(),
                _ => self.refused("SPARRING_I32, SPARRING_U32, SPARRING_I64, SPARRING_U64"),
            }
        }
    }
    /// # Safety
    /// As for [`lent`](Self::lent), the array being of `T`.
    unsafe fn narrowed<T: Copy + TryInto<u32> + std::fmt::Display>(&self) -> Fallible<Storage<u32>> {
        // SAFETY: as there.
        let wide = unsafe { input(self.at.cast::<T>(), self.len, self.name)? };
        Storage::narrowed(wide).map_err(|e| self.of_indices(e))
    }
    /// An error of an array's elements, with the array's name in C.
    fn of_indices(&self, e: Error) -> Fail {
        match e {
            Error::Argument { message, .. } => Fail::argument(self.name, message),
            other => other.into(),
        }
    }
}

/// An nrows × ncols matrix over CSR arrays of yours, without copying them. They are as for sparring_matrix_from_csr,
/// except that `row_ptr` may be of SPARRING_I32, SPARRING_I64 or SPARRING_U64 (`row_ptr_type`) and `col_idx` of
/// SPARRING_I32, SPARRING_U32, SPARRING_I64 or SPARRING_U64 (`col_idx_type`), as in SciPy and Arrow. 32-bit row
/// pointers and 64-bit columns are converted by a copy; a column beyond 32 bits is an error. Arrays are validated once,
/// in O(nrows + nnz), unless `flags` has SPARRING_UNCHECKED; bytes of SPARRING_BOOL are always checked to be 0 or 1. On
/// success the arrays belong to the matrix and to all results that share them: do not modify them until `release`,
/// which may be NULL, is called with `context`, once, by any thread. On failure they remain yours, and `release` is not
/// called. `*matrix` receives the handle, NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their types and lengths")]
pub unsafe extern "C" fn sparring_matrix_from_foreign(
    r#type: u32,
    nrows: u64,
    ncols: u64,
    nnz: u64,
    row_ptr_type: u32,
    row_ptr: *const c_void,
    col_idx_type: u32,
    col_idx: *const c_void,
    values: *const c_void,
    flags: u32,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
    context: *mut c_void,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle.
        let out = unsafe { NewHandle::at(matrix, "matrix")? };
        let (nrows, ncols, nnz) = (size(nrows, "nrows")?, size(ncols, "ncols")?, size(nnz, "nnz")?);
        let (ty, known) = (value_type(r#type)?, SPARRING_UNCHECKED as u32 | SPARRING_SORTED_ROWS as u32);
        if flags & !known != 0 {
            return Err(Fail::argument("flags", format!("{flags} has bits beyond {known}")));
        }
        let unchecked = flags & SPARRING_UNCHECKED as u32 != 0;
        if flags & SPARRING_SORTED_ROWS as u32 != 0 && !unchecked {
            let message = "SPARRING_SORTED_ROWS has no effect without SPARRING_UNCHECKED".into();
            return Err(Fail::argument("flags", message));
        }
        let lent = Arc::new(Lent { release, context, taken: AtomicBool::new(false) });
        let pointers = nrows.saturating_add(1);
        let row_ptr = Indices { ty: value_type(row_ptr_type)?, at: row_ptr, len: pointers, name: "row_ptr", unchecked };
        let col_idx = Indices { ty: value_type(col_idx_type)?, at: col_idx, len: nnz, name: "col_idx", unchecked };
        // SAFETY: by the contract above the arrays have these types and lengths, and `lent` is their owner.
        let (row_ptr, col_idx) = unsafe { (row_ptr.row_pointers(&lent)?, col_idx.columns(&lent)?) };
        let pattern = if unchecked {
            let sorted = flags & SPARRING_SORTED_ROWS as u32 != 0;
            // SAFETY: the promise that the caller made by the flag.
            unsafe { Pattern::from_storage_unchecked(nrows, ncols, row_ptr, col_idx, sorted) }
        } else {
            let checked = Pattern::from_storage(nrows, ncols, row_ptr, col_idx);
            checked.map_err(|e| of_arrays(e, "row_ptr", "col_idx"))?
        };
        // SAFETY: as above, nnz values of the type.
        let made = unsafe { foreign_values(ty, values, nnz, Arc::clone(&lent), Arc::new(pattern))? };
        out.give(made.into())?;
        lent.taken.store(true, Ordering::Release);
        Ok(())
    })
}
