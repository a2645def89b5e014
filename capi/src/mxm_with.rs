//! Products over the semiring of a handle.

use crate::device::SparringDevice;
use crate::matrix::SparringMatrix;
use crate::mxm::{Over, SparringOptions, SparringPlan, product, values, values_into};
use crate::semirings::SparringSemiring;
use crate::status::SparringStatus;

/// sparring_mxm over a semiring handle, on matrices of its operand types: SPARRING_TYPE otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_mxm_with(
    device: *const SparringDevice,
    ring: *const SparringSemiring,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    options: *const SparringOptions,
    c: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract of sparring_mxm.
        unsafe { product(device, Over::Handle(ring), (a, b), options, c) }
    })
}

/// sparring_plan_numeric over a semiring handle, on matrices of its operand types.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_plan_numeric_with(
    device: *const SparringDevice,
    plan: *const SparringPlan,
    ring: *const SparringSemiring,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    c: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract of sparring_plan_numeric.
        unsafe { values(device, plan, Over::Handle(ring), (a, b), c) }
    })
}

/// sparring_plan_numeric_into over a semiring handle, on matrices of its operand types.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_plan_numeric_into_with(
    device: *const SparringDevice,
    plan: *const SparringPlan,
    ring: *const SparringSemiring,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    c: *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract of sparring_plan_numeric_into.
        unsafe { values_into(device, plan, Over::Handle(ring), (a, b), c) }
    })
}
