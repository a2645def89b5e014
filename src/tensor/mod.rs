//! Sparse tensors of any order: coordinate format, sorting of entries, conversions, Kruskal tensors, and the products
//! on which decompositions are built.
//!
//! | what | where |
//! | --- | --- |
//! | coordinates, 1 to 255 modes, indices of 32 or 64 bits | [`Tensor`], [`AnyTensor`] |
//! | V = X₍ₙ₎ (⊙ Aₘ), the matricized tensor times Khatri–Rao product | [`Mttkrp`] |
//! | sums of components a₁ ∘ a₂ ∘ … ∘ a_d | [`Kruskal`] |

mod convert;
mod coo;
mod kruskal;
mod mttkrp;
mod order;
mod random;
#[cfg(feature = "serde")]
mod saved;

pub use crate::algebra::Arithmetic;
pub(crate) use coo::check_indices;
pub use coo::{AnyTensor, MAX_ORDER, Tensor, TensorRef};
pub(crate) use kruskal::column_norms;
pub use kruskal::{Kruskal, Norm};
pub use mttkrp::{Choice, Mttkrp, MttkrpCache, Shape, Variant, choose};
pub(crate) use mttkrp::{check_any_factors, mttkrp_any};
pub(crate) use order::{Pattern, check_mode};
pub use random::Pcg64;
