//! CSV: tables of numbers, one matrix row per line; zeros are not stored as entries.
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | cells | numbers as in Matrix Market, read as the nearest f64; RFC 4180 quotes; surrounding blanks; −0 is an entry | empty cells, `NA`, `TRUE`, decimal commas; quoted cells that span lines |
//! | first line | numbers, or column names with [`CsvOptions::header`] | anything else, without that option |
//! | delimiter | a comma, or [`CsvOptions::delimiter`] | |
//! | lines | ends `\n` or `\r\n`; blank lines and lines that begin with `#` are skipped; a byte-order mark | a differing number of cells; a file without rows |
//!
//! Source: Shafranovich, *Common Format and MIME Type for Comma-Separated Values (CSV) Files*, RFC 4180, 2005.

mod cells;
mod options;
mod read;
mod write;

pub use options::CsvOptions;
pub use read::{parse_csv_with, read_csv_from, read_csv_with};
pub use write::{write_csv, write_csv_to};
