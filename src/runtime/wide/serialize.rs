//! Serialization of wide objects: their shape and used indices, followed by the serialized object of ranks.
//!
//! | bytes | content |
//! | --- | --- |
//! | 8 | `SPARRWID` |
//! | 4 | version: 1 |
//! | 4 | 0 for a matrix, 1 for a vector; two flags, whether rows and columns are stored by used indices; 0 |
//! | 16 | rows and columns; length and 1 of a vector |
//! | 8, 8·n | for each flag: the number of used indices, and these, increasing |
//! | 8 | checksum of all above |
//!
//! The object of ranks follows in the format of [`Csr::serialize`](crate::Csr::serialize) or
//! [`Vector::serialize`](crate::Vector::serialize).

use std::io::{Cursor, Read, Write};

use super::labels::{Labels, check_dimension, is_wide};
use super::object::{Inner, Wide, shape_of};
use crate::runtime::engine::Object;
use crate::runtime::{Matrix, Vector};
use crate::sparse::framed::{In, Kind, Out};
use crate::{Error, Result};

const WIDE: Kind = Kind { magic: b"SPARRWID", version: 1, name: "a matrix or vector of large dimensions" };

impl Wide {
    /// Serializes the object, downloaded first.
    pub(in crate::runtime) fn serialize(&self, to: &mut dyn Write) -> Result<()> {
        let flag = |axis: usize| u8::from(!self.labels[axis].is_all());
        let is_vector = matches!(self.inner, Inner::Vector(_));
        let mut out = Out::new(to, WIDE, [u8::from(is_vector), flag(0), flag(1), 0])?;
        out.number(self.shape.0 as u64)?;
        out.number(self.shape.1 as u64)?;
        for used in self.labels.iter().filter_map(Labels::used) {
            out.number(used.len() as u64)?;
            out.numbers(8, &mut used.iter().map(|&i| i as u64))?;
        }
        out.finish()?;
        match &self.inner {
            Inner::Matrix(a) => a.serialize(to),
            Inner::Vector(x) => x.serialize(to),
        }
    }
}

/// The first bytes of a file, and a reader of the whole file; whether it is one of a wide object.
pub(in crate::runtime) fn begins<'a>(from: &'a mut dyn Read) -> Result<(bool, Box<dyn Read + 'a>)> {
    let mut head = vec![];
    from.take(WIDE.magic.len() as u64).read_to_end(&mut head).map_err(|e| WIDE.io(e))?;
    let is_wide = head == WIDE.magic;
    Ok((is_wide, Box::new(Cursor::new(head).chain(from))))
}

/// Reads a wide object.
/// # Errors
/// [`Error::Parse`], [`Error::Io`]; [`Error::OutOfMemory`].
pub(in crate::runtime) fn deserialize(from: &mut dyn Read) -> Result<Object> {
    let (mut file, head) = In::new(from, WIDE)?;
    let [is_vector, of_rows, of_cols, zero] = head;
    if [is_vector, of_rows, of_cols].iter().any(|&flag| flag > 1) || zero != 0 {
        return Err(WIDE.wrong(12, format!("flags {head:?}; known are three of 0 or 1, with a zero behind them")));
    }
    let shape = (file.size("number of rows")?, file.size("number of columns")?);
    check_dimension("number of rows", shape.0 as u128)?;
    check_dimension("number of columns", shape.1 as u128)?;
    let mut labels: [Labels; 2] = Default::default();
    for (axis, n) in [shape.0, shape.1].into_iter().enumerate() {
        let is_used = [of_rows, of_cols][axis] == 1;
        if is_wide(n) && !is_used {
            return Err(file.wrong(0, format!("flags {head:?} of dimensions {}×{}", shape.0, shape.1)));
        }
        if is_used {
            let count = file.number("number of used indices")?;
            let used = file.numbers(8, count, "used indices", |at, x| {
                let index = usize::try_from(x).ok().filter(|&i| i < n);
                index.ok_or_else(|| WIDE.wrong(at, format!("an index is {x}, of a dimension of {n}")))
            })?;
            if !used.is_sorted_by(|i, j| i < j) {
                return Err(file.wrong(0, "used indices do not increase".into()));
            }
            labels[axis] = Labels::of(used)?;
        }
    }
    file.finish()?;
    let inner = if is_vector == 1 {
        Inner::Vector(Vector::deserialize(from)?)
    } else {
        Inner::Matrix(Matrix::deserialize(from)?)
    };
    let expected = (labels[0].len(shape.0), labels[1].len(shape.1));
    let found = shape_of(inner.operand());
    if found != expected || Wide::of(inner.operand()).is_some() {
        return Err(Error::Shape { op: "deserialize", lhs: expected, rhs: found });
    }
    Wide { shape, labels, inner }.into_object()
}
