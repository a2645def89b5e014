//! NVIDIA GPUs. The only place that knows CUDA.
//!
//! [`Cuda`] is a backend like [`Cpu`](crate::Cpu): a value that owns a stream, a pool of device memory and the programs
//! compiled so far. Kernels are the templates in `cuda/`, with the text of the caller's own operators in front,
//! compiled when they are first used. A machine needs the NVIDIA driver and NVRTC, no toolkit.
//!
//! # Example
//! From the host to the device and back, a step at a time:
//! ```no_run
//! use sparring::prelude::*;
//!
//! // 1. A device. Where there is none, this says what is missing.
//! let cuda = Cuda::new(0)?;
//!
//! // 2. Upload. The pattern goes there once: other values on it reuse what is there.
//! let a = Csr::<f64>::new(3, 3, vec![0, 2, 3, 4], vec![0, 1, 2, 0], vec![1.0, 2.0, 3.0, 4.0])?;
//! let there = cuda.upload(&a)?;
//!
//! // 3. Plan: the structure of A·A, from patterns alone.
//! let plan = cuda.plan(&there, &there).eval()?;
//!
//! // 4. Values, as often as they change: over two semirings, and for other values of A, in place.
//! let paths = cuda.mxm(MinPlus::<f64>::default(), &there, &there).plan(&plan).eval()?;
//! let mut sums = cuda.mxm(PlusTimes::<f64>::default(), &there, &there).plan(&plan).eval()?;
//! let doubled = cuda.upload(&a.map(|x| 2.0 * x)?)?;
//! cuda.mxm(PlusTimes::<f64>::default(), &doubled, &doubled).plan(&plan).into(&mut sums)?;
//!
//! // 5. A semiring of one's own: one definition, which the CPU runs and the GPU compiles.
//! sparring::op! {
//!     /// (a − b)²
//!     SquaredDiff (a: f64, b: f64) -> f64 {{ let d = a - b; d * d }}
//! }
//! let own = cuda.mxm(Ring(Plus::<f64>::new(), SquaredDiff::new()), &there, &there).plan(&plan).eval()?;
//!
//! // 6. Download.
//! let sums: Csr<f64> = cuda.download(&sums)?;
//! assert_eq!(sums.row(0), (&[0, 1, 2][..], &[4.0, 8.0, 24.0][..]));
//! let paths: Csr<f64> = cuda.download(&paths)?;
//! assert_eq!(paths.row(0), (&[0, 1, 2][..], &[2.0, 3.0, 5.0][..]));
//! let own: Csr<f64> = cuda.download(&own)?;
//! assert_eq!(own.row(0), (&[0, 1, 2][..], &[0.0, 1.0, 1.0][..]));
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! # Operations
//! They are those of [`Backend`](crate::backend::Backend). Results are those of the CPU, and the same in every run;
//! what it costs, and where floats have other bits, for vectors of n places and matrices of m rows:
//!
//! | operation | cost | bits |
//! | --- | --- | --- |
//! | `mxm`, `plan` | see [`spgemm`] | the CPU's: folds go in the order of A's row |
//! | `mxv`, x full | O(nnz + m); where a long row makes shares of equal work pay, a value and 8 bytes for every 896 entries and rows stay with A's pattern | a row is folded in parts, joined as a tree: those of the CPU where ⊕ is exact |
//! | `mxv`, x not full | that of A times a matrix of one column | the CPU's |
//! | `vxm`, x a list | P products of x's entries with rows of A: one kernel of one block and one wait for up to 2048 entries, 16,384 products and 4096 of them allowed by the mask; else a radix sort of them by column, P · (20 + the size of a value) bytes, 2 waits. The rest of A is not gone through | the CPU's |
//! | `vxm`, x full, or a bitmap where A has up to 2²² entries or x is known to have a 32nd of its places | O(nnz + n), one kernel, no wait. The first of a pattern sorts it by column; 8 bytes an entry stay with it | the CPU's |
//! | `ewise_add`, `ewise_mult`, `ewise_union` | of matrices and lists a binary search for each entry, 12 bytes an entry of A; of other vectors O(n) | the CPU's |
//! | `apply`, `apply_index`, `select` | reads each entry once, `select` twice | the CPU's but for functions such as `exp`, whose last bits differ |
//! | `reduce`, `reduce_rows` | reads each value once | rows of up to 128 entries the CPU's. Longer ones, and all values of `reduce`, are cut into chunks of 4096: part t < 256 of a chunk is the fold of entries t, t + 256, … from the identity, parts are folded by halves (t with t + 128, then t + 64, …), then chunks in order, for `reduce` again in this way |
//! | `transpose` | a stable radix sort: ⌈log₂(ncols) / 8⌉ passes, 12 bytes an entry | the CPU's |
//! | `extract`, `assign` of vectors | O(n) of what is written to; a list of indices is sent at its first use, a slice at each | the CPU's |
//! | `extract_matrix`, `split`, `resize` | whole rows and ranges of columns O(m) and a search for each entry of the result; other columns a look at each entry of the rows, and a bit for it | the CPU's |
//! | `assign_matrix` | O(m), a look at each entry of C, and a search for each entry of the result | the CPU's |
//! | `extract_row`, `extract_column`, `diagonal` | a search for each place | the CPU's |
//! | `diag`, `concat` | O(m) and a copy of the entries | the CPU's |
//! | `count_rows`, `argmin_rows`, `argmax_rows` | O(m), and each entry read once but for counts | the CPU's |
//! | `assign_scalar` under a mask | in place: O(nnz) of a mask that is a list, else O(n) | the CPU's |
//! | masks | a binary search in the mask for each entry of a matrix; of vectors O(n), of a list O(nnz) | |
//! | `mxd` | O(n · (nnz + m)), and the sums of parts of rows of more than 256 entries | such rows are folded in parts; one column as by `mxv` |
//! | `einsum` | [`einsum`](Cuda::einsum): a kernel for each pair of operands, cuBLAS for large products of floats | the CPU's; cuBLAS has its own, and so has what is folded in a tree; of a mass operator's [action](crate::contract::Mass::action) its own |
//! | `mttkrp` of sparse tensors | [`DeviceMttkrp`]: a sort for each mode when it is made, then O(d · R · nnz) | rows are folded in pieces of equal work |
//!
//! Another scalar, fill or index compiles nothing anew; another operator does.
//! [`Any`](crate::algebra::Any) gives a value that is there, perhaps another one than the CPU's.
//! Source of the merge: Merrill, Garland 2016, "Merge-based parallel sparse matrix-vector multiplication".
//!
//! What runs on any machine is written against the trait:
//! ```no_run
//! use sparring::{Csr, Cuda, graph::bfs_levels};
//! let cuda = Cuda::new(0)?;
//! let path = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
//! assert_eq!(bfs_levels(&cuda, &cuda.upload(&path)?, None, 0)?, [Some(0), Some(1), Some(2)]);
//! # Ok::<(), sparring::Error>(())
//! ```

#![cfg_attr(not(feature = "testing"), allow(unreachable_pub, reason = "`testing` shows it"))]

mod adopt;
mod aggregate;
mod apply;
mod arg;
mod assemble;
mod assign;
mod backend;
mod buffer;
mod cache;
mod contract;
mod cp;
mod csr;
mod cublas;
mod cuda;
mod distance;
mod driver;
mod ewise;
mod find;
mod front;
mod graph;
mod index;
mod jit;
mod kronecker;
mod launch;
mod memory;
#[cfg_attr(not(feature = "testing"), allow(dead_code, reason = "for tests and benches"))]
mod naive_union;
mod nvrtc;
mod part;
mod pattern;
mod reduce;
mod restrict;
mod rows;
mod scan;
pub mod spgemm;
mod spmm;
mod spmspv;
mod spmspv_block;
mod spmv;
mod spmv_columns;
mod spmv_plan;
mod staging;
mod tensor;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(not(feature = "testing"))]
#[allow(dead_code, unused_imports, unreachable_pub, reason = "for tests, and kept compiling without them")]
mod testing;
mod tiling;
mod transpose;
mod triangles;
mod tuned;
mod twins;
mod union;
mod union_plan;
mod vector;
mod vector_form;
mod vector_ops;
mod vector_part;
mod worked;

pub use backend::DevicePlaces;
pub(crate) use buffer::RawBuffer;
pub use contract::{DeviceBatch, DeviceEinsum};
pub(crate) use cp::CpSteps;
pub(crate) use csr::RawCsr;
pub use csr::{DeviceCsr, Operand};
pub use cuda::Cuda;
pub use distance::{DeviceIndex, DeviceVectors};
pub use driver::{DeviceArray, Limits};
pub use graph::RankPart;
pub(crate) use graph::{DeviceGraph, Ranking};
pub use pattern::DevicePattern;
pub use tensor::{DeviceMttkrp, DeviceTensor, TensorBytes, TensorForm, TensorStats};
pub use tiling::{Tiling, TunedKernel, Tuning};
pub use triangles::TriangleCount;
pub use vector::DeviceDense;
pub use vector_form::DeviceVector;
pub(crate) use vector_form::RawVector;

use crate::Result;
use crate::algebra::Printed;
use crate::ops::Pairing;

impl Cuda {
    /// A ∘ B for the pairs of entries that the pairing names.
    pub(crate) fn pairs_raw(&self, pairing: Pairing, op: &Printed, a: &RawCsr, b: &RawCsr) -> Result<RawCsr> {
        match pairing {
            Pairing::EwiseMult => self.ewise_mult_raw(op, a, b),
            Pairing::Kronecker => self.kronecker_raw(op, a, b),
        }
    }
}
