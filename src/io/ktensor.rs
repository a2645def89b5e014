//! Kruskal tensors as text, in the `ktensor` format of the Tensor Toolbox, pyttb and GenTen.
//!
//! ```text
//! ktensor
//! 3                   the order
//! 5 201 61            the dimensions
//! 2                   the rank
//! 0.5 2               the weights
//! matrix              then the factor of each mode: order 2, shape, rows
//! 2
//! 5 2
//! …
//! ```
//! Line breaks are equivalent to blanks.
//!
//! Source: Bader, Kolda et al., *Tensor Toolbox for MATLAB*, 3.6, `export_data`.

use std::io::{Read, Write};
use std::path::Path;

use super::text::{
    Bad, Cursor, Limits, bytes_from, bytes_of, check_size, is_packed, other_kind, quoted, real, to_file, unpacked,
};
use crate::par::reserved;
use crate::tensor::{Kruskal, MAX_ORDER};
use crate::{Dense, Error, Result};

/// Maximum bytes of decompressed text.
const MOST: u64 = 1 << 36;

fn limits() -> Limits {
    Limits { what: "text of a Kruskal tensor", max_bytes: MOST, piece_bytes: Limits::PIECE, lenient: false }
}

fn first(text: &[u8]) -> Result<(), Bad> {
    match other_kind(text) {
        Some(why) => Err(Bad::new(0, format!("expected a Kruskal tensor, found {}{why}", quoted(text, 0)))),
        None => Ok(()),
    }
}

/// Reads a Kruskal tensor, compressed or not. Cost: O(bytes).
/// # Errors
/// [`Error::Io`]; [`Error::Parse`] with the first line and column that are wrong; [`Error::OutOfMemory`].
pub fn read_ktensor(path: impl AsRef<Path>) -> Result<Kruskal<f64>> {
    let (name, bytes) = bytes_of(path.as_ref(), &limits(), &first)?;
    parse_ktensor(&bytes, &name)
}

/// [`read_ktensor`] from any reader; `name` appears in errors.
/// # Errors
/// As [`read_ktensor`].
pub fn read_ktensor_from(from: &mut dyn Read, name: &str) -> Result<Kruskal<f64>> {
    parse_ktensor(&bytes_from(from, name, &limits(), &first)?, name)
}

/// [`read_ktensor`] from the bytes of a file; `name` appears in errors.
/// ```
/// use sparring::io::{parse_ktensor, write_ktensor_to};
/// let text = b"ktensor\n2\n2 1\n1\n3\nmatrix\n2\n2 1\n0.6\n0.8\nmatrix\n2\n1 1\n1\n";
/// let model = parse_ktensor(text, "example")?;
/// assert_eq!((model.dims(), model.weights()), (vec![2, 1], &[3.0][..]));
/// let mut again = Vec::new();
/// write_ktensor_to(&mut again, &model)?;
/// assert_eq!(parse_ktensor(&again, "again")?, model);
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// As [`read_ktensor`].
pub fn parse_ktensor(bytes: &[u8], name: &str) -> Result<Kruskal<f64>> {
    if is_packed(bytes) {
        let text = unpacked(bytes, name, &limits(), &|_| None)?;
        return parse(&text, name);
    }
    check_size(limits().what, bytes.len() as u64, MOST)?;
    parse(bytes, name)
}

fn parse(text: &[u8], name: &str) -> Result<Kruskal<f64>> {
    first(text).map_err(|bad| bad.locate(name, text))?;
    let mut words = Words { name, cursor: Cursor { text, at: 0 } };
    words.word("ktensor")?;
    let order = words.size("the order")?;
    if !(1..=MAX_ORDER).contains(&order) {
        return Err(words.wrong(&format!("a Kruskal tensor has 1 to {MAX_ORDER} modes, not {order}")));
    }
    let mut dims = Vec::new();
    for mode in 0..order {
        dims.push(words.size(&format!("the size of mode {mode}"))?);
    }
    let rank = words.size("the rank")?;
    let weights = words.numbers(rank, "a weight")?;
    let mut factors = Vec::new();
    for (mode, &n) in dims.iter().enumerate() {
        words.word("matrix")?;
        let shape = (words.size("the order of a matrix")?, words.size("rows")?, words.size("columns")?);
        if shape != (2, n, rank) {
            return Err(words.wrong(&format!("factor {mode} is {}×{}, and should be {n}×{rank}", shape.1, shape.2)));
        }
        let count = n.checked_mul(rank).ok_or(Error::OutOfMemory { what: "a factor", bytes: u128::MAX })?;
        factors.push(Dense::new(n, rank, words.numbers(count, "an element of a factor")?)?);
    }
    words.end()?;
    Kruskal::new(weights, factors)
}

/// A word reader that ignores line breaks.
struct Words<'a> {
    name: &'a str,
    cursor: Cursor<'a>,
}

impl<'a> Words<'a> {
    fn wrong(&self, message: &str) -> Error {
        Bad::new(self.cursor.at, message).locate(self.name, self.cursor.text)
    }
    /// The next word, and its offset.
    fn next(&mut self) -> (usize, &'a [u8]) {
        let Cursor { text, at } = &mut self.cursor;
        *at += text[*at..].iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(text.len() - *at);
        let start = *at;
        *at += text[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(text.len() - start);
        (start, &text[start..*at])
    }
    fn unexpected(&mut self, at: usize, what: &str) -> Error {
        self.cursor.at = at;
        self.wrong(&format!("expected {what}, found {}", quoted(self.cursor.text, at)))
    }
    fn word(&mut self, wanted: &str) -> Result<()> {
        match self.next() {
            (_, word) if word == wanted.as_bytes() => Ok(()),
            (at, _) => Err(self.unexpected(at, &format!("\"{wanted}\""))),
        }
    }
    fn size(&mut self, what: &str) -> Result<usize> {
        let (at, word) = self.next();
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.ok_or_else(|| self.unexpected(at, what))
    }
    /// Reads `count` numbers. The allocation is bounded by the length of the text, not by the declared count.
    fn numbers(&mut self, count: usize, what: &str) -> Result<Vec<f64>> {
        // A number and its separator take at least two bytes.
        let possible = (self.cursor.text.len() - self.cursor.at) / 2 + 1;
        let mut list = reserved(count.min(possible), "numbers of a Kruskal tensor")?;
        for _ in 0..count {
            let (at, text) = self.next();
            let mut cursor = Cursor { text, at: 0 };
            match real(&mut cursor) {
                Ok(x) if cursor.at == text.len() && !text.is_empty() => list.push(x),
                _ => return Err(self.unexpected(at, what)),
            }
        }
        Ok(list)
    }
    fn end(&mut self) -> Result<()> {
        match self.next() {
            (_, []) => Ok(()),
            (at, _) => Err(self.unexpected(at, "the end of the text")),
        }
    }
}

/// Writes a Kruskal tensor, compressed if `path` ends in `.gz` or `.zst` (feature `zstd`); floats in the shortest form
/// that reads back exactly.
/// # Errors
/// [`Error::Io`]; [`Error::Unsupported`] for `.zst` without the feature.
pub fn write_ktensor(path: impl AsRef<Path>, model: &Kruskal<f64>) -> Result<()> {
    to_file(path.as_ref(), &mut |out| Ok(written(out, model)?))
}

/// [`write_ktensor`] to `out`.
/// # Errors
/// As [`write_ktensor`]; the path of [`Error::Io`] is `output`.
pub fn write_ktensor_to(out: &mut dyn Write, model: &Kruskal<f64>) -> Result<()> {
    written(out, model).map_err(|source| Error::Io { path: "output".into(), source })
}

fn written(out: &mut dyn Write, model: &Kruskal<f64>) -> std::io::Result<()> {
    let line = |out: &mut dyn Write, values: &[f64]| -> std::io::Result<()> {
        for (i, x) in values.iter().enumerate() {
            write!(out, "{}{x:?}", if i > 0 { " " } else { "" })?;
        }
        writeln!(out)
    };
    writeln!(out, "ktensor\n{}", model.order())?;
    for (i, n) in model.dims().iter().enumerate() {
        write!(out, "{}{n}", if i > 0 { " " } else { "" })?;
    }
    writeln!(out, "\n{}", model.rank())?;
    line(out, model.weights())?;
    for factor in model.factors() {
        writeln!(out, "matrix\n2\n{} {}", factor.nrows(), factor.ncols())?;
        for row in factor.values().chunks(factor.ncols().max(1)) {
            line(out, row)?;
        }
    }
    Ok(())
}
