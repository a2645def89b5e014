//! Options of the Matrix Market reader and writer.

use crate::io::text::Limits;
use crate::par::Threads;

/// Options for reading a file; only [`lenient`](Self::lenient) can change the result.
///
/// ```no_run
/// use sparring::io::{ReadOptions, read_matrix_market_with};
/// use sparring::par::Threads;
/// let threads = Threads::new(4)?;
/// let file = read_matrix_market_with("a.mtx.gz", &ReadOptions::new().threads(&threads).max_bytes(1 << 30))?;
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions<'a> {
    pub(super) threads: Option<&'a Threads>,
    pub(super) piece_bytes: usize,
    pub(super) max_bytes: u64,
    pub(super) lenient: bool,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        Self { threads: None, piece_bytes: Limits::PIECE, max_bytes: u64::MAX, lenient: false }
    }
}

impl<'a> ReadOptions<'a> {
    /// Defaults: the threads of the caller's pool, no size limit.
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
    /// Also accepts common deviations from the format, each with a fixed interpretation:
    ///
    /// | in the file | read as |
    /// | --- | --- |
    /// | (i, j) and (j, i), i > j, in a file of one triangle | (i, j) only |
    /// | numbers after the indices of a `pattern` entry | ignored |
    /// | a `pattern` that is `skew-symmetric` or `hermitian` | the indices and their mirror images |
    /// | `%MatrixMarket` | `%%MatrixMarket` |
    /// | comments among the entries | ignored |
    /// | integral real numbers, up to 2⁵³, in an `integer` file | integers |
    /// | trailing bytes after the compressed text that are not gzip | ignored |
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }
    pub(super) fn limits(&self) -> Limits {
        let Self { max_bytes, piece_bytes, lenient, .. } = *self;
        Limits { what: "text of a Matrix Market file", max_bytes, piece_bytes, lenient }
    }
}

/// Options for writing a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions<'a> {
    pub(crate) threads: Option<&'a Threads>,
    pub(crate) comment: &'a str,
    pub(crate) symmetric: bool,
    pub(crate) pattern_only: bool,
}

impl<'a> WriteOptions<'a> {
    /// Defaults: all entries, no comment, the threads of the caller's pool.
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
    /// Writes `text` below the banner, as comment lines.
    #[must_use]
    pub fn comment(mut self, text: &'a str) -> Self {
        self.comment = text;
        self
    }
    /// Writes only the lower triangle, as a symmetric file; a matrix that is not symmetric is an error.
    #[must_use]
    pub fn symmetric(mut self) -> Self {
        self.symmetric = true;
        self
    }
    /// Writes the pattern without values.
    #[must_use]
    pub fn pattern_only(mut self) -> Self {
        self.pattern_only = true;
        self
    }
}
