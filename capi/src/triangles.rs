//! Triangle counting.

use std::ffi::c_char;

use sparring::Error;
use sparring::graph::TriangleMethod;

use crate::device::SparringDevice;
use crate::guard::Fail;
use crate::handle::handle;
use crate::matrix::SparringMatrix;
use crate::memory::{NewHandle, choice, room, write, write_text};
use crate::sparse::Sparse;
use crate::status::SparringStatus;

/// Methods of counting triangles.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringTriangleMethod {
    /// Chosen by the graph.
    SPARRING_TRIANGLES_AUTO = 0,
    /// Masked product over plus-pair of rows ordered by degree.
    SPARRING_TRIANGLES_MASKED = 1,
    /// Rows compressed to bits and intersected.
    SPARRING_TRIANGLES_COMPRESSED = 2,
    /// Intersection of rows without relabelling.
    SPARRING_TRIANGLES_DIRECT = 3,
}

use SparringTriangleMethod::*;

/// Counts the triangles of the simple undirected graph of the square matrix `a`, ignoring direction, self-loops,
/// duplicate edges and values. A GPU has one method, for SPARRING_TRIANGLES_AUTO and SPARRING_TRIANGLES_COMPRESSED.
/// `method` is a SparringTriangleMethod; `*count` receives the number of triangles. The algorithm, and why it was
/// chosen, is written to `buffer` as by sparring_plan_explain (`capacity` 0 and `length` NULL to omit it).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_triangles(
    device: *const SparringDevice,
    a: *const SparringMatrix,
    method: u32,
    count: *mut u64,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `count` points to room for a number.
        unsafe { write(count, 0, "count")? };
        let (device, a) = (handle(device, "device")?, handle(a, "a")?.snapshot());
        let methods = [
            (SPARRING_TRIANGLES_AUTO as u32, TriangleMethod::Auto),
            (SPARRING_TRIANGLES_MASKED as u32, TriangleMethod::Masked),
            (SPARRING_TRIANGLES_COMPRESSED as u32, TriangleMethod::Compressed),
            (SPARRING_TRIANGLES_DIRECT as u32, TriangleMethod::Direct),
        ];
        let method = choice("method", method, &methods)?;
        device.takes("a", &a)?;
        let found = device.machine.triangles(&a, method).map_err(|e| {
            let argument = if matches!(e, Error::Unsupported { .. }) { "method" } else { "a" };
            Fail::from(e).naming(argument)
        })?;
        // SAFETY: as above; `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe {
            write_text(&found.method, buffer, capacity, length)?;
            write(count, found.count, "count")
        }
    })
}

/// Counts the triangles of each vertex, for the graph of sparring_triangles. `counts` has room for `capacity` numbers
/// and receives one per row of `a`: SPARRING_LENGTH before any computation if it is too short. Not supported on a GPU:
/// SPARRING_UNSUPPORTED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_triangles_per_vertex(
    device: *const SparringDevice,
    a: *const SparringMatrix,
    counts: *mut u64,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let (device, a) = (handle(device, "device")?, handle(a, "a")?.snapshot());
        // SAFETY: by the contract above `counts` has room for `capacity` numbers, of which zeros are values.
        let counts = unsafe { room(counts, a.shape().0, capacity, "counts")? };
        device.takes("a", &a)?;
        let found = device.machine.triangles_per_vertex(&a).map_err(|e| Fail::from(e).naming("a"))?;
        counts.copy_from_slice(&found);
        Ok(())
    })
}

/// Counts the triangles of each edge, for the graph of sparring_triangles: `*counts` receives the handle of a new
/// symmetric matrix of SPARRING_U64 with an entry per edge in both directions, 0 for an edge in no triangle; NULL on
/// failure. Free it with sparring_matrix_free. Not supported on a GPU: SPARRING_UNSUPPORTED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_triangles_per_edge(
    device: *const SparringDevice,
    a: *const SparringMatrix,
    counts: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `counts` points to room for a handle.
        let out = unsafe { NewHandle::at(counts, "counts")? };
        let (device, a) = (handle(device, "device")?, handle(a, "a")?.snapshot());
        device.takes("a", &a)?;
        let found = device.machine.triangles_per_edge(&a).map_err(|e| Fail::from(e).naming("a"))?;
        out.give(found.into())
    })
}
