//! Reader of sparse and dense matrices in MATLAB MAT-files, versions 5 to 7, and 7.3 with the feature `hdf5`: a format
//! in which the SuiteSparse collection distributes its matrices.
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | file | version 5 (`-v6`, and `-v7` with compressed variables), either byte order; version 7.3, which is HDF5, with the feature `hdf5` | version 4 |
//! | variable | the one matrix of the file, or the field `A` of the structure `Problem`, as in the SuiteSparse collection; any by [`MatlabOptions::variable`]: `A`, `Problem.Zeros` | several, where none is named |
//! | sparse | f64, complex, logical; explicit zeros are kept | |
//! | dense | two-dimensional f64, f32, logical; zeros are not stored as entries | complex, integers, more dimensions |
//!
//! Memory is proportional to the actual size of the file, not to declared sizes.
//!
//! Source: The MathWorks, *MAT-File Format*, R2024b, chapter 1, "MAT-File Level 5".

mod build;
mod elements;
#[cfg(feature = "hdf5")]
mod hdf5;
mod options;
mod read;

pub use options::MatlabOptions;
pub use read::{parse_mat_with, read_mat_from, read_mat_with};
