//! Operations whose operators are formulas and whose values are of types known at run time.
//!
//! An operator is run on blocks of values ([`Blocks`](crate::algebra::Blocks)); what surrounds it knows no type but the
//! size of a value, and is compiled once, or once for a size. Results have the bits of the same operation by types, for
//! any number of threads.

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
pub(crate) use moves::{Move, assigned, filled_where, moved, put_over};
pub(crate) use placed::{build, diagonal, diagonal_matrix, extract_vector, fold_places, place_vector, summed_groups};
pub(crate) use spmm::{join_dense, spmm, spmm_into};
pub(crate) use vector::{
    AnyVector, View, apply_vector, ewise_vectors, joins, mxv, mxv_dense, mxv_of_entries, pattern_where, reduce_rows,
    reduce_values_of_columns, reduce_values_of_rows, reduce_vector, vxm,
};
