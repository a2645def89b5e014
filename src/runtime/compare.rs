//! Distances, neighbours and indexes on a machine.

use std::path::Path;
use std::sync::Arc;

use super::distances::no_distance;
use super::engine::DistanceEngine;
use super::{Comparison, Machine, Matrix, Neighbours, RowIndex};
use crate::algebra::{SliceMut, Type};
use crate::distance::{Measure, Options, index_file};
use crate::{Error, Result};

impl Machine {
    /// D(i, j) = d(X(i, :), Y(j, :)), row-major, into `distances`, of the type of the matrices. Returns the explanation
    /// of the algorithm chosen.
    ///
    /// A GPU computes them in blocks of rows of at most 1 GiB, so they need not all fit its memory.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Length`] if `distances` has another length;
    /// [`Error::Unsupported`] unless X is of f32 or f64.
    pub fn distances_into(&self, comparison: &Comparison, distances: &mut SliceMut<'_>) -> Result<String> {
        let ty = comparison.check("distances")?;
        let (n, m) = comparison.shape();
        let (found, of) = (distances.len(), distances.ty());
        if of != ty {
            let message = format!("room for values of {of}, distances are {ty}");
            return Err(Error::Argument { name: "distances", message });
        }
        let needed = n as u128 * m as u128;
        let overflow = || Error::IndexOverflow { what: "distances", needed, max: usize::MAX as u128 };
        let expected = n.checked_mul(m).ok_or_else(overflow)?;
        if found != expected {
            return Err(Error::Length { what: "distances", found, expected });
        }
        self.comparing()?.all(comparison, distances)
    }
    /// The `k` nearest rows of Y for each row of X, nearest first; ties in order of row index. Never materializes all
    /// distances.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Unsupported`] unless X is of f32 or f64.
    pub fn neighbours(&self, comparison: &Comparison, k: usize) -> Result<Neighbours> {
        comparison.check("neighbours")?;
        self.comparing()?.nearest(comparison, k)
    }
    /// The rows of Y within distance `radius` of each row of X; for a similarity, at least as similar. The result has
    /// an entry for each, with the distance as its value, even 0, and lies on the machine.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Argument`] for a radius that is NaN;
    /// [`Error::Unsupported`] unless X is of f32 or f64.
    pub fn within(&self, comparison: &Comparison, radius: f64) -> Result<Matrix> {
        comparison.check("radius")?;
        self.comparing()?.within(comparison, radius)
    }
    /// An index of the rows of Y, of f32 or f64, for a measure.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Unsupported`] unless Y is of f32 or f64.
    pub fn index(&self, measure: Arc<dyn Measure>, y: &Matrix, options: Options) -> Result<RowIndex> {
        match y.ty() {
            Type::F32 | Type::F64 => self.comparing()?.index(measure, y, options),
            ty => Err(no_distance(ty)),
        }
    }
    /// The index saved to a file, by any machine.
    /// # Errors
    /// Those of [`Cpu::load_index`](crate::Cpu::load_index), and of [`index`](Self::index).
    pub fn load_index(&self, path: impl AsRef<Path>) -> Result<RowIndex> {
        let path = path.as_ref();
        self.comparing()?.load_index(path, index_file::type_of(path)?)
    }
    /// The `k` nearest rows of an index for each row of X.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Argument`] for X of another type, or an index
    /// of another machine.
    pub fn knn_of_index(&self, index: &RowIndex, x: &Matrix, k: usize) -> Result<Neighbours> {
        self.comparing()?.nearest_of(index, x, k)
    }
    /// The rows of an index within distance `radius` of each row of X, as [`within`](Self::within).
    /// # Errors
    /// Those of [`knn_of_index`](Self::knn_of_index); [`Error::Argument`] for a radius that is NaN.
    pub fn radius_of_index(&self, index: &RowIndex, x: &Matrix, radius: f64) -> Result<Matrix> {
        self.comparing()?.within_of(index, x, radius)
    }
    /// The engine's distance operations, if it has any.
    fn comparing(&self) -> Result<&dyn DistanceEngine> {
        self.engine().distances().ok_or_else(|| Error::Unsupported {
            what: format!("distances on {}", self.name()),
            why: "this engine does not compare rows".into(),
        })
    }
}
