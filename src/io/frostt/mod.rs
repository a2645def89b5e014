//! Reader and writer of FROSTT, the text format in which sparse tensors are published.
//!
//! ```text
//! # any number of comments, also among the entries       blank lines anywhere
//! 1 1 1 4.5                                               i_1 … i_d value: indices from 1
//! 3 1 2 -1
//! ```
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | order | 1 to 255 modes: the numbers of the first entry minus one (without [`FrosttOptions::values`]: all of them), or the length of [`FrosttOptions::dims`] | a line with more or fewer numbers |
//! | indices | integers from 1; stored as u32 if every dimension fits, else as u64 | 0, signs, decimal points; out of the given dimensions; beyond 2⁶³ − 1 |
//! | dimensions | the largest index of each mode, or [`FrosttOptions::dims`] | neither entries nor dimensions |
//! | values | decimal syntax of `strtod`; `nan`, `inf`, `infinity` in any case, signed or not; `1D5`; for integer types, exact 64-bit integers and integral reals | values that the type cannot represent; numbers out of range of f64, or of f32; hexadecimal |
//! | duplicates | summed, refused or stored ([`Duplicates`]) | |
//! | lines | ends `\n` or `\r\n`, the last one optional; comments and blank lines anywhere | a comment or other text after an entry |
//!
//! The header of the Tensor Toolbox's `sptensor` (order, dimensions, number of entries) is accepted, and so is a bare
//! header of order, number of entries and dimensions, if the lines cannot be anything else.
//!
//! [`FrosttOptions::lenient`] accepts some of the refused syntax. [`write_frostt`] writes the shortest text that reads
//! back exactly.
//!
//! The text is split at line ends and parsed by all threads. An error reports file, line and column, and is the first
//! one in the file for any number of threads. Memory is proportional to the actual size of the file, not to declared
//! sizes.
//!
//! Source: Smith, Choi, Li, Vuduc, Park, Liu, Karypis, *FROSTT: The Formidable Repository of Open Sparse Tensors and
//! Tools*, 2017.

mod assemble;
mod block;
mod header;
mod options;
mod parse;
mod read;
mod repeats;
mod value;
mod write;

pub use options::{Duplicates, FrosttOptions};
pub use read::{parse_frostt, parse_frostt_with, read_frostt, read_frostt_from, read_frostt_with};
pub use value::FrosttValue;
pub use write::{write_frostt, write_frostt_any, write_frostt_to, write_frostt_values};
