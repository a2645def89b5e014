//! FROSTT: the text format that sparse tensors are published in, read and written.
//!
//! ```text
//! # any number of comments, also among the entries       blank lines anywhere
//! 1 1 1 4.5                                               i_1 … i_d value: indices from 1
//! 3 1 2 -1
//! ```
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | order | 1 to 255 modes: one number less than the first entry has ([`FrosttOptions::values`]: as many), or one for each of [`FrosttOptions::dims`] | a line with more or fewer numbers |
//! | indices | whole numbers from 1; u32 inside where every dimension fits, else u64 | 0, signs, points; beyond the dimensions, if these are given; beyond 2⁶³ − 1 |
//! | dimensions | the largest index of each mode, or [`FrosttOptions::dims`] | no entry and no dimensions |
//! | values | what `strtod` reads in decimal, `nan`, `inf`, `infinity` in any case, signed or not, `1D5`; as integers whole numbers exactly, up to 64 bits, and reals that are whole | what the type does not hold; numbers beyond the range of f64, or of f32; hexadecimal |
//! | repeated entries | added up, refused or kept ([`Duplicates`]) | |
//! | lines | ends `\n` or `\r\n`, the last one optional; comments and blank lines anywhere | a comment behind an entry; anything else there |
//!
//! The header of the Tensor Toolbox's `sptensor` (order, dimensions, number of entries) is read, and one of order,
//! number of entries and dimensions, where the lines can be nothing else.
//!
//! [`FrosttOptions::lenient`] takes some of what is refused. [`write_frostt`] writes the shortest text that gives the
//! same value.
//!
//! The text is split at line ends and parsed by all threads. An error names file, line and column, and is the first one
//! in the file whatever the number of threads. Memory follows the bytes that are there.
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
