//! Matrices from Matrix Market files.

use std::ffi::c_char;

use sparring::io::{ReadOptions, read_matrix_market_with};
use sparring::par::Threads;
use sparring::runtime::Matrix;

use crate::device::SparringDevice;
use crate::handle::handle;
use crate::matrix::{SparringMatrix, value_type};
use crate::memory::{NewHandle, text};
use crate::status::SparringStatus;

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
        // SAFETY: by the contract above `matrix` points to room for a handle, and `path` to text ended by a zero.
        let (out, path) = unsafe { (NewHandle::at(matrix, "matrix")?, text(path, "path")?) };
        let (device, ty) = (handle(device)?, value_type(r#type)?);
        let current = Threads::current();
        let threads = device.machine.threads().unwrap_or(&current);
        let file = read_matrix_market_with(path, &ReadOptions::new().threads(threads))?;
        let (pattern, values) = file.of_type(ty, threads)?;
        out.give(Matrix::new(pattern, values)?.into())
    })
}
