//! Dense matrices on the device, their upload and download, and the check of a vector's mask.

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use crate::algebra::{Type, Value};
use crate::sparse::Dense;
use crate::{Error, Result};

/// A dense matrix on the device, row after row.
#[derive(Debug)]
pub struct DeviceDense<T> {
    pub(crate) nrows: usize,
    pub(crate) ncols: usize,
    pub(crate) values: Buffer<T>,
}

impl<T: Value> DeviceDense<T> {
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.nrows, self.ncols)
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.values.bytes()
    }
}

impl Cuda {
    /// The dense matrix on the device.
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn upload_dense<T: Value>(&self, x: &Dense<T>) -> Result<DeviceDense<T>> {
        let (nrows, ncols) = x.shape();
        Ok(DeviceDense { nrows, ncols, values: self.put(x.values(), "a dense matrix on the device")? })
    }
    /// The dense matrix on the host.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Device`].
    pub fn download_dense<T: Value>(&self, x: &DeviceDense<T>) -> Result<Dense<T>> {
        Dense::new(x.nrows, x.ncols, self.get(&x.values, "a dense matrix from the device")?)
    }
}

/// Checks that a mask has one truth value for each index of a result.
pub(super) fn check_mask(mask: Option<(&RawBuffer, bool)>, expected: usize) -> Result<()> {
    let Some((m, _)) = mask else { return Ok(()) };
    if m.len() != expected {
        return Err(Error::Length { what: "mask", found: m.len(), expected });
    }
    m.check("mask", Type::Bool)
}
