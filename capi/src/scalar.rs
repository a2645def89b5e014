//! Scalars: one value of a type, or none.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sparring::algebra::Type;
use sparring::runtime::Scalar;

use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, write};
use crate::status::SparringStatus::{self, SPARRING_NO_VALUE};
use crate::types::{code, input_values, named, output_values, value_type};

/// One value of one of the types above, or none (empty). It may be shared between threads.
pub struct SparringScalar {
    pub(crate) ty: Type,
    value: Mutex<Option<Scalar>>,
}

impl Object for SparringScalar {
    const NAME: &'static str = "SparringScalar";
}

impl SparringScalar {
    pub(crate) fn new(ty: Type, value: Option<Scalar>) -> Self {
        Self { ty, value: Mutex::new(value) }
    }
    /// The value, for writing.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Scalar>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Replaces the value by another of its type.
    pub(crate) fn put(&self, value: Option<Scalar>) {
        *self.lock() = value;
    }
    /// The value; `name` is the argument in the error for an empty scalar.
    pub(crate) fn value(&self, name: &str) -> Fallible<Scalar> {
        let empty = || Fail { status: SPARRING_NO_VALUE, message: format!("{name}: the scalar is empty") };
        self.lock().clone().ok_or_else(empty)
    }
    /// Rejects a scalar of another type; `whose` names the owner of the expected type.
    pub(crate) fn is_of(&self, name: &str, ty: Type, whose: &str) -> Fallible {
        if self.ty == ty {
            return Ok(());
        }
        Err(Fail::of_type(name, format!("it is of {}, {whose} type is {}", named(self.ty), named(ty))))
    }
}

/// The value at an address.
/// # Safety
/// `p` is NULL, badly aligned, or points to a value of that type not written during the call.
pub(crate) unsafe fn read(ty: Type, p: *const c_void) -> Fallible<Scalar> {
    if p.is_null() {
        return Err(Fail::null("value"));
    }
    // SAFETY: the caller's promise.
    let values = unsafe { input_values(ty, p, 1)? };
    Ok(Scalar::only(values.slice())?)
}

/// A scalar of the type `type`, a SparringType, with the value that `value` points to; NULL makes it empty. `*scalar`
/// receives the handle, NULL on failure; free it with sparring_scalar_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_scalar_new(
    r#type: u32,
    value: *const c_void,
    scalar: *mut *mut SparringScalar,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `scalar` points to room for a handle.
        let out = unsafe { NewHandle::at(scalar, "scalar")? };
        let ty = value_type(r#type)?;
        // SAFETY: by the contract above `value` points to a value of the type.
        let value = if value.is_null() { None } else { Some(unsafe { read(ty, value)? }) };
        out.give(SparringScalar::new(ty, value))
    })
}

/// Sets the scalar to the value that `value` points to, which has its type; NULL makes it empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_scalar_set(scalar: *mut SparringScalar, value: *const c_void) -> SparringStatus {
    ffi!({
        let scalar = handle(scalar, "scalar")?;
        // SAFETY: by the contract above `value` points to a value of the type.
        let value = if value.is_null() { None } else { Some(unsafe { read(scalar.ty, value)? }) };
        scalar.put(value);
        Ok(())
    })
}

/// Writes the value to `value`, which has room for one of the scalar's type. An empty scalar is SPARRING_NO_VALUE, and
/// nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_scalar_get(scalar: *const SparringScalar, value: *mut c_void) -> SparringStatus {
    ffi!({
        let found = handle(scalar, "scalar")?.value("scalar")?;
        if value.is_null() {
            return Err(Fail::null("value"));
        }
        // SAFETY: by the contract above there is room for one value of the type.
        unsafe { output_values(found.slice(), value, 1) }
    })
}

/// 1 if the scalar has a value, 0 if it is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_scalar_nvals(scalar: *const SparringScalar, nvals: *mut u64) -> SparringStatus {
    ffi!({
        let found = u64::from(handle(scalar, "scalar")?.lock().is_some());
        // SAFETY: by the contract `nvals` points to room for a number.
        unsafe { write(nvals, found, "nvals") }
    })
}

/// Its type, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_scalar_type(scalar: *const SparringScalar, r#type: *mut u32) -> SparringStatus {
    ffi!({
        let ty = code(handle(scalar, "scalar")?.ty);
        // SAFETY: by the contract `type` points to room for a number.
        unsafe { write(r#type, ty, "type") }
    })
}

/// Frees a scalar; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_scalar_free(scalar: *mut SparringScalar) -> SparringStatus {
    ffi!({ release(scalar, "scalar") })
}
