//! Serialization of matrices and vectors of types known at run time, in the format of
//! [`Csr::serialize`](crate::Csr::serialize).

use std::io::{Read, Write};

use super::wide::{Wide, begins, deserialize};
use super::{Matrix, Vector};
use crate::algebra::Type;
use crate::kernels::with_type;
use crate::sparse::{SerializedMatrix, SerializedVector};
use crate::{Error, Result};

fn unknown(ty: Type) -> Error {
    Error::Unsupported { what: format!("serialized values of {ty}"), why: "only numbers are supported".into() }
}

impl Matrix {
    /// Serializes the matrix, in the format of [`Csr::serialize`](crate::Csr::serialize), which records the type;
    /// downloads a matrix on a GPU first.
    /// ```
    /// use sparring::{Csr, runtime::Matrix};
    /// let a = Matrix::from(Csr::<i8>::new(1, 3, vec![0, 2], vec![0, 2], vec![-4, 5])?);
    /// let mut bytes = vec![];
    /// a.serialize(&mut bytes)?;
    /// let b = Matrix::deserialize(&mut &bytes[..])?;
    /// assert_eq!(b.csr::<i8>().unwrap().values(), [-4, 5]);
    /// let error = Matrix::deserialize(&mut &bytes[..88]).unwrap_err().to_string();
    /// assert!(error.contains("the file ends at byte 88, in the check: 2 more are expected"), "{error}");
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`Csr::serialize`](crate::Csr::serialize) and of the machine.
    pub fn serialize(&self, to: &mut dyn Write) -> Result<()> {
        match Wide::of(self) {
            Some(wide) => wide.serialize(to),
            None => self.download()?.write_to(to),
        }
    }
    /// Reads the output of [`serialize`](Self::serialize), with values of any type, up to its end and no further.
    /// # Errors
    /// Those of [`Csr::deserialize`](crate::Csr::deserialize).
    pub fn deserialize(from: &mut dyn Read) -> Result<Self> {
        match begins(from)? {
            (true, mut from) => deserialize(&mut from)?.try_into(),
            (false, mut from) => to_matrix(SerializedMatrix::<u32>::read(&mut from)?),
        }
    }
}

/// The matrix of deserialized parts, possibly empty.
pub(super) fn to_matrix(parts: SerializedMatrix<u32>) -> Result<Matrix> {
    let ty = parts.values.ty();
    with_type!(ty, T => Ok(parts.typed::<T>()?.into()), Err(unknown(ty)))
}

impl Vector {
    /// Serializes the vector, in the format of [`Vector::serialize`](crate::Vector::serialize); downloads a vector on a
    /// GPU first.
    /// # Errors
    /// Those of [`Vector::serialize`](crate::Vector::serialize) and of the machine.
    pub fn serialize(&self, to: &mut dyn Write) -> Result<()> {
        match Wide::of(self) {
            Some(wide) => wide.serialize(to),
            None => self.download()?.write_to(to),
        }
    }
    /// Reads the output of [`serialize`](Self::serialize), with values of any type, up to its end and no further.
    /// # Errors
    /// Those of [`Vector::deserialize`](crate::Vector::deserialize).
    pub fn deserialize(from: &mut dyn Read) -> Result<Self> {
        let (is_wide, mut from) = begins(from)?;
        if is_wide {
            return deserialize(&mut from)?.try_into();
        }
        let made = SerializedVector::<u32>::read(&mut from)?;
        let ty = made.values.ty();
        with_type!(ty, T => Ok(made.typed::<T>()?.into()), Err(unknown(ty)))
    }
}
