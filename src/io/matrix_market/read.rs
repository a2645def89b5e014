//! Reading: the text is cut at line ends into pieces, and threads parse the pieces.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::assemble::{Block, Entries, Fields, MatrixFile, Width};
use super::gzip;
use super::header::{Field, Header, Layout, NoHeader, Symmetry};
use super::text::{Bad, Cursor, Scalar, count_line_ends, quoted};
use crate::par::Threads;
use crate::sparse::reserved;
use crate::{Error, Index, Result};

/// How to read a file; none of it changes the result.
///
/// ```no_run
/// use sparring::io::{ReadOptions, read_matrix_market_with};
/// use sparring::par::Threads;
/// let threads = Threads::new(4)?;
/// let file = read_matrix_market_with("a.mtx.gz", &ReadOptions::new().threads(&threads).max_bytes(1 << 30))?;
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions<'a> {
    pub(super) threads: Option<&'a Threads>,
    pub(super) piece_bytes: usize,
    pub(super) max_bytes: u64,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        // Pieces stay in the second-level cache and are many enough to share.
        Self { threads: None, piece_bytes: 1 << 20, max_bytes: u64::MAX }
    }
}

impl<'a> ReadOptions<'a> {
    /// The threads of the caller's pool, no limit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Uses `threads`.
    #[must_use]
    pub fn threads(mut self, threads: &'a Threads) -> Self {
        self.threads = Some(threads);
        self
    }
    /// Cuts the text into pieces of about so many bytes, one task each; 0 counts as 1.
    #[must_use]
    pub fn piece_bytes(mut self, bytes: usize) -> Self {
        self.piece_bytes = bytes.max(1);
        self
    }
    /// Refuses text of more bytes (after decompression, so that a small file cannot fill the memory).
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }
}

/// Reads a Matrix Market file, compressed by gzip or not.
///
/// ```no_run
/// let a = sparring::io::read_matrix_market("ca-HepPh.mtx.gz")?.csr::<f64>()?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// Cost: O(bytes), shared by all threads; decompression runs on one. Memory: the file, its text where it is
/// compressed, and 8 to 16 bytes an entry.
/// # Errors
/// [`Error::Io`]; [`Error::Parse`] with the first line and column that are wrong; [`Error::Unsupported`] for
/// complex matrices; [`Error::OutOfMemory`].
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
    let (header, start) = Header::parse(name, text).map_err(|e| match e {
        NoHeader::Bad(bad) => bad.locate(name, text),
        NoHeader::Unsupported(e) => e,
    })?;
    let here = Threads::current();
    let threads = options.threads.unwrap_or(&here);
    parse_body(header, threads, Body { name, text, start, header, threads, piece_bytes: options.piece_bytes })
}

/// Where the entries behind a header come from, as blocks in the order of the file; `stored` of them in all.
pub(super) trait Source {
    type Error: From<Error>;
    fn blocks<I: Index, X: Scalar>(self) -> Result<Vec<Block<I, X>>, Self::Error>;
}

/// The file of `header` with the entries of `source`, in the types that the header calls for.
pub(super) fn parse_body<S: Source>(header: Header, threads: &Threads, source: S) -> Result<MatrixFile, S::Error> {
    let narrow = header.nrows.max(header.ncols) <= u32::MAX_LEN;
    let width = if narrow {
        Width::Narrow(fields(header, threads, source)?)
    } else {
        Width::Wide(fields(header, threads, source)?)
    };
    Ok(MatrixFile { header, entries: Entries(width) })
}

fn fields<I: Index, S: Source>(header: Header, threads: &Threads, source: S) -> Result<Fields<I>, S::Error> {
    fn placed<I: Index, X: Scalar, S: Source>(
        header: Header,
        threads: &Threads,
        source: S,
    ) -> Result<Vec<Block<I, X>>, S::Error> {
        let mut blocks = source.blocks()?;
        if header.layout == Layout::Array {
            place(&header, &mut blocks, threads)?;
        }
        Ok(blocks)
    }
    Ok(match header.field {
        Field::Real => Fields::Real(placed(header, threads, source)?),
        Field::Integer => Fields::Integer(placed(header, threads, source)?),
        Field::Unsigned => Fields::Unsigned(placed(header, threads, source)?),
        // `Header::parse` has refused complex.
        Field::Pattern | Field::Complex => Fields::Pattern(placed(header, threads, source)?),
    })
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
        let parsed: Vec<Result<Parsed<I, X>>> =
            self.threads.install(|| pieces.par_iter().enumerate().map(parse).collect());

        let stored = self.header.stored;
        let mut blocks = Vec::with_capacity(pieces.len());
        let mut before = 0;
        for (piece, parsed) in pieces.iter().zip(parsed) {
            let Parsed { block, bad } = parsed?;
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
        let mut cursor = Cursor { text: self.text, at: start };
        let mut seen = 0;
        loop {
            cursor.skip_blanks();
            match cursor.line_end() {
                Some(0) => break,
                Some(n) => cursor.at += n,
                None if seen == wanted => break,
                None => {
                    seen += 1;
                    cursor.skip_line();
                }
            }
        }
        let stored = self.header.stored;
        let found = quoted(self.text, cursor.at);
        Bad::new(cursor.at, format!("the size line declares {stored} entries, found {found} after the last"))
            .locate(self.name, self.text)
    }
}

/// Gives the elements of an array their rows and columns.
fn place<I: Index, X: Scalar>(header: &Header, blocks: &mut [Block<I, X>], threads: &Threads) -> Result<()> {
    let Header { nrows, symmetry, .. } = *header;
    let first_row = move |j: usize| match symmetry {
        Symmetry::General => 0,
        Symmetry::Symmetric | Symmetry::Hermitian => j,
        Symmetry::SkewSymmetric => j + 1,
    };
    // (i, j) is where the next block begins; there is room for it because counts have been compared.
    let (mut i, mut j) = (first_row(0), 0);
    let mut jobs = Vec::with_capacity(blocks.len());
    for block in blocks {
        let mut n = block.values.len();
        jobs.push((block, i, j));
        while n > 0 {
            let step = n.min(nrows - i);
            n -= step;
            i += step;
            if i == nrows {
                j += 1;
                i = first_row(j).min(nrows);
            }
        }
    }
    let place = |(block, mut i, mut j): (&mut Block<I, X>, usize, usize)| -> Result<()> {
        let n = block.values.len();
        block.rows = reserved(n, "row indices")?;
        block.cols = reserved(n, "column indices")?;
        for _ in 0..n {
            block.rows.push(I::cast(i));
            block.cols.push(I::cast(j));
            i += 1;
            if i == nrows {
                j += 1;
                i = first_row(j);
            }
        }
        Ok(())
    };
    threads.install(|| jobs.into_par_iter().try_for_each(place))
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

/// The entries of a piece, up to what is wrong in it.
pub(super) struct Parsed<I, X> {
    pub(super) block: Block<I, X>,
    pub(super) bad: Option<Bad>,
}

pub(super) fn parse_piece<I: Index, X: Scalar>(text: &[u8], header: &Header) -> Result<Parsed<I, X>> {
    // One entry a line, and a line has a smallest length: no count of the header is believed.
    let coordinate = header.layout == Layout::Coordinate;
    let shortest_line = if coordinate { "1 1\n".len() + X::MIN_BYTES } else { X::MIN_BYTES };
    let most = (count_line_ends(text) + 1).min((text.len() + 1) / shortest_line.max(1));
    let indices = if coordinate { most } else { 0 };
    let mut block = Block {
        rows: reserved(indices, "row indices")?,
        cols: reserved(indices, "column indices")?,
        values: reserved(most, "values")?,
    };
    let bad = parse_lines(&mut Cursor { text, at: 0 }, header, &mut block).err();
    Ok(Parsed { block, bad })
}

#[inline(always)]
fn parse_lines<I: Index, X: Scalar>(
    cursor: &mut Cursor<'_>,
    header: &Header,
    block: &mut Block<I, X>,
) -> Result<(), Bad> {
    let Header { nrows, ncols, symmetry, layout, .. } = *header;
    while cursor.at < cursor.text.len() {
        cursor.skip_blanks();
        if let Some(n) = cursor.line_end() {
            cursor.at += n;
            continue;
        }
        if layout == Layout::Coordinate {
            let start = cursor.at;
            let i = index(cursor, "row", nrows)?;
            cursor.skip_blanks();
            let j = index(cursor, "column", ncols)?;
            if symmetry != Symmetry::General && i <= j {
                not_lower(symmetry, i, j, start)?;
            }
            cursor.skip_blanks();
            let x = X::read(cursor)?;
            cursor.end_line()?;
            block.rows.push(I::cast(i));
            block.cols.push(I::cast(j));
            block.values.push(x);
        } else {
            let x = X::read(cursor)?;
            cursor.end_line()?;
            block.values.push(x);
        }
    }
    Ok(())
}

/// An index of the file, from 1, as one from 0 below `bound`.
#[inline(always)]
fn index(cursor: &mut Cursor<'_>, axis: &str, bound: usize) -> Result<usize, Bad> {
    let start = cursor.at;
    match cursor.digits() {
        // 0 wraps to the largest number, which no bound allows.
        Ok(n) if n.wrapping_sub(1) < bound as u64 => Ok(n.wrapping_sub(1) as usize),
        wrong => Err(wrong_index(cursor.text, start, axis, bound, wrong)),
    }
}

#[cold]
fn wrong_index(text: &[u8], at: usize, axis: &str, bound: usize, digits: Result<u64, bool>) -> Bad {
    let found = quoted(text, at);
    Bad::new(
        at,
        match digits {
            Ok(0) => format!("{axis} index 0: Matrix Market counts from 1"),
            Err(false) if text.get(at) == Some(&b'%') => "comments end at the size line, expected an entry".to_owned(),
            Err(false) => format!("expected the {axis} index, found {found}"),
            Ok(_) | Err(true) => format!("{axis} index {found} is beyond the {bound} {axis}s of the size line"),
        },
    )
}

/// Whether (i, j), on or above the diagonal, may stand in a file that stores the lower triangle.
#[inline(never)]
fn not_lower(symmetry: Symmetry, i: usize, j: usize, at: usize) -> Result<(), Bad> {
    let (row, column) = (i + 1, j + 1);
    if i < j {
        let message =
            format!("entry ({row}, {column}) is above the diagonal: a {symmetry} file stores the lower triangle");
        return Err(Bad::new(at, message));
    }
    if symmetry == Symmetry::SkewSymmetric {
        let message = format!("entry ({row}, {column}) is on the diagonal, which a {symmetry} file does not store");
        return Err(Bad::new(at, message));
    }
    Ok(())
}
