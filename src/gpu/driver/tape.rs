//! What is kept while a stream is recorded, and which thread records.

use std::cell::Cell;
use std::sync::Arc;

use cudarc::driver::sys;

/// What a recording keeps: names of kernels, and memory given back meanwhile with its bytes.
#[derive(Default)]
pub(super) struct Tape {
    pub(super) kernels: Vec<Arc<str>>,
    pub(super) freed: Vec<(sys::CUdeviceptr, u64)>,
}

thread_local! {
    /// The device whose stream this thread records, by its address; 0 for none.
    static RECORDING: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread records the stream of `device`.
pub(super) fn is_of<D>(device: &D) -> bool {
    RECORDING.get() == std::ptr::from_ref(device).addr()
}
/// Whether this thread records any stream.
pub(super) fn is_any() -> bool {
    RECORDING.get() != 0
}
/// This thread records the stream of `device`, or none.
pub(super) fn set<D>(device: Option<&D>) {
    RECORDING.set(device.map_or(0, |device| std::ptr::from_ref(device).addr()));
}
