//! Options of the NumPy readers.

use crate::io::common::{Common, common_options};
use crate::io::text::Limits;

/// Options for reading NumPy and SciPy files.
///
/// ```no_run
/// use sparring::io::{NumpyOptions, read_npz_with};
/// let file = read_npz_with("a.npz", &NumpyOptions::new().max_bytes(1 << 30))?;
/// println!("{} entries of {}", file.pattern.nnz(), file.values.ty());
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NumpyOptions<'a> {
    pub(super) common: Common<'a>,
}

common_options! { NumpyOptions }

impl NumpyOptions<'_> {
    pub(super) fn limits(&self) -> Limits {
        self.common.limits("a file of NumPy")
    }
}
