//! Row kernels: the arithmetic of an operation, behind an interface that exposes only the size of a value.
//!
//! A driver splits the work, determines the output positions and iterates over the rows. It is compiled once per value
//! size ([`Word`](crate::algebra::Word)). A semiring enters as a `dyn` value with a few inner loops, each called once
//! per row of A: [`Multiply`]. [`Products`] are loops that rustc fuses from the types of a semiring. `Staged` is the
//! unfused kernel: ⊗ multiplies a row into a buffer, and ⊕, a separate value, folds the buffer.
//!
//! **The rule of words.** A word is the memory of a value; it can be copied and nothing else. Implementors of a kernel
//! must return and write only valid words of its type, given valid words of its type. A driver that is generic in the
//! word has no other words to write. So a computation whose kernel has a known type yields values of that type: see
//! [`typed`].

mod any;
mod blocks;
mod builtin;
mod by_formula;
mod columns;
mod compiled;
mod dense;
mod evaluator;
mod fold;
mod fold_blocks;
mod listed;
mod multiply;
mod products;
mod sides;
mod small;
mod spmm;
mod staged;
mod staged_rows;
#[cfg(test)]
mod tests;
mod typed;
mod unfused;
mod vectors;

pub(crate) use crate::algebra::precompiled;
pub(crate) use any::{FromItems, Joins, Write, fill_any, joined_any, listed_any};
pub(crate) use blocks::{fill, fill_found, fill_words};
pub(crate) use by_formula::{Operand, numeric_by_formula, numeric_into_by_formula, with_type};
pub(crate) use columns::column_folds;
pub(crate) use compiled::{CompiledMonoid, CompiledOp, CompiledRing};
#[cfg(feature = "cuda")]
pub(crate) use dense::check_dense;
pub(crate) use dense::{Entries, Lists, Loop, Nest, contract_by_formula, mttkrp_by_formula};
pub(crate) use evaluator::Evaluator;
pub(crate) use fold::{Fold, LOOK, folded, folded_first};
pub(crate) use listed::{CACHED, Listed, Part, Sums, VectorProducts, sums};
pub(crate) use multiply::{Multiply, OneByOne, RowOfA, RowsOfC, columns_of_row};
pub(crate) use products::Products;
pub(crate) use small::small_product;
pub(crate) use spmm::{float_spmm, float_spmm_into, is_float_ring, spmm_by_formula, spmm_rows};
pub(crate) use staged::BLOCK;
pub(crate) use staged_rows::Rows;
pub(crate) use typed::{Numeric, NumericInto, numeric, numeric_into};
pub(crate) use vectors::{fold_by_formula, folds_by_formula, mxv_by_formula, sums_by_formula};
