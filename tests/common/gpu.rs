//! The GPU used by tests. These tests are ignored, with that reason, unless run with `--include-ignored`.

use sparring::Cuda;

/// The first GPU.
pub(crate) fn cuda() -> Cuda {
    Cuda::new(0).unwrap_or_else(|e| panic!("{e}"))
}
