//! Line-based files: a header defines the line format, then threads parse pieces of whole lines, compressed or not.

use std::cell::Cell;
use std::io::Read;
use std::path::Path;

use super::cursor::{Bad, LONGEST_LINE, long_line, position};
use super::file::{bytes_from, bytes_of};
use super::gzip::{Stream, check_size, is_packed};
use super::kinds::{BYTE_ORDER_MARK, other_kind};
use super::pieces::{Limits, parse_pieces, pieces};
use super::quoted;
use crate::par::{Threads, out_of_memory, reserved};
use crate::{Error, Result};

/// A reason to stop parsing.
pub(crate) enum Halt {
    /// A syntax error.
    Bad(Bad),
    /// Any other error, such as out of memory.
    Error(Error),
}
impl From<Bad> for Halt {
    fn from(bad: Bad) -> Self {
        Self::Bad(bad)
    }
}
impl From<Error> for Halt {
    fn from(e: Error) -> Self {
        Self::Error(e)
    }
}

/// A line without its line end, and its offset in the text.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) at: usize,
    pub(crate) text: &'a [u8],
}

/// The lines of a text.
#[derive(Clone)]
pub(crate) struct Lines<'a> {
    pub(crate) text: &'a [u8],
    /// Offset of the next line.
    pub(crate) at: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }
    /// The next line; an error if it is too long.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'a>>, Bad> {
        let (at, rest) = (self.at, &self.text[self.at..]);
        if rest.is_empty() {
            return Ok(None);
        }
        let end = rest.iter().position(|&b| b == b'\n');
        self.at = end.map_or(self.text.len(), |end| at + end + 1);
        let line = &rest[..end.unwrap_or(rest.len())];
        if line.len() > LONGEST_LINE {
            return Err(Bad::new(at, format!("the line has more than {LONGEST_LINE} bytes")));
        }
        Ok(Some(Line { at, text: line.strip_suffix(b"\r").unwrap_or(line) }))
    }
    /// The next line that is neither blank nor starts with one of `comments`.
    pub(crate) fn next_entry(&mut self, comments: &[u8]) -> Result<Option<Line<'a>>, Bad> {
        while let Some(line) = self.next_line()? {
            if line.text.trim_ascii_start().first().is_some_and(|b| !comments.contains(b)) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }
}

impl<'a> Line<'a> {
    /// The words of the line, with their offsets. Separators are white space and the bytes in `also`.
    pub(crate) fn words(self, also: &'static [u8]) -> impl Iterator<Item = Line<'a>> + Clone {
        let between = move |b: &u8| b.is_ascii_whitespace() || also.contains(b);
        let mut at = 0;
        std::iter::from_fn(move || {
            at += self.text[at..].iter().position(|b| !between(b))?;
            let rest = &self.text[at..];
            let len = rest.iter().position(between).unwrap_or(rest.len());
            let word = Line { at: self.at + at, text: &rest[..len] };
            at += len;
            Some(word)
        })
    }
    /// An error at the start of the line or word.
    pub(crate) fn wrong(&self, message: impl Into<String>) -> Bad {
        Bad::new(self.at, message)
    }
    /// The text quoted for messages: shortened and escaped.
    pub(crate) fn shown(&self) -> String {
        shown(self.text)
    }
}

/// Text quoted for messages: shortened and escaped.
pub(crate) fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 32;
    let dots = if text.len() > LONGEST { "…" } else { "" };
    format!("\"{}{dots}\"", text[..text.len().min(LONGEST)].escape_ascii())
}

/// Appends an element; allocation failure is an error.
pub(crate) fn push<T>(list: &mut Vec<T>, x: T, what: &'static str) -> Result<()> {
    if list.len() == list.capacity() {
        let wanted = list.len() + 1;
        list.try_reserve(1).map_err(|_| out_of_memory::<T>(what, wanted))?;
    }
    list.push(x);
    Ok(())
}

/// The expected kind of text.
pub(crate) struct Expected<'a> {
    /// Description, such as `a table of numbers`.
    pub(crate) what: &'a str,
    /// First bytes of other formats that the reader accepts all the same.
    pub(crate) but: &'a [&'static [u8]],
}

impl Expected<'_> {
    /// An error if the text looks like another format.
    pub(crate) fn check(&self, text: &[u8]) -> Result<(), Bad> {
        let text = without_mark(text);
        if self.but.iter().any(|first| text.starts_with(first)) {
            return Ok(());
        }
        if let Some(sentence) = other_kind(text) {
            return Err(Bad::new(0, format!("expected {}, found {}{sentence}", self.what, quoted(text, 0))));
        }
        only_carriage_returns(text)
    }
}

/// An error if lines end with CR alone, judging by the first bytes.
pub(crate) fn only_carriage_returns(text: &[u8]) -> Result<(), Bad> {
    /// Bytes examined.
    const FIRST: usize = 1024;
    let text = &text[..text.len().min(FIRST)];
    match text.iter().position(|&b| b == b'\r') {
        Some(at) if at + 1 < text.len() && !text.contains(&b'\n') => {
            Err(Bad::new(at, "lines end with CR alone; convert them to LF: tr '\\r' '\\n'"))
        }
        _ => Ok(()),
    }
}

/// Strips a byte-order mark.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// A line-based file and the settings to read it.
pub(crate) struct Text<'a> {
    pub(crate) name: &'a str,
    pub(crate) bytes: &'a [u8],
    pub(crate) limits: Limits,
    pub(crate) threads: &'a Threads,
    pub(crate) expected: Expected<'a>,
}

/// Name and bytes of the file at `path`; its first bytes are checked before the rest is read.
pub(crate) fn text_of(path: &Path, limits: &Limits, expected: &Expected<'_>) -> Result<(String, Vec<u8>)> {
    bytes_of(path, limits, &|text| expected.check(text))
}

/// [`text_of`] for any reader.
pub(crate) fn text_from(from: &mut dyn Read, name: &str, limits: &Limits, expected: &Expected<'_>) -> Result<Vec<u8>> {
    bytes_from(from, name, limits, &|text| expected.check(text))
}

/// Parses the header and leaves the cursor at the first line after it. `None` if the text ends before the header is
/// complete. Compressed text arrives in several parts; `S` carries state between them.
pub(crate) type Head<'a, S, H> = dyn Fn(&mut S, &mut Lines<'_>) -> Result<Option<H>, Halt> + 'a;
/// Parses a piece of whole lines.
pub(crate) type Piece<'a, H, P> = dyn Fn(&H, &[u8]) -> Result<P, Halt> + Sync + 'a;

impl Text<'_> {
    /// The header, if there is one, and the parsed pieces after it. The error reported is the first one in the text,
    /// for any number of threads and piece size.
    pub(crate) fn parse<S: Default, H: Sync, P: Send>(
        &self,
        head: &Head<'_, S, H>,
        piece: &Piece<'_, H, P>,
    ) -> Result<(Option<H>, Vec<P>)> {
        let parse = |head: &H, text: &[u8]| {
            let long = long_line(text);
            let parsed = piece(head, long.as_ref().map_or(text, |bad| &text[..bad.at]))?;
            long.map_or(Ok(parsed), |bad| Err(Halt::Bad(bad)))
        };
        if is_packed(self.bytes) {
            return self.packed(head, &parse);
        }
        let locate = |bad: Bad, text| bad.locate(self.name, text);
        self.expected.check(self.bytes).map_err(|bad| locate(bad, self.bytes))?;
        check_size(self.limits.what, self.bytes.len() as u64, self.limits.max_bytes)?;
        let text = without_mark(self.bytes);
        let mut lines = Lines::new(text);
        let found = match head(&mut S::default(), &mut lines) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok((None, Vec::new())),
            Err(Halt::Bad(bad)) => return Err(locate(bad, text)),
            Err(Halt::Error(e)) => return Err(e),
        };
        let ranges = pieces(text, lines.at, self.limits.piece_bytes);
        let each = |text: &[u8]| match parse(&found, text) {
            Ok(parsed) => Ok(Ok(parsed)),
            Err(Halt::Bad(bad)) => Ok(Err(bad)),
            Err(Halt::Error(e)) => Err(e),
        };
        let results = parse_pieces(self.threads, text, &ranges, each, |parsed: &Result<P, Bad>| parsed.is_err())?;
        let mut parsed = reserved(results.len(), "pieces of a file")?;
        for (range, result) in ranges.iter().zip(results) {
            let place = |bad: Bad| locate(Bad { at: bad.at + range.start, ..bad }, text);
            parsed.push(result?.map_err(place)?);
        }
        Ok((Some(found), parsed))
    }

    fn packed<S: Default, H: Sync, P: Send>(
        &self,
        head: &Head<'_, S, H>,
        parse: &Piece<'_, H, P>,
    ) -> Result<(Option<H>, Vec<P>)> {
        let (stream, Some(found)) = self.open(head)? else { return Ok((None, Vec::new())) };
        if let Some(parsed) = stream.at_once(self.threads, |text| parse(&found, text).ok()) {
            return Ok((Some(found), parsed));
        }
        // There is an error: parses piece by piece, to find the first one.
        let mut parsed = Vec::new();
        self.open(head)?.0.each(|text| match parse(&found, text) {
            Ok(piece) => push(&mut parsed, piece, "pieces of a file").map(Ok),
            Err(Halt::Bad(bad)) => Ok(Err(bad)),
            Err(Halt::Error(e)) => Err(e),
        })?;
        Ok((Some(found), parsed))
    }

    /// The stream of pieces after the header of compressed text.
    fn open<S: Default, H>(&self, head: &Head<'_, S, H>) -> Result<(Stream<'_>, Option<H>)> {
        let mut stream = Stream::open(self.name, self.bytes, &self.limits, |text| self.expected.check(text))?;
        let (mut first, mut state) = (true, S::default());
        while let Some(mut piece) = stream.next_piece()? {
            if std::mem::take(&mut first) && piece.starts_with(BYTE_ORDER_MARK) {
                piece.drain(..BYTE_ORDER_MARK.len());
            }
            let mut lines = Lines::new(&piece);
            match head(&mut state, &mut lines) {
                Err(Halt::Bad(bad)) => return Err(stream.wrong(bad, &piece)),
                Err(Halt::Error(e)) => return Err(e),
                Ok(Some(found)) => {
                    let start = lines.at;
                    stream.begin_again(piece, start, &self.limits);
                    return Ok((stream, Some(found)));
                }
                Ok(None) => stream.lines += position(&piece, piece.len()).0 - 1,
            }
        }
        stream.check_budget()?;
        Ok((stream, None))
    }

    /// An error at the end of the file.
    pub(crate) fn wrong_at_end(&self, message: impl Into<String>) -> Error {
        let message = message.into();
        if !is_packed(self.bytes) {
            let text = without_mark(self.bytes);
            return Bad::new(text.len(), message).locate(self.name, text);
        }
        let marked = Cell::new(0);
        let look = |first: &[u8]| {
            marked.set(if first.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() as u64 } else { 0 });
            Ok(())
        };
        let ends = Stream::open(self.name, self.bytes, &self.limits, look).and_then(|s| s.each(|_| Ok(Ok(()))));
        match ends {
            Ok((line, column)) => {
                let column = if line == 1 { column - marked.get() } else { column };
                Error::Parse { file: self.name.to_owned(), line, column, message }
            }
            Err(e) => e,
        }
    }
}
