//! Objects that are written in place: `Matrix` and `Vector`.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::prelude::*;

/// A value that one thread writes at a time. Who waits for it does so without the interpreter, so that the writer can
/// go on.
pub(crate) struct Held<X>(Mutex<X>);

impl<X: Clone + Send> Held<X> {
    pub(crate) fn new(x: X) -> Self {
        Self(Mutex::new(x))
    }
    /// Another handle of the value; nothing is copied.
    pub(crate) fn get(&self, py: Python<'_>) -> X {
        self.lock(py).clone()
    }
    /// The value, to be written.
    pub(crate) fn lock(&self, py: Python<'_>) -> MutexGuard<'_, X> {
        match self.0.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => {
                // A guard does not cross the border, so the lock is taken again with the interpreter.
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
