//! Whole files as bytes, decompressed.

use std::io::Read;
use std::path::Path;

use super::text::{Limits, binary_from, binary_of, unpacked};
use crate::Result;

fn limits(max_bytes: u64) -> Limits {
    Limits { what: "a file", max_bytes, piece_bytes: Limits::PIECE, lenient: false }
}

/// The bytes of a file, decompressed if it is a gzip file (or zstd, with the feature `zstd`). `max_bytes` limits the
/// size of the file and of its decompressed content. Cost: O(bytes).
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.json");
/// std::fs::write(&path, "[1, 2]")?;
/// assert_eq!(sparring::io::read_bytes(&path, 1 << 20)?, b"[1, 2]");
/// assert!(sparring::io::read_bytes(&path, 5).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
/// # Errors
/// [`Io`](crate::Error::Io); [`Budget`](crate::Error::Budget) for a larger file;
/// [`OutOfMemory`](crate::Error::OutOfMemory).
pub fn read_bytes(path: impl AsRef<Path>, max_bytes: u64) -> Result<Vec<u8>> {
    let limits = limits(max_bytes);
    let (name, bytes) = binary_of(path.as_ref(), &limits)?;
    whole(bytes, &name, &limits)
}

/// [`read_bytes`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_bytes`].
pub fn read_bytes_from(from: &mut dyn Read, name: &str, max_bytes: u64) -> Result<Vec<u8>> {
    let limits = limits(max_bytes);
    whole(binary_from(from, name, &limits)?, name, &limits)
}

fn whole(bytes: Vec<u8>, name: &str, limits: &Limits) -> Result<Vec<u8>> {
    let other = match unpacked(&bytes, name, limits, &|_| None)? {
        std::borrow::Cow::Borrowed(_) => None,
        std::borrow::Cow::Owned(content) => Some(content),
    };
    Ok(other.unwrap_or(bytes))
}
