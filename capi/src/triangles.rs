//! Triangles of a graph.

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

/// How triangles are counted.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringTriangleMethod {
    /// Chosen from the graph.
    SPARRING_TRIANGLES_AUTO = 0,
    /// Masked product over plus-pair of rows ordered by degree.
    SPARRING_TRIANGLES_MASKED = 1,
    /// Rows compressed to bits and intersected.
    SPARRING_TRIANGLES_COMPRESSED = 2,
    /// Rows as they stand, without new names.
    SPARRING_TRIANGLES_DIRECT = 3,
}

use SparringTriangleMethod::*;

/// Counts the triangles of the simple undirected graph under the square matrix `a`: direction, loops, repeated
/// edges and values do not matter.
/// A GPU has one method, for SPARRING_TRIANGLES_AUTO and SPARRING_TRIANGLES_COMPRESSED.
/// `method` is a SparringTriangleMethod; `*count` gets the number of triangles. What ran, and why, goes to
/// `buffer` as for sparring_plan_explain (`capacity` 0 and `length` NULL: not wanted).
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

/// Counts for each vertex the triangles that it is in, of the graph that sparring_triangles reads. `counts` has room
/// for `capacity` numbers and gets one for each row of `a`: if there is room for fewer, SPARRING_LENGTH before anything
/// is computed. A GPU refuses with SPARRING_UNSUPPORTED.
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

/// Counts for each edge the triangles that it is in, of the graph that sparring_triangles reads: `*counts` gets the
/// handle of a new matrix of SPARRING_U64, symmetric, with an entry for each edge in both directions, 0 where it is in
/// none; NULL on failure. Free it with sparring_matrix_free. A GPU refuses with SPARRING_UNSUPPORTED.
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
