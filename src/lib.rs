//! Sparse linear algebra and sparse tensors over **any semiring**.
//!
//! See the README for a ladder of examples and `ARCHITECTURE.md` for the map.

pub mod algebra;
pub mod backend;
pub mod contract;
pub mod distance;
mod error;
pub mod factor;
#[cfg(feature = "cuda")]
pub mod gpu;
pub mod graph;
mod index;
pub mod io;
pub(crate) mod kernels;
pub(crate) mod ops;
pub mod par;
mod pattern;
pub mod prelude;
mod replace;
pub mod runtime;
pub(crate) mod simd;
pub mod sparse;
pub mod spgemm;
pub mod tensor;

pub use backend::Cpu;
pub use error::{Error, Result};
#[cfg(feature = "cuda")]
pub use gpu::Cuda;
pub use index::Index;
/// Complex numbers, those of the crate num-complex.
pub use num_complex;
pub use pattern::Pattern;
pub use simd::Isa;
pub use sparse::{Coo, Csr, Dense, Vector};
pub use tensor::Tensor;

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
