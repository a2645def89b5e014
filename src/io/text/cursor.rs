//! Words and numbers in text, with the place of whatever is wrong.

use crate::Error;

/// Something wrong `at` so many bytes from the start of the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bad {
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl Bad {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
    /// The error with its line and column, found by counting line ends from the start of `text`.
    pub(crate) fn locate(self, file: &str, text: &[u8]) -> Error {
        self.locate_behind(0, file, text)
    }
    /// The same where so many lines come before `text`.
    pub(crate) fn locate_behind(self, lines: u64, file: &str, text: &[u8]) -> Error {
        let (line, column) = position(text, self.at);
        Error::Parse { file: file.to_owned(), line: lines + line, column, message: self.message }
    }
}

/// Line and column of `text[at]`, from 1.
pub(crate) fn position(text: &[u8], at: usize) -> (u64, u64) {
    let before = &text[..at.min(text.len())];
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1);
    (count_line_ends(before) as u64 + 1, (before.len() - line_start) as u64 + 1)
}

pub(crate) fn count_line_ends(text: &[u8]) -> usize {
    text.iter().filter(|&&b| b == b'\n').count()
}

/// Bytes that a line may have: text that was packed well ends somewhere, and is looked at line by line.
pub(crate) const LONGEST_LINE: usize = 16 << 20;

/// The error that a line is too long, if one is. Pieces are hardly ever as long.
pub(crate) fn long_line(text: &[u8]) -> Option<Bad> {
    if text.len() <= LONGEST_LINE {
        return None;
    }
    let mut at = 0;
    for line in text.split(|&b| b == b'\n') {
        if line.len() > LONGEST_LINE {
            return Some(Bad::new(at, format!("the line has more than {LONGEST_LINE} bytes")));
        }
        at += line.len() + 1;
    }
    None
}

/// The word that starts at `text[at]`, quoted for a message: never long, never raw bytes.
pub(crate) fn quoted(text: &[u8], at: usize) -> String {
    const LONGEST: usize = 32;
    let rest = &text[at.min(text.len())..];
    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    if end == 0 {
        return if rest.is_empty() { "the end of the file" } else { "the end of the line" }.to_owned();
    }
    let dots = if end > LONGEST { "…" } else { "" };
    format!("\"{}{dots}\"", rest[..end.min(LONGEST)].escape_ascii())
}

/// A place in text that moves forward. All of it stays on one line until [`end_line`](Self::end_line).
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
    #[inline(always)]
    pub(crate) fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }
    /// Length of the line end here: 1 for `\n`, 2 for `\r\n`, 0 or 1 (`\r`) at the end of the text.
    #[inline(always)]
    pub(crate) fn line_end(&self) -> Option<usize> {
        match self.peek() {
            None => Some(0),
            Some(b'\n') => Some(1),
            Some(b'\r') => match self.text.get(self.at + 1) {
                None => Some(1),
                Some(b'\n') => Some(2),
                Some(_) => None,
            },
            Some(_) => None,
        }
    }
    /// Steps over blanks and the line end; anything else is an error.
    #[inline(always)]
    pub(crate) fn end_line(&mut self) -> Result<(), Bad> {
        self.skip_blanks();
        match self.line_end() {
            Some(n) => {
                self.at += n;
                Ok(())
            }
            None => {
                Err(Bad::new(self.at, format!("expected the end of the line, found {}", quoted(self.text, self.at))))
            }
        }
    }
    /// Goes to where the entry begins that comes `wanted` entries later, or to the end of the text; entries stepped over.
    /// Lines that begin with `comment` are none.
    pub(crate) fn skip_entries(&mut self, wanted: usize, comment: Option<u8>) -> usize {
        let mut seen = 0;
        loop {
            self.skip_blanks();
            match self.line_end() {
                Some(0) => return seen,
                Some(n) => self.at += n,
                None if comment.is_some() && self.peek() == comment => self.skip_line(),
                None if seen == wanted => return seen,
                None => {
                    seen += 1;
                    self.skip_line();
                }
            }
        }
    }
    /// The rest of the line is skipped.
    pub(crate) fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |p| p + 1);
    }
    /// The next word of this line, empty at its end.
    pub(crate) fn word(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let start = self.at;
        while self.peek().is_some_and(|b| !b.is_ascii_whitespace()) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }
    /// Whether a word may end here.
    #[inline(always)]
    pub(crate) fn at_word_end(&self) -> bool {
        matches!(self.peek(), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
    }
    /// Decimal digits, at least one, up to the end of the word. `Err(true)`: they do not fit a u64.
    #[inline(always)]
    pub(crate) fn digits(&mut self) -> Result<u64, bool> {
        let start = self.at;
        let mut n = 0u64;
        while let Some(d @ 0..=9) = self.peek().map(|b| b.wrapping_sub(b'0')) {
            n = n.wrapping_mul(10).wrapping_add(u64::from(d));
            self.at += 1;
        }
        if self.at == start || !self.at_word_end() {
            self.at = start;
            return Err(false);
        }
        // 19 digits always fit; longer words are rare, and counted again with checks.
        if self.at - start > 19 { checked_digits(&self.text[start..self.at]).ok_or(true) } else { Ok(n) }
    }
    /// A count or size named `what`.
    pub(crate) fn size(&mut self, what: &str) -> Result<usize, Bad> {
        self.skip_blanks();
        let start = self.at;
        let too_large = || Bad::new(start, format!("{what} {} is too large", quoted(self.text, start)));
        match self.clone().digits() {
            Ok(n) => {
                let _ = self.digits();
                usize::try_from(n).ok().filter(|&n| n <= isize::MAX as usize).ok_or_else(too_large)
            }
            Err(true) => Err(too_large()),
            Err(false) => Err(Bad::new(start, format!("expected the {what}, found {}", quoted(self.text, start)))),
        }
    }
}

#[cold]
fn checked_digits(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |n, d| n.checked_mul(10)?.checked_add(u64::from(d - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_a_message_is_short_and_printable() {
        assert_eq!(quoted(b"ab\xff c", 0), "\"ab\\xff\"");
        assert_eq!(quoted(b"ab", 2), "the end of the file");
        assert_eq!(quoted(b"ab\n", 2), "the end of the line");
        assert!(quoted(&[b'9'; 10_000], 0).len() < 50);
    }
}
