//! The Matrix Market writer: threads format rows, which are written in order.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use super::banner::{Field, Layout, Symmetry};
use super::options::WriteOptions;
use super::texts::{Texts, Values, with_texts};
use super::value::MarketValue;
use crate::algebra::Slice;
use crate::io::text::{LONGEST_VALUE, PART, Stop, comment_lines, in_order, to_file};
use crate::par::try_split;
use crate::{Csr, Error, Index, Pattern, Result};

/// Writes a matrix as a Matrix Market coordinate file, compressed if `path` ends in `.gz` or `.zst` (feature `zstd`).
///
/// Reading the file as `T` restores the entries bit for bit, except for NaN payloads. Floats are written as `real`, in
/// the shortest form that reads back exactly; integers as `integer`, or `unsigned-integer` if a value exceeds i64;
/// `bool` as `pattern`, or `integer` (0 and 1) if a stored value is false; complex numbers as `complex`.
/// ```no_run
/// use sparring::{Csr, io::{WriteOptions, write_matrix_market}};
/// let a = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![0.5, 0.5])?;
/// write_matrix_market("a.mtx.gz", &a, &WriteOptions::new().symmetric().comment("two by two"))?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// [`Error::Io`], which leaves an existing file untouched ([`write_file`](crate::io::write_file)); [`Error::Argument`]
/// if a symmetric file is requested and the matrix is not symmetric.
pub fn write_matrix_market<T: MarketValue, I: Index>(
    path: impl AsRef<Path>,
    a: &Csr<T, I>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    to_file(path.as_ref(), &mut |out| coordinate(out, a.pattern(), &Values(a.values()), options))
}

/// Writes a matrix as Matrix Market coordinate text to `out`.
/// # Errors
/// As [`write_matrix_market`]; the path of [`Error::Io`] is `output`.
pub fn write_matrix_market_to<T: MarketValue, I: Index>(
    out: &mut impl Write,
    a: &Csr<T, I>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    coordinate(out, a.pattern(), &Values(a.values()), options).map_err(|e| e.with_path("output"))
}

/// [`write_matrix_market`] for a matrix whose value type is known at run time.
/// ```no_run
/// use sparring::io::{WriteOptions, read_matrix_market, write_matrix_market_any};
/// let (pattern, values) = read_matrix_market("a.mtx")?.any()?;
/// write_matrix_market_any("b.mtx.gz", &pattern, values.slice(), &WriteOptions::new())?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// As [`write_matrix_market`]; [`Error::Length`] if there is not one value per entry; [`Error::Unsupported`] for
/// structs.
pub fn write_matrix_market_any<I: Index>(
    path: impl AsRef<Path>,
    pattern: &Pattern<I>,
    values: Slice<'_>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    with_texts(values, |values| {
        one_per_entry(pattern, values)?;
        to_file(path.as_ref(), &mut |out| coordinate(out, pattern, values, options))
    })
}

/// [`write_matrix_market_to`] for a matrix whose value type is known at run time.
/// # Errors
/// As [`write_matrix_market_any`]; the path of [`Error::Io`] is `output`.
pub fn write_matrix_market_any_to<I: Index>(
    out: &mut impl Write,
    pattern: &Pattern<I>,
    values: Slice<'_>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    with_texts(values, |values| {
        one_per_entry(pattern, values)?;
        coordinate(out, pattern, values, options).map_err(|e| e.with_path("output"))
    })
}

fn one_per_entry<I: Index>(pattern: &Pattern<I>, values: &dyn Texts) -> Result<()> {
    let (found, expected) = (values.len(), pattern.nnz());
    if found == expected { Ok(()) } else { Err(Error::Length { what: "values", found, expected }) }
}

/// Writes every element of an nrows × ncols matrix, given in column-major order, as a Matrix Market array file.
///
/// Fields are those of [`write_matrix_market`], `bool` as `integer`.
/// # Errors
/// [`Error::Length`] if there are not nrows · ncols elements; [`Error::Argument`] if the options request a
/// symmetric file or the pattern only; [`Error::Io`].
pub fn write_matrix_market_array<T: MarketValue>(
    path: impl AsRef<Path>,
    nrows: usize,
    ncols: usize,
    columns: &[T],
    options: &WriteOptions<'_>,
) -> Result<()> {
    let expected = elements(nrows, ncols, options)?;
    if columns.len() != expected {
        return Err(Error::Length { what: ELEMENTS, found: columns.len(), expected });
    }
    to_file(path.as_ref(), &mut |out| {
        let columns = Values(columns);
        start(out, Layout::Array, field_of_array(&columns), Symmetry::General, options.comment)?;
        writeln!(out, "{nrows} {ncols}")?;
        array(out, &columns, options)
    })
}

/// Streams an nrows × ncols matrix into a Matrix Market array file: `columns` receives a function that takes the next
/// elements, in column-major order, in chunks of any size. Only one chunk is in memory at a time.
///
/// The field is that of [`write_matrix_market_array`], fixed before the first element: `u64` is written as `integer`.
/// ```no_run
/// use sparring::io::{WriteOptions, write_matrix_market_columns};
/// // The 1000 × 1000 matrix of i·j.
/// write_matrix_market_columns("products.mtx", 1000, 1000, &WriteOptions::new(), |write| {
///     (0..1000).try_for_each(|j| write(&Vec::from_iter((0..1000).map(|i| f64::from(i * j)))))
/// })?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// Those of `columns`, and of [`write_matrix_market_array`]; [`Error::Argument`] if a value does not fit the field.
pub fn write_matrix_market_columns<T: MarketValue>(
    path: impl AsRef<Path>,
    nrows: usize,
    ncols: usize,
    options: &WriteOptions<'_>,
    columns: impl FnOnce(&mut dyn FnMut(&[T]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    elements(nrows, ncols, options)?;
    let path = path.as_ref();
    let name = path.display().to_string();
    // The body is called only once.
    let mut columns = Some(columns);
    to_file(path, &mut |out| {
        columns.take().map_or(Ok(()), |columns| in_columns(out, &name, nrows, ncols, options, columns))
    })
}

/// [`write_matrix_market_columns`] to `out`.
/// # Errors
/// As [`write_matrix_market_columns`]; the path of [`Error::Io`] is `output`.
pub fn write_matrix_market_columns_to<T: MarketValue>(
    out: &mut dyn Write,
    nrows: usize,
    ncols: usize,
    options: &WriteOptions<'_>,
    columns: impl FnOnce(&mut dyn FnMut(&[T]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    in_columns(out, "output", nrows, ncols, options, columns).map_err(|e| e.with_path("output"))
}

fn in_columns<T: MarketValue>(
    out: &mut dyn Write,
    name: &str,
    nrows: usize,
    ncols: usize,
    options: &WriteOptions<'_>,
    columns: impl FnOnce(&mut dyn FnMut(&[T]) -> Result<()>) -> Result<()>,
) -> Result<(), Stop> {
    let expected = elements(nrows, ncols, options).map_err(Stop::Other)?;
    let (field, mut found) = (field_of_array(&Values::<T>(&[])), 0usize);
    start(out, Layout::Array, field, Symmetry::General, options.comment)?;
    writeln!(out, "{nrows} {ncols}")?;
    columns(&mut |piece| {
        found = found.saturating_add(piece.len());
        if found > expected {
            return Err(Error::Length { what: ELEMENTS, found, expected });
        }
        let piece = Values(piece);
        if field_of_array(&piece) != field {
            let message = format!("a value does not fit the field {}, in which the file began", field.name());
            return Err(Error::Argument { name: "columns", message });
        }
        array(out, &piece, options).map_err(|e| e.with_path(name))
    })
    .map_err(Stop::Other)?;
    if found < expected {
        return Err(Stop::Other(Error::Length { what: ELEMENTS, found, expected }));
    }
    Ok(())
}

const ELEMENTS: &str = "elements of an array";

/// Number of elements of an array file; an error if the options are not applicable.
fn elements(nrows: usize, ncols: usize, options: &WriteOptions<'_>) -> Result<usize> {
    if options.symmetric || options.pattern_only {
        let message = "an array file is written with all its elements".to_owned();
        return Err(Error::Argument { name: "options", message });
    }
    nrows.checked_mul(ncols).ok_or(Error::IndexOverflow {
        what: ELEMENTS,
        needed: nrows as u128 * ncols as u128,
        max: usize::MAX as u128,
    })
}

fn field_of_array(values: &dyn Texts) -> Field {
    match values.field() {
        Field::Pattern => Field::Integer,
        field => field,
    }
}

/// Writes elements, one per line.
fn array(out: &mut dyn Write, elements: &dyn Texts, options: &WriteOptions<'_>) -> Result<(), Stop> {
    let n = elements.len();
    let parts = try_split(n, n / PART + 1, |e| e as u64).map_err(Stop::Other)?;
    in_order(out, options.threads, parts, &|part| part.len() * (LONGEST_VALUE + 1), &|part, text| {
        for e in part {
            elements.write(e, text);
            text.push(b'\n');
        }
    })
}

fn start(out: &mut dyn Write, layout: Layout, field: Field, symmetry: Symmetry, comment: &str) -> Result<(), Stop> {
    writeln!(out, "%%MatrixMarket matrix {layout} {field} {symmetry}")?;
    Ok(comment_lines(out, "%", comment)?)
}

fn coordinate<I: Index>(
    out: &mut dyn Write,
    pattern: &Pattern<I>,
    values: &dyn Texts,
    options: &WriteOptions<'_>,
) -> Result<(), Stop> {
    let field = if options.pattern_only { Field::Pattern } else { values.field() };
    let values = (field != Field::Pattern).then_some(values);
    let (symmetry, stored) = if options.symmetric {
        (Symmetry::Symmetric, lower_triangle(pattern, values)?)
    } else {
        (Symmetry::General, pattern.nnz())
    };
    start(out, Layout::Coordinate, field, symmetry, options.comment)?;
    writeln!(out, "{} {} {stored}", pattern.nrows(), pattern.ncols())?;
    let row_ptr = pattern.row_ptr();
    let parts = try_split(pattern.nrows(), pattern.nnz() / PART + 1, |i| row_ptr[i] as u64).map_err(Stop::Other)?;
    let digits = |n: usize| n.max(1).ilog10() as usize + 1;
    let value = if values.is_some() { LONGEST_VALUE + 1 } else { 0 };
    let line = digits(pattern.nrows()) + digits(pattern.ncols()) + value + 2;
    let room = |rows: &Range<usize>| (row_ptr[rows.end] - row_ptr[rows.start]).saturating_mul(line);
    in_order(out, options.threads, parts, &room, &|rows, text| {
        let mut digits = itoa::Buffer::new();
        for i in rows {
            let row = digits.format(i + 1).as_bytes();
            let mut digits = itoa::Buffer::new();
            for (e, j) in (row_ptr[i]..).zip(pattern.row(i).iter().map(|j| j.get())) {
                if options.symmetric && j > i {
                    continue;
                }
                text.extend_from_slice(row);
                text.push(b' ');
                text.extend_from_slice(digits.format(j + 1).as_bytes());
                if let Some(values) = values {
                    text.push(b' ');
                    values.write(e, text);
                }
                text.push(b'\n');
            }
        }
    })
}

fn asymmetric(message: String) -> Stop {
    Stop::Other(Error::Argument { name: "symmetric", message })
}

/// Number of entries on and below the diagonal, after a check that the matrix, or the pattern without values, is
/// symmetric.
fn lower_triangle<I: Index>(pattern: &Pattern<I>, values: Option<&dyn Texts>) -> Result<usize, Stop> {
    if pattern.nrows() != pattern.ncols() {
        return Err(asymmetric(format!("the matrix is {}×{}", pattern.nrows(), pattern.ncols())));
    }
    let text = |e: Option<usize>| {
        let mut text = Vec::new();
        match (e, values) {
            (Some(e), Some(values)) => values.write(e, &mut text),
            (Some(_), None) => {}
            (None, _) => text.extend_from_slice(b"absent"),
        }
        text
    };
    let mut lower = 0;
    for i in 0..pattern.nrows() {
        for (e, j) in (pattern.row_ptr()[i]..).zip(pattern.row(i).iter().map(|j| j.get())) {
            lower += usize::from(j <= i);
            // Compares text, not values: 0 and −0 differ, and NaN equals itself.
            let (one, other) = (text(Some(e)), text(pattern.find(j, i)));
            if one != other {
                let [one, other] = [one, other].map(|t| String::from_utf8_lossy(&t).into_owned());
                let one = if values.is_some() { &one } else { "there" };
                return Err(asymmetric(format!("entry ({i}, {j}) is {one}, entry ({j}, {i}) is {other}")));
            }
        }
    }
    Ok(lower)
}
