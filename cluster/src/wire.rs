//! Serialization of matrix blocks and vector pieces, and their reassembly.

use std::ops::Range;
use std::sync::Arc;

use sparring::algebra::{Array, Slice, SliceMut, Type, Value};
use sparring::runtime::engine::{raw_entries, values_of};
use sparring::runtime::{Machine, Matrix, Vector};
use sparring::{Error, Pattern, Result};

use crate::link::Parts;

/// The error of a malformed message.
pub(crate) fn broken() -> Error {
    Error::Device { what: "cluster".into(), message: "a message is shorter than it says".into() }
}

/// An error as a message to the other ranks. Errors about files and values are sent with all their fields.
pub(crate) fn error_bytes(error: &Error) -> Vec<u8> {
    let text = error.to_string();
    let (kind, numbers, texts) = match error {
        Error::Parse { file, line, column, message } => (1, [*line, *column], [file, message]),
        Error::Unsupported { what, why } => (2, [0; 2], [what, why]),
        _ => (0, [0; 2], [&text, &text]),
    };
    let mut made = Vec::new();
    [kind, numbers[0], numbers[1], texts[0].len() as u64].iter().for_each(|&x| put_word(&mut made, x as usize));
    texts.iter().for_each(|text| made.extend_from_slice(text.as_bytes()));
    made
}

/// The error of another rank, from its message.
pub(crate) fn error_of(rank: usize, message: &[u8]) -> Error {
    let read = || {
        let mut message = Bytes(message);
        let (kind, line, column, first) = (message.word()?, message.word()?, message.word()?, message.word()?);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (first, second) = (text(message.take(first)?), text(message.0));
        Ok(match kind {
            1 => Error::Parse { file: first, line: line as u64, column: column as u64, message: second },
            2 => Error::Unsupported { what: first, why: second },
            _ => Error::Device { what: format!("rank {rank}"), message: first },
        })
    };
    read().unwrap_or_else(|error| error)
}

/// A reader of a byte slice.
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
/// An empty buffer with capacity for `bytes` bytes.
pub(crate) fn buffer(bytes: usize) -> Result<Vec<u8>> {
    reserved(bytes, "a message")
}
/// An empty vector with capacity for `n` values.
pub(crate) fn reserved<T>(n: usize, what: &'static str) -> Result<Vec<T>> {
    let mut buffer = Vec::new();
    let bytes = n as u128 * size_of::<T>() as u128;
    buffer.try_reserve_exact(n).map_err(|_| Error::OutOfMemory { bytes, what })?;
    Ok(buffer)
}
/// The values of an iterator, `n` at most.
pub(crate) fn collected<T>(n: usize, of: impl Iterator<Item = T>, what: &'static str) -> Result<Vec<T>> {
    let mut made = reserved(n, what)?;
    made.extend(of.take(n));
    Ok(made)
}
/// Reserves memory for `n` more values, in amortized O(1) time for each.
pub(crate) fn grow<T>(to: &mut Vec<T>, n: usize, what: &'static str) -> Result<()> {
    let bytes = n as u128 * size_of::<T>() as u128;
    to.try_reserve(n).map_err(|_| Error::OutOfMemory { bytes, what })
}
/// A vector of zeros.
pub(crate) fn zeros<T: Clone + Default>(n: usize) -> Result<Vec<T>> {
    let mut made = reserved(n, "a vector")?;
    made.resize(n, T::default());
    Ok(made)
}
/// Numbers as bytes.
pub(crate) fn bytes<T: Value>(x: &[T]) -> &[u8] {
    Slice::of(x).as_bytes().unwrap_or_default()
}
/// Numbers as writable bytes.
pub(crate) fn bytes_mut<T: Value>(x: &mut [T]) -> &mut [u8] {
    SliceMut::of(x).into_bytes().unwrap_or_default()
}
/// Bytes as numbers.
pub(crate) fn values<T: Value>(bytes: &[u8]) -> Result<Vec<T>> {
    let mut own = collected(bytes.len(), bytes.iter().copied(), "values")?;
    values_of(T::TYPE, &mut own)?.into_vec().map_err(|_| broken())
}
/// The bytes of values, which must be numbers: structs are not supported in messages.
pub(crate) fn raw(values: Slice<'_>) -> Result<&[u8]> {
    let wrong = || Error::Unsupported {
        what: format!("{} on several ranks", values.ty()),
        why: "messages are of numbers".into(),
    };
    values.as_bytes().ok_or_else(wrong)
}

/// The number of entries of each row.
pub(crate) fn row_lengths(pattern: &Pattern) -> Result<Vec<u32>> {
    let lengths = pattern.row_ptr().windows(2).map(|ends| (ends[1] - ends[0]) as u32);
    collected(pattern.nrows(), lengths, "lengths of rows")
}

/// A serialized matrix: nrows, ncols, nnz, row lengths, column indices, values.
pub(crate) fn matrix_bytes(a: &Matrix) -> Result<Vec<u8>> {
    let here = a.download()?;
    let (pattern, values) = (here.pattern().ok_or_else(broken)?, here.values().ok_or_else(broken)?);
    let (m, n) = pattern.shape();
    let mut to = buffer(24 + 4 * m + 4 * pattern.nnz() + values.len() * values.ty().size())?;
    [m, n, pattern.nnz()].iter().for_each(|&x| put_word(&mut to, x));
    put_indices(&mut to, pattern.row_ptr().windows(2).map(|w| (w[1] - w[0]) as u32));
    put_indices(&mut to, pattern.col_idx().iter().copied());
    to.extend_from_slice(raw(values)?);
    Ok(to)
}

/// Deserializes a matrix into host memory.
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
    let col_idx = collected(nnz, from.indices(nnz)?, "columns")?;
    let mut values = collected(from.0.len(), from.0.iter().copied(), "values")?;
    Matrix::new(Arc::new(Pattern::from_unsorted(m, n, row_ptr, col_idx)?), values_of(ty, &mut values)?)
}

/// The entries of a vector, in host memory.
pub(crate) struct Entries {
    x: Vector,
    /// Indices and values listed from a bitmap vector.
    listed: Option<(Vec<u32>, Array)>,
}

impl Entries {
    pub(crate) fn of(x: &Vector) -> Result<Self> {
        let x = x.download()?;
        let listed = if raw_entries(&x).is_none() { Some(x.entries()?) } else { None };
        Ok(Self { x, listed })
    }
    pub(crate) fn ty(&self) -> Type {
        self.x.ty()
    }
    /// Increasing indices, or `None` for a full vector, and the bytes of the values.
    pub(crate) fn raw(&self) -> Result<(Option<&[u32]>, &[u8])> {
        let (indices, values) = match &self.listed {
            Some((indices, values)) => (Some(&indices[..]), values.slice()),
            None => raw_entries(&self.x).ok_or_else(broken)?,
        };
        Ok((indices, raw(values)?))
    }
    /// All entries, serialized.
    pub(crate) fn all(&self) -> Result<Vec<u8>> {
        Ok(self.parts(std::slice::from_ref(&(0..self.x.len())))?.bytes)
    }
    /// The entries within several ranges, serialized range by range; indices are relative to the start of each range.
    pub(crate) fn parts(&self, ranges: &[Range<usize>]) -> Result<Parts> {
        let (size, (indices, values)) = (self.ty().size(), self.raw()?);
        let entries = |range: &Range<usize>| match indices {
            None => range.clone(),
            Some(indices) => {
                let at = |end: usize| indices.partition_point(|&p| (p as usize) < end);
                at(range.start)..at(range.end)
            }
        };
        let each = if indices.is_some() { 4 + size } else { size };
        let total = ranges.iter().map(|range| 9 + entries(range).len() * each).sum();
        let mut made = Parts { bytes: buffer(total)?, lengths: Vec::with_capacity(ranges.len()) };
        for range in ranges {
            let (before, of) = (made.bytes.len(), entries(range));
            made.bytes.push(u8::from(indices.is_none()));
            put_word(&mut made.bytes, of.len());
            if let Some(indices) = indices {
                put_indices(&mut made.bytes, indices[of.clone()].iter().map(|&p| p - range.start as u32));
            }
            made.bytes.extend_from_slice(&values[of.start * size..of.end * size]);
            made.lengths.push(made.bytes.len() - before);
        }
        Ok(made)
    }
}

/// The vector of length `len` assembled from serialized parts, each with its start index, in increasing order. Ranges
/// not covered by a part are empty.
pub(crate) fn joined<'a>(
    ty: Type,
    len: usize,
    parts: impl Iterator<Item = (usize, &'a [u8])> + Clone,
) -> Result<Vector> {
    let mut entries = 0;
    for (_, bytes) in parts.clone() {
        entries += Bytes(bytes.get(1..).ok_or_else(broken)?).word()?;
    }
    let is_full = entries == len;
    let mut indices = reserved(if is_full { 0 } else { entries }, "indices of a vector")?;
    let mut values = buffer(entries * ty.size())?;
    for (start, bytes) in parts {
        let mut from = Bytes(bytes);
        let (full, n) = (from.take(1)?[0] == 1, from.word()?);
        let start = start as u32;
        if !full {
            let of = from.indices(n)?;
            if !is_full {
                indices.extend(of.map(|p| start + p));
            }
        } else if !is_full {
            indices.extend((0..n as u32).map(|p| start + p));
        }
        values.extend_from_slice(from.take(n * ty.size())?);
    }
    let values = values_of(ty, &mut values)?;
    if is_full { Vector::full(values) } else { Vector::new(len, indices, values) }
}

/// Uploads a vector to the local device.
pub(crate) fn here(machine: &Machine, x: Vector) -> Result<Vector> {
    machine.upload_vector(&x)
}

#[cfg(test)]
mod tests {
    use sparring::Csr;

    use super::*;

    sparring::value! {
        /// No number.
        struct Pair {
            x: f32,
            y: f32,
        }
    }

    #[test]
    fn structs_are_in_no_message() {
        let pair = Pair { x: 1.0, y: 2.0 };
        let message = raw(Slice::of(&[pair])).unwrap_err().to_string();
        assert!(message.contains("Pair") && message.contains("messages are of numbers"), "{message}");
        let a = Matrix::from(Csr::<Pair>::new(1, 1, vec![0, 1], vec![0], vec![pair]).unwrap());
        assert!(matches!(matrix_bytes(&a), Err(Error::Unsupported { .. })));
        assert_eq!(raw(Slice::of(&[258u16])).unwrap(), [2, 1]);
    }
}
