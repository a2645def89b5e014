//! What an engine other than the processor's holds in its memory.

use std::any::Any;
use std::fmt::Debug;

use crate::algebra::Type;
use crate::sparse::IndexList;
use crate::{Error, Result};

/// A matrix or a vector in the memory of an engine.
pub trait Remote: Any + Debug + Send + Sync {
    /// Name of the engine.
    fn engine(&self) -> String;
    /// As any type, for its engine to know again.
    fn as_any(&self) -> &dyn Any;
    /// The same, for its engine to write.
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// Another name for the same object.
    fn another(&self) -> Box<dyn Remote>;
    /// Whether both share their memory.
    fn is(&self, other: &dyn Remote) -> bool;
    /// Type of the values.
    fn ty(&self) -> Type;
    /// Rows and columns; places and 1 of a vector.
    fn shape(&self) -> (usize, usize);
    /// Entries, which the engine may have to count.
    /// # Errors
    /// Those of the engine.
    fn nnz(&self) -> Result<usize>;
    /// A copy in the processor's memory: a [`Matrix`](super::Matrix) or a [`Vector`](super::Vector), as this is.
    /// # Errors
    /// Those of the engine.
    fn download(&self) -> Result<Box<dyn Any>>;
    /// The values of a vector as an index list that stays where they are; `None` if they are to be brought here, to be
    /// looked at.
    /// # Errors
    /// Those of the engine.
    fn index_list(&self) -> Result<Option<IndexList>>;
}

impl Clone for Box<dyn Remote> {
    fn clone(&self) -> Self {
        self.another()
    }
}

/// The error of what is to be read in the processor's memory and is not there.
pub(super) fn elsewhere(name: &'static str) -> Error {
    Error::Argument { name, message: "it is on a GPU or another machine; download it".into() }
}
