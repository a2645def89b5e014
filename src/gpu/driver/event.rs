//! Timing events.

use std::sync::Arc;

use cudarc::driver::result;
use cudarc::driver::sys;

use super::device::Device;
use super::errors::failed;
use crate::Result;

/// A point in the stream, with its time.
pub(crate) struct Event {
    event: sys::CUevent,
    device: Arc<Device>,
}

// SAFETY: an event's handle may be used from any thread that has bound the context; it is destroyed once, in `drop`.
unsafe impl Send for Event {}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Event")
    }
}

impl Event {
    /// Records an event at the current end of the stream.
    pub(in crate::gpu) fn now(device: &Arc<Device>) -> Result<Self> {
        device.bind()?;
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(failed("an event"))?;
        let made = Self { event, device: Arc::clone(device) };
        // SAFETY: event and stream are alive and belong to one context.
        unsafe { result::event::record(event, device.stream()) }.map_err(failed("recording an event"))?;
        Ok(made)
    }
    /// Milliseconds from this event to `end`; waits for `end`.
    pub(in crate::gpu) fn ms_until(&self, end: &Self) -> Result<f64> {
        self.device.bind()?;
        // SAFETY: both events are alive and were recorded.
        unsafe {
            result::event::synchronize(end.event).map_err(self.device.failed("waiting for an event"))?;
            result::event::elapsed(self.event, end.event).map(f64::from).map_err(failed("the time between events"))
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: the event is destroyed once.
            let _ = unsafe { result::event::destroy(self.event) };
        }
    }
}
