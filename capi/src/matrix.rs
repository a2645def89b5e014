//! Matrices: from arrays, and back into them; to a device, and back from it.

use std::any::Any;
use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring::algebra::Plus;
use sparring::io::MarketValue;
use sparring::{Coo, Csr, Error, Pattern};

use crate::device::SparringDevice;
use crate::gpu::GpuMatrix;
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, take};
use crate::memory::{NewHandle, copied, input, output, size, write, write_text};
use crate::mxm::choice;
use crate::status::SparringStatus;

/// Type of the values of a matrix. More may come: the numbers have gaps.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringType {
    /// bool, or any type of one byte of which 0 is false.
    SPARRING_BOOL = 1,
    /// int64_t; sums and products wrap.
    SPARRING_I64 = 8,
    /// float.
    SPARRING_F32 = 10,
    /// double.
    SPARRING_F64 = 11,
}

use SparringType::*;

/// A sparse matrix in compressed rows, of one of the types above, in the memory of the processor or of a GPU. Threads of
/// yours may share one.
pub struct SparringMatrix {
    // The lock is held for as long as it takes to copy the Arc, or by the one who writes new values. So a call
    // that reads never sees half of a write, and no call waits for a lock while it holds another.
    data: Mutex<Arc<Stored>>,
}

impl Object for SparringMatrix {
    const NAME: &'static str = "SparringMatrix";
}

impl SparringMatrix {
    pub(crate) fn new(data: Data) -> Self {
        Stored::Host(data).into()
    }
    /// The matrix as it is now.
    pub(crate) fn snapshot(&self) -> Arc<Stored> {
        Arc::clone(&self.lock())
    }
    pub(crate) fn lock(&self) -> MutexGuard<'_, Arc<Stored>> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Stored> for SparringMatrix {
    fn from(data: Stored) -> Self {
        Self { data: Mutex::new(Arc::new(data)) }
    }
}

/// A matrix and where it is.
#[derive(Debug)]
pub(crate) enum Stored {
    Host(Data),
    Device(GpuMatrix),
}

impl Stored {
    pub(crate) fn value_type(&self) -> SparringType {
        match self {
            Self::Host(m) => m.value_type(),
            Self::Device(m) => m.value_type(),
        }
    }
    pub(crate) fn shape(&self) -> (usize, usize) {
        match self {
            Self::Host(m) => m.pattern().shape(),
            Self::Device(m) => m.shape(),
        }
    }
    pub(crate) fn nnz(&self) -> usize {
        match self {
            Self::Host(m) => m.pattern().nnz(),
            Self::Device(m) => m.nnz(),
        }
    }
    pub(crate) fn on_host(&self) -> bool {
        matches!(self, Self::Host(_))
    }
    /// The matrix in the processor's memory; `name` is the argument that it was given as.
    pub(crate) fn host(&self, name: &'static str) -> Fallible<&Data> {
        match self {
            Self::Host(m) => Ok(m),
            Self::Device(m) => Err(not_here(name, m)),
        }
    }
    pub(crate) fn host_mut(&mut self, name: &'static str) -> Fallible<&mut Data> {
        match self {
            Self::Host(m) => Ok(m),
            Self::Device(m) => Err(not_here(name, m)),
        }
    }
    /// Whether both have the same structure, as results of one plan do.
    pub(crate) fn has_pattern_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Host(x), Self::Host(y)) => x.pattern() == y.pattern(),
            (Self::Device(x), Self::Device(y)) => x.has_pattern_of(y),
            _ => false,
        }
    }
}

fn not_here(name: &'static str, m: &GpuMatrix) -> Fail {
    Fail::argument(name, format!("the matrix is on {}; sparring_matrix_to brings it to \"cpu\"", m.device()))
}

/// A type of values: its code, its variant of [`Data`], and how C's values become ours.
pub(crate) trait Scalar: sparring_named::Scalar + MarketValue {
    /// What C has: every bit pattern is one.
    type Foreign: Copy;
    fn from_foreign(x: Self::Foreign) -> Self;
    fn wrap(m: Csr<Self>) -> Data;
}

macro_rules! types {
    ($($t:ident $variant:ident $code:ident $foreign:ident $from:expr;)*) => {
        /// A matrix of any of the types.
        #[derive(Debug)]
        pub(crate) enum Data { $(#[doc = stringify!($code)] $variant(Csr<$t>),)* }
        impl Data {
            pub(crate) fn value_type(&self) -> SparringType {
                match self { $(Data::$variant(_) => $code,)* }
            }
            /// The `Csr`, of whatever type it is.
            pub(crate) fn csr(&self) -> &dyn Any {
                match self { $(Data::$variant(m) => m,)* }
            }
            /// The `Csr`, to be written.
            pub(crate) fn csr_mut(&mut self) -> &mut dyn Any {
                match self { $(Data::$variant(m) => m,)* }
            }
        }
        $(impl Scalar for $t {
            type Foreign = $foreign;
            fn from_foreign(x: $foreign) -> Self { $from(x) }
            fn wrap(m: Csr<Self>) -> Data { Data::$variant(m) }
        })*
        /// The code of a type, checked.
        pub(crate) fn value_type(code: u32) -> Fallible<SparringType> {
            choice("type", code, &[$(($code as u32, $code)),*])
        }
        /// `each!(&data, m => expression)` with `m` the `Csr` of whatever type it has.
        macro_rules! each {
            ($data:expr, $m:ident => $body:expr) => {
                match $data { $($crate::matrix::Data::$variant($m) => $body,)* }
            };
        }
        /// `of_type!(code, T => expression)` with `T` the Rust type of a `SparringType`.
        macro_rules! of_type {
            ($ty:expr, $T:ident => $body:expr) => {
                match $ty { $($crate::matrix::SparringType::$code => { type $T = $t; $body })* }
            };
        }
    };
}
types! {
    bool Bool SPARRING_BOOL u8  |x| x != 0;
    i64  I64  SPARRING_I64  i64 |x| x;
    f32  F32  SPARRING_F32  f32 |x| x;
    f64  F64  SPARRING_F64  f64 |x| x;
}
/// `of_real!(code, T => expression)` with `T` the Rust type of a `SparringType` that distances are known of.
macro_rules! of_real {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            $crate::matrix::SparringType::SPARRING_F32 => {
                type $T = f32;
                $body
            }
            $crate::matrix::SparringType::SPARRING_F64 => {
                type $T = f64;
                $body
            }
            other => return Err($crate::distances::no_distances(other)),
        }
    };
}
pub(crate) use {each, of_real, of_type};

impl Data {
    pub(crate) fn pattern(&self) -> &Arc<Pattern> {
        each!(self, m => m.pattern())
    }
}

/// A copy of the caller's values.
/// # Safety
/// As for [`input`], of the type `T::Foreign`.
unsafe fn values<T: Scalar>(p: *const c_void, len: usize) -> Fallible<Vec<T>> {
    // SAFETY: the caller's promise; every bit pattern is a `Foreign`, by the trait.
    let values = unsafe { input(p.cast::<T::Foreign>(), len, "values")? };
    copied(values, "values", T::from_foreign)
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
        of_type!(ty, T => {
            // SAFETY: as above, `values` has nnz values of the type.
            let values = unsafe { self::values::<T>(values, nnz)? };
            out.give(SparringMatrix::new(T::wrap(Csr::from_unsorted(nrows, ncols, row_ptr, col_idx, values)?)))
        })
    })
}

/// An nrows × ncols matrix from coordinates, which are checked and copied: entries (rows[p], cols[p]) = values[p]
/// for p from 0 to len - 1, in any order. Entries at the same place are summed (bool: or).
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
        of_type!(ty, T => {
            // SAFETY: as above, `values` has len values of the type.
            let values = unsafe { self::values::<T>(values, len)? };
            let coo = Coo::new(nrows, ncols, rows, cols, values)?;
            out.give(SparringMatrix::new(T::wrap(coo.to_csr(Plus::<T>::new())?)))
        })
    })
}

/// Type of the values, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_type(matrix: *const SparringMatrix, r#type: *mut u32) -> SparringStatus {
    ffi!({
        let ty = handle(matrix)?.snapshot().value_type();
        // SAFETY: by the contract `type` points to room for a number.
        unsafe { write(r#type, ty as u32, "type") }
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
        let (device, data) = (handle(device)?, handle(matrix)?.snapshot());
        out.give(match (&device.gpu, &*data) {
            // Shared until one of the two gets new values.
            (None, Stored::Host(_)) => SparringMatrix { data: Mutex::new(data) },
            (None, Stored::Device(m)) => SparringMatrix::new(m.download()?),
            (Some(gpu), Stored::Host(_)) => Stored::Device(gpu.matrix("matrix", &data)?).into(),
            (Some(gpu), Stored::Device(m)) if m.check("matrix", gpu).is_ok() => {
                SparringMatrix { data: Mutex::new(data) }
            }
            (Some(gpu), Stored::Device(m)) => {
                Stored::Device(gpu.matrix("matrix", &Stored::Host(m.download()?))?).into()
            }
        })
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
        let name = match &*handle(matrix)?.snapshot() {
            Stored::Host(_) => "cpu".into(),
            Stored::Device(m) => m.device(),
        };
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
        let data = handle(matrix)?.snapshot();
        let data = data.host("matrix")?;
        let pattern = data.pattern();
        // Row pointers are usize here and uint64_t there: the same on 64-bit machines, copied one by one elsewhere.
        let wide = copied(pattern.row_ptr(), "row pointers", |p| p as u64)?;
        // SAFETY: by the contract above each array that is not NULL has the length given.
        unsafe {
            output(&wide, row_ptr, row_ptr_len, "row_ptr")?;
            output(pattern.col_idx(), col_idx, nnz_len, "col_idx")?;
            each!(data, m => output_values(m, values, nnz_len))
        }
    })
}

/// # Safety
/// As for [`output`], of the type `T::Foreign`.
unsafe fn output_values<T: Scalar>(m: &Csr<T>, p: *mut c_void, capacity: u64) -> Fallible {
    // SAFETY: the caller's promise.
    unsafe { output(m.values(), p.cast::<T>(), capacity, "values") }
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
        // The pointers outlive `data`: the table's object holds the same arrays until it is freed or written.
        let data = handle(matrix)?.snapshot();
        let data = data.host("matrix")?;
        let pattern = data.pattern();
        // SAFETY: by the contract each that is not NULL points to room for a pointer.
        unsafe {
            if !row_ptr.is_null() {
                write(row_ptr, pattern.row_ptr().as_ptr(), "row_ptr")?;
            }
            if !col_idx.is_null() {
                write(col_idx, pattern.col_idx().as_ptr(), "col_idx")?;
            }
            if !values.is_null() {
                write(values, each!(data, m => m.values().as_ptr().cast()), "values")?;
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
pub(crate) fn mistyped(name: &'static str, found: SparringType, expected: SparringType) -> Error {
    let message = format!("values are {found:?}, expected {expected:?}, the type of the left operand");
    Error::Argument { name, message }
}
