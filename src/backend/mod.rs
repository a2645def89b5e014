//! Where operations run. [`Cpu`] is a value that owns its threads and settings.

mod cpu;
mod mxm;

pub use crate::par::Progress;
pub use cpu::Cpu;
pub use mxm::Mxm;
