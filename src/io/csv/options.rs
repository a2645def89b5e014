//! Options of the CSV reader.

use crate::io::common::{Common, common_options};
use crate::io::text::Limits;

/// Options for reading a table of numbers.
///
/// ```
/// use sparring::io::{CsvOptions, parse_csv_with};
/// let options = CsvOptions::new().header(true).delimiter(b';');
/// let table = parse_csv_with(b"height;weight\n1.5;0\n0;70\n", "example", &options)?;
/// assert_eq!(table.columns.iter().collect::<Vec<_>>(), ["height", "weight"]);
/// let a = table.csr::<f64>()?;
/// assert_eq!((a.shape(), a.nnz(), a.get(1, 1)), ((2, 2), 2, Some(&70.0)));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CsvOptions<'a> {
    pub(super) common: Common<'a>,
    pub(super) header: Option<bool>,
    pub(super) delimiter: u8,
}

impl Default for CsvOptions<'_> {
    fn default() -> Self {
        Self { common: Common::default(), header: None, delimiter: b',' }
    }
}

common_options! { CsvOptions }

impl CsvOptions<'_> {
    /// Whether the first line is a header. If unset, a first line that is not all numbers is an error.
    #[must_use]
    pub fn header(mut self, header: bool) -> Self {
        self.header = Some(header);
        self
    }
    /// The delimiter between cells; a comma by default. A space stands for any number of spaces and tabs.
    #[must_use]
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        self.delimiter = delimiter;
        self
    }
    pub(super) fn limits(&self) -> Limits {
        self.common.limits("text of a CSV file")
    }
}
