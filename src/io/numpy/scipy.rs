//! Reader of SciPy sparse matrices: an archive with arrays for format, shape, values and indices.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::array::{Raw, broken};
use super::element::{Element, with_kind};
use super::options::NumpyOptions;
use super::zip::{Archive, LOCAL};
use crate::algebra::Array;
use crate::io::labeled::{LabeledMatrix, check_shape};
use crate::io::text::{binary_from, binary_of, push, unpacked};
use crate::par::{Threads, collected, filled, reserved};
use crate::sparse::sums::summed;
use crate::{Coo, Index, Pattern, Result};

/// Reads a SciPy sparse matrix (`scipy.sparse.save_npz`) of any format that it writes; duplicates are summed.
/// # Errors
/// [`Error::Io`](crate::Error::Io); [`Error::Unsupported`](crate::Error::Unsupported) if the file is no such matrix;
/// [`Error::Budget`](crate::Error::Budget) if decompressed arrays exceed [`NumpyOptions::max_bytes`];
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn read_npz_with(path: impl AsRef<Path>, options: &NumpyOptions<'_>) -> Result<LabeledMatrix> {
    let (name, bytes) = binary_of(path.as_ref(), &options.limits())?;
    parse_npz_with(&bytes, &name, options)
}

/// [`read_npz_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_npz_with`].
pub fn read_npz_from(from: &mut dyn Read, name: &str, options: &NumpyOptions<'_>) -> Result<LabeledMatrix> {
    parse_npz_with(&binary_from(from, name, &options.limits())?, name, options)
}

/// [`read_npz_with`] from the bytes of a file; `name` appears in errors.
/// ```
/// use sparring::Csr;
/// use sparring::algebra::Slice;
/// use sparring::io::{NumpyOptions, parse_npz_with, write_npz_to};
/// let a = Csr::<f32>::new(2, 3, vec![0, 1, 2], vec![2, 0], vec![0.5, -1.0])?;
/// let mut file = Vec::new();
/// write_npz_to(&mut file, a.pattern(), Slice::of(a.values()))?;
/// assert_eq!(parse_npz_with(&file, "example", &NumpyOptions::new())?.csr::<f32>()?, a);
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// As [`read_npz_with`].
pub fn parse_npz_with(bytes: &[u8], name: &str, options: &NumpyOptions<'_>) -> Result<LabeledMatrix> {
    let wrong = |first: &[u8]| (!first.starts_with(LOCAL)).then_some("it is no zip archive, as a matrix of SciPy is");
    let bytes = unpacked(bytes, name, &options.limits(), &wrong)?;
    let here = Threads::current();
    let threads = options.common.threads.unwrap_or(&here);
    let archive = Archive::open(name, &bytes, options.common.max_bytes)?;
    Source { name, archive, threads }.matrix()
}

/// An archive expected to contain a sparse matrix.
struct Source<'a> {
    name: &'a str,
    archive: Archive<'a>,
    threads: &'a Threads,
}

/// The indices of entries, and how they map to the array of values.
enum Layout {
    /// A sorted pattern, for the first elements.
    Rows(Pattern),
    /// Row and column indices, for the first elements.
    Indices(Vec<u32>, Vec<u32>),
    /// Row and column indices with the positions of their elements; with the flag, zeros are dropped.
    Positions(Vec<u32>, Vec<u32>, Vec<usize>, bool),
}

impl<'a> Source<'a> {
    fn broken(&self, why: impl Into<String>) -> crate::Error {
        broken(self.name, why)
    }
    fn find(&mut self, of: &str) -> Result<Option<Cow<'a, [u8]>>> {
        self.archive.find(&format!("{of}.npy"))
    }
    fn member(&mut self, of: &str) -> Result<Cow<'a, [u8]>> {
        let found = self.find(of)?;
        found.ok_or_else(|| self.broken(format!("it has no {of}, as a sparse matrix of SciPy has")))
    }
    /// The array `of` as integers.
    fn integers(&mut self, of: &str) -> Result<Vec<i64>> {
        let bytes = self.member(of)?;
        Raw::parse(self.name, &bytes)?.integers()
    }
    /// Converts numbers to indices, after a check that they are below `bound`.
    fn indices(&self, list: &[i64], bound: usize) -> Result<Vec<u32>> {
        if let Some(wrong) = list.iter().find(|&&i| i < 0 || i as u64 >= bound as u64) {
            return Err(self.broken(format!("its index {wrong} is not from 0 below {bound}")));
        }
        collected(list.len(), list.iter().map(|&i| i as u32), "indices")
    }

    fn matrix(mut self) -> Result<LabeledMatrix> {
        let format = self.member("format")?;
        let format = Raw::parse(self.name, &format)?.word();
        let shape = self.integers("shape")?;
        let shape = match shape[..] {
            [n, m] if n >= 0 && m >= 0 => (n as usize, m as usize),
            _ => return Err(self.broken(format!("its shape {shape:?} is not that of a matrix"))),
        };
        check_shape(shape.0, shape.1)?;
        let data = self.member("data")?;
        let data = Raw::parse(self.name, &data)?;
        let size = with_kind!(data.kind, T => size_of::<T>(), return Err(data.unknown_kind("its values")));
        data.count(size)?;
        let found = match format.as_deref() {
            Some("csr") => self.compressed(shape, &data, true),
            Some("csc") => self.compressed(shape, &data, false),
            Some("coo") => self.coordinates(shape, &data),
            Some("bsr") => self.blocks(shape, &data),
            Some("dia") => self.diagonals(shape, &data),
            _ => {
                let format = format.as_deref().unwrap_or("that it gives");
                Err(self.broken(format!("matrices of the format {format} are not read; save it as CSR")))
            }
        }?;
        with_kind!(data.kind, T => self.valued::<T>(shape, &data, found), Err(data.unknown_kind("its values")))
    }

    /// The pointers of `lines` rows or columns, and `len` minor indices, of which a tail may be unused.
    fn ends(&mut self, lines: usize, len: usize) -> Result<(Vec<usize>, Vec<i64>)> {
        let (ends, minor) = (self.integers("indptr")?, self.integers("indices")?);
        let right = lines.checked_add(1) == Some(ends.len())
            && ends.first() == Some(&0)
            && ends.is_sorted()
            && minor.len() == len
            && ends.last().is_some_and(|&last| last as u64 <= len as u64);
        if !right {
            return Err(self.broken("its row pointers do not fit its shape and entries"));
        }
        Ok((collected(ends.len(), ends.iter().map(|&p| p as usize), "row pointers")?, minor))
    }

    /// CSR or CSC.
    fn compressed(&mut self, shape: (usize, usize), data: &Raw<'_>, by_rows: bool) -> Result<Layout> {
        let (lines, across) = if by_rows { shape } else { (shape.1, shape.0) };
        let (ends, minor) = self.ends(lines, data.len())?;
        // Allocated space after the last entry belongs to no row.
        let nnz = ends[lines];
        let minor = self.indices(&minor[..nnz], across)?;
        let sorted = |line: &[usize]| minor[line[0]..line[1]].windows(2).all(|pair| pair[0] < pair[1]);
        if by_rows && ends.windows(2).all(sorted) {
            return Ok(Layout::Rows(Pattern::from_parts(shape.0, shape.1, ends, minor, true)));
        }
        let mut major = filled(nnz, 0u32, "indices")?;
        for (line, ends) in ends.windows(2).enumerate() {
            major[ends[0]..ends[1]].fill(line as u32);
        }
        Ok(if by_rows { Layout::Indices(major, minor) } else { Layout::Indices(minor, major) })
    }

    /// COO, with two index lists or one array of both.
    fn coordinates(&mut self, shape: (usize, usize), data: &Raw<'_>) -> Result<Layout> {
        let n = data.len();
        let (rows, cols) = match self.find("coords")? {
            None => (self.integers("row")?, self.integers("col")?),
            Some(bytes) => {
                let coords = Raw::parse(self.name, &bytes)?;
                if coords.shape != [2, n] {
                    return Err(self.broken(format!("its coordinates are of the shape {:?}", coords.shape)));
                }
                let all = coords.integers()?;
                let part = |from: usize| {
                    let (start, step) = if coords.fortran_order { (from, 2) } else { (from * n, 1) };
                    collected(n, all[start.min(all.len())..].iter().copied().step_by(step), "indices")
                };
                (part(0)?, part(1)?)
            }
        };
        if rows.len() != n || cols.len() != n {
            let (i, j) = (rows.len(), cols.len());
            return Err(self.broken(format!("it has {i} rows, {j} columns and {n} values of entries")));
        }
        Ok(Layout::Indices(self.indices(&rows, shape.0)?, self.indices(&cols, shape.1)?))
    }

    /// BSR: dense blocks of equal shape. All elements of a block are entries, as in SciPy.
    fn blocks(&mut self, shape: (usize, usize), data: &Raw<'_>) -> Result<Layout> {
        let [blocks, r, c] = data.shape[..] else {
            return Err(self.broken(format!("its blocks are an array of the shape {:?}", data.shape)));
        };
        if r == 0 || c == 0 || !shape.0.is_multiple_of(r) || !shape.1.is_multiple_of(c) {
            return Err(self.broken(format!("blocks of {r}×{c} do not make a matrix of {}×{}", shape.0, shape.1)));
        }
        let (ends, minor) = self.ends(shape.0 / r, blocks)?;
        let used = ends[shape.0 / r];
        let minor = self.indices(&minor[..used], shape.1 / c)?;
        let nnz = used * r * c;
        let (mut rows, mut cols) = (reserved(nnz, "indices")?, reserved(nnz, "indices")?);
        let mut of = reserved(nnz, "elements of an array")?;
        for (line, ends) in ends.windows(2).enumerate() {
            for (b, &block) in (ends[0]..ends[1]).zip(&minor[ends[0]..ends[1]]) {
                for (i, j) in (0..r).flat_map(|i| (0..c).map(move |j| (i, j))) {
                    rows.push((line * r + i) as u32);
                    cols.push((block as usize * c + j) as u32);
                    of.push(if data.fortran_order { b + blocks * (i + r * j) } else { (b * r + i) * c + j });
                }
            }
        }
        Ok(Layout::Positions(rows, cols, of, false))
    }

    /// DIA: diagonals indexed by column. Zeros are dropped, as in SciPy.
    fn diagonals(&mut self, shape: (usize, usize), data: &Raw<'_>) -> Result<Layout> {
        let offsets = self.integers("offsets")?;
        let [diagonals, len] = data.shape[..] else {
            return Err(self.broken(format!("its diagonals are an array of the shape {:?}", data.shape)));
        };
        let mut sorted = collected(offsets.len(), offsets.iter().copied(), "diagonals")?;
        sorted.sort_unstable();
        if diagonals != offsets.len() || sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.broken("its offsets are not one for each of its diagonals"));
        }
        let (mut rows, mut cols, mut of) = (Vec::new(), Vec::new(), Vec::new());
        for (d, &offset) in offsets.iter().enumerate() {
            for j in 0..len.min(shape.1) {
                let i = (j as i64).checked_sub(offset).filter(|&i| i >= 0 && (i as u64) < shape.0 as u64);
                let Some(i) = i else { continue };
                push(&mut rows, i as u32, "indices")?;
                push(&mut cols, j as u32, "indices")?;
                push(
                    &mut of,
                    if data.fortran_order { d + diagonals * j } else { d * len + j },
                    "elements of an array",
                )?;
            }
        }
        Ok(Layout::Positions(rows, cols, of, true))
    }

    /// The matrix of the entries with their values; duplicates are summed.
    fn valued<T: Element>(
        &self,
        (nrows, ncols): (usize, usize),
        data: &Raw<'_>,
        found: Layout,
    ) -> Result<LabeledMatrix> {
        let element = |p: usize| data.element::<T>(&data.elements[p * size_of::<T>()..][..size_of::<T>()]);
        let first = |n: usize| collected(n, (0..n).map(element), "values");
        let (rows, cols, values) = match found {
            Layout::Rows(pattern) => {
                let values = first(pattern.nnz())?;
                return Ok(LabeledMatrix::new(Arc::new(pattern), Array::of(values)));
            }
            Layout::Indices(rows, cols) => {
                let values = first(rows.len())?;
                (rows, cols, values)
            }
            Layout::Positions(mut rows, mut cols, of, drops_zeros) => {
                let mut values: Vec<T> = collected(of.len(), of.into_iter().map(element), "values")?;
                if drops_zeros {
                    let is_entry = collected(values.len(), values.iter().map(|x| !x.is_zero()), "entries")?;
                    keep(&mut rows, &is_entry);
                    keep(&mut cols, &is_entry);
                    keep(&mut values, &is_entry);
                }
                (rows, cols, values)
            }
        };
        debug_assert!(rows.iter().all(|i| i.get() < nrows) && cols.iter().all(|j| j.get() < ncols));
        let coo = Coo::from_parts(nrows, ncols, rows, cols, values);
        let (pattern, values) = summed(self.threads, &coo, self.name, T::checked_repeated)?.into_parts();
        Ok(LabeledMatrix::new(pattern, Array::of(values)))
    }
}

/// Retains the flagged elements.
fn keep<T>(list: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    list.retain(|_| flags.next() == Some(&true));
}
