//! Arrays in a GPU's memory that belong to others.

use std::ffi::c_void;

use cudarc::driver::sys::{self, CUpointer_attribute as Attribute};

use super::device::Device;
use super::errors::failed;
use crate::algebra::Type;
use crate::{Error, Result};

/// An array in a GPU's memory: an address of the driver's, and what is there.
#[derive(Clone, Copy, Debug)]
pub struct DeviceArray {
    at: sys::CUdeviceptr,
    len: usize,
    ty: Type,
}

impl DeviceArray {
    /// The array of `len` values at `at`.
    /// # Safety
    /// The values are there, of that type, until whoever is given the array has returned, and nobody writes them in the
    /// meantime. Bools are 0 or 1.
    #[must_use]
    pub unsafe fn new(at: u64, len: usize, ty: Type) -> Self {
        Self { at, len, ty }
    }
    /// One of this library's, which its owner keeps.
    pub(in crate::gpu) fn own(at: sys::CUdeviceptr, len: usize, ty: Type) -> Self {
        Self { at, len, ty }
    }
    /// Its address.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.at
    }
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.ty
    }
}

impl Device {
    /// Waits for all work on the GPU, that of others too.
    pub(in crate::gpu) fn wait_for_all(&self) -> Result<()> {
        self.bind()?;
        self.context.synchronize().map_err(self.failed("waiting for the device"))
    }
    /// Copies an array of someone else's on this GPU to `to`, which has room for it.
    pub(in crate::gpu) fn copy_foreign(
        &self,
        to: sys::CUdeviceptr,
        from: &DeviceArray,
        what: &'static str,
    ) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        self.bind()?;
        let wrong = |message: String| Err(Error::Argument { name: what, message });
        let mut ordinal = 0i32;
        // SAFETY: the attribute is a number of 32 bits; an address that is none of the driver's is an error.
        let known = unsafe { attribute(&raw mut ordinal, Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, from.at) };
        if known.is_err() {
            return wrong(format!("nothing of a GPU's is at {:#x}", from.at));
        }
        if usize::try_from(ordinal) != Ok(self.limits().ordinal) {
            return wrong(format!("it is on GPU {ordinal}, not on GPU {}", self.limits().ordinal));
        }
        let (mut start, mut size) = (0u64, 0usize);
        // SAFETY: the attributes are an address and a size.
        unsafe {
            attribute(&raw mut start, Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, from.at)?;
            attribute(&raw mut size, Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE, from.at)?;
        }
        let bytes = from.len.saturating_mul(from.ty.size());
        let room = (start + size as u64).saturating_sub(from.at);
        if bytes as u64 > room {
            return wrong(format!("{} values of {} do not fit the {room} bytes that are there", from.len, from.ty));
        }
        self.copy(to, from.at, bytes)
    }
}

/// An attribute of an address.
/// # Safety
/// The attribute has the type `T`.
unsafe fn attribute<T>(to: *mut T, which: Attribute, at: sys::CUdeviceptr) -> Result<()> {
    // SAFETY: the caller's promise; `to` is written once.
    unsafe { sys::cuPointerGetAttribute(to.cast::<c_void>(), which, at) }.result().map_err(failed("an address"))
}
