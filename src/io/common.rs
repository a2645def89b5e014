//! Options common to all readers.

use super::text::Limits;
use crate::par::Threads;

/// Threads, piece size and limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common<'a> {
    pub(super) threads: Option<&'a Threads>,
    pub(super) piece_bytes: usize,
    pub(super) max_bytes: u64,
    pub(super) lenient: bool,
}

impl Default for Common<'_> {
    fn default() -> Self {
        Self { threads: None, piece_bytes: Limits::PIECE, max_bytes: u64::MAX, lenient: false }
    }
}

impl Common<'_> {
    pub(super) fn limits(&self, what: &'static str) -> Limits {
        let Self { piece_bytes, max_bytes, lenient, .. } = *self;
        Limits { what, max_bytes, piece_bytes, lenient }
    }
}

/// The setters of [`Common`].
macro_rules! common_options {
    ($options:ident) => {
        impl<'a> $options<'a> {
            /// Defaults: the threads of the caller's pool, no size limit, ambiguous files are errors.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }
            /// Uses `threads`.
            #[must_use]
            pub fn threads(mut self, threads: &'a crate::par::Threads) -> Self {
                self.common.threads = Some(threads);
                self
            }
            /// Approximate size of the pieces into which text is split, one task each: 1 byte to 4 GiB.
            #[must_use]
            pub fn piece_bytes(mut self, bytes: usize) -> Self {
                self.common.piece_bytes = bytes.clamp(1, crate::io::text::Limits::LARGEST_PIECE);
                self
            }
            /// Maximum size of a file after decompression, so that a small file cannot exhaust memory.
            #[must_use]
            pub fn max_bytes(mut self, bytes: u64) -> Self {
                self.common.max_bytes = bytes;
                self
            }
            /// Ignores trailing bytes after compressed text that are not gzip.
            #[must_use]
            pub fn lenient(mut self, lenient: bool) -> Self {
                self.common.lenient = lenient;
                self
            }
        }
    };
}
pub(super) use common_options;
