//! What is wrong with a file, and what ends writing one.

use sparring::Error;

/// The error that a file is not what its name says.
pub(super) fn broken(name: &str, why: impl Into<String>) -> Error {
    Error::Unsupported { what: format!("the file {name}"), why: why.into() }
}

/// What ends writing: the system, or the matrix.
pub(crate) enum Stop {
    Io(std::io::Error),
    Other(Error),
}
impl From<std::io::Error> for Stop {
    fn from(e: std::io::Error) -> Self {
        Self::Io(e)
    }
}
impl From<Error> for Stop {
    fn from(e: Error) -> Self {
        match e {
            Error::Io { source, .. } => Self::Io(source),
            e => Self::Other(e),
        }
    }
}
