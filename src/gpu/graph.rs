//! Launches recorded once and started together, again and again. Products do not use it: they wait for sizes between
//! their kernels.

use std::sync::Arc;

use super::Cuda;
use super::driver::Recorded;
use crate::Result;

/// What was put on the stream while it was recorded, and what it works on.
///
/// The graph runs on the memory that it was recorded with; `held` owns it. Memory given back during the recording is kept
/// until the graph goes, and so are the programs.
pub(crate) struct Graph<K> {
    // Fields are dropped in this order: the graph before what it works on.
    recorded: Recorded,
    held: K,
    _cuda: Cuda,
}

impl Cuda {
    /// Records what `launches` puts on the stream, without running it. `held` owns all memory that it works on.
    ///
    /// Kernels, fills and copies on the device may be recorded, from the calling thread; anything else there is an error,
    /// since it would have to run now: taking memory (memory taken while recording would belong to the graph, and be
    /// gone after its first run), copies from and to the host, waiting. Programs should have been used before, so
    /// that they are loaded. Other threads' work waits until the recording is over.
    /// # Errors
    /// Those of `launches`; [`Error::Unsupported`](crate::Error::Unsupported) for what cannot be recorded;
    /// [`Error::Device`](crate::Error::Device).
    pub(crate) fn graph<K>(&self, held: K, launches: impl FnOnce(&K) -> Result<()>) -> Result<Graph<K>> {
        let recorded = self.device().record(|| launches(&held))?;
        Ok(Graph { recorded, held, _cuda: self.clone() })
    }
}

impl<K> Graph<K> {
    /// Runs it, behind all that was started before.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub(crate) fn launch(&self) -> Result<()> {
        self.recorded.launch()
    }
    /// Kernels in it.
    pub(crate) fn kernels(&self) -> &[Arc<str>] {
        self.recorded.kernels()
    }
    /// What it works on.
    pub(crate) fn held(&self) -> &K {
        &self.held
    }
}
