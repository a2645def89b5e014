//! Streams beside the device's one, and the events that order them.

use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUevent_flags, CUevent_wait_flags};
use cudarc::driver::{CudaContext, CudaStream};

/// Streams beside the device's one: as many kernels as the phase of a product with the most of them starts, less one.
pub(super) const SIDES: usize = 4;

/// An event that orders streams. The context is bound by the caller wherever one is made or dropped.
pub(super) struct Order(sys::CUevent);

// SAFETY: an event's handle may be used from any thread that has bound the context; it is destroyed once, in `drop`.
unsafe impl Send for Order {}
// SAFETY: as above: recording and waiting are the driver's, which locks.
unsafe impl Sync for Order {}

impl Order {
    fn new() -> Result<Self, DriverError> {
        result::event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING).map(Self)
    }
    /// The event is where `stream` is now.
    pub(super) fn record(&self, stream: sys::CUstream) -> Result<(), DriverError> {
        // SAFETY: event and stream are alive, of one context.
        unsafe { result::event::record(self.0, stream) }
    }
    /// What is put on `stream` from now on waits for the event.
    pub(super) fn hold(&self, stream: sys::CUstream) -> Result<(), DriverError> {
        // SAFETY: event and stream are alive, of one context.
        unsafe { result::stream::wait_event(stream, self.0, CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT) }
    }
}

impl Drop for Order {
    fn drop(&mut self) {
        // SAFETY: the event is destroyed once. An error here has no one to hear it.
        let _ = unsafe { result::event::destroy(self.0) };
    }
}

/// The streams, the event at a fork, and an event for each stream at its end.
///
/// Threads may fork at the same time: an event that another thread records again stands later in the same stream, so
/// that whoever waits for it waits for more, and nothing on a stream ever waits for what is put there later.
///
/// Fields are dropped in their order: the events first, since the streams may hold the context last.
pub(super) struct Sides {
    pub(super) fork: Order,
    pub(super) ends: [Order; SIDES],
    pub(super) streams: [Arc<CudaStream>; SIDES],
}

impl Sides {
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        let stream = || context.new_stream();
        Ok(Self {
            streams: [stream()?, stream()?, stream()?, stream()?],
            fork: Order::new()?,
            ends: [Order::new()?, Order::new()?, Order::new()?, Order::new()?],
        })
    }
}
