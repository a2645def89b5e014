//! Options of the FROSTT reader.

use crate::io::text::Limits;
use crate::par::Threads;

/// Treatment of duplicate entries in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Sums duplicates in file order ([`MarketValue::repeated`](crate::io::MarketValue::repeated)). The result is
    /// sorted lexicographically, the last mode fastest; a sorted file is not sorted again.
    #[default]
    Sum,
    /// Duplicates are an error. Entries stay in file order.
    Refuse,
    /// Duplicates are stored without any check: fastest, for files known to have none. Entries stay in file order. With
    /// duplicates, norms and derived quantities differ from those of the summed tensor.
    Keep,
}

/// Options for reading a FROSTT file.
///
/// ```no_run
/// use sparring::io::{Duplicates, FrosttOptions, read_frostt_with};
/// // A knowledge graph: every column is an index, every value is 1.
/// let options = FrosttOptions::new().values(false).duplicates(Duplicates::Refuse);
/// let x = read_frostt_with::<f32>("JF17K.txt", &options)?;
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FrosttOptions<'a> {
    pub(super) threads: Option<&'a Threads>,
    pub(super) piece_bytes: usize,
    pub(super) max_bytes: u64,
    pub(super) dims: Option<&'a [usize]>,
    pub(super) values: bool,
    pub(super) duplicates: Duplicates,
    pub(super) lenient: bool,
    pub(super) zero_based: bool,
}

impl Default for FrosttOptions<'_> {
    fn default() -> Self {
        Self {
            threads: None,
            piece_bytes: Limits::PIECE,
            max_bytes: u64::MAX,
            dims: None,
            values: true,
            duplicates: Duplicates::Sum,
            lenient: false,
            zero_based: false,
        }
    }
}

impl<'a> FrosttOptions<'a> {
    /// Defaults: the threads of the caller's pool, no size limit, dimensions from the entries, duplicates summed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Uses `threads`.
    #[must_use]
    pub fn threads(mut self, threads: &'a Threads) -> Self {
        self.threads = Some(threads);
        self
    }
    /// Approximate size of the pieces into which text is split, one task each: 1 byte to 4 GiB.
    #[must_use]
    pub fn piece_bytes(mut self, bytes: usize) -> Self {
        self.piece_bytes = bytes.clamp(1, Limits::LARGEST_PIECE);
        self
    }
    /// Maximum size of the text after decompression, so that a small file cannot exhaust memory.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }
    /// The dimensions, for tensors whose last slices are empty; an index out of range is an error.
    #[must_use]
    pub fn dims(mut self, dims: &'a [usize]) -> Self {
        self.dims = Some(dims);
        self
    }
    /// Whether the last number of a line is a value. If not, all numbers are indices and every value is 1.
    #[must_use]
    pub fn values(mut self, values: bool) -> Self {
        self.values = values;
        self
    }
    /// Treatment of duplicate entries.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }
    /// Also accepts comments after entries, and ignores trailing bytes after the compressed text that are not gzip.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }
    /// Whether indices are zero-based, instead of one-based as the format specifies.
    #[must_use]
    pub fn zero_based(mut self, zero_based: bool) -> Self {
        self.zero_based = zero_based;
        self
    }
    pub(super) fn limits(&self) -> Limits {
        let Self { max_bytes, piece_bytes, lenient, .. } = *self;
        Limits { what: "text of a FROSTT file", max_bytes, piece_bytes, lenient }
    }
}
