//! Scanning of words and numbers, with the position of errors.

use crate::Error;
use crate::simd::{self, dispatch_work};

/// An error at byte offset `at` of the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bad {
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl Bad {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
    /// Converts the offset to line and column, by counting line ends from the start of `text`.
    pub(crate) fn locate(self, file: &str, text: &[u8]) -> Error {
        self.locate_behind(0, file, text)
    }
    /// [`locate`](Self::locate), with `lines` lines before `text`.
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
    dispatch_work(LineEnds(text))
}

struct LineEnds<'a>(&'a [u8]);

impl simd::Work for LineEnds<'_> {
    type Out = usize;
    #[inline(always)]
    fn run(self) -> usize {
        // At most 255 bytes, so that 8-bit counters do not overflow and vectorize well.
        const PART: usize = 192;
        let in_part = |part: &[u8]| usize::from(part.iter().map(|&b| u8::from(b == b'\n')).sum::<u8>());
        self.0.chunks(PART).map(in_part).sum()
    }
}

/// Maximum length of a line. Bounds the memory that a highly compressed file without line ends can demand.
pub(crate) const LONGEST_LINE: usize = 16 << 20;

/// The error for an overlong line, if there is one. The first test rules it out for nearly all pieces.
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

/// The word at `text[at]`, quoted for a message: shortened and escaped.
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

/// A forward cursor over text. Methods do not cross a line end, except those named for it.
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
    /// Length of the line end at the cursor: 1 for `\n`, 2 for `\r\n`, 0 or 1 (`\r`) at the end of the text.
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
    /// Skips blanks and the line end; anything else is an error.
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
    /// Skips `wanted` entries, or to the end of the text; returns the number of entries skipped. Lines that begin with
    /// `comment` are not entries.
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
    /// Skips the rest of the line.
    pub(crate) fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |p| p + 1);
    }
    /// The next word of the line; empty at its end.
    pub(crate) fn word(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let start = self.at;
        while self.peek().is_some_and(|b| !b.is_ascii_whitespace()) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }
    /// Whether the cursor is at the end of a word.
    #[inline(always)]
    pub(crate) fn at_word_end(&self) -> bool {
        matches!(self.peek(), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
    }
    /// A word of decimal digits. `Err(true)`: the number does not fit u64; `Err(false)`: not a number.
    #[inline(always)]
    pub(crate) fn digits(&mut self) -> Result<u64, bool> {
        if let Some((n, len)) = self.text.get(self.at..).and_then(short_number) {
            self.at += len;
            return Ok(n);
        }
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
        // 19 digits always fit u64; longer words are rare, and parsed again with overflow checks.
        if self.at - start > 19 { checked_digits(&self.text[start..self.at]).ok_or(true) } else { Ok(n) }
    }
    /// A count or size, called `what` in errors.
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

/// The number of up to seven digits at the start of `text` and its length, if the word ends within the first eight
/// bytes.
///
/// All eight bytes are processed at once, the first in the lowest byte. Source: Lemire 2022, "Number parsing at a
/// gigabyte per second", §6 (digits by three multiplications).
#[inline(always)]
pub(super) fn short_number(text: &[u8]) -> Option<(u64, usize)> {
    let (n, len) = digits_before(text)?;
    matches!(text[len], b' ' | b'\n' | b'\t' | b'\r').then_some((n, len))
}

/// The number of one to seven digits at the start of `text` and its length, if a non-digit is among the first eight
/// bytes.
#[inline(always)]
pub(super) fn digits_before(text: &[u8]) -> Option<(u64, usize)> {
    let eight = u64::from_le_bytes(*text.first_chunk::<8>()?);
    let nibbles = eight ^ 0x3030_3030_3030_3030;
    // Adding 0x76 sets the high bit of a byte over 9. Its carry can only affect higher bytes, and only the lowest
    // flagged byte counts.
    let others = (nibbles | nibbles.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
    let len = others.trailing_zeros() as usize / 8;
    if len == 0 || len > 7 {
        return None;
    }
    Some((eight_digits(nibbles << (64 - 8 * len)), len))
}

/// The number whose eight decimal digits are the bytes of `digits`, each 0 to 9, the first in the lowest byte.
#[inline(always)]
fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff
}

#[cold]
fn checked_digits(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |n, d| n.checked_mul(10)?.checked_add(u64::from(d - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_those_of_single_digits() {
        for n in (0..2000u64).chain((1..60).map(|k| k * 166_667)).chain([9_999_999, 1_234_567]) {
            for end in [" ", "\n", "\t", "\r", "  1 2 ", ".", "x", "\u{2f}", ":", "\u{ff}"] {
                let text = format!("{n}{end}........");
                let len = n.to_string().len();
                let want = (len <= 7 && " \n\t\r".contains(&end[..end.chars().next().unwrap().len_utf8()]))
                    .then_some((n, len));
                assert_eq!(short_number(text.as_bytes()), want, "{text}");
            }
        }
        assert_eq!(short_number(b"0000012 "), Some((12, 7)));
        for text in
            [&b"12345678 "[..], b" 1234567", b"1234567", b"", b"-1      ", b"1\0      ", b"1\xb9      ", b"\xb1 123456"]
        {
            assert_eq!(short_number(text), None);
        }
    }

    #[test]
    fn line_ends_are_counted_in_parts_of_every_length() {
        for len in (0..400).chain([10_000]) {
            let text: Vec<u8> = (0..len).map(|i| if i % 7 == 3 || len == 383 { b'\n' } else { b'8' }).collect();
            assert_eq!(count_line_ends(&text), text.iter().filter(|&&b| b == b'\n').count());
        }
    }

    #[test]
    fn a_word_in_a_message_is_short_and_printable() {
        assert_eq!(quoted(b"ab\xff c", 0), "\"ab\\xff\"");
        assert_eq!(quoted(b"ab", 2), "the end of the file");
        assert_eq!(quoted(b"ab\n", 2), "the end of the line");
        assert!(quoted(&[b'9'; 10_000], 0).len() < 50);
    }
}
