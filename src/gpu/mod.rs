//! NVIDIA GPUs. The only place that knows CUDA.
//!
//! [`Cuda`] is a backend like [`Cpu`](crate::Cpu): a value that owns a stream, a pool of device memory and the programs
//! compiled so far. Kernels are the templates in `cuda/`, with the text of the caller's own operators in front,
//! compiled when they are first used. A machine needs the NVIDIA driver and NVRTC, no toolkit.
//!
//! # Example
//! From the host to the device and back, a step at a time:
//! ```no_run
//! use sparring::algebra::{MinPlus, Plus, PlusTimes, Ring};
//! use sparring::{Csr, Cuda};
//!
//! // 1. A device. Where there is none, this says what is missing.
//! let cuda = Cuda::new(0)?;
//!
//! // 2. Upload. The pattern goes there once: other values on it reuse what is there.
//! let a = Csr::<f64>::new(3, 3, vec![0, 2, 3, 4], vec![0, 1, 2, 0], vec![1.0, 2.0, 3.0, 4.0])?;
//! let on_device = cuda.upload(&a)?;
//!
//! // 3. Plan: the structure of A·A, from patterns alone.
//! let plan = cuda.plan(&on_device, &on_device)?;
//!
//! // 4. Values, as often as they change: over two semirings, and for other values of A.
//! let sums = cuda.numeric(&plan, PlusTimes::<f64>::default(), &on_device, &on_device)?;
//! let paths = cuda.numeric(&plan, MinPlus::<f64>::default(), &on_device, &on_device)?;
//! let doubled = cuda.upload(&a.map(|x| 2.0 * x)?)?;
//! let mut c = sums.clone();
//! cuda.numeric_into(&plan, PlusTimes::<f64>::default(), &doubled, &doubled, &mut c)?;
//!
//! // 5. A semiring of one's own: one definition, which the CPU runs and the GPU compiles.
//! sparring::op! {
//!     /// (a − b)²
//!     SquaredDiff (a: f64, b: f64) -> f64 {{ let d = a - b; d * d }}
//! }
//! let own = cuda.numeric(&plan, Ring(Plus::<f64>::new(), SquaredDiff::new()), &on_device, &on_device)?;
//!
//! // 6. Download.
//! let sums: Csr<f64> = cuda.download(&sums)?;
//! assert_eq!(sums.row(0), (&[0, 1, 2][..], &[1.0, 2.0, 6.0][..]));
//! let paths: Csr<f64> = cuda.download(&paths)?;
//! assert_eq!(paths.row(0), (&[0, 1, 2][..], &[2.0, 3.0, 5.0][..]));
//! let own: Csr<f64> = cuda.download(&own)?;
//! assert_eq!(own.row(0), (&[0, 1, 2][..], &[0.0, 1.0, 1.0][..]));
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! What runs on any machine is written against [`Backend`](crate::backend::Backend), which [`Cuda`] is:
//! ```no_run
//! use sparring::{Csr, Cuda, graph::bfs_levels};
//! let cuda = Cuda::new(0)?;
//! let path = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
//! assert_eq!(bfs_levels(&cuda, &cuda.upload(&path)?, 0)?, [Some(0), Some(1), Some(2)]);
//! # Ok::<(), sparring::Error>(())
//! ```

mod apply;
mod arg;
mod assign;
mod backend;
mod buffer;
mod cache;
mod csr;
mod cuda;
mod distance;
mod driver;
mod ewise;
mod find;
mod front;
mod graph;
mod jit;
mod launch;
mod memory;
mod naive_union;
mod nvrtc;
mod pattern;
mod reduce;
mod restrict;
mod rows;
mod scan;
pub mod spgemm;
mod spmm;
mod spmspv;
mod spmv;
mod spmv_plan;
mod staging;
#[doc(hidden)]
pub mod testing;
mod transpose;
mod triangles;
mod twins;
mod union;
mod union_plan;
mod vector;
mod vector_form;
mod vector_ops;

pub use backend::DevicePlaces;
pub(crate) use csr::RawCsr;
pub use csr::{DeviceCsr, Operand};
pub use cuda::Cuda;
pub use distance::DeviceVectors;
pub use driver::Limits;
pub use pattern::DevicePattern;
pub use spmv_plan::{SpmvKind, SpmvStats};
pub use triangles::{Stage, TriangleCount};
pub use union_plan::{UnionStats, UnionStrategy};
pub use vector::DeviceDense;
pub use vector_form::DeviceVector;
