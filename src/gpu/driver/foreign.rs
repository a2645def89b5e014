//! Foreign arrays: those in a GPU's memory that belong to other code.

use std::ffi::c_void;

use cudarc::driver::sys::{self, CUpointer_attribute as Attribute};

use super::device::Device;
use super::errors::failed;
use crate::algebra::Type;
use crate::{Error, Result};

/// An array in a GPU's memory: a device address, a length and a type.
#[derive(Clone, Copy, Debug)]
pub struct DeviceArray {
    at: sys::CUdeviceptr,
    len: usize,
    ty: Type,
}

impl DeviceArray {
    /// An array of `len` values at `at`.
    /// # Safety
    /// `at` points to `len` values of type `ty` until the call that takes the array has returned, and nobody writes
    /// them in the meantime. Bools are 0 or 1.
    #[must_use]
    pub unsafe fn new(at: u64, len: usize, ty: Type) -> Self {
        Self { at, len, ty }
    }
    /// An array of this library, kept alive by its owner.
    pub(in crate::gpu) fn own(at: sys::CUdeviceptr, len: usize, ty: Type) -> Self {
        Self { at, len, ty }
    }
    /// Its device address.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.at
    }
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether its length is 0.
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
    /// Waits for all work on the GPU, including that of other code.
    pub(in crate::gpu) fn wait_for_all(&self) -> Result<()> {
        self.bind()?;
        self.context.synchronize().map_err(self.failed("waiting for the device"))
    }
    /// An error if a foreign array is not in this GPU's memory.
    pub(in crate::gpu) fn check_foreign(&self, from: &DeviceArray, what: &'static str) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        self.bind()?;
        let wrong = |message: String| Err(Error::Argument { name: what, message });
        let (mut kind, mut ordinal, mut start, mut size) = (0u32, 0i32, 0u64, 0usize);
        let mut wanted = [
            Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
            Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        ];
        let mut found: [*mut c_void; 4] =
            [(&raw mut kind).cast(), (&raw mut ordinal).cast(), (&raw mut start).cast(), (&raw mut size).cast()];
        // SAFETY: four attributes and as many locals of their types, each written once; an address unknown to the
        // driver has memory type 0.
        unsafe { sys::cuPointerGetAttributes(4, wanted.as_mut_ptr(), found.as_mut_ptr(), from.at) }
            .result()
            .map_err(failed("an address"))?;
        if kind == 0 || kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32 {
            return wrong(format!("{:#x} is not an address in GPU memory", from.at));
        }
        if usize::try_from(ordinal) != Ok(self.limits().ordinal) {
            return wrong(format!("it is on GPU {ordinal}, not on GPU {}", self.limits().ordinal));
        }
        let bytes = from.len.saturating_mul(from.ty.size());
        let room = start.saturating_add(size as u64).saturating_sub(from.at);
        if bytes as u64 > room {
            return wrong(format!("{} values of {} do not fit in the {room} bytes allocated there", from.len, from.ty));
        }
        Ok(())
    }
    /// Copies a foreign array in this GPU's memory to `to`, which has room for it.
    pub(in crate::gpu) fn copy_foreign(&self, to: sys::CUdeviceptr, from: &DeviceArray) -> Result<()> {
        if from.is_empty() { Ok(()) } else { self.copy(to, from.at, from.len.saturating_mul(from.ty.size())) }
    }
    /// Whether copies from the other device's memory can bypass the host: it is the same GPU, or one with peer access.
    pub(in crate::gpu) fn reaches(&self, other: &Device) -> Result<bool> {
        if self.limits().ordinal == other.limits().ordinal {
            return Ok(true);
        }
        self.bind()?;
        let mut can = 0;
        // SAFETY: the pointer is to a local, and both devices are the driver's.
        unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, self.context.cu_device(), other.context.cu_device()) }
            .result()
            .map_err(failed("peer access"))?;
        if can == 0 {
            return Ok(false);
        }
        let reader = sys::CUmemAccessDesc {
            location: sys::CUmemLocation {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: i32::try_from(self.limits().ordinal).unwrap_or(i32::MAX),
            },
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: one descriptor, which outlives the call; `other` keeps its pool alive.
        Ok(unsafe { sys::cuMemPoolSetAccess(other.pool, &raw const reader, 1) }.result().is_ok())
    }
    /// Copies bytes from the memory of a device that this one [`reaches`](Self::reaches), in the order of this device's
    /// stream.
    pub(in crate::gpu) fn copy_from(
        &self,
        other: &Device,
        (to, from): (sys::CUdeviceptr, sys::CUdeviceptr),
        bytes: usize,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.bind()?;
        // SAFETY: the callers hold `bytes` bytes at `to` in this device's memory and at `from` in the other's, until
        // they have waited for the stream.
        unsafe { sys::cuMemcpyPeerAsync(to, self.context.cu_ctx(), from, other.context.cu_ctx(), bytes, self.stream()) }
            .result()
            .map_err(self.failed("a copy from another device"))
    }
}
