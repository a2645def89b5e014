//! Side streams for concurrent kernels, and the events that order them.

use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUevent_flags, CUevent_wait_flags};
use cudarc::driver::{CudaContext, CudaStream};

/// Number of side streams: the most kernels that one phase of a product launches, less one.
pub(super) const SIDES: usize = 4;

/// An event that orders streams. The caller binds the context wherever one is created or dropped.
pub(super) struct SyncEvent(sys::CUevent);

// SAFETY: an event's handle may be used from any thread that has bound the context; it is destroyed once, in `drop`.
unsafe impl Send for SyncEvent {}
// SAFETY: as above: recording and waiting are driver calls, which lock.
unsafe impl Sync for SyncEvent {}

impl SyncEvent {
    fn new() -> Result<Self, DriverError> {
        result::event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING).map(Self)
    }
    /// Records the event at the current end of `stream`.
    pub(super) fn record(&self, stream: sys::CUstream) -> Result<(), DriverError> {
        // SAFETY: event and stream are alive and belong to one context.
        unsafe { result::event::record(self.0, stream) }
    }
    /// Makes later work on `stream` wait for the event.
    pub(super) fn delay(&self, stream: sys::CUstream) -> Result<(), DriverError> {
        // SAFETY: event and stream are alive and belong to one context.
        unsafe { result::stream::wait_event(stream, self.0, CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT) }
    }
}

impl Drop for SyncEvent {
    fn drop(&mut self) {
        // SAFETY: the event is destroyed once. Errors cannot be reported here.
        let _ = unsafe { result::event::destroy(self.0) };
    }
}

/// The side streams, the event of a fork, and an event for the end of each stream.
///
/// Threads may fork at the same time: an event that another thread records again is later in the same stream, so that a
/// wait for it only covers more work, and no stream ever waits for work enqueued after the wait.
///
/// Fields are dropped in order: the events first, since the streams may hold the last reference to the context.
pub(super) struct SideStreams {
    pub(super) fork: SyncEvent,
    pub(super) ends: [SyncEvent; SIDES],
    pub(super) streams: [Arc<CudaStream>; SIDES],
}

impl SideStreams {
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        let stream = || context.new_stream();
        Ok(Self {
            streams: [stream()?, stream()?, stream()?, stream()?],
            fork: SyncEvent::new()?,
            ends: [SyncEvent::new()?, SyncEvent::new()?, SyncEvent::new()?, SyncEvent::new()?],
        })
    }
}
