//! Why a command ended early, and with which exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use sparring::Error;

/// What ended a command.
pub(crate) enum Failure {
    /// The library refused the input, or the machine gave out.
    Library(Error),
    /// Standard output could not be written.
    Output(io::Error),
    /// A result is not what it must be: a bug, or broken memory.
    Wrong(String),
}

pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Self::Library(e)
    }
}

/// Standard output, as errors call it.
pub(crate) const STDOUT: &str = "standard output";

/// Whether the user named a file that is not there, may not be used, or is not what it should be. All else, a full disk
/// or a broken one, is the machine's.
fn users(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::*;
    matches!(
        kind,
        NotFound
            | PermissionDenied
            | ReadOnlyFilesystem
            | AlreadyExists
            | IsADirectory
            | NotADirectory
            | InvalidInput
            | InvalidData
            | InvalidFilename
            | UnexpectedEof
    )
}

impl Failure {
    /// One line on standard error, more for a formula or an expression, whose place is shown; and the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let shown = matches!(self, Self::Library(Error::Formula { .. } | Error::Expression { .. }));
        let (message, code) = match self {
            // Whoever read our output has seen enough; that is not an error.
            Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Output(e) => (format!("{STDOUT}: {e}"), 1),
            Self::Wrong(message) => (message, 1),
            Self::Library(Error::Io { source, path })
                if path == STDOUT && source.kind() == io::ErrorKind::BrokenPipe =>
            {
                return ExitCode::SUCCESS;
            }
            Self::Library(e) => {
                let ours = matches!(
                    e,
                    Error::OutOfMemory { .. }
                        | Error::Budget { .. }
                        | Error::Threads { .. }
                        | Error::Cancelled { .. }
                        | Error::NoDevice { .. }
                        | Error::NoCompiler { .. }
                        | Error::Compile { .. }
                        | Error::Device { .. }
                        | Error::DeviceMemory { .. }
                ) || matches!(&e, Error::Io { source, .. } if !users(source.kind()));
                let message = match e {
                    // Without the whole program.
                    Error::Compile { program, log, .. } => format!("{program} does not compile: {log}"),
                    e => e.to_string(),
                };
                (message, if ours { 1 } else { 2 })
            }
        };
        // A closed standard error must not panic either.
        let _ = writeln!(io::stderr(), "sparring: {}", if shown { message } else { message.replace('\n', " ") });
        ExitCode::from(code)
    }
}
