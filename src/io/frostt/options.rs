//! How to read.

use crate::io::text::Limits;
use crate::par::Threads;

/// What becomes of entries that are in a file more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// They are added up in the order of the file ([`MarketValue::repeated`](crate::io::MarketValue::repeated)). The
    /// entries come sorted by their indices, the last mode fastest; a file that is sorted so is not sorted again.
    #[default]
    Sum,
    /// The first entry that repeats another is an error. The entries come in the order of the file.
    Refuse,
    /// They are kept, and nothing is looked at: the fastest, for files that are known to have none. The entries come in
    /// the order of the file. Norms, and what is made of them, are not those of the sum.
    Keep,
}

/// How to read a FROSTT file.
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
    /// The threads of the caller's pool, no limit, dimensions as the entries have them, duplicates added up.
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
    /// Cuts the text into pieces of about so many bytes, one task each: at least 1, at most 4 GiB.
    #[must_use]
    pub fn piece_bytes(mut self, bytes: usize) -> Self {
        self.piece_bytes = bytes.clamp(1, Limits::LARGEST_PIECE);
        self
    }
    /// Refuses text of more bytes (after decompression, so that a small file cannot fill the memory).
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }
    /// The size of each mode, for tensors whose last slices are empty; an index beyond it is an error.
    #[must_use]
    pub fn dims(mut self, dims: &'a [usize]) -> Self {
        self.dims = Some(dims);
        self
    }
    /// Whether the last number of a line is a value. Without, all are indices and every value is 1.
    #[must_use]
    pub fn values(mut self, values: bool) -> Self {
        self.values = values;
        self
    }
    /// What becomes of entries that are repeated.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }
    /// Also takes comments behind entries, and leaves out bytes behind the compressed text that are not gzip.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }
    /// Whether indices count from 0, and not from 1 as the format says.
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
