//! Locks of the objects that are written in place: `Matrix` and `Vector`.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::prelude::*;

/// A value with a single writer at a time. Waiting releases the GIL, so that the writer can proceed.
pub(crate) struct Held<X>(Mutex<X>);

impl<X: Clone + Send> Held<X> {
    pub(crate) fn new(x: X) -> Self {
        Self(Mutex::new(x))
    }
    /// Another handle to the value, without a copy.
    pub(crate) fn get(&self, py: Python<'_>) -> X {
        self.lock(py).clone()
    }
    /// Locks the value for writing.
    pub(crate) fn lock(&self, py: Python<'_>) -> MutexGuard<'_, X> {
        match self.0.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => {
                // A guard is not `Send` and cannot leave `detach`, so the lock is retaken with the GIL held.
                loop {
                    py.detach(|| drop(self.0.lock().unwrap_or_else(PoisonError::into_inner)));
                    match self.0.try_lock() {
                        Ok(guard) => return guard,
                        Err(TryLockError::Poisoned(guard)) => return guard.into_inner(),
                        Err(TryLockError::WouldBlock) => {}
                    }
                }
            }
        }
    }
}
