//! Arguments of kernels, by value.

use std::sync::Arc;

use cudarc::driver::sys;

use super::driver::Device;

/// One argument of a kernel, by value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arg {
    pub(super) bytes: [u8; 8],
    pub(super) size: usize,
    /// Of an array, the device that it is on, by its address; else 0.
    pub(super) owner: usize,
}

impl Arg {
    /// No array.
    pub(crate) fn null() -> Self {
        0u64.into()
    }
    /// The array of `device` that begins at `at`.
    pub(super) fn array(at: sys::CUdeviceptr, device: &Arc<Device>) -> Self {
        Self { owner: Arc::as_ptr(device).addr(), ..at.into() }
    }
}
impl From<u64> for Arg {
    fn from(x: u64) -> Self {
        Self { bytes: x.to_ne_bytes(), size: 8, owner: 0 }
    }
}
impl From<u32> for Arg {
    fn from(x: u32) -> Self {
        let [a, b, c, d] = x.to_ne_bytes();
        Self { bytes: [a, b, c, d, 0, 0, 0, 0], size: 4, owner: 0 }
    }
}

/// Arguments in the order of the kernel's parameters: buffers by reference, `u32` and `u64` by value.
macro_rules! args {
    ($($x:expr),* $(,)?) => { &[$($crate::gpu::arg::Arg::from($x)),*] };
}
pub(crate) use args;
