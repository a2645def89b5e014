//! Products of sparse matrices with dense ones, given as caller-owned arrays.

use std::ffi::c_void;

use sparring::Error;
use sparring::algebra::Array;

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix::SparringMatrix;
use crate::memory::{check_any, input, size};
use crate::operation::{SparringDescriptor, accumulates};
use crate::operators::SparringBinaryOp;
use crate::semirings::SparringSemiring;
use crate::sparse::Sparse;
use crate::status::SparringStatus;
use crate::types::{input_values, lent_values, named, output_values, type_of};

/// Rejects an array whose length does not match the dense matrix.
fn of_length(name: &'static str, found: u64, rows: usize, columns: u64) -> Fallible<usize> {
    let expected = rows as u128 * u128::from(columns);
    if u128::from(found) == expected {
        return size(found, name);
    }
    let whole = usize::try_from(expected);
    let whole = whole.map_err(|_| Error::IndexOverflow { what: name, needed: expected, max: usize::MAX as u128 })?;
    Err(Error::Length { what: name, found: size(found, name)?, expected: whole }.into())
}

/// y ⊙= A ⊕.⊗ X, a sparse matrix times a dense one over a semiring: y(i, j) = e ⊕ A(i, k) ⊗ X(k, j) ⊕ …, over all k for
/// which A has an entry, in the order of the row of A, where e is the identity of ⊕. `x` and `y` are row-major arrays
/// of `columns` columns. `a` is m×k, `x` k×columns with `x_len` elements of the type `x_type`, y m×columns with `y_len`
/// elements of the result type of the semiring. `a` and `x` have the operand types of the semiring. y is overwritten,
/// or combined with its old values by `accum`, which may be NULL. Of the descriptor, which may be NULL, only
/// transpose_a may be set. `a` may be on a GPU; `x` and `y` are in host memory. On failure y is unchanged.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_matrix_spmm(
    device: *const SparringDevice,
    y: *mut c_void,
    y_len: u64,
    accum: *const SparringBinaryOp,
    ring: *const SparringSemiring,
    a: *const SparringMatrix,
    x_type: u32,
    x: *const c_void,
    x_len: u64,
    columns: u64,
    descriptor: *const SparringDescriptor,
) -> SparringStatus {
    ffi!({
        let (device, ring) = (handle(device, "device")?, handle(ring, "ring")?);
        let accum = if accum.is_null() { None } else { Some(handle(accum, "accum")?) };
        let (a, of_x) = (handle(a, "a")?.snapshot(), type_of("x_type", x_type)?);
        device.takes("a", &a)?;
        let d = match descriptor {
            p if p.is_null() => SparringDescriptor::default(),
            // SAFETY: by the contract above; every bit pattern is a SparringDescriptor.
            p => unsafe { input(p, 1, "descriptor")?[0] },
        };
        if d.structure | d.complement | d.replace | d.transpose_b != 0 || !d.transposed.is_null() {
            return Err(Fail::argument("descriptor", "for a dense result, only transpose_a may be set".into()));
        }
        let (gives, [takes_a, takes_x]) = (ring.semiring().ty(), ring.types());
        for (name, found, takes) in [("a", a.ty(), takes_a), ("x_type", of_x, takes_x)] {
            if found != takes {
                let message = format!("values are {}, those of {} {}", named(found), ring.semiring(), named(takes));
                return Err(Fail::of_type(name, message));
            }
        }
        if let Some(accum) = &accum {
            accumulates(&accum.op, "accum", "y", gives)?;
        }
        let (m, k) = if d.transpose_a != 0 { (a.shape().1, a.shape().0) } else { a.shape() };
        let (x_len, len) = (of_length("x", x_len, k, columns)?, of_length("y", y_len, m, columns)?);
        let columns = size(columns, "columns")?;
        check_any(y.cast::<u8>(), len, "y")?;
        // SAFETY: by the contract above `x` has `x_len` values, not written during the call.
        let x = unsafe { lent_values(of_x, x, x_len, "x")? };
        let mut operation = device.machine.spmm(ring.semiring(), &a, x.slice(), columns);
        if d.transpose_a != 0 {
            operation = operation.transpose_a();
        }
        let made: Array = match &accum {
            None => operation.eval()?,
            Some(accum) => {
                // SAFETY: by the contract above `y` has `y_len` values.
                let mut old = unsafe { input_values(gives, y, len).map_err(|e| e.naming("y"))? };
                operation.accum(&accum.op).into(old.slice_mut())?;
                old
            }
        };
        if len == 0 {
            return Ok(());
        }
        // SAFETY: by the contract above there is room for `y_len` values at `y`.
        unsafe { output_values(made.slice(), y, y_len).map_err(|e| e.naming("y")) }
    })
}
