//! Tables of numbers with commas between, a row a line: every element of a matrix, those that are 0 absent.
//!
//! A first line whose first cell is no number is a heading; lines that begin with # are comments.

use std::io::Write;

use sparring::algebra::Slice;
use sparring::runtime::Matrix;
use sparring::{Error, Pattern, Result};

use super::stop::Stop;
use super::values::{matrix, narrow, not_held, texts};

pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Matrix> {
    let wrong =
        |line: usize, message: String| Error::Parse { file: name.into(), line: line as u64 + 1, column: 1, message };
    let (mut nrows, mut ncols) = (0, None);
    let (mut rows, mut cols, mut values) = (vec![], vec![], vec![]);
    for (at, line) in bytes.split(|&b| b == b'\n').enumerate() {
        let line = std::str::from_utf8(line).map_err(|_| wrong(at, "it is not text in UTF-8".into()))?.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cell = |text: &str| text.trim().trim_matches('"').parse::<f64>();
        if ncols.is_none() && line.split(',').next().is_some_and(|first| cell(first).is_err()) {
            ncols = Some(line.split(',').count());
            continue;
        }
        let mut count = 0;
        for text in line.split(',') {
            let x =
                cell(text).map_err(|_| wrong(at, format!("column {} is no number: '{}'", count + 1, text.trim())))?;
            if x != 0.0 || x.is_sign_negative() {
                rows.push(narrow(nrows)?);
                cols.push(narrow(count)?);
                values.push(x);
            }
            count += 1;
        }
        let wanted = *ncols.get_or_insert(count);
        if count != wanted {
            return Err(wrong(at, format!("the line has {count} columns, those before it have {wanted}")));
        }
        nrows += 1;
    }
    matrix((nrows, ncols.unwrap_or(0)), (rows, cols, values))
}

pub(super) fn write(out: &mut dyn Write, pattern: &Pattern, values: Slice<'_>) -> Result<(), Stop> {
    let text = texts(values).ok_or_else(|| not_held(values, "CSV"))?;
    let mut line = Vec::new();
    for i in 0..pattern.nrows() {
        line.clear();
        let mut entries = pattern.row(i).iter().zip(pattern.row_ptr()[i]..).peekable();
        for j in 0..pattern.ncols() {
            if j > 0 {
                line.push(b',');
            }
            match entries.next_if(|(column, _)| **column as usize == j) {
                Some((_, e)) => text(e, &mut line),
                None => line.push(b'0'),
            }
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}
