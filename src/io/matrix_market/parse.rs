//! From text to blocks of entries: what the text comes in is the business of a [`Source`].

use super::assemble::{Entries, Fields, Indices, MatrixFile, Places};
use super::banner::{Field, Layout, Symmetry};
use super::header::Header;
use super::scalar::Scalar;
use super::text::{Bad, Cursor, count_line_ends, quoted};
use crate::par::{Threads, reserved};
use crate::sparse::for_each_part;
use crate::{Error, Index, Result};

/// Where the entries behind a header come from, as blocks in the order of the file; `stored` of them in all.
pub(super) trait Source {
    type Error: From<Error>;
    fn blocks<I: Index, X: Scalar>(self) -> Result<Vec<Block<I, X>>, Self::Error>;
}

/// Consecutive entries, indices from 0.
#[derive(Debug)]
pub(super) struct Block<I, X> {
    pub(super) rows: Vec<I>,
    pub(super) cols: Vec<I>,
    pub(super) values: Vec<X>,
}

/// The file of `header` with the entries of `source`, in the types that the header calls for.
pub(super) fn parse_body<S: Source>(header: Header, threads: &Threads, source: S) -> Result<MatrixFile, S::Error> {
    let entries = match header.field {
        Field::Real => entries(Fields::Real, header, threads, source),
        Field::Integer => entries(Fields::Integer, header, threads, source),
        Field::Unsigned => entries(Fields::Unsigned, header, threads, source),
        Field::Pattern => entries(Fields::Pattern, header, threads, source),
        Field::Complex => entries(Fields::Complex, header, threads, source),
    }?;
    Ok(MatrixFile { header, entries })
}

fn entries<X: Scalar, S: Source>(
    fields: fn(Vec<Vec<X>>) -> Fields,
    header: Header,
    threads: &Threads,
    source: S,
) -> Result<Entries, S::Error> {
    type Blocks<I, X> = (Vec<Indices<I>>, Vec<Vec<X>>);
    fn placed<I: Index, X: Scalar, S: Source>(
        header: Header,
        threads: &Threads,
        source: S,
    ) -> Result<Blocks<I, X>, S::Error> {
        let mut blocks = source.blocks()?;
        if header.layout == Layout::Array {
            place(&header, &mut blocks, threads)?;
        }
        Ok(blocks.into_iter().map(|Block { rows, cols, values }| (Indices { rows, cols }, values)).unzip())
    }
    let narrow = header.nrows.max(header.ncols) <= u32::MAX_LEN;
    let (places, values) = if narrow {
        let (places, values) = placed(header, threads, source)?;
        (Places::Narrow(places), values)
    } else {
        let (places, values) = placed(header, threads, source)?;
        (Places::Wide(places), values)
    };
    Ok(Entries { places, values: fields(values) })
}

/// The entries of a piece, up to what is wrong in it.
pub(super) struct Parsed<I, X> {
    pub(super) block: Block<I, X>,
    pub(super) bad: Option<Bad>,
}

pub(super) fn parse_piece<I: Index, X: Scalar>(text: &[u8], header: &Header) -> Result<Parsed<I, X>> {
    // One entry a line, and a line has a smallest length: no count of the header is believed.
    let coordinate = header.layout == Layout::Coordinate;
    let shortest_line = if coordinate { "1 1\n".len() + X::MIN_BYTES } else { X::MIN_BYTES };
    let most = (count_line_ends(text) + 1).min((text.len() + 1) / shortest_line.max(1));
    let indices = if coordinate { most } else { 0 };
    let mut block = Block {
        rows: reserved(indices, "row indices")?,
        cols: reserved(indices, "column indices")?,
        values: reserved(most, "values")?,
    };
    let bad = parse_lines(&mut Cursor { text, at: 0 }, header, &mut block).err();
    Ok(Parsed { block, bad })
}

#[inline(always)]
fn parse_lines<I: Index, X: Scalar>(
    cursor: &mut Cursor<'_>,
    header: &Header,
    block: &mut Block<I, X>,
) -> Result<(), Bad> {
    let Header { nrows, ncols, symmetry, layout, .. } = *header;
    while cursor.at < cursor.text.len() {
        cursor.skip_blanks();
        if let Some(n) = cursor.line_end() {
            cursor.at += n;
            continue;
        }
        if layout == Layout::Coordinate {
            let start = cursor.at;
            let i = index(cursor, "row", nrows)?;
            cursor.skip_blanks();
            let j = index(cursor, "column", ncols)?;
            if symmetry != Symmetry::General && i <= j {
                not_lower(symmetry, i, j, start)?;
            }
            cursor.skip_blanks();
            let at = cursor.at;
            let x = X::read(cursor)?;
            if symmetry == Symmetry::Hermitian && i == j && !x.is_real() {
                return Err(not_real(i, at));
            }
            cursor.end_line()?;
            block.rows.push(I::cast(i));
            block.cols.push(I::cast(j));
            block.values.push(x);
        } else {
            let x = X::read(cursor)?;
            cursor.end_line()?;
            block.values.push(x);
        }
    }
    Ok(())
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
            Err(false) if text.get(at) == Some(&b'%') => "comments end at the size line, expected an entry".to_owned(),
            Err(false) => format!("expected the {axis} index, found {found}"),
            Ok(_) | Err(true) => format!("{axis} index {found} is beyond the {bound} {axis}s of the size line"),
        },
    )
}

/// Whether (i, j), on or above the diagonal, may stand in a file that stores the lower triangle.
#[inline(never)]
fn not_lower(symmetry: Symmetry, i: usize, j: usize, at: usize) -> Result<(), Bad> {
    let (row, column) = (i + 1, j + 1);
    if i < j {
        let message =
            format!("entry ({row}, {column}) is above the diagonal: a {symmetry} file stores the lower triangle");
        return Err(Bad::new(at, message));
    }
    if symmetry == Symmetry::SkewSymmetric {
        let message = format!("entry ({row}, {column}) is on the diagonal, which a {symmetry} file does not store");
        return Err(Bad::new(at, message));
    }
    Ok(())
}

/// The error that the entry (i, i) of a Hermitian matrix, which is its own conjugate, has an imaginary part.
#[cold]
pub(super) fn not_real(i: usize, at: usize) -> Bad {
    let i = i + 1;
    Bad::new(at, format!("entry ({i}, {i}) has an imaginary part: the diagonal of a hermitian matrix is real"))
}

/// The first element of the diagonal of a Hermitian array that has an imaginary part: its row, and its position among
/// `values`, which are the elements of the file behind the first `before`.
pub(super) fn first_not_real<X: Scalar>(header: &Header, before: usize, values: &[X]) -> Option<(usize, usize)> {
    if (header.layout, header.field, header.symmetry) != (Layout::Array, Field::Complex, Symmetry::Hermitian) {
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
fn place<I: Index, X: Scalar>(header: &Header, blocks: &mut [Block<I, X>], threads: &Threads) -> Result<()> {
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
        let mut n = block.values.len();
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
    let place = |(block, mut i, mut j): (&mut Block<I, X>, usize, usize)| -> Result<()> {
        let n = block.values.len();
        block.rows = reserved(n, "row indices")?;
        block.cols = reserved(n, "column indices")?;
        for _ in 0..n {
            block.rows.push(I::cast(i));
            block.cols.push(I::cast(j));
            i += 1;
            if i == nrows {
                j += 1;
                i = first_row(j);
            }
        }
        Ok(())
    };
    for_each_part(threads, jobs, || Ok(()), |(), job| place(job))
}
