//! Matrix Market: the text format that sparse matrices are published in, read and written.
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
//! | field | `real`, `double`, `complex`, `integer` (exact in i64, or in u64 where one is beyond i64 and none is negative), `unsigned-integer` (exact in u64), `pattern` | |
//! | symmetry | `general`, `symmetric`, `skew-symmetric`, `hermitian` (real numbers: the same as symmetric); entries above the diagonal, as long as their mirror images are not there too; zeros on the diagonal of a skew file | pattern with skew or Hermitian; another diagonal in a skew file, one that is not real in a Hermitian file; not square; both triangles |
//! | real values | what `strtod` reads in decimal, and `nan`, `inf`, `infinity` in any case, signed or not, as scipy and `printf` write them; `1D5`, as Fortran does | numbers beyond the range of f64; hexadecimal; `nan(…)` |
//! | lines | ends `\n` or `\r\n`, the last one optional; blank lines anywhere; comments before the size line, in any encoding; blanks and blank lines before the banner | comments among the entries; anything after the last field of a line |
//!
//! [`ReadOptions::lenient`] takes some of what is refused. Bytes behind gzip are refused, but for zeros.
//!
//! [`MatrixFile::any`] gives the matrix in the type that the file has, [`MatrixFile::csr`] in one that the caller
//! names; [`write_matrix_market_any`] and [`write_matrix_market`] write the one and the other.
//!
//! | values | written as | |
//! | --- | --- | --- |
//! | f32, f64 | `real` | the shortest text that gives the same value |
//! | signed and unsigned integers | `integer` | `unsigned-integer` where a value is beyond i64 |
//! | bool | `pattern` | `integer`, 0 and 1, where a stored value is false |
//! | complex numbers | `complex` | real part, imaginary part |
//!
//! The entries are split at line ends and parsed by all threads. An error names file, line and column, and is
//! the first one in the file whatever the number of threads. Memory follows the bytes that are there, never a
//! number that the file declares. Compressed rows made of the entries have a row pointer for every row that is
//! declared; where these need more memory than the system has left, the answer is
//! [`Error::OutOfMemory`](crate::Error::OutOfMemory), before any of it is touched.
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
