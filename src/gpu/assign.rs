//! A scalar written at the places of a list: see `cuda/assign.cu`.

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::front::{Front, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use crate::Result;

const SOURCE: Source = source!("assign.cu");

impl Cuda {
    /// w(i) = x at the places of a list, x being one value of w's type. One kernel, which writes each of those places once.
    pub(super) fn assign_listed(&self, w: &RawBuffer, places: &Buffer<u32>, x: &RawBuffer) -> Result<()> {
        let program = self.program_of(SOURCE, Front::new("", &[Setting::words(w.ty())]))?;
        let arguments = args![places, places.len() as u64, x, w];
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
