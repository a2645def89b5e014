//! The C API of `sparring`: opaque handles, status codes, and a panic guard around every function.
//!
//! `include/sparring.h` is generated from this crate by cbindgen (see `tests/header.rs`), so the comments on
//! public items address a C programmer. Nothing is computed here: each function checks its pointers,
//! looks up its handles and calls the public API of `sparring`.
//!
//! - [`guard`]: `ffi!`, which catches unwinding and stores the message of a failure;
//! - [`status`]: the codes; [`handle`]: the opaque pointers;
//! - [`memory`]: access to the caller's arrays and text, the home of the crate's `unsafe`;
//! - [`types`]: the value types; [`sparse`]: shared code of matrices and vectors;
//! - [`operation`]: C⟨M⟩ ⊙= T, the implementation of [`operations`], [`assign`] and [`parts`];
//! - [`device`], [`explain`], [`matrix`], [`vector`], [`scalar`], [`arrays`], [`foreign`], [`matrix_market`],
//!   [`files`], [`serialize`], [`semirings`], [`operators`], [`functions`], [`mxm`], [`mxm_with`], [`dense`],
//!   [`triangles`], [`graph`], [`graph_structure`], [`distances`], [`mod@index`], [`tensor`],
//!   [`mttkrp`], [`cp`], [`einsum`]: the functions.

#![allow(
    clippy::missing_safety_doc,
    reason = "the C contract in each comment is that section, and it lands in the header"
)]

#[macro_use]
pub mod guard;
pub mod arrays;
pub mod assign;
pub mod cp;
pub mod dense;
pub mod device;
pub mod distances;
pub mod einsum;
pub mod explain;
pub mod files;
pub mod foreign;
pub mod functions;
pub mod graph;
pub mod graph_structure;
pub mod handle;
pub mod index;
pub mod matrix;
pub mod matrix_market;
pub(crate) mod memory;
pub mod mttkrp;
pub mod mxm;
pub mod mxm_with;
pub(crate) mod notes;
pub mod operation;
pub mod operations;
pub mod operators;
pub mod parts;
pub mod scalar;
pub mod semirings;
pub mod serialize;
pub(crate) mod sparse;
pub mod status;
pub mod tensor;
pub mod triangles;
pub mod types;
pub mod vector;

#[cfg(test)]
mod tests;
