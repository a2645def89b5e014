//! Errors of commands, and their exit codes.

use std::cell::Cell;
use std::io::{self, Write};
use std::process::ExitCode;

use sparring::Error;

/// The reason why a command failed.
pub(crate) enum Failure {
    /// The library rejected the input, or ran out of resources.
    Library(Error),
    /// Writing to standard output failed.
    Output(io::Error),
    /// A result is wrong: a bug, or faulty memory.
    Wrong(String),
}

pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Self::Library(e)
    }
}

/// Names of standard input and output in errors.
pub(crate) const STDIN: &str = "standard input";
pub(crate) const STDOUT: &str = "standard output";

/// The exit codes.
pub(crate) const STATUS: [(&str, &str); 3] = [
    ("0", "Success; also if the reader of the output closed the pipe."),
    ("1", "Failure of a resource (memory, budget, disk, threads, GPU), or a wrong result."),
    ("2", "Invalid input: usage, unknown names, missing or malformed files."),
];

thread_local!(static QUIET: Cell<bool> = const { Cell::new(false) });

/// Runs `work` without printing its panic, which the caller catches and reports.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    QUIET.set(true);
    let done = work();
    QUIET.set(false);
    done
}

/// Whether another process of the job reports the error.
#[cfg(feature = "cluster")]
static SILENT: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// The job, held until its error has been reported. All processes end together: otherwise `mpirun` could kill the
/// first, which reports the error, as soon as another one exits with a status.
#[cfg(feature = "cluster")]
static JOB: std::sync::Mutex<Option<sparring_cluster::Cluster>> = std::sync::Mutex::new(None);

/// Holds the job of this process until [`release`].
#[cfg(feature = "cluster")]
pub(crate) fn hold(cluster: sparring_cluster::Cluster) {
    *JOB.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(cluster);
}

/// Lets the job of this process end.
pub(crate) fn release() {
    #[cfg(feature = "cluster")]
    drop(JOB.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
}

/// Leaves the error report to another process.
#[cfg(feature = "cluster")]
pub(crate) fn silence() {
    SILENT.store(true, std::sync::atomic::Ordering::Relaxed);
}

/// Suppresses the messages of panics that are caught.
pub(crate) fn hook() {
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !QUIET.get() {
            shown(panic);
        }
    }));
}

/// Whether an I/O error is the user's: a missing, inaccessible or malformed file. Others, such as a full or broken
/// disk, are the system's.
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
    /// Prints one line on standard error, more for a formula or expression with its position. Returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let shown = matches!(self, Self::Library(Error::Formula { .. } | Error::Expression { .. }));
        let (message, code) = match self {
            // A reader that closes the pipe, such as `head`, is not an error.
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
                    // Without the source of the program.
                    Error::Compile { program, log, .. } => format!("{program} does not compile: {log}"),
                    e => e.to_string(),
                };
                (message, if ours { 1 } else { 2 })
            }
        };
        #[cfg(feature = "cluster")]
        if SILENT.load(std::sync::atomic::Ordering::Relaxed) {
            return ExitCode::from(code);
        }
        // A closed standard error must not panic either.
        let _ = writeln!(io::stderr(), "sparring: {}", if shown { message } else { message.replace('\n', " ") });
        ExitCode::from(code)
    }
}
