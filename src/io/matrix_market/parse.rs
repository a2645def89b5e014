//! From text to blocks of entries: what the text comes in is the business of a [`Source`].
//!
//! Pieces of text are parsed in any order, each up to what is wrong in it; [`InOrder`] then says what is wrong in the
//! file.

use super::assemble::{Entries, MatrixFile};
use super::banner::{Field, Layout, Symmetry};
use super::block::{Block, Indices, Places, Values, with_places};
use super::header::Header;
use super::order::Order;
use super::scalar::Scalar;
use super::triangle::settle;
use crate::io::text::{Bad, Cursor, count_line_ends, long_line, quoted};
use crate::par::{Threads, for_each_part, reserved};
use crate::{Error, Index, Result};

/// Where the entries behind a header come from, as blocks in the order of the file; `stored` of them in all.
pub(super) trait Source {
    type Error: From<Error>;
    fn blocks(&self) -> Result<Vec<Block>, Self::Error>;
    /// The error `message` at the entry of this number, from 0.
    fn at_entry(&self, number: usize, message: String) -> Self::Error;
}

/// That something is wrong; another reading finds out what.
pub(super) struct Wrong;
impl From<Error> for Wrong {
    fn from(_: Error) -> Self {
        Self
    }
}

/// How pieces are read.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) header: Header,
    pub(super) lenient: bool,
}

impl Rules {
    /// What begins a comment among the entries, if these are read leniently.
    pub(super) fn comment(&self) -> Option<u8> {
        self.lenient.then_some(b'%')
    }
}

/// The file of `header` with the entries of `source`, in the types that the header calls for.
pub(super) fn parse_body<S: Source>(
    name: &str,
    Rules { header, lenient }: Rules,
    threads: &Threads,
    source: &S,
) -> Result<MatrixFile, S::Error> {
    let mut blocks = source.blocks()?;
    if header.layout == Layout::Array {
        place(&header, &mut blocks, threads)?;
    }
    settle(&mut blocks, header.symmetry, lenient)?.map_err(|(number, message)| source.at_entry(number, message))?;
    Ok(MatrixFile { header, entries: Entries { field: header.field, blocks }, name: name.to_owned() })
}

/// A file of integers: in i64, else all in u64, where negating would leave it.
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

/// Of two readings that both ended early, the error of the one that came further: the first thing in the file that
/// belongs to no integer type which holds what is before it.
fn further(one: Error, other: Error) -> Error {
    let place = |e: &Error| match e {
        Error::Parse { line, column, .. } => (*line, *column),
        _ => (0, 0),
    };
    if place(&other) > place(&one) { other } else { one }
}

/// The entries of a piece, up to what is wrong in it.
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
        piece(Places::Narrow, values, text, rules)
    } else {
        piece(Places::Wide, values, text, rules)
    }
}

fn piece<I: Index, X: Scalar>(
    places: fn(Indices<I>) -> Places,
    values: fn(Vec<X>) -> Values,
    text: &[u8],
    rules: &Rules,
) -> Result<Parsed> {
    // One entry a line, and a line has a smallest length: no count of the header is believed.
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
        // Untouched in files that keep to the format.
        above: reserved(above, "entries above the diagonal")?,
    };
    let long = long_line(text);
    let text = long.as_ref().map_or(text, |bad| &text[..bad.at]);
    let bad = parse_lines(&mut Cursor { text, at: 0 }, rules, &mut lines).err().or(long);
    let Lines { rows, cols, values: list, above } = lines;
    // While it is in the cache.
    let order = if coordinate { Order::of(&rows, &cols) } else { Order::default() };
    let above = if above.is_empty() { Vec::new() } else { above };
    Ok(Parsed { block: Block { places: places(Indices { rows, cols, order }), values: values(list), above }, bad })
}

/// What lines say; see [`Block`].
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
                    // There is room for all, and pieces are not as long as to have more than 32 bits count.
                    block.above.push(block.rows.len() as u32);
                }
            }
            // `pattern` alone takes no bytes.
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

/// Steps over a real or a complex number.
fn skip_numbers(cursor: &mut Cursor<'_>) {
    for _ in 0..2 {
        cursor.skip_blanks();
        let mut ahead = cursor.clone();
        if f64::read(&mut ahead).is_ok() {
            *cursor = ahead;
        }
    }
}

/// What the pieces of a file make together, looked at in their order.
pub(super) struct InOrder<'a> {
    header: &'a Header,
    /// What begins a comment among the entries.
    comment: Option<u8>,
    /// Entries in the pieces so far.
    before: usize,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(rules: &'a Rules) -> Self {
        Self { header: &rules.header, comment: rules.comment(), before: 0 }
    }
    /// The entries of the next piece, or the first thing in it that is wrong.
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
    /// Whether all entries were there when the last piece ended, at `end`.
    pub(super) fn finish(&self, end: usize) -> Result<(), Bad> {
        let (before, stored) = (self.before, self.header.stored);
        if before == stored {
            return Ok(());
        }
        Err(Bad::new(end, format!("the size line declares {stored} entries, the file ends after {before}")))
    }
}

/// An index of the file, from 1, as one from 0 below `bound`.
#[inline(always)]
fn index(cursor: &mut Cursor<'_>, axis: &str, bound: usize) -> Result<usize, Bad> {
    let start = cursor.at;
    match cursor.digits() {
        // 0 wraps to the largest number, which no bound allows.
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

/// The value x of (i, j), on or above the diagonal, in a file that stores one triangle: what stands on the other side.
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

/// The error that the entry (i, i) of a Hermitian matrix, which is its own conjugate, has an imaginary part.
#[cold]
fn not_real(i: usize, at: usize) -> Bad {
    let i = i + 1;
    Bad::new(at, format!("entry ({i}, {i}) has an imaginary part: the diagonal of a hermitian matrix is real"))
}

/// The first element of the diagonal of a Hermitian array that has an imaginary part: its row, and its position among
/// `values`, which are the elements of the file behind the first `before`.
pub(super) fn first_not_real(header: &Header, before: usize, values: &Values) -> Option<(usize, usize)> {
    let Values::Complex(values) = values else { return None };
    if (header.layout, header.symmetry) != (Layout::Array, Symmetry::Hermitian) {
        return None;
    }
    // Column i begins with its diagonal and has nrows − i elements.
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

/// Gives the elements of an array their rows and columns.
fn place(header: &Header, blocks: &mut [Block], threads: &Threads) -> Result<()> {
    let Header { nrows, symmetry, .. } = *header;
    let first_row = move |j: usize| match symmetry {
        Symmetry::General => 0,
        Symmetry::Symmetric | Symmetry::Hermitian => j,
        Symmetry::SkewSymmetric => j + 1,
    };
    // (i, j) is where the next block begins; there is room for it because counts have been compared.
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
            with_places!(&mut block.places, places => {
                places.rows = reserved(n, "row indices")?;
                places.cols = reserved(n, "column indices")?;
                for _ in 0..n {
                    places.rows.push(Index::cast(i));
                    places.cols.push(Index::cast(j));
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
