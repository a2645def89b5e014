//! A neighbour index whose rows of Y stay on the device across queries.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::algorithm::CachedRows;
use super::given::{Given, Of};
use super::vectors::{DeviceVectors, Prepared};
use crate::distance::{Float, Measure, Neighbours, Options, QuerySpec, index_file};
use crate::gpu::csr::Operand;
use crate::gpu::{Cuda, DeviceCsr};
use crate::{Csr, Result};

/// Rows of Y, prepared for a measure and indexed on the device once, for any number of neighbour queries.
///
/// Results have the same bits as preparing both sides together. For a two-pass NAMM, Y is prepared with each X, from
/// rows that stay on the device. Device memory: about 56 bytes per entry. The rows of X are on the host or on the
/// device.
///
/// ```no_run
/// use sparring::{Csr, Cuda, distance::{Metric, Options}};
/// let cuda = Cuda::new(0)?;
/// let y = Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?;
/// let index = cuda.index(Metric::Cosine, &y, Options::default())?;
/// let x = Csr::<f64>::new(1, 2, vec![0, 1], vec![0], vec![3.0])?;
/// assert_eq!(index.knn(&x, 2)?.row(0).0, [0, 2]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub struct DeviceIndex<T> {
    cuda: Cuda,
    measure: Arc<dyn Measure>,
    options: Options,
    y: DeviceCsr<T>,
    cached: CachedRows,
}

impl<T> std::fmt::Debug for DeviceIndex<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (m, k) = (self.y.pattern.nrows, self.y.pattern.ncols);
        write!(f, "{m} rows of {k} columns by {}: {:?}", self.measure.name(), self.options)
    }
}

impl Cuda {
    /// Prepares and indexes the rows of Y, on the host or on the device: see [`DeviceIndex`].
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Argument`](crate::Error::Argument) for
    /// `exclude_self`.
    pub fn index<T: Float, A: Operand<T>>(
        &self,
        measure: impl Measure + 'static,
        y: &A,
        options: Options,
    ) -> Result<DeviceIndex<T>> {
        self.index_of(Arc::new(measure), y.to_device(self)?, options)
    }
    /// Loads an index from a file, whichever backend saved it.
    /// # Errors
    /// Those of [`Cpu::load_index`](crate::Cpu::load_index) and of [`index`](Self::index).
    pub fn load_index<T: Float>(&self, path: impl AsRef<Path>) -> Result<DeviceIndex<T>> {
        let (measure, options, y) = index_file::read_path::<T, u32>(path.as_ref())?;
        self.index(measure, &y, options)
    }
    /// Reads a saved index.
    /// # Errors
    /// Those of [`load_index`](Self::load_index).
    pub fn load_index_from<T: Float>(&self, from: &mut dyn Read) -> Result<DeviceIndex<T>> {
        let (measure, options, y) = index_file::read::<T, u32>(from)?;
        self.index(measure, &y, options)
    }
    pub(crate) fn index_of<T: Float>(
        &self,
        measure: Arc<dyn Measure>,
        y: DeviceCsr<T>,
        options: Options,
    ) -> Result<DeviceIndex<T>> {
        let cached = {
            let question = QuerySpec { op: "an index of rows", measure: &*measure, options };
            let source = Of::<T, _>::new(&y);
            let shape = (y.pattern.nrows, y.pattern.ncols);
            question.check(shape, Some(shape))?;
            let given = Given::new(self, &question, T::TYPE, &source, None)?;
            given.way.cache_rows(self, given.whole(&source)?)?
        };
        Ok(DeviceIndex { cuda: self.clone(), measure, options, y, cached })
    }
}

impl<T: Float> DeviceIndex<T> {
    /// Prepares rows of X for comparison with Y, for several tasks.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    pub fn rows<A: Operand<T>>(&self, x: &A) -> Result<DeviceVectors<T>> {
        let question = QuerySpec { op: "neighbours", measure: &*self.measure, options: self.options };
        let (x, y) = (Of::<T, A>::new(x), Of::<T, _>::new(&self.y));
        let given = Given::new(&self.cuda, &question, T::TYPE, &x, Some(&y))?;
        Ok(DeviceVectors::new(Prepared::with_cached(&given, &self.cached)?))
    }
    /// The `k` nearest rows of Y for each row of X, on the host.
    /// # Errors
    /// Those of [`rows`](Self::rows).
    pub fn knn<A: Operand<T>>(&self, x: &A, k: usize) -> Result<Neighbours<T>> {
        self.rows(x)?.nearest(k)
    }
    /// The rows of Y at most `radius` away from each row of X, with their distances, on the device.
    /// # Errors
    /// Those of [`rows`](Self::rows); [`Error::Argument`](crate::Error::Argument) for a radius that is NaN.
    pub fn radius<A: Operand<T>>(&self, x: &A, radius: f64) -> Result<DeviceCsr<T>> {
        self.rows(x)?.within(radius)
    }
    /// Rows and columns of Y.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.y.pattern.nrows, self.y.pattern.ncols)
    }
    /// Writes the index, as [`NeighbourIndex::save_to`](crate::distance::NeighbourIndex::save_to) does.
    /// # Errors
    /// Those of [`NeighbourIndex::save_to`](crate::distance::NeighbourIndex::save_to);
    /// [`Error::Device`](crate::Error::Device).
    pub fn save_to(&self, to: &mut dyn Write) -> Result<()> {
        let y: Csr<T> = self.cuda.download(&self.y)?;
        index_file::write(to, &*self.measure, &self.options, &y)
    }
    /// Writes the index to a file, as [`NeighbourIndex::save`](crate::distance::NeighbourIndex::save) does.
    /// # Errors
    /// Those of [`save_to`](Self::save_to).
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        index_file::write_path(path.as_ref(), |to| self.save_to(to))
    }
}
