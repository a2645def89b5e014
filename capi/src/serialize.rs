//! Matrices and vectors as bytes, and back.

use std::ffi::c_void;
use std::io::{self, Read, Write};

use sparring::runtime::{Matrix, Vector};
use sparring::{Error, Result};

use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::matrix::SparringMatrix;
use crate::memory::{NewHandle, input, size, write};
use crate::sparse::Sparse;
use crate::status::SparringStatus;
use crate::vector::SparringVector;

/// Bytes that a call made. Threads of yours may share them.
pub struct SparringBytes {
    bytes: Vec<u8>,
}

impl Object for SparringBytes {
    const NAME: &'static str = "SparringBytes";
}

/// Bytes that grow while there is memory.
#[derive(Default)]
struct Growing {
    bytes: Vec<u8>,
    /// How many could not be had.
    refused: Option<usize>,
}

impl Write for Growing {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.try_reserve(more.len()).is_err() {
            self.refused = Some(self.bytes.len() + more.len());
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn serialized(write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Fallible<SparringBytes> {
    let mut to = Growing::default();
    match (write(&mut to), to.refused) {
        (Ok(()), _) => Ok(SparringBytes { bytes: to.bytes }),
        (Err(_), Some(bytes)) => Err(Error::OutOfMemory { what: "serialized bytes", bytes: bytes as u128 }.into()),
        (Err(e), None) => Err(e.into()),
    }
}

/// What the bytes hold.
/// # Safety
/// `data` is NULL, or points to `len` bytes that nobody writes during the call.
unsafe fn deserialized<T>(data: *const c_void, len: u64, read: impl FnOnce(&mut dyn Read) -> Result<T>) -> Fallible<T> {
    // SAFETY: the caller's promise.
    let mut bytes = unsafe { input(data.cast::<u8>(), size(len, "len")?, "data")? };
    let found = read(&mut bytes)?;
    if bytes.is_empty() {
        return Ok(found);
    }
    let (of, end) = (len, len - bytes.len() as u64);
    Err(Fail::argument("len", format!("{of}, but what is serialized ends after {end} bytes")))
}

/// The matrix as bytes, of a stated format with a version and a check, which sparring_matrix_deserialize reads, also in
/// another process, on another machine and by a later version. One on a GPU is downloaded. `*bytes` gets the handle,
/// NULL on failure; free it with sparring_bytes_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_serialize(
    matrix: *const SparringMatrix,
    bytes: *mut *mut SparringBytes,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `bytes` points to room for a handle.
        let out = unsafe { NewHandle::at(bytes, "bytes")? };
        let matrix = handle(matrix, "matrix")?.snapshot();
        out.give(serialized(|to| matrix.serialize(to))?)
    })
}

/// The vector as bytes, as sparring_matrix_serialize makes them of a matrix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_serialize(
    vector: *const SparringVector,
    bytes: *mut *mut SparringBytes,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `bytes` points to room for a handle.
        let out = unsafe { NewHandle::at(bytes, "bytes")? };
        let vector = handle(vector, "vector")?.snapshot();
        out.give(serialized(|to| vector.serialize(to))?)
    })
}

/// Where the bytes are, and how many: good until sparring_bytes_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_bytes_get(
    bytes: *const SparringBytes,
    data: *mut *const c_void,
    len: *mut u64,
) -> SparringStatus {
    ffi!({
        let bytes = handle(bytes, "bytes")?;
        // SAFETY: by the contract `data` points to room for a pointer and `len` to room for a number.
        unsafe {
            write(data, bytes.bytes.as_ptr().cast(), "data")?;
            write(len, bytes.bytes.len() as u64, "len")
        }
    })
}

/// Frees bytes; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_bytes_free(bytes: *mut SparringBytes) -> SparringStatus {
    ffi!({ release(bytes, "bytes") })
}

/// The matrix that sparring_matrix_serialize made `len` bytes of, whatever its type, in the processor's memory. Bytes
/// that are cut, damaged, of another version or of something else are SPARRING_PARSE, with the place. No size in them
/// is trusted: memory is taken as bytes come. `*matrix` gets the handle, NULL on failure; free it with
/// sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_deserialize(
    data: *const c_void,
    len: u64,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle, and `data` to so many bytes.
        unsafe {
            let out = NewHandle::at(matrix, "matrix")?;
            out.give(deserialized(data, len, Matrix::deserialize)?.into())
        }
    })
}

/// The vector that sparring_vector_serialize made `len` bytes of, as sparring_matrix_deserialize.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_deserialize(
    data: *const c_void,
    len: u64,
    vector: *mut *mut SparringVector,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `vector` points to room for a handle, and `data` to so many bytes.
        unsafe {
            let out = NewHandle::at(vector, "vector")?;
            out.give(deserialized(data, len, Vector::deserialize)?.into())
        }
    })
}
