//! Library errors as Python exceptions, with the same messages.

use pyo3::exceptions::{
    PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyTypeError,
    PyValueError,
};
use pyo3::prelude::*;
use sparring::Error;

/// Maximum characters of a message, which may quote long names and formulas.
const MESSAGE: usize = 2000;
/// Maximum characters of an object in a message.
const SHOWN: usize = 100;

/// The text, truncated if it is too long.
fn brief(text: String) -> String {
    match text.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
        None => text,
    }
}

/// The repr of an object, abbreviated.
pub(crate) fn shown(of: &Bound<'_, PyAny>) -> String {
    let text = of.repr().ok().and_then(|text| Some(text.to_str().ok()?.to_owned()));
    // An integer with thousands of digits has no repr.
    let text = text
        .unwrap_or_else(|| of.get_type().name().map_or_else(|_| "an object".into(), |name| format!("{name} object")));
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The exception for an error.
pub(crate) fn raised(e: Error) -> PyErr {
    let message = brief(e.to_string());
    match e {
        Error::OutOfMemory { .. } | Error::Budget { .. } | Error::DeviceMemory { .. } => {
            PyMemoryError::new_err(message)
        }
        Error::IndexRange { .. } | Error::ListIndex { .. } => PyIndexError::new_err(message),
        Error::IndexOverflow { .. } => PyOverflowError::new_err(message),
        Error::Unsupported { .. } => PyTypeError::new_err(message),
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::OutOfMemory => PyMemoryError::new_err(message),
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

/// Conversion of a result's error to an exception.
pub(crate) trait Raise<T> {
    fn raise(self) -> PyResult<T>;
}
impl<T> Raise<T> for sparring::Result<T> {
    fn raise(self) -> PyResult<T> {
        self.map_err(raised)
    }
}
