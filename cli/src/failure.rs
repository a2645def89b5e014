//! Why a command ended early, and with which exit code.

use std::cell::Cell;
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

/// Standard input and output, as errors call them.
pub(crate) const STDIN: &str = "standard input";
pub(crate) const STDOUT: &str = "standard output";

/// How the program ends, for scripts.
pub(crate) const STATUS: [(&str, &str); 3] = [
    ("0", "Done; also if whoever reads the output has left."),
    ("1", "The machine gave out: memory, a budget, a full or broken disk, threads, a GPU; or a result is wrong."),
    ("2", "What was asked for is wrong: usage, names, files that are not there or not what they should be."),
];

thread_local!(static QUIET: Cell<bool> = const { Cell::new(false) });

/// Runs `work`, a panic of which is caught and told by other words.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    QUIET.set(true);
    let done = work();
    QUIET.set(false);
    done
}

/// Whether another process of the job says what went wrong.
#[cfg(feature = "cluster")]
static SILENT: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// The processes of the job, until what went wrong has been said. They end together: without the first, which says it,
/// `mpirun` would end that one too as soon as another exits with a status.
#[cfg(feature = "cluster")]
static JOB: std::sync::Mutex<Option<sparring_cluster::Cluster>> = std::sync::Mutex::new(None);

/// Keeps the job of this process until [`release`].
#[cfg(feature = "cluster")]
pub(crate) fn hold(cluster: sparring_cluster::Cluster) {
    *JOB.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(cluster);
}

/// Lets the job of this process end.
pub(crate) fn release() {
    #[cfg(feature = "cluster")]
    drop(JOB.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
}

/// Leaves it to another process to say what went wrong.
#[cfg(feature = "cluster")]
pub(crate) fn silence() {
    SILENT.store(true, std::sync::atomic::Ordering::Relaxed);
}

/// Keeps what is caught from standard error.
pub(crate) fn hook() {
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !QUIET.get() {
            shown(panic);
        }
    }));
}

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
        #[cfg(feature = "cluster")]
        if SILENT.load(std::sync::atomic::Ordering::Relaxed) {
            return ExitCode::from(code);
        }
        // A closed standard error must not panic either.
        let _ = writeln!(io::stderr(), "sparring: {}", if shown { message } else { message.replace('\n', " ") });
        ExitCode::from(code)
    }
}
