//! The CUDA driver behind safe functions: context, one stream, a memory pool, modules.
//!
//! All work of a [`Device`] is put on one stream, so that memory is allocated, used and freed in program order. The
//! exception is independent kernels, which run in [`ForkedStreams`] between a fork of that stream and a join.

mod device;
mod errors;
mod event;
mod foreign;
mod fork;
mod memory;
mod module;
mod pinned_pool;
mod readback;
mod side_streams;

pub(crate) use device::Device;
pub use device::Limits;
pub(in crate::gpu) use device::{count, driver_version};
pub(in crate::gpu) use errors::{failed, foreign};
pub(crate) use event::Event;
pub use foreign::DeviceArray;
pub(in crate::gpu) use fork::ForkedStreams;
pub(crate) use module::Module;
pub(in crate::gpu) use module::Unloadable;
pub(in crate::gpu) use readback::Readback;
