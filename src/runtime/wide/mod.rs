//! Matrices and vectors with dimensions up to 2⁶⁰ and few entries, on any engine, by compaction of index spaces.
//!
//! An ordinary matrix has 32-bit columns and memory for its rows. A dimension that is larger ([`is_wide`]) is stored by
//! its used indices, increasing ([`Labels`]); a [`Wide`] object pairs them with an ordinary one whose rows and columns
//! are the ranks of the used indices. An operation runs in three steps:
//!
//! 1. For each index space (rows of C, contraction, columns of C, …) unite the used indices of all objects that share
//!    it, and translate index lists ([`Compact`]).
//! 2. Relabel the operands, the mask and C onto these spaces (`relabel.rs`), and run the ordinary operation, whose
//!    mask, accumulator and replace are unchanged.
//! 3. Label the result. Dimensions that are not wide are expanded again.
//!
//! Ranks increase with the indices, so folds, ties and the order of entries are those of the whole matrices. Operators
//! that read indices, diagonals and products of dimensions do not commute with relabeling: `by_index.rs` computes them
//! from the true indices.

mod blocks;
mod by_index;
mod call;
mod entries;
mod labels;
mod layout;
mod object;
mod relabel;
mod serialize;
mod spaces;
mod transfer;

pub(super) use labels::is_wide;
pub(super) use object::Wide;
pub(super) use serialize::{begins, deserialize};
