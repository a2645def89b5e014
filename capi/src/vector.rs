//! Vectors: conversion from and to arrays, transfers to and from devices.

use std::ffi::{c_char, c_void};
use std::sync::Mutex;

use sparring::Error;
use sparring::par::Threads;
use sparring::runtime::Vector;

use crate::device::SparringDevice;
use crate::guard::Fail;
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, copied, input, output_as, size, write, write_text};
use crate::scalar::SparringScalar;
use crate::sparse::{Sparse, on_host};
use crate::status::SparringStatus::{self, SPARRING_INDEX_RANGE};
use crate::types::{code, input_values, output_values, value_type};

/// A sparse or full vector of one of the types above, in host memory or on a GPU. It may be shared between threads.
pub struct SparringVector {
    data: Mutex<Vector>,
}

impl Object for SparringVector {
    const NAME: &'static str = "SparringVector";
}

impl Sparse for SparringVector {
    type Held = Vector;
    fn data(&self) -> &Mutex<Vector> {
        &self.data
    }
}

impl From<Vector> for SparringVector {
    fn from(vector: Vector) -> Self {
        Self { data: Mutex::new(vector) }
    }
}

/// The error of creating a vector, whose length is `len` in C.
fn of_length(e: Error) -> Fail {
    let overflow = matches!(e, Error::IndexOverflow { .. });
    let fail = Fail::from(e);
    if overflow { fail.naming("len") } else { fail }
}

/// The error for an index that is not below the length.
pub(crate) fn beyond(name: &str, index: u64, len: usize) -> Fail {
    Fail { status: SPARRING_INDEX_RANGE, message: format!("{name} is {index}, not below the length, which is {len}") }
}

/// An empty vector of length `len`. `type` is a SparringType. `*vector` receives the handle, NULL on failure; free it
/// with sparring_vector_free. The length is at most 2^60: SPARRING_INDEX_OVERFLOW otherwise. Memory depends on the
/// entries alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_new(
    r#type: u32,
    len: u64,
    vector: *mut *mut SparringVector,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `vector` points to room for a handle.
        let out = unsafe { NewHandle::at(vector, "vector")? };
        out.give(Vector::empty(value_type(r#type)?, size(len, "len")?).map_err(of_length)?.into())
    })
}

/// A vector of length `len` with the entries v(indices[p]) = values[p] for p from 0 to nvals - 1, in any order,
/// validated and copied. Duplicate entries are summed (bool: or); an overflowing sum of integers is an error. `type` is
/// a SparringType; both arrays have `nvals` elements. `*vector` receives the handle, NULL on failure; free it with
/// sparring_vector_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_from_entries(
    r#type: u32,
    len: u64,
    indices: *const u64,
    values: *const c_void,
    nvals: u64,
    vector: *mut *mut SparringVector,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `vector` points to room for a handle.
        let out = unsafe { NewHandle::at(vector, "vector")? };
        let (len, nvals, ty) = (size(len, "len")?, size(nvals, "nvals")?, value_type(r#type)?);
        // SAFETY: by the contract above both arrays have this length, and every bit pattern is a number.
        let (indices, values) = unsafe { (input(indices, nvals, "indices")?, input_values(ty, values, nvals)?) };
        // An impossible length is reported as such.
        Vector::empty(ty, len).map_err(of_length)?;
        if let Some(p) = indices.iter().position(|&i| i >= len as u64) {
            return Err(beyond(&format!("indices[{p}]"), indices[p], len));
        }
        let indices = copied(indices, "indices", |i| i as usize)?;
        let vector = Vector::from_coo_wide(&Threads::caller(), len, indices, values);
        out.give(vector.map_err(|e| Fail::from(e).naming("values"))?.into())
    })
}

/// A full vector of length `len`, values[i] at i, which are copied. `type` is a SparringType. `*vector` receives the
/// handle, NULL on failure; free it with sparring_vector_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_from_dense(
    r#type: u32,
    values: *const c_void,
    len: u64,
    vector: *mut *mut SparringVector,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `vector` points to room for a handle.
        let out = unsafe { NewHandle::at(vector, "vector")? };
        let (len, ty) = (size(len, "len")?, value_type(r#type)?);
        // SAFETY: by the contract above `values` has this length, and every bit pattern is a number.
        let values = unsafe { input_values(ty, values, len)? };
        out.give(Vector::full(values).map_err(of_length)?.into())
    })
}

/// A copy of the vector under another handle; writing to one does not affect the other. Data is copied only on the
/// first write (copy on write). `*copy` receives the handle, NULL on failure; free it with sparring_vector_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_dup(
    vector: *const SparringVector,
    copy: *mut *mut SparringVector,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `copy` points to room for a handle.
        let out = unsafe { NewHandle::at(copy, "copy")? };
        out.give(handle(vector, "vector")?.snapshot().into())
    })
}

/// Type of the values, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_type(vector: *const SparringVector, r#type: *mut u32) -> SparringStatus {
    ffi!({
        let ty = code(handle(vector, "vector")?.snapshot().ty());
        // SAFETY: by the contract `type` points to room for a number.
        unsafe { write(r#type, ty, "type") }
    })
}

/// Length of the vector.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_len(vector: *const SparringVector, len: *mut u64) -> SparringStatus {
    ffi!({
        let found = handle(vector, "vector")?.snapshot().len();
        // SAFETY: by the contract `len` points to room for a number.
        unsafe { write(len, found as u64, "len") }
    })
}

/// Number of entries, stored zeros included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_nvals(vector: *const SparringVector, nvals: *mut u64) -> SparringStatus {
    ffi!({
        let found = handle(vector, "vector")?.snapshot().nvals()?;
        // SAFETY: by the contract `nvals` points to room for a number.
        unsafe { write(nvals, found as u64, "nvals") }
    })
}

/// Copies the entries into your arrays, by increasing index; NULL omits an array. The vector is in host memory: see
/// sparring_vector_to. `indices` and `values` have room for `capacity` elements each: SPARRING_LENGTH if that is less
/// than the number of entries. `values` has the vector's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_entries(
    vector: *const SparringVector,
    indices: *mut u64,
    values: *mut c_void,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let vector = handle(vector, "vector")?.snapshot();
        on_host("vector", &vector)?;
        let (found, data) = vector.extract_tuples_wide()?;
        // SAFETY: by the contract above each array that is not NULL has the length given.
        unsafe {
            output_as(&found, indices, capacity, "indices", |i| i as u64)?;
            output_values(data.slice(), values, capacity)
        }
    })
}

/// The value at index `i`, written to `scalar`, which has the vector's type; an absent entry makes the scalar empty.
/// The vector is in host memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_get(
    vector: *const SparringVector,
    i: u64,
    scalar: *mut SparringScalar,
) -> SparringStatus {
    ffi!({
        let (vector, scalar) = (handle(vector, "vector")?.snapshot(), handle(scalar, "scalar")?);
        on_host("vector", &vector)?;
        scalar.is_of("scalar", vector.ty(), "the vector's")?;
        let at = size(i, "i")?;
        if at >= vector.len() {
            return Err(beyond("i", i, vector.len()));
        }
        scalar.put(vector.get(at)?);
        Ok(())
    })
}

/// Removes all entries; type, length and device are unchanged. `device` is that of the vector.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_clear(
    device: *const SparringDevice,
    vector: *mut SparringVector,
) -> SparringStatus {
    ffi!({ crate::device::clear(device, vector, "vector") })
}

/// A new vector with the values converted to another type: floats are rounded to nearest, integers are exact, bool is
/// value ≠ 0. A value that the type cannot represent is an error that names its index: SPARRING_UNSUPPORTED; with
/// `wrap` not 0 it is converted as in C, except that floats saturate and NaN becomes 0. `*there` receives the handle,
/// NULL on failure; free it with sparring_vector_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_cast(
    vector: *const SparringVector,
    r#type: u32,
    wrap: u32,
    there: *mut *mut SparringVector,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `there` points to room for a handle.
        let out = unsafe { NewHandle::at(there, "there")? };
        let (vector, ty) = (handle(vector, "vector")?.snapshot(), value_type(r#type)?);
        on_host("vector", &vector)?;
        let cast = if wrap == 0 { vector.cast(ty) } else { vector.wrapping_cast(ty) };
        out.give(cast.map_err(|e| Fail::from(e).naming("vector"))?.into())
    })
}

/// A copy of the vector in the memory of `device`, like sparring_matrix_to. `*there` receives the handle of a new
/// vector, NULL on failure; free it with sparring_vector_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_to(
    device: *const SparringDevice,
    vector: *const SparringVector,
    there: *mut *mut SparringVector,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `there` points to room for a handle.
        let out = unsafe { NewHandle::at(there, "there")? };
        let (device, vector) = (handle(device, "device")?, handle(vector, "vector")?.snapshot());
        out.give(device.machine.upload_vector(&vector)?.into())
    })
}

/// The device of the vector: "cpu", "cuda:0" and so on, written to `buffer` of `capacity` bytes as by
/// sparring_plan_explain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_device(
    vector: *const SparringVector,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let name = handle(vector, "vector")?.snapshot().machine();
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&name, buffer, capacity, length) }
    })
}

/// Frees a vector; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_vector_free(vector: *mut SparringVector) -> SparringStatus {
    ffi!({ release(vector, "vector") })
}
