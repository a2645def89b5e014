//! Finding a matrix in a MAT-file.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use num_complex::Complex;

use super::build::{self, DENSE_COMPLEX, DENSE_INTEGERS, choose};
use super::elements::{COMPRESSED, Elements, MATRIX, inflated, reals, words};
use super::options::MatlabOptions;
use crate::io::labeled::{LabeledMatrix, check_shape};
use crate::io::matrix_market::MarketValue;
use crate::io::text::{binary_from, binary_of, check_size, push, unpacked};
use crate::par::{Threads, collected, filled};
use crate::{Error, Result};

/// Bytes before the first element.
const HEADER: usize = 128;
/// Types of the parts of a matrix.
const INT8: u32 = 1;
const INT32: u32 = 5;
const UINT32: u32 = 6;
/// Classes of arrays.
const STRUCT: u32 = 2;
const SPARSE: u32 = 5;
const DOUBLE: u32 = 6;
const SINGLE: u32 = 7;
const UINT8: u32 = 9;
/// Maximum nesting depth of structures.
const DEPTH: usize = 8;

/// Reads a sparse or dense matrix of a MAT-file: its only matrix, that of the SuiteSparse collection (`Problem.A`), or
/// [`MatlabOptions::variable`]. Files of version 7.3 (`save -v7.3`), which are HDF5, need the feature `hdf5`.
/// # Errors
/// [`Error::Io`]; [`Error::Unsupported`] if the file is no MAT-file, is damaged, or has no such matrix or several;
/// [`Error::Budget`] if the decompressed size exceeds [`MatlabOptions::max_bytes`]; [`Error::OutOfMemory`].
pub fn read_mat_with(path: impl AsRef<Path>, options: &MatlabOptions<'_>) -> Result<LabeledMatrix> {
    let (name, bytes) = binary_of(path.as_ref(), &options.limits())?;
    parse_mat_with(&bytes, &name, options)
}

/// [`read_mat_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_mat_with`].
pub fn read_mat_from(from: &mut dyn Read, name: &str, options: &MatlabOptions<'_>) -> Result<LabeledMatrix> {
    parse_mat_with(&binary_from(from, name, &options.limits())?, name, options)
}

/// [`read_mat_with`] from the bytes of a file; `name` appears in errors.
/// # Errors
/// As [`read_mat_with`].
pub fn parse_mat_with(bytes: &[u8], name: &str, options: &MatlabOptions<'_>) -> Result<LabeledMatrix> {
    let bytes = unpacked(bytes, name, &options.limits(), &other_kind)?;
    #[cfg(feature = "hdf5")]
    if is_hdf5(&bytes) {
        return super::hdf5::parse(&bytes, name, options);
    }
    let here = Threads::current();
    let threads = options.common.threads.unwrap_or(&here);
    let big_endian = bytes.get(126..HEADER) == Some(b"MI");
    let broken = |why: &str| Error::Unsupported { what: format!("the file {name}"), why: why.to_owned() };
    let damaged = || broken("it was cut or damaged");
    // Uncompressed variables are borrowed from the file.
    let mut contents: Vec<Cow<'_, [u8]>> = Vec::new();
    let (mut taken, most) = (0, options.common.max_bytes);
    let mut elements = Elements::new(&bytes, HEADER, big_endian);
    while let Some(element) = elements.next().map_err(broken)? {
        let content = match element.kind {
            MATRIX => Cow::Borrowed(element.bytes),
            COMPRESSED => {
                let unpacked = inflated(element.bytes, most.saturating_sub(taken))?.ok_or_else(damaged)?;
                taken += unpacked.len() as u64;
                check_size("a MAT-file", taken, most)?;
                Cow::Owned(unpacked)
            }
            _ => continue,
        };
        push(&mut contents, content, "variables of a MAT-file")?;
    }
    let mut file = File { name, big_endian, threads, variables: Vec::new() };
    for content in &contents {
        let matrix = match content {
            Cow::Borrowed(bytes) => *bytes,
            Cow::Owned(unpacked) => match Elements::new(unpacked, 0, big_endian).next().map_err(broken)? {
                Some(inner) if inner.kind == MATRIX => inner.bytes,
                _ => continue,
            },
        };
        file.look(matrix, None, 0).map_err(broken)?;
    }
    file.chosen(options.variable)
}

/// The reason why a file with these first bytes is not a MAT-file of version 5, if so.
fn other_kind(first: &[u8]) -> Option<&'static str> {
    if is_hdf5(first) {
        const OFF: &str =
            "it is a MAT-file of version 7.3, which is HDF5 and read with the feature hdf5 alone; save it with -v7";
        return (!cfg!(feature = "hdf5")).then_some(OFF);
    }
    let ends = matches!(first.get(126..HEADER), Some(b"IM" | b"MI"));
    (!ends).then_some("it is no MAT-file of version 5, 6 or 7")
}

/// Whether a file that begins with these bytes is one of version 7.3.
fn is_hdf5(first: &[u8]) -> bool {
    first.starts_with(b"MATLAB 7.3") || first.starts_with(b"\x89HDF")
}

/// A matrix: a variable, or a field of one.
struct Variable<'a> {
    name: String,
    header: Header,
    content: &'a [u8],
}

/// The header of an array.
struct Header {
    class: u32,
    complex: bool,
    logical: bool,
    dims: Vec<u32>,
    name: String,
    /// Offset of its elements.
    start: usize,
}

struct File<'a> {
    name: &'a str,
    big_endian: bool,
    threads: &'a Threads,
    variables: Vec<Variable<'a>>,
}

const WRONG: &str = "a matrix is not built as it should be";

impl<'a> File<'a> {
    fn broken(&self, why: impl Into<String>) -> Error {
        Error::Unsupported { what: format!("the file {}", self.name), why: why.into() }
    }

    /// Parses flags, dimensions and name.
    fn header(&self, content: &[u8]) -> Result<Header, &'static str> {
        let mut elements = Elements::new(content, 0, self.big_endian);
        let flags = words(elements.take(UINT32)?.bytes, self.big_endian).next().ok_or(WRONG)?;
        let dims = words(elements.take(INT32)?.bytes, self.big_endian).take(64).collect();
        let name = String::from_utf8_lossy(elements.take(INT8)?.bytes).trim_end_matches('\0').to_owned();
        let (class, start) = (flags & 0xff, elements.at);
        Ok(Header { class, complex: flags >> 11 & 1 == 1, logical: flags >> 9 & 1 == 1, dims, name, start })
    }

    /// Records the matrices in an array: the array itself, or the fields of a 1×1 structure.
    fn look(&mut self, content: &'a [u8], within: Option<&str>, depth: usize) -> Result<(), &'static str> {
        // A field without a value.
        if content.is_empty() {
            return Ok(());
        }
        let header = self.header(content)?;
        let name = within.map_or_else(|| header.name.clone(), str::to_owned);
        let dense = matches!(header.class, DOUBLE | SINGLE | UINT8) && header.dims.len() == 2;
        if header.class == SPARSE || dense {
            self.variables.push(Variable { name, header, content });
            return Ok(());
        }
        if header.class != STRUCT || header.dims.iter().any(|&n| n != 1) || depth == DEPTH {
            return Ok(());
        }
        let mut elements = Elements::new(content, header.start, self.big_endian);
        let len = words(elements.take(INT32)?.bytes, self.big_endian).next().filter(|&n| n > 0).ok_or(WRONG)?;
        for field in elements.take(INT8)?.bytes.chunks(len as usize) {
            let field = String::from_utf8_lossy(field);
            let field = field.split('\0').next().unwrap_or_default();
            let inner = elements.take(MATRIX)?.bytes;
            self.look(inner, Some(&format!("{name}.{field}")), depth + 1)?;
        }
        Ok(())
    }

    /// The matrix of this name, or the default one.
    fn chosen(self, wanted: Option<&str>) -> Result<LabeledMatrix> {
        let names: Vec<_> = self.variables.iter().map(|v| (&*v.name, v.header.class == SPARSE)).collect();
        let found = &self.variables[choose(&names, wanted).map_err(|why| self.broken(why))?];
        if found.header.class == SPARSE { self.sparse(found) } else { self.dense(found) }
    }

    fn shape(&self, found: &Variable<'_>) -> Result<(usize, usize)> {
        let &[n, m] = &found.header.dims[..] else {
            return Err(self.broken(format!("{} has {} dimensions", found.name, found.header.dims.len())));
        };
        let shape = (n as usize, m as usize);
        check_shape(shape.0, shape.1)?;
        Ok(shape)
    }

    /// Reads a sparse array, stored as CSC.
    fn sparse(&self, found: &Variable<'_>) -> Result<LabeledMatrix> {
        let (nrows, ncols) = self.shape(found)?;
        let wrong = |why| self.broken(format!("{}: {why}", found.name));
        let mut elements = Elements::new(found.content, found.header.start, self.big_endian);
        let rows = words(elements.take(INT32).map_err(wrong)?.bytes, self.big_endian);
        let ends = words(elements.take(INT32).map_err(wrong)?.bytes, self.big_endian);
        let nnz = ends.clone().last().unwrap_or(0) as usize;
        let increasing = ends.clone().zip(ends.clone().skip(1)).all(|(a, b)| a <= b);
        if ends.len() != ncols + 1 || ends.clone().next() != Some(0) || !increasing || nnz > rows.len() {
            return Err(wrong("its column pointers do not fit its shape and entries"));
        }
        // Allocated space after the last entry belongs to no column.
        if let Some(row) = rows.clone().take(nnz).find(|&i| i as usize >= nrows) {
            return Err(self.broken(format!("{}: row {row} is not below {nrows}", found.name)));
        }
        let rows = collected(nnz, rows.take(nnz), "indices")?;
        let mut cols = filled(nnz, 0u32, "indices")?;
        let mut start = 0;
        for (j, end) in ends.skip(1).enumerate() {
            cols[start..end as usize].fill(j as u32);
            start = end as usize;
        }
        let mut part = || -> Result<Vec<f64>> {
            let element = elements.next().map_err(wrong)?.ok_or_else(|| wrong(WRONG))?;
            let mut values = reals(element, self.big_endian)?;
            if values.len() < nnz {
                return Err(wrong("it has fewer values than entries"));
            }
            values.truncate(nnz);
            Ok(values)
        };
        let real = part()?;
        let places = (rows, cols);
        if found.header.complex {
            let imaginary = part()?;
            let values = real.iter().zip(&imaginary).map(|(&re, &im)| Complex::new(re, im));
            self.compress((nrows, ncols), places, collected(nnz, values, "values")?)
        } else if found.header.logical {
            let values = collected(nnz, real.iter().map(|&x| x != 0.0), "values")?;
            self.compress((nrows, ncols), places, values)
        } else {
            self.compress((nrows, ncols), places, real)
        }
    }

    /// Reads a dense array, in column-major order; zeros are not stored, −0 is an entry.
    fn dense(&self, found: &Variable<'_>) -> Result<LabeledMatrix> {
        let shape = self.shape(found)?;
        let wrong = |why| self.broken(format!("{}: {why}", found.name));
        if found.header.complex {
            return Err(wrong(DENSE_COMPLEX));
        }
        if found.header.class == UINT8 && !found.header.logical {
            return Err(wrong(DENSE_INTEGERS));
        }
        let mut elements = Elements::new(found.content, found.header.start, self.big_endian);
        let element = elements.next().map_err(wrong)?.ok_or_else(|| wrong(WRONG))?;
        let values = reals(element, self.big_endian)?;
        if shape.0.checked_mul(shape.1) != Some(values.len()) {
            return Err(wrong("its elements do not fit its shape"));
        }
        let elements = match found.header.class {
            SINGLE => build::Elements::F32,
            UINT8 => build::Elements::Bool,
            _ => build::Elements::F64,
        };
        build::of_columns(self.threads, self.name, shape, &values, elements)
    }

    fn compress<T: MarketValue>(
        &self,
        shape: (usize, usize),
        places: (Vec<u32>, Vec<u32>),
        values: Vec<T>,
    ) -> Result<LabeledMatrix> {
        build::compress(self.threads, self.name, shape, places, values)
    }
}
