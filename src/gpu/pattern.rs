//! The pattern of a matrix, on the device.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use super::arg::Arg;
use super::buffer::Buffer;
use crate::Result;

/// Row pointers on the device: 32 bits wide if the number of entries fits.
#[derive(Debug)]
pub(crate) enum Offsets {
    /// Fewer than 2³² entries.
    Small(Buffer<u32>),
    /// Any number of entries.
    Large(Buffer<u64>),
}

impl Offsets {
    /// The type of a row pointer in CUDA C++.
    pub(crate) fn cuda(&self) -> &'static str {
        match self {
            Self::Small(_) => "unsigned int",
            Self::Large(_) => "unsigned long long",
        }
    }
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Small(p) => p.bytes(),
            Self::Large(p) => p.bytes(),
        }
    }
    /// Whether they are 64 bits wide.
    pub(crate) fn is_large(&self) -> bool {
        matches!(self, Self::Large(_))
    }
}

impl From<&Offsets> for Arg {
    fn from(offsets: &Offsets) -> Self {
        match offsets {
            Offsets::Small(p) => p.into(),
            Offsets::Large(p) => p.into(),
        }
    }
}

/// Cached properties of a pattern, one value per type; each operation has its own types.
#[derive(Default)]
pub(crate) struct Facts(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl Facts {
    /// The cached value of type F, if there is one.
    pub(crate) fn find<F: Any + Send + Sync>(&self) -> Option<Arc<F>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|fact| fact.is::<F>()).and_then(|fact| Arc::clone(fact).downcast().ok())
    }
    /// The cached value of type F, computed if it is missing. If two threads compute it, one of the two values is
    /// discarded.
    pub(crate) fn get_or_make<F: Any + Send + Sync>(&self, make: impl FnOnce() -> Result<F>) -> Result<Arc<F>> {
        if let Some(found) = self.find() {
            return Ok(found);
        }
        // Not under the lock: `make` may query other properties.
        let made = Arc::new(make()?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = known.iter().find(|fact| fact.is::<F>()).and_then(|f| Arc::clone(f).downcast().ok()) {
            return Ok(first);
        }
        known.push(Arc::clone(&made) as _);
        Ok(made)
    }
}

impl std::fmt::Debug for Facts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Facts({})", self.0.lock().unwrap_or_else(PoisonError::into_inner).len())
    }
}

/// The pattern of a sparse matrix on the device: row pointers, 32-bit columns.
///
/// Plans are made from patterns, so one plan serves all matrices that share a pattern.
///
/// # Example
/// ```no_run
/// use sparring::{Cuda, Pattern};
/// let cuda = Cuda::new(0)?;
/// let pattern = Pattern::<u32>::new(2, 3, vec![0, 2, 3], vec![0, 2, 1])?;
/// let on_device = cuda.upload_pattern(&pattern)?;
/// assert_eq!((on_device.shape(), on_device.nnz(), on_device.is_sorted()), ((2, 3), 3, true));
/// assert_eq!(cuda.download_pattern::<u32>(&on_device)?, pattern);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct DevicePattern {
    pub(crate) nrows: usize,
    pub(crate) ncols: usize,
    pub(crate) nnz: usize,
    pub(crate) sorted: bool,
    pub(crate) row_ptr: Offsets,
    pub(crate) col_idx: Buffer<u32>,
    /// Properties cached by operations.
    pub(crate) facts: Facts,
}

impl DevicePattern {
    /// A pattern of these arrays; the caller guarantees that they are consistent.
    pub(crate) fn new((nrows, ncols): (usize, usize), sorted: bool, row_ptr: Offsets, col_idx: Buffer<u32>) -> Self {
        Self { nrows, ncols, nnz: col_idx.len(), sorted, row_ptr, col_idx, facts: Facts::default() }
    }
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.nrows, self.ncols)
    }
    /// Entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.nnz
    }
    /// Whether columns increase within every row.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.row_ptr.bytes() + self.col_idx.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_made_once() {
        let facts = Facts::default();
        assert_eq!(*facts.get_or_make(|| Ok(1u32)).unwrap(), 1);
        assert_eq!(*facts.get_or_make(|| Ok(2u32)).unwrap(), 1);
        assert_eq!(*facts.get_or_make(|| Ok("another type")).unwrap(), "another type");
        let refused = facts.get_or_make::<u8>(|| Err(crate::Error::Cancelled { op: "a test", done: 0, total: 1 }));
        assert!(refused.is_err());
        assert_eq!(*facts.get_or_make(|| Ok(3u8)).unwrap(), 3, "an error is not kept");
    }
}
