//! The CPU backend.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::Result;
use crate::par::{Progress, Threads};

/// The CPU backend: a thread pool and the settings of its operations.
#[derive(Debug, Default)]
pub struct Cpu {
    threads: Threads,
    pub(super) budget: Option<u64>,
}

impl Cpu {
    /// Uses the thread pool of the caller.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Uses a pool of its own with `n` threads.
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for 0, [`Error::Threads`](crate::Error::Threads) if the system
    /// refuses.
    pub fn with_threads(n: usize) -> Result<Self> {
        Ok(Self { threads: Threads::new(n)?, ..Self::default() })
    }
    /// Rejects products and distances whose results and scratch memory together would exceed `bytes`. Slower algorithms
    /// with less memory are tried first.
    #[must_use]
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.budget = Some(bytes);
        self
    }
    /// Reports the progress of long operations to `f`, which may cancel them.
    #[must_use]
    pub fn on_progress(mut self, f: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        self.threads = self.threads.on_progress(f);
        self
    }
    /// A backend on the same thread pool whose operations end with [`Error::Cancelled`](crate::Error::Cancelled) soon
    /// after `flag` is set, once the running tasks are done.
    ///
    /// ```
    /// use sparring::prelude::*;
    /// use std::sync::{Arc, atomic::AtomicBool};
    /// let a = Csr::<f64>::eye(1000)?;
    /// let flag = Arc::new(AtomicBool::new(true));
    /// let stopped = Cpu::new().stopped_by(flag).mxm(PlusTimes::<f64>::new(), &a, &a).eval();
    /// assert!(matches!(stopped, Err(Error::Cancelled { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn stopped_by(&self, flag: Arc<AtomicBool>) -> Self {
        Self { threads: self.threads.stopped_by(flag), budget: self.budget }
    }
    /// Memory budget of an operation in bytes, if set by [`memory_budget`](Self::memory_budget).
    #[must_use]
    pub fn budget(&self) -> Option<u64> {
        self.budget
    }
    /// The thread pool.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }
}
