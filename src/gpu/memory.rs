//! Arrays on the device.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;

use super::Cuda;
use super::driver::Device;
use super::launch::{Arg, foreign};
use crate::algebra::Value;
use crate::{Error, Result};

/// An array of `len` values on the device, given back when dropped, in the order of the stream.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    at: CUdeviceptr,
    len: usize,
    device: Arc<Device>,
    of: PhantomData<fn() -> T>,
}

impl<T> Buffer<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    pub(crate) fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }
    /// The array from element `i` on, as a kernel's argument.
    pub(crate) fn from(&self, i: usize) -> Arg {
        debug_assert!(i <= self.len);
        Arg::array(self.at + (i * size_of::<T>()) as u64, &self.device)
    }
    /// The device, if the array is on it.
    fn on<'a>(&self, device: &'a Arc<Device>, what: &str) -> Result<&'a Arc<Device>> {
        if Arc::ptr_eq(&self.device, device) { Ok(device) } else { Err(foreign(what)) }
    }
}

/// Bytes that are taken for an array. An empty one has an address as well, so that kernels may be given it. 16 bytes more
/// than it needs, so that vector loads may reach past the end.
fn taken(len: usize, of: usize) -> u64 {
    (len as u64).saturating_mul(of as u64).saturating_add(16)
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.device.give(self.at, taken(self.len, size_of::<T>()));
    }
}

impl Cuda {
    /// An array whose values are not set yet: a kernel must write all that is read.
    pub(crate) fn alloc<T: Value>(&self, len: usize, what: &'static str) -> Result<Buffer<T>> {
        let device = self.device();
        let bytes = match usize::try_from(taken(len, size_of::<T>())) {
            Ok(bytes) if bytes < usize::MAX => bytes,
            _ => {
                let free = device.free_memory()?.0;
                return Err(Error::DeviceMemory { what, bytes: len as u128 * size_of::<T>() as u128, free });
            }
        };
        let at = device.take(bytes, what)?;
        Ok(Buffer { at, len, device: Arc::clone(device), of: PhantomData })
    }
    /// An array with every byte 0.
    pub(crate) fn zeroed<T: Value>(&self, len: usize, what: &'static str) -> Result<Buffer<T>> {
        let buffer = self.alloc(len, what)?;
        self.fill_bytes(&buffer, 0)?;
        Ok(buffer)
    }
    /// Sets every byte of the array.
    pub(crate) fn fill_bytes<T>(&self, buffer: &Buffer<T>, byte: u8) -> Result<()> {
        match buffer.len {
            0 => Ok(()),
            n => buffer.on(self.device(), "filling an array")?.set(buffer.at, byte, n * size_of::<T>()),
        }
    }
    /// A copy of `values` on the device.
    pub(crate) fn put<T: Value>(&self, values: &[T], what: &'static str) -> Result<Buffer<T>> {
        let buffer = self.alloc(values.len(), what)?;
        if !values.is_empty() {
            self.device().put(buffer.at, values)?;
        }
        Ok(buffer)
    }
    /// A copy on the host of the whole array; waits for it.
    pub(crate) fn get<T: Value>(&self, buffer: &Buffer<T>, what: &'static str) -> Result<Vec<T>> {
        let mut values: Vec<T> = crate::par::reserved(buffer.len, what)?;
        if buffer.len > 0 {
            buffer.on(self.device(), what)?.get_spare(&mut values, buffer.len, buffer.at)?;
        }
        Ok(values)
    }
    /// Element `i` of the array; waits for it.
    pub(crate) fn get_at<T: Value>(&self, buffer: &Buffer<T>, i: usize) -> Result<T> {
        debug_assert!(i < buffer.len);
        let mut value: Vec<T> = Vec::with_capacity(1);
        let device = buffer.on(self.device(), "a value from the device")?;
        device.get_spare(&mut value, 1, buffer.at + (i * size_of::<T>()) as u64)?;
        value.pop().ok_or(Error::Length { what: "a value from the device", found: 0, expected: 1 })
    }
    /// Another array with some of the values.
    pub(crate) fn duplicate_part<T: Value>(
        &self,
        buffer: &Buffer<T>,
        range: Range<usize>,
        what: &'static str,
    ) -> Result<Buffer<T>> {
        debug_assert!(range.start <= range.end && range.end <= buffer.len);
        let part = self.alloc(range.len(), what)?;
        if !range.is_empty() {
            let (from, bytes) = (range.start * size_of::<T>(), range.len() * size_of::<T>());
            buffer.on(self.device(), what)?.copy(part.at, buffer.at + from as u64, bytes)?;
        }
        Ok(part)
    }
    /// Another array with the same values.
    pub(crate) fn duplicate<T: Value>(&self, buffer: &Buffer<T>, what: &'static str) -> Result<Buffer<T>> {
        self.duplicate_part(buffer, 0..buffer.len, what)
    }
}
