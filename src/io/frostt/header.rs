//! Optional headers before the entries: that of the Tensor Toolbox's `sptensor`, and a bare header of order and
//! dimensions.

use super::parse::COMMENT;
use crate::io::text::{Bad, Cursor, quoted};
use crate::tensor::MAX_ORDER;

/// A parsed header.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) dims: Vec<usize>,
    pub(super) nnz: Option<usize>,
    /// Offset of the text after the header.
    pub(super) end: usize,
}

/// The offset and the words of a line.
fn line<'a>(cursor: &mut Cursor<'a>) -> (usize, Vec<&'a [u8]>) {
    cursor.skip_entries(0, Some(COMMENT));
    let start = cursor.at;
    cursor.skip_line();
    let words = cursor.text[start..cursor.at].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    // Longer lines cannot be a header.
    (start, words.take(MAX_ORDER + 2).collect())
}

/// The words as integers.
fn numbers(words: &[&[u8]]) -> Option<Vec<usize>> {
    words.iter().map(|word| std::str::from_utf8(word).ok()?.parse().ok()).collect()
}

/// The header at the start of the text, if there is one. After the keyword `sptensor`, it is order, dimensions and
/// number of entries, one line each. Without the keyword, a line of order (and number of entries) and a line of
/// dimensions are a header if the next line has the length of an entry of that order and the two lines do not. With
/// `announced`, only the keyword counts.
pub(super) fn header(text: &[u8], announced: bool) -> Result<Option<Header>, Bad> {
    let mut cursor = Cursor { text, at: 0 };
    let (_, first) = line(&mut cursor);
    if first == [b"sptensor"] {
        let mut next = |what: &str, len: Option<usize>| {
            let (at, words) = line(&mut cursor);
            numbers(&words)
                .filter(|found| !found.is_empty() && len.is_none_or(|len| found.len() == len))
                .ok_or_else(|| Bad::new(at, format!("expected {what} of an sptensor, found {}", quoted(text, at))))
        };
        let order = next("the order", Some(1))?[0];
        let dims = next("the dimensions", Some(order))?;
        let nnz = next("the number of entries", Some(1))?[0];
        return Ok(Some(Header { dims, nnz: Some(nnz), end: cursor.at }));
    }
    if announced {
        return Ok(None);
    }
    let (_, second) = line(&mut cursor);
    let end = cursor.at;
    let (_, third) = line(&mut cursor);
    let (Some(first), Some(dims)) = (numbers(&first), numbers(&second)) else { return Ok(None) };
    let is_entry = third.len() == dims.len() + 1 && numbers(&third[..dims.len()]).is_some();
    let is_one = (1..=2).contains(&first.len()) && first[0] == dims.len() && is_entry;
    // All entries have the same number of words.
    let differs = first.len() != third.len() || second.len() != third.len();
    Ok((is_one && differs).then(|| Header { dims, nnz: first.get(1).copied(), end }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_told_from_entries() {
        let of = |text: &str| header(text.as_bytes(), false).expect("no error").map(|h| (h.dims, h.nnz, h.end));
        assert_eq!(of("sptensor\n3\n2 3 4\n1\n1 1 1 5\n"), Some((vec![2, 3, 4], Some(1), 19)));
        assert_eq!(of("# a\n3 2\n2 3 4\n1 1 1 1.0\n"), Some((vec![2, 3, 4], Some(2), 14)));
        assert_eq!(of("3\n2 3 4\n1 1 1 1.0\n"), Some((vec![2, 3, 4], None, 8)));
        assert_eq!(header(b"3\n2 3 4\n1 1 1 1.0\n", true).expect("no error"), None);
        for text in [
            "3\n2 3 4\n1 1 x 1.0\n",
            "1 1 1 5\n",
            "1 2\n1 3\n1 4\n",
            "2 5\n3 4\n1 1\n",
            "1 2 3\n3 4 5\n1 2 3\n",
            "",
            "3\n2 3 4\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        let bad = header(b"sptensor\n3\n2 3\n5\n", true).expect_err("two dimensions");
        assert_eq!((bad.at, &*bad.message), (11, "expected the dimensions of an sptensor, found \"2\""));
    }
}
