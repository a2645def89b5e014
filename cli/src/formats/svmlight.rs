//! Lines of a label and `column:value`, as svmlight and libsvm have them: a row each. Labels are left out, and written as 0.
//!
//! Columns count from 1; in a file that has a column 0 they count from 0, as scikit-learn reads and writes them.

use std::io::Write;

use sparring::algebra::Slice;
use sparring::runtime::Matrix;
use sparring::{Error, Pattern, Result};

use super::stop::Stop;
use super::values::{matrix, narrow, not_held, texts};

pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Matrix> {
    let wrong =
        |line: usize, message: String| Error::Parse { file: name.into(), line: line as u64 + 1, column: 1, message };
    let (mut rows, mut cols, mut values) = (vec![], vec![], vec![]);
    let mut nrows = 0;
    for (at, line) in bytes.split(|&b| b == b'\n').enumerate() {
        let line = line.split(|&b| b == b'#').next().unwrap_or_default();
        let line = std::str::from_utf8(line).map_err(|_| wrong(at, "it is not text in UTF-8".into()))?;
        let mut words = line.split_ascii_whitespace();
        let Some(label) = words.next() else { continue };
        if label.contains(':') {
            return Err(wrong(at, format!("expected a label, found '{label}'")));
        }
        for word in words.filter(|word| !word.starts_with("qid:")) {
            let pair = word.split_once(':').and_then(|(j, x)| Some((j.parse::<u32>().ok()?, x.parse::<f64>().ok()?)));
            let (j, x) = pair.ok_or_else(|| wrong(at, format!("expected column:value, found '{word}'")))?;
            rows.push(narrow(nrows)?);
            cols.push(j);
            values.push(x);
        }
        nrows += 1;
    }
    if cols.iter().all(|&j| j > 0) {
        cols.iter_mut().for_each(|j| *j -= 1);
    }
    let ncols = cols.iter().max().map_or(0, |&j| j as usize + 1);
    matrix((nrows, ncols), (rows, cols, values))
}

pub(super) fn write(out: &mut dyn Write, pattern: &Pattern, values: Slice<'_>) -> Result<(), Stop> {
    let text = texts(values).ok_or_else(|| not_held(values, "svmlight"))?;
    let mut line = Vec::new();
    for i in 0..pattern.nrows() {
        line.clear();
        line.push(b'0');
        for (&j, e) in pattern.row(i).iter().zip(pattern.row_ptr()[i]..) {
            line.extend_from_slice(format!(" {}:", u64::from(j) + 1).as_bytes());
            text(e, &mut line);
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}
