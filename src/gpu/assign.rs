//! A scalar written where a sparse vector has entries: see `cuda/assign.cu`.

use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::transpose::words;
use super::{Cuda, DeviceSparseVec, DeviceVec};
use crate::algebra::Value;
use crate::{Error, Result};

const SOURCE: Source = source!("assign.cu");

impl Cuda {
    /// `w(i) = x` where `places` has an entry, whatever its value.
    ///
    /// Cost: one kernel, which writes each of those places once; returns when the work is on the device's stream.
    /// # Errors
    /// [`Error::Length`] if the vectors differ in length; [`Error::Compile`], [`Error::DeviceMemory`],
    /// [`Error::Device`].
    /// # Example
    /// ```no_run
    /// use sparring::{Cuda, sparse::SparseVec};
    /// let cuda = Cuda::new(0)?;
    /// let mut w = cuda.upload_vec(&[0; 4])?;
    /// let places = cuda.upload_sparse(&SparseVec::<bool>::new(4, vec![1, 3], vec![true, false])?)?;
    /// cuda.assign(&mut w, &places, 7)?;
    /// assert_eq!(cuda.download_vec(&w)?, [0, 7, 0, 7]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn assign<T: Value, S: Value>(&self, w: &mut DeviceVec<T>, places: &DeviceSparseVec<S>, x: T) -> Result<()> {
        if places.len() != w.len() {
            return Err(Error::Length { what: "places of an assignment", found: places.len(), expected: w.len() });
        }
        if places.nnz() == 0 {
            return Ok(());
        }
        let x = self.put(&[x], "the value of an assignment")?;
        let program = self.program(SOURCE, &words::<T>())?;
        let arguments = args![&places.indices, places.nnz() as u64, &x, &w.values];
        program.kernel("assign")?.launch(Shape::for_each(places.nnz(), 256)?, arguments)
    }
}

/// The programs of this file, as they are used.
pub(crate) fn programs() -> Vec<Unit> {
    [words::<bool>(), words::<[u32; 3]>(), words::<[u64; 4]>()]
        .map(|prefix| Unit { source: SOURCE, prefix, hot: &["assign"] })
        .into()
}
