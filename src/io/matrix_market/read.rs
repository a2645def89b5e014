//! The Matrix Market reader: text is split at line ends into pieces, which threads parse.

use std::io::Read;
use std::path::Path;

use super::assemble::MatrixFile;
use super::block::Block;
use super::gzip;
use super::header::{Header, check_magic};
use super::options::ReadOptions;
use super::parse::{InOrder, Rules, Source, of_integers, parse_body, parse_piece};
use super::plain;
use crate::io::text::{Bad, Cursor, bytes_from, bytes_of, check_size, is_packed, parse_pieces, pieces};
use crate::par::Threads;
use crate::{Error, Result};

/// Reads a Matrix Market file, compressed by gzip or not.
///
/// ```no_run
/// let a = sparring::io::read_matrix_market("ca-HepPh.mtx.gz")?.csr::<f64>()?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// Cost: O(bytes), shared by all threads; decompression is single-threaded. Memory: a piece of text per thread (the
/// whole file if it is small, compressed, an array, or erroneous) and 8 to 24 bytes per entry.
/// # Errors
/// [`Error::Io`]; [`Error::Parse`] with line and column of the first error; [`Error::OutOfMemory`].
pub fn read_matrix_market(path: impl AsRef<Path>) -> Result<MatrixFile> {
    read_matrix_market_with(path, &ReadOptions::new())
}

/// [`read_matrix_market`] with options.
/// # Errors
/// As [`read_matrix_market`]; [`Error::Budget`] for text beyond [`ReadOptions::max_bytes`].
pub fn read_matrix_market_with(path: impl AsRef<Path>, options: &ReadOptions<'_>) -> Result<MatrixFile> {
    if let Some(file) = plain::parse(path.as_ref(), options) {
        return Ok(file);
    }
    let (name, bytes) = bytes_of(path.as_ref(), &options.limits(), &|text| check_magic(text, options.lenient))?;
    parse_matrix_market_with(&bytes, &name, options)
}

/// [`read_matrix_market_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_matrix_market_with`].
pub fn read_matrix_market_from(from: &mut dyn Read, name: &str, options: &ReadOptions<'_>) -> Result<MatrixFile> {
    let bytes = bytes_from(from, name, &options.limits(), &|text| check_magic(text, options.lenient))?;
    parse_matrix_market_with(&bytes, name, options)
}

/// Parses the bytes of a Matrix Market file, compressed by gzip or not; `name` appears in errors.
/// # Errors
/// As [`read_matrix_market`].
pub fn parse_matrix_market(bytes: &[u8], name: &str) -> Result<MatrixFile> {
    parse_matrix_market_with(bytes, name, &ReadOptions::new())
}

/// [`parse_matrix_market`] with options.
/// # Errors
/// As [`read_matrix_market_with`].
pub fn parse_matrix_market_with(bytes: &[u8], name: &str, options: &ReadOptions<'_>) -> Result<MatrixFile> {
    if is_packed(bytes) {
        return gzip::parse(name, bytes, options);
    }
    check_size(options.limits().what, bytes.len() as u64, options.max_bytes)?;
    let (header, start) = Header::parse(bytes, options.lenient).map_err(|bad| bad.locate(name, bytes))?;
    let here = Threads::current();
    let threads = options.threads.unwrap_or(&here);
    of_integers(header, |header| {
        let rules = Rules { header, lenient: options.lenient };
        let piece_bytes = options.piece_bytes;
        parse_body(name, rules, threads, &Body { name, text: bytes, start, rules, threads, piece_bytes })
    })
}

/// Text whose entries begin at `start`.
struct Body<'a> {
    name: &'a str,
    text: &'a [u8],
    start: usize,
    rules: Rules,
    threads: &'a Threads,
    piece_bytes: usize,
}

impl Source for Body<'_> {
    type Error = Error;
    /// Parses all pieces; reports the first error in the file.
    fn blocks(&self) -> Result<Vec<Block>> {
        let pieces = pieces(self.text, self.start, self.piece_bytes);
        let parse = |piece: &[u8]| parse_piece(piece, &self.rules);
        let parsed = parse_pieces(self.threads, self.text, &pieces, parse, |parsed| parsed.bad.is_some())?;
        let mut blocks = Vec::with_capacity(pieces.len());
        let mut order = InOrder::new(&self.rules);
        for (piece, parsed) in pieces.iter().zip(parsed) {
            let block = order.take(&self.text[piece.clone()], parsed?);
            blocks.push(block.map_err(|bad| self.wrong(Bad { at: bad.at + piece.start, ..bad }))?);
        }
        order.finish(self.text.len()).map_err(|bad| self.wrong(bad))?;
        Ok(blocks)
    }
    fn at_entry(&self, number: usize, message: String) -> Error {
        let mut cursor = Cursor { text: self.text, at: self.start };
        cursor.skip_entries(number, self.rules.comment());
        self.wrong(Bad::new(cursor.at, message))
    }
}

impl Body<'_> {
    #[cold]
    fn wrong(&self, bad: Bad) -> Error {
        bad.locate(self.name, self.text)
    }
}
