//! Allocation of device arrays, their initialization, and copies to and from the host.

use std::ops::Range;
use std::sync::Arc;

use super::Cuda;
pub(crate) use super::buffer::Buffer;
use super::buffer::{RawBuffer, taken};
use crate::algebra::{Array, Slice, Type, Value, for_each_type};
use crate::{Error, Result};

impl Cuda {
    /// B: bytes per second, read and written together, of a device-to-device copy of `bytes` bytes; the median of ten.
    /// An input of [`Bound`](crate::contract::Bound).
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Budget`], [`Error::Device`].
    pub fn copy_bandwidth(&self, bytes: usize) -> Result<f64> {
        let (from, to) = (self.zeroed::<u8>(bytes, "a copy")?, self.alloc::<u8>(bytes, "a copy")?);
        let copy = || if bytes == 0 { Ok(()) } else { self.device().copy(to.at, from.at, bytes) };
        copy()?;
        let mut times = (0..10).map(|_| Ok(self.timed(copy)?.1)).collect::<Result<Vec<_>>>()?;
        times.sort_by(f64::total_cmp);
        Ok(2.0 * bytes as f64 / times[5] * 1e3)
    }
    /// An uninitialized array of values of type `ty`: a kernel must write every value before it is read.
    pub(crate) fn alloc_raw(&self, ty: Type, len: usize, what: &'static str) -> Result<Arc<RawBuffer>> {
        let device = self.device();
        let bytes = match usize::try_from(taken(len, ty.size())) {
            Ok(bytes) if bytes < usize::MAX => bytes,
            _ => {
                let free = device.free_memory()?.0;
                return Err(Error::DeviceMemory { what, bytes: len as u128 * ty.size() as u128, free });
            }
        };
        Ok(Arc::new(RawBuffer::new(device.take(bytes, what)?, len, ty, device)))
    }
    /// A copy of `values` on the device.
    pub(crate) fn put_raw(&self, values: Slice<'_>, what: &'static str) -> Result<Arc<RawBuffer>> {
        let buffer = self.alloc_raw(values.ty(), values.len(), what)?;
        if !values.is_empty() {
            self.device().put(buffer.at, values)?;
        }
        Ok(buffer)
    }
    /// The whole array, copied to the host; waits for it.
    /// # Errors
    /// [`Error::Unsupported`] for structs, whose Rust type must be known to make an array of them.
    pub(crate) fn get_raw(&self, buffer: &Arc<RawBuffer>, what: &'static str) -> Result<Array> {
        macro_rules! of {
            ($($variant:ident $t:ty),*) => {
                match buffer.ty() {
                    $(Type::$variant => Ok(Array::of(self.get(&Buffer::<$t>::of(Arc::clone(buffer))?, what)?)),)*
                    Type::Struct(s) => Err(Error::Unsupported {
                        what: format!("an array of {} whose type is known at run time only", s.name),
                        why: "download it as a matrix or vector of that type".into(),
                    }),
                }
            };
        }
        for_each_type!(numbers, of!())
    }
    /// Sets every byte of the array.
    pub(crate) fn fill_bytes(&self, buffer: &RawBuffer, byte: u8) -> Result<()> {
        match buffer.bytes() {
            0 => Ok(()),
            bytes => buffer.on(self.device(), "filling an array")?.set(buffer.at, byte, bytes as usize),
        }
    }
    /// A new array with the values of a range.
    pub(crate) fn duplicate_raw(
        &self,
        buffer: &RawBuffer,
        range: Range<usize>,
        what: &'static str,
    ) -> Result<Arc<RawBuffer>> {
        debug_assert!(range.start <= range.end && range.end <= buffer.len());
        let part = self.alloc_raw(buffer.ty(), range.len(), what)?;
        if !range.is_empty() {
            let size = buffer.ty().size();
            let from = buffer.at + (range.start * size) as u64;
            buffer.on(self.device(), what)?.copy(part.at, from, range.len() * size)?;
        }
        Ok(part)
    }

    /// An uninitialized array: a kernel must write every value before it is read.
    pub(crate) fn alloc<T: Value>(&self, len: usize, what: &'static str) -> Result<Buffer<T>> {
        Buffer::of(self.alloc_raw(T::TYPE, len, what)?)
    }
    /// An array of zero bytes.
    pub(crate) fn zeroed<T: Value>(&self, len: usize, what: &'static str) -> Result<Buffer<T>> {
        let buffer = self.alloc(len, what)?;
        self.fill_bytes(&buffer, 0)?;
        Ok(buffer)
    }
    /// A copy of `values` on the device.
    pub(crate) fn put<T: Value>(&self, values: &[T], what: &'static str) -> Result<Buffer<T>> {
        Buffer::of(self.put_raw(Slice::of(values), what)?)
    }
    /// The whole array, copied to the host; waits for it.
    pub(crate) fn get<T: Value>(&self, buffer: &Buffer<T>, what: &'static str) -> Result<Vec<T>> {
        let mut values: Vec<T> = crate::par::reserved(buffer.len(), what)?;
        if buffer.len() > 0 {
            buffer.on(self.device(), what)?.get_spare(&mut values, buffer.len(), buffer.at)?;
        }
        Ok(values)
    }
    /// The array from element `i` on, copied to the host; waits for it.
    pub(crate) fn get_from<T: Value>(&self, buffer: &Buffer<T>, i: usize, what: &'static str) -> Result<Vec<T>> {
        debug_assert!(i < buffer.len());
        let len = buffer.len() - i;
        let mut values: Vec<T> = crate::par::reserved(len, what)?;
        buffer.on(self.device(), what)?.get_spare(&mut values, len, buffer.at + (i * size_of::<T>()) as u64)?;
        Ok(values)
    }
    /// Element `i` of the array; waits for it.
    pub(crate) fn get_at<T: Value>(&self, buffer: &Buffer<T>, i: usize) -> Result<T> {
        debug_assert!(i < buffer.len());
        let mut value: Vec<T> = Vec::with_capacity(1);
        let device = buffer.on(self.device(), "a value from the device")?;
        device.get_spare(&mut value, 1, buffer.at + (i * size_of::<T>()) as u64)?;
        value.pop().ok_or(Error::Length { what: "a value from the device", found: 0, expected: 1 })
    }
    /// A new array with the same values.
    pub(crate) fn duplicate<T: Value>(&self, buffer: &Buffer<T>, what: &'static str) -> Result<Buffer<T>> {
        Buffer::of(self.duplicate_raw(buffer, 0..buffer.len(), what)?)
    }
}

/// An error if the array is shared: it is about to be written to.
pub(super) fn alone(values: &mut Arc<RawBuffer>, name: &'static str) -> Result<()> {
    if Arc::get_mut(values).is_some() {
        return Ok(());
    }
    Err(Error::Argument { name, message: "a clone shares its values; drop the clone first".into() })
}
