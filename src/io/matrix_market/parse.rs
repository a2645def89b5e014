//! Parsing of text, from a [`Source`], into blocks of entries.
//!
//! Pieces of text are parsed in any order, each up to its first error; [`InOrder`] then finds the first error of the
//! file.

use super::assemble::{Entries, MatrixFile};
use super::banner::{Field, Layout, Symmetry};
use super::block::{AnyIndices, Block, Indices, Values, with_indices};
use super::header::Header;
use super::order::Order;
use super::scalar::Scalar;
use super::triangle::settle;
use crate::io::text::{Bad, Cursor, count_line_ends, long_line, quoted};
use crate::par::{Threads, for_each_part, reserved};
use crate::{Error, Index, Result};

/// A source of the entries after a header, as blocks in file order; `stored` entries in total.
pub(super) trait Source {
    type Error: From<Error>;
    fn blocks(&self) -> Result<Vec<Block>, Self::Error>;
    /// An error at entry `number`, from 0.
    fn at_entry(&self, number: usize, message: String) -> Self::Error;
}

/// An unspecified error; a second pass determines it.
pub(super) struct Wrong;
impl From<Error> for Wrong {
    fn from(_: Error) -> Self {
        Self
    }
}

/// The settings to parse a piece.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) header: Header,
    pub(super) lenient: bool,
}

impl Rules {
    /// The comment character among entries, in lenient mode.
    pub(super) fn comment(&self) -> Option<u8> {
        self.lenient.then_some(b'%')
    }
}

/// The file with this header and the entries of `source`, in the types that the header specifies.
pub(super) fn parse_body<S: Source>(
    name: &str,
    Rules { header, lenient }: Rules,
    threads: &Threads,
    source: &S,
) -> Result<MatrixFile, S::Error> {
    let mut blocks = source.blocks()?;
    if header.layout == Layout::Array {
        assign_indices(&header, &mut blocks, threads)?;
    }
    settle(&mut blocks, header.symmetry, lenient)?.map_err(|(number, message)| source.at_entry(number, message))?;
    Ok(MatrixFile { header, entries: Entries { field: header.field, blocks }, name: name.to_owned() })
}

/// Parses an integer file as i64 and, after an error, as u64, unless the file is skew-symmetric.
pub(super) fn of_integers(header: Header, parse: impl Fn(Header) -> Result<MatrixFile>) -> Result<MatrixFile> {
    match parse(header) {
        Err(signed @ Error::Parse { .. })
            if header.field == Field::Integer && header.symmetry != Symmetry::SkewSymmetric =>
        {
            match parse(Header { field: Field::Unsigned, ..header }) {
                Ok(file) => Ok(MatrixFile { header, ..file }),
                Err(unsigned) => Err(further(signed, unsigned)),
            }
        }
        parsed => parsed,
    }
}

/// Of two failed parses, the error further into the file: the first entry that no integer type can represent together
/// with the entries before it.
fn further(one: Error, other: Error) -> Error {
    let position = |e: &Error| match e {
        Error::Parse { line, column, .. } => (*line, *column),
        _ => (0, 0),
    };
    if position(&other) > position(&one) { other } else { one }
}

/// The entries of a piece, up to its first error.
pub(super) struct Parsed {
    pub(super) block: Block,
    pub(super) bad: Option<Bad>,
}

pub(super) fn parse_piece(text: &[u8], rules: &Rules) -> Result<Parsed> {
    match rules.header.field {
        Field::Real => piece_of(Values::Real, text, rules),
        Field::Integer => piece_of(Values::Integer, text, rules),
        Field::Unsigned => piece_of(Values::Unsigned, text, rules),
        Field::Pattern => piece_of(Values::Pattern, text, rules),
        Field::Complex => piece_of(Values::Complex, text, rules),
    }
}

fn piece_of<X: Scalar>(values: fn(Vec<X>) -> Values, text: &[u8], rules: &Rules) -> Result<Parsed> {
    if rules.header.nrows.max(rules.header.ncols) <= u32::MAX_LEN {
        piece(AnyIndices::Narrow, values, text, rules)
    } else {
        piece(AnyIndices::Wide, values, text, rules)
    }
}

fn piece<I: Index, X: Scalar>(
    any_indices: fn(Indices<I>) -> AnyIndices,
    values: fn(Vec<X>) -> Values,
    text: &[u8],
    rules: &Rules,
) -> Result<Parsed> {
    // One entry per line, and lines have a minimum length: the count in the header is not trusted.
    let header = &rules.header;
    let coordinate = header.layout == Layout::Coordinate;
    let shortest_line = if coordinate { "1 1\n".len() + X::MIN_BYTES } else { X::MIN_BYTES };
    let most = (count_line_ends(text) + 1).min((text.len() + 1) / shortest_line.max(1));
    let indices = if coordinate { most } else { 0 };
    let above = if header.symmetry == Symmetry::General { 0 } else { indices };
    let mut lines = Lines {
        rows: reserved(indices, "row indices")?,
        cols: reserved(indices, "column indices")?,
        values: reserved(most, "values")?,
        // Stays untouched in files that conform to the format.
        above: reserved(above, "entries above the diagonal")?,
    };
    let long = long_line(text);
    let text = long.as_ref().map_or(text, |bad| &text[..bad.at]);
    let bad = parse_lines(&mut Cursor { text, at: 0 }, rules, &mut lines).err().or(long);
    let Lines { rows, cols, values: list, above } = lines;
    // Checked here, while the indices are in cache.
    let order = if coordinate { Order::of(&rows, &cols) } else { Order::default() };
    let above = if above.is_empty() { Vec::new() } else { above };
    Ok(Parsed {
        block: Block { indices: any_indices(Indices { rows, cols, order }), values: values(list), above },
        bad,
    })
}

/// The entries of parsed lines; see [`Block`].
struct Lines<I, X> {
    rows: Vec<I>,
    cols: Vec<I>,
    values: Vec<X>,
    above: Vec<u32>,
}

#[inline(always)]
fn parse_lines<I: Index, X: Scalar>(
    cursor: &mut Cursor<'_>,
    rules: &Rules,
    block: &mut Lines<I, X>,
) -> Result<(), Bad> {
    let Header { nrows, ncols, symmetry, layout, .. } = rules.header;
    while cursor.at < cursor.text.len() {
        cursor.skip_blanks();
        if let Some(n) = cursor.line_end() {
            cursor.at += n;
            continue;
        }
        if rules.lenient && cursor.peek() == Some(b'%') {
            cursor.skip_line();
            continue;
        }
        if layout == Layout::Coordinate {
            let start = cursor.at;
            let mut i = index(cursor, "row", nrows)?;
            cursor.skip_blanks();
            let mut j = index(cursor, "column", ncols)?;
            cursor.skip_blanks();
            let at = cursor.at;
            let mut x = if rules.lenient { X::read_leniently(cursor)? } else { X::read(cursor)? };
            if symmetry != Symmetry::General && i <= j {
                x = not_below(symmetry, (i, j), x, start, at)?;
                if i < j {
                    (i, j) = (j, i);
                    // Capacity is reserved, and the size of a piece keeps the count within 32 bits.
                    block.above.push(block.rows.len() as u32);
                }
            }
            // Only values of `pattern` take no bytes.
            if rules.lenient && X::MIN_BYTES == 0 {
                skip_numbers(cursor);
            }
            cursor.end_line()?;
            block.rows.push(I::cast(i));
            block.cols.push(I::cast(j));
            block.values.push(x);
        } else {
            let x = if rules.lenient { X::read_leniently(cursor)? } else { X::read(cursor)? };
            cursor.end_line()?;
            block.values.push(x);
        }
    }
    Ok(())
}

/// Skips a real or a complex number.
fn skip_numbers(cursor: &mut Cursor<'_>) {
    for _ in 0..2 {
        cursor.skip_blanks();
        let mut ahead = cursor.clone();
        if f64::read(&mut ahead).is_ok() {
            *cursor = ahead;
        }
    }
}

/// Checks of the file as a whole, piece by piece in order.
pub(super) struct InOrder<'a> {
    header: &'a Header,
    /// The comment character among entries.
    comment: Option<u8>,
    /// Number of entries in the pieces so far.
    before: usize,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(rules: &'a Rules) -> Self {
        Self { header: &rules.header, comment: rules.comment(), before: 0 }
    }
    /// The entries of the next piece, or its first error.
    pub(super) fn take(&mut self, piece: &[u8], parsed: Parsed) -> Result<Block, Bad> {
        let entry = |wanted| {
            let mut cursor = Cursor { text: piece, at: 0 };
            cursor.skip_entries(wanted, self.comment);
            cursor.at
        };
        let Parsed { block, bad } = parsed;
        if let Some((i, e)) = first_not_real(self.header, self.before, &block.values) {
            return Err(not_real(i, entry(e)));
        }
        let (after, stored) = (self.before + block.len(), self.header.stored);
        if after > stored || (after == stored && bad.is_some()) {
            let at = entry(stored - self.before);
            let found = quoted(piece, at);
            return Err(Bad::new(at, format!("the size line declares {stored} entries, found {found} after the last")));
        }
        match bad {
            Some(bad) => Err(bad),
            None => {
                self.before = after;
                Ok(block)
            }
        }
    }
    /// Checks the number of entries after the last piece, which ended at `end`.
    pub(super) fn finish(&self, end: usize) -> Result<(), Bad> {
        let (before, stored) = (self.before, self.header.stored);
        if before == stored {
            return Ok(());
        }
        Err(Bad::new(end, format!("the size line declares {stored} entries, the file ends after {before}")))
    }
}

/// Converts a one-based index to a zero-based one below `bound`.
#[inline(always)]
fn index(cursor: &mut Cursor<'_>, axis: &str, bound: usize) -> Result<usize, Bad> {
    let start = cursor.at;
    match cursor.digits() {
        // 0 wraps to the largest number, which exceeds every bound.
        Ok(n) if n.wrapping_sub(1) < bound as u64 => Ok(n.wrapping_sub(1) as usize),
        wrong => Err(wrong_index(cursor.text, start, axis, bound, wrong)),
    }
}

#[cold]
fn wrong_index(text: &[u8], at: usize, axis: &str, bound: usize, digits: Result<u64, bool>) -> Bad {
    let found = quoted(text, at);
    Bad::new(
        at,
        match digits {
            Ok(0) => format!("{axis} index 0: Matrix Market counts from 1"),
            Err(false) if text.get(at) == Some(&b'%') => {
                "comments end at the size line, expected an entry; read it leniently (--lenient) to leave them out"
                    .to_owned()
            }
            Err(false) => format!("expected the {axis} index, found {found}"),
            Ok(_) | Err(true) => format!("{axis} index {found} is beyond the {bound} {axis}s of the size line"),
        },
    )
}

/// Mirrors the value x of (i, j), on or above the diagonal, in a file that stores one triangle.
#[inline(never)]
fn not_below<X: Scalar>(
    symmetry: Symmetry,
    (i, j): (usize, usize),
    x: X,
    at: usize,
    value_at: usize,
) -> Result<X, Bad> {
    let (row, column) = (i + 1, j + 1);
    if i < j {
        return x.mirrored(symmetry).ok_or_else(|| {
            let message =
                format!("entry ({row}, {column}) is above the diagonal, and its negative does not fit its type");
            Bad::new(value_at, message)
        });
    }
    if symmetry == Symmetry::SkewSymmetric && !x.is_zero() {
        let message =
            format!("entry ({row}, {column}) is not 0: the diagonal of a {symmetry} matrix is, and need not be stored");
        return Err(Bad::new(at, message));
    }
    if symmetry == Symmetry::Hermitian && !x.is_real() {
        return Err(not_real(i, value_at));
    }
    Ok(x)
}

/// The error that the diagonal entry (i, i) of a Hermitian matrix has an imaginary part.
#[cold]
fn not_real(i: usize, at: usize) -> Bad {
    let i = i + 1;
    Bad::new(at, format!("entry ({i}, {i}) has an imaginary part: the diagonal of a hermitian matrix is real"))
}

/// The first diagonal element of a Hermitian array with an imaginary part: its row, and its position in `values`, which
/// are the elements of the file after the first `before`.
pub(super) fn first_not_real(header: &Header, before: usize, values: &Values) -> Option<(usize, usize)> {
    let Values::Complex(values) = values else { return None };
    if (header.layout, header.symmetry) != (Layout::Array, Symmetry::Hermitian) {
        return None;
    }
    // Column i starts at the diagonal and has nrows − i elements.
    let mut at = 0;
    for i in 0..header.nrows {
        if at >= before {
            match values.get(at - before) {
                None => return None,
                Some(x) if !x.is_real() => return Some((i, at - before)),
                Some(_) => {}
            }
        }
        at += header.nrows - i;
    }
    None
}

/// Assigns row and column indices to the elements of an array.
fn assign_indices(header: &Header, blocks: &mut [Block], threads: &Threads) -> Result<()> {
    let Header { nrows, symmetry, .. } = *header;
    let first_row = move |j: usize| match symmetry {
        Symmetry::General => 0,
        Symmetry::Symmetric | Symmetry::Hermitian => j,
        Symmetry::SkewSymmetric => j + 1,
    };
    // (i, j) is the start of the next block; it is within the array because the counts match.
    let (mut i, mut j) = (first_row(0), 0);
    let mut jobs = Vec::with_capacity(blocks.len());
    for block in blocks {
        let mut n = block.len();
        jobs.push((block, i, j));
        while n > 0 {
            let step = n.min(nrows - i);
            n -= step;
            i += step;
            if i == nrows {
                j += 1;
                i = first_row(j).min(nrows);
            }
        }
    }
    for_each_part(
        threads,
        jobs,
        || Ok(()),
        |(), (block, mut i, mut j)| {
            let n = block.len();
            with_indices!(&mut block.indices, indices => {
                indices.rows = reserved(n, "row indices")?;
                indices.cols = reserved(n, "column indices")?;
                for _ in 0..n {
                    indices.rows.push(Index::cast(i));
                    indices.cols.push(Index::cast(j));
                    i += 1;
                    if i == nrows {
                        j += 1;
                        i = first_row(j);
                    }
                }
            });
            Ok(())
        },
    )
}
