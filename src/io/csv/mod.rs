//! Tables of numbers, one row a line: every element of a matrix, of which those that are 0 are absent.
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | cells | numbers as in Matrix Market, read as the nearest f64; quoted by RFC 4180; blanks around them; −0 is an entry | empty cells, `NA`, `TRUE`, a comma for the decimal point; a quoted cell over several lines |
//! | first line | numbers, unless [`CsvOptions::header`] says that it is a heading | anything else, without that option |
//! | between cells | a comma, or [`CsvOptions::delimiter`] | |
//! | lines | ends `\n` or `\r\n`; lines that are empty or begin with `#` are skipped; a byte-order mark | another number of cells than the line before; a file without rows |
//!
//! Source: Shafranovich, *Common Format and MIME Type for Comma-Separated Values (CSV) Files*, RFC 4180, 2005.

mod cells;
mod options;
mod read;
mod write;

pub use options::CsvOptions;
pub use read::{parse_csv_with, read_csv_from, read_csv_with};
pub use write::{write_csv, write_csv_to};
