//! Row kernels: what an operation computes, told to those who only know how large a value is.
//!
//! A driver cuts the work, finds the places of results and walks the rows; it is compiled once for a size of value
//! ([`Word`](crate::algebra::Word)). What a semiring brings is a value behind `dyn` with a few inner loops, each called
//! once for a row of A: [`Multiply`]. [`Products`] are loops that rustc fuses from the types of a semiring; `Staged`
//! puts two values together, ⊗ that multiplies a row into a buffer and ⊕ that folds the buffer.
//!
//! **The rule of words.** A word is the memory of a value and can be copied and nothing else. Who implements a kernel
//! promises that every word it gives or writes is one of its type, if those it was handed are; a driver that is generic
//! in the word has no other words to write. So a computation with a kernel whose type is known gives values of that
//! type: see [`typed`].

mod any;
mod blocks;
mod builtin;
mod by_formula;
mod columns;
mod compiled;
mod dense;
mod fold;
mod fold_blocks;
mod listed;
mod multiply;
mod precompiled;
mod products;
mod runs;
mod sides;
mod small;
mod spmm;
mod staged;
mod staged_rows;
#[cfg(test)]
mod tests;
mod two_steps;
mod typed;
mod vectors;

pub(crate) use any::{Joins, Listing, Write, fill_any, joined_any, listed_any};
pub(crate) use blocks::{fill, fill_found, fill_words};
pub(crate) use by_formula::{Operand, numeric_by_formula, refill_by_formula, with_type};
pub(crate) use columns::column_folds;
pub(crate) use compiled::{CompiledMonoid, CompiledOp, CompiledRing};
pub(crate) use dense::{Entries, Lists, Loop, Nest, contract_by_formula, mttkrp_by_formula};
pub(crate) use fold::{Fold, LOOK, folded, folded_first};
pub(crate) use listed::{CACHED, Listed, Part, Sums, VectorProducts, sums};
pub(crate) use multiply::{Multiply, OneByOne, RowOfA, RowsOfC, columns_of_row};
pub(crate) use precompiled::{precompiled, real, word};
pub(crate) use products::Products;
pub(crate) use runs::Runs;
pub(crate) use small::small_product;
pub(crate) use spmm::{float_spmm, float_spmm_into, is_float_ring, spmm_by_formula, spmm_rows};
pub(crate) use staged::BLOCK;
pub(crate) use staged_rows::Rows;
pub(crate) use typed::{Again, Numeric, numeric, numeric_into};
pub(crate) use vectors::{fold_by_formula, folds_by_formula, mxv_by_formula, sums_by_formula};
