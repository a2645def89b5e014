//! A matrix or a vector of which a dimension is stored by its used indices.

use std::any::Any;

use super::labels::Labels;
use crate::algebra::Type;
use crate::runtime::engine::{Object, Operand, Remote};
use crate::runtime::{Matrix, Vector};
use crate::sparse::IndexList;
use crate::{Error, Result};

/// Entry (r, c) of `inner` is the entry (labels(r), labels(c)) of the object.
#[derive(Clone, Debug)]
pub(in crate::runtime) struct Wide {
    /// Rows and columns; length and 1 of a vector.
    pub(super) shape: (usize, usize),
    pub(super) labels: [Labels; 2],
    /// An ordinary matrix or vector, in the memory of any engine.
    pub(super) inner: Inner,
}

/// An ordinary matrix or vector.
#[derive(Clone, Debug)]
pub(super) enum Inner {
    Matrix(Matrix),
    Vector(Vector),
}

impl Inner {
    pub(super) fn operand(&self) -> Operand<'_> {
        match self {
            Self::Matrix(a) => a.into(),
            Self::Vector(x) => x.into(),
        }
    }
    pub(super) fn nnz(&self) -> Result<usize> {
        match self {
            Self::Matrix(a) => Ok(a.nnz()),
            Self::Vector(x) => x.nvals(),
        }
    }
}
impl From<Operand<'_>> for Inner {
    fn from(x: Operand<'_>) -> Self {
        match x {
            Operand::Matrix(a) => Self::Matrix(a.clone()),
            Operand::Vector(x) => Self::Vector(x.clone()),
        }
    }
}
impl From<Inner> for Object {
    fn from(x: Inner) -> Self {
        match x {
            Inner::Matrix(a) => a.into(),
            Inner::Vector(x) => x.into(),
        }
    }
}

/// Rows and columns of an operand; length and 1 of a vector.
pub(super) fn shape_of(x: Operand<'_>) -> (usize, usize) {
    match x {
        Operand::Matrix(a) => a.shape(),
        Operand::Vector(x) => (x.len(), 1),
    }
}

impl Wide {
    /// The operand, if it is wide.
    pub(in crate::runtime) fn of<'a>(x: impl Into<Operand<'a>>) -> Option<&'a Self> {
        let remote = match x.into() {
            Operand::Matrix(a) => a.as_remote(),
            Operand::Vector(x) => x.as_remote(),
        };
        remote?.as_any().downcast_ref()
    }
    /// The object; an ordinary one if no dimension is stored by its used indices.
    pub(super) fn into_object(self) -> Result<Object> {
        if self.labels.iter().all(Labels::is_all) {
            return Ok(self.inner.into());
        }
        let nnz = self.inner.nnz()?;
        Ok(match self.inner {
            Inner::Matrix(_) => Matrix::remote(Box::new(self), nnz).into(),
            Inner::Vector(_) => Vector::remote(Box::new(self)).into(),
        })
    }
    /// The object with the same used indices and another `inner` of the same shape.
    pub(super) fn with(&self, inner: Object) -> Result<Object> {
        let inner = inner.operand()?.into();
        Self { shape: self.shape, labels: self.labels.clone(), inner }.into_object()
    }
    /// The matrix of ranks.
    pub(super) fn matrix(&self) -> Result<&Matrix> {
        match &self.inner {
            Inner::Matrix(a) => Ok(a),
            Inner::Vector(_) => Err(self.unreadable("matrix")),
        }
    }
    /// The vector of ranks.
    pub(super) fn vector(&self) -> Result<&Vector> {
        match &self.inner {
            Inner::Vector(x) => Ok(x),
            Inner::Matrix(_) => Err(self.unreadable("vector")),
        }
    }
}

impl Remote for Wide {
    fn engine(&self) -> String {
        match &self.inner {
            Inner::Matrix(a) => a.machine(),
            Inner::Vector(x) => x.machine(),
        }
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
    fn another(&self) -> Box<dyn Remote> {
        Box::new(self.clone())
    }
    fn is(&self, other: &dyn Remote) -> bool {
        let Some(other) = other.as_any().downcast_ref::<Self>() else { return false };
        let same = match (&self.inner, &other.inner) {
            (Inner::Matrix(a), Inner::Matrix(b)) => a.is(b),
            _ => std::ptr::eq(self, other),
        };
        same && self.labels == other.labels && self.shape == other.shape
    }
    fn ty(&self) -> Type {
        self.inner.operand().ty()
    }
    fn shape(&self) -> (usize, usize) {
        self.shape
    }
    fn nnz(&self) -> Result<usize> {
        self.inner.nnz()
    }
    fn download(&self) -> Result<Box<dyn Any>> {
        let inner = match &self.inner {
            Inner::Matrix(a) => a.download()?.into(),
            Inner::Vector(x) => x.download()?.into(),
        };
        Ok(match self.with(inner)? {
            Object::Matrix(a) => Box::new(a),
            Object::Vector(x) => Box::new(x),
            Object::Scalar(s) => Box::new(s),
        })
    }
    fn index_list(&self) -> Result<Option<IndexList>> {
        self.vector()?.to_index_list().map(Some)
    }
    fn is_on_host(&self) -> bool {
        match &self.inner {
            Inner::Matrix(a) => a.is_on_host(),
            Inner::Vector(x) => x.is_on_host(),
        }
    }
    fn unreadable(&self, name: &'static str) -> Error {
        Error::Unsupported {
            what: format!("this operation on a {name} of dimensions {}×{}", self.shape.0, self.shape.1),
            why: "a dimension beyond 4294967295 is stored by its used indices; `Machine::call` runs every operation"
                .into(),
        }
    }
}
