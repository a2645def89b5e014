//! Matrices from Matrix Market files.

use std::ffi::c_char;

use sparring::algebra::Plus;
use sparring::io::{ReadOptions, read_matrix_market_with};

use crate::device::SparringDevice;
use crate::handle::handle;
use crate::matrix::{Scalar, SparringMatrix, of_type, value_type};
use crate::memory::{NewHandle, text};
use crate::status::SparringStatus;

/// A matrix from a Matrix Market file, compressed by gzip or not, read by the threads of `device`: symmetry is
/// expanded and repeated entries are summed (bool: or). `type` is a SparringType: doubles and floats take the
/// nearest value, an int64_t only what it holds exactly, bool whether it differs from 0. Entries of a pattern are 1.
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
        let threads = device.host.threads();
        let file = read_matrix_market_with(path, &ReadOptions::new().threads(threads))?;
        of_type!(ty, T => {
            let coo = file.coo_with::<T, u32>(threads)?;
            out.give(SparringMatrix::new(T::wrap(coo.to_csr(Plus::<T>::new())?)))
        })
    })
}
