//! Blocks, diagonals, row aggregates, resizing, single entries, and building with duplicates.

use std::ffi::c_void;

use sparring::Error;
use sparring::algebra::Type;
use sparring::par::Threads;
use sparring::runtime::{Aggregate, BinaryOp, Matrix, Op, Scalar, Vector};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix::{SparringMatrix, of_arrays, position};
use crate::memory::{NewHandle, choice, copied, inout, input, size};
use crate::operation::{SparringDescriptor, Write, accumulates};
use crate::operators::SparringBinaryOp;
use crate::scalar::SparringScalar;
use crate::sparse::{Sparse, on_host, operand};
use crate::status::SparringStatus::{self, SPARRING_DUPLICATE, SPARRING_INDEX_RANGE};
use crate::types::{input_values, value_type};
use crate::vector::{SparringVector, beyond};

/// An aggregate of the entries of a row.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringAggregate {
    /// Their number, of SPARRING_I64.
    SPARRING_COUNT = 1,
    /// Their mean, of SPARRING_F64.
    SPARRING_MEAN = 2,
    /// The column of the smallest, the first in case of ties, of SPARRING_I64. NaN is never the smallest.
    SPARRING_ARGMIN = 3,
    /// The column of the largest, the first in case of ties, of SPARRING_I64. NaN is never the largest.
    SPARRING_ARGMAX = 4,
}

use SparringAggregate::*;

/// c⟨mask⟩ ⊙= A ∘ B on the union of the patterns; `alpha` replaces absent entries of `a`, `beta` those of `b`. `a` and
/// alpha, `b` and beta have the operator's operand types, c its result type (GxB_eWiseUnion). For c, mask, accum and
/// descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_matrix_ewise_union(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    op: *const SparringBinaryOp,
    a: *const SparringMatrix,
    alpha: *const SparringScalar,
    b: *const SparringMatrix,
    beta: *const SparringScalar,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = handle(op, "op")?;
        let (alpha, beta) = (of_type(alpha, "alpha", op.op.takes().0)?, of_type(beta, "beta", op.op.takes().1)?);
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(
                Op::EwiseUnion(&op.op, &alpha, &beta),
                Some(operand(a, "a")?),
                Some(operand(b, "b")?),
            )
        }
    })
}

/// c⟨mask⟩ ⊙= A ∘ B on the union of the patterns; `alpha` replaces absent entries of `a`, `beta` those of `b`. `a` and
/// alpha, `b` and beta have the operator's operand types, c its result type (GxB_eWiseUnion). For c, mask, accum and
/// descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_vector_ewise_union(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    op: *const SparringBinaryOp,
    a: *const SparringVector,
    alpha: *const SparringScalar,
    b: *const SparringVector,
    beta: *const SparringScalar,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = handle(op, "op")?;
        let (alpha, beta) = (of_type(alpha, "alpha", op.op.takes().0)?, of_type(beta, "beta", op.op.takes().1)?);
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(
                Op::EwiseUnion(&op.op, &alpha, &beta),
                Some(operand(a, "a")?),
                Some(operand(b, "b")?),
            )
        }
    })
}

/// The value of a scalar of the given type.
fn of_type(p: *const SparringScalar, name: &'static str, ty: Type) -> Fallible<Scalar> {
    let scalar = handle(p, name)?;
    scalar.is_of(name, ty, "the operand's")?;
    scalar.value(name)
}

/// c⟨mask⟩ ⊙= an aggregate of each nonempty row, of each column with descriptor.transpose_a: `aggregate` is a
/// SparringAggregate, which determines the type of c. `a` is m×n, c of length m. For c, mask, accum and descriptor see
/// SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_aggregate(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    aggregate: u32,
    a: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let known = [
            (SPARRING_COUNT as u32, Aggregate::Count),
            (SPARRING_MEAN as u32, Aggregate::Mean),
            (SPARRING_ARGMIN as u32, Aggregate::ArgMin),
            (SPARRING_ARGMAX as u32, Aggregate::ArgMax),
        ];
        let aggregate = choice("aggregate", aggregate, &known)?;
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe {
            Write { device, c, mask, accum, descriptor }.run(Op::Aggregate(aggregate), Some(operand(a, "a")?), None)
        }
    })
}

/// c⟨mask⟩ ⊙= the square matrix with the vector on diagonal `k`: 0 is the main diagonal, positive numbers are above it.
/// c has length(a) + |k| rows and columns. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_diag(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    a: *const SparringVector,
    k: i64,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Diag(k), Some(operand(a, "a")?), None) }
    })
}

/// c⟨mask⟩ ⊙= diagonal `k` of a matrix: c(p) = A(p, p + k), or A(p - k, p) for a negative k. c is as long as the
/// diagonal. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_diagonal(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    a: *const SparringMatrix,
    k: i64,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Diagonal(k), Some(operand(a, "a")?), None) }
    })
}

/// A block matrix: `blocks[i * ncols + j]` is the block in row i and column j of `nrows` × `ncols` blocks, all of the
/// same type. Blocks in a row have the same number of rows, those in a column the same number of columns. `*matrix`
/// receives the handle of a new matrix in the memory of the device, NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_concat(
    device: *const SparringDevice,
    blocks: *const *const SparringMatrix,
    nrows: u64,
    ncols: u64,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle.
        let out = unsafe { NewHandle::at(matrix, "matrix")? };
        let device = handle(device, "device")?;
        let (nrows, ncols) = (size(nrows, "nrows")?, size(ncols, "ncols")?);
        let count = nrows.checked_mul(ncols).ok_or_else(|| Fail::argument("nrows", "too many blocks".into()))?;
        // SAFETY: by the contract above there are `count` handles.
        let blocks = unsafe { input(blocks, count, "blocks")? };
        let blocks: Vec<Matrix> = blocks
            .iter()
            .map(|p| {
                let a = handle(*p, "blocks")?.snapshot();
                device.takes("blocks", &a).map(|()| a)
            })
            .collect::<Fallible<_>>()?;
        let rows: Vec<Vec<&Matrix>> = blocks.chunks(ncols.max(1)).map(|row| row.iter().collect()).collect();
        let rows: Vec<&[&Matrix]> = rows.iter().map(Vec::as_slice).collect();
        out.give(device.machine.concat(&rows).map_err(|e| Fail::from(e).naming("blocks"))?.into())
    })
}

/// The blocks of a matrix: `nrows` rows of blocks with row_lens[i] rows, `ncols` columns of blocks with col_lens[j]
/// columns, which add up to its shape. `blocks` has room for nrows * ncols handles in row-major order; all are NULL on
/// failure. Free each with sparring_matrix_free.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_matrix_split(
    device: *const SparringDevice,
    matrix: *const SparringMatrix,
    row_lens: *const u64,
    nrows: u64,
    col_lens: *const u64,
    ncols: u64,
    blocks: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        let (nrows, ncols) = (size(nrows, "nrows")?, size(ncols, "ncols")?);
        let count = nrows.checked_mul(ncols).ok_or_else(|| Fail::argument("nrows", "too many blocks".into()))?;
        // SAFETY: by the contract above there is room for as many; every bit pattern is a pointer.
        let blocks = unsafe { inout(blocks, count, "blocks")? };
        blocks.fill(std::ptr::null_mut());
        let (device, matrix) = (handle(device, "device")?, handle(matrix, "matrix")?.snapshot());
        device.takes("matrix", &matrix)?;
        // SAFETY: by the contract above the arrays have these lengths.
        let (rows, cols) = unsafe { (input(row_lens, nrows, "row_lens")?, input(col_lens, ncols, "col_lens")?) };
        let lens = |lens: &[u64], name| copied(lens, name, |n| usize::try_from(n).unwrap_or(usize::MAX));
        let made = device.machine.split(&matrix, &lens(rows, "row_lens")?, &lens(cols, "col_lens")?);
        let made = made.map_err(|e| match e {
            Error::Argument { name: "nrows", message } => Fail::argument("row_lens", message),
            Error::Argument { name: "ncols", message } => Fail::argument("col_lens", message),
            e => e.into(),
        })?;
        for (block, made) in blocks.iter_mut().zip(made.into_iter().flatten()) {
            *block = crate::handle::give(SparringMatrix::from(made))?;
        }
        Ok(())
    })
}

/// Changes the shape of the matrix: entries outside are deleted, new positions are empty. `device` is that of the
/// matrix. Invalidates pointers from sparring_matrix_borrow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_resize(
    device: *const SparringDevice,
    matrix: *mut SparringMatrix,
    nrows: u64,
    ncols: u64,
) -> SparringStatus {
    ffi!({
        let (device, matrix) = (handle(device, "device")?, handle(matrix, "matrix")?);
        let (nrows, ncols) = (size(nrows, "nrows")?, size(ncols, "ncols")?);
        let mut slot = matrix.lock();
        device.takes("matrix", &*slot)?;
        let made = device.machine.resize(&slot, nrows, ncols).map_err(|e| of_arrays(e, "rows", "cols"))?;
        *slot = if slot.is_on_host() { made.download()? } else { made };
        Ok(())
    })
}

/// Changes the length of the vector: entries beyond it are deleted, new indices are empty. `device` is that of the
/// vector.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_resize(
    device: *const SparringDevice,
    vector: *mut SparringVector,
    len: u64,
) -> SparringStatus {
    ffi!({
        let (device, vector) = (handle(device, "device")?, handle(vector, "vector")?);
        let len = size(len, "len")?;
        let mut slot = vector.lock();
        device.takes("vector", &*slot)?;
        let made = device.machine.resize_vector(&slot, len).map_err(|e| Fail::from(e).naming("len"))?;
        *slot = if slot.is_on_host() { made.download()? } else { made };
        Ok(())
    })
}

/// Sets index `i` of a vector in host memory to the value of the scalar, which has its type; an empty scalar removes
/// the entry. To set many entries, sparring_vector_assign is faster.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_set(
    vector: *mut SparringVector,
    i: u64,
    scalar: *const SparringScalar,
) -> SparringStatus {
    ffi!({
        let (vector, scalar) = (handle(vector, "vector")?, handle(scalar, "scalar")?);
        let value = scalar.lock().clone();
        let (at, mut slot) = (size(i, "i")?, vector.lock());
        on_host("vector", &*slot)?;
        scalar.is_of("scalar", slot.ty(), "the vector's")?;
        if at >= slot.len() {
            return Err(beyond("i", i, slot.len()));
        }
        match value {
            Some(value) => slot.set(at, value)?,
            None => slot.remove(at)?,
        }
        Ok(())
    })
}

/// Sets entry (i, j) of a matrix in host memory to the value of the scalar, which has its type; an empty scalar removes
/// the entry. Updates stay pending until the matrix is read, and are then merged together: n of them cost O(n log n).
/// Invalidates pointers from sparring_matrix_borrow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_set(
    matrix: *mut SparringMatrix,
    i: u64,
    j: u64,
    scalar: *const SparringScalar,
) -> SparringStatus {
    ffi!({
        let (matrix, scalar) = (handle(matrix, "matrix")?, handle(scalar, "scalar")?);
        let value = scalar.lock().clone();
        let mut slot = matrix.lock();
        on_host("matrix", &*slot)?;
        scalar.is_of("scalar", slot.ty(), "the matrix'")?;
        let (i, j) = position(i, j, slot.shape())?;
        match value {
            Some(value) => slot.set(i, j, value)?,
            None => slot.remove(i, j)?,
        }
        Ok(())
    })
}

/// The nrows × ncols matrix of entries (rows[p], cols[p]) = values[p], as in sparring_matrix_from_coo, with duplicates
/// combined by the operator `dup` from left to right in the given order; if `dup` is NULL, duplicates are
/// SPARRING_DUPLICATE. `dup` takes and returns the type. `*matrix` receives the handle, NULL on failure; free it with
/// sparring_matrix_free.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_matrix_build(
    r#type: u32,
    nrows: u64,
    ncols: u64,
    rows: *const u32,
    cols: *const u32,
    values: *const c_void,
    len: u64,
    dup: *const SparringBinaryOp,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle.
        let out = unsafe { NewHandle::at(matrix, "matrix")? };
        let (shape, len) = ((size(nrows, "nrows")?, size(ncols, "ncols")?), size(len, "len")?);
        let ty = value_type(r#type)?;
        let dup = joins(dup, ty)?;
        // SAFETY: by the contract above the arrays have this length, and every bit pattern is a number.
        let (rows, cols) = unsafe { (input(rows, len, "rows")?, input(cols, len, "cols")?) };
        let (rows, cols) = (copied(rows, "row indices", |i| i)?, copied(cols, "column indices", |j| j)?);
        // SAFETY: as above, `values` has len values of the type.
        let values = unsafe { input_values(ty, values, len)? };
        let made = Matrix::build(&Threads::caller(), shape, (rows, cols, values), dup.as_ref());
        out.give(made.map_err(|e| of_arrays(e, "rows", "cols"))?.into())
    })
}

/// As sparring_matrix_build, with indices of 64 bits, for up to 2^60 rows and columns. Memory depends on the entries
/// alone if there are more than 2^32 - 1 of either.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_matrix_build_wide(
    r#type: u32,
    nrows: u64,
    ncols: u64,
    rows: *const u64,
    cols: *const u64,
    values: *const c_void,
    len: u64,
    dup: *const SparringBinaryOp,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `matrix` points to room for a handle.
        let out = unsafe { NewHandle::at(matrix, "matrix")? };
        let (shape, len) = ((size(nrows, "nrows")?, size(ncols, "ncols")?), size(len, "len")?);
        let ty = value_type(r#type)?;
        let dup = joins(dup, ty)?;
        // SAFETY: by the contract above the arrays have this length, and every bit pattern is a number.
        let (rows, cols) = unsafe { (input(rows, len, "rows")?, input(cols, len, "cols")?) };
        let index = |i| usize::try_from(i).unwrap_or(usize::MAX);
        let (rows, cols) = (copied(rows, "row indices", index)?, copied(cols, "column indices", index)?);
        // SAFETY: as above, `values` has len values of the type.
        let values = unsafe { input_values(ty, values, len)? };
        let made = Matrix::build_wide(&Threads::caller(), shape, (rows, cols, values), dup.as_ref());
        out.give(made.map_err(|e| of_arrays(e, "rows", "cols"))?.into())
    })
}

/// The vector of entries v(indices[p]) = values[p], as in sparring_vector_from_entries, with duplicates combined by the
/// operator `dup` from left to right in the given order; if `dup` is NULL, duplicates are SPARRING_DUPLICATE. `dup`
/// takes and returns the type. `*vector` receives the handle, NULL on failure; free it with sparring_vector_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_build(
    r#type: u32,
    len: u64,
    indices: *const u64,
    values: *const c_void,
    nvals: u64,
    dup: *const SparringBinaryOp,
    vector: *mut *mut SparringVector,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `vector` points to room for a handle.
        let out = unsafe { NewHandle::at(vector, "vector")? };
        let (len, nvals, ty) = (size(len, "len")?, size(nvals, "nvals")?, value_type(r#type)?);
        let dup = joins(dup, ty)?;
        // SAFETY: by the contract above both arrays have this length, and every bit pattern is a number.
        let (indices, values) = unsafe { (input(indices, nvals, "indices")?, input_values(ty, values, nvals)?) };
        // An impossible length is reported as such.
        Vector::empty(ty, len).map_err(|e| Fail::from(e).naming("len"))?;
        let indices = copied(indices, "indices", |i| usize::try_from(i).unwrap_or(usize::MAX))?;
        let made = Vector::build(&Threads::caller(), len, (indices, values), dup.as_ref());
        let made = made.map_err(|e| {
            let mut fail = Fail::from(e).naming("indices");
            if fail.status == SparringStatus::SPARRING_ARGUMENT {
                let twice = fail.message.contains("twice");
                fail.status = if twice { SPARRING_DUPLICATE } else { SPARRING_INDEX_RANGE };
            }
            fail
        });
        out.give(made?.into())
    })
}

/// The operator for duplicate entries; `None` for NULL.
fn joins(dup: *const SparringBinaryOp, ty: Type) -> Fallible<Option<BinaryOp>> {
    if dup.is_null() {
        return Ok(None);
    }
    let dup = handle(dup, "dup")?;
    accumulates(&dup.op, "dup", "type", ty)?;
    Ok(Some(dup.op.clone()))
}
