//! Which machine there is, and what is on it.

#[cfg(feature = "cuda")]
use crate::Cuda;
#[cfg(not(feature = "cuda"))]
use crate::Error;
use crate::par::Threads;
use crate::runtime::{Machine, Matrix, Plan};
use crate::{Cpu, Result};

/// What a GPU is called.
#[cfg(feature = "cuda")]
fn gpu(ordinal: usize) -> String {
    format!("cuda:{ordinal}")
}

impl Machine {
    /// The processor with a pool of `threads` threads, 0: one for each processor that the process may use. Operations refuse to
    /// take more than `memory_budget` bytes.
    /// # Errors
    /// [`Error::Threads`](crate::Error::Threads).
    pub fn cpu(threads: usize, memory_budget: Option<u64>) -> Result<Self> {
        let cpu = if threads == 0 { Cpu::new() } else { Cpu::with_threads(threads)? };
        Ok(Self::Cpu(match memory_budget {
            Some(bytes) => cpu.memory_budget(bytes),
            None => cpu,
        }))
    }
    /// GPU number `ordinal`. Operations refuse to take more than `memory_budget` bytes of its memory.
    /// # Errors
    /// [`Error::NoDevice`](crate::Error::NoDevice), which says what is missing: the driver, a device of that number, or the feature `cuda`.
    pub fn cuda(ordinal: usize, memory_budget: Option<u64>) -> Result<Self> {
        #[cfg(feature = "cuda")]
        {
            let cuda = Cuda::new(ordinal)?;
            Ok(Self::Cuda(match memory_budget {
                Some(bytes) => cuda.memory_budget(bytes),
                None => cuda,
            }))
        }
        #[cfg(not(feature = "cuda"))]
        {
            _ = memory_budget;
            Err(Error::NoDevice { ordinal, why: "the library was built without the feature cuda".into() })
        }
    }
    /// GPUs that the driver has; 0 where there is no driver, and without the feature `cuda`.
    #[must_use]
    pub fn gpus() -> usize {
        #[cfg(feature = "cuda")]
        {
            Cuda::count()
        }
        #[cfg(not(feature = "cuda"))]
        {
            0
        }
    }
    /// Whether it is a GPU.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        !matches!(self, Self::Cpu(_))
    }
    /// `cpu`, or `cuda:0` and so on.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Cpu(_) => "cpu".into(),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => gpu(cuda.limits().ordinal),
        }
    }
    /// What it is, in words that begin with its name.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Cpu(cpu) => format!("cpu, {} threads", cpu.threads().count()),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => {
                let (l, (major, minor)) = (cuda.limits(), cuda.limits().capability);
                let (name, units, memory) = (&l.name, l.multiprocessors, l.memory);
                format!(
                    "{}, {name}, capability {major}.{minor}, {units} multiprocessors, {memory} bytes of memory",
                    self.name()
                )
            }
        }
    }
    /// Its pool of threads, if it is the processor.
    #[must_use]
    pub fn threads(&self) -> Option<&Threads> {
        match self {
            Self::Cpu(cpu) => Some(cpu.threads()),
            #[cfg(feature = "cuda")]
            Self::Cuda(_) => None,
        }
    }
    /// Waits until it has done all that it was asked for.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device), of an operation before.
    pub fn wait(&self) -> Result<()> {
        match self {
            Self::Cpu(_) => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.synchronize(),
        }
    }
    /// Whether the matrix is in its memory.
    #[must_use]
    pub fn holds(&self, a: &Matrix) -> bool {
        match self {
            Self::Cpu(_) => a.is_on_host(),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => a.gpu().is_some_and(|on| on.shares_memory_with(cuda)),
        }
    }
    /// Whether the plan is one of its own.
    #[must_use]
    pub fn made(&self, plan: &Plan) -> bool {
        match (self, plan) {
            (Self::Cpu(_), Plan::Host(_)) => true,
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Plan::Device(plan)) => plan.array().is_on(cuda.device()),
            #[cfg(feature = "cuda")]
            _ => false,
        }
    }
}

impl Matrix {
    /// Name of the machine in whose memory it is, as of [`Machine::name`].
    #[must_use]
    pub fn machine(&self) -> String {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.gpu() {
            return gpu(cuda.limits().ordinal);
        }
        "cpu".into()
    }
}

impl Plan {
    /// Name of the machine that made it, as of [`Machine::name`].
    #[must_use]
    pub fn machine(&self) -> String {
        match self {
            Self::Host(_) => "cpu".into(),
            #[cfg(feature = "cuda")]
            Self::Device(plan) => gpu(plan.array().ordinal()),
        }
    }
}
