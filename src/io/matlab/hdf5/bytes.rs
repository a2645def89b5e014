//! Access to the bytes of an HDF5 file by address, decoding of numbers, and errors.

use std::borrow::Cow;
use std::cell::Cell;

use crate::Error;

/// The reason why reading fails.
#[derive(Debug)]
pub(super) enum Fault {
    /// The file is invalid, or has unsupported content.
    Wrong(Cow<'static, str>),
    /// Out of memory, or a limit is exceeded.
    Failed(Error),
}

pub(super) type Parsed<T> = Result<T, Fault>;

impl From<&'static str> for Fault {
    fn from(why: &'static str) -> Self {
        Self::Wrong(why.into())
    }
}
impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Wrong(why.into())
    }
}
impl From<Error> for Fault {
    fn from(e: Error) -> Self {
        Self::Failed(e)
    }
}

/// The message for a truncated or inconsistent file.
pub(super) const CUT: &str = "it was cut or damaged";

/// The signature of a superblock.
const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

/// A file from its superblock on, to which addresses are relative.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    sizes: Sizes,
    /// Remaining number of visits of structures, so that cyclic links end in an error.
    left: Cell<usize>,
}

/// Sizes in bytes of addresses and of lengths.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    offset: usize,
    length: usize,
}

impl<'a> File<'a> {
    /// The file, and the address of its root group.
    pub(super) fn open(bytes: &'a [u8]) -> Parsed<(Self, u64)> {
        // The superblock follows a user block of 0, 512, 1024, 2048, … bytes.
        let starts = std::iter::once(0).chain((9..40).map(|k| 1usize << k)).take_while(|&at| at < bytes.len());
        let start = starts.into_iter().find(|&at| bytes[at..].starts_with(SIGNATURE)).ok_or(CUT)?;
        let bytes = &bytes[start..];
        let mut block = Cursor { rest: &bytes[SIGNATURE.len()..], sizes: Sizes { offset: 8, length: 8 } };
        let version = block.byte()?;
        if version < 2 {
            block.skip(4)?;
        } else if version > 3 {
            return Err(format!("its superblock is of version {version}, and 0 to 3 are read").into());
        }
        let sizes = Sizes { offset: block.byte()?.into(), length: block.byte()?.into() };
        if ![2, 4, 8].contains(&sizes.offset) || ![2, 4, 8].contains(&sizes.length) {
            return Err(CUT.into());
        }
        block.sizes = sizes;
        // Skips to the header address of the root group: constants and flags, then addresses. In versions 0 and 1 that
        // address is in a symbol table entry, after the offset of the link name.
        block.skip(match version {
            0 => 9 + 5 * sizes.offset,
            1 => 13 + 5 * sizes.offset,
            _ => 1 + 3 * sizes.offset,
        })?;
        let root = block.offset()?.ok_or(CUT)?;
        // A structure has at least four bytes and is visited at most three times.
        let left = Cell::new(bytes.len().saturating_add(4096));
        Ok((Self { bytes, sizes, left }, root))
    }
    /// Counts a visit of a structure; an error if there are too many.
    pub(super) fn visit(&self) -> Parsed<()> {
        let left = self.left.get().checked_sub(1).ok_or("its parts refer to each other in a circle")?;
        self.left.set(left);
        Ok(())
    }
    /// All bytes from an address on.
    pub(super) fn at(&self, address: u64) -> Parsed<Cursor<'a>> {
        self.visit()?;
        let rest = usize::try_from(address).ok().and_then(|at| self.bytes.get(at..)).ok_or(CUT)?;
        Ok(Cursor { rest, sizes: self.sizes })
    }
    /// `len` bytes from an address on.
    pub(super) fn slice(&self, address: u64, len: u64) -> Parsed<&'a [u8]> {
        self.at(address)?.take(usize::try_from(len).map_err(|_| CUT)?)
    }
    /// Size of the file in bytes, without the user block.
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// A reader of consecutive bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    sizes: Sizes,
}

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, len: usize) -> Parsed<&'a [u8]> {
        let (first, rest) = self.rest.split_at_checked(len).ok_or(CUT)?;
        self.rest = rest;
        Ok(first)
    }
    pub(super) fn skip(&mut self, len: usize) -> Parsed<()> {
        self.take(len).map(drop)
    }
    /// The next bytes as a cursor of their own.
    pub(super) fn part(&mut self, len: usize) -> Parsed<Self> {
        let rest = self.take(len)?;
        Ok(Self { rest, ..*self })
    }
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }
    /// The remaining bytes.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
    /// A little-endian unsigned number of `len` bytes, at most eight.
    pub(super) fn uint(&mut self, len: usize) -> Parsed<u64> {
        Ok(uint(self.take(len)?, false))
    }
    pub(super) fn byte(&mut self) -> Parsed<u8> {
        Ok(self.take(1)?[0])
    }
    /// A two-byte number.
    pub(super) fn short(&mut self) -> Parsed<usize> {
        Ok(self.uint(2)? as usize)
    }
    /// An address; `None` for the undefined address, which has all bits set.
    pub(super) fn offset(&mut self) -> Parsed<Option<u64>> {
        let len = self.sizes.offset;
        let address = self.uint(len)?;
        Ok((address != u64::MAX >> (64 - 8 * len)).then_some(address))
    }
    pub(super) fn length(&mut self) -> Parsed<u64> {
        self.uint(self.sizes.length)
    }
    /// Null-terminated text, without the null byte, which is skipped; `padded` to a multiple of eight bytes.
    pub(super) fn text(&mut self, padded: bool) -> Parsed<&'a [u8]> {
        let end = self.rest.iter().position(|&b| b == 0).ok_or(CUT)?;
        let text = &self.rest[..end];
        self.skip(if padded { (end + 1).next_multiple_of(8) } else { end + 1 })?;
        Ok(text)
    }
    /// Skips the signature of a structure; another one is an error.
    pub(super) fn signature(&mut self, expected: &[u8]) -> Parsed<()> {
        if self.take(expected.len())? == expected { Ok(()) } else { Err(CUT.into()) }
    }
}

/// An unsigned number of at most eight bytes.
pub(super) fn uint(bytes: &[u8], big_endian: bool) -> u64 {
    let add = |sum: u64, &byte: &u8| sum << 8 | u64::from(byte);
    if big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}
