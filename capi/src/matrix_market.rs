//! Matrices from Matrix Market files.

use std::ffi::c_char;

use sparring::io::{ReadOptions, read_matrix_market_with};
use sparring::par::Threads;
use sparring::runtime::Matrix;

use crate::device::SparringDevice;
use crate::guard::Fallible;
use crate::handle::handle;
use crate::matrix::{SparringMatrix, value_type};
use crate::memory::{NewHandle, input, text};
use crate::status::SparringStatus;

/// How a file is read. All zero (`SparringReadOptions o = {0};`) are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SparringReadOptions {
    /// Bytes of text, after decompression, beyond which the file is refused: SPARRING_BUDGET. 0: no limit.
    pub max_bytes: u64,
    /// Not 0: also read what other programs write and the format leaves open: of (i, j) and (j, i) in a symmetric file the
    /// lower one, the positions of a pattern with values, skew patterns, a file with garbage behind gzip.
    pub lenient: u32,
}

/// A matrix from a Matrix Market file, compressed by gzip or not, read by the threads of `device`: symmetry is
/// expanded and repeated entries are summed (bool: or). `type` is a SparringType: doubles and floats take the
/// nearest value, integers only what they hold exactly, bool whether it differs from 0, real numbers no imaginary part.
/// Entries of a pattern are 1.
/// For a GPU the processor reads, and the matrix is in its memory: see sparring_matrix_to.
/// `path` is UTF-8. `*matrix` gets the handle, NULL on failure; free it with sparring_matrix_free.
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
        let options = if options.is_null() {
            SparringReadOptions::default()
        } else {
            // SAFETY: by the contract `options` points to options; every bit pattern is one.
            let given = unsafe { input(options, 1, "options")? };
            given[0]
        };
        // SAFETY: the contract above.
        unsafe { read(device, r#type, path, options, matrix) }
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
    let (device, ty) = (handle(device)?, value_type(ty)?);
    let current = Threads::current();
    let threads = device.machine.threads().unwrap_or(&current);
    let most = if options.max_bytes == 0 { u64::MAX } else { options.max_bytes };
    let how = ReadOptions::new().threads(threads).max_bytes(most).lenient(options.lenient != 0);
    let (pattern, values) = read_matrix_market_with(path, &how)?.of_type(ty, threads)?;
    out.give(Matrix::new(pattern, values)?.into())
}
