//! Extract, assign and scatter.

use sparring::runtime::{IndexList, Op};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix::SparringMatrix;
use crate::memory::{copied, input, size};
use crate::operation::{SparringDescriptor, Write};
use crate::operators::SparringBinaryOp;
use crate::scalar::SparringScalar;
use crate::sparse::{Sparse, operand};
use crate::status::SparringStatus;
use crate::vector::SparringVector;

/// The rows, columns or indices of an operation, in order, possibly repeated: `list[0]` to `list[len - 1]`, or, if
/// `list` is NULL, the `len` indices start, start + step, and so on. NULL instead of a SparringIndices means all
/// indices. `&(SparringIndices){.list = rows, .len = 3}`, `&(SparringIndices){.start = 10, .step = 1, .len = 5}`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SparringIndices {
    /// An array of `len` indices, or NULL.
    pub list: *const u64,
    /// Number of indices.
    pub len: u64,
    /// The first index, if there is no list.
    pub start: u64,
    /// The increment between indices, if there is no list; may be negative.
    pub step: i64,
}

/// An index list from C; NULL means all.
/// # Safety
/// `p` is NULL, or points to indices whose list is NULL or has `len` elements; neither is written during the call.
unsafe fn index_list(p: *const SparringIndices, name: &'static str) -> Fallible<IndexList> {
    if p.is_null() {
        return Ok(IndexList::all());
    }
    // SAFETY: the caller's promise.
    let indices = unsafe { input(p, 1, name)?[0] };
    let len = size(indices.len, name)?;
    if indices.list.is_null() {
        let step = isize::try_from(indices.step).map_err(|e| Fail::argument(name, e.to_string()))?;
        return Ok(IndexList::strided(size(indices.start, name)?, step, len));
    }
    // SAFETY: the caller's promise.
    let list = unsafe { input(indices.list, len, name)? };
    // An index beyond usize is beyond any dimension.
    Ok(copied(list, name, |i| usize::try_from(i).unwrap_or(usize::MAX))?.into())
}

/// c⟨mask⟩ ⊙= A(rows, cols): c(p, q) = A(rows[p], cols[q]). c has as many rows and columns as the two lists, in which
/// indices may repeat; NULL means all. An index out of range: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor
/// see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_matrix_extract(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    a: *const SparringMatrix,
    rows: *const SparringIndices,
    cols: *const SparringIndices,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above they are NULL or point to indices.
        let (rows, cols) = unsafe { (index_list(rows, "rows")?, index_list(cols, "cols")?) };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(Op::Extract(&rows, &cols), Some(operand(a, "a")?), None)
        }
    })
}

/// c⟨mask⟩ ⊙= a(indices): c(p) = a(indices[p]). c is as long as the list, in which indices may repeat; NULL means all.
/// An index out of range: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_extract(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    a: *const SparringVector,
    indices: *const SparringIndices,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above they are NULL or point to indices.
        let indices = unsafe { index_list(indices, "indices")? };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(
                Op::Extract(&indices, &IndexList::all()),
                Some(operand(a, "a")?),
                None,
            )
        }
    })
}

/// c⟨mask⟩ ⊙= A(rows, j), a column of a matrix: c(p) = A(rows[p], j). c is as long as the list; NULL means all rows. An
/// index out of range: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_vector_extract_column(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    a: *const SparringMatrix,
    rows: *const SparringIndices,
    j: u64,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above they are NULL or point to indices.
        let rows = unsafe { index_list(rows, "rows")? };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(
                Op::ExtractColumn(&rows, size(j, "j")?),
                Some(operand(a, "a")?),
                None,
            )
        }
    })
}

/// c⟨mask⟩ ⊙= A(i, cols), a row of a matrix: c(p) = A(i, cols[p]). c is as long as the list; NULL means all columns. An
/// index out of range: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_vector_extract_row(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    a: *const SparringMatrix,
    i: u64,
    cols: *const SparringIndices,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above they are NULL or point to indices.
        let cols = unsafe { index_list(cols, "cols")? };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(
                Op::ExtractRow(size(i, "i")?, &cols),
                Some(operand(a, "a")?),
                None,
            )
        }
    })
}

/// c(rows, cols)⟨mask⟩ ⊙= A: c(rows[p], cols[q]) becomes A(p, q), and loses its entry if A has none; with accum,
/// entries are combined. `a` has as many rows and columns as the two lists, in which no index repeats
/// (SPARRING_DUPLICATE); NULL means all. The mask has the shape of c, and descriptor.replace applies to all of c
/// (GrB_assign). An index out of range: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_matrix_assign(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    a: *const SparringMatrix,
    rows: *const SparringIndices,
    cols: *const SparringIndices,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above they are NULL or point to indices.
        let (rows, cols) = unsafe { (index_list(rows, "rows")?, index_list(cols, "cols")?) };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(Op::Assign(&rows, &cols), Some(operand(a, "a")?), None)
        }
    })
}

/// c(indices)⟨mask⟩ ⊙= a: c(indices[p]) becomes a(p), with the rules of sparring_matrix_assign. For c, mask, accum and
/// descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_assign(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    a: *const SparringVector,
    indices: *const SparringIndices,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above they are NULL or point to indices.
        let indices = unsafe { index_list(indices, "indices")? };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(
                Op::Assign(&indices, &IndexList::all()),
                Some(operand(a, "a")?),
                None,
            )
        }
    })
}

/// c(rows, j)⟨mask⟩ ⊙= a: the column c(rows[p], j) of a matrix becomes the vector. The mask is a vector with the number
/// of rows of c; it and descriptor.replace apply only to this column. An index out of range: SPARRING_INDEX_RANGE. For
/// c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_matrix_assign_column(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    a: *const SparringVector,
    rows: *const SparringIndices,
    j: u64,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above they are NULL or point to indices.
        let rows = unsafe { index_list(rows, "rows")? };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(
                Op::AssignColumn(&rows, size(j, "j")?),
                Some(operand(a, "a")?),
                None,
            )
        }
    })
}

/// c(i, cols)⟨mask⟩ ⊙= a: the row c(i, cols[p]) of a matrix becomes the vector. The mask is a vector with the number of
/// columns of c; it and descriptor.replace apply only to this row. An index out of range: SPARRING_INDEX_RANGE. For c,
/// mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_matrix_assign_row(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    a: *const SparringVector,
    i: u64,
    cols: *const SparringIndices,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above they are NULL or point to indices.
        let cols = unsafe { index_list(cols, "cols")? };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(
                Op::AssignRow(size(i, "i")?, &cols),
                Some(operand(a, "a")?),
                None,
            )
        }
    })
}

/// c(rows, cols)⟨mask⟩ ⊙= scalar: writes an entry with this value at every selected position that the mask allows; NULL
/// means all rows, all columns. The scalar has the type of c and is not empty: SPARRING_NO_VALUE otherwise. An index
/// out of range: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_matrix_assign_scalar(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    scalar: *const SparringScalar,
    rows: *const SparringIndices,
    cols: *const SparringIndices,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let s = handle(scalar, "scalar")?.value("scalar")?;
        // SAFETY: by the contract above they are NULL or point to indices.
        let (rows, cols) = unsafe { (index_list(rows, "rows")?, index_list(cols, "cols")?) };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::AssignScalar(&s, &rows, &cols), None, None) }
    })
}

/// c(indices)⟨mask⟩ ⊙= scalar: writes an entry with this value at every selected index that the mask allows; NULL means
/// all. The scalar has the type of c and is not empty: SPARRING_NO_VALUE otherwise. An index out of range:
/// SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_assign_scalar(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    scalar: *const SparringScalar,
    indices: *const SparringIndices,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let s = handle(scalar, "scalar")?.value("scalar")?;
        // SAFETY: by the contract above they are NULL or point to indices.
        let indices = unsafe { index_list(indices, "indices")? };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(
                Op::AssignScalar(&s, &indices, &IndexList::all()),
                None,
                None,
            )
        }
    })
}

/// c⟨mask⟩ ⊙= t with t(i) = a(p) ∘ a(q) ∘ … over all p, q, … with index i: an assign with duplicate indices, as in
/// f(f(i)) = min. `a` is as long as the list; the operator takes and returns its type. An index out of range:
/// SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_vector_scatter(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    op: *const SparringBinaryOp,
    a: *const SparringVector,
    indices: *const SparringIndices,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let (op, len) = (handle(op, "op")?, handle(c, "c")?.snapshot().len());
        // SAFETY: by the contract above they are NULL or point to indices.
        let indices = unsafe { index_list(indices, "indices")? };
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(
                Op::Scatter(&indices, len, &op.op),
                Some(operand(a, "a")?),
                None,
            )
        }
    })
}
