//! The structure of a product, on the machine that made it.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use crate::{Error, Result};

/// The structure of C = A·B, on the machine that made it. A clone costs O(1).
#[derive(Clone, Debug)]
pub struct Plan(Arc<dyn EnginePlan>);

/// The structure of a product, as an engine holds it.
pub trait EnginePlan: Any + Debug + Send + Sync {
    /// Name of the engine.
    fn engine(&self) -> String;
    /// Rows and columns of C.
    fn shape(&self) -> (usize, usize);
    /// The choices and their reasons.
    fn explain(&self) -> String;
    /// Statistics of the product.
    fn stats(&self) -> Stats;
}

/// Statistics of a product, as far as known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// Multiplications.
    pub flops: u64,
    /// Maximum multiplications in a row.
    pub max_row_flops: u64,
    /// Longest row of C; not on a GPU.
    pub max_row_nnz: Option<usize>,
    /// Entries of C.
    pub nnz: usize,
    /// Compression factor: multiplications after compression over those before.
    pub cf: Option<f64>,
    /// Compression factor of the maximum row bound.
    pub cmrf: Option<f64>,
}

impl Plan {
    /// The plan of an engine.
    pub fn new(plan: impl EnginePlan) -> Self {
        Self(Arc::new(plan))
    }
    /// The plan as the type of its engine.
    /// # Errors
    /// [`Error::Argument`] if another kind of engine made it.
    pub fn of<P: EnginePlan>(&self) -> Result<&P> {
        let plan: &dyn Any = &*self.0;
        plan.downcast_ref()
            .ok_or_else(|| Error::Argument { name: "plan", message: "it was made on another machine".into() })
    }
    /// Name of the machine that made it, as of [`Machine::name`](super::Machine::name).
    #[must_use]
    pub fn machine(&self) -> String {
        self.0.engine()
    }
    /// Multiplications.
    #[must_use]
    pub fn flops(&self) -> u64 {
        self.stats().flops
    }
    /// Entries of C.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.stats().nnz
    }
    /// Rows and columns of C.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }
    /// The choices and their reasons.
    #[must_use]
    pub fn explain(&self) -> String {
        self.0.explain()
    }
    /// Statistics of the product.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }
}
