//! Matrices and vectors with values of another type.

use std::sync::Arc;

use super::cast::{cast, check_exact, wrapping_cast};
use super::wide::Wide;
use super::{Matrix, Vector};
#[cfg(doc)]
use crate::Error;
use crate::algebra::{Array, Slice, Type};
use crate::{Pattern, Result};

impl Matrix {
    /// The same entries converted to another type, exactly: floats to the nearest float, integers to the same number,
    /// bool to whether nonzero. A matrix of that type is returned unchanged.
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::{Csr, runtime::Matrix};
    /// let a = Matrix::from(Csr::<f64>::new(1, 2, vec![0, 2], vec![0, 1], vec![7.0, 300.0])?);
    /// assert_eq!(a.cast(Type::I16)?.csr::<i16>().unwrap().values(), [7, 300]);
    /// assert!(a.cast(Type::I8).unwrap_err().to_string().contains("entry (0, 1), 300.0 as i8"));
    /// assert_eq!(a.wrapping_cast(Type::I8)?.csr::<i8>().unwrap().values(), [7, 127]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Unsupported`] for an integer out of range, a float that is no integer in range, a finite float that
    /// would become infinite, each with its position; for structs, and from complex to other types;
    /// [`Error::OutOfMemory`].
    pub fn cast(&self, ty: Type) -> Result<Self> {
        if let Some(wide) = Wide::of(self) {
            return wide.cast(ty, false)?.try_into();
        }
        self.converted(ty, |pattern, values| cast(values, ty, |p| format!("entry {:?}, ", place_of(pattern, p))))
    }
    /// The same entries converted by the rules of `as` in Rust: integers wrap, floats saturate and NaN becomes 0; bool
    /// is whether nonzero. A matrix of that type is returned unchanged.
    /// # Errors
    /// [`Error::Unsupported`] for structs, and from complex to other types; [`Error::OutOfMemory`].
    pub fn wrapping_cast(&self, ty: Type) -> Result<Self> {
        if let Some(wide) = Wide::of(self) {
            return wide.cast(ty, true)?.try_into();
        }
        self.converted(ty, |_, values| wrapping_cast(values, ty))
    }
    fn converted(&self, ty: Type, cast: impl FnOnce(&Pattern, Slice<'_>) -> Result<Array>) -> Result<Self> {
        if ty == self.ty() {
            return Ok(self.clone());
        }
        let a = self.operand()?;
        Self::new(Arc::clone(a.pattern), cast(a.pattern, a.values)?)
    }
}

/// Row and column of the entry at a position.
fn place_of(pattern: &Pattern, position: usize) -> (usize, u32) {
    (pattern.row_ptr().partition_point(|&p| p <= position) - 1, pattern.col_idx()[position])
}

impl Vector {
    /// The same entries converted to another type, by the rules of [`Matrix::cast`](super::Matrix::cast). A vector of
    /// that type is returned unchanged.
    /// # Errors
    /// Those of [`Matrix::cast`](super::Matrix::cast).
    pub fn cast(&self, ty: Type) -> Result<Self> {
        if ty == self.ty() {
            return Ok(self.clone());
        }
        if let Some(wide) = Wide::of(self) {
            return wide.cast(ty, false)?.try_into();
        }
        // A bitmap stores values at absent entries too; those must not be checked.
        let (places, values) = self.entries()?;
        check_exact(values.slice(), ty, |p| format!("entry {}, ", places[p]))?;
        self.wrapping_cast(ty)
    }
    /// The same entries converted to another type, by the rules of
    /// [`Matrix::wrapping_cast`](super::Matrix::wrapping_cast). A vector of that type is returned unchanged.
    /// # Errors
    /// Those of [`Matrix::wrapping_cast`](super::Matrix::wrapping_cast).
    pub fn wrapping_cast(&self, ty: Type) -> Result<Self> {
        if ty == self.ty() {
            return Ok(self.clone());
        }
        if let Some(wide) = Wide::of(self) {
            return wide.cast(ty, true)?.try_into();
        }
        let view = self.view()?;
        Self::of(view.with(wrapping_cast(view.values(), ty)?))
    }
}
