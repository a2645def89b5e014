//! The CUDA driver behind safe functions: context, one stream, a memory pool, modules.
//!
//! All work of a [`Device`] is put on one stream, so that memory is taken, used and given back in program order; but
//! for kernels that do not depend on each other, which run in [`Lanes`] between a fork of that stream and a join.

mod device;
mod errors;
mod event;
mod foreign;
mod lanes;
mod letter;
mod mail;
mod memory;
mod module;
mod sides;

pub(crate) use device::Device;
pub use device::Limits;
pub(in crate::gpu) use device::{count, driver_version};
pub(in crate::gpu) use errors::{failed, foreign};
pub(crate) use event::Event;
pub use foreign::DeviceArray;
pub(in crate::gpu) use lanes::Lanes;
pub(in crate::gpu) use letter::Letter;
pub(crate) use module::Module;
pub(in crate::gpu) use module::Unloadable;
