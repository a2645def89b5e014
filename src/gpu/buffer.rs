//! Device arrays: of values whose type is known at run time, and typed views of them.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;

use super::arg::Arg;
use super::driver::{Device, foreign};
use crate::algebra::{Type, Value};
use crate::{Error, Result};

/// An array of `len` values of type `ty` on the device, freed in stream order when dropped.
///
/// Host code that launches kernels takes this type, so that it is compiled once rather than once per semiring.
#[derive(Debug)]
pub(crate) struct RawBuffer {
    pub(super) at: CUdeviceptr,
    len: usize,
    ty: Type,
    /// Bytes allocated.
    taken: u64,
    device: Arc<Device>,
}

impl RawBuffer {
    /// The memory at `at`, whose size is given by [`taken`].
    pub(super) fn new(at: CUdeviceptr, len: usize, ty: Type, device: &Arc<Device>) -> Self {
        Self { at, len, ty, taken: taken(len, ty.size()), device: Arc::clone(device) }
    }
    /// Truncates an array that is not shared to its first `len` values. The allocation keeps its size.
    pub(super) fn cut(buffer: &mut Arc<Self>, len: usize) -> Result<()> {
        match Arc::get_mut(buffer) {
            Some(alone) if len <= alone.len => {
                alone.len = len;
                Ok(())
            }
            _ => Err(Error::Length { what: "values of an array on the device", found: buffer.len, expected: len }),
        }
    }
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// Type of the values.
    pub(crate) fn ty(&self) -> Type {
        self.ty
    }
    pub(crate) fn bytes(&self) -> u64 {
        (self.len * self.ty.size()) as u64
    }
    /// Ordinal of its device.
    pub(crate) fn ordinal(&self) -> usize {
        self.device.limits().ordinal
    }
    /// Whether it is on that device, opened as that value.
    pub(crate) fn is_on(&self, device: &Arc<Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }
    /// The array from element `i` on, as a kernel's argument.
    pub(crate) fn from(&self, i: usize) -> Arg {
        debug_assert!(i <= self.len);
        Arg::array(self.at + (i * self.ty.size()) as u64, &self.device)
    }
    /// The device; an error if the array is on another one.
    pub(super) fn on<'a>(&self, device: &'a Arc<Device>, what: &str) -> Result<&'a Arc<Device>> {
        if self.is_on(device) { Ok(device) } else { Err(foreign(what)) }
    }
    /// An error if the values are not of type `ty`; `what` names them in the message.
    pub(crate) fn check(&self, what: &'static str, ty: Type) -> Result<()> {
        same_type(what, self.ty, ty)
    }
}

/// An error if a type differs from the expected one.
pub(crate) fn same_type(what: &'static str, found: Type, expected: Type) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Argument { name: what, message: format!("values are of type {found}, expected {expected}") })
}

/// Bytes allocated for an array: 16 more than it needs, so that an empty one has an address for kernels, and vector
/// loads may read past the end.
pub(super) fn taken(len: usize, of: usize) -> u64 {
    (len as u64).saturating_mul(of as u64).saturating_add(16)
}

impl Drop for RawBuffer {
    fn drop(&mut self) {
        self.device.give(self.at, self.taken);
    }
}

impl From<&RawBuffer> for Arg {
    fn from(buffer: &RawBuffer) -> Self {
        buffer.from(0)
    }
}
impl From<Option<&RawBuffer>> for Arg {
    fn from(buffer: Option<&RawBuffer>) -> Self {
        buffer.map_or(Self::null(), Self::from)
    }
}
impl From<&Arc<RawBuffer>> for Arg {
    fn from(buffer: &Arc<RawBuffer>) -> Self {
        buffer.from(0)
    }
}

/// A [`RawBuffer`] whose values are of type T.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    raw: Arc<RawBuffer>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Buffer<T> {
    /// Shares the array; nothing is copied.
    fn clone(&self) -> Self {
        Self { raw: Arc::clone(&self.raw), of: PhantomData }
    }
}

impl<T: Value> Buffer<T> {
    /// The array as one of T.
    /// # Errors
    /// [`Error::Argument`] if its values are of another type.
    pub(crate) fn of(raw: Arc<RawBuffer>) -> Result<Self> {
        raw.check("an array on the device", T::TYPE)?;
        Ok(Self { raw, of: PhantomData })
    }
    /// The array without its static type.
    pub(crate) fn raw(&self) -> &Arc<RawBuffer> {
        &self.raw
    }
    /// The same, for checking whether it is shared.
    pub(crate) fn raw_mut(&mut self) -> &mut Arc<RawBuffer> {
        &mut self.raw
    }
}

impl<T> Deref for Buffer<T> {
    type Target = RawBuffer;
    fn deref(&self) -> &RawBuffer {
        &self.raw
    }
}

impl<T> From<&Buffer<T>> for Arg {
    fn from(buffer: &Buffer<T>) -> Self {
        buffer.from(0)
    }
}
impl<T> From<Option<&Buffer<T>>> for Arg {
    fn from(buffer: Option<&Buffer<T>>) -> Self {
        buffer.map_or(Self::null(), Self::from)
    }
}
