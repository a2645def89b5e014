//! Splitting of a line into cells (RFC 4180).

use crate::io::text::{Bad, Line};

/// A cell, without blanks and quotes around it.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) at: usize,
    pub(super) text: &'a [u8],
    /// Whether doubled quotes in the text stand for one quote.
    pub(super) escaped: bool,
}

/// The cells of a line; at least one.
#[derive(Clone)]
pub(super) struct Cells<'a> {
    line: Line<'a>,
    delimiter: u8,
    /// Offset of the next cell, if there is one.
    next: Option<usize>,
}

fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t')
}

impl<'a> Cells<'a> {
    pub(super) fn new(line: Line<'a>, delimiter: u8) -> Self {
        Self { line, delimiter, next: Some(0) }
    }
    fn skip_blanks(&self, at: usize) -> usize {
        let text = self.line.text;
        let blank = |b: &u8| is_blank(*b) && (self.delimiter == b' ' || *b != self.delimiter);
        at + text[at..].iter().take_while(|b| blank(b)).count()
    }
    fn ends_cell(&self, b: u8) -> bool {
        b == self.delimiter || (self.delimiter == b' ' && b == b'\t')
    }
    /// Offset of the cell after the one that ends at `end`.
    fn behind(&self, end: usize) -> Option<usize> {
        if self.delimiter == b' ' {
            // Trailing blanks do not start another cell.
            return Some(self.skip_blanks(end)).filter(|&at| at < self.line.text.len());
        }
        (end < self.line.text.len()).then_some(end + 1)
    }
    /// The quoted cell at `start`.
    fn quoted(&mut self, start: usize) -> Result<Cell<'a>, Bad> {
        let text = self.line.text;
        let wrong = |at: usize, message: &str| Err(Bad::new(self.line.at + at, message));
        let (mut at, mut escaped) = (start + 1, false);
        let close = loop {
            match text[at..].iter().position(|&b| b == b'"') {
                None => return wrong(start, "a quoted cell does not end in its line"),
                Some(n) if text.get(at + n + 1) == Some(&b'"') => (at, escaped) = (at + n + 2, true),
                Some(n) => break at + n,
            }
        };
        let end = if self.delimiter == b' ' { close + 1 } else { self.skip_blanks(close + 1) };
        if text.get(end).is_some_and(|&b| !self.ends_cell(b)) {
            return wrong(end, "something stands behind a quoted cell");
        }
        self.next = self.behind(end);
        Ok(Cell { at: self.line.at + start + 1, text: &text[start + 1..close], escaped })
    }
    pub(super) fn next_cell(&mut self) -> Result<Option<Cell<'a>>, Bad> {
        let Some(at) = self.next else { return Ok(None) };
        let text = self.line.text;
        let start = self.skip_blanks(at);
        if text.get(start) == Some(&b'"') {
            return self.quoted(start).map(Some);
        }
        let end = start + text[start..].iter().take_while(|&&b| !self.ends_cell(b)).count();
        self.next = self.behind(end);
        let cell = &text[start..end];
        let cell = &cell[..cell.iter().rposition(|&b| !is_blank(b)).map_or(0, |p| p + 1)];
        Ok(Some(Cell { at: self.line.at + start, text: cell, escaped: false }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str, delimiter: u8) -> Result<Vec<(usize, String)>, Bad> {
        let mut cells = Cells::new(Line { at: 10, text: text.as_bytes() }, delimiter);
        let mut found = vec![];
        while let Some(cell) = cells.next_cell()? {
            found.push((cell.at - 10, String::from_utf8(cell.text.to_vec()).unwrap()));
        }
        Ok(found)
    }

    #[test]
    fn cells_are_those_of_rfc_4180() {
        let of =
            |text, delimiter| cells(text, delimiter).unwrap().into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(of("1,2", b','), ["1", "2"]);
        assert_eq!(of(" 1 ,\t\"2,3\" ,", b','), ["1", "2,3", ""]);
        assert_eq!(of("", b','), [""]);
        assert_eq!(of("\"a\"\"b\",\"\"", b','), ["a\"\"b", ""]);
        assert_eq!(of("1\t\t 2", b'\t'), ["1", "", "2"]);
        assert_eq!(of("  1 \t 2  ", b' '), ["1", "2"]);
        assert_eq!(of("\"1 2\" 3", b' '), ["1 2", "3"]);
        assert_eq!(cells("1, \"2\"", b',').unwrap(), [(0, "1".into()), (4, "2".into())]);
        assert_eq!(cells("1,\"2", b',').unwrap_err(), Bad::new(12, "a quoted cell does not end in its line"));
        assert_eq!(cells("\"1\"2,3", b',').unwrap_err(), Bad::new(13, "something stands behind a quoted cell"));
    }
}
