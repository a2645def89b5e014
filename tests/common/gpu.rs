//! The GPU that tests run on: they are ignored, with that reason, unless asked for (`--include-ignored`).

use sparring::Cuda;

/// The first GPU.
pub(crate) fn cuda() -> Cuda {
    Cuda::new(0).unwrap_or_else(|e| panic!("{e}"))
}
