//! All bytes of a file, as long as they may be those of a file of its kind.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::cursor::{Bad, LONGEST_LINE};
use super::gzip::{check_size, is_packed, unpack};
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
    let bytes = whole(&mut file, &name, size, limits, Some(first))?;
    Ok((name, bytes))
}

/// All bytes of whatever can be read, as [`bytes_of`] a file.
pub(crate) fn bytes_from(
    from: &mut dyn Read,
    name: &str,
    limits: &Limits,
    first: &dyn Fn(&[u8]) -> Result<(), Bad>,
) -> Result<Vec<u8>> {
    whole(from, name, 0, limits, Some(first))
}

/// Name and bytes of the file at `path`, which is no text.
pub(crate) fn binary_of(path: &Path, limits: &Limits) -> Result<(String, Vec<u8>)> {
    let name = path.display().to_string();
    let mut file = File::open(path).map_err(|source| Error::Io { path: name.clone(), source })?;
    let size = file.metadata().ok().filter(|about| about.is_file()).map_or(0, |about| about.len());
    let bytes = whole(&mut file, &name, size, limits, None)?;
    Ok((name, bytes))
}

/// All bytes of whatever can be read, which is no text.
pub(crate) fn binary_from(from: &mut dyn Read, name: &str, limits: &Limits) -> Result<Vec<u8>> {
    whole(from, name, 0, limits, None)
}

/// The bytes of a file that is no text, decompressed if they are gzip. What `wrong` says of the first ones ends
/// reading.
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

/// What refuses the first bytes of text.
type First<'a> = dyn Fn(&[u8]) -> Result<(), Bad> + 'a;

/// All bytes, `size` of them if that is known; what does not begin as a file should, or is too long, is not read. Text,
/// which is what has a `first`, is read up to a line that is too long, which its parser refuses.
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

/// Appends text up to its end, or into a line that is too long.
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
