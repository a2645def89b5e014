//! Dense tensors on the device, under the host's layouts.

use crate::algebra::Value;
use crate::contract::{Batch, Extents, Layout, Ranked, Shaped, View, Viewed, fits};
use crate::gpu::Cuda;
use crate::gpu::buffer::Buffer;
use crate::{Error, Result};

/// A device array viewed under a [`Layout`]; cloning copies no data.
///
/// # Example
/// ```no_run
/// use sparring::{Cuda, contract::{Layout, View}};
/// let cuda = Cuda::new(0)?;
/// let numbers: Vec<f64> = (0..12).map(f64::from).collect();
/// let x = cuda.upload_batch(&View::new(&numbers, Layout::row_major(&[2, 3])?.batched(2)?)?)?;
/// // No data is copied.
/// let transposed = x.permute(&[1, 0])?;
/// assert_eq!(cuda.download_batch(&transposed)?.view().get(1, &[2, 0]), Some(&8.0));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceBatch<T> {
    pub(super) values: Buffer<T>,
    layout: Layout,
}

impl<T> Clone for DeviceBatch<T> {
    fn clone(&self) -> Self {
        Self { values: self.values.clone(), layout: self.layout.clone() }
    }
}

impl<T: Value> Viewed for DeviceBatch<T> {
    type Value = T;
    fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl<T: Value> DeviceBatch<T> {
    /// Wraps an array that holds all elements of the layout.
    pub(super) fn of(values: Buffer<T>, layout: Layout) -> Self {
        Self { values, layout }
    }
    /// The layout of its elements.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.values.bytes()
    }
    /// Permutes the indices, as [`Layout::permute`].
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument).
    pub fn permute(&self, order: &[usize]) -> Result<Self> {
        Ok(Self { layout: self.layout.permute(order)?, values: self.values.clone() })
    }
    /// The same elements under other extents, as [`Layout::reshape`].
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument).
    pub fn reshape(&self, extents: &[usize]) -> Result<Self> {
        Ok(Self { layout: self.layout.reshape(extents)?, values: self.values.clone() })
    }
    /// The same array under another layout.
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if an element of the layout lies beyond the end of the array.
    pub fn with_layout(self, layout: Layout) -> Result<Self> {
        fits(&layout, self.values.len())?;
        Ok(Self { layout, ..self })
    }
    /// The view with the number of indices in its type, for [`einsum!`](crate::einsum!).
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) unless it has R indices.
    pub fn ranked<'a, const R: usize>(self) -> Result<Ranked<'a, T, R, Self>> {
        Shaped::new(self)
    }
    /// The view with its shape in its type, as [`View::shaped`].
    /// # Errors
    /// As [`View::shaped`].
    pub fn shaped<'a, S: Extents>(self) -> Result<Shaped<'a, T, S, Self>> {
        Shaped::new(self)
    }
}

impl Cuda {
    /// Uploads the array under the view, gaps included.
    /// # Errors
    /// [`Error::DeviceMemory`](crate::Error::DeviceMemory), [`Error::Device`](crate::Error::Device);
    /// [`Error::Argument`](crate::Error::Argument) for a [`Group`](crate::contract::Group): device tensors share
    /// one array.
    pub fn upload_batch<T: Value>(&self, x: &View<'_, T>) -> Result<DeviceBatch<T>> {
        let Some(data) = x.data() else {
            let message =
                format!("a group of {} tensors; on a device, tensors must share one array", x.layout().batch());
            return Err(Error::Argument { name: "x", message });
        };
        Ok(DeviceBatch { values: self.put(data, "tensors on the device")?, layout: x.layout().clone() })
    }
    /// Downloads the array, under the same layout.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device).
    pub fn download_batch<T: Value>(&self, x: &DeviceBatch<T>) -> Result<Batch<T>> {
        Batch::new(self.get(&x.values, "tensors from the device")?, x.layout.clone())
    }
}
