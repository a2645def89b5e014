//! Shared parts of readers and writers: parallel pieces of text, scanning with error positions, decompression, format
//! recognition, ordered parallel output.

mod cursor;
mod deflate;
mod file;
mod gzip;
mod kinds;
mod lines;
mod number;
mod pieces;
mod plain;
mod write;
#[cfg(feature = "zstd")]
mod zstd;
#[cfg(feature = "zstd")]
mod zstd_write;

pub(crate) use cursor::{Bad, Cursor, count_line_ends, long_line, position, quoted};
pub(crate) use deflate::Deflate;
pub(crate) use file::{binary_from, binary_of, bytes_from, bytes_of, unpacked};
pub(crate) use gzip::{Stream, check_size, is_packed};
pub(crate) use kinds::other_kind;
pub(crate) use lines::{Expected, Halt, Line, Lines, Text, only_carriage_returns, push, shown, text_from, text_of};
pub(crate) use number::{not_a_number, real, signed, unsigned, whole};
pub(crate) use pieces::{Limits, parse_pieces, pieces};
pub(crate) use plain::Plain;
pub(crate) use write::{LONGEST_VALUE, PART, Stop, comment_lines, in_order, to_file};
#[cfg(feature = "zstd")]
pub use zstd_write::ZstdWriter;
