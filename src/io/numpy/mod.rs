//! Files of NumPy and SciPy: `.npy`, one array, and `.npz`, an archive of arrays, as `scipy.sparse.save_npz` writes a
//! sparse matrix.
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | types | bool, integers of 8 to 64 bits, floats and complex numbers of 32 and 64 bits each part, in either order of bytes | float16, text, objects, records |
//! | `.npy` as a matrix | two dimensions, or one as a column, by rows or by columns; elements that are 0 are absent, −0 is an entry | other numbers of dimensions |
//! | `.npz` | csr, csc, coo (`row` and `col`, or `coords`), bsr, dia, with indices of 32 or 64 bits; space behind the last entry; repeated entries are added up; members that are stored or deflated | other archives; members that are damaged, encrypted or there twice |
//!
//! Elements that are 0 are absent where SciPy leaves them out too: in dia. What a file declares is never believed:
//! memory follows the bytes that are there.
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
