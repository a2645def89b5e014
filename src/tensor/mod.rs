//! Sparse tensors of any order: coordinates, orders of their entries, conversions, Kruskal tensors, and the products
//! that decompositions are made of.
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
pub(crate) use coo::check_places;
pub use coo::{AnyTensor, MAX_ORDER, Tensor, TensorRef};
pub(crate) use kruskal::column_norms;
pub use kruskal::{Kruskal, Norm};
pub use mttkrp::{Choice, Kept, Mttkrp, Shape, Variant, choose};
pub(crate) use mttkrp::{check_any_factors, mttkrp_any};
pub(crate) use order::{Places, check_mode};
pub use random::Pcg64;
