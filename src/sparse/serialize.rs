//! Binary serialization of matrices and vectors (`GrB_Matrix_serialize`); input is validated.
//!
//! [`Csr::serialize`] and [`Vector::serialize`] document the format. The columns of a row may be in any order. Bitmap
//! and full matrices are written as rows: the reader chooses the storage form by the entries.

use std::io::{Read, Write};
use std::sync::Arc;

use super::framed::{In, Kind, Out};
use super::hyper::check_stored;
use super::hyper_form::LEAST;
use crate::algebra::{Array, Slice, Type, Value};
use crate::{Csr, Error, Index, Pattern, Result, Vector};

const MATRIX: Kind = Kind { magic: b"SPARRMAT", version: 1, name: "a matrix" };
const VECTOR: Kind = Kind { magic: b"SPARRVEC", version: 1, name: "a vector" };
/// Size in bytes of the type name field.
const NAME: usize = 16;

/// The error for values that are structs.
fn structs(ty: Type) -> Error {
    Error::Unsupported { what: format!("serialized values of {ty}"), why: "they are numbers".into() }
}

/// Writes the header of a file with values of this type.
fn begin<'a>(to: &'a mut dyn Write, kind: Kind, ty: Type, width: usize, form: bool) -> Result<Out<'a>> {
    if matches!(ty, Type::Struct(_)) {
        return Err(structs(ty));
    }
    let mut out = Out::new(to, kind, [width as u8, u8::from(form), 0, 0])?;
    let mut name = [0; NAME];
    name[..ty.name().len()].copy_from_slice(ty.name().as_bytes());
    out.bytes(&name)?;
    Ok(out)
}

/// Reads the header: the value type, bytes per index, and the form.
fn head<'a>(from: &'a mut dyn Read, kind: Kind) -> Result<(In<'a>, Type, usize, bool)> {
    let (mut file, [width, form, zero, null]) = In::new(from, kind)?;
    if !matches!(width, 4 | 8) {
        return Err(kind.wrong(12, format!("indices of {width} bytes, not 4 or 8")));
    }
    if form > 1 || zero != 0 || null != 0 {
        return Err(kind.wrong(13, format!("form {form}, {zero}, {null}; known are 0 and 1, with two zeros behind it")));
    }
    let mut name = [0; NAME];
    file.bytes(&mut name, "type of the values")?;
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(NAME);
    let found = std::str::from_utf8(&name[..end]).ok().filter(|_| name[end..].iter().all(|&byte| byte == 0));
    let ty = found.and_then(|name| name.parse().ok());
    let said = || String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
    let ty = ty.ok_or_else(|| kind.wrong(16, format!("values of the type {:?}, which is none of numbers", said())))?;
    Ok((file, ty, width.into(), form == 1))
}

/// `count` indices below `bound`.
fn indices<I: Index>(file: &mut In<'_>, kind: Kind, width: usize, (count, bound): (usize, usize)) -> Result<Vec<I>> {
    file.numbers(width, count as u64, "indices", |at, x| {
        let index = usize::try_from(x).ok().filter(|&x| x < bound).and_then(I::new);
        index.ok_or_else(|| kind.wrong(at, format!("an index is {x}, of a dimension of {bound}")))
    })
}

/// Indices as numbers.
fn numbers<I: Index>(of: &[I]) -> impl Iterator<Item = u64> + '_ {
    of.iter().map(|i| i.get() as u64)
}

/// The content of a serialized matrix: all rows, or the stored rows and their indices.
#[derive(Debug)]
pub(crate) struct SerializedMatrix<I: Index> {
    nrows: usize,
    stored: Option<Vec<I>>,
    pattern: Pattern<I>,
    pub(crate) values: Array,
}

impl<I: Index> SerializedMatrix<I> {
    fn write<'a>(
        to: &mut dyn Write,
        (nrows, stored): (usize, Option<&[I]>),
        pattern: &Pattern<I>,
        values: Slice<'a>,
    ) -> Result<()> {
        let width = size_of::<I>();
        let mut out = begin(to, MATRIX, values.ty(), width, stored.is_some())?;
        for size in [nrows, pattern.ncols(), pattern.nnz()] {
            out.number(size as u64)?;
        }
        if let Some(rows) = stored {
            out.number(rows.len() as u64)?;
            out.numbers(8, &mut numbers(rows))?;
        }
        out.numbers(8, &mut pattern.row_ptr().iter().map(|&p| p as u64))?;
        out.numbers(width, &mut numbers(pattern.col_idx()))?;
        out.values(values)?;
        out.finish()
    }
    /// Reads a matrix, up to and including the checksum.
    pub(crate) fn read(from: &mut dyn Read) -> Result<Self> {
        let (mut file, ty, width, is_stored) = head(from, MATRIX)?;
        let (nrows, ncols) = (file.size("number of rows")?, file.size("number of columns")?);
        let nnz = file.size("number of entries")?;
        let rows = if is_stored { file.size("number of stored rows")? } else { nrows };
        if rows > nrows {
            return Err(file.wrong(8, format!("{rows} stored rows, of {nrows}")));
        }
        let stored = if is_stored { Some(indices(&mut file, MATRIX, 8, (rows, nrows))?) } else { None };
        let pointers = (rows as u64).saturating_add(1);
        let row_ptr = file.numbers(8, pointers, "row pointers", |at, x| {
            let pointer = usize::try_from(x).ok().filter(|&x| x <= nnz);
            pointer.ok_or_else(|| MATRIX.wrong(at, format!("a row pointer is {x}, there are {nnz} entries")))
        })?;
        let columns: Vec<I> = indices(&mut file, MATRIX, width, (nnz, ncols))?;
        let values = file.values(ty, nnz, nnz)?;
        file.finish()?;
        let pattern = Pattern::from_unsorted(rows, ncols, row_ptr, columns)?;
        if let Some(stored) = &stored {
            check_stored(nrows, stored, pattern.nrows())?;
        }
        Ok(Self { nrows, stored, pattern, values })
    }
    /// A matrix without entries; `values` is empty and gives the type.
    /// # Errors
    /// Those of [`Csr::empty`].
    pub(crate) fn empty(values: Array, nrows: usize, ncols: usize) -> Result<Self> {
        let is_hyper = nrows >= LEAST;
        let pattern = Pattern::empty(if is_hyper { 0 } else { nrows }, ncols)?;
        Ok(Self { nrows, stored: is_hyper.then(Vec::new), pattern, values })
    }
    /// The matrix, if its values are of type `T`.
    /// # Errors
    /// [`Error::Argument`] with both types otherwise; [`Error::OutOfMemory`].
    pub(crate) fn typed<T: Value>(self) -> Result<Csr<T, I>> {
        let values = self.values.into_vec::<T>().map_err(|values| other_type(values.ty(), T::TYPE))?;
        let rows = Csr::with_pattern(self.pattern.into(), values)?;
        match self.stored {
            None => Ok(rows),
            Some(stored) => rows.labelled(self.nrows, Arc::new(stored)),
        }
    }
}

fn other_type(found: Type, asked: Type) -> Error {
    Error::Argument { name: "from", message: format!("its values are {found}, requested as {asked}") }
}

/// The content of a serialized vector: a list of indices, or none for a full vector.
#[derive(Debug)]
pub(crate) struct SerializedVector<I: Index> {
    len: usize,
    indices: Option<Vec<I>>,
    pub(crate) values: Array,
}

impl<I: Index> SerializedVector<I> {
    fn write(to: &mut dyn Write, len: usize, indices: Option<&[I]>, values: Slice<'_>) -> Result<()> {
        let width = size_of::<I>();
        let mut out = begin(to, VECTOR, values.ty(), width, indices.is_none())?;
        out.number(len as u64)?;
        out.number(values.len() as u64)?;
        if let Some(indices) = indices {
            out.numbers(width, &mut numbers(indices))?;
        }
        out.values(values)?;
        out.finish()
    }
    /// Reads a vector, up to and including the checksum.
    pub(crate) fn read(from: &mut dyn Read) -> Result<Self> {
        let (mut file, ty, width, is_full) = head(from, VECTOR)?;
        let (len, nvals) = (file.size("length")?, file.size("number of entries")?);
        if nvals > len || is_full && nvals < len {
            return Err(file.wrong(8, format!("{nvals} entries, of length {len}")));
        }
        let indices = if is_full { None } else { Some(indices(&mut file, VECTOR, width, (nvals, len))?) };
        let values = file.values(ty, nvals, if is_full { 0 } else { nvals })?;
        file.finish()?;
        Ok(Self { len, indices, values })
    }
    /// The vector, if its values are of type `T`.
    /// # Errors
    /// [`Error::Argument`] with both types otherwise; those of [`Vector::new`].
    pub(crate) fn typed<T: Value>(self) -> Result<Vector<T, I>> {
        let values = self.values.into_vec::<T>().map_err(|values| other_type(values.ty(), T::TYPE))?;
        match self.indices {
            None => Vector::full(values),
            Some(indices) => Vector::new(self.len, indices, values),
        }
    }
}

impl<T: Value, I: Index> Csr<T, I> {
    /// Writes the matrix in a binary format that later versions can read (`GrB_Matrix_serialize`).
    ///
    /// All numbers are little-endian; floats are IEEE bits, a complex number is its two parts, a bool is a byte 0 or 1.
    ///
    /// | bytes | content |
    /// | --- | --- |
    /// | 8 | `SPARRMAT` |
    /// | 4 | version: 1 |
    /// | 4 | one byte each: bytes per column index (4, 8); form: 0 all rows, 1 stored rows; 0; 0 |
    /// | 16 | name of the value type, such as `f64`, padded with zeros |
    /// | 8, 8, 8 | rows m, columns, entries |
    /// | 8, 8 × r | form 1: number r of stored rows, and their indices, increasing; in form 0, r = m |
    /// | 8 × (r + 1) | row pointers |
    /// | bytes per column index × entries | column indices, in any order within a row |
    /// | bytes per value × entries | values |
    /// | 8 | checksum: 64-bit FNV-1a of all preceding bytes |
    ///
    /// Cost: O(rows + entries), for a hypersparse matrix O(entries); no additional memory.
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<f64>::new(2, 3, vec![0, 1, 2], vec![2, 0], vec![5.0, 6.0])?;
    /// let mut bytes = vec![];
    /// a.serialize(&mut bytes)?;
    /// assert_eq!(Csr::<f64>::deserialize(&mut &bytes[..])?, a);
    /// bytes[90] ^= 1;
    /// assert!(Csr::<f64>::deserialize(&mut &bytes[..]).is_err());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Unsupported`] for struct values; [`Error::Io`]; [`Error::OutOfMemory`] for forms other than rows.
    pub fn serialize(&self, to: &mut dyn Write) -> Result<()> {
        let here = self.settled()?;
        if let Some(hyper) = here.as_hyper() {
            let rows = hyper.rows();
            return SerializedMatrix::write(
                to,
                (self.nrows(), Some(hyper.labels())),
                &rows.pattern,
                Slice::of(&rows.values),
            );
        }
        let here = here.compressed()?;
        SerializedMatrix::write(to, (here.nrows(), None), here.pattern(), Slice::of(here.values()))
    }
    /// Reads a matrix written by [`serialize`](Self::serialize), and no byte beyond it. Column indices of 4 and of 8
    /// bytes are both read as `I`.
    ///
    /// Cost: O(rows + entries), for a hypersparse matrix O(entries). Memory is allocated as bytes arrive.
    /// # Errors
    /// [`Error::Parse`] with the byte position for truncated or corrupt input, another version or another file kind;
    /// [`Error::Argument`] for values of another type; those of [`Csr::from_unsorted`]; [`Error::Io`],
    /// [`Error::OutOfMemory`].
    pub fn deserialize(from: &mut dyn Read) -> Result<Self> {
        SerializedMatrix::read(from)?.typed()
    }
}

impl<T: Value, I: Index> Vector<T, I> {
    /// Writes the vector in a binary format that later versions can read (`GrB_Vector_serialize`). Numbers are encoded
    /// as by [`Csr::serialize`].
    ///
    /// | bytes | content |
    /// | --- | --- |
    /// | 8 | `SPARRVEC` |
    /// | 4 | version: 1 |
    /// | 4 | one byte each: bytes per index (4, 8); form: 0 a list, 1 a full vector; 0; 0 |
    /// | 16 | name of the value type, padded with zeros |
    /// | 8, 8 | length, entries |
    /// | bytes per index × entries | form 0: indices, increasing |
    /// | bytes per value × entries | values |
    /// | 8 | checksum: 64-bit FNV-1a of all preceding bytes |
    ///
    /// Cost: O(entries), for a bitmap O(length).
    /// # Errors
    /// Those of [`Csr::serialize`].
    pub fn serialize(&self, to: &mut dyn Write) -> Result<()> {
        if let Some(values) = self.as_full() {
            return SerializedVector::<I>::write(to, self.len(), None, Slice::of(values));
        }
        let list = self.to_sparse()?;
        SerializedVector::write(to, self.len(), Some(list.indices()), Slice::of(list.values()))
    }
    /// Reads a vector written by [`serialize`](Self::serialize), and no byte beyond it.
    /// # Errors
    /// Those of [`Csr::deserialize`] and [`Vector::new`].
    pub fn deserialize(from: &mut dyn Read) -> Result<Self> {
        SerializedVector::read(from)?.typed()
    }
}
