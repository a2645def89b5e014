//! Objects in the memory of an engine other than the CPU.

use std::any::Any;
use std::fmt::Debug;

use crate::algebra::Type;
use crate::sparse::IndexList;
use crate::{Error, Result};

/// A matrix or a vector in the memory of an engine.
pub trait Remote: Any + Debug + Send + Sync {
    /// Name of the engine.
    fn engine(&self) -> String;
    /// For downcasting by its engine.
    fn as_any(&self) -> &dyn Any;
    /// For downcasting by its engine, to write.
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// Another handle to the same object.
    fn another(&self) -> Box<dyn Remote>;
    /// Whether both share their memory.
    fn is(&self, other: &dyn Remote) -> bool;
    /// Type of the values.
    fn ty(&self) -> Type;
    /// Rows and columns; length and 1 for a vector.
    fn shape(&self) -> (usize, usize);
    /// Number of entries, which the engine may have to count.
    /// # Errors
    /// Those of the engine.
    fn nnz(&self) -> Result<usize>;
    /// A copy in host memory: a [`Matrix`](super::Matrix) or a [`Vector`](super::Vector), as this is.
    /// # Errors
    /// Those of the engine.
    fn download(&self) -> Result<Box<dyn Any>>;
    /// The values of a vector as an index list in the engine's memory; `None` if they must be downloaded and validated
    /// instead.
    /// # Errors
    /// Those of the engine.
    fn index_list(&self) -> Result<Option<IndexList>>;
    /// Whether it is in host memory.
    fn is_on_host(&self) -> bool {
        false
    }
    /// The error of reading it as an object in host memory; `name` is `matrix` or `vector`.
    fn unreadable(&self, name: &'static str) -> Error {
        elsewhere(name)
    }
}

impl Clone for Box<dyn Remote> {
    fn clone(&self) -> Self {
        self.another()
    }
}

/// The error of an object that must be in host memory and is not.
pub(super) fn elsewhere(name: &'static str) -> Error {
    Error::Argument { name, message: "it is on a GPU or another machine; download it".into() }
}
