//! The processor as a backend.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::Result;
use crate::par::{Progress, Threads};

/// The processor: a pool of threads and the settings of the operations that run on it.
#[derive(Debug, Default)]
pub struct Cpu {
    threads: Threads,
    pub(super) budget: Option<u64>,
}

impl Cpu {
    /// The threads of the pool that the caller is in.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// `n` threads of its own.
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for 0, [`Error::Threads`](crate::Error::Threads) if the system
    /// refuses.
    pub fn with_threads(n: usize) -> Result<Self> {
        Ok(Self { threads: Threads::new(n)?, ..Self::default() })
    }
    /// Refuses products and distances whose results and scratch memory together would exceed `bytes`. What takes less
    /// memory and more time is chosen before it comes to that.
    #[must_use]
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.budget = Some(bytes);
        self
    }
    /// Reports progress of long operations to `f`, which may stop them.
    #[must_use]
    pub fn on_progress(mut self, f: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        self.threads = self.threads.on_progress(f);
        self
    }
    /// The same processor, whose operations end with [`Error::Cancelled`](crate::Error::Cancelled) soon after `flag` is
    /// set: when the tasks that run at that moment are done. They share one pool of threads.
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
    /// Bytes that an operation may take, if [`memory_budget`](Self::memory_budget) said so.
    #[must_use]
    pub fn budget(&self) -> Option<u64> {
        self.budget
    }
    /// The pool of threads.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }
}
