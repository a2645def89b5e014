//! The library's errors as Python's exceptions, with its sentences.

use pyo3::exceptions::{
    PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyTypeError,
    PyValueError,
};
use pyo3::{PyErr, PyResult};
use sparring::Error;

/// The exception of an error.
pub(crate) fn raised(e: Error) -> PyErr {
    let message = e.to_string();
    match e {
        Error::OutOfMemory { .. } | Error::Budget { .. } | Error::DeviceMemory { .. } => {
            PyMemoryError::new_err(message)
        }
        Error::IndexRange { .. } | Error::ListIndex { .. } => PyIndexError::new_err(message),
        Error::IndexOverflow { .. } => PyOverflowError::new_err(message),
        Error::Unsupported { .. } => PyTypeError::new_err(message),
        Error::Io { source, .. } => match source.raw_os_error() {
            Some(code) => PyOSError::new_err((code, message)),
            None => PyOSError::new_err(message),
        },
        Error::Cancelled { .. } => PyKeyboardInterrupt::new_err(message),
        Error::NoDevice { .. } | Error::NoCompiler { .. } | Error::Compile { .. } | Error::Device { .. } => {
            PyRuntimeError::new_err(message)
        }
        _ => PyValueError::new_err(message),
    }
}

/// A result whose error is an exception.
pub(crate) trait Raise<T> {
    fn raise(self) -> PyResult<T>;
}
impl<T> Raise<T> for sparring::Result<T> {
    fn raise(self) -> PyResult<T> {
        self.map_err(raised)
    }
}
