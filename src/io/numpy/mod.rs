//! NumPy and SciPy files: `.npy`, a single array, and `.npz`, an archive of arrays, the format of
//! `scipy.sparse.save_npz`.
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | types | bool, integers of 8 to 64 bits, floats of 32 and 64 bits and complex numbers of these, in either byte order | float16, text, objects, records |
//! | `.npy` as a matrix | two dimensions, or one as a column, in C or Fortran order; zeros are not stored, −0 is an entry | other numbers of dimensions |
//! | `.npz` | csr, csc, coo (`row` and `col`, or `coords`), bsr, dia, with 32- or 64-bit indices; unused space after the last entry; duplicates are summed; stored or deflated members | other archives; damaged, encrypted or duplicate members |
//!
//! Zeros are dropped where SciPy drops them too: in dia. Memory is proportional to the actual size of the file, not to
//! declared sizes.
//!
//! Source: NumPy Enhancement Proposal 1, *A Simple File Format for NumPy Arrays*; PKWARE, *.ZIP File Format
//! Specification*, APPNOTE 6.3.

mod array;
mod element;
mod npy;
mod options;
mod scipy;
mod write;
mod zip;
mod zip_write;

pub use array::NpyArray;
pub use npy::{
    parse_npy_array_with, parse_npy_with, read_npy_array_from, read_npy_array_with, read_npy_from, read_npy_with,
};
pub use options::NumpyOptions;
pub use scipy::{parse_npz_with, read_npz_from, read_npz_with};
pub use write::{
    write_npy, write_npy_array_to, write_npy_columns_to, write_npy_to, write_npz, write_npz_arrays_to, write_npz_to,
};
