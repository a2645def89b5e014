//! MAT-files of MATLAB, versions 5 to 7, and 7.3 with the feature `hdf5`: their sparse and dense matrices. The
//! SuiteSparse collection ships its matrices so.
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | file | version 5 (`-v6`, and `-v7`, whose variables are compressed), in either order of bytes; version 7.3, which is HDF5, with the feature `hdf5` | version 4 |
//! | variable | the one matrix of the file, or the field `A` of the structure `Problem`, as in the SuiteSparse collection; any by [`MatlabOptions::variable`]: `A`, `Problem.Zeros` | several, where none is named |
//! | sparse | f64, complex, logical; entries are kept as they stand | |
//! | dense | f64, f32, logical of two dimensions; elements that are 0 are absent | complex, integers, more dimensions |
//!
//! What a file declares is never believed: memory follows the bytes that are there.
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
