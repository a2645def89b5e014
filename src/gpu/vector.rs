//! Vectors and dense matrices on the device, and how they get there and back.

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::column_bound;
use crate::algebra::{Type, Value};
use crate::sparse::{Dense, SparseVec};
use crate::{Error, Index, Result};

/// A vector on the device with a value at every place.
///
/// # Example
/// ```no_run
/// use sparring::{Csr, Cuda, algebra::PlusTimes};
/// let cuda = Cuda::new(0)?;
/// let a = cuda.upload(&Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![2.0, 3.0])?)?;
/// let x = cuda.upload_vec(&[1.0, 10.0])?;
/// // A·(A·x): the vector between stays on the device.
/// let y = cuda.mxv(PlusTimes::default(), &a, &cuda.mxv(PlusTimes::default(), &a, &x, None)?, None)?;
/// assert_eq!(cuda.download_vec(&y)?, [6.0, 60.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceVec<T> {
    pub(crate) values: Buffer<T>,
}

impl<T: Value> DeviceVec<T> {
    /// Places.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Whether there are no places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.len() == 0
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.values.bytes()
    }
}

/// A vector on the device with entries at some places, as increasing indices and their values.
///
/// # Example
/// ```no_run
/// use sparring::{Csr, Cuda, algebra::PlusTimes, sparse::SparseVec};
/// let cuda = Cuda::new(0)?;
/// let a = cuda.upload(&Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![2.0, 3.0])?)?;
/// let x = cuda.upload_sparse(&SparseVec::<f64>::new(2, vec![1], vec![10.0])?)?;
/// let y: SparseVec<f64> = cuda.download_sparse(&cuda.vxm(PlusTimes::default(), &x, &a, None)?)?;
/// assert_eq!((y.indices(), y.values()), (&[0][..], &[30.0][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceSparseVec<T> {
    pub(crate) len: usize,
    pub(crate) indices: Buffer<u32>,
    pub(crate) values: Buffer<T>,
}

impl<T: Value> DeviceSparseVec<T> {
    /// Places, with or without an entry.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are no places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Entries, stored zeros included.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.indices.bytes() + self.values.bytes()
    }
}

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
    /// The vector on the device.
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn upload_vec<T: Value>(&self, values: &[T]) -> Result<DeviceVec<T>> {
        Ok(DeviceVec { values: self.put(values, "a vector on the device")? })
    }
    /// The vector on the host.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Device`].
    pub fn download_vec<T: Value>(&self, v: &DeviceVec<T>) -> Result<Vec<T>> {
        self.get(&v.values, "a vector from the device")
    }
    /// The sparse vector on the device.
    /// # Errors
    /// [`Error::IndexOverflow`] for 2³² places or more; [`Error::OutOfMemory`], [`Error::DeviceMemory`],
    /// [`Error::Device`].
    pub fn upload_sparse<T: Value, I: Index>(&self, v: &SparseVec<T, I>) -> Result<DeviceSparseVec<T>> {
        column_bound(v.len())?;
        let what = "indices on the device";
        let indices = crate::par::collected(v.nnz(), v.indices().iter().map(|i| i.get() as u32), what)?;
        Ok(DeviceSparseVec {
            len: v.len(),
            indices: self.put(&indices, what)?,
            values: self.put(v.values(), "values on the device")?,
        })
    }
    /// The sparse vector on the host.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Device`].
    pub fn download_sparse<T: Value, I: Index>(&self, v: &DeviceSparseVec<T>) -> Result<SparseVec<T, I>> {
        let what = "indices from the device";
        let indices = self.get(&v.indices, what)?;
        let indices = crate::par::collected(indices.len(), indices.iter().map(|&i| I::cast(i as usize)), what)?;
        SparseVec::new(v.len, indices, self.get(&v.values, "values from the device")?)
    }
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

/// Checks that a mask has one truth value for each place of a result.
pub(super) fn check_mask(mask: Option<(&RawBuffer, bool)>, expected: usize) -> Result<()> {
    let Some((m, _)) = mask else { return Ok(()) };
    if m.len() != expected {
        return Err(Error::Length { what: "mask", found: m.len(), expected });
    }
    m.check("mask", Type::Bool)
}
