//! Reading: the text is cut at line ends into pieces, and threads parse the pieces.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::assemble::MatrixFile;
use super::banner::{Field, Symmetry};
use super::gzip;
use super::header::Header;
use super::options::ReadOptions;
use super::parse::{Block, Parsed, Source, first_not_real, not_real, parse_body, parse_piece};
use super::scalar::Scalar;
use super::text::{Bad, Cursor, quoted};
use crate::par::{Threads, reserved};
use crate::sparse::for_each_part;
use crate::{Error, Index, Result};

/// Reads a Matrix Market file, compressed by gzip or not.
///
/// ```no_run
/// let a = sparring::io::read_matrix_market("ca-HepPh.mtx.gz")?.csr::<f64>()?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// Cost: O(bytes), shared by all threads; decompression runs on one. Memory: the file, its text where it is
/// compressed, and 8 to 24 bytes an entry.
/// # Errors
/// [`Error::Io`]; [`Error::Parse`] with the first line and column that are wrong; [`Error::OutOfMemory`].
pub fn read_matrix_market(path: impl AsRef<Path>) -> Result<MatrixFile> {
    read_matrix_market_with(path, &ReadOptions::new())
}

/// As [`read_matrix_market`], with options.
/// # Errors
/// As [`read_matrix_market`]; [`Error::Budget`] for text beyond [`ReadOptions::max_bytes`].
pub fn read_matrix_market_with(path: impl AsRef<Path>, options: &ReadOptions<'_>) -> Result<MatrixFile> {
    let name = path.as_ref().display().to_string();
    let bytes = std::fs::read(path).map_err(|source| Error::Io { path: name.clone(), source })?;
    parse_matrix_market_with(&bytes, &name, options)
}

/// Reads the bytes of a Matrix Market file, compressed by gzip or not; errors call it `name`.
/// # Errors
/// As [`read_matrix_market`].
pub fn parse_matrix_market(bytes: &[u8], name: &str) -> Result<MatrixFile> {
    parse_matrix_market_with(bytes, name, &ReadOptions::new())
}

/// As [`parse_matrix_market`], with options.
/// # Errors
/// As [`read_matrix_market_with`].
pub fn parse_matrix_market_with(bytes: &[u8], name: &str, options: &ReadOptions<'_>) -> Result<MatrixFile> {
    if gzip::is_gzip(bytes) {
        // Nearly all files are right, and these are parsed while they are decompressed. Where something is wrong,
        // the whole text tells what comes first in it.
        if let Some(file) = gzip::parse_stream(bytes, options) {
            return Ok(file);
        }
        let text = gzip::decompress(name, bytes, options.max_bytes)?;
        return parse_text(name, &text, options);
    }
    gzip::check_size(bytes.len() as u64, options.max_bytes)?;
    parse_text(name, bytes, options)
}

fn parse_text(name: &str, text: &[u8], options: &ReadOptions<'_>) -> Result<MatrixFile> {
    let (header, start) = Header::parse(text).map_err(|bad| bad.locate(name, text))?;
    let here = Threads::current();
    let threads = options.threads.unwrap_or(&here);
    let parse = |header| {
        parse_body(header, threads, Body { name, text, start, header, threads, piece_bytes: options.piece_bytes })
    };
    match parse(header) {
        // Integers that are not all in i64 may all be in u64; negating those would leave it.
        Err(signed @ Error::Parse { .. })
            if header.field == Field::Integer && header.symmetry != Symmetry::SkewSymmetric =>
        {
            match parse(Header { field: Field::Unsigned, ..header }) {
                Ok(MatrixFile { entries, .. }) => Ok(MatrixFile { header, entries }),
                Err(unsigned) => Err(further(signed, unsigned)),
            }
        }
        parsed => parsed,
    }
}

/// Of two readings that both ended early, the error of the one that came further: the first thing in the file that
/// belongs to no integer type which holds what is before it.
fn further(one: Error, other: Error) -> Error {
    let place = |e: &Error| match e {
        Error::Parse { line, column, .. } => (*line, *column),
        _ => (0, 0),
    };
    if place(&other) > place(&one) { other } else { one }
}

/// The text from `start` on holds the entries that `header` describes.
struct Body<'a> {
    name: &'a str,
    text: &'a [u8],
    start: usize,
    header: Header,
    threads: &'a Threads,
    piece_bytes: usize,
}

impl Source for Body<'_> {
    type Error = Error;
    /// Parses all pieces; of several errors the first in the file counts.
    fn blocks<I: Index, X: Scalar>(self) -> Result<Vec<Block<I, X>>> {
        let pieces = pieces(self.text, self.start, self.piece_bytes);
        // Pieces behind one that is wrong need not be parsed.
        let first_wrong = AtomicUsize::new(usize::MAX);
        let parse = |(p, piece): (usize, &std::ops::Range<usize>)| {
            if p > first_wrong.load(Ordering::Relaxed) {
                return Ok(Parsed { block: Block { rows: vec![], cols: vec![], values: vec![] }, bad: None });
            }
            let parsed = parse_piece::<I, X>(&self.text[piece.clone()], &self.header);
            if !matches!(parsed, Ok(Parsed { bad: None, .. })) {
                first_wrong.fetch_min(p, Ordering::Relaxed);
            }
            parsed
        };
        let mut parsed: Vec<Option<Result<Parsed<I, X>>>> = reserved(pieces.len(), "pieces of a file")?;
        parsed.resize_with(pieces.len(), || None);
        for_each_part(
            self.threads,
            parsed.iter_mut().zip(&pieces).enumerate().collect(),
            || Ok(()),
            |(), (p, (parsed, piece))| {
                *parsed = Some(parse((p, piece)));
                Ok(())
            },
        )?;

        let stored = self.header.stored;
        let mut blocks = Vec::with_capacity(pieces.len());
        let mut before = 0;
        for (piece, parsed) in pieces.iter().zip(parsed.into_iter().flatten()) {
            let Parsed { block, bad } = parsed?;
            if let Some((i, e)) = first_not_real(&self.header, before, &block.values) {
                return Err(not_real(i, self.entry(piece.start, e)).locate(self.name, self.text));
            }
            let after = before + block.values.len();
            if after > stored || (after == stored && bad.is_some()) {
                return Err(self.one_more(piece.start, stored - before));
            }
            if let Some(mut bad) = bad {
                bad.at += piece.start;
                return Err(bad.locate(self.name, self.text));
            }
            blocks.push(block);
            before = after;
        }
        if before < stored {
            let message = format!("the size line declares {stored} entries, the file ends after {before}");
            return Err(Bad::new(self.text.len(), message).locate(self.name, self.text));
        }
        Ok(blocks)
    }
}

impl Body<'_> {
    /// The error that something follows the last entry, which is `wanted` entries behind `start`.
    #[cold]
    fn one_more(&self, start: usize, wanted: usize) -> Error {
        let at = self.entry(start, wanted);
        let stored = self.header.stored;
        let found = quoted(self.text, at);
        Bad::new(at, format!("the size line declares {stored} entries, found {found} after the last"))
            .locate(self.name, self.text)
    }

    /// Where the entry begins that comes `wanted` entries behind `start`.
    fn entry(&self, start: usize, wanted: usize) -> usize {
        let mut cursor = Cursor { text: self.text, at: start };
        let mut seen = 0;
        loop {
            cursor.skip_blanks();
            match cursor.line_end() {
                Some(0) => return cursor.at,
                Some(n) => cursor.at += n,
                None if seen == wanted => return cursor.at,
                None => {
                    seen += 1;
                    cursor.skip_line();
                }
            }
        }
    }
}

/// Cuts `text[start..]` behind line ends, every `bytes` or more.
fn pieces(text: &[u8], mut start: usize, bytes: usize) -> Vec<std::ops::Range<usize>> {
    let mut pieces = Vec::new();
    while start < text.len() {
        let least = text.len().min(start.saturating_add(bytes)) - 1;
        let end = text[least..].iter().position(|&b| b == b'\n').map_or(text.len(), |p| least + p + 1);
        pieces.push(start..end);
        start = end;
    }
    pieces
}
