//! Operations on matrices by an operator of a name or a formula.

use std::ffi::c_char;

use sparring::Error;
use sparring::runtime::{BinaryOp, Matrix, Op, Pairing};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix::SparringMatrix;
use crate::memory::{NewHandle, text};
use crate::semirings::of_name;
use crate::status::SparringStatus;

/// C = A ∘ B for the pairs of entries that the pairing names; where `a` is.
/// # Safety
/// `op` is NULL or ends with a zero; `c` is NULL or points to room for a handle.
unsafe fn pairs(
    pairing: Pairing,
    device: *const SparringDevice,
    op: *const c_char,
    (a, b): (*const SparringMatrix, *const SparringMatrix),
    c: *mut *mut SparringMatrix,
) -> Fallible {
    // SAFETY: the caller's promise.
    let (out, text) = unsafe { (NewHandle::at(c, "c")?, text(op, "op")?) };
    let device = handle(device, "device")?;
    let (a, b) = (handle(a, "a")?.snapshot(), handle(b, "b")?.snapshot());
    device.takes("a", &a)?;
    device.takes("b", &b)?;
    let (of_a, of_b) = (a.ty(), b.ty());
    let op = if of_a == of_b { BinaryOp::new(text, of_a) } else { BinaryOp::between(text, of_a, of_b) };
    let op = op.map_err(|e| of_name(e, "op", |ty| BinaryOp::new(text, ty).is_ok()))?;
    let made: Result<Matrix, Error> = device.machine.call(Op::Pairs(pairing, &op), (&a, &b)).eval();
    let made = made.map_err(|e| Fail::of_operands(e, "a", "b"))?;
    out.give(if a.is_on_host() { made.download()? } else { made }.into())
}

/// The Kronecker product C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l), for each entry of `a` and each of `b`, by the
/// operator of this name, as "times" or "plus", or by a formula of a and b, as "a + 2*b". `a` is m×n, `b` is p×q; the
/// result is mp×nq, of the type that the operator gives. A name takes one type for both matrices, a formula may take
/// two. Sizes that do not fit: SPARRING_INDEX_OVERFLOW, with the numbers. On a GPU the result is where `a` is. `*c`
/// gets the handle of a new matrix, NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_kronecker(
    device: *const SparringDevice,
    op: *const c_char,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    c: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above.
        unsafe { pairs(Pairing::Kronecker, device, op, (a, b), c) }
    })
}
