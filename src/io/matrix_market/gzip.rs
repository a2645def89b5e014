//! Compressed files.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::assemble::MatrixFile;
use super::block::Block;
use super::header::{Banner, Header, check_magic, no_size_line, skip_comments};
use super::options::ReadOptions;
use super::parse::{InOrder, Parsed, Rules, Source, Wrong, first_not_real, of_integers, parse_body, parse_piece};
use crate::io::text::{Bad, Cursor, Stream, long_line, position};
use crate::par::Threads;
use crate::{Error, Result};

/// Parses a compressed file.
pub(super) fn parse(name: &str, bytes: &[u8], options: &ReadOptions<'_>) -> Result<MatrixFile> {
    let (header, _) = open(name, bytes, options)?;
    let here = Threads::current();
    let threads = options.threads.unwrap_or(&here);
    of_integers(header, |header| {
        let rules = Rules { header, lenient: options.lenient };
        let file = Packed { name, bytes, options, rules, threads };
        parse_body(name, rules, threads, &AtOnce(&file))
            .or_else(|Wrong| parse_body(name, rules, threads, &PieceByPiece(&file)))
    })
}

/// Reads the header; the stream continues after it. The magic word is checked before more is decompressed.
fn open<'a>(name: &'a str, bytes: &'a [u8], options: &ReadOptions<'_>) -> Result<(Header, Stream<'a>)> {
    let mut stream = Stream::open(name, bytes, &options.limits(), |text| check_magic(text, options.lenient))?;
    let mut banner = None;
    loop {
        let piece = stream.next_piece()?.unwrap_or_default();
        let lines = stream.lines;
        let locate = |bad: Bad| bad.locate_behind(lines, name, &piece);
        if let Some(bad) = long_line(&piece) {
            return Err(locate(bad));
        }
        let mut cursor = Cursor { text: &piece, at: 0 };
        let known = match banner.take() {
            Some(banner) => banner,
            None => Banner::parse(&mut cursor, options.lenient).map_err(locate)?,
        };
        if skip_comments(&mut cursor) {
            let header = known.sizes(&mut cursor).map_err(locate)?;
            let start = cursor.at;
            stream.begin_again(piece, start, &options.limits());
            return Ok((header, stream));
        }
        if piece.is_empty() || stream.is_over() {
            stream.check_budget()?;
            return Err(locate(no_size_line(&cursor)));
        }
        banner = Some(known);
        stream.lines += position(&piece, piece.len()).0 - 1;
    }
}

/// A compressed file and the settings to read it.
struct Packed<'a> {
    name: &'a str,
    bytes: &'a [u8],
    options: &'a ReadOptions<'a>,
    rules: Rules,
    threads: &'a Threads,
}

impl Packed<'_> {
    fn open(&self) -> Result<Stream<'_>> {
        Ok(open(self.name, self.bytes, self.options)?.1)
    }
}

/// Parses all pieces in parallel as they arrive.
struct AtOnce<'a>(&'a Packed<'a>);

impl Source for AtOnce<'_> {
    type Error = Wrong;

    fn blocks(&self) -> Result<Vec<Block>, Wrong> {
        let Packed { rules, threads, .. } = *self.0;
        let header = &rules.header;
        let found = AtomicUsize::new(0);
        let parse = |piece: &[u8]| match parse_piece(piece, &rules) {
            Ok(Parsed { block, bad: None }) => {
                let n = block.len();
                // Entries beyond the declared number are discarded.
                (n <= header.stored.saturating_sub(found.fetch_add(n, Ordering::Relaxed))).then_some(block)
            }
            _ => None,
        };
        let blocks: Vec<Block> = self.0.open()?.at_once(threads, parse).ok_or(Wrong)?;
        if found.into_inner() != header.stored {
            return Err(Wrong);
        }
        let mut before = 0;
        for block in &blocks {
            if first_not_real(header, before, &block.values).is_some() {
                return Err(Wrong);
            }
            before += block.len();
        }
        Ok(blocks)
    }
    fn at_entry(&self, _: usize, _: String) -> Wrong {
        Wrong
    }
}

/// Parses piece by piece, to find the first error.
struct PieceByPiece<'a>(&'a Packed<'a>);

impl Source for PieceByPiece<'_> {
    type Error = Error;

    fn blocks(&self) -> Result<Vec<Block>> {
        let mut order = InOrder::new(&self.0.rules);
        let mut blocks = Vec::new();
        let (line, column) = self.0.open()?.each(|piece| {
            let parsed = parse_piece(piece, &self.0.rules)?;
            Ok(order.take(piece, parsed).map(|block| blocks.push(block)))
        })?;
        order.finish(0).map_err(|bad| Error::Parse {
            file: self.0.name.to_owned(),
            line,
            column,
            message: bad.message,
        })?;
        Ok(blocks)
    }
    fn at_entry(&self, number: usize, message: String) -> Error {
        let mut left = number;
        let found = self.0.open().and_then(|stream| {
            stream.each(|piece| {
                let mut cursor = Cursor { text: piece, at: 0 };
                let here = cursor.skip_entries(left, self.0.rules.comment());
                if here == left && cursor.at < piece.len() {
                    return Ok(Err(Bad::new(cursor.at, message.clone())));
                }
                left -= here;
                Ok(Ok(()))
            })
        });
        found.err().unwrap_or(Error::Argument { name: "file", message })
    }
}
