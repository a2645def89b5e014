//! Contractions of batches of small dense tensors: `C(r…) = ⊕ x₁(…) ⊗ x₂(…) ⊗ …`, by indices that are named.
//!
//! | what | where |
//! | --- | --- |
//! | where elements lie: strides, batches, views that move nothing | [`Layout`], [`View`], [`ViewMut`], [`Batch`] |
//! | tensors of one shape, each in an array of its own | [`Group`], [`GroupMut`] |
//! | rules for where new tensors lie, and your own | [`Arrangement`], [`RowMajor`], [`ColumnMajor`], [`Interleaved`] |
//! | operators of finite elements, and the kernels that they come down to | [`Mass`], [`reduced`] |
//! | `"bij,bjk->bik"`, at run time or checked by the compiler | [`Einsum`], [`einsum!`](crate::einsum!) |
//! | the result | [`Cpu::einsum`](crate::Cpu::einsum), [`Cpu::einsum_plan`](crate::Cpu::einsum_plan) for one that is computed often; on a GPU `Cuda::einsum` |
//! | an expression as `numpy.einsum` reads it | [`as_numpy`] |
//! | arrays and semirings known at run time | [`AnyView`], [`Machine::einsum`](crate::runtime::Machine::einsum) |
//! | the least that it takes | [`bound`] |
//!
//! | file | holds |
//! | --- | --- |
//! | `layout`, `view`, `group` | extents and strides; arrays under them; several arrays as one batch |
//! | `arrangement` | rules by which new tensors are laid out |
//! | `shaped` | views whose shape is in their type |
//! | `subscripts`, `einsum` | the text; the text with its operands |
//! | `path`, `pairs` | which two operands are contracted first, and what is left of them |
//! | `bound` | bytes and operations of a contraction |
//! | `plan` | the steps: where each reads and writes, memory in between, blocks of the result |
//! | `tables` | places of the elements that a step meets |
//! | `product`, `tiny`, `lanes`, `single` | loops of a step: matrices of any strides, small squares, many beside each other, one operand |
//! | `mass`, `action`, `reduced` | mass operators; their action in one pass; single sums of them by name |
//! | `ahead` | memory that is asked for before it is read |
//! | `large` | which contractions are computed as a whole, step by step, and not by blocks of the result |
//! | `blocked`, `folds` | loops of large steps: packed blocks of matrices; long folds, products of matrices and vectors |
//! | `spans`, `side`, `target` | places in large tensors; what steps read; what all threads write to |
//! | `planes` | batches of matrices that lie beside each other, cut along the batch |
//! | `update` | α, β and the values that the result has |
//! | `run` | steps, block by block, by all threads |
//! | `prepared` | steps that are kept |
//! | `numpy` | `...`, results that are not named, indices of one value |
//! | `any` | the loops of types and semirings known at run time |
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
pub use view::{Batch, View, ViewMut, Viewed};
#[cfg(feature = "cuda")]
pub(crate) use view::{apart, fits};
