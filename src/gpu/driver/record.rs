//! Work recorded on the stream of a device, to be run as one graph.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::device::Device;
use super::tape::{self, Tape};
use crate::{Error, Result};

impl Device {
    /// Records what `work` puts on the stream.
    pub(in crate::gpu) fn record(self: &Arc<Self>, work: impl FnOnce() -> Result<()>) -> Result<Recorded> {
        let what = "recording a graph";
        if tape::is_any() {
            return Err(Error::Unsupported { what: "a graph within a graph".into(), why: "record it before".into() });
        }
        self.bind()?;
        let alone = self.recording.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the stream is alive, and no one else uses it while the lock is held. The mode lets programs be loaded
        // meanwhile.
        unsafe {
            result::stream::begin_capture(self.stream(), sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)
        }
        .map_err(self.failed(what))?;
        tape::set(Some(&**self));
        // Ends the recording also where `work` panics.
        let recording = Recording { device: self, ended: false };
        let worked = work();
        let (graph, tape) = recording.end();
        drop(alone);
        let mut recorded = Recorded {
            device: Arc::clone(self),
            graph: std::ptr::null_mut(),
            executable: std::ptr::null_mut(),
            what: String::new().into(),
            tape,
            one: Mutex::default(),
        };
        let graph = graph.map(|graph| recorded.graph = graph);
        // What went wrong in the work says more than the recording that it spoiled.
        worked?;
        graph.map_err(self.failed(what))?;
        // SAFETY: the graph was just made.
        recorded.executable =
            unsafe { result::graph::instantiate(recorded.graph, sys::CUgraphInstantiate_flags_enum(0)) }
                .map_err(self.failed(what))?;
        recorded.what = format!("graph of [{}]", recorded.tape.kernels.join(", ")).into();
        Ok(recorded)
    }
}

/// A recording under way, ended in `end` or, where the work panicked, when it is dropped.
struct Recording<'a> {
    device: &'a Device,
    ended: bool,
}

impl Recording<'_> {
    fn stop(&mut self) -> (std::result::Result<sys::CUgraph, DriverError>, Tape) {
        self.ended = true;
        tape::set::<Device>(None);
        // SAFETY: this thread began the recording, and it is ended once.
        let graph = unsafe { result::stream::end_capture(self.device.stream()) };
        (graph, std::mem::take(&mut *self.device.tape.lock().unwrap_or_else(PoisonError::into_inner)))
    }
    fn end(mut self) -> (std::result::Result<sys::CUgraph, DriverError>, Tape) {
        self.stop()
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let (graph, tape) = self.stop();
        if let Ok(graph) = graph {
            // SAFETY: the graph was just made, and no one else has it.
            let _ = unsafe { result::graph::destroy(graph) };
        }
        // Not by `give`: this thread holds the lock for which that would wait.
        self.device.in_use.fetch_sub(tape.freed.iter().map(|f| f.1).sum(), Ordering::Relaxed);
        for (at, _) in tape.freed {
            // SAFETY: `at` came from `take`, and its owner has given it up; the recording is over.
            let _ = unsafe { result::free_async(at, self.device.stream()) };
        }
    }
}

/// Work that was recorded, to be run any number of times.
pub(in crate::gpu) struct Recorded {
    device: Arc<Device>,
    graph: sys::CUgraph,
    executable: sys::CUgraphExec,
    what: Arc<str>,
    tape: Tape,
    one: Mutex<()>,
}

// SAFETY: both handles may be used from any thread that has bound the context, by one at a time; `launch` is ordered by
// the stream, and they are destroyed once, in `drop`.
unsafe impl Send for Recorded {}
// SAFETY: as above; `launch` takes turns, by a lock of its own.
unsafe impl Sync for Recorded {}

impl Recorded {
    pub(in crate::gpu) fn kernels(&self) -> &[Arc<str>] {
        &self.tape.kernels
    }
    pub(in crate::gpu) fn launch(&self) -> Result<()> {
        let what = "running a graph";
        // Before the lock, which another thread may hold until this one's recording is over.
        drop(self.device.turn_now(what)?);
        // A graph may not be launched by two threads at a time.
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        let _turn = self.device.turn_now(what)?;
        // SAFETY: graph and stream are alive; what it works on is held beside it, and what was given back in `tape`.
        unsafe { result::graph::launch(self.executable, self.device.stream()) }
            .map_err(self.device.failed(&*self.what))?;
        self.device.started(&self.what);
        Ok(())
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: both are destroyed once; one that runs is let go when it is done.
            unsafe {
                if !self.executable.is_null() {
                    let _ = result::graph::exec_destroy(self.executable);
                }
                if !self.graph.is_null() {
                    let _ = result::graph::destroy(self.graph);
                }
            }
        }
        for (at, bytes) in std::mem::take(&mut self.tape.freed) {
            self.device.give(at, bytes);
        }
    }
}
