//! The CUDA driver behind safe functions: context, one stream, a memory pool, modules.
//!
//! All work of a [`Device`] is put on one stream, so that memory is taken, used and given back in program order.

mod device;
mod errors;
mod event;
mod memory;
mod module;

pub(crate) use device::Device;
pub use device::Limits;
pub(in crate::gpu) use device::{count, driver_version};
pub(in crate::gpu) use errors::{failed, foreign};
pub(crate) use event::Event;
pub(crate) use module::Module;
pub(in crate::gpu) use module::Unloadable;
