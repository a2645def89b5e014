//! Reading whole files, after a check of their first bytes.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::cursor::{Bad, LONGEST_LINE};
use super::gzip::{check_size, is_packed, unpack};
use super::pieces::Limits;
use crate::par::reserved;
use crate::{Error, Result};

/// Number of bytes checked before a file is read whole.
const FIRST_BYTES: usize = 256;

/// Name and bytes of the file at `path`; `first` checks the first 256 bytes of an uncompressed file.
pub(crate) fn bytes_of(
    path: &Path,
    limits: &Limits,
    first: &dyn Fn(&[u8]) -> Result<(), Bad>,
) -> Result<(String, Vec<u8>)> {
    let name = path.display().to_string();
    let mut file = File::open(path).map_err(|source| Error::Io { path: name.clone(), source })?;
    // Only regular files have a known size.
    let size = file.metadata().ok().filter(|about| about.is_file()).map_or(0, |about| about.len());
    let bytes = whole(&mut file, &name, size, limits, Some(first))?;
    Ok((name, bytes))
}

/// [`bytes_of`] for any reader.
pub(crate) fn bytes_from(
    from: &mut dyn Read,
    name: &str,
    limits: &Limits,
    first: &dyn Fn(&[u8]) -> Result<(), Bad>,
) -> Result<Vec<u8>> {
    whole(from, name, 0, limits, Some(first))
}

/// Name and bytes of a binary file.
pub(crate) fn binary_of(path: &Path, limits: &Limits) -> Result<(String, Vec<u8>)> {
    let name = path.display().to_string();
    let mut file = File::open(path).map_err(|source| Error::Io { path: name.clone(), source })?;
    let size = file.metadata().ok().filter(|about| about.is_file()).map_or(0, |about| about.len());
    let bytes = whole(&mut file, &name, size, limits, None)?;
    Ok((name, bytes))
}

/// All bytes of a binary stream.
pub(crate) fn binary_from(from: &mut dyn Read, name: &str, limits: &Limits) -> Result<Vec<u8>> {
    whole(from, name, 0, limits, None)
}

/// The bytes of a binary file, decompressed if necessary. `wrong` checks the first bytes and returns the reason to stop
/// reading, if any.
pub(crate) fn unpacked<'a>(
    bytes: &'a [u8],
    name: &str,
    limits: &Limits,
    wrong: &dyn Fn(&[u8]) -> Option<&'static str>,
) -> Result<Cow<'a, [u8]>> {
    let broken = |why: &str| Error::Unsupported { what: format!("the file {name}"), why: why.to_owned() };
    if is_packed(bytes) {
        return unpack(name, bytes, limits, &|first| wrong(first).map_or(Ok(()), |why| Err(broken(why))))
            .map(Cow::Owned);
    }
    if let Some(why) = wrong(bytes) {
        return Err(broken(why));
    }
    check_size(limits.what, bytes.len() as u64, limits.max_bytes)?;
    Ok(Cow::Borrowed(bytes))
}

/// A check of the first bytes of text.
type First<'a> = dyn Fn(&[u8]) -> Result<(), Bad> + 'a;

/// Reads all bytes, `size` of them if known. Stops early if the first bytes fail the check or the size exceeds the
/// limit. With `first`, the file is text, and reading stops within an overlong line, which the parser then reports.
fn whole(from: &mut dyn Read, name: &str, size: u64, limits: &Limits, first: Option<&First<'_>>) -> Result<Vec<u8>> {
    let io = |source: io::Error| match source.kind() {
        io::ErrorKind::OutOfMemory => Error::OutOfMemory { what: "a file", bytes: size.into() },
        _ => Error::Io { path: name.to_owned(), source },
    };
    let mut bytes = reserved(usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1), "a file")?;
    (&mut *from).take(FIRST_BYTES as u64).read_to_end(&mut bytes).map_err(io)?;
    if is_packed(&bytes) {
        from.read_to_end(&mut bytes).map_err(io)?;
    } else {
        if let Some(first) = first {
            first(&bytes).map_err(|bad| bad.locate(name, &bytes))?;
        }
        check_size(limits.what, size, limits.max_bytes)?;
        let left = limits.max_bytes.saturating_sub(bytes.len() as u64).saturating_add(1);
        if first.is_some() {
            read_lines(&mut from.take(left), &mut bytes).map_err(io)?;
        } else {
            from.take(left).read_to_end(&mut bytes).map_err(io)?;
        }
    }
    Ok(bytes)
}

/// Appends text up to its end, or until within an overlong line.
fn read_lines(from: &mut dyn Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    const STEP: u64 = 1 << 20;
    let mut line = 0;
    loop {
        let old = bytes.len();
        let n = (&mut *from).take(STEP).read_to_end(bytes)?;
        line = bytes[old..].iter().rposition(|&b| b == b'\n').map_or(line + n, |p| n - p - 1);
        if n == 0 || line > LONGEST_LINE {
            return Ok(());
        }
    }
}
