//! Distribution of the lines of a text file over the ranks, each of which opens the file.
//!
//! Of plain text, a rank reads the lines that begin in its part of the bytes. Compressed text is decompressed by every
//! rank and split at line ends into blocks; rank b mod p parses block b. Lines are distributed in rounds: ordered by
//! round, then by rank, they are in file order.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use sparring::{Error, Result};

use crate::Cluster;
use crate::grid::cut;
use crate::unpack::{Unpacked, is_packed};

/// Bytes per block of decompressed text.
pub(crate) const BLOCK: usize = 1 << 22;
/// Bytes searched for the header at first; doubled until the header is complete.
const HEAD: usize = 1 << 12;
/// Maximum bytes searched for the header.
const LONGEST_HEAD: usize = 1 << 26;
/// Bytes read at a time beyond a part, to complete its last line.
const LINE: usize = 1 << 12;
/// Bytes decompressed at a time.
const STEP: usize = 1 << 18;

/// The error of a file that cannot be read.
pub(crate) fn io_error(path: &Path, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::OutOfMemory => Error::OutOfMemory { bytes: STEP as u128, what: "text of a file" },
        _ => Error::Io { path: path.display().to_string(), source },
    }
}

pub(crate) fn newlines(text: &[u8]) -> usize {
    text.iter().filter(|b| **b == b'\n').count()
}

/// The error of a text that has `added` lines in place of the `before` lines before it in the file, with the line
/// number of the file.
pub(crate) fn in_file(error: Error, before: usize, added: usize) -> Error {
    match error {
        Error::Parse { file, line, column, message } => {
            let line = line.saturating_add_signed(before as i64 - added as i64);
            Error::Parse { file, line, column, message }
        }
        error => error,
    }
}

/// The lines of a round that a rank parses.
#[derive(Default)]
pub(crate) struct Share {
    pub(crate) text: Vec<u8>,
    /// Number of lines of the file before them.
    pub(crate) before: usize,
}

/// A file read by parts.
pub(crate) struct Shares {
    path: PathBuf,
    /// Number of lines of the file before the next round.
    lines: usize,
    source: Source,
}

enum Source {
    Plain { file: File, first: Vec<u8>, start: u64, is_over: bool },
    Packed(Stream),
}

impl Shares {
    /// Opens a file, positioned at its start.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let fail = |e| io_error(path, e);
        let mut file = File::open(path).map_err(fail)?;
        let mut first = Vec::new();
        (&mut file).take(HEAD as u64).read_to_end(&mut first).map_err(fail)?;
        let source = if is_packed(&first) {
            file.rewind().map_err(fail)?;
            Source::Packed(Stream { text: Unpacked::new(file).map_err(fail)?, buffer: Vec::new(), at: 0 })
        } else {
            Source::Plain { file, first, start: 0, is_over: false }
        };
        Ok(Self { path: path.into(), lines: 0, source })
    }
    /// The header that `find` recognizes in the first bytes of the text, of which it gets more until it breaks, and
    /// whether these are all of it; `None` if there is none.
    pub(crate) fn head<H>(&mut self, find: impl Fn(&[u8], bool) -> ControlFlow<Option<H>>) -> Result<Option<H>> {
        let mut wanted = HEAD;
        loop {
            let text = self.peek(wanted)?;
            let is_all = text.len() < wanted;
            match find(text, is_all) {
                ControlFlow::Break(head) => return Ok(head),
                ControlFlow::Continue(()) if is_all || wanted > LONGEST_HEAD => return Ok(None),
                ControlFlow::Continue(()) => wanted *= 2,
            }
        }
    }
    /// The first `bytes` bytes of the text, or all of it if it is shorter.
    fn peek(&mut self, bytes: usize) -> Result<&[u8]> {
        let fail = |e| io_error(&self.path, e);
        match &mut self.source {
            Source::Plain { file, first, .. } => {
                let left = bytes.saturating_sub(first.len());
                file.take(left as u64).read_to_end(first).map_err(fail)?;
                Ok(&first[..bytes.min(first.len())])
            }
            Source::Packed(stream) => {
                stream.fill(bytes).map_err(fail)?;
                Ok(&stream.buffer[..bytes.min(stream.buffer.len())])
            }
        }
    }
    /// Skips the first `bytes` bytes of the text, which are `lines` whole lines.
    pub(crate) fn skip(&mut self, bytes: usize, lines: usize) {
        self.lines += lines;
        match &mut self.source {
            Source::Plain { start, .. } => *start += bytes as u64,
            Source::Packed(stream) => stream.at += bytes,
        }
    }
    /// Number of lines of the file, after the last round.
    pub(crate) fn lines(&self) -> usize {
        self.lines
    }
    /// This rank's lines of the next round, after `prefix`, in blocks of about `bytes` bytes; `None` after the last
    /// round. Collective.
    pub(crate) fn next(&mut self, cluster: &Cluster, prefix: &[u8], bytes: usize) -> Result<Option<Share>> {
        let (rank, ranks) = (cluster.rank(), cluster.size());
        let mut text = Vec::new();
        let made = match &mut self.source {
            Source::Plain { is_over: true, .. } => return Ok(None),
            Source::Plain { start, is_over, .. } => {
                *is_over = true;
                part(&self.path, *start, (rank, ranks), prefix, &mut text).map(|()| true)
            }
            Source::Packed(stream) => {
                stream.round((rank, ranks), bytes, prefix, &mut text).map_err(|e| io_error(&self.path, e))
            }
        };
        if !cluster.agree("part of a file", made)? {
            return Ok(None);
        }
        let found = cluster.0.world.all_words([newlines(&text[prefix.len()..]) as u64, 0]);
        let lines = |words: &[[u64; 2]]| words.iter().map(|words| words[0] as usize).sum::<usize>();
        let before = self.lines + lines(&found[..rank]);
        self.lines += lines(&found);
        Ok(Some(Share { text, before }))
    }
}

impl Cluster {
    /// The parts of a file, with the header that `head` finds. `None` if every rank must read all of the file: if there
    /// is one rank, or no header. Collective.
    pub(crate) fn by_parts<H>(
        &self,
        path: &Path,
        head: impl FnOnce(&mut Shares) -> Result<Option<H>>,
    ) -> Result<Option<(Shares, H)>> {
        let made = Shares::open(path).and_then(|mut shares| Ok(head(&mut shares)?.map(|head| (shares, head))));
        Ok(self.agree("head of a file", made)?.filter(|_| self.size() > 1))
    }
}

/// A stream of decompressed text.
struct Stream {
    text: Unpacked,
    /// Decompressed bytes; those from `at` on are not yet assigned to a block.
    buffer: Vec<u8>,
    at: usize,
}

impl Stream {
    /// Reads until the buffer has `bytes` bytes, or the text ends.
    fn fill(&mut self, bytes: usize) -> io::Result<()> {
        while self.buffer.len() < bytes {
            let old = self.buffer.len();
            self.buffer.try_reserve(STEP).map_err(|_| io::ErrorKind::OutOfMemory)?;
            self.buffer.resize(old + STEP, 0);
            let read = self.text.read(&mut self.buffer[old..]);
            self.buffer.truncate(old + read.as_ref().map_or(0, |n| *n));
            if read? == 0 {
                break;
            }
        }
        Ok(())
    }
    /// Advances by one block per rank, and stores this rank's after the prefix. Returns whether any text was left.
    fn round(
        &mut self,
        (rank, ranks): (usize, usize),
        bytes: usize,
        prefix: &[u8],
        text: &mut Vec<u8>,
    ) -> io::Result<bool> {
        text.extend_from_slice(prefix);
        let mut any = false;
        for other in 0..ranks {
            any |= self.block(bytes, (other == rank).then_some(&mut *text))?;
        }
        Ok(any)
    }
    /// Advances by `bytes` bytes and on to the end of the line; returns whether any text was left.
    fn block(&mut self, bytes: usize, mut text: Option<&mut Vec<u8>>) -> io::Result<bool> {
        let mut taken = 0;
        loop {
            if self.at == self.buffer.len() {
                self.buffer.clear();
                self.at = 0;
                self.fill(1)?;
                if self.buffer.is_empty() {
                    return Ok(taken > 0);
                }
            }
            let rest = &self.buffer[self.at..];
            let line = || rest.iter().position(|b| *b == b'\n').map(|at| at + 1);
            let (n, is_end) = match bytes.saturating_sub(taken) {
                0 => line().map_or((rest.len(), false), |n| (n, true)),
                left => (left.min(rest.len()), false),
            };
            if let Some(text) = &mut text {
                text.try_reserve(n).map_err(|_| io::ErrorKind::OutOfMemory)?;
                text.extend_from_slice(&rest[..n]);
            }
            (self.at, taken) = (self.at + n, taken + n);
            if is_end {
                return Ok(true);
            }
        }
    }
}

/// Stores, after a prefix, the lines of a file that begin in a rank's part of the bytes from `first` on.
fn part(path: &Path, first: u64, (rank, ranks): (usize, usize), prefix: &[u8], bytes: &mut Vec<u8>) -> Result<()> {
    let fail = |e| io_error(path, e);
    let mut file = File::open(path).map_err(fail)?;
    let size = file.metadata().map_err(fail)?.len().saturating_sub(first);
    let at = |r: usize| first + cut(size as usize, ranks, r) as u64;
    let Range { start, end } = at(rank)..at(rank + 1);
    // The byte before the part tells whether a line begins at its start.
    let from = if start == first { start } else { start - 1 };
    file.seek(SeekFrom::Start(from)).map_err(fail)?;
    *bytes = crate::wire::buffer(prefix.len() + (end - from) as usize + LINE)?;
    bytes.extend_from_slice(prefix);
    (&mut file).take(end - from).read_to_end(bytes).map_err(fail)?;
    if from < start {
        let line = bytes[prefix.len()..].iter().position(|b| *b == b'\n');
        let Some(at) = line else {
            bytes.truncate(prefix.len());
            return Ok(());
        };
        bytes.drain(prefix.len()..=prefix.len() + at);
    }
    // Completes the last line from the next part.
    while bytes.len() > prefix.len() && bytes.last().is_some_and(|b| *b != b'\n') {
        let mut more = Vec::new();
        if (&mut file).take(LINE as u64).read_to_end(&mut more).map_err(fail)? == 0 {
            break;
        }
        let line = more.iter().position(|b| *b == b'\n').map_or(more.len(), |at| at + 1);
        bytes.try_reserve(line).map_err(|_| io_error(path, io::ErrorKind::OutOfMemory.into()))?;
        bytes.extend_from_slice(&more[..line]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with all kinds of line ends, and comments.
    fn texts() -> Vec<String> {
        let mut texts = vec![String::new(), "\n".into(), "a".into(), "\n\na\n\n".into(), "x".repeat(3 * LINE)];
        for newline in ["\n", "\r\n"] {
            let line = |k: usize| format!("{} {} {}{newline}", k % 9 + 1, k / 9 + 1, "7".repeat(k % 5 + 1));
            let text: String = (0..30).map(line).collect();
            texts.push(text.replace("3 ", &format!("%{}{newline}{newline}", "x".repeat(40))));
            texts.push(text.trim_end().into());
            texts.push(text);
        }
        texts
    }

    #[test]
    fn every_line_is_read_by_one_rank() {
        let path = std::env::temp_dir().join(format!("sparring-text-{}", std::process::id()));
        for text in texts() {
            std::fs::write(&path, &text).unwrap();
            for (ranks, first) in (1..60).flat_map(|ranks| [(ranks, 0), (ranks, text.len() / 3)]) {
                let first = text.as_bytes()[..first].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
                let mut all = Vec::new();
                for rank in 0..ranks {
                    let mut lines = Vec::new();
                    part(&path, first as u64, (rank, ranks), b"head\n", &mut lines).unwrap();
                    all.extend_from_slice(lines.strip_prefix(b"head\n").unwrap());
                    assert!(rank + 1 == ranks || lines.ends_with(b"\n") || all == text.as_bytes()[first..]);
                }
                assert_eq!(all, text.as_bytes()[first..], "{ranks} ranks");
            }
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn blocks_of_compressed_text_are_dealt_in_turn() {
        use std::io::Write;
        let path = std::env::temp_dir().join(format!("sparring-blocks-{}", std::process::id()));
        for text in texts() {
            let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            to.write_all(text.as_bytes()).unwrap();
            std::fs::write(&path, to.finish().unwrap()).unwrap();
            for (ranks, bytes) in [(1, 1), (2, 10), (3, 7), (4, 100_000), (5, 30)] {
                let mut shares: Vec<Shares> = (0..ranks).map(|_| Shares::open(&path).unwrap()).collect();
                let first = text.find('\n').map_or(0, |at| at + 1);
                let mut all = text.as_bytes()[..first].to_vec();
                for shares in &mut shares {
                    assert!(text.as_bytes().starts_with(shares.peek(20).unwrap()));
                    shares.skip(first, 1);
                }
                loop {
                    let before = all.len();
                    let mut any = Vec::new();
                    for (rank, shares) in shares.iter_mut().enumerate() {
                        let Source::Packed(stream) = &mut shares.source else { panic!("it is compressed") };
                        let mut lines = Vec::new();
                        any.push(stream.round((rank, ranks), bytes, b"head\n", &mut lines).unwrap());
                        all.extend_from_slice(lines.strip_prefix(b"head\n").unwrap());
                    }
                    assert!(any.iter().all(|any| *any == (all.len() > before)));
                    if all.len() == before {
                        break;
                    }
                }
                assert_eq!(all, text.as_bytes(), "{ranks} ranks, {bytes} bytes");
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
}
