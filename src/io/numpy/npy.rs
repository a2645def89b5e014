//! Reader of `.npy` files, as an array or as a matrix.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::array::{MAGIC, NpyArray, Raw, broken};
use super::element::{Element, with_kind};
use super::options::NumpyOptions;
use crate::algebra::Array;
use crate::io::labeled::{LabeledMatrix, check_shape};
use crate::io::text::{binary_from, binary_of, unpacked};
use crate::par::reserved;
use crate::{Pattern, Result};

/// Reads an array of two dimensions, or of one as a column, compressed by gzip or not, as a matrix; zeros are not
/// stored as entries.
/// # Errors
/// [`Error::Io`](crate::Error::Io); [`Error::Unsupported`](crate::Error::Unsupported) if the file is no such array;
/// [`Error::Budget`](crate::Error::Budget) for a file larger than [`NumpyOptions::max_bytes`];
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn read_npy_with(path: impl AsRef<Path>, options: &NumpyOptions<'_>) -> Result<LabeledMatrix> {
    let (name, bytes) = binary_of(path.as_ref(), &options.limits())?;
    parse_npy_with(&bytes, &name, options)
}

/// [`read_npy_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_npy_with`].
pub fn read_npy_from(from: &mut dyn Read, name: &str, options: &NumpyOptions<'_>) -> Result<LabeledMatrix> {
    parse_npy_with(&binary_from(from, name, &options.limits())?, name, options)
}

/// [`read_npy_with`] from the bytes of a file; `name` appears in errors.
/// ```
/// use sparring::Csr;
/// use sparring::io::{NumpyOptions, parse_npy_with, write_npy_to};
/// let a = Csr::<i16>::new(2, 3, vec![0, 1, 2], vec![2, 0], vec![5, -1])?;
/// let mut file = Vec::new();
/// write_npy_to(&mut file, a.pattern(), sparring::algebra::Slice::of(a.values()))?;
/// assert_eq!(parse_npy_with(&file, "example", &NumpyOptions::new())?.csr::<i16>()?, a);
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// As [`read_npy_with`].
pub fn parse_npy_with(bytes: &[u8], name: &str, options: &NumpyOptions<'_>) -> Result<LabeledMatrix> {
    let bytes = unpacked(bytes, name, &options.limits(), &check)?;
    matrix(&Raw::parse(name, &bytes)?)
}

/// Reads an array of any shape, compressed by gzip or not.
/// # Errors
/// As [`read_npy_with`].
pub fn read_npy_array_with(path: impl AsRef<Path>, options: &NumpyOptions<'_>) -> Result<NpyArray> {
    let (name, bytes) = binary_of(path.as_ref(), &options.limits())?;
    parse_npy_array_with(&bytes, &name, options)
}

/// [`read_npy_array_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_npy_array_with`].
pub fn read_npy_array_from(from: &mut dyn Read, name: &str, options: &NumpyOptions<'_>) -> Result<NpyArray> {
    parse_npy_array_with(&binary_from(from, name, &options.limits())?, name, options)
}

/// [`read_npy_array_with`] from the bytes of a file; `name` appears in errors.
/// # Errors
/// As [`read_npy_array_with`].
pub fn parse_npy_array_with(bytes: &[u8], name: &str, options: &NumpyOptions<'_>) -> Result<NpyArray> {
    let bytes = unpacked(bytes, name, &options.limits(), &check)?;
    Raw::parse(name, &bytes)?.into_array()
}

/// Checks the first bytes, before more is decompressed.
fn check(first: &[u8]) -> Option<&'static str> {
    (!first.starts_with(MAGIC)).then_some("it is no array of NumPy, or its header is damaged")
}

fn matrix(array: &Raw<'_>) -> Result<LabeledMatrix> {
    let shape = match array.shape[..] {
        [n] => (n, 1),
        [n, m] => (n, m),
        _ => return Err(broken(array.name, format!("an array of {} dimensions is no matrix", array.shape.len()))),
    };
    check_shape(shape.0, shape.1)?;
    with_kind!(array.kind, T => sparse::<T>(array, shape), Err(array.unknown_kind("its elements")))
}

/// The matrix of the elements whose bytes are not all 0; −0 is therefore an entry.
fn sparse<T: Element>(array: &Raw<'_>, (nrows, ncols): (usize, usize)) -> Result<LabeledMatrix> {
    array.count(size_of::<T>())?;
    let size = size_of::<T>();
    let is_entry = |bytes: &[u8]| bytes.iter().any(|&b| b != 0);
    let nnz = array.elements.chunks_exact(size).filter(|bytes| is_entry(bytes)).count();
    let mut row_ptr = reserved(nrows.saturating_add(1), "row pointers")?;
    let (mut cols, mut values) = (reserved(nnz, "column indices")?, reserved::<T>(nnz, "values")?);
    row_ptr.push(0);
    for i in 0..nrows {
        for j in 0..ncols {
            let e = if array.fortran_order { j * nrows + i } else { i * ncols + j };
            let bytes = &array.elements[e * size..][..size];
            if is_entry(bytes) {
                cols.push(j as u32);
                values.push(array.element::<T>(bytes));
            }
        }
        row_ptr.push(cols.len());
    }
    let pattern = Pattern::from_parts(nrows, ncols, row_ptr, cols, true);
    Ok(LabeledMatrix::new(Arc::new(pattern), Array::of(values)))
}
