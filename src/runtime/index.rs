//! Row indexes on a machine, for repeated neighbour queries.

use std::any::Any;
use std::fmt::Debug;
use std::path::Path;

use crate::algebra::Type;
use crate::{Error, Result};

/// An index of the rows of Y for a measure, of f32 or f64, on the machine that built it.
///
/// ```
/// use std::sync::Arc;
/// use sparring::distance::{Metric, Options};
/// use sparring::runtime::{Machine, Matrix};
/// use sparring::{Cpu, Csr};
/// let y = Matrix::from(Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?);
/// let machine = Machine::from(Cpu::new());
/// let index = machine.index(Arc::new(Metric::Cosine), &y, Options::default())?;
/// assert_eq!(machine.knn_of_index(&index, &y, 2)?.indices(), [0, 2, 1, 2, 2, 0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct RowIndex(Box<dyn EngineIndex>);

/// An engine's index, with rows of f32 or f64.
pub trait EngineIndex: Any + Debug + Send + Sync {
    /// Rows and columns of Y.
    fn shape(&self) -> (usize, usize);
    /// The type of its values.
    fn ty(&self) -> Type;
    /// Writes it to a file.
    /// # Errors
    /// Those of the engine.
    fn save(&self, path: &Path) -> Result<()>;
}

impl RowIndex {
    /// The index of an engine.
    pub fn new(index: impl EngineIndex) -> Self {
        Self(Box::new(index))
    }
    /// The concrete index of its engine.
    /// # Errors
    /// [`Error::Argument`] if another engine built it.
    pub fn on<X: EngineIndex>(&self) -> Result<&X> {
        let index: &dyn Any = &*self.0;
        let message = || "it was made on another machine".into();
        index.downcast_ref().ok_or_else(|| Error::Argument { name: "index", message: message() })
    }
    /// Rows and columns of Y.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }
    /// The type of its values, and of query rows.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.0.ty()
    }
    /// Writes it to a file, as [`NeighbourIndex::save`](crate::distance::NeighbourIndex::save) does.
    /// # Errors
    /// Those of [`NeighbourIndex::save`](crate::distance::NeighbourIndex::save).
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.0.save(path.as_ref())
    }
}
