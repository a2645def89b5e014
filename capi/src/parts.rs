//! Matrices and vectors of parts: blocks, diagonals, aggregates of rows, other sizes, single entries, entries that
//! repeat.

use std::ffi::c_void;

use sparring::Error;
use sparring::algebra::Type;
use sparring::par::Threads;
use sparring::runtime::{Aggregate, BinaryOp, Matrix, Op, Scalar, Vector};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix::{SparringMatrix, of_arrays, place};
use crate::memory::{NewHandle, choice, copied, inout, input, size};
use crate::operation::{SparringDescriptor, Write, accumulates};
use crate::operators::SparringBinaryOp;
use crate::scalar::SparringScalar;
use crate::sparse::{Sparse, on_host, operand};
use crate::status::SparringStatus::{self, SPARRING_DUPLICATE, SPARRING_INDEX_RANGE};
use crate::types::{input_values, value_type};
use crate::vector::{SparringVector, beyond};

/// A number that tells of the entries of a row.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringAggregate {
    /// How many there are, of SPARRING_I64.
    SPARRING_COUNT = 1,
    /// Their sum over their number, of SPARRING_F64.
    SPARRING_MEAN = 2,
    /// The column of the least one, the first of equal ones, of SPARRING_I64. NaN is no least one.
    SPARRING_ARGMIN = 3,
    /// The column of the greatest one, the first of equal ones, of SPARRING_I64. NaN is no greatest one.
    SPARRING_ARGMAX = 4,
}

use SparringAggregate::*;

/// c⟨mask⟩ ⊙= A ∘ B where either has an entry; `alpha` stands for an absent one of `a`, `beta` for one of `b`. `a` and
/// alpha, `b` and beta are of the types that the operator takes, c of that which it gives (GxB_eWiseUnion). For c,
/// mask, accum and descriptor see SparringDescriptor.
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

/// c⟨mask⟩ ⊙= A ∘ B where either has an entry; `alpha` stands for an absent one of `a`, `beta` for one of `b`. `a` and
/// alpha, `b` and beta are of the types that the operator takes, c of that which it gives (GxB_eWiseUnion). For c,
/// mask, accum and descriptor see SparringDescriptor.
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

/// The value of a scalar of the type that an operator takes.
fn of_type(p: *const SparringScalar, name: &'static str, ty: Type) -> Fallible<Scalar> {
    let scalar = handle(p, name)?;
    scalar.is_of(name, ty, "the operand's")?;
    scalar.value(name)
}

/// c⟨mask⟩ ⊙= a number for each row that has entries, of each column with descriptor.transpose_a: `aggregate` is a
/// SparringAggregate, which says c's type. `a` is m×n, c of length m. For c, mask, accum and descriptor see
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

/// c⟨mask⟩ ⊙= the square matrix whose diagonal `k` is a vector: 0 is the main one, those above it are positive. c has
/// as many rows and columns as `a` is long, and |k| more. For c, mask, accum and descriptor see SparringDescriptor.
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

/// c⟨mask⟩ ⊙= the diagonal `k` of a matrix: c(p) = A(p, p + k), or A(p - k, p) for a negative k. c is as long as the
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

/// The matrix of blocks: those at `blocks[i * ncols + j]` are row i, column j of `nrows` rows and `ncols` columns of
/// blocks, all of one type. Blocks of one row have the same number of rows, those of one column the same number of
/// columns. `*matrix` gets the handle of a new matrix in the memory of the device, NULL on failure; free it with
/// sparring_matrix_free.
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
        let count = nrows.checked_mul(ncols).ok_or_else(|| Fail::argument("nrows", "so many blocks".into()))?;
        // SAFETY: by the contract above there are as many.
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

/// The blocks of a matrix: `nrows` rows of blocks of row_lens[i] rows, `ncols` columns of blocks of col_lens[j]
/// columns, which add up to its shape. `blocks` has room for nrows * ncols handles, row after row; all are NULL on
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
        let count = nrows.checked_mul(ncols).ok_or_else(|| Fail::argument("nrows", "so many blocks".into()))?;
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

/// Gives the matrix another shape: entries outside of it are removed, and what is new has none. `device` is where the
/// matrix is. Pointers from sparring_matrix_borrow end here.
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

/// Gives the vector another length: entries beyond it are removed, and new indices have none. `device` is where the
/// vector is.
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

/// Gives index `i` of a vector, in the processor's memory, the value of the scalar, which is of its type; an empty one
/// removes the entry. Many entries are given faster at once, by sparring_vector_assign.
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

/// Gives the place (i, j) of a matrix, in the processor's memory, the value of the scalar, which is of its type; an
/// empty one removes the entry. Entries wait beside the rows until the matrix is read, and are merged once then: n of
/// them cost O(n log n). Pointers from sparring_matrix_borrow end here.
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
        let (i, j) = place(i, j, slot.shape())?;
        match value {
            Some(value) => slot.set(i, j, value)?,
            None => slot.remove(i, j)?,
        }
        Ok(())
    })
}

/// The nrows × ncols matrix of entries (rows[p], cols[p]) = values[p], as sparring_matrix_from_coo, those at the same
/// place joined by the operator `dup` in the order given, from the left; without one, NULL, two at one place are
/// SPARRING_DUPLICATE. `dup` takes and gives the type. `*matrix` gets the handle, NULL on failure; free it with
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

/// The vector of entries v(indices[p]) = values[p], as sparring_vector_from_entries, those at the same index joined by
/// the operator `dup` in the order given, from the left; without one, NULL, two at one index are SPARRING_DUPLICATE.
/// `dup` takes and gives the type. `*vector` gets the handle, NULL on failure; free it with sparring_vector_free.
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
        // A length that no vector has is refused as such.
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

/// The operator that joins entries at one place; none for NULL.
fn joins(dup: *const SparringBinaryOp, ty: Type) -> Fallible<Option<BinaryOp>> {
    if dup.is_null() {
        return Ok(None);
    }
    let dup = handle(dup, "dup")?;
    accumulates(&dup.op, "dup", "type", ty)?;
    Ok(Some(dup.op.clone()))
}
