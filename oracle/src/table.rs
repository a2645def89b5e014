//! Matrices, vectors and scalars as dense tables of optional values.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::value::{Type, Value};

/// What a table represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A matrix.
    Matrix,
    /// A vector: a table of one column.
    Vector,
    /// A scalar: a 1×1 table.
    Scalar,
}

/// A matrix, vector or scalar as a dense table of optional values.
#[derive(Clone, PartialEq)]
pub struct Table {
    /// What it represents.
    pub kind: Kind,
    /// Type of the values.
    pub ty: Type,
    /// Number of rows.
    pub nrows: usize,
    /// Number of columns.
    pub ncols: usize,
    cells: Vec<Option<Value>>,
}

impl Table {
    /// The table of f(i, j).
    pub fn new(
        kind: Kind,
        ty: Type,
        (nrows, ncols): (usize, usize),
        mut f: impl FnMut(usize, usize) -> Option<Value>,
    ) -> Self {
        let mut cells = Vec::with_capacity(nrows * ncols);
        for i in 0..nrows {
            for j in 0..ncols {
                cells.push(f(i, j));
            }
        }
        Self { kind, ty, nrows, ncols, cells }
    }
    /// A matrix.
    pub fn matrix(ty: Type, shape: (usize, usize), f: impl FnMut(usize, usize) -> Option<Value>) -> Self {
        Self::new(Kind::Matrix, ty, shape, f)
    }
    /// A vector.
    pub fn vector(ty: Type, len: usize, mut f: impl FnMut(usize) -> Option<Value>) -> Self {
        Self::new(Kind::Vector, ty, (len, 1), |i, _| f(i))
    }
    /// A scalar.
    #[must_use]
    pub fn scalar(ty: Type, x: Option<Value>) -> Self {
        Self::new(Kind::Scalar, ty, (1, 1), |_, _| x)
    }
    /// The same kind and shape, with other values.
    pub fn like(&self, ty: Type, f: impl FnMut(usize, usize) -> Option<Value>) -> Self {
        Self::new(self.kind, ty, self.shape(), f)
    }
    /// The same cells as another kind.
    #[must_use]
    pub fn as_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.nrows, self.ncols)
    }
    /// The value at (i, j), if present.
    #[must_use]
    pub fn get(&self, i: usize, j: usize) -> Option<Value> {
        assert!(i < self.nrows && j < self.ncols, "({i}, {j}) of {:?}", self.shape());
        self.cells[i * self.ncols + j]
    }
    /// The entries, row by row: row, column, value.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, Value)> + '_ {
        let n = self.ncols;
        self.cells.iter().enumerate().filter_map(move |(p, x)| x.map(|x| (p / n, p % n, x)))
    }
    /// Number of entries.
    #[must_use]
    pub fn nvals(&self) -> usize {
        self.cells.iter().flatten().count()
    }
    /// Whether every element is present.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.nvals() == self.cells.len()
    }
    /// Aᵀ; a vector becomes a one-row matrix.
    #[must_use]
    pub fn transposed(&self) -> Self {
        Self::matrix(self.ty, (self.ncols, self.nrows), |i, j| self.get(j, i))
    }
}

/// Rows in brackets, · for absent entries.
impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {:?}, {}×{}:", self.kind, self.ty, self.nrows, self.ncols)?;
        for i in 0..self.nrows {
            write!(f, " [")?;
            for j in 0..self.ncols {
                let space = if j > 0 { " " } else { "" };
                match self.get(i, j) {
                    None => write!(f, "{space}·")?,
                    Some(Value::Bool(x)) => write!(f, "{space}{x}")?,
                    Some(Value::Int(x)) => write!(f, "{space}{x}")?,
                    Some(Value::Real(x)) => write!(f, "{space}{x}")?,
                    Some(Value::Complex(re, im)) => write!(f, "{space}{re}+{im}i")?,
                }
            }
            write!(f, "]")?;
        }
        Ok(())
    }
}

/// Kind, type, shape, and the entries as `[i, j, value]`.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut table = to.serialize_struct("Table", 4)?;
        table.serialize_field("kind", &self.kind)?;
        table.serialize_field("type", &self.ty)?;
        table.serialize_field("shape", &self.shape())?;
        table.serialize_field("entries", &self.entries().collect::<Vec<_>>())?;
        table.end()
    }
}
