//! Formats: patterns, compressed rows, coordinates, vectors, dense matrices.

mod bitmap;
mod bits;
mod builder;
mod constant;
mod convert;
mod coo;
mod csr;
mod dense;
mod described;
mod display;
mod edits;
mod entries;
mod forms;
pub(crate) mod framed;
mod hyper;
mod hyper_form;
mod hyper_rows;
mod index_list;
#[cfg(any(feature = "sprs", feature = "nalgebra", feature = "faer"))]
pub mod interop;
mod mask;
mod matrix_pattern;
mod other_form;
mod parts;
mod placed;
mod row_major;
mod rows;
#[cfg(feature = "serde")]
mod saved;
mod select;
mod serialize;
mod set;
mod sort;
pub(crate) mod sums;
mod transpose;
mod triplets;
mod vector;
mod vector_dense;
mod vector_forms;
mod vector_pattern;
mod vector_target;
mod vector_write;
mod vector_writer;

pub use crate::index::Index;
pub(crate) use crate::par::{copied, out_of_memory, reserved};
pub use crate::pattern::Pattern;
pub(crate) use bitmap::{Bitmap, bit, ones};
pub use bits::{BitCounts, BitRows, Word};
pub use builder::Builder;
pub use coo::Coo;
pub use csr::{Csr, MatrixForm};
pub use dense::Dense;
pub(crate) use described::Described;
pub use entries::{CooEntries, MatrixEntries, VectorEntries};
pub use hyper::HyperCsr;
pub(crate) use hyper_form::suits_hyper;
pub(crate) use hyper_rows::{HyperRows, union_of};
pub(crate) use index_list::Checked;
pub use index_list::IndexList;
pub(crate) use mask::EffectiveMask;
pub use mask::MaskSpec;
pub use matrix_pattern::MatrixPattern;
pub(crate) use parts::{accumulate, count_rows, cut, row_blocks};
pub(crate) use rows::Rows;
pub(crate) use select::sorted_values;
pub(crate) use serialize::{SerializedMatrix, SerializedVector};
pub(crate) use transpose::{transpose as transposed_values, transposed};
pub use vector::Vector;
pub(crate) use vector::View;
pub use vector_forms::{BitmapVec, SparseVec};
pub(crate) use vector_pattern::Indices;
pub use vector_pattern::VectorPattern;
pub(crate) use vector_target::Combine;

/// `n` zero-sized values: a pattern is a matrix of these.
pub(crate) fn units(n: usize) -> &'static [()] {
    // `[(); usize::MAX]` has size zero.
    &[(); usize::MAX][..n]
}
