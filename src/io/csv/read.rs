//! The CSV reader: threads parse pieces of text into rows.

use std::io::Read;
use std::path::Path;

use super::cells::{Cell, Cells};
use super::options::CsvOptions;
use crate::io::labeled::{LabeledMatrix, Labels, Rows, check_shape, stacked};
use crate::io::text::{Bad, Cursor, Expected, Halt, Line, Lines, Text, push, real, shown, text_from, text_of};
use crate::par::Threads;
use crate::{Error, Result};

const EXPECTED: Expected<'static> = Expected { what: "a table of numbers", but: &[] };

/// Reads a table of numbers, compressed by gzip or not, as an f64 matrix; zeros are not stored as entries.
///
/// Cost: O(bytes), shared by all threads; decompression is single-threaded. Memory: the file, 12 to 24 bytes per entry.
/// ```no_run
/// use sparring::io::{CsvOptions, read_csv_with};
/// let a = read_csv_with("table.csv", &CsvOptions::new().header(true))?.csr::<f64>()?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// [`Error::Io`]; [`Error::Parse`] with line and column of the first error; [`Error::Budget`] for a file larger than
/// [`CsvOptions::max_bytes`]; [`Error::Argument`] for a delimiter that can be part of a number; [`Error::OutOfMemory`].
pub fn read_csv_with(path: impl AsRef<Path>, options: &CsvOptions<'_>) -> Result<LabeledMatrix> {
    let (name, bytes) = text_of(path.as_ref(), &options.limits(), &EXPECTED)?;
    parse_csv_with(&bytes, &name, options)
}

/// [`read_csv_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_csv_with`].
pub fn read_csv_from(from: &mut dyn Read, name: &str, options: &CsvOptions<'_>) -> Result<LabeledMatrix> {
    let bytes = text_from(from, name, &options.limits(), &EXPECTED)?;
    parse_csv_with(&bytes, name, options)
}

/// [`read_csv_with`] from the bytes of a file; `name` appears in errors.
/// # Errors
/// As [`read_csv_with`].
pub fn parse_csv_with(bytes: &[u8], name: &str, options: &CsvOptions<'_>) -> Result<LabeledMatrix> {
    let delimiter = options.delimiter;
    if delimiter.is_ascii_alphanumeric() || matches!(delimiter, b'"' | b'+' | b'-' | b'.' | b'\n' | b'\r') {
        let message = format!("'{}' cannot stand between cells", delimiter.escape_ascii());
        return Err(Error::Argument { name: "delimiter", message });
    }
    let here = Threads::current();
    let threads = options.common.threads.unwrap_or(&here);
    let text = Text { name, bytes, limits: options.limits(), threads, expected: EXPECTED };
    let head = |(): &mut (), lines: &mut Lines<'_>| head(lines, options);
    let (found, blocks) = text.parse(&head, &|head: &Head, text| rows(text, head.ncols, delimiter))?;
    let found = found.ok_or_else(|| text.wrong_at_end("the file has no rows, so that its columns are not known"))?;
    check_shape(0, found.ncols)?;
    Ok(LabeledMatrix { columns: found.columns, ..stacked(blocks, found.ncols)? })
}

/// The first line.
struct Head {
    ncols: usize,
    /// Column names, if the line is a header.
    columns: Labels,
}

fn head(lines: &mut Lines<'_>, options: &CsvOptions<'_>) -> Result<Option<Head>, Halt> {
    let Some(line) = lines.next_entry(b"#")? else { return Ok(None) };
    let mut columns = Labels::default();
    let mut ncols = 0;
    let mut cells = Cells::new(line, options.delimiter);
    while let Some(cell) = cells.next_cell()? {
        ncols += 1;
        if options.header == Some(true) {
            push_name(&mut columns, &cell)?;
        } else if let Err(wrong) = number(&cell) {
            return Err(not_a_number(&line, &cell, ncols, wrong, options.header.is_none(), options.delimiter).into());
        }
    }
    if options.header != Some(true) {
        // The line is a row, and parsed again as such.
        lines.at = line.at;
    }
    Ok(Some(Head { ncols, columns }))
}

fn push_name(columns: &mut Labels, cell: &Cell<'_>) -> Result<(), Halt> {
    let name = std::str::from_utf8(cell.text).map_err(|_| Bad::new(cell.at, "it is not text in UTF-8"))?;
    let push = if cell.escaped { columns.push(&name.replace("\"\"", "\"")) } else { columns.push(name) };
    Ok(push?)
}

/// The number in a cell; the error is `None` for a non-number, or says that the number is out of range of f64.
fn number(cell: &Cell<'_>) -> Result<f64, Option<Bad>> {
    let mut cursor = Cursor { text: cell.text, at: 0 };
    match real(&mut cursor) {
        Ok(x) if cursor.at == cell.text.len() => Ok(x),
        Err(bad) if bad.message.contains("beyond") => Err(Some(bad)),
        _ => Err(None),
    }
}

/// The error that a cell is not a number.
#[cold]
fn not_a_number(
    line: &Line<'_>,
    cell: &Cell<'_>,
    column: usize,
    wrong: Option<Bad>,
    may_be_heading: bool,
    delimiter: u8,
) -> Bad {
    if let Some(bad) = wrong {
        return Bad::new(cell.at + bad.at, bad.message);
    }
    let what = match cell.text {
        [] => format!("column {column} is empty"),
        text => format!("column {column} is no number: {}", shown(text)),
    };
    let others = [(b';', "';'"), (b'\t', "tab"), (b'|', "'|'"), (b' ', "' '"), (b',', "','")];
    let other = others.into_iter().find(|(other, _)| *other != delimiter && separates(line, *other));
    let why = match other {
        Some((_, name)) => format!("; if {name} stands between the cells, say so: --delimiter {name}"),
        None if may_be_heading => {
            "; is the first line a heading (--header), or a row with a cell that is wrong (--no-header)?".to_owned()
        }
        None => String::new(),
    };
    Bad::new(cell.at, what + &why)
}

/// Whether this delimiter splits the line into two or more nonempty cells.
fn separates(line: &Line<'_>, delimiter: u8) -> bool {
    let (mut cells, mut count, mut numbers) = (Cells::new(*line, delimiter), 0, 0);
    while let Ok(Some(cell)) = cells.next_cell() {
        if cell.text.is_empty() {
            return false;
        }
        count += 1;
        numbers += usize::from(number(&cell).is_ok());
    }
    // Prose contains spaces and commas too.
    count > 1 && (numbers == count || (numbers == 0 && matches!(delimiter, b';' | b'\t' | b'|')))
}

fn rows(text: &[u8], ncols: usize, delimiter: u8) -> Result<Rows<f64>, Halt> {
    let mut rows = Rows { lens: vec![], cols: vec![], values: vec![], labels: Labels::default() };
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next_entry(b"#")? {
        let (mut cells, mut column, before) = (Cells::new(line, delimiter), 0, rows.cols.len());
        while let Some(cell) = cells.next_cell()? {
            let x = number(&cell).map_err(|wrong| not_a_number(&line, &cell, column + 1, wrong, false, delimiter))?;
            if column == ncols {
                let message = format!("the line has more than the {ncols} columns of the first");
                return Err(Bad::new(cell.at, message).into());
            }
            // −0 is an entry.
            if x.to_bits() != 0 {
                push(&mut rows.cols, column as u32, "column indices")?;
                push(&mut rows.values, x, "values")?;
            }
            column += 1;
        }
        if column < ncols {
            let message = format!("the line has {column} columns, the first has {ncols}");
            return Err(Bad::new(line.at + line.text.len(), message).into());
        }
        push(&mut rows.lens, (rows.cols.len() - before) as u32, "rows")?;
    }
    Ok(rows)
}
