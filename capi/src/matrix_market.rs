//! Reading and writing Matrix Market files.

use std::ffi::c_char;

use sparring::Error;
use sparring::io::{ReadOptions, WriteOptions, read_matrix_market_with, write_matrix_market_any};
use sparring::par::{Threads, filled};
use sparring::runtime::Matrix;

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix::{SparringMatrix, arrays};
use crate::memory::{NewHandle, input, text};
use crate::sparse::Sparse;
use crate::status::SparringStatus;
use crate::types::value_type;

/// Options for reading a file. All zero (`SparringReadOptions o = {0};`) are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SparringReadOptions {
    /// Limit in bytes of text, after decompression, beyond which the file is rejected: SPARRING_BUDGET. 0: no limit.
    pub max_bytes: u64,
    /// Not 0: accepts common deviations from the format: both (i, j) and (j, i) in a symmetric file (the lower one is
    /// used), a pattern with values (only positions are used), skew patterns, trailing garbage after gzip data.
    pub lenient: u32,
}

/// Reads a matrix from a Matrix Market file, compressed by gzip or not, with the threads of `device`: symmetry is
/// expanded and duplicate entries are summed (bool: or). `type` is a SparringType: floats are rounded to nearest,
/// integers must be exact (SPARRING_TYPE otherwise), bool is value ≠ 0, and real types reject imaginary parts. Entries
/// of a pattern are 1. The matrix is read into host memory, also for a GPU: see sparring_matrix_to. `path` is UTF-8.
/// `*matrix` receives the handle, NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_read(
    device: *const SparringDevice,
    r#type: u32,
    path: *const c_char,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: the contract above.
        unsafe { read(device, r#type, path, SparringReadOptions::default(), matrix) }
    })
}

/// sparring_matrix_read with options; NULL for the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_read_with(
    device: *const SparringDevice,
    r#type: u32,
    path: *const c_char,
    options: *const SparringReadOptions,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: the contract above; `options` is NULL or points to options.
        unsafe { read(device, r#type, path, given(options)?, matrix) }
    })
}

/// # Safety
/// That of [`sparring_matrix_read`].
unsafe fn read(
    device: *const SparringDevice,
    ty: u32,
    path: *const c_char,
    options: SparringReadOptions,
    matrix: *mut *mut SparringMatrix,
) -> Fallible {
    // SAFETY: by the contract `matrix` points to room for a handle, and `path` to text ended by a zero.
    let (out, path) = unsafe { (NewHandle::at(matrix, "matrix")?, text(path, "path")?) };
    let (device, ty) = (handle(device, "device")?, value_type(ty)?);
    let current = Threads::current();
    let threads = device.threads(&current);
    let most = if options.max_bytes == 0 { u64::MAX } else { options.max_bytes };
    let how = ReadOptions::new().threads(threads).max_bytes(most).lenient(options.lenient != 0);
    let file = read_matrix_market_with(path, &how).map_err(|e| Fail::from(e).naming("path"))?;
    let (pattern, values) = file.of_type(ty, threads).map_err(|e| match e {
        Error::Unsupported { .. } => Fail::of_type("type", e.to_string()),
        other => other.into(),
    })?;
    out.give(Matrix::new(pattern, values)?.into())
}

/// Options for writing a file. All zero (`SparringWriteOptions o = {0};`) are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SparringWriteOptions {
    /// Not 0: writes only the lower triangle, as a symmetric file; a nonsymmetric matrix is SPARRING_ARGUMENT.
    pub symmetric: u32,
    /// Not 0: writes positions without values.
    pub pattern_only: u32,
}

/// Writes a matrix in host memory (see sparring_matrix_to) as a Matrix Market file, compressed by gzip if `path` ends
/// in ".gz", with the threads of `device`. Reading it as the same type gives bitwise identical entries, except that
/// every NaN becomes the standard one. The file is replaced atomically: on failure, the old file at `path` is
/// unchanged. `path` is UTF-8; `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_write(
    device: *const SparringDevice,
    matrix: *const SparringMatrix,
    path: *const c_char,
    options: *const SparringWriteOptions,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract `path` points to text ended by a zero, and `options` to options or to nothing.
        let (path, options) = unsafe { (text(path, "path")?, given(options)?) };
        let (device, matrix) = (handle(device, "device")?, handle(matrix, "matrix")?.snapshot());
        let (pattern, values) = arrays(&matrix)?;
        let current = Threads::current();
        let how = writing(path, &options, device.threads(&current))?;
        write_matrix_market_any(path, pattern, values, &how).map_err(|e| match e {
            Error::Argument { name: "symmetric", message } => Fail::argument("options.symmetric", message),
            other => other.into(),
        })
    })
}

/// The options for writing `path`.
pub(crate) fn writing<'a>(
    path: &str,
    options: &SparringWriteOptions,
    threads: &'a Threads,
) -> Fallible<WriteOptions<'a>> {
    let mut how = WriteOptions::new().threads(threads);
    if options.symmetric != 0 {
        how = how.symmetric();
    }
    if options.pattern_only != 0 {
        how = how.pattern_only();
    }
    if path.to_ascii_lowercase().ends_with(".gz") {
        // The compressor aborts the process if it cannot allocate, so check for memory first.
        drop(std::hint::black_box(filled(1 << 20, 0u8, "packing a file")?));
    }
    Ok(how)
}

/// Options from C, or the defaults.
/// # Safety
/// `p` is NULL, or points to options not written during the call; every bit pattern is a `T`.
pub(crate) unsafe fn given<T: Copy + Default>(p: *const T) -> Fallible<T> {
    if p.is_null() {
        return Ok(T::default());
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { input(p, 1, "options")? }[0])
}
