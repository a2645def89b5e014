//! The banner and the size line.

use super::banner::{Field, Layout, Symmetry};
use crate::io::text::{Bad, Cursor, long_line, only_carriage_returns, other_kind, quoted};

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Layout: coordinate or array.
    pub layout: Layout,
    /// Field type of the entries.
    pub field: Field,
    /// Symmetry.
    pub symmetry: Symmetry,
    /// Number of rows.
    pub nrows: usize,
    /// Number of columns.
    pub ncols: usize,
    /// Number of entries in the file, before symmetry is expanded.
    pub stored: usize,
}

impl Header {
    /// Reads the header; also returns the offset after the size line.
    pub(super) fn parse(text: &[u8], lenient: bool) -> Result<(Self, usize), Bad> {
        let mut cursor = Cursor { text, at: 0 };
        let banner = Banner::parse(&mut cursor, lenient)?;
        let more = skip_comments(&mut cursor);
        // Applies to comments too: reading stops within an overlong line.
        if let Some(bad) = long_line(&text[..cursor.at]) {
            return Err(bad);
        }
        if !more {
            return Err(no_size_line(&cursor));
        }
        Ok((banner.sizes(&mut cursor)?, cursor.at))
    }
}

/// Skips comments and blank lines; returns whether anything follows them.
pub(super) fn skip_comments(cursor: &mut Cursor<'_>) -> bool {
    loop {
        cursor.skip_blanks();
        match (cursor.peek(), cursor.line_end()) {
            (None, _) => return false,
            (Some(b'%'), _) => cursor.skip_line(),
            (_, Some(n)) => cursor.at += n,
            _ => return true,
        }
    }
}

/// The error for a missing size line.
pub(super) fn no_size_line(cursor: &Cursor<'_>) -> Bad {
    Bad::new(cursor.at, "expected the size line, found the end of the file")
}

/// Number of elements of an array file: all, or the lower triangle.
fn elements(nrows: usize, ncols: usize, symmetry: Symmetry) -> Option<usize> {
    let (n, m) = (nrows as u128, ncols as u128);
    let count = match symmetry {
        Symmetry::General => n * m,
        Symmetry::Symmetric | Symmetry::Hermitian => n * (n + 1) / 2,
        Symmetry::SkewSymmetric => n * n.saturating_sub(1) / 2,
    };
    usize::try_from(count).ok().filter(|&c| c <= isize::MAX as usize)
}

/// The banner line.
pub(super) struct Banner {
    layout: Layout,
    field: Field,
    symmetry: Symmetry,
}

impl Banner {
    pub(super) fn parse(cursor: &mut Cursor<'_>, lenient: bool) -> Result<Self, Bad> {
        check_magic(cursor.text, lenient)?;
        cursor.at = magic(cursor.text, lenient).unwrap_or_default();
        keyword(cursor, "matrix".to_owned(), |w| w.eq_ignore_ascii_case(b"matrix").then_some(()))?;
        let layout = keyword(cursor, Layout::choices(), Layout::from_word)?;
        cursor.skip_blanks();
        let field_at = cursor.at;
        let field = keyword(cursor, Field::choices(), |w| {
            if w.eq_ignore_ascii_case(b"double") { Some(Field::Real) } else { Field::from_word(w) }
        })?;
        cursor.skip_blanks();
        let symmetry_at = cursor.at;
        let symmetry = keyword(cursor, Symmetry::choices(), Symmetry::from_word)?;
        cursor.end_line()?;
        if layout == Layout::Array && field == Field::Pattern {
            return Err(Bad::new(field_at, "an array has no pattern: use coordinate, or another field"));
        }
        let refused = match (symmetry, field) {
            (Symmetry::SkewSymmetric, Field::Unsigned) => true,
            (Symmetry::SkewSymmetric | Symmetry::Hermitian, Field::Pattern) => !lenient,
            _ => false,
        };
        if refused {
            return Err(Bad::new(symmetry_at, format!("a {field} matrix cannot be {symmetry}")));
        }
        Ok(Self { layout, field, symmetry })
    }
    /// Reads the size line at the cursor.
    pub(super) fn sizes(self, cursor: &mut Cursor<'_>) -> Result<Header, Bad> {
        let Self { layout, field, symmetry } = self;
        let start = cursor.at;
        let nrows = cursor.size("number of rows")?;
        let ncols_at = cursor.at;
        let ncols = cursor.size("number of columns")?;
        if symmetry != Symmetry::General && nrows != ncols {
            return Err(Bad::new(start, format!("a {symmetry} matrix must be square, but it is {nrows}×{ncols}")));
        }
        let stored = match layout {
            Layout::Coordinate => cursor.size("number of entries")?,
            Layout::Array => elements(nrows, ncols, symmetry)
                .ok_or_else(|| Bad::new(ncols_at, format!("an array of {nrows}×{ncols} elements is too large")))?,
        };
        cursor.end_line()?;
        Ok(Header { layout, field, symmetry, nrows, ncols, stored })
    }
}

const MAGIC: &[u8] = b"%%MatrixMarket";

/// Offset of the end of the magic word, if the text begins with it. White space may precede it, as in SciPy's reader;
/// in lenient mode a single % suffices, as in files of networkrepository.com.
fn magic(text: &[u8], lenient: bool) -> Option<usize> {
    let start = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let begins = |magic: &[u8]| {
        let word = text.get(start..start + magic.len())?;
        let at = start + magic.len();
        (word.eq_ignore_ascii_case(magic) && (Cursor { text, at }).at_word_end()).then_some(at)
    };
    begins(MAGIC).or_else(|| if lenient { begins(&MAGIC[1..]) } else { None })
}

/// An error if the text does not begin as a Matrix Market file.
pub(super) fn check_magic(text: &[u8], lenient: bool) -> Result<(), Bad> {
    if text.is_empty() {
        return Err(Bad::new(0, "the file is empty, expected %%MatrixMarket"));
    }
    if magic(text, lenient).is_some() {
        return only_carriage_returns(text);
    }
    let begins = magic(text, true).is_some();
    let instead = if begins { ": one % is missing; read it leniently (--lenient)" } else { instead(text) };
    Err(Bad::new(0, format!("expected %%MatrixMarket, found {}{instead}", quoted(text, 0))))
}

/// The likely format of the file, and advice, for common formats.
fn instead(text: &[u8]) -> &'static str {
    if let Some(sentence) = other_kind(text) {
        return sentence;
    }
    // Lines of numbers, possibly after comments.
    let mut lines = text.split(|&b| b == b'\n').filter(|line| !line.starts_with(b"#") && !line.starts_with(b"%"));
    let line = lines.next().unwrap_or_default();
    let words = || line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    if !words().all(|word| fast_float2::parse::<f64, _>(word).is_ok()) {
        return "";
    }
    match words().count() {
        0 | 1 => "",
        2 => ": lines of two numbers are an edge list, which is read as edges (--format edges)",
        3 => {
            ": lines of three numbers are an edge list with weights, which is read as edges (--format edges), or a tensor, which \
             tensor-info and cp read"
        }
        _ => ": lines of so many numbers are a tensor, which tensor-info and cp read",
    }
}

fn keyword<K>(cursor: &mut Cursor<'_>, choices: String, find: impl Fn(&[u8]) -> Option<K>) -> Result<K, Bad> {
    let word = cursor.word();
    let at = cursor.at - word.len();
    find(word).ok_or_else(|| Bad::new(at, format!("expected {choices}, found {}", quoted(cursor.text, at))))
}
