//! Serialization of matrices and vectors.

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

/// Bytes returned by a call. They may be shared between threads.
pub struct SparringBytes {
    bytes: Vec<u8>,
}

impl Object for SparringBytes {
    const NAME: &'static str = "SparringBytes";
}

/// A byte buffer with fallible growth.
#[derive(Default)]
struct Growing {
    bytes: Vec<u8>,
    /// Size of the failed allocation, if any.
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

/// Deserializes an object.
/// # Safety
/// `data` is NULL, or points to `len` bytes not written during the call.
unsafe fn deserialized<T>(data: *const c_void, len: u64, read: impl FnOnce(&mut dyn Read) -> Result<T>) -> Fallible<T> {
    // SAFETY: the caller's promise.
    let mut bytes = unsafe { input(data.cast::<u8>(), size(len, "len")?, "data")? };
    let found = read(&mut bytes)?;
    if bytes.is_empty() {
        return Ok(found);
    }
    let (of, end) = (len, len - bytes.len() as u64);
    Err(Fail::argument("len", format!("{of}, but the serialized data ends after {end} bytes")))
}

/// The matrix as bytes, in a documented format with a version and a checksum, for sparring_matrix_deserialize, also in
/// another process, on another machine and by a later version. A matrix on a GPU is downloaded. `*bytes` receives the
/// handle, NULL on failure; free it with sparring_bytes_free.
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

/// The vector as bytes, like sparring_matrix_serialize.
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

/// Address and number of the bytes, valid until sparring_bytes_free.
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

/// The matrix of `len` bytes from sparring_matrix_serialize, of any type, in host memory. Truncated, corrupted or
/// unrelated bytes, or another version, are SPARRING_PARSE, with the position. Sizes in the data are not trusted:
/// memory is allocated as data arrives. `*matrix` receives the handle, NULL on failure; free it with
/// sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_deserialize(
    data: *const c_void,
    len: u64,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle, and `data` to `len` bytes.
        unsafe {
            let out = NewHandle::at(matrix, "matrix")?;
            out.give(deserialized(data, len, Matrix::deserialize)?.into())
        }
    })
}

/// The vector of `len` bytes from sparring_vector_serialize, like sparring_matrix_deserialize.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_deserialize(
    data: *const c_void,
    len: u64,
    vector: *mut *mut SparringVector,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `vector` points to room for a handle, and `data` to `len` bytes.
        unsafe {
            let out = NewHandle::at(vector, "vector")?;
            out.give(deserialized(data, len, Vector::deserialize)?.into())
        }
    })
}
