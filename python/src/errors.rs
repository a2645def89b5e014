//! The library's errors as Python's exceptions, with its sentences.

use pyo3::exceptions::{
    PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyTypeError,
    PyValueError,
};
use pyo3::prelude::*;
use sparring::Error;

/// Characters of a message: names and formulas of any length may be quoted in it.
const MESSAGE: usize = 2000;
/// Characters of an object that a message shows.
const SHOWN: usize = 100;

/// The text, its end left out if it is longer than any reader wants.
fn brief(text: String) -> String {
    match text.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
        None => text,
    }
}

/// The object as Python shows it, in a few words.
pub(crate) fn shown(of: &Bound<'_, PyAny>) -> String {
    let text = of.repr().ok().and_then(|text| Some(text.to_str().ok()?.to_owned()));
    // An integer of thousands of digits has no text.
    let text = text
        .unwrap_or_else(|| of.get_type().name().map_or_else(|_| "an object".into(), |name| format!("{name} object")));
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The exception of an error.
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

/// A result whose error is an exception.
pub(crate) trait Raise<T> {
    fn raise(self) -> PyResult<T>;
}
impl<T> Raise<T> for sparring::Result<T> {
    fn raise(self) -> PyResult<T> {
        self.map_err(raised)
    }
}
