//! Operations whose operators are formulas and whose values are of types known at run time.
//!
//! An operator runs on blocks of values ([`Blocks`](crate::algebra::Blocks)). The surrounding driver depends at most on
//! the size of a value, and is compiled once, or once per size. Results are bitwise those of the statically typed
//! operation, for any number of threads.

mod aggregate;
mod entries;
mod matrix;
mod moves;
mod placed;
mod spmm;
mod vector;

pub(crate) use super::select::Band;
pub(crate) use aggregate::{column_counts, column_of_best, counts};
pub(crate) use entries::Ewise;
pub(super) use entries::OfTwo;
pub(crate) use matrix::{apply, ewise, keeps, reduce};
pub(crate) use moves::{Rearrange, assigned, fill_masked, put_over, rearranged};
pub(crate) use placed::{build, diagonal, diagonal_matrix, extract_vector, place_vector, scatter_fold, summed_groups};
pub(crate) use spmm::{join_dense, spmm, spmm_into};
pub(crate) use vector::{
    AnyVector, View, apply_vector, ewise_vectors, joins, mxv, mxv_dense, mxv_of_entries, reduce_rows,
    reduce_values_of_columns, reduce_values_of_rows, reduce_vector, select_pattern, vxm,
};
