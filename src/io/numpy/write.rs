//! Writers of arrays and archives of arrays.

use std::io::Write;
use std::path::Path;

use super::array::{header, zero_row};
use super::element::{Element, with_values};
use super::zip_write::Writer;
use crate::algebra::Slice;
use crate::io::text::{Stop, to_file};
use crate::par::out_of_memory;
use crate::{Error, Index, Pattern, Result};

/// Elements converted to bytes at a time.
const PART: usize = 1 << 13;

/// Writes every element of a matrix as a two-dimensional array in C order, compressed if `path` ends in `.gz` or
/// `.zst` (feature `zstd`).
/// # Errors
/// [`Error::Io`]; [`Error::Length`] if there is not one value per entry; [`Error::Unsupported`] for structs and
/// unsorted rows; [`Error::OutOfMemory`].
pub fn write_npy<I: Index>(path: impl AsRef<Path>, pattern: &Pattern<I>, values: Slice<'_>) -> Result<()> {
    check(pattern, values)?;
    to_file(path.as_ref(), &mut |out| matrix(out, pattern, values))
}

/// [`write_npy`] to `out`.
/// # Errors
/// As [`write_npy`]; the path of [`Error::Io`] is `output`.
pub fn write_npy_to<I: Index>(out: &mut dyn Write, pattern: &Pattern<I>, values: Slice<'_>) -> Result<()> {
    check(pattern, values)?;
    matrix(out, pattern, values).map_err(|e| e.with_path("output"))
}

/// Writes elements, in their order, as an array of this shape; the first index varies fastest in Fortran order, the
/// last one otherwise.
/// # Errors
/// As [`write_npy_to`]; [`Error::Length`] if the number of elements does not match the shape.
pub fn write_npy_array_to(
    out: &mut dyn Write,
    shape: &[usize],
    fortran_order: bool,
    elements: Slice<'_>,
) -> Result<()> {
    array(out, shape, fortran_order, elements).map_err(|e| e.with_path("output"))
}

/// Streams an nrows × ncols array of f64: `columns` receives a function that takes the next elements, in column-major
/// order, in chunks of any size. Only one chunk is in memory at a time.
/// # Errors
/// Those of `columns`; [`Error::Length`] for a wrong number of elements; [`Error::Io`], whose path is `output`.
pub fn write_npy_columns_to(
    out: &mut dyn Write,
    nrows: usize,
    ncols: usize,
    columns: impl FnOnce(&mut dyn FnMut(&[f64]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let io = |source| Error::Io { path: "output".into(), source };
    let length = |found| Error::Length { what: "elements of an array", found, expected: nrows.saturating_mul(ncols) };
    let (mut found, mut bytes) = (0usize, Vec::new());
    out.write_all(&header(f64::KIND, true, &[nrows, ncols])).map_err(io)?;
    columns(&mut |elements| {
        found = found.saturating_add(elements.len());
        if nrows.checked_mul(ncols).is_none_or(|expected| found > expected) {
            return Err(length(found));
        }
        put(out, elements, &mut bytes).map_err(|e| e.with_path("output"))
    })?;
    if nrows.checked_mul(ncols) == Some(found) { Ok(()) } else { Err(length(found)) }
}

/// Writes a matrix as a SciPy CSR archive, readable by `scipy.sparse.load_npz`.
/// # Errors
/// As [`write_npy`].
pub fn write_npz<I: Index>(path: impl AsRef<Path>, pattern: &Pattern<I>, values: Slice<'_>) -> Result<()> {
    check(pattern, values)?;
    to_file(path.as_ref(), &mut |out| scipy(out, pattern, values))
}

/// [`write_npz`] to `out`.
/// # Errors
/// As [`write_npz`]; the path of [`Error::Io`] is `output`.
pub fn write_npz_to<I: Index>(out: &mut dyn Write, pattern: &Pattern<I>, values: Slice<'_>) -> Result<()> {
    check(pattern, values)?;
    scipy(out, pattern, values).map_err(|e| e.with_path("output"))
}

/// Writes named arrays as an archive readable by `numpy.load`. Each is given by name, shape and elements, the last
/// index varying fastest.
/// # Errors
/// As [`write_npy_array_to`].
pub fn write_npz_arrays_to(out: &mut dyn Write, arrays: &[(&str, &[usize], Slice<'_>)]) -> Result<()> {
    let write = |out: &mut dyn Write| -> Result<(), Stop> {
        let mut archive = Writer::new(out);
        for (name, shape, elements) in arrays {
            let bytes = elements.len() as u64 * elements.ty().size() as u64;
            archive.add(&format!("{name}.npy"), bytes, &mut |out| array(out, shape, false, *elements))?;
        }
        Ok(archive.finish()?)
    };
    write(out).map_err(|e| e.with_path("output"))
}

fn not_held(values: Slice<'_>) -> Error {
    Error::Unsupported { what: format!("{} in a file of NumPy", values.ty()), why: "it holds numbers".into() }
}

fn check<I: Index>(pattern: &Pattern<I>, values: Slice<'_>) -> Result<()> {
    let (found, expected) = (values.len(), pattern.nnz());
    if found != expected {
        return Err(Error::Length { what: "values", found, expected });
    }
    if !pattern.is_sorted() {
        return Err(Error::Unsupported {
            what: "a matrix in a file of NumPy".into(),
            why: "the columns of a row do not increase; sort the matrix first".into(),
        });
    }
    Ok(())
}

/// Writes elements in parts.
fn put<T: Element>(out: &mut dyn Write, elements: &[T], bytes: &mut Vec<u8>) -> Result<(), Stop> {
    each(out, elements.iter().copied(), bytes)
}

fn each<T: Element>(
    out: &mut dyn Write,
    mut elements: impl Iterator<Item = T>,
    bytes: &mut Vec<u8>,
) -> Result<(), Stop> {
    let most = PART * size_of::<T>();
    bytes.clear();
    bytes.try_reserve(most).map_err(|_| Stop::Other(out_of_memory::<u8>("bytes of an array", most)))?;
    loop {
        bytes.clear();
        elements.by_ref().take(PART).for_each(|x| x.push_bytes(bytes));
        if bytes.is_empty() {
            return Ok(());
        }
        out.write_all(bytes)?;
    }
}

fn array(out: &mut dyn Write, shape: &[usize], fortran_order: bool, elements: Slice<'_>) -> Result<(), Stop> {
    let expected = shape.iter().try_fold(1usize, |n, &len| n.checked_mul(len)).unwrap_or(usize::MAX);
    if elements.len() != expected {
        let found = elements.len();
        return Err(Stop::Other(Error::Length { what: "elements of an array", found, expected }));
    }
    with_values!(elements, x => listed(out, shape, fortran_order, x), Err(Stop::Other(not_held(elements))))
}

fn listed<T: Element>(out: &mut dyn Write, shape: &[usize], fortran_order: bool, x: &[T]) -> Result<(), Stop> {
    out.write_all(&header(T::KIND, fortran_order, shape))?;
    put(out, x, &mut Vec::new())
}

fn matrix<I: Index>(out: &mut dyn Write, pattern: &Pattern<I>, values: Slice<'_>) -> Result<(), Stop> {
    with_values!(values, x => rows(out, pattern, x), Err(Stop::Other(not_held(values))))
}

fn rows<T: Element, I: Index>(out: &mut dyn Write, pattern: &Pattern<I>, x: &[T]) -> Result<(), Stop> {
    let (n, m) = pattern.shape();
    let mut row = zero_row::<T>(m).map_err(Stop::Other)?;
    let mut bytes = Vec::new();
    out.write_all(&header(T::KIND, false, &[n, m]))?;
    for i in 0..n {
        row.fill(T::ZERO);
        for (j, &x) in pattern.row(i).iter().zip(&x[pattern.row_ptr()[i]..]) {
            row[j.get()] = x;
        }
        put(out, &row, &mut bytes)?;
    }
    Ok(())
}

fn scipy<I: Index>(out: &mut dyn Write, pattern: &Pattern<I>, values: Slice<'_>) -> Result<(), Stop> {
    let mut archive = Writer::new(out);
    let (nrows, ncols) = pattern.shape();
    let columns = || pattern.col_idx().iter().map(|j| j.get());
    let ends = || pattern.row_ptr().iter().copied();
    // Readers expect both index arrays to have the same type.
    if i32::try_from(pattern.nnz().max(ncols)).is_ok() {
        indices(&mut archive, "indices", columns().map(|j| j as i32))?;
        indices(&mut archive, "indptr", ends().map(|p| p as i32))?;
    } else {
        indices(&mut archive, "indices", columns().map(|j| j as i64))?;
        indices(&mut archive, "indptr", ends().map(|p| p as i64))?;
    }
    archive.add("format.npy", 0, &mut |out| Ok(out.write_all(&[&header("S3", false, &[])[..], b"csr"].concat())?))?;
    indices(&mut archive, "shape", [nrows as i64, ncols as i64].into_iter())?;
    let bytes = values.len() as u64 * values.ty().size() as u64;
    archive.add("data.npy", bytes, &mut |out| array(out, &[values.len()], false, values))?;
    Ok(archive.finish()?)
}

/// Writes a list of indices as a one-dimensional array.
fn indices<T: Element>(
    archive: &mut Writer<'_>,
    name: &str,
    mut list: impl ExactSizeIterator<Item = T>,
) -> Result<(), Stop> {
    let len = list.len();
    archive.add(&format!("{name}.npy"), (len * size_of::<T>()) as u64, &mut |out| {
        out.write_all(&header(T::KIND, false, &[len]))?;
        each(out, list.by_ref(), &mut Vec::new())
    })
}
