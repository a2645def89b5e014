//! Sparse linear algebra and sparse tensors over **any semiring**.
//!
//! ```
//! use sparring::prelude::*;
//!
//! // 0 → 1 costs 5, 0 → 2 costs 1, 2 → 1 costs 2.
//! let a = Csr::<f64>::new(3, 3, vec![0, 2, 2, 3], vec![1, 2, 1], vec![5.0, 1.0, 2.0])?;
//! let cpu = Cpu::new();
//! let two_steps = cpu.mxm(MinPlus::new(), &a, &a).eval()?;
//! assert_eq!(two_steps.get(0, 1), Some(&3.0));
//! let shortest = cpu.ewise_add(Min::new(), &a, &two_steps).eval()?;
//! assert_eq!(shortest.get(0, 1), Some(&3.0));
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! A semiring is a type, such as [`Ring<Min<f64>, Plus<f64>>`](algebra::Ring) for shortest paths; [`op!`] defines
//! custom operators. Operations are methods of a backend: [`Cpu`] or, with the feature `cuda`, `Cuda`. Algorithms
//! written against the trait [`Backend`](backend::Backend) run on both.
//!
//! | task | start with |
//! | --- | --- |
//! | matrices and vectors | [`Csr`], [`Coo`], [`Vector`], [`Dense`] |
//! | products, elementwise operations, masks, plans | [`Backend`](backend::Backend) |
//! | semirings, monoids, operators | [`algebra`] |
//! | files | [`io`] |
//! | graphs: searches, shortest paths, components, centralities, communities, triangles | [`graph`] |
//! | distances and nearest neighbours of sparse rows | [`distance`], [`DistanceBackend`](backend::DistanceBackend) |
//! | sparse tensors, CP | [`Tensor`], [`factor::CpAls`] |
//! | batches of small dense tensors | [`contract`], [`einsum!`] |
//! | types and operators known at run time | [`runtime`] |
//!
//! [`prelude`] re-exports what most programs use; [`guide`] has longer examples.

pub mod algebra;
pub mod backend;
pub mod contract;
pub mod distance;
mod error;
pub mod factor;
#[cfg(feature = "cuda")]
pub mod gpu;
pub mod graph;
pub mod guide;
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
/// The crate num-complex, whose complex numbers are value types.
pub use num_complex;
pub use pattern::Pattern;
pub use simd::Isa;
pub use sparse::{Coo, Csr, Dense, Vector};
pub use tensor::Tensor;

/// Runs the examples of the README as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
