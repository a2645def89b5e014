//! Indexes of rows, for repeated neighbour queries.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use sparring::algebra::Type;
use sparring::runtime::RowIndex;
use sparring::{Error, Result};

use crate::device::SparringDevice;
use crate::distances::{SparringDistanceOptions, checked_product, measure, neighbours_out};
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::matrix::SparringMatrix;
use crate::memory::{NewHandle, fits, size, text, write};
use crate::sparse::Sparse;
use crate::status::SparringStatus;

/// An index of rows, preprocessed for a metric, for repeated neighbour queries. It may be shared between threads.
pub struct SparringIndex {
    index: RowIndex,
}

impl Object for SparringIndex {
    const NAME: &'static str = "SparringIndex";
}

/// The library's error about X and an index, with the argument names of the C API.
fn of_index<T>(found: Result<T>, shape: (usize, usize)) -> Fallible<T> {
    found.map_err(|e| match e {
        Error::Argument { name: "entries", message } => Fail::argument("x", message),
        Error::Shape { op, lhs, .. } => Fail::of_operands(Error::Shape { op, lhs, rhs: shape }, "x", "index"),
        other => Fail::from(other).naming("x"),
    })
}

/// Rejects X of another type than the index.
fn same_values(x: &sparring::runtime::Matrix, index: &RowIndex) -> Fallible {
    if x.ty() == index.ty() {
        return Ok(());
    }
    let message =
        format!("values are {}, those of the index {}", crate::types::named(x.ty()), crate::types::named(index.ty()));
    Err(Fail::of_type("x", message))
}

/// An index of the rows of `y`, of SPARRING_F32 or SPARRING_F64, preprocessed for a metric on the device, so that
/// repeated queries of a few rows avoid the preprocessing. `metric` and `options` as for sparring_pairwise;
/// `exclude_self` is rejected. `y` may be freed or changed afterwards. `*index` receives the handle, NULL on failure;
/// free it with sparring_index_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_index_new(
    device: *const SparringDevice,
    metric: *const c_char,
    y: *const SparringMatrix,
    options: *const SparringDistanceOptions,
    index: *mut *mut SparringIndex,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `index` points to room for a handle.
        let out = unsafe { NewHandle::at(index, "index")? };
        let device = handle(device, "device")?;
        // SAFETY: by the contract above `metric` points to text ended by a zero, and `options` to options or to
        // nothing.
        let (measure, options) = unsafe { measure(metric, options)? };
        let y = handle(y, "y")?.snapshot();
        device.takes("y", &y)?;
        let index = device.machine.index(Arc::new(measure), &y, options).map_err(|e| match e {
            Error::Argument { name: "entries", message } => Fail::argument("y", message),
            Error::Argument { name: "exclude_self", message } => Fail::argument("options.exclude_self", message),
            Error::Unsupported { .. } if !matches!(y.ty(), Type::F32 | Type::F64) => Fail::of_type("y", e.to_string()),
            other => Fail::from(other).naming("y"),
        })?;
        out.give(SparringIndex { index })
    })
}

/// The `k` nearest rows of the index for each of the n rows of `x`, like sparring_knn: `found`, `ids`, `distances`,
/// `len`, `buffer`, `capacity` and `length` as there. `device` is the one of sparring_index_new; `x` has the type of
/// the index.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_index_knn(
    device: *const SparringDevice,
    index: *const SparringIndex,
    k: u64,
    x: *const SparringMatrix,
    ids: *mut u32,
    distances: *mut c_void,
    len: u64,
    found: *mut u64,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `found` points to room for a number.
        unsafe { write(found, 0, "found")? };
        let (device, index) = (handle(device, "device")?, handle(index, "index")?);
        let x = handle(x, "x")?.snapshot();
        device.takes("x", &x)?;
        same_values(&x, &index.index)?;
        let (k, shape) = (size(k, "k")?, index.index.shape());
        let expected = checked_product("ids, distances", x.shape().0, k.min(shape.0))?;
        for (wanted, name) in [(!ids.is_null(), "ids"), (!distances.is_null(), "distances")] {
            if wanted {
                fits(expected, len, name)?;
            }
        }
        let near = of_index(device.machine.knn_of_index(&index.index, &x, k), shape)?;
        // SAFETY: by the contract above both arrays, if not NULL, have `len` elements, those of distances of the
        // matrices' type; `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number, as
        // `found` does.
        unsafe { neighbours_out(&near, ids, distances, len, found, buffer, capacity, length) }
    })
}

/// The rows of the index within distance `radius` of each row of `x`, like sparring_radius. `*within` receives the
/// handle of a new matrix, NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_index_radius(
    device: *const SparringDevice,
    index: *const SparringIndex,
    radius: f64,
    x: *const SparringMatrix,
    within: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `within` points to room for a handle.
        let out = unsafe { NewHandle::at(within, "within")? };
        let (device, index) = (handle(device, "device")?, handle(index, "index")?);
        let x = handle(x, "x")?.snapshot();
        device.takes("x", &x)?;
        same_values(&x, &index.index)?;
        let within = of_index(device.machine.radius_of_index(&index.index, &x, radius), index.index.shape())?;
        out.give(if x.is_on_host() { within.download()? } else { within }.into())
    })
}

/// Rows and columns of an index, and the SparringType of its values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_index_shape(
    index: *const SparringIndex,
    nrows: *mut u64,
    ncols: *mut u64,
    ty: *mut u32,
) -> SparringStatus {
    ffi!({
        let index = handle(index, "index")?;
        let (rows, columns) = index.index.shape();
        // SAFETY: by the contract above all three point to room for a number.
        unsafe {
            write(nrows, rows as u64, "nrows")?;
            write(ncols, columns as u64, "ncols")?;
            write(ty, crate::types::code(index.index.ty()), "ty")
        }
    })
}

/// Writes an index to a file, readable by any device and any later version: its rows, metric and options, with a
/// checksum. Preprocessing is repeated by sparring_index_load.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_index_save(index: *const SparringIndex, path: *const c_char) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract `path` points to text ended by a zero.
        let path = unsafe { text(path, "path")? };
        Ok(handle(index, "index")?.index.save(path)?)
    })
}

/// Reads an index written by sparring_index_save, onto a device. A truncated, corrupted or unrelated file is
/// SPARRING_ARGUMENT. `*index` receives the handle, NULL on failure; free it with sparring_index_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_index_load(
    device: *const SparringDevice,
    path: *const c_char,
    index: *mut *mut SparringIndex,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `index` points to room for a handle, and `path` to text ended by a zero.
        let (out, path) = unsafe { (NewHandle::at(index, "index")?, text(path, "path")?) };
        let index = handle(device, "device")?.machine.load_index(path).map_err(|e| Fail::from(e).naming("path"))?;
        out.give(SparringIndex { index })
    })
}

/// Frees a SparringIndex; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_index_free(index: *mut SparringIndex) -> SparringStatus {
    ffi!({ release(index, "index") })
}
