//! Reader and writer of Matrix Market, the text format in which sparse matrices are published.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real symmetric     banner: layout, field, symmetry, in any case
//! % any number of comments                            also blank lines
//! 3 3 2                                               rows, columns, entries that follow
//! 1 1 4.5                                             row and column from 1, value
//! 3 1 -1
//! ```
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | layout | `coordinate`; `array` (every element, by columns; zeros become stored entries) | `array` with `pattern` |
//! | field | `real`, `double`, `complex`, `integer` (exact as i64, or as u64 if one exceeds i64 and none is negative), `unsigned-integer` (exact as u64), `pattern` | |
//! | symmetry | `general`, `symmetric`, `skew-symmetric`, `hermitian` (real numbers: same as symmetric); entries above the diagonal, unless their mirror images are also stored; zeros on the diagonal of a skew file | pattern with skew or Hermitian; nonzero diagonal in a skew file, non-real diagonal in a Hermitian file; not square; both triangles |
//! | real values | decimal syntax of `strtod`; `nan`, `inf`, `infinity` in any case, signed or not, as SciPy and `printf` write them; `1D5`, as in Fortran | numbers out of range of f64; hexadecimal; `nan(…)` |
//! | lines | ends `\n` or `\r\n`, the last one optional; blank lines anywhere; comments before the size line, in any encoding; blanks and blank lines before the banner | comments among the entries; anything after the last field of a line |
//!
//! [`ReadOptions::lenient`] accepts some of the refused syntax. Trailing bytes after gzip are refused, except zeros.
//!
//! [`MatrixFile::any`] returns the matrix in the type of the file, [`MatrixFile::csr`] in a type chosen by the caller;
//! [`write_matrix_market_any`] and [`write_matrix_market`] are the corresponding writers.
//!
//! | values | written as | |
//! | --- | --- | --- |
//! | f32, f64 | `real` | the shortest text that reads back exactly |
//! | signed and unsigned integers | `integer` | `unsigned-integer` if a value exceeds i64 |
//! | bool | `pattern` | `integer`, 0 and 1, if a stored value is false |
//! | complex numbers | `complex` | real part, imaginary part |
//!
//! The text is split at line ends and parsed by all threads. An error reports file, line and column, and is the first
//! one in the file for any number of threads. Memory is proportional to the actual size of the file, not to declared
//! sizes. The exception is CSR, which has a row pointer for every declared row; if the system lacks the memory, the
//! result is [`Error::OutOfMemory`](crate::Error::OutOfMemory), before any page is touched.
//!
//! Source: Boisvert, Pozo, Remington, *The Matrix Market exchange formats: initial design*, NISTIR 5935, 1996.

mod any;
mod assemble;
mod banner;
mod block;
mod gzip;
mod header;
mod options;
mod order;
mod parse;
mod plain;
mod read;
mod scalar;
mod texts;
mod triangle;
mod value;
mod write;

pub use assemble::{Entries, MatrixFile};
pub use banner::{Field, Layout, Symmetry};
pub use header::Header;
pub use options::{ReadOptions, WriteOptions};
pub use read::{
    parse_matrix_market, parse_matrix_market_with, read_matrix_market, read_matrix_market_from, read_matrix_market_with,
};
pub(super) use texts::{Texts, real_texts};
pub use value::MarketValue;
pub use write::{
    write_matrix_market, write_matrix_market_any, write_matrix_market_any_to, write_matrix_market_array,
    write_matrix_market_columns, write_matrix_market_columns_to, write_matrix_market_to,
};
