//! Reader of zip archives: the directory, and stored or deflated members.

use std::borrow::Cow;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use crate::par::{out_of_memory, reserved};
use crate::{Error, Result};

/// Signatures of the records of an archive.
pub(super) const LOCAL: &[u8] = b"PK\x03\x04";
pub(super) const CENTRAL: &[u8] = b"PK\x01\x02";
pub(super) const END: &[u8] = b"PK\x05\x06";
pub(super) const END_64: &[u8] = b"PK\x06\x06";
pub(super) const LOCATOR_64: &[u8] = b"PK\x06\x07";

/// A little-endian number of `N` bytes at `at`.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk::<N>()?;
    Some(bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
}

/// An offset as `usize`.
fn place(n: u64) -> Option<usize> {
    usize::try_from(n).ok()
}

/// A directory entry.
#[derive(Clone, Copy)]
struct Member<'a> {
    name: &'a [u8],
    flags: u64,
    method: u64,
    crc: u64,
    packed: u64,
    size: u64,
    /// Offset of its local header.
    at: u64,
}

/// An archive in memory.
pub(super) struct Archive<'a> {
    name: &'a str,
    bytes: &'a [u8],
    members: Vec<Member<'a>>,
    /// Remaining budget of decompressed bytes.
    left: u64,
    max_bytes: u64,
}

impl<'a> Archive<'a> {
    /// Reads the directory; `max_bytes` limits the total of decompressed bytes.
    pub(super) fn open(name: &'a str, bytes: &'a [u8], max_bytes: u64) -> Result<Self> {
        let mut archive = Self { name, bytes, members: Vec::new(), left: max_bytes, max_bytes };
        let (start, count) = directory(bytes).ok_or_else(|| archive.damaged())?;
        // An entry has at least 46 bytes, which bounds the declared count.
        if count > (bytes.len() / 46) as u64 {
            return Err(archive.damaged());
        }
        archive.members = reserved(count as usize, "the directory of an archive")?;
        let mut at = start;
        for _ in 0..count {
            let (member, next) = member(bytes, at).ok_or_else(|| archive.damaged())?;
            archive.members.push(member);
            at = next;
        }
        Ok(archive)
    }
    fn damaged(&self) -> Error {
        self.broken("it is no zip archive, or it was cut or damaged".into())
    }
    fn broken(&self, why: String) -> Error {
        Error::Unsupported { what: format!("the file {}", self.name), why }
    }
    /// The content of the member called `wanted`; `None` if there is none.
    pub(super) fn find(&mut self, wanted: &str) -> Result<Option<Cow<'a, [u8]>>> {
        let mut named = self.members.iter().filter(|member| member.name == wanted.as_bytes());
        let Some(&member) = named.next() else { return Ok(None) };
        if named.next().is_some() {
            return Err(self.broken(format!("it has {wanted} twice")));
        }
        if member.flags & 1 != 0 {
            return Err(self.broken(format!("{wanted} is encrypted")));
        }
        let packed = content(self.bytes, &member).ok_or_else(|| self.damaged())?;
        if member.size > self.left {
            let bytes = u128::from(self.max_bytes - self.left) + u128::from(member.size);
            return Err(Error::Budget { what: "a file of NumPy", bytes, budget: self.max_bytes.into() });
        }
        let content = match member.method {
            0 => Cow::Borrowed(packed),
            8 => Cow::Owned(inflated(packed, member.size)?.ok_or_else(|| self.damaged())?),
            method => return Err(self.broken(format!("{wanted} is compressed by method {method}, which is not read"))),
        };
        let mut crc = Crc::new();
        crc.update(&content);
        if content.len() as u64 != member.size || u64::from(crc.sum()) != member.crc {
            return Err(self.broken(format!("{wanted} is damaged")));
        }
        self.left -= member.size;
        Ok(Some(content))
    }
}

/// Offset of the directory, and its number of entries.
fn directory(bytes: &[u8]) -> Option<(usize, u64)> {
    /// Bytes of the end record without its comment, and the maximum length of the comment.
    const LAST: usize = 22;
    const COMMENT: usize = 0xffff;
    let latest = bytes.len().checked_sub(LAST)?;
    let earliest = latest.saturating_sub(COMMENT);
    let ends_here = |at: &usize| {
        bytes[*at..].starts_with(END) && number::<2>(bytes, at + 20) == Some((bytes.len() - at - LAST) as u64)
    };
    let end = (earliest..=latest).rev().find(ends_here)?;
    let (mut count, mut size) = (number::<2>(bytes, end + 10)?, number::<4>(bytes, end + 12)?);
    let (mut start, mut behind) = (number::<4>(bytes, end + 16)?, end);
    let locator = end.checked_sub(20).filter(|&at| bytes[at..].starts_with(LOCATOR_64));
    if let Some(locator) = locator {
        let at = place(number::<8>(bytes, locator + 8)?)?;
        if !bytes.get(at..)?.starts_with(END_64) || at > locator {
            return None;
        }
        (count, size) = (number::<8>(bytes, at + 32)?, number::<8>(bytes, at + 40)?);
        (start, behind) = (number::<8>(bytes, at + 48)?, at);
    }
    // Rejects bytes before the archive, or between the directory and its end record.
    (start.checked_add(size)? == behind as u64).then_some((place(start)?, count))
}

/// The directory entry at `at`, and the offset of the next one.
fn member(bytes: &[u8], at: usize) -> Option<(Member<'_>, usize)> {
    const WIDE: u64 = 0xffff_ffff;
    if !bytes.get(at..)?.starts_with(CENTRAL) {
        return None;
    }
    let lens = [28, 30, 32].map(|offset| number::<2>(bytes, at + offset).map_or(0, |n| n as usize));
    let name_at = at + 46;
    let name = bytes.get(name_at..name_at + lens[0])?;
    let extra = bytes.get(name_at + lens[0]..name_at + lens[0] + lens[1])?;
    let next = name_at + lens.iter().sum::<usize>();
    let mut member = Member {
        name,
        flags: number::<2>(bytes, at + 8)?,
        method: number::<2>(bytes, at + 10)?,
        crc: number::<4>(bytes, at + 16)?,
        packed: number::<4>(bytes, at + 20)?,
        size: number::<4>(bytes, at + 24)?,
        at: number::<4>(bytes, at + 42)?,
    };
    // Numbers that do not fit 32 bits are in an extra field, in this order.
    let mut wide = wide_field(extra);
    for field in [&mut member.size, &mut member.packed, &mut member.at] {
        if *field == WIDE {
            let (first, rest) = wide?.split_at_checked(8)?;
            (*field, wide) = (number::<8>(first, 0)?, Some(rest));
        }
    }
    (next <= bytes.len()).then_some((member, next))
}

/// The extra field with 64-bit numbers.
fn wide_field(mut extra: &[u8]) -> Option<&[u8]> {
    loop {
        let (id, len) = (number::<2>(extra, 0)?, number::<2>(extra, 2)? as usize);
        let field = extra.get(4..4 + len)?;
        if id == 1 {
            return Some(field);
        }
        extra = &extra[4 + len..];
    }
}

/// The bytes of a member, after its local header.
fn content<'a>(bytes: &'a [u8], member: &Member<'_>) -> Option<&'a [u8]> {
    let header = bytes.get(place(member.at)?..)?;
    if !header.starts_with(LOCAL) {
        return None;
    }
    let (name, extra) = (number::<2>(header, 26)? as usize, number::<2>(header, 28)? as usize);
    if header.get(30..30 + name)? != member.name {
        return None;
    }
    let start = 30 + name + extra;
    header.get(start..start.checked_add(place(member.packed)?)?)
}

/// Inflates `packed`; `None` unless the result has exactly `size` bytes.
fn inflated(packed: &[u8], size: u64) -> Result<Option<Vec<u8>>> {
    /// Maximum compression ratio of deflate.
    const MOST: u64 = 1032;
    /// Minimum memory of the decoder.
    const STATE: usize = 64 << 10;
    let Some(size) = place(size).filter(|_| size / MOST <= packed.len() as u64) else { return Ok(None) };
    let mut content = reserved(size.saturating_add(1), "a member of an archive")?;
    drop(reserved::<u8>(STATE, "decompression")?);
    // The decoder panics if its allocation fails.
    let read =
        catch_unwind(AssertUnwindSafe(|| DeflateDecoder::new(packed).take(size as u64 + 1).read_to_end(&mut content)));
    match read {
        Err(_) => Err(out_of_memory::<u8>("decompression", STATE)),
        Ok(Ok(read)) if read == size => Ok(Some(content)),
        Ok(_) => Ok(None),
    }
}
