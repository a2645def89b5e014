//! Matrices, vectors and scalars whose types are known only at run time: the layer under the command line, C and other
//! languages.
//!
//! | | |
//! | --- | --- |
//! | [`Matrix`], [`Vector`], [`Scalar`], [`Tensor`] | values of any [`Type`](crate::algebra::Type), on the CPU or a GPU |
//! | [`Semiring`], [`Monoid`], [`BinaryOp`], [`UnaryOp`] | each by its name or by a formula: `min_plus`, `plus`, `a + 2*b`, `i < j` |
//! | [`Machine`] | [`mxm`](Machine::mxm), [`mxv`](Machine::mxv), [`vxm`](Machine::vxm), [`ewise_add`](Machine::ewise_add), [`ewise_mult`](Machine::ewise_mult), [`apply`](Machine::apply), [`select`](Machine::select), [`reduce`](Machine::reduce), [`reduce_rows`](Machine::reduce_rows), [`transpose`](Machine::transpose) |
//! | [`Machine::spmm`] | a sparse matrix times a dense one |
//! | [`Machine::einsum`] | contractions of dense arrays |
//! | [`Machine::mttkrp`], [`Machine::mttkrp_plan`], [`Machine::cp_als`] | sparse tensors: their products with factors, their decomposition |
//! | [`Machine::call`] | every operation of [`Op`], with mask, accumulator, replace, transposed operands and an existing result: [`Operation`] |
//!
//! A matrix product over one of the most common semirings runs fused, compiled loops; over any other it runs unfused, ⊗
//! of a row followed by ⊕ of its products. Other operations run on blocks of values, as fast for a formula as for a
//! name. On a GPU operators are always compiled. Results are bitwise those of the statically typed operations.
//!
//! Dimensions are at most 2⁶⁰. Those beyond 2³² − 1 are stored by their used indices; see [`Matrix`].
//!
//! Structs of [`value!`](crate::value!) can be transposed, selected from, masked, and multiplied by formulas of their
//! fields that give numbers (`plus, a.length * b.length`); results that are structs need statically typed operations.
//!
//! ```
//! use sparring::runtime::{Machine, Matrix, Semiring};
//! use sparring::algebra::Type;
//! use sparring::{Cpu, Csr};
//! let a = Matrix::from(Csr::<i64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1, 2, 9_007_199_254_740_993])?);
//! let cpu = Machine::from(Cpu::new());
//! let c = cpu.mxm(&Semiring::new("plus_times", Type::I64)?, &a, &a)?;
//! assert_eq!(c.values().and_then(|v| v.get::<i64>()).unwrap()[2], 9_007_199_254_740_993);
//! let c = cpu.mxm(&Semiring::new("min, a + 2*b", Type::I64)?, &a, &a)?;
//! assert_eq!((c.ty(), c.shape(), c.nnz()), (Type::I64, (2, 2), 4));
//! # Ok::<(), sparring::Error>(())
//! ```

mod aggregate;
mod assemble;
mod assign;
mod cast;
mod collection;
mod compare;
mod convert;
mod dense;
mod dense_view;
mod distances;
mod element;
pub mod engine;
mod folds;
mod graphs;
mod index;
mod machine;
mod matrix;
mod mttkrp;
mod names;
mod operation;
mod operations;
mod operator;
mod parts;
mod plan;
mod product;
mod remote;
mod scalar;
mod semiring;
mod serialize;
mod spmm;
mod tensor;
mod vector;
mod wide;
mod write;

pub use crate::ops::Pairing;
pub use crate::sparse::IndexList;
pub use collection::Collection;
pub use dense::EinsumUpdate;
pub use dense_view::{DenseSource, DenseView};
pub use distances::{Comparison, Neighbours};
pub use engine::{Aggregate, Object, Op};
pub use index::RowIndex;
pub use machine::Machine;
pub use matrix::{Matrix, Sum};
pub use mttkrp::MttkrpPlan;
pub use operation::{Operands, Operation};
pub use operator::{BinaryOp, Monoid, UnaryOp};
pub use plan::{Plan, Stats};
pub use product::Product;
pub use scalar::Scalar;
pub use semiring::Semiring;
pub use spmm::Spmm;
pub use tensor::Tensor;
pub use vector::Vector;
