//! Matrices, vectors and scalars whose types are known at run time only: what the program, C and other languages stand
//! on.
//!
//! | | |
//! | --- | --- |
//! | [`Matrix`], [`Vector`], [`Scalar`], [`Tensor`] | values of any of the types of [`Type`](crate::algebra::Type), on the processor or a GPU |
//! | [`Semiring`], [`Monoid`], [`BinaryOp`], [`UnaryOp`] | each by its name or by a formula: `min_plus`, `plus`, `a + 2*b`, `i < j` |
//! | [`Machine`] | [`mxm`](Machine::mxm), [`mxv`](Machine::mxv), [`vxm`](Machine::vxm), [`ewise_add`](Machine::ewise_add), [`ewise_mult`](Machine::ewise_mult), [`apply`](Machine::apply), [`select`](Machine::select), [`reduce`](Machine::reduce), [`reduce_rows`](Machine::reduce_rows), [`transpose`](Machine::transpose) |
//! | [`Machine::spmm`] | a sparse matrix times a dense one |
//! | [`Machine::einsum`] | contractions of dense arrays |
//! | [`Machine::mttkrp`], [`Machine::mttkrp_plan`], [`Machine::cp_als`] | sparse tensors: their products with factors, their decomposition |
//! | [`Machine::call`] | every operation of [`Op`], with a mask, an accumulator, replace and transposed operands, into a result that exists: [`Operation`] |
//!
//! A product of matrices runs at the speed of loops that are compiled for the semiring where it is one of the most
//! usual, elsewhere in two steps, ⊗ of a row and ⊕ of its products; other operations run by blocks of values, which is
//! as fast for a formula as for a name. On a GPU an operator is always compiled. Results have the bits of the same
//! operation by types.
//!
//! Structs of [`value!`](crate::value!) are transposed, selected from, masked, and multiplied by formulas of their
//! fields that give numbers (`plus, a.length * b.length`); results that are structs need the operations by types.
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
mod dense;
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
mod write;

pub use crate::ops::Pairing;
pub use crate::sparse::IndexList;
pub use collection::Collection;
pub use dense::EinsumUpdate;
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
