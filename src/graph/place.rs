//! The backends of graph algorithms.

#[cfg(feature = "cuda")]
use crate::Cuda;
use crate::{Cpu, Result};

/// A backend of graph algorithms: a [`Cpu`], a `Cuda` and, by name, a [`Machine`](crate::runtime::Machine).
///
/// A GPU sorts the edges of a directed graph by target vertex, and caches its copy of a graph until the graph is
/// dropped or used on another GPU. Results are bitwise those of the CPU, except where an algorithm sums doubles: those
/// sums are the same in every run on one GPU.
/// # Errors
/// On a GPU every algorithm may also fail with [`Error::DeviceMemory`](crate::Error::DeviceMemory),
/// [`Error::Budget`](crate::Error::Budget), [`Error::Device`](crate::Error::Device),
/// [`Error::Compile`](crate::Error::Compile) and [`Error::NoCompiler`](crate::Error::NoCompiler).
/// # Example
/// ```no_run
/// use sparring::graph::{Graph, GraphKind, bfs};
/// use sparring::{Cpu, Csr, Cuda};
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
/// let g = Graph::new(&Cpu::new(), &a, GraphKind::Directed)?;
/// assert_eq!(bfs(&Cuda::new(0)?, &g, 0)?, [0, 1, 2]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub trait GraphBackend {
    /// The CPU or the GPU.
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a machine that is neither.
    #[doc(hidden)]
    fn place(&self) -> Result<Place<'_>>;
}

/// A CPU or a GPU.
#[doc(hidden)]
#[derive(Debug)]
pub enum Place<'a> {
    Cpu(&'a Cpu),
    #[cfg(feature = "cuda")]
    Cuda(&'a Cuda),
}

impl GraphBackend for Cpu {
    fn place(&self) -> Result<Place<'_>> {
        Ok(Place::Cpu(self))
    }
}

#[cfg(feature = "cuda")]
impl GraphBackend for Cuda {
    fn place(&self) -> Result<Place<'_>> {
        Ok(Place::Cuda(self))
    }
}
