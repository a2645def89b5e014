//! Matrices on the device, their upload and download.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
pub(crate) use super::pattern::{DevicePattern, Offsets};
use crate::algebra::{Array, Slice, Type, Value};
use crate::{Csr, Error, Index, Pattern, Result};

/// A sparse matrix on the device. The pattern is shared, as in [`Csr`].
///
/// # Example
/// ```no_run
/// use std::sync::Arc;
/// use sparring::{Csr, Cuda};
/// let cuda = Cuda::new(0)?;
/// let a = Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
/// let on_device = cuda.upload(&a)?;
/// // Other values on the same pattern: only the values are sent.
/// let doubled = cuda.upload(&a.map(|x| 2.0 * x)?)?;
/// assert!(Arc::ptr_eq(on_device.pattern(), doubled.pattern()));
/// let doubled: Csr<f64> = cuda.download(&doubled)?;
/// assert_eq!(doubled.values(), [2.0, 4.0, 6.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceCsr<T> {
    pub(crate) pattern: Arc<DevicePattern>,
    pub(crate) values: Buffer<T>,
}

impl<T> Clone for DeviceCsr<T> {
    /// Shares the arrays; nothing is copied.
    fn clone(&self) -> Self {
        Self { pattern: Arc::clone(&self.pattern), values: self.values.clone() }
    }
}

/// A sparse matrix on the device, the type of its values known at run time. A clone shares the arrays.
#[derive(Clone, Debug)]
pub(crate) struct RawCsr {
    pub(crate) pattern: Arc<DevicePattern>,
    pub(crate) values: Arc<RawBuffer>,
}

impl RawCsr {
    /// A matrix of a pattern and its values.
    pub(crate) fn new(pattern: DevicePattern, values: Arc<RawBuffer>) -> Self {
        Self { pattern: Arc::new(pattern), values }
    }
    /// Rows and columns.
    pub(crate) fn shape(&self) -> (usize, usize) {
        self.pattern.shape()
    }
    /// Entries.
    pub(crate) fn nnz(&self) -> usize {
        self.pattern.nnz
    }
    /// Type of the values.
    pub(crate) fn ty(&self) -> Type {
        self.values.ty()
    }
    /// The matrix with values of static type T.
    /// # Errors
    /// [`Error::Argument`] if its values are of another type.
    pub(crate) fn typed<T: Value>(self) -> Result<DeviceCsr<T>> {
        Ok(DeviceCsr { pattern: self.pattern, values: Buffer::of(self.values)? })
    }
}

impl<T: Value> DeviceCsr<T> {
    /// A matrix of a pattern and its values.
    pub(crate) fn new(pattern: DevicePattern, values: Buffer<T>) -> Self {
        Self { pattern: Arc::new(pattern), values }
    }
    /// The matrix without its static value type; nothing is copied.
    pub(crate) fn raw(&self) -> RawCsr {
        RawCsr { pattern: Arc::clone(&self.pattern), values: Arc::clone(self.values.raw()) }
    }
    /// The pattern of its entries.
    #[must_use]
    pub fn pattern(&self) -> &Arc<DevicePattern> {
        &self.pattern
    }
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.pattern.shape()
    }
    /// Entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.pattern.nnz
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pattern.bytes() + self.values.bytes()
    }
}

pub(super) fn column_bound(ncols: usize) -> Result<()> {
    // u32::MAX itself is never a column: kernels use it for an empty slot.
    let most = u32::MAX as usize;
    if ncols > most {
        return Err(Error::IndexOverflow { what: "columns on the device", needed: ncols as u128, max: most as u128 });
    }
    Ok(())
}

impl Cuda {
    /// An uninitialized array of `len` offsets, 64 bits wide if `large`.
    pub(crate) fn alloc_offsets(&self, large: bool, len: usize, what: &'static str) -> Result<Offsets> {
        Ok(if large { Offsets::Large(self.alloc(len, what)?) } else { Offsets::Small(self.alloc(len, what)?) })
    }
    /// A copy of the offsets.
    pub(crate) fn duplicate_offsets(&self, offsets: &Offsets, what: &'static str) -> Result<Offsets> {
        Ok(match offsets {
            Offsets::Small(p) => Offsets::Small(self.duplicate(p, what)?),
            Offsets::Large(p) => Offsets::Large(self.duplicate(p, what)?),
        })
    }
    /// Uploads a pattern.
    /// # Errors
    /// [`Error::IndexOverflow`] for 2³² columns or more; [`Error::DeviceMemory`], [`Error::OutOfMemory`],
    /// [`Error::Device`].
    pub fn upload_pattern<I: Index>(&self, pattern: &Pattern<I>) -> Result<DevicePattern> {
        column_bound(pattern.ncols())?;
        let (nnz, what) = (pattern.nnz(), "row pointers on the device");
        let row_ptr = if u32::try_from(nnz).is_ok() {
            let small =
                crate::par::collected(pattern.row_ptr().len(), pattern.row_ptr().iter().map(|&p| p as u32), what)?;
            Offsets::Small(self.put(&small, what)?)
        } else {
            let large =
                crate::par::collected(pattern.row_ptr().len(), pattern.row_ptr().iter().map(|&p| p as u64), what)?;
            Offsets::Large(self.put(&large, what)?)
        };
        let what = "columns on the device";
        let columns: &dyn Any = pattern;
        let col_idx = if let Some(same) = columns.downcast_ref::<Pattern<u32>>() {
            self.put(same.col_idx(), what)?
        } else {
            self.put(&crate::par::collected(nnz, pattern.col_idx().iter().map(|j| j.get() as u32), what)?, what)?
        };
        let (nrows, ncols) = pattern.shape();
        Ok(DevicePattern::new((nrows, ncols), pattern.is_sorted(), row_ptr, col_idx))
    }
    /// The pattern on the device, uploaded unless a copy is cached.
    pub(crate) fn shared_pattern<I: Index>(&self, pattern: &Arc<Pattern<I>>) -> Result<Arc<DevicePattern>> {
        if let Some(there) = self.pattern_cache().on_device(pattern) {
            return Ok(there);
        }
        let there = Arc::new(self.upload_pattern(pattern)?);
        self.pattern_cache().add(pattern, &there);
        Ok(there)
    }
    /// Uploads a matrix.
    /// # Errors
    /// Those of [`upload_pattern`](Self::upload_pattern).
    pub fn upload<T: Value, I: Index>(&self, a: &Csr<T, I>) -> Result<DeviceCsr<T>> {
        let a = a.compressed()?;
        let pattern = self.shared_pattern(a.pattern())?;
        Ok(DeviceCsr { pattern, values: self.put(a.values(), "values on the device")? })
    }
    /// Row pointers on the host.
    fn download_offsets(&self, offsets: &Offsets) -> Result<Vec<usize>> {
        let what = "row pointers from the device";
        match offsets {
            Offsets::Small(p) => {
                let p = self.get(p, what)?;
                crate::par::collected(p.len(), p.iter().map(|&x| x as usize), what)
            }
            Offsets::Large(p) => {
                let p = self.get(p, what)?;
                crate::par::collected(p.len(), p.iter().map(|&x| x as usize), what)
            }
        }
    }
    /// Downloads a pattern.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Device`]; [`Error::IndexOverflow`] if the columns do not fit `I`.
    pub fn download_pattern<I: Index>(&self, pattern: &DevicePattern) -> Result<Pattern<I>> {
        let row_ptr = self.download_offsets(&pattern.row_ptr)?;
        let columns = self.get(&pattern.col_idx, "columns from the device")?;
        let columns = crate::par::collected(
            columns.len(),
            columns.iter().map(|&j| I::cast(j as usize)),
            "columns from the device",
        )?;
        Ok(Pattern::from_parts(pattern.nrows, pattern.ncols, row_ptr, columns, pattern.sorted))
    }
    /// The pattern on the host, downloaded unless a copy is cached.
    fn host_pattern<I: Index>(&self, there: &Arc<DevicePattern>) -> Result<Arc<Pattern<I>>> {
        if let Some(here) = self.pattern_cache().on_host(there) {
            return Ok(here);
        }
        let here = Arc::new(self.download_pattern(there)?);
        self.pattern_cache().add(&here, there);
        Ok(here)
    }
    /// Downloads a matrix.
    /// # Errors
    /// Those of [`download_pattern`](Self::download_pattern).
    pub fn download<T: Value, I: Index>(&self, a: &DeviceCsr<T>) -> Result<Csr<T, I>> {
        Csr::with_pattern(self.host_pattern(&a.pattern)?, self.get(&a.values, "values from the device")?)
    }
}

impl Cuda {
    /// Uploads a matrix of a pattern and values, their type known at run time.
    /// # Errors
    /// [`Error::Length`]; those of [`upload`](Self::upload).
    pub(crate) fn upload_raw<I: Index>(&self, pattern: &Arc<Pattern<I>>, values: Slice<'_>) -> Result<RawCsr> {
        if values.len() != pattern.nnz() {
            return Err(Error::Length { what: "values of a matrix", found: values.len(), expected: pattern.nnz() });
        }
        let pattern = self.shared_pattern(pattern)?;
        Ok(RawCsr { pattern, values: self.put_raw(values, "values on the device")? })
    }
    /// Downloads the pattern and the values of a matrix.
    /// # Errors
    /// Those of [`download`](Self::download); [`Error::Unsupported`] for structs.
    pub(crate) fn download_raw<I: Index>(&self, a: &RawCsr) -> Result<(Arc<Pattern<I>>, Array)> {
        Ok((self.host_pattern(&a.pattern)?, self.get_raw(&a.values, "values from the device")?))
    }
}

/// The rows of a distance query: a matrix on the device, or one on the host, which is uploaded, in parts if it does not
/// fit. All other operations take matrices on the device.
#[diagnostic::on_unimplemented(
    message = "distances on a GPU take no `{Self}` as a matrix of `{T}`",
    note = "give it a `DeviceCsr<{T}>` made by `Cuda::upload`, or a `Csr<{T}>` of the host, which is sent there"
)]
pub trait Operand<T: Value> {
    /// The pattern on the device.
    /// # Errors
    /// Those of [`Cuda::upload_pattern`].
    fn pattern_on(&self, cuda: &Cuda) -> Result<Arc<DevicePattern>>;
    /// The matrix on the device.
    /// # Errors
    /// Those of [`Cuda::upload`].
    fn to_device(&self, cuda: &Cuda) -> Result<DeviceCsr<T>>;
    /// Rows, columns and entries.
    /// # Errors
    /// Those of [`pattern_on`](Self::pattern_on).
    fn sizes(&self, cuda: &Cuda) -> Result<[usize; 3]> {
        let pattern = self.pattern_on(cuda)?;
        Ok([pattern.nrows, pattern.ncols, pattern.nnz])
    }
    /// The row pointers, on the host.
    /// # Errors
    /// Those of [`pattern_on`](Self::pattern_on), and [`Error::OutOfMemory`].
    fn row_ptr(&self, cuda: &Cuda) -> Result<Vec<usize>> {
        cuda.download_offsets(&self.pattern_on(cuda)?.row_ptr)
    }
    /// Some of the rows on the device; of a matrix on the host, only these are uploaded.
    /// # Errors
    /// Those of [`to_device`](Self::to_device).
    fn rows_to_device(&self, cuda: &Cuda, rows: Range<usize>) -> Result<DeviceCsr<T>> {
        cuda.some_rows(&self.to_device(cuda)?, rows)
    }
}

impl<T: Value> Operand<T> for DeviceCsr<T> {
    fn pattern_on(&self, _: &Cuda) -> Result<Arc<DevicePattern>> {
        Ok(Arc::clone(&self.pattern))
    }
    fn to_device(&self, _: &Cuda) -> Result<DeviceCsr<T>> {
        Ok(self.clone())
    }
}

impl<T: Value, I: Index> Operand<T> for Csr<T, I> {
    fn pattern_on(&self, cuda: &Cuda) -> Result<Arc<DevicePattern>> {
        cuda.shared_pattern(self.pattern())
    }
    fn to_device(&self, cuda: &Cuda) -> Result<DeviceCsr<T>> {
        cuda.upload(self)
    }
    fn sizes(&self, _: &Cuda) -> Result<[usize; 3]> {
        Ok([self.nrows(), self.ncols(), self.nnz()])
    }
    fn row_ptr(&self, _: &Cuda) -> Result<Vec<usize>> {
        let row_ptr = self.pattern().row_ptr();
        crate::par::collected(row_ptr.len(), row_ptr.iter().copied(), "row pointers")
    }
    fn rows_to_device(&self, cuda: &Cuda, rows: Range<usize>) -> Result<DeviceCsr<T>> {
        column_bound(self.ncols())?;
        let (p, what) = (self.pattern(), "some rows on the device");
        let starts = &p.row_ptr()[rows.start..=rows.end];
        let entries = starts[0]..starts[rows.len()];
        let from_first = starts.iter().map(|start| start - entries.start);
        let row_ptr = if u32::try_from(entries.len()).is_ok() {
            let small = crate::par::collected(starts.len(), from_first.map(|p| p as u32), what)?;
            Offsets::Small(cuda.put(&small, what)?)
        } else {
            let large = crate::par::collected(starts.len(), from_first.map(|p| p as u64), what)?;
            Offsets::Large(cuda.put(&large, what)?)
        };
        let columns = p.col_idx()[entries.clone()].iter().map(|j| j.get() as u32);
        let columns = cuda.put(&crate::par::collected(entries.len(), columns, what)?, what)?;
        let pattern = DevicePattern::new((rows.len(), self.ncols()), p.is_sorted(), row_ptr, columns);
        Ok(DeviceCsr::new(pattern, cuda.put(&self.values()[entries], what)?))
    }
}
