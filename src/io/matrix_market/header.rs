//! The banner and the size line.

use super::banner::{Field, Layout, Symmetry};
use super::text::{Bad, Cursor, quoted};

/// What a file says about itself before its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Coordinates or every element.
    pub layout: Layout,
    /// Type of the entries.
    pub field: Field,
    /// Symmetry.
    pub symmetry: Symmetry,
    /// Rows.
    pub nrows: usize,
    /// Columns.
    pub ncols: usize,
    /// Entries in the file, before symmetry is expanded.
    pub stored: usize,
}

impl Header {
    /// Reads the header; the second result is where the line after the size line begins.
    pub(super) fn parse(text: &[u8]) -> Result<(Self, usize), Bad> {
        let mut cursor = Cursor { text, at: 0 };
        let (layout, field, symmetry) = banner(&mut cursor)?;
        loop {
            cursor.skip_blanks();
            match (cursor.peek(), cursor.line_end()) {
                (None, _) => {
                    return Err(Bad::new(cursor.at, "expected the size line, found the end of the file"));
                }
                (Some(b'%'), _) => cursor.skip_line(),
                (_, Some(n)) => cursor.at += n,
                _ => break,
            }
        }
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
        Ok((Self { layout, field, symmetry, nrows, ncols, stored }, cursor.at))
    }
}

/// Elements of an array file: all, or those of the lower triangle.
fn elements(nrows: usize, ncols: usize, symmetry: Symmetry) -> Option<usize> {
    let (n, m) = (nrows as u128, ncols as u128);
    let count = match symmetry {
        Symmetry::General => n * m,
        Symmetry::Symmetric | Symmetry::Hermitian => n * (n + 1) / 2,
        Symmetry::SkewSymmetric => n * n.saturating_sub(1) / 2,
    };
    usize::try_from(count).ok().filter(|&c| c <= isize::MAX as usize)
}

fn banner(cursor: &mut Cursor<'_>) -> Result<(Layout, Field, Symmetry), Bad> {
    if cursor.text.is_empty() {
        return Err(Bad::new(0, "the file is empty, expected %%MatrixMarket"));
    }
    let magic = b"%%MatrixMarket";
    if !cursor.text.get(..magic.len()).is_some_and(|word| word.eq_ignore_ascii_case(magic)) {
        return Err(Bad::new(0, format!("expected %%MatrixMarket, found {}", quoted(cursor.text, 0))));
    }
    cursor.at = magic.len();
    if !cursor.at_word_end() {
        return Err(Bad::new(0, format!("expected %%MatrixMarket, found {}", quoted(cursor.text, 0))));
    }
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
    let refused = match symmetry {
        Symmetry::SkewSymmetric => matches!(field, Field::Pattern | Field::Unsigned),
        Symmetry::Hermitian => field == Field::Pattern,
        Symmetry::General | Symmetry::Symmetric => false,
    };
    if refused {
        return Err(Bad::new(symmetry_at, format!("a {field} matrix cannot be {symmetry}")));
    }
    Ok((layout, field, symmetry))
}

fn keyword<K>(cursor: &mut Cursor<'_>, choices: String, find: impl Fn(&[u8]) -> Option<K>) -> Result<K, Bad> {
    let word = cursor.word();
    let at = cursor.at - word.len();
    find(word).ok_or_else(|| Bad::new(at, format!("expected {choices}, found {}", quoted(cursor.text, at))))
}
