//! Files as they are, unpacked.

use std::io::Read;
use std::path::Path;

use super::text::{Limits, binary_from, binary_of, unpacked};
use crate::Result;

fn limits(max_bytes: u64) -> Limits {
    Limits { what: "a file", max_bytes, piece_bytes: Limits::PIECE, lenient: false }
}

/// The bytes of a file, unpacked if it is compressed by gzip (or zstd, with the feature `zstd`), `max_bytes` of them at
/// most. Cost: O(bytes).
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
/// [`Io`](crate::Error::Io); [`Budget`](crate::Error::Budget) for more bytes;
/// [`OutOfMemory`](crate::Error::OutOfMemory).
pub fn read_bytes(path: impl AsRef<Path>, max_bytes: u64) -> Result<Vec<u8>> {
    let limits = limits(max_bytes);
    let (name, bytes) = binary_of(path.as_ref(), &limits)?;
    whole(bytes, &name, &limits)
}

/// As [`read_bytes`], from whatever can be read, such as standard input; errors call it `name`.
/// # Errors
/// As there.
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
