//! The svmlight reader: threads parse pieces of text into rows.

use std::io::Read;
use std::path::Path;

use super::options::SvmlightOptions;
use crate::io::labeled::{LabeledMatrix, Labels, Rows, check_shape, sort_row, stacked};
use crate::io::text::{Bad, Cursor, Expected, Halt, Line, Lines, Text, push, real, text_from, text_of};
use crate::par::Threads;
use crate::{Index, Result};

const EXPECTED: Expected<'static> = Expected { what: "lines of a label and column:value", but: &[] };

/// Reads an svmlight file, compressed by gzip or not, as an f64 matrix with a label per row.
///
/// Cost: O(bytes), shared by all threads; decompression is single-threaded. Memory: the file, labels, and 12 to 24
/// bytes per entry.
/// # Errors
/// [`Error::Io`](crate::Error::Io); [`Error::Parse`](crate::Error::Parse) with line and column of the first error;
/// [`Error::Budget`](crate::Error::Budget) for a file larger than [`SvmlightOptions::max_bytes`];
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn read_svmlight_with(path: impl AsRef<Path>, options: &SvmlightOptions<'_>) -> Result<LabeledMatrix> {
    let (name, bytes) = text_of(path.as_ref(), &options.limits(), &EXPECTED)?;
    parse_svmlight_with(&bytes, &name, options)
}

/// [`read_svmlight_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_svmlight_with`].
pub fn read_svmlight_from(from: &mut dyn Read, name: &str, options: &SvmlightOptions<'_>) -> Result<LabeledMatrix> {
    let bytes = text_from(from, name, &options.limits(), &EXPECTED)?;
    parse_svmlight_with(&bytes, name, options)
}

/// [`read_svmlight_with`] from the bytes of a file; `name` appears in errors.
/// # Errors
/// As [`read_svmlight_with`].
pub fn parse_svmlight_with(bytes: &[u8], name: &str, options: &SvmlightOptions<'_>) -> Result<LabeledMatrix> {
    let here = Threads::current();
    let threads = options.common.threads.unwrap_or(&here);
    check_shape(0, options.columns.unwrap_or(0))?;
    let text = Text { name, bytes, limits: options.limits(), threads, expected: EXPECTED };
    // The format has no header.
    let head = |(): &mut (), _: &mut Lines<'_>| Ok(Some(()));
    let (_, pieces) = text.parse(&head, &|(), text| rows(text, options))?;
    let width = pieces.iter().map(|(width, _)| *width).max().unwrap_or(0);
    let mut blocks = crate::par::reserved(pieces.len(), "pieces of a file")?;
    blocks.extend(pieces.into_iter().map(|(_, rows)| rows));
    if options.columns.is_none() && blocks.iter().all(|rows: &Rows<f64>| rows.lens.is_empty()) {
        return Err(text.wrong_at_end("the file has no rows, so that its columns are not known"));
    }
    stacked(blocks, options.columns.unwrap_or(width))
}

/// The rows of a piece, and the number of columns they require.
fn rows(text: &[u8], options: &SvmlightOptions<'_>) -> Result<(usize, Rows<f64>), Halt> {
    let mut rows = Rows { lens: vec![], cols: vec![], values: vec![], labels: Labels::default() };
    let mut width = 0;
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next_entry(b"#")? {
        let end = line.text.iter().position(|&b| b == b'#').unwrap_or(line.text.len());
        let mut words = Line { text: &line.text[..end], ..line }.words(&[]).peekable();
        let Some(label) = words.next() else { continue };
        rows.labels.push(checked_label(&label)?)?;
        let query = words.next_if(|word| word.text.starts_with(QUERY));
        if let Some(word) = query.filter(|word| !is_number(&word.text[QUERY.len()..])) {
            return Err(word.wrong(format!("expected qid:number, found {}", word.shown())).into());
        }
        let before = rows.cols.len();
        for word in words {
            let (j, x) = entry(&word, options)?;
            width = width.max(j as usize + 1);
            push(&mut rows.cols, j, "column indices")?;
            push(&mut rows.values, x, "values")?;
        }
        if let Some(j) = sort_row(&mut rows.cols[before..], &mut rows.values[before..])? {
            let column = u64::from(j) + u64::from(!options.zero_based);
            return Err(line.wrong(format!("column {column} is in the line twice")).into());
        }
        push(&mut rows.lens, (rows.cols.len() - before) as u32, "rows")?;
    }
    Ok((width, rows))
}

/// Prefix of a query number.
const QUERY: &[u8] = b"qid:";

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Whether the text is a label: one or more numbers.
pub(super) fn is_label(text: &[u8]) -> bool {
    text.split(|&b| b == b',').all(|part| {
        let mut cursor = Cursor { text: part, at: 0 };
        real(&mut cursor).is_ok() && cursor.at == part.len()
    })
}

fn checked_label<'a>(word: &Line<'a>) -> Result<&'a str, Bad> {
    let wrong = || word.wrong(format!("expected a label, which is a number, found {}", word.shown()));
    if !is_label(word.text) {
        return Err(wrong());
    }
    std::str::from_utf8(word.text).map_err(|_| wrong())
}

/// A zero-based column and its value.
fn entry(word: &Line<'_>, options: &SvmlightOptions<'_>) -> Result<(u32, f64), Bad> {
    let expected = |at: usize| Bad::new(at, format!("expected column:value, found {}", word.shown()));
    let colon = word.text.iter().position(|&b| b == b':').ok_or_else(|| expected(word.at))?;
    let mut column = Cursor { text: &word.text[..colon], at: 0 };
    let written = match column.digits() {
        Ok(n) => n,
        Err(true) => u64::MAX,
        Err(false) => return Err(expected(word.at)),
    };
    let Some(j) = written.checked_sub(u64::from(!options.zero_based)) else {
        return Err(word.wrong("column 0: columns count from 1; if here they count from 0, say so: --zero-based"));
    };
    let bound = options.columns.unwrap_or(u32::MAX_LEN) as u64;
    if j >= bound {
        let shown = &word.text[..colon];
        let why = if options.columns.is_some() {
            format!("is beyond the {bound} columns that are given")
        } else {
            format!("is beyond the largest number of columns, {bound}")
        };
        return Err(word.wrong(format!("column {} {why}", crate::io::text::shown(shown))));
    }
    let at = word.at + colon + 1;
    let mut value = Cursor { text: &word.text[colon + 1..], at: 0 };
    let x = real(&mut value)
        .map_err(|bad| if bad.message.contains("beyond") { Bad::new(at, bad.message) } else { expected(word.at) })?;
    if value.at < value.text.len() { Err(expected(word.at)) } else { Ok((j as u32, x)) }
}
