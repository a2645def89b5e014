//! Concurrent launches of independent kernels, between a fork of the device's stream and a join.

use std::sync::Arc;

use cudarc::driver::result::DriverError;
use cudarc::driver::sys;

use super::device::Device;
use super::errors::{failed, foreign};
use super::side_streams::{SIDES, SideStreams};
use crate::Result;

/// Streams for independent kernels, called lanes: lane 0 is the device's stream, the others wait for the work enqueued
/// before the fork. Memory used in a lane other than 0 must be allocated before the fork and freed after the join.
pub(in crate::gpu) struct ForkedStreams<'a> {
    device: &'a Arc<Device>,
    /// Side lanes in use.
    used: [bool; SIDES],
}

impl Device {
    /// Forks the stream.
    pub(in crate::gpu) fn fork_streams(self: &Arc<Self>) -> Result<ForkedStreams<'_>> {
        self.bind()?;
        self.side_streams.fork.record(self.stream()).map_err(failed("a fork of the stream"))?;
        Ok(ForkedStreams { device: self, used: [false; SIDES] })
    }
}

impl ForkedStreams<'_> {
    /// The stream of a lane, for a kernel of `device`. Lane 0 is the device's stream; the others share [`SIDES`]
    /// streams.
    pub(in crate::gpu) fn stream(&mut self, lane: usize, device: &Arc<Device>) -> Result<sys::CUstream> {
        if !Arc::ptr_eq(self.device, device) {
            return Err(foreign("lanes of kernels"));
        }
        let Some(side) = lane.checked_sub(1).map(|side| side % SIDES) else { return Ok(device.stream()) };
        let stream = device.side_streams.streams[side].cu_stream();
        if !self.used[side] {
            device.bind()?;
            device.side_streams.fork.delay(stream).map_err(failed("a fork of the stream"))?;
            self.used[side] = true;
        }
        Ok(stream)
    }
    fn end(&mut self) -> Result<(), DriverError> {
        let SideStreams { streams, ends, .. } = &self.device.side_streams;
        for ((used, stream), end) in self.used.iter_mut().zip(streams).zip(ends) {
            if std::mem::take(used) {
                end.record(stream.cu_stream())?;
                end.delay(self.device.stream())?;
            }
        }
        Ok(())
    }
    /// Joins: later work on the device's stream waits for all lanes.
    pub(in crate::gpu) fn join(mut self) -> Result<()> {
        self.device.bind()?;
        self.end().map_err(failed("a join of streams"))
    }
}

impl Drop for ForkedStreams<'_> {
    /// Joins after an error as well.
    fn drop(&mut self) {
        if self.used.contains(&true) && self.device.bind().is_ok() {
            let _ = self.end();
        }
    }
}
