//! Compressed files: told by their first bytes, whatever their name.

use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::MultiGzDecoder;

use super::assemble::MatrixFile;
use super::header::Header;
use super::options::ReadOptions;
use super::parse::{Block, Parsed, Source, first_not_real, parse_body, parse_piece};
use super::scalar::Scalar;
use crate::par::Threads;
use crate::{Error, Index, Result};

/// Whether these are the first bytes of a gzip file.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// The text of all members, refused beyond `max_bytes`.
pub(super) fn decompress(name: &str, bytes: &[u8], max_bytes: u64) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut text)
        .map_err(|source| Error::Io { path: name.to_owned(), source })?;
    check_size(text.len() as u64, max_bytes)?;
    Ok(text)
}

/// Refuses text of more than `max_bytes`.
pub(super) fn check_size(bytes: u64, max_bytes: u64) -> Result<()> {
    if bytes > max_bytes {
        return Err(Error::Budget {
            what: "text of a Matrix Market file",
            bytes: bytes.into(),
            budget: max_bytes.into(),
        });
    }
    Ok(())
}

/// Parses a compressed file while it is decompressed; `None` if anything is wrong with it.
///
/// One thread decompresses and cuts the text at line ends, the others parse the pieces.
pub(super) fn parse_stream(bytes: &[u8], options: &ReadOptions<'_>) -> Option<MatrixFile> {
    // Headers are short; one with more comments than this is read the other way.
    const HEADER: usize = 1 << 16;
    let mut lines = Lines {
        text: MultiGzDecoder::new(bytes).take(options.max_bytes.saturating_add(1)),
        tail: Vec::new(),
        piece_bytes: HEADER,
    };
    let mut first = lines.next_piece().ok()??;
    // The last line of a piece is whole, so a header that is read from it is the header of the file.
    let (header, start) = Header::parse(&first).ok()?;
    first.drain(..start);
    lines.piece_bytes = options.piece_bytes;
    let here = Threads::current();
    let threads = options.threads.unwrap_or(&here);
    parse_body(header, threads, Stream { first, lines, header, threads }).ok()
}

/// Text that arrives in pieces of whole lines.
struct Lines<R> {
    text: R,
    /// The beginning of a line whose end has not arrived.
    tail: Vec<u8>,
    piece_bytes: usize,
}

impl<R: Read> Lines<R> {
    /// About `piece_bytes` of text, up to a line end or to the end of the text; `None` behind that.
    fn next_piece(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut piece = std::mem::take(&mut self.tail);
        loop {
            let read = self.text.by_ref().take(self.piece_bytes as u64).read_to_end(&mut piece)?;
            if read == 0 {
                return Ok((!piece.is_empty()).then_some(piece));
            }
            let new = piece.len() - read;
            if let Some(end) = piece[new..].iter().rposition(|&b| b == b'\n') {
                self.tail = piece.split_off(new + end + 1);
                return Ok(Some(piece));
            }
        }
    }
}

/// What follows the header of a compressed file.
struct Stream<'a, R> {
    first: Vec<u8>,
    lines: Lines<std::io::Take<R>>,
    header: Header,
    threads: &'a Threads,
}

/// That something is wrong; another reading finds out what.
struct Wrong;
impl From<Error> for Wrong {
    fn from(_: Error) -> Self {
        Self
    }
}

impl<R: Read + Send> Source for Stream<'_, R> {
    type Error = Wrong;

    fn blocks<I: Index, X: Scalar>(mut self) -> Result<Vec<Block<I, X>>, Wrong> {
        let blocks: Mutex<Vec<(usize, Block<I, X>)>> = Mutex::default();
        let wrong = AtomicBool::new(false);
        let header = self.header;
        let threads = self.threads;
        threads.install(|| {
            rayon::scope_fifo(|scope| {
                let mut next = Ok(Some(std::mem::take(&mut self.first)));
                for p in 0.. {
                    match next {
                        Ok(Some(piece)) if !wrong.load(Ordering::Relaxed) => {
                            let (blocks, wrong) = (&blocks, &wrong);
                            scope.spawn_fifo(move |_| match parse_piece(&piece, &header) {
                                Ok(Parsed { block, bad: None }) => {
                                    blocks.lock().unwrap_or_else(|e| e.into_inner()).push((p, block));
                                }
                                _ => wrong.store(true, Ordering::Relaxed),
                            });
                        }
                        Ok(None) => break,
                        _ => return wrong.store(true, Ordering::Relaxed),
                    }
                    next = self.lines.next_piece();
                }
                // The decoder looks at one byte more than is allowed.
                if self.lines.text.limit() == 0 {
                    wrong.store(true, Ordering::Relaxed);
                }
            });
        });
        let mut blocks = blocks.into_inner().unwrap_or_else(|e| e.into_inner());
        let stored = blocks.iter().map(|(_, b)| b.values.len()).sum::<usize>();
        if wrong.into_inner() || stored != header.stored {
            return Err(Wrong);
        }
        blocks.sort_unstable_by_key(|&(p, _)| p);
        let mut before = 0;
        for (_, block) in &blocks {
            if first_not_real(&header, before, &block.values).is_some() {
                return Err(Wrong);
            }
            before += block.values.len();
        }
        Ok(blocks.into_iter().map(|(_, block)| block).collect())
    }
}
