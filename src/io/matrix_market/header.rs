//! The banner and the size line.

use std::fmt;

use super::text::{Bad, Cursor, quoted};
use crate::Error;

/// How the entries of a file are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One (row, column, value) a line.
    Coordinate,
    /// Every element, column by column, one a line.
    Array,
}

/// What the entries of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Real numbers (`real`, `double`), kept as f64.
    Real,
    /// Integers, kept as i64.
    Integer,
    /// Integers from 0 (`unsigned-integer`), kept as u64.
    Unsigned,
    /// Positions only: each entry counts as 1.
    Pattern,
    /// Complex numbers, which are not read.
    Complex,
}

/// Which entries a file leaves out because others determine them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// None.
    General,
    /// A(j, i) = A(i, j): the lower triangle is stored.
    Symmetric,
    /// A(j, i) = −A(i, j): the lower triangle without the diagonal is stored.
    SkewSymmetric,
    /// A(j, i) is the conjugate of A(i, j); for real numbers this is [`Symmetric`](Self::Symmetric).
    Hermitian,
}

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

macro_rules! words {
    ($($kind:ident { $($variant:ident $word:literal)* })*) => {$(
        impl $kind {
            /// The word of the banner.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
            fn from_word(word: &[u8]) -> Option<Self> {
                $(if word.eq_ignore_ascii_case($word.as_bytes()) {
                    return Some(Self::$variant);
                })*
                None
            }
            fn choices() -> String {
                [$($word),*].join(", ")
            }
        }
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    )*};
}
words! {
    Layout { Coordinate "coordinate" Array "array" }
    Field { Real "real" Integer "integer" Unsigned "unsigned-integer" Pattern "pattern" Complex "complex" }
    Symmetry { General "general" Symmetric "symmetric" SkewSymmetric "skew-symmetric" Hermitian "hermitian" }
}

/// Why a header could not be had.
#[derive(Debug)]
pub(super) enum NoHeader {
    /// It is wrong.
    Bad(Bad),
    /// It is right, and beyond this library.
    Unsupported(Error),
}
impl From<Bad> for NoHeader {
    fn from(bad: Bad) -> Self {
        Self::Bad(bad)
    }
}

impl Header {
    /// Reads the header; the second result is where the line after the size line begins.
    pub(super) fn parse(file: &str, text: &[u8]) -> Result<(Self, usize), NoHeader> {
        let mut cursor = Cursor { text, at: 0 };
        let (layout, field, symmetry) = banner(&mut cursor)?;
        if field == Field::Complex {
            return Err(NoHeader::Unsupported(Error::Unsupported {
                what: format!("{file}: Matrix Market field \"complex\""),
                why: "values here are real, integer, unsigned-integer or pattern; \
                      store real and imaginary parts as two matrices"
                    .to_owned(),
            }));
        }
        loop {
            cursor.skip_blanks();
            match (cursor.peek(), cursor.line_end()) {
                (None, _) => {
                    return Err(Bad::new(cursor.at, "expected the size line, found the end of the file").into());
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
            return Err(
                Bad::new(start, format!("a {symmetry} matrix must be square, but it is {nrows}×{ncols}")).into()
            );
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
