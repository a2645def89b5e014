//! Kernels that do not depend on each other, side by side, from a fork of the device's stream to a join.

use std::sync::Arc;

use cudarc::driver::result::DriverError;
use cudarc::driver::sys;

use super::device::Device;
use super::errors::{failed, foreign};
use super::sides::{SIDES, Sides};
use crate::Result;

/// Lanes for kernels that do not depend on each other: lane 0 is the device's stream, the others begin behind what was
/// there at the fork. Memory that kernels of another lane than 0 use is taken before the fork and given back after the
/// join.
pub(in crate::gpu) struct Lanes<'a> {
    device: &'a Arc<Device>,
    /// Lanes beside the first that were used.
    used: [bool; SIDES],
}

impl Device {
    /// Forks.
    pub(in crate::gpu) fn lanes(self: &Arc<Self>) -> Result<Lanes<'_>> {
        self.bind()?;
        self.sides.fork.record(self.stream()).map_err(failed("a fork of the stream"))?;
        Ok(Lanes { device: self, used: [false; SIDES] })
    }
}

impl Lanes<'_> {
    /// The stream of a lane, for a kernel of `device`; there are as many lanes as [`SIDES`] and one.
    pub(in crate::gpu) fn stream(&mut self, lane: usize, device: &Arc<Device>) -> Result<sys::CUstream> {
        if !Arc::ptr_eq(self.device, device) {
            return Err(foreign("lanes of kernels"));
        }
        let Some(side) = lane.checked_sub(1).map(|side| side % SIDES) else { return Ok(device.stream()) };
        let stream = device.sides.streams[side].cu_stream();
        if !self.used[side] {
            device.bind()?;
            device.sides.fork.hold(stream).map_err(failed("a fork of the stream"))?;
            self.used[side] = true;
        }
        Ok(stream)
    }
    fn end(&mut self) -> Result<(), DriverError> {
        let Sides { streams, ends, .. } = &self.device.sides;
        for ((used, stream), end) in self.used.iter_mut().zip(streams).zip(ends) {
            if std::mem::take(used) {
                end.record(stream.cu_stream())?;
                end.hold(self.device.stream())?;
            }
        }
        Ok(())
    }
    /// What is put on the device's stream from now on waits for all lanes.
    pub(in crate::gpu) fn join(mut self) -> Result<()> {
        self.device.bind()?;
        self.end().map_err(failed("a join of streams"))
    }
}

impl Drop for Lanes<'_> {
    /// A join all the same, where an error came between.
    fn drop(&mut self) {
        if self.used.contains(&true) && self.device.bind().is_ok() {
            let _ = self.end();
        }
    }
}
