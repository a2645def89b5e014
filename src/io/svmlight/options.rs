//! Options of the svmlight reader.

use crate::io::common::{Common, common_options};
use crate::io::text::Limits;

/// Options for reading an svmlight file.
///
/// ```
/// use sparring::io::{SvmlightOptions, parse_svmlight_with};
/// let options = SvmlightOptions::new().columns(5);
/// let file = parse_svmlight_with(b"+1 1:0.5 3:2\n-1 2:7 # note\n", "example", &options)?;
/// assert_eq!(file.labels.iter().collect::<Vec<_>>(), ["+1", "-1"]);
/// let a = file.csr::<f64>()?;
/// assert_eq!((a.shape(), a.get(0, 2)), ((2, 5), Some(&2.0)));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SvmlightOptions<'a> {
    pub(super) common: Common<'a>,
    pub(super) zero_based: bool,
    pub(super) columns: Option<usize>,
}

common_options! { SvmlightOptions }

impl SvmlightOptions<'_> {
    /// Whether columns are zero-based, as in some files of scikit-learn, instead of one-based.
    #[must_use]
    pub fn zero_based(mut self, zero_based: bool) -> Self {
        self.zero_based = zero_based;
        self
    }
    /// The number of columns, for matrices whose last columns are empty; a column out of range is an error.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = Some(columns);
        self
    }
    pub(super) fn limits(&self) -> Limits {
        self.common.limits("text of a file of svmlight")
    }
}
