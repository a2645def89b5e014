//! How to read and how to write.

use crate::io::text::Limits;
use crate::par::Threads;

/// How to read a file; but for [`lenient`](Self::lenient) none of it changes the result.
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
    /// The threads of the caller's pool, no limit.
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
    /// Also takes what other programs write and the format leaves open, each in one way:
    ///
    /// | in the file | read as |
    /// | --- | --- |
    /// | (i, j) and (j, i), i > j, in a file of one triangle | (i, j) alone |
    /// | numbers behind the positions of a `pattern` | positions |
    /// | a `pattern` that is `skew-symmetric` or `hermitian` | positions, and those on the other side of the diagonal |
    /// | `%MatrixMarket` | `%%MatrixMarket` |
    /// | comments among the entries | nothing |
    /// | real numbers that are whole, up to 2⁵³, in an `integer` file | integers |
    /// | bytes behind the compressed text that are not gzip | nothing |
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

/// How to write a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions<'a> {
    pub(crate) threads: Option<&'a Threads>,
    pub(crate) comment: &'a str,
    pub(crate) symmetric: bool,
    pub(crate) pattern_only: bool,
}

impl<'a> WriteOptions<'a> {
    /// All entries, no comment, the threads of the caller's pool.
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
    /// Puts `text` below the banner, each of its lines as a comment.
    #[must_use]
    pub fn comment(mut self, text: &'a str) -> Self {
        self.comment = text;
        self
    }
    /// Writes the lower triangle alone, as a symmetric file; a matrix that is not symmetric is an error.
    #[must_use]
    pub fn symmetric(mut self) -> Self {
        self.symmetric = true;
        self
    }
    /// Writes positions without values.
    #[must_use]
    pub fn pattern_only(mut self) -> Self {
        self.pattern_only = true;
        self
    }
}
