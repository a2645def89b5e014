//! The CSV writer: threads format rows, which are written in order.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use crate::algebra::Slice;
use crate::io::WriteOptions;
use crate::io::matrix_market::{Texts, real_texts};
use crate::io::text::{LONGEST_VALUE, PART, Stop, comment_lines, in_order, to_file};
use crate::par::try_split;
use crate::{Error, Index, Pattern, Result};

/// Writes every element of a matrix as a table, one row per line, compressed if `path` ends in `.gz` or `.zst` (feature
/// `zstd`).
///
/// Absent elements are written as 0, floats in the shortest form that reads back exactly.
/// # Errors
/// [`Error::Io`]; [`Error::Length`] if there is not one value per entry; [`Error::Unsupported`] for complex numbers and
/// structs, and for a matrix without rows or columns, whose shape a table cannot express;
/// [`Error::OutOfMemory`].
pub fn write_csv<I: Index>(
    path: impl AsRef<Path>,
    pattern: &Pattern<I>,
    values: Slice<'_>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    real_texts(pattern, values, "CSV", options, |values| {
        to_file(path.as_ref(), &mut |out| table(out, pattern, values, options))
    })
}

/// [`write_csv`] to `out`.
/// # Errors
/// As [`write_csv`]; the path of [`Error::Io`] is `output`.
pub fn write_csv_to<I: Index>(
    out: &mut dyn Write,
    pattern: &Pattern<I>,
    values: Slice<'_>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    real_texts(pattern, values, "CSV", options, |values| {
        table(out, pattern, values, options).map_err(|e| e.with_path("output"))
    })
}

fn table<I: Index>(
    out: &mut dyn Write,
    pattern: &Pattern<I>,
    values: &dyn Texts,
    options: &WriteOptions<'_>,
) -> Result<(), Stop> {
    let (nrows, ncols) = pattern.shape();
    if nrows == 0 || ncols == 0 {
        return Err(Stop::Other(Error::Unsupported {
            what: format!("a matrix of {nrows}×{ncols} in CSV"),
            why: "its lines would not say its shape".into(),
        }));
    }
    comment_lines(out, "#", options.comment)?;
    let row_ptr = pattern.row_ptr();
    let weight = |i: usize| row_ptr[i] as u64 + (i as u64).saturating_mul(ncols as u64 / 8 + 1);
    let parts = (weight(nrows) / PART as u64 + 1).min(nrows as u64) as usize;
    let parts = try_split(nrows, parts, weight).map_err(Stop::Other)?;
    let room = |rows: &Range<usize>| {
        let entries = row_ptr[rows.end] - row_ptr[rows.start];
        (2 * ncols).saturating_mul(rows.len()).saturating_add(entries.saturating_mul(LONGEST_VALUE))
    };
    in_order(out, options.threads, parts, &room, &|rows, text| {
        for i in rows {
            let mut entries = (row_ptr[i]..).zip(pattern.row(i)).peekable();
            for j in 0..ncols {
                if j > 0 {
                    text.push(b',');
                }
                match entries.next_if(|(_, column)| column.get() == j) {
                    Some((e, _)) => values.write(e, text),
                    None => text.push(b'0'),
                }
            }
            text.push(b'\n');
        }
    })
}
