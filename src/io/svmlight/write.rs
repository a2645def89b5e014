//! The svmlight writer: threads format rows, which are written in order.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use super::read::is_label;
use crate::algebra::Slice;
use crate::io::WriteOptions;
use crate::io::labeled::Labels;
use crate::io::matrix_market::{Texts, real_texts};
use crate::io::text::{LONGEST_VALUE, PART, Stop, comment_lines, in_order, shown, to_file};
use crate::par::try_split;
use crate::{Error, Index, Pattern, Result};

/// Writes a matrix as an svmlight file with one-based columns, compressed if `path` ends in `.gz` or `.zst` (feature
/// `zstd`). Without labels, every row gets the label 0.
///
/// The format does not store the number of columns: to read a matrix whose last columns are empty, set
/// [`SvmlightOptions::columns`](crate::io::SvmlightOptions::columns).
/// # Errors
/// [`Error::Io`]; [`Error::Length`] if there is not one value per entry, or if there are labels but not one per row;
/// [`Error::Unsupported`] for complex numbers and structs; [`Error::Argument`] for a label that is not a number;
/// [`Error::OutOfMemory`].
pub fn write_svmlight<I: Index>(
    path: impl AsRef<Path>,
    pattern: &Pattern<I>,
    values: Slice<'_>,
    labels: &Labels,
    options: &WriteOptions<'_>,
) -> Result<()> {
    check(pattern, labels)?;
    real_texts(pattern, values, "svmlight", options, |values| {
        to_file(path.as_ref(), &mut |out| lines(out, pattern, values, labels, options))
    })
}

/// [`write_svmlight`] to `out`.
/// # Errors
/// As [`write_svmlight`]; the path of [`Error::Io`] is `output`.
pub fn write_svmlight_to<I: Index>(
    out: &mut dyn Write,
    pattern: &Pattern<I>,
    values: Slice<'_>,
    labels: &Labels,
    options: &WriteOptions<'_>,
) -> Result<()> {
    check(pattern, labels)?;
    real_texts(pattern, values, "svmlight", options, |values| {
        lines(out, pattern, values, labels, options).map_err(|e| e.with_path("output"))
    })
}

fn check<I: Index>(pattern: &Pattern<I>, labels: &Labels) -> Result<()> {
    let (found, expected) = (labels.len(), pattern.nrows());
    if found != expected && found > 0 {
        return Err(Error::Length { what: "labels", found, expected });
    }
    if let Some(label) = labels.iter().find(|label| !is_label(label.as_bytes())) {
        let message = format!("the label {} is no number", shown(label.as_bytes()));
        return Err(Error::Argument { name: "labels", message });
    }
    Ok(())
}

fn lines<I: Index>(
    out: &mut dyn Write,
    pattern: &Pattern<I>,
    values: &dyn Texts,
    labels: &Labels,
    options: &WriteOptions<'_>,
) -> Result<(), Stop> {
    comment_lines(out, "#", options.comment)?;
    let row_ptr = pattern.row_ptr();
    let nrows = pattern.nrows();
    let weight = |i: usize| (row_ptr[i] + i) as u64;
    let parts = try_split(nrows, (pattern.nnz() + nrows) / PART + 1, weight).map_err(Stop::Other)?;
    let digits = pattern.ncols().max(1).ilog10() as usize + 3;
    let room = |rows: &Range<usize>| {
        let entries = (row_ptr[rows.end] - row_ptr[rows.start]).saturating_mul(digits + LONGEST_VALUE);
        let labels: usize = rows.clone().map(|i| labels.get(i).map_or(1, str::len) + 1).sum();
        entries.saturating_add(labels)
    };
    in_order(out, options.threads, parts, &room, &|rows, text| {
        let mut digits = itoa::Buffer::new();
        for i in rows {
            text.extend_from_slice(labels.get(i).unwrap_or("0").as_bytes());
            for (e, j) in (row_ptr[i]..).zip(pattern.row(i)) {
                text.push(b' ');
                text.extend_from_slice(digits.format(j.get() + 1).as_bytes());
                text.push(b':');
                values.write(e, text);
            }
            text.push(b'\n');
        }
    })
}
