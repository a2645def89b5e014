//! Reading: the text is cut at line ends into pieces, and threads parse the pieces.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::assemble::MatrixFile;
use super::block::Block;
use super::gzip;
use super::header::{ENOUGH, Header, check_magic};
use super::options::ReadOptions;
use super::parse::{InOrder, Parsed, Rules, Source, of_integers, parse_body, parse_piece};
use super::scalar::Scalar;
use super::text::{Bad, Cursor};
use crate::par::{Threads, reserved};
use crate::sparse::for_each_part;
use crate::{Error, Index, Result};

/// Reads a Matrix Market file, compressed by gzip or not.
///
/// ```no_run
/// let a = sparring::io::read_matrix_market("ca-HepPh.mtx.gz")?.csr::<f64>()?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// Cost: O(bytes), shared by all threads; decompression runs on one. Memory: the file, some pieces of its
/// text where it is compressed, and 8 to 24 bytes an entry.
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
    let mut file = File::open(path).map_err(|source| Error::Io { path: name.clone(), source })?;
    // Of what is no plain file the size is not known.
    let bytes = file.metadata().ok().filter(|about| about.is_file()).map(|about| about.len());
    let bytes = whole(&mut file, &name, bytes.unwrap_or(0), options)?;
    parse_matrix_market_with(&bytes, &name, options)
}

/// As [`read_matrix_market_with`], from whatever can be read, such as standard input; errors call it `name`.
/// # Errors
/// As there.
pub fn read_matrix_market_from(from: &mut dyn Read, name: &str, options: &ReadOptions<'_>) -> Result<MatrixFile> {
    let bytes = whole(from, name, 0, options)?;
    parse_matrix_market_with(&bytes, name, options)
}

/// All bytes, `size` of them if that is known; what does not begin as a file should, or is too long, is not read.
fn whole(from: &mut dyn Read, name: &str, size: u64, options: &ReadOptions<'_>) -> Result<Vec<u8>> {
    let io = |source: io::Error| match source.kind() {
        io::ErrorKind::OutOfMemory => Error::OutOfMemory { what: "a file", bytes: size.into() },
        _ => Error::Io { path: name.to_owned(), source },
    };
    let mut bytes = reserved(usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1), "a file")?;
    (&mut *from).take(ENOUGH as u64).read_to_end(&mut bytes).map_err(io)?;
    if gzip::is_gzip(&bytes) {
        from.read_to_end(&mut bytes).map_err(io)?;
    } else {
        check_magic(&bytes).map_err(|bad| bad.locate(name, &bytes))?;
        gzip::check_size(size, options.max_bytes)?;
        let left = options.max_bytes.saturating_sub(bytes.len() as u64).saturating_add(1);
        from.take(left).read_to_end(&mut bytes).map_err(io)?;
    }
    Ok(bytes)
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
        return gzip::parse(name, bytes, options);
    }
    gzip::check_size(bytes.len() as u64, options.max_bytes)?;
    let (header, start) = Header::parse(bytes, options.lenient).map_err(|bad| bad.locate(name, bytes))?;
    let here = Threads::current();
    let threads = options.threads.unwrap_or(&here);
    of_integers(header, |header| {
        let rules = Rules { header, lenient: options.lenient };
        let piece_bytes = options.piece_bytes;
        parse_body(name, rules, threads, &Body { name, text: bytes, start, rules, threads, piece_bytes })
    })
}

/// The text from `start` on holds the entries that the header describes.
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
    /// Parses all pieces; of several errors the first in the file counts.
    fn blocks<I: Index, X: Scalar>(&self) -> Result<Vec<Block<I, X>>> {
        let pieces = pieces(self.text, self.start, self.piece_bytes);
        // Pieces behind one that is wrong need not be parsed.
        let first_wrong = AtomicUsize::new(usize::MAX);
        let parse = |(p, piece): (usize, &Range<usize>)| {
            if p > first_wrong.load(Ordering::Relaxed) {
                return Ok(Parsed { block: Block::default(), bad: None });
            }
            let parsed = parse_piece::<I, X>(&self.text[piece.clone()], &self.rules);
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

        let mut blocks = Vec::with_capacity(pieces.len());
        let mut order = InOrder::new(&self.rules.header);
        for (piece, parsed) in pieces.iter().zip(parsed.into_iter().flatten()) {
            let block = order.take(&self.text[piece.clone()], parsed?);
            blocks.push(block.map_err(|bad| self.wrong(Bad { at: bad.at + piece.start, ..bad }))?);
        }
        order.finish(self.text.len()).map_err(|bad| self.wrong(bad))?;
        Ok(blocks)
    }
    fn at_entry(&self, number: usize, message: String) -> Error {
        let mut cursor = Cursor { text: self.text, at: self.start };
        cursor.skip_entries(number);
        self.wrong(Bad::new(cursor.at, message))
    }
}

impl Body<'_> {
    #[cold]
    fn wrong(&self, bad: Bad) -> Error {
        bad.locate(self.name, self.text)
    }
}

/// Cuts `text[start..]` behind line ends, every `bytes` or more.
fn pieces(text: &[u8], mut start: usize, bytes: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    while start < text.len() {
        let least = text.len().min(start.saturating_add(bytes)) - 1;
        let end = text[least..].iter().position(|&b| b == b'\n').map_or(text.len(), |p| least + p + 1);
        pieces.push(start..end);
        start = end;
    }
    pieces
}
