//! All bytes of a file, as long as they may be those of a file of its kind.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::cursor::Bad;
use super::gzip::{check_size, is_gzip};
use super::pieces::Limits;
use crate::par::reserved;
use crate::{Error, Result};

/// Bytes that are looked at before a file is read whole.
const FIRST_BYTES: usize = 256;

/// Name and bytes of the file at `path`; `first` looks at the first 256 bytes of what is not compressed.
pub(crate) fn bytes_of(
    path: &Path,
    limits: &Limits,
    first: &dyn Fn(&[u8]) -> Result<(), Bad>,
) -> Result<(String, Vec<u8>)> {
    let name = path.display().to_string();
    let mut file = File::open(path).map_err(|source| Error::Io { path: name.clone(), source })?;
    // Of what is no plain file the size is not known.
    let size = file.metadata().ok().filter(|about| about.is_file()).map_or(0, |about| about.len());
    let bytes = whole(&mut file, &name, size, limits, first)?;
    Ok((name, bytes))
}

/// All bytes of whatever can be read, as [`bytes_of`] a file.
pub(crate) fn bytes_from(
    from: &mut dyn Read,
    name: &str,
    limits: &Limits,
    first: &dyn Fn(&[u8]) -> Result<(), Bad>,
) -> Result<Vec<u8>> {
    whole(from, name, 0, limits, first)
}

/// All bytes, `size` of them if that is known; what does not begin as a file should, or is too long, is not read.
fn whole(
    from: &mut dyn Read,
    name: &str,
    size: u64,
    limits: &Limits,
    first: &dyn Fn(&[u8]) -> Result<(), Bad>,
) -> Result<Vec<u8>> {
    let io = |source: io::Error| match source.kind() {
        io::ErrorKind::OutOfMemory => Error::OutOfMemory { what: "a file", bytes: size.into() },
        _ => Error::Io { path: name.to_owned(), source },
    };
    let mut bytes = reserved(usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1), "a file")?;
    (&mut *from).take(FIRST_BYTES as u64).read_to_end(&mut bytes).map_err(io)?;
    if is_gzip(&bytes) {
        from.read_to_end(&mut bytes).map_err(io)?;
    } else {
        first(&bytes).map_err(|bad| bad.locate(name, &bytes))?;
        check_size(limits.what, size, limits.max_bytes)?;
        let left = limits.max_bytes.saturating_sub(bytes.len() as u64).saturating_add(1);
        from.take(left).read_to_end(&mut bytes).map_err(io)?;
    }
    Ok(bytes)
}
