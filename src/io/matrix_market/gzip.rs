//! Compressed files: told by their first bytes, whatever their name.
//!
//! One thread decompresses and cuts the text at line ends, the others parse the pieces; no more than a few pieces of text are
//! in memory. Nearly all files are right. Where something is wrong, the text is decompressed again, piece by piece, to see
//! what comes first in it.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use flate2::bufread::GzDecoder;

use super::assemble::MatrixFile;
use super::block::Block;
use super::header::{Banner, Header, check_magic, no_size_line, skip_comments};
use super::options::ReadOptions;
use super::parse::{InOrder, Parsed, Rules, Source, first_not_real, of_integers, parse_body, parse_piece};
use super::scalar::Scalar;
use super::text::{Bad, Cursor, LONGEST_LINE, long_line, position};
use crate::par::{Threads, out_of_memory, reserved};
use crate::{Error, Index, Result};

/// Whether these are the first bytes of a gzip file.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

const TEXT: &str = "text of a Matrix Market file";

/// Refuses text of more than `max_bytes`.
pub(super) fn check_size(bytes: u64, max_bytes: u64) -> Result<()> {
    if bytes > max_bytes {
        return Err(Error::Budget { what: TEXT, bytes: bytes.into(), budget: max_bytes.into() });
    }
    Ok(())
}

/// Parses a compressed file.
pub(super) fn parse(name: &str, bytes: &[u8], options: &ReadOptions<'_>) -> Result<MatrixFile> {
    let (header, _) = Stream::open(name, bytes, options)?;
    let here = Threads::current();
    let threads = options.threads.unwrap_or(&here);
    of_integers(header, |header| {
        let rules = Rules { header, lenient: options.lenient };
        let file = Packed { name, bytes, options, rules, threads };
        parse_body(name, rules, threads, &AtOnce(&file))
            .or_else(|Wrong| parse_body(name, rules, threads, &PieceByPiece(&file)))
    })
}

/// The text of all members of a gzip file.
struct Members<'a> {
    decoder: GzDecoder<&'a [u8]>,
    lenient: bool,
    ended: bool,
}

impl<'a> Members<'a> {
    fn new(bytes: &'a [u8], lenient: bool) -> Result<Self> {
        /// What the decoder takes for its window and tables, at least.
        const STATE: usize = 64 << 10;
        // It panics where it cannot have its memory. So that is tried before, and if somebody else takes it in between the
        // panic ends here.
        drop(reserved::<u8>(STATE, "decompression")?);
        let decoder = catch_unwind(AssertUnwindSafe(|| GzDecoder::new(bytes)));
        let decoder = decoder.map_err(|_| out_of_memory::<u8>("decompression", STATE))?;
        Ok(Self { decoder, lenient, ended: false })
    }
}

impl Read for Members<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.ended || to.is_empty() {
                return Ok(0);
            }
            match self.decoder.read(to)? {
                0 => {}
                n => return Ok(n),
            }
            let rest = *self.decoder.get_ref();
            // Tapes and disks are filled up with zeros.
            if rest.iter().all(|&b| b == 0) || (self.lenient && !is_gzip(rest)) {
                self.ended = true;
            } else if is_gzip(rest) {
                self.decoder.reset(rest);
            } else {
                let n = rest.len();
                let message =
                    format!("{n} bytes behind the compressed text are not gzip; read it leniently to leave them out");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
    }
}

/// Text that arrives in pieces of whole lines.
struct Stream<'a> {
    name: &'a str,
    text: io::Take<Members<'a>>,
    max_bytes: u64,
    piece_bytes: usize,
    /// The beginning of a line whose end has not arrived.
    tail: Vec<u8>,
    /// What followed the header in its piece.
    first: Option<Vec<u8>>,
    /// Lines before the next piece.
    lines: u64,
    /// A line was too long, and the last piece ended within it.
    cut: bool,
}

impl<'a> Stream<'a> {
    /// Reads the header; pieces are what follows it. What begins as no Matrix Market file is not decompressed further.
    fn open(name: &'a str, bytes: &'a [u8], options: &ReadOptions<'_>) -> Result<(Header, Self)> {
        // Headers are short.
        const HEADER: usize = 1 << 16;
        let text = Members::new(bytes, options.lenient)?.take(options.max_bytes.saturating_add(1));
        let (tail, max_bytes) = (Vec::new(), options.max_bytes);
        let mut stream = Self { name, text, max_bytes, piece_bytes: HEADER, tail, first: None, lines: 0, cut: false };
        let mut piece = Vec::new();
        stream.read_more(&mut piece)?;
        check_magic(&piece).map_err(|bad| bad.locate(name, &piece))?;
        stream.tail = piece;
        let header = stream.header(options.lenient)?;
        stream.piece_bytes = options.piece_bytes.min(LONGEST_LINE);
        Ok((header, stream))
    }
    fn header(&mut self, lenient: bool) -> Result<Header> {
        let mut banner = None;
        loop {
            let mut piece = self.next_piece()?.unwrap_or_default();
            let lines = self.lines;
            let locate = |bad: Bad| bad.locate_behind(lines, self.name, &piece);
            if let Some(bad) = long_line(&piece) {
                return Err(locate(bad));
            }
            let mut cursor = Cursor { text: &piece, at: 0 };
            let known = match banner.take() {
                Some(banner) => banner,
                None => Banner::parse(&mut cursor, lenient).map_err(locate)?,
            };
            if skip_comments(&mut cursor) {
                let header = known.sizes(&mut cursor).map_err(locate)?;
                let start = cursor.at;
                self.lines += position(&piece, start).0 - 1;
                piece.drain(..start);
                self.first = Some(piece);
                return Ok(header);
            }
            if piece.is_empty() || self.is_over() {
                self.check_budget()?;
                return Err(locate(no_size_line(&cursor)));
            }
            banner = Some(known);
            self.lines += position(&piece, piece.len()).0 - 1;
        }
    }
    /// Whether all text is in the pieces that there were.
    fn is_over(&self) -> bool {
        self.tail.is_empty() && (self.text.get_ref().ended || self.text.limit() == 0)
    }
    /// Appends about `piece_bytes` to `piece`, all that is left if that is less; the number of bytes.
    fn read_more(&mut self, piece: &mut Vec<u8>) -> Result<usize> {
        let (old, wanted) = (piece.len(), self.piece_bytes);
        piece.try_reserve(wanted).map_err(|_| out_of_memory::<u8>(TEXT, old + wanted))?;
        piece.resize(old + wanted, 0);
        let mut end = old;
        while end < piece.len() {
            match self.text.read(&mut piece[end..]) {
                Ok(0) => break,
                Ok(n) => end += n,
                Err(source) => return Err(Error::Io { path: self.name.to_owned(), source }),
            }
        }
        piece.truncate(end);
        Ok(end - old)
    }
    /// About `piece_bytes` of text, up to a line end, to the end of the text, or into a line that is too long; `None` behind.
    fn next_piece(&mut self) -> Result<Option<Vec<u8>>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        if self.cut {
            return Ok(None);
        }
        let mut piece = std::mem::take(&mut self.tail);
        // No line end is there before this.
        let mut seen = 0;
        loop {
            if let Some(end) = piece[seen..].iter().rposition(|&b| b == b'\n') {
                let rest = &piece[seen + end + 1..];
                self.tail = reserved(rest.len(), TEXT)?;
                self.tail.extend_from_slice(rest);
                piece.truncate(seen + end + 1);
                return Ok(Some(piece));
            }
            seen = piece.len();
            if seen > LONGEST_LINE {
                self.cut = true;
                return Ok(Some(piece));
            }
            if self.read_more(&mut piece)? == 0 {
                return Ok((!piece.is_empty()).then_some(piece));
            }
        }
    }
    /// Refuses text that was longer than allowed; the decoder looks at one byte more.
    fn check_budget(&self) -> Result<()> {
        if self.text.limit() == 0 { check_size(self.max_bytes.saturating_add(1), self.max_bytes) } else { Ok(()) }
    }
    /// Decompresses what is left, and keeps nothing: whether it is gzip to the end and no more than allowed comes before what
    /// is wrong in the text.
    fn drain(mut self) -> Result<()> {
        let mut bytes = [0; 1 << 15];
        loop {
            match self.text.read(&mut bytes) {
                Ok(0) => return self.check_budget(),
                Ok(_) => {}
                Err(source) => return Err(Error::Io { path: self.name.to_owned(), source }),
            }
        }
    }
}

/// What is read, and how.
struct Packed<'a> {
    name: &'a str,
    bytes: &'a [u8],
    options: &'a ReadOptions<'a>,
    rules: Rules,
    threads: &'a Threads,
}

impl Packed<'_> {
    fn open(&self) -> Result<Stream<'_>> {
        Ok(Stream::open(self.name, self.bytes, self.options)?.1)
    }
}

/// All pieces, parsed by the threads as they come.
struct AtOnce<'a>(&'a Packed<'a>);

/// That something is wrong; another reading finds out what.
struct Wrong;
impl From<Error> for Wrong {
    fn from(_: Error) -> Self {
        Self
    }
}

impl Source for AtOnce<'_> {
    type Error = Wrong;

    fn blocks<I: Index, X: Scalar>(&self) -> Result<Vec<Block<I, X>>, Wrong> {
        let Packed { rules, threads, .. } = *self.0;
        let header = &rules.header;
        let mut stream = self.0.open()?;
        let parsed: Mutex<Vec<(usize, Block<I, X>)>> = Mutex::default();
        let (wrong, waiting, found) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
        let parse = |p: usize, piece: Vec<u8>| match parse_piece(&piece, &rules) {
            Ok(Parsed { block, bad: None }) => {
                let n = block.values.len();
                // Entries beyond those that are declared are not kept.
                if n > header.stored.saturating_sub(found.fetch_add(n, Ordering::Relaxed)) {
                    return wrong.store(true, Ordering::Relaxed);
                }
                parsed.lock().unwrap_or_else(|e| e.into_inner()).push((p, block));
            }
            _ => wrong.store(true, Ordering::Relaxed),
        };
        threads.install(|| {
            rayon::scope_fifo(|scope| {
                for p in 0.. {
                    match stream.next_piece() {
                        Ok(Some(_)) if wrong.load(Ordering::Relaxed) => return,
                        // Where the others do not keep up, this thread helps, so that text does not pile up.
                        Ok(Some(piece)) if waiting.load(Ordering::Relaxed) >= 4 * threads.count() => parse(p, piece),
                        Ok(Some(piece)) => {
                            waiting.fetch_add(1, Ordering::Relaxed);
                            let (parse, waiting) = (&parse, &waiting);
                            scope.spawn_fifo(move |_| {
                                parse(p, piece);
                                waiting.fetch_sub(1, Ordering::Relaxed);
                            });
                        }
                        Ok(None) => break,
                        Err(_) => return wrong.store(true, Ordering::Relaxed),
                    }
                }
                if stream.cut || stream.check_budget().is_err() {
                    wrong.store(true, Ordering::Relaxed);
                }
            });
        });
        let mut blocks = parsed.into_inner().unwrap_or_else(|e| e.into_inner());
        if wrong.into_inner() || found.into_inner() != header.stored {
            return Err(Wrong);
        }
        blocks.sort_unstable_by_key(|&(p, _)| p);
        let mut before = 0;
        for (_, block) in &blocks {
            if first_not_real(header, before, &block.values).is_some() {
                return Err(Wrong);
            }
            before += block.values.len();
        }
        Ok(blocks.into_iter().map(|(_, block)| block).collect())
    }
    fn at_entry(&self, _: usize, _: String) -> Wrong {
        Wrong
    }
}

/// One piece after the other, each forgotten when it is parsed, to find the first thing that is wrong.
struct PieceByPiece<'a>(&'a Packed<'a>);

impl PieceByPiece<'_> {
    /// Calls `look` with each piece, until it finds something wrong; line and column of the end.
    fn each(&self, mut look: impl FnMut(&[u8]) -> Result<Result<(), Bad>>) -> Result<(u64, u64)> {
        let mut stream = self.0.open()?;
        let mut end = (stream.lines + 1, 1);
        while let Some(piece) = stream.next_piece()? {
            if let Err(bad) = look(&piece)? {
                let error = bad.locate_behind(stream.lines, self.0.name, &piece);
                // Nobody waits for the end of a line that has none.
                if !stream.cut {
                    stream.drain()?;
                }
                return Err(error);
            }
            let (line, column) = position(&piece, piece.len());
            end = (stream.lines + line, column);
            stream.lines += line - 1;
        }
        stream.check_budget()?;
        Ok(end)
    }
}

impl Source for PieceByPiece<'_> {
    type Error = Error;

    fn blocks<I: Index, X: Scalar>(&self) -> Result<Vec<Block<I, X>>> {
        let mut order = InOrder::new(&self.0.rules.header);
        let mut blocks = Vec::new();
        let (line, column) = self.each(|piece| {
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
        let found = self.each(|piece| {
            let mut cursor = Cursor { text: piece, at: 0 };
            let here = cursor.skip_entries(left);
            if here == left && cursor.at < piece.len() {
                return Ok(Err(Bad::new(cursor.at, message.clone())));
            }
            left -= here;
            Ok(Ok(()))
        });
        found.err().unwrap_or(Error::Argument { name: "file", message })
    }
}
