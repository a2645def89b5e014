//! The GraphBLAS operations: each writes into an existing object.

use sparring::runtime::{Op, Pairing};
use sparring::spgemm::Options;

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix::SparringMatrix;
use crate::operation::{SparringDescriptor, Write, reduce};
use crate::operators::{SparringBinaryOp, SparringMonoid, SparringUnaryOp};
use crate::scalar::SparringScalar;
use crate::semirings::SparringSemiring;
use crate::sparse::operand;
use crate::status::SparringStatus;
use crate::vector::SparringVector;

/// A unary operator whose scalar, if any, is set.
fn ready(op: *const SparringUnaryOp) -> Fallible<std::sync::Arc<SparringUnaryOp>> {
    let op = handle(op, "op")?;
    if op.op.takes_scalar().is_some() && !op.bound {
        let message = format!("{} needs a scalar, set it by sparring_unary_op_with", op.op);
        return Err(Fail::argument("op", message));
    }
    Ok(op)
}

/// c⟨mask⟩ ⊙= A ⊕.⊗ B, the product of two matrices over a semiring: c(i, j) = A(i, k) ⊗ B(k, j) ⊕ …, over all k for
/// which both have an entry, in the order of the row of A; c(i, j) is absent if there is no such k. `a` is m×k, `b`
/// k×n, c m×n; `a` and `b` have the semiring's operand types, c its result type. A masked product computes only the
/// allowed entries. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_matrix_mxm(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    ring: *const SparringSemiring,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let ring = handle(ring, "ring")?;
        let (a, b) = (Some(operand(a, "a")?), Some(operand(b, "b")?));
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Mxm(ring.semiring(), &Options::default()), a, b) }
    })
}

/// c⟨mask⟩ ⊙= A ⊕.⊗ b, a matrix times a vector over a semiring: c(i) = A(i, k) ⊗ b(k) ⊕ …, over all k for which both
/// have an entry. `a` is m×n, `b` of length n, c of length m. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_vector_mxv(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    ring: *const SparringSemiring,
    a: *const SparringMatrix,
    b: *const SparringVector,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let ring = handle(ring, "ring")?;
        let (a, b) = (Some(operand(a, "a")?), Some(operand(b, "b")?));
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Mxv(ring.semiring()), a, b) }
    })
}

/// c⟨mask⟩ ⊙= a ⊕.⊗ B, a vector times a matrix over a semiring: c(j) = a(k) ⊗ B(k, j) ⊕ …, over all k for which both
/// have an entry. `a` is of length m, `b` m×n, c of length n; descriptor.transpose_b transposes `b`. For c, mask, accum
/// and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_vector_vxm(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    ring: *const SparringSemiring,
    a: *const SparringVector,
    b: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let ring = handle(ring, "ring")?;
        let (a, b) = (Some(operand(a, "a")?), Some(operand(b, "b")?));
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Vxm(ring.semiring()), a, b) }
    })
}

/// c⟨mask⟩ ⊙= A ∘ B of matrices, on the union of their patterns: a ∘ b where both have an entry, otherwise the single
/// entry. All have the same shape and the same type, which the operator takes and returns. For c, mask, accum and
/// descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_matrix_ewise_add(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    op: *const SparringBinaryOp,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = handle(op, "op")?;
        let (a, b) = (Some(operand(a, "a")?), Some(operand(b, "b")?));
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::EwiseAdd(&op.op), a, b) }
    })
}

/// c⟨mask⟩ ⊙= A ∘ B of vectors, on the union of their patterns: a ∘ b where both have an entry, otherwise the single
/// entry. All have the same length and the same type, which the operator takes and returns. For c, mask, accum and
/// descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_vector_ewise_add(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    op: *const SparringBinaryOp,
    a: *const SparringVector,
    b: *const SparringVector,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = handle(op, "op")?;
        let (a, b) = (Some(operand(a, "a")?), Some(operand(b, "b")?));
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::EwiseAdd(&op.op), a, b) }
    })
}

/// c⟨mask⟩ ⊙= A ∘ B of matrices, on the intersection of their patterns. All have the same shape; `a` and `b` have the
/// operator's operand types, c its result type. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_matrix_ewise_mult(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    op: *const SparringBinaryOp,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = handle(op, "op")?;
        let (a, b) = (Some(operand(a, "a")?), Some(operand(b, "b")?));
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Pairs(Pairing::EwiseMult, &op.op), a, b) }
    })
}

/// c⟨mask⟩ ⊙= A ∘ B of vectors, on the intersection of their patterns. All have the same length; `a` and `b` have the
/// operator's operand types, c its result type. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_vector_ewise_mult(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    op: *const SparringBinaryOp,
    a: *const SparringVector,
    b: *const SparringVector,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = handle(op, "op")?;
        let (a, b) = (Some(operand(a, "a")?), Some(operand(b, "b")?));
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Pairs(Pairing::EwiseMult, &op.op), a, b) }
    })
}

/// c⟨mask⟩ ⊙= the Kronecker product c(i·p + k, j·q + l) = A(i, j) ∘ B(k, l), for each entry of `a` and each of `b`. `a`
/// is m×n, `b` p×q, c mp×nq; `a` and `b` have the operator's operand types, c its result type. For c, mask, accum and
/// descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of GraphBLAS")]
pub unsafe extern "C" fn sparring_matrix_kronecker(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    op: *const SparringBinaryOp,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = handle(op, "op")?;
        let (a, b) = (Some(operand(a, "a")?), Some(operand(b, "b")?));
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Pairs(Pairing::Kronecker, &op.op), a, b) }
    })
}

/// c⟨mask⟩ ⊙= f(A, s, i, j): applies the operator to every entry. c has the shape of `a` and the operator's result
/// type; sparring_unary_op_with sets the scalar of an operator that needs one. For c, mask, accum and descriptor see
/// SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_apply(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    op: *const SparringUnaryOp,
    a: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = ready(op)?;
        let a = Some(operand(a, "a")?);
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Apply(&op.op), a, None) }
    })
}

/// c⟨mask⟩ ⊙= f(a, s, i, 0): applies the operator to every entry. c has the length of `a` and the operator's result
/// type; sparring_unary_op_with sets the scalar of an operator that needs one. For c, mask, accum and descriptor see
/// SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_apply(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    op: *const SparringUnaryOp,
    a: *const SparringVector,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = ready(op)?;
        let a = Some(operand(a, "a")?);
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Apply(&op.op), a, None) }
    })
}

/// c⟨mask⟩ ⊙= the entries of `a` for which f(A, s, i, j) holds, unchanged. The operator returns SPARRING_BOOL; c has
/// the shape and type of `a`. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_select(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    op: *const SparringUnaryOp,
    a: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = ready(op)?;
        let a = Some(operand(a, "a")?);
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Select(&op.op), a, None) }
    })
}

/// c⟨mask⟩ ⊙= the entries of `a` for which f(a, s, i, 0) holds, unchanged. The operator returns SPARRING_BOOL; c has
/// the length and type of `a`. For c, mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_select(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    op: *const SparringUnaryOp,
    a: *const SparringVector,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let op = ready(op)?;
        let a = Some(operand(a, "a")?);
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Select(&op.op), a, None) }
    })
}

/// c⟨mask⟩ ⊙= ⊕ over each row of a matrix: c(i) = A(i, j) ⊕ …, for each nonempty row; over each column with
/// descriptor.transpose_a. `a` is m×n, c of length m, both of the monoid's type. For c, mask, accum and descriptor see
/// SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_reduce(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    monoid: *const SparringMonoid,
    a: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let monoid = handle(monoid, "monoid")?;
        let a = Some(operand(a, "a")?);
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::ReduceRows(&monoid.monoid), a, None) }
    })
}

/// c⟨mask⟩ ⊙= Aᵀ; with descriptor.transpose_a A itself. `a` is m×n, c n×m, of one type. For c, mask, accum and
/// descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_transpose(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    a: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let a = Some(operand(a, "a")?);
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Transpose, a, None) }
    })
}

/// c⟨mask⟩ ⊙= `a`: writes a matrix into another of its shape and type, under a mask or with an accumulator. For c,
/// mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_update(
    device: *const SparringDevice,
    c: *mut SparringMatrix,
    mask: *const SparringMatrix,
    accum: *const SparringBinaryOp,
    a: *const SparringMatrix,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let a = Some(operand(a, "a")?);
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Identity, a, None) }
    })
}

/// c⟨mask⟩ ⊙= `a`: writes a vector into another of its length and type, under a mask or with an accumulator. For c,
/// mask, accum and descriptor see SparringDescriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_update(
    device: *const SparringDevice,
    c: *mut SparringVector,
    mask: *const SparringVector,
    accum: *const SparringBinaryOp,
    a: *const SparringVector,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let a = Some(operand(a, "a")?);
        // SAFETY: by the contract above `descriptor` is NULL or points to a descriptor.
        unsafe { Write { device, c, mask, accum, descriptor }.run(Op::Identity, a, None) }
    })
}

/// scalar ⊙= ⊕ over all entries of a matrix, in a reproducible order. Without entries the scalar becomes empty; with
/// `accum`, which may be NULL, it is unchanged in that case, and an empty scalar takes the result. `scalar` and `a`
/// have the monoid's type, which `accum` takes and returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_reduce_scalar(
    device: *const SparringDevice,
    scalar: *mut SparringScalar,
    accum: *const SparringBinaryOp,
    monoid: *const SparringMonoid,
    a: *const SparringMatrix,
) -> SparringStatus {
    ffi!({ reduce(device, scalar, accum, monoid, a) })
}

/// scalar ⊙= ⊕ over all entries of a vector, in a reproducible order. Without entries the scalar becomes empty; with
/// `accum`, which may be NULL, it is unchanged in that case, and an empty scalar takes the result. `scalar` and `a`
/// have the monoid's type, which `accum` takes and returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_vector_reduce_scalar(
    device: *const SparringDevice,
    scalar: *mut SparringScalar,
    accum: *const SparringBinaryOp,
    monoid: *const SparringMonoid,
    a: *const SparringVector,
) -> SparringStatus {
    ffi!({ reduce(device, scalar, accum, monoid, a) })
}
