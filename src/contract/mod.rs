//! Contractions of batches of small dense tensors: `C(r…) = ⊕ x₁(…) ⊗ x₂(…) ⊗ …`, with named indices.
//!
//! | what | where |
//! | --- | --- |
//! | memory layout: strides, batches, zero-copy views | [`Layout`], [`View`], [`ViewMut`], [`Batch`] |
//! | tensors of one shape, each in its own array | [`Group`], [`GroupMut`] |
//! | layout rules, predefined and custom | [`Arrangement`], [`RowMajor`], [`ColumnMajor`], [`Interleaved`] |
//! | finite-element operators, and their kernels | [`Mass`], [`reduced`] |
//! | `"bij,bjk->bik"`, at run time or checked by the compiler | [`Einsum`], [`einsum!`](crate::einsum!) |
//! | the result | [`Cpu::einsum`](crate::Cpu::einsum), [`Cpu::einsum_plan`](crate::Cpu::einsum_plan) for one that is computed often; on a GPU `Cuda::einsum` |
//! | an expression in the syntax of `numpy.einsum` | [`as_numpy`] |
//! | arrays and semirings known at run time | [`AnyView`], [`Machine::einsum`](crate::runtime::Machine::einsum) |
//! | lower bounds on bytes and operations | [`bound`] |
//!
//! | file | holds |
//! | --- | --- |
//! | `layout`, `view`, `group` | extents and strides; arrays under them; several arrays as one batch |
//! | `arrangement` | layout rules for new tensors |
//! | `shaped` | views whose shape is part of their type |
//! | `subscripts`, `einsum` | the text; the text with its operands |
//! | `path`, `pairs` | the contraction order, and the indices that each pair leaves |
//! | `bound` | bytes and operations of a contraction |
//! | `plan` | the steps: their operands and targets, intermediate memory, blocks of the result |
//! | `tables` | offsets of the elements that a step accesses |
//! | `product`, `tiny`, `lanes`, `single` | loops: strided matrices, small squares, interleaved batches, one operand |
//! | `mass`, `action`, `reduced` | mass operators; their fused action; their single sums by name |
//! | `ahead` | prefetching |
//! | `large` | which contractions run step by step instead of by blocks of the result |
//! | `blocked`, `folds` | loops of large steps: packed blocks of matrices; long folds, matrix-vector products |
//! | `spans`, `side`, `target` | offsets in large tensors; inputs of steps; the shared output |
//! | `planes` | batches of interleaved matrices, cut along the batch |
//! | `update` | α, β and the previous values of the result |
//! | `run` | execution of steps, block by block, by all threads |
//! | `prepared` | reusable plans |
//! | `numpy` | `...`, implicit results, broadcasting of indices of one value |
//! | `any` | loops for types and semirings known at run time |
//! | `interop` | arrays of the crate ndarray |
//!
//! Source: Abdelfattah et al. 2016, High-Performance Tensor Contractions for GPUs: reordering while reading instead of
//! transposing, batches in one allocation, kernels for constant sizes.

mod action;
mod agree;
mod ahead;
mod any;
mod arrangement;
mod blocked;
mod bound;
mod einsum;
mod explain;
mod folds;
mod group;
#[cfg(feature = "ndarray")]
mod interop;
mod lanes;
mod large;
mod layout;
mod mass;
mod numpy;
mod pairs;
mod path;
mod plan;
mod planes;
mod prepared;
mod product;
pub mod reduced;
mod run;
mod shaped;
mod side;
mod single;
mod spans;
mod subscripts;
mod tables;
mod target;
mod tiny;
mod update;
mod view;

#[doc(hidden)]
pub use agree::{assert_agrees, assert_operands, assert_rank, first, rank_of};
pub use any::AnyView;
pub(crate) use any::contract_any;
pub use arrangement::{Arrangement, ColumnMajor, Interleaved, RowMajor};
pub use bound::{Bound, bound};
pub use einsum::Einsum;
#[cfg(feature = "cuda")]
pub(crate) use einsum::INDICES;
#[doc(hidden)]
pub use einsum::{Operands, Text};
pub use group::{Group, GroupMut};
pub use layout::Layout;
pub use mass::Mass;
pub use numpy::as_numpy;
#[cfg(feature = "cuda")]
pub(crate) use pairs::{Pairs, brings_columns, order_of, shapes};
#[cfg(feature = "cuda")]
pub(crate) use path::{Set, members};
pub(crate) use plan::Plan;
pub use prepared::EinsumPlan;
pub(crate) use run::run;
pub use shaped::{Any, Extent, Extents, Fixed, Rank, Ranked, Shaped};
#[doc(hidden)]
pub use subscripts::assert_subscripts;
pub use subscripts::ranks;
#[cfg(feature = "cuda")]
pub(crate) use tables::Shape;
pub(crate) use update::{Old, Update};
#[cfg(feature = "cuda")]
pub(crate) use view::check_disjoint;
pub(crate) use view::fits;
pub use view::{Batch, View, ViewMut, Viewed};
