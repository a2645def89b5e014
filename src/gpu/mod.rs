//! NVIDIA GPUs. No other module depends on CUDA.
//!
//! [`Cuda`] is a backend like [`Cpu`](crate::Cpu): a value that owns a stream, a pool of device memory and the programs
//! compiled so far. Kernels are the templates in `cuda/`, prefixed with the text of the caller's own operators and
//! compiled at first use. A host needs the NVIDIA driver and NVRTC, but no toolkit.
//!
//! # Example
//! From the host to the device and back, step by step:
//! ```no_run
//! use sparring::prelude::*;
//!
//! // 1. A device. Without one, the error says what is missing.
//! let cuda = Cuda::new(0)?;
//!
//! // 2. Upload. The pattern is uploaded once: other values on it reuse it.
//! let a = Csr::<f64>::new(3, 3, vec![0, 2, 3, 4], vec![0, 1, 2, 0], vec![1.0, 2.0, 3.0, 4.0])?;
//! let d = cuda.upload(&a)?;
//!
//! // 3. Plan: the structure of A·A, from patterns alone.
//! let plan = cuda.plan(&d, &d).eval()?;
//!
//! // 4. Values, recomputed whenever they change: over two semirings, and for other values of A, in place.
//! let paths = cuda.mxm(MinPlus::<f64>::default(), &d, &d).plan(&plan).eval()?;
//! let mut sums = cuda.mxm(PlusTimes::<f64>::default(), &d, &d).plan(&plan).eval()?;
//! let doubled = cuda.upload(&a.map(|x| 2.0 * x)?)?;
//! cuda.mxm(PlusTimes::<f64>::default(), &doubled, &doubled).plan(&plan).into(&mut sums)?;
//!
//! // 5. A semiring of your own: one definition, run by the CPU and compiled for the GPU.
//! sparring::op! {
//!     /// (a − b)²
//!     SquaredDiff (a: f64, b: f64) -> f64 {{ let d = a - b; d * d }}
//! }
//! let own = cuda.mxm(Ring(Plus::<f64>::new(), SquaredDiff::new()), &d, &d).plan(&plan).eval()?;
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
//! The operations are those of [`Backend`](crate::backend::Backend). Results agree with the CPU's and are the same in
//! every run. The table gives costs, and says where floats differ in their last bits, for vectors of length n and
//! matrices of m rows:
//!
//! | operation | cost | bits |
//! | --- | --- | --- |
//! | `mxm`, `plan` | see [`spgemm`] | the CPU's: products are folded in the order of A's row |
//! | `mxv`, x full | O(nnz + m); where long rows make an even split of the work pay, one value and 8 bytes for every 896 entries and rows are stored with A's pattern | a row is folded in parts, joined as a tree: the CPU's where ⊕ is exact |
//! | `mxv`, x not full | that of A times a matrix of one column | the CPU's |
//! | `vxm`, x sparse | P products of x's entries with rows of A: one kernel of one block and one wait for up to 2048 entries, 16,384 products and 4096 of them allowed by the mask; otherwise a radix sort of the products by column, P · (20 + the size of a value) bytes, 2 waits. Other rows of A are not read | the CPU's |
//! | `vxm`, x full, or a bitmap where A has up to 2²² entries or x is known to have entries at 1/32 or more of its indices | O(nnz + n), one kernel, no wait. The first product with a pattern sorts it by column; 8 bytes an entry are cached with it | the CPU's |
//! | `ewise_add`, `ewise_mult`, `ewise_union` | for matrices and sparse vectors a binary search for each entry, 12 bytes an entry of A; for other vectors O(n) | the CPU's |
//! | `apply`, `apply_index`, `select` | reads each entry once, `select` twice | the CPU's, except for functions such as `exp`, whose last bits differ |
//! | `reduce`, `reduce_rows` | reads each value once | for rows of up to 128 entries the CPU's. Longer rows, and all values of `reduce`, are cut into chunks of 4096: part t < 256 of a chunk is the fold of entries t, t + 256, … from the identity; parts are folded by halves (t with t + 128, then t + 64, …), then chunks in order, for `reduce` again in this way |
//! | `transpose` | a stable radix sort: ⌈log₂(ncols) / 8⌉ passes, 12 bytes an entry | the CPU's |
//! | `extract`, `assign` of vectors | O(n) of the written vector; a list of indices is uploaded at its first use, a slice at each | the CPU's |
//! | `extract_matrix`, `split`, `resize` | whole rows and ranges of columns: O(m) and a search for each entry of the result; other columns: every entry of the rows is tested, and takes a bit | the CPU's |
//! | `assign_matrix` | O(m), a test of each entry of C, and a search for each entry of the result | the CPU's |
//! | `extract_row`, `extract_column`, `diagonal` | a search for each index | the CPU's |
//! | `diag`, `concat` | O(m) and a copy of the entries | the CPU's |
//! | `count_rows`, `argmin_rows`, `argmax_rows` | O(m), and each entry read once, except for counts | the CPU's |
//! | `assign_scalar` under a mask | in place: O(nnz) for a sparse mask, else O(n) | the CPU's |
//! | masks | a binary search in the mask for each entry of a matrix; O(n) for vectors, O(nnz) for sparse ones | |
//! | `spmm_product` | O(n · (nnz + m)), and the partial sums of rows of more than 256 entries | rows of more than 256 entries are folded in parts; one column as by `mxv` |
//! | `einsum` | [`einsum`](Cuda::einsum): a kernel for each pair of operands, cuBLAS for large products of floats | the CPU's, except for cuBLAS, for tree folds and for a mass operator's [action](crate::contract::Mass::action) |
//! | `mttkrp` of sparse tensors | [`DeviceMttkrp`]: a sort for each mode at construction, then O(d · R · nnz) | rows are folded in pieces of equal work |
//!
//! Another scalar, fill or index does not recompile; another operator does. [`Any`](crate::algebra::Any) returns one of
//! the folded values, perhaps not the one that the CPU returns.
//! Source of the merge: Merrill, Garland 2016, "Merge-based parallel sparse matrix-vector multiplication".
//!
//! Code written against the trait runs on any backend:
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
mod apply_mask;
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
mod defines;
mod distance;
mod driver;
mod ewise;
mod graph;
mod index;
mod jit;
mod kernel_cache;
mod kronecker;
mod launch;
mod memory;
#[cfg_attr(not(feature = "testing"), allow(dead_code, reason = "for tests and benches"))]
mod naive_union;
mod nvrtc;
mod nvrtc_lookup;
mod part;
mod pattern;
mod pattern_cache;
mod reduce;
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
mod union;
mod union_plan;
mod vector;
mod vector_form;
mod vector_ops;
mod vector_part;

pub use backend::DeviceVectorPattern;
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
    /// A ∘ B over the pairs of entries that the pairing selects.
    pub(crate) fn pairs_raw(&self, pairing: Pairing, op: &Printed, a: &RawCsr, b: &RawCsr) -> Result<RawCsr> {
        match pairing {
            Pairing::EwiseMult => self.ewise_mult_raw(op, a, b),
            Pairing::Kronecker => self.kronecker_raw(op, a, b),
        }
    }
}
