//! Options of the MAT-file reader.

use crate::io::common::{Common, common_options};
use crate::io::text::Limits;

/// Options for reading MAT-files.
///
/// ```no_run
/// use sparring::io::{MatlabOptions, read_mat_with};
/// let a = read_mat_with("west0479.mat", &MatlabOptions::new())?.csr::<f64>()?;
/// let b = read_mat_with("work.mat", &MatlabOptions::new().variable("B"))?;
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MatlabOptions<'a> {
    pub(super) common: Common<'a>,
    pub(super) variable: Option<&'a str>,
}

common_options! { MatlabOptions }

impl<'a> MatlabOptions<'a> {
    /// The variable to read, with the field if it is a structure: `A`, `Problem.A`.
    #[must_use]
    pub fn variable(mut self, name: &'a str) -> Self {
        self.variable = Some(name);
        self
    }
    pub(super) fn limits(&self) -> Limits {
        self.common.limits("a MAT-file")
    }
}
