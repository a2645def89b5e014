//! Distances and neighbours between the rows of matrices of f32 or f64.

use std::sync::Arc;

use crate::algebra::{Slice, Type};
use crate::distance::{self, Measure, Options};
use crate::runtime::Matrix;
use crate::{Error, Result};

/// The rows to compare, and the measure.
///
/// ```
/// use std::sync::Arc;
/// use sparring::distance::{Metric, Options};
/// use sparring::runtime::{Comparison, Machine, Matrix};
/// use sparring::{Cpu, Csr};
/// let x = Matrix::from(Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?);
/// let measure = Arc::new(Metric::Cosine);
/// let asked = Comparison { measure, x, y: None, options: Options { exclude_self: true, ..Options::default() } };
/// let near = Machine::from(Cpu::new()).neighbours(&asked, 1)?;
/// assert_eq!(near.indices(), [2, 2, 0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone)]
pub struct Comparison {
    /// The distance measure.
    pub measure: Arc<dyn Measure>,
    /// X, of f32 or f64.
    pub x: Matrix,
    /// Y, of the same type; `None` compares the rows of X with each other.
    pub y: Option<Matrix>,
    /// Settings.
    pub options: Options,
}

impl std::fmt::Debug for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} of {:?} and {:?}: {:?}",
            self.measure.name(),
            self.x.shape(),
            self.y.as_ref().map(Matrix::shape),
            self.options
        )
    }
}

/// The nearest rows of each row, with distances of f32 or f64.
#[derive(Clone, Debug)]
pub struct Neighbours(Typed);

#[derive(Clone, Debug)]
enum Typed {
    F32(distance::Neighbours<f32>),
    F64(distance::Neighbours<f64>),
}

impl From<distance::Neighbours<f32>> for Typed {
    fn from(near: distance::Neighbours<f32>) -> Self {
        Self::F32(near)
    }
}
impl From<distance::Neighbours<f64>> for Typed {
    fn from(near: distance::Neighbours<f64>) -> Self {
        Self::F64(near)
    }
}

impl From<distance::Neighbours<f32>> for Neighbours {
    fn from(near: distance::Neighbours<f32>) -> Self {
        Self(near.into())
    }
}
impl From<distance::Neighbours<f64>> for Neighbours {
    fn from(near: distance::Neighbours<f64>) -> Self {
        Self(near.into())
    }
}

macro_rules! with_found {
    ($found:expr, $near:ident => $body:expr) => {
        match $found {
            Typed::F32($near) => $body,
            Typed::F64($near) => $body,
        }
    };
}

impl Neighbours {
    /// Neighbours per row: the number requested, or of all rows if there are fewer.
    #[must_use]
    pub fn k(&self) -> usize {
        with_found!(&self.0, near => near.k())
    }
    /// Row indices of the neighbours, k per row, nearest first.
    #[must_use]
    pub fn indices(&self) -> &[u32] {
        with_found!(&self.0, near => near.indices())
    }
    /// Distances to them, in the type of the matrices.
    #[must_use]
    pub fn distances(&self) -> Slice<'_> {
        with_found!(&self.0, near => Slice::of(near.distances()))
    }
    /// The algorithm chosen, and why.
    #[must_use]
    pub fn explain(&self) -> &str {
        with_found!(&self.0, near => &near.explain)
    }
    /// The neighbourhood graph, nrows(X) × nrows(Y): an entry for each neighbour, with the distance as its value.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn graph(&self) -> Result<Matrix> {
        Ok(with_found!(&self.0, near => near.to_csr()?.into()))
    }
}

/// The error of values that have no distances.
pub(super) fn no_distance(ty: Type) -> Error {
    Error::Unsupported { what: format!("a distance between rows of {ty}"), why: "they must be f32 or f64".into() }
}

/// Runs the body with `$T` bound to the float type of that name.
macro_rules! with_float {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            Type::F32 => {
                type $T = f32;
                $body
            }
            Type::F64 => {
                type $T = f64;
                $body
            }
            other => Err(crate::runtime::distances::no_distance(other)),
        }
    };
}

pub(super) use with_float;

impl Comparison {
    pub(super) fn check(&self, op: &'static str) -> Result<Type> {
        let ty = self.x.ty();
        if let Some(y) = &self.y {
            if y.ty() != ty {
                let message = format!("its values are {}, those of x {ty}", y.ty());
                return Err(Error::Argument { name: "y", message });
            }
            // Checked before the number of distances: rows of different lengths have none.
            if y.shape().1 != self.x.shape().1 {
                return Err(Error::Shape { op, lhs: self.x.shape(), rhs: y.shape() });
            }
        }
        if !matches!(ty, Type::F32 | Type::F64) {
            return Err(no_distance(ty));
        }
        Ok(ty)
    }
    /// Rows of X and rows of Y: the shape of the full distance matrix.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.x.shape().0, self.y.as_ref().unwrap_or(&self.x).shape().0)
    }
    /// Neighbours per row for a query of `k`.
    #[must_use]
    pub fn neighbours(&self, k: usize) -> usize {
        k.min(self.shape().1.saturating_sub(usize::from(self.options.exclude_self)))
    }
}
