//! Compressed text, recognized by its first bytes, whatever the file name.
//!
//! One thread decompresses and splits the text at line ends, the others parse the pieces; only a few pieces of text are
//! in memory at a time. Nearly all files are valid. After an error, the text is decompressed again piece by piece, to
//! find the first error.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use flate2::bufread::GzDecoder;

use super::cursor::{Bad, LONGEST_LINE, position};
use super::pieces::Limits;
use crate::par::{Threads, out_of_memory, reserved};
use crate::{Error, Result};

/// Whether these are the first bytes of a supported compressed format: gzip, and zstd with its feature.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b]) || (cfg!(feature = "zstd") && is_zstd(bytes))
}

/// Whether these are the first bytes of a zstd frame, skippable frames included.
pub(super) fn is_zstd(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// The decoder of one member of a file.
enum Decoder<'a> {
    Gzip(Box<GzDecoder<&'a [u8]>>),
    #[cfg(feature = "zstd")]
    Zstd(super::zstd::Frame<'a>),
}

impl<'a> Decoder<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self> {
        #[cfg(feature = "zstd")]
        if is_zstd(bytes) {
            return Ok(Self::Zstd(super::zstd::Frame::new(bytes)));
        }
        /// Minimum memory of the decoder's window and tables.
        const STATE: usize = 64 << 10;
        // The decoder panics if its allocation fails, so the allocation is tried first. If another thread takes the
        // memory in between, the panic is caught here.
        drop(reserved::<u8>(STATE, "decompression")?);
        let decoder = catch_unwind(AssertUnwindSafe(|| Box::new(GzDecoder::new(bytes))));
        decoder.map(Self::Gzip).map_err(|_| out_of_memory::<u8>("decompression", STATE))
    }
    /// The bytes after the member, once it has been read.
    fn rest(&self) -> &'a [u8] {
        match self {
            Self::Gzip(decoder) => decoder.get_ref(),
            #[cfg(feature = "zstd")]
            Self::Zstd(frame) => frame.rest(),
        }
    }
    /// Starts the next member.
    fn reset(&mut self, bytes: &'a [u8]) -> io::Result<()> {
        match self {
            Self::Gzip(decoder) if !is_zstd(bytes) => drop(decoder.reset(bytes)),
            _ => *self = Self::new(bytes).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?,
        }
        Ok(())
    }
}

impl Read for Decoder<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(to),
            #[cfg(feature = "zstd")]
            Self::Zstd(frame) => frame.read(to),
        }
    }
}

/// An error if `bytes` exceeds `max_bytes`.
pub(crate) fn check_size(what: &'static str, bytes: u64, max_bytes: u64) -> Result<()> {
    if bytes > max_bytes {
        return Err(Error::Budget { what, bytes: bytes.into(), budget: max_bytes.into() });
    }
    Ok(())
}

/// The text of all members of a compressed file.
struct Members<'a> {
    decoder: Decoder<'a>,
    lenient: bool,
    ended: bool,
}

impl<'a> Members<'a> {
    fn new(bytes: &'a [u8], lenient: bool) -> Result<Self> {
        Ok(Self { decoder: Decoder::new(bytes)?, lenient, ended: false })
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
            let rest = self.decoder.rest();
            // Zeros are padding of tape and disk blocks.
            if rest.iter().all(|&b| b == 0) || (self.lenient && !is_packed(rest)) {
                self.ended = true;
            } else if is_packed(rest) {
                self.decoder.reset(rest)?;
            } else {
                let n = rest.len();
                let message =
                    format!("{n} bytes behind the compressed text are not gzip; read it leniently to leave them out");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
    }
}

/// The content of a compressed binary file. `first` checks its first bytes.
pub(crate) fn unpack(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    first: &dyn Fn(&[u8]) -> Result<()>,
) -> Result<Vec<u8>> {
    let mut members = Members::new(bytes, limits.lenient)?.take(limits.max_bytes.saturating_add(1));
    let io = |source: io::Error| match source.kind() {
        io::ErrorKind::OutOfMemory => Error::OutOfMemory { what: limits.what, bytes: bytes.len() as u128 },
        _ => Error::Io { path: name.to_owned(), source },
    };
    let mut content = Vec::new();
    (&mut members).take(256).read_to_end(&mut content).map_err(io)?;
    first(&content)?;
    members.read_to_end(&mut content).map_err(io)?;
    check_size(limits.what, content.len() as u64, limits.max_bytes)?;
    Ok(content)
}

/// A stream of text in pieces of whole lines.
pub(crate) struct Stream<'a> {
    name: &'a str,
    text: io::Take<Members<'a>>,
    what: &'static str,
    max_bytes: u64,
    piece_bytes: usize,
    /// Start of an incomplete line.
    tail: Vec<u8>,
    /// A piece that was put back.
    first: Option<Vec<u8>>,
    /// Number of lines before the next piece.
    pub(crate) lines: u64,
    /// Whether the last piece ended within an overlong line.
    cut: bool,
}

impl<'a> Stream<'a> {
    /// Piece size before the entries, as headers are short.
    const HEADER: usize = 1 << 16;

    /// Opens the text of `bytes`; `first` checks its beginning before more is decompressed.
    pub(crate) fn open(
        name: &'a str,
        bytes: &'a [u8],
        limits: &Limits,
        first: impl Fn(&[u8]) -> Result<(), Bad>,
    ) -> Result<Self> {
        let Limits { what, max_bytes, lenient, .. } = *limits;
        let text = Members::new(bytes, lenient)?.take(max_bytes.saturating_add(1));
        let (tail, piece_bytes) = (Vec::new(), Self::HEADER);
        let mut stream = Self { name, text, what, max_bytes, piece_bytes, tail, first: None, lines: 0, cut: false };
        let mut piece = Vec::new();
        stream.read_more(&mut piece)?;
        first(&piece).map_err(|bad| bad.locate(name, &piece))?;
        stream.tail = piece;
        Ok(stream)
    }
    /// Puts back `piece[start..]`, which begins a line, as the next piece; the following pieces have the size in
    /// `limits`. Before the call, `lines` is the number of lines before `piece`.
    pub(crate) fn begin_again(&mut self, mut piece: Vec<u8>, start: usize, limits: &Limits) {
        self.lines += position(&piece, start).0 - 1;
        piece.drain(..start);
        self.first = Some(piece);
        self.piece_bytes = limits.piece_bytes.min(LONGEST_LINE);
    }
    /// Whether all text has been returned in pieces.
    pub(crate) fn is_over(&self) -> bool {
        self.tail.is_empty() && (self.text.get_ref().ended || self.text.limit() == 0)
    }
    /// Appends up to `piece_bytes` bytes to `piece`; returns the number of bytes, less only at the end of the text.
    fn read_more(&mut self, piece: &mut Vec<u8>) -> Result<usize> {
        let (old, wanted) = (piece.len(), self.piece_bytes);
        piece.try_reserve(wanted).map_err(|_| out_of_memory::<u8>(self.what, old + wanted))?;
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
    /// About `piece_bytes` of text, up to a line end, the end of the text, or into an overlong line; `None` after the
    /// last piece.
    pub(crate) fn next_piece(&mut self) -> Result<Option<Vec<u8>>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        if self.cut {
            return Ok(None);
        }
        let mut piece = std::mem::take(&mut self.tail);
        // There is no line end before this offset.
        let mut seen = 0;
        loop {
            if let Some(end) = piece[seen..].iter().rposition(|&b| b == b'\n') {
                let rest = &piece[seen + end + 1..];
                self.tail = reserved(rest.len(), self.what)?;
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
    /// An error if the text is longer than allowed; the decoder reads one byte beyond the limit.
    pub(crate) fn check_budget(&self) -> Result<()> {
        if self.text.limit() == 0 {
            check_size(self.what, self.max_bytes.saturating_add(1), self.max_bytes)
        } else {
            Ok(())
        }
    }
    /// The error `bad` in the last piece. A decompression error or excess size in the remaining text takes precedence
    /// over it.
    pub(crate) fn wrong(self, bad: Bad, piece: &[u8]) -> Error {
        let error = bad.locate_behind(self.lines, self.name, piece);
        // An endless line is not read to its end.
        let rest = if self.cut { Ok(()) } else { self.drain() };
        rest.err().unwrap_or(error)
    }
    /// Decompresses the remaining text and discards it.
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

    /// Parses all pieces in parallel as they arrive; the results are in text order. `None` if `parse` returned `None`
    /// for a piece, or the text is damaged.
    pub(crate) fn at_once<P: Send>(
        mut self,
        threads: &Threads,
        parse: impl Fn(&[u8]) -> Option<P> + Sync,
    ) -> Option<Vec<P>> {
        let parsed: Mutex<Vec<(usize, P)>> = Mutex::default();
        let (wrong, waiting) = (AtomicBool::new(false), AtomicUsize::new(0));
        let parse = |p: usize, piece: Vec<u8>| match parse(&piece) {
            Some(found) => parsed.lock().unwrap_or_else(|e| e.into_inner()).push((p, found)),
            None => wrong.store(true, Ordering::Relaxed),
        };
        threads.install(|| {
            rayon::scope_fifo(|scope| {
                for p in 0.. {
                    match self.next_piece() {
                        Ok(Some(_)) if wrong.load(Ordering::Relaxed) => return,
                        // If the parsers fall behind, this thread parses too, so that text does not pile up.
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
                if self.cut || self.check_budget().is_err() {
                    wrong.store(true, Ordering::Relaxed);
                }
            });
        });
        if wrong.into_inner() {
            return None;
        }
        let mut parsed = parsed.into_inner().unwrap_or_else(|e| e.into_inner());
        parsed.sort_unstable_by_key(|&(p, _)| p);
        Some(parsed.into_iter().map(|(_, found)| found).collect())
    }

    /// Calls `look` with each piece in order, until the first error; returns line and column of the end.
    pub(crate) fn each(mut self, mut look: impl FnMut(&[u8]) -> Result<Result<(), Bad>>) -> Result<(u64, u64)> {
        let mut end = (self.lines + 1, 1);
        while let Some(piece) = self.next_piece()? {
            if let Err(bad) = look(&piece)? {
                return Err(self.wrong(bad, &piece));
            }
            let (line, column) = position(&piece, piece.len());
            end = (self.lines + line, column);
            self.lines += line - 1;
        }
        self.check_budget()?;
        Ok(end)
    }
}
