//! Blocks of matrices and pieces of vectors as bytes, and joined of those.

use std::ops::Range;
use std::sync::Arc;

use sparring::algebra::Type;
use sparring::runtime::engine::{bytes_of, full_values, values_of};
use sparring::runtime::{Machine, Matrix, Vector};
use sparring::{Error, Pattern, Result};

/// The error of bytes that no rank sends.
pub(crate) fn broken() -> Error {
    Error::Device { what: "cluster".into(), message: "a message is shorter than it says".into() }
}

/// Bytes being read from their beginning.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or_else(broken)?;
        self.0 = rest;
        Ok(taken)
    }
    pub(crate) fn word(&mut self) -> Result<usize> {
        let bytes = self.take(8)?.try_into().map_err(|_| broken())?;
        Ok(u64::from_le_bytes(bytes) as usize)
    }
    pub(crate) fn indices(&mut self, n: usize) -> Result<impl Iterator<Item = u32> + use<'a>> {
        let bytes = self.take(n.checked_mul(4).ok_or_else(broken)?)?;
        Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])))
    }
}

pub(crate) fn put_word(to: &mut Vec<u8>, x: usize) {
    to.extend_from_slice(&(x as u64).to_le_bytes());
}
pub(crate) fn put_indices(to: &mut Vec<u8>, x: impl Iterator<Item = u32>) {
    x.for_each(|x| to.extend_from_slice(&x.to_le_bytes()));
}
/// A buffer with room for so many bytes.
pub(crate) fn buffer(bytes: usize) -> Result<Vec<u8>> {
    reserved(bytes, "a message")
}
/// An empty vector with room for so many values.
pub(crate) fn reserved<T>(n: usize, what: &'static str) -> Result<Vec<T>> {
    let mut buffer = Vec::new();
    let bytes = n as u128 * size_of::<T>() as u128;
    buffer.try_reserve_exact(n).map_err(|_| Error::OutOfMemory { bytes, what })?;
    Ok(buffer)
}

/// A matrix as bytes: rows, columns and entries, lengths of rows, columns, values.
pub(crate) fn matrix_bytes(a: &Matrix) -> Result<Vec<u8>> {
    let here = a.download()?;
    let (pattern, values) = (here.pattern().ok_or_else(broken)?, here.values().ok_or_else(broken)?);
    let (m, n) = pattern.shape();
    let mut to = buffer(24 + 4 * m + 4 * pattern.nnz() + values.len() * values.ty().size())?;
    [m, n, pattern.nnz()].iter().for_each(|&x| put_word(&mut to, x));
    put_indices(&mut to, pattern.row_ptr().windows(2).map(|w| (w[1] - w[0]) as u32));
    put_indices(&mut to, pattern.col_idx().iter().copied());
    to.extend_from_slice(&bytes_of(values)?);
    Ok(to)
}

/// The matrix of these bytes, in the processor's memory.
pub(crate) fn matrix_of(ty: Type, bytes: &[u8]) -> Result<Matrix> {
    let mut from = Bytes(bytes);
    let (m, n, nnz) = (from.word()?, from.word()?, from.word()?);
    let mut row_ptr = reserved(m + 1, "row pointers")?;
    row_ptr.push(0);
    let mut end = 0;
    row_ptr.extend(from.indices(m)?.map(|len| {
        end += len as usize;
        end
    }));
    let mut col_idx = reserved(nnz, "columns")?;
    col_idx.extend(from.indices(nnz)?);
    let mut values = buffer(from.0.len())?;
    values.extend_from_slice(from.0);
    Matrix::new(Arc::new(Pattern::from_unsorted(m, n, row_ptr, col_idx)?), values_of(ty, &mut values)?)
}

/// The entries of a vector in the processor's memory: its places unless it has all, and the bytes of its values.
pub(crate) struct Entries {
    pub(crate) ty: Type,
    /// Increasing; without them there is a value at every place.
    pub(crate) places: Option<Vec<u32>>,
    pub(crate) values: Vec<u8>,
}

impl Entries {
    pub(crate) fn of(x: &Vector) -> Result<Self> {
        let here = x.download()?;
        let ty = here.ty();
        if let Some(values) = full_values(&here) {
            return Ok(Self { ty, places: None, values: bytes_of(values)? });
        }
        let (places, values) = here.entries()?;
        Ok(Self { ty, places: Some(places), values: bytes_of(values.slice())? })
    }
    /// Those at these places as bytes, their places counted from its start.
    pub(crate) fn part(&self, range: Range<usize>) -> Result<Vec<u8>> {
        let size = self.ty.size();
        let entries = match &self.places {
            None => range.clone(),
            Some(places) => {
                let at = |end: usize| places.partition_point(|&p| (p as usize) < end);
                at(range.start)..at(range.end)
            }
        };
        let mut to = buffer(9 + entries.len() * (4 + size))?;
        to.push(u8::from(self.places.is_none()));
        put_word(&mut to, entries.len());
        if let Some(places) = &self.places {
            put_indices(&mut to, places[entries.clone()].iter().map(|&p| p - range.start as u32));
        }
        to.extend_from_slice(&self.values[entries.start * size..entries.end * size]);
        Ok(to)
    }
}

/// The vector of `len` places of which parts are these bytes, each from a place on; ranges that no part covers are empty.
pub(crate) fn joined(ty: Type, len: usize, parts: &[(usize, &[u8])]) -> Result<Vector> {
    let (mut places, mut values): (Vec<u32>, Vec<u8>) = (Vec::new(), Vec::new());
    let mut read = Vec::with_capacity(parts.len());
    let mut entries = 0;
    for &(start, bytes) in parts {
        let mut from = Bytes(bytes);
        let (full, n) = (from.take(1)?[0] == 1, from.word()?);
        entries += n;
        read.push((start, full, n, from));
    }
    let is_full = entries == len;
    if !is_full {
        places = reserved(entries, "places of a vector")?;
    }
    values.try_reserve_exact(entries * ty.size()).map_err(|_| broken())?;
    for (start, full, n, mut from) in read {
        let start = start as u32;
        if full {
            if !is_full {
                places.extend((0..n as u32).map(|p| start + p));
            }
        } else {
            let of = from.indices(n)?;
            if !is_full {
                places.extend(of.map(|p| start + p));
            }
        }
        values.extend_from_slice(from.take(n * ty.size())?);
    }
    let values = values_of(ty, &mut values)?;
    if is_full { Vector::full(values) } else { Vector::new(len, places, values) }
}

/// A vector on the machine of a rank.
pub(crate) fn here(machine: &Machine, x: Vector) -> Result<Vector> {
    machine.upload_vector(&x)
}
