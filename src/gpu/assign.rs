//! A scalar written where a sparse vector has entries: see `cuda/assign.cu`.

use std::sync::Arc;

use super::buffer::{Buffer, RawBuffer};
use super::front::{Front, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Program, Shape, args};
use super::memory::alone;
use super::{Cuda, DeviceSparseVec, DeviceVec};
use crate::algebra::{Slice, Type, Value};
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
        self.assign_raw(w.values.raw_mut(), &places.indices, Slice::of(&[x]))
    }
    pub(super) fn assign_program(&self, ty: Type) -> Result<Arc<Program>> {
        self.program_of(SOURCE, Front::new("", &[Setting::words(ty)]))
    }
    /// Writes the one value of `x` to the places of `w`, which no one shares.
    pub(crate) fn assign_raw(&self, w: &mut Arc<RawBuffer>, places: &Buffer<u32>, x: Slice<'_>) -> Result<()> {
        w.check("the value of an assignment", x.ty())?;
        alone(w, "w")?;
        if places.len() == 0 {
            return Ok(());
        }
        let x = self.put_raw(x, "the value of an assignment")?;
        let program = self.assign_program(w.ty())?;
        let arguments = args![places, places.len() as u64, &x, &*w];
        program.kernel("assign")?.launch(Shape::for_each(places.len(), 256)?, arguments)
    }
}

/// The programs of this file, as they are used.
pub(crate) fn programs() -> Vec<Unit> {
    [1, 12, 32]
        .map(|size| Front::new("", &[Setting::Words("Value", size)]).text())
        .map(|prefix| Unit { source: SOURCE, prefix, hot: &["assign"] })
        .into()
}
