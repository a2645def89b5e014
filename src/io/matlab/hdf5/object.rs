//! Object headers: the messages that describe a group or a dataset.

use super::bytes::{CUT, Cursor, File, Parsed};
use crate::io::text::push;

/// Message types with special treatment.
pub(super) const DATASPACE: u16 = 0x01;
pub(super) const LINK_INFO: u16 = 0x02;
pub(super) const DATATYPE: u16 = 0x03;
pub(super) const LINK: u16 = 0x06;
pub(super) const LAYOUT: u16 = 0x08;
pub(super) const FILTERS: u16 = 0x0b;
pub(super) const ATTRIBUTE: u16 = 0x0c;
const CONTINUATION: u16 = 0x10;
pub(super) const SYMBOL_TABLE: u16 = 0x11;

/// A message of an object header.
pub(super) struct Message<'a> {
    kind: u16,
    /// Whether the message is stored elsewhere, such as a named datatype.
    shared: bool,
    content: Cursor<'a>,
}

/// The messages of an object.
pub(super) struct Object<'a> {
    messages: Vec<Message<'a>>,
}

impl<'a> Object<'a> {
    /// The object at an address.
    pub(super) fn open(file: &File<'a>, address: u64) -> Parsed<Self> {
        let header = file.at(address)?;
        if header.rest().starts_with(b"OHDR") { Self::version_2(file, header) } else { Self::version_1(file, header) }
    }

    /// Header: version, number of messages, reference count, size. Message: type, size, flags.
    fn version_1(file: &File<'a>, mut header: Cursor<'a>) -> Parsed<Self> {
        if header.byte()? != 1 {
            return Err(CUT.into());
        }
        header.skip(7)?;
        let len = header.uint(4)? as usize;
        header.skip(4)?;
        let (mut messages, mut block, mut others) = (Vec::new(), header.part(len)?, Vec::new());
        loop {
            while block.left() >= 8 {
                file.visit()?;
                let (kind, len, flags) = (block.short()? as u16, block.short()?, block.byte()?);
                block.skip(3)?;
                let mut content = block.part(len)?;
                if kind == CONTINUATION {
                    push(&mut others, (content.offset()?.ok_or(CUT)?, content.length()?), "a MAT-file")?;
                } else {
                    push(&mut messages, Message { kind, shared: flags & 2 != 0, content }, "a MAT-file")?;
                }
            }
            let Some((address, len)) = others.pop() else { return Ok(Self { messages }) };
            block = file.at(address)?.part(usize::try_from(len).map_err(|_| CUT)?)?;
        }
    }

    /// As version 1, with a signature, and a four-byte checksum after each block, which is not verified.
    fn version_2(file: &File<'a>, mut header: Cursor<'a>) -> Parsed<Self> {
        header.skip(4)?;
        if header.byte()? != 2 {
            return Err(CUT.into());
        }
        let flags = header.byte()?;
        // Time stamps, and attribute limits.
        header.skip(if flags & 0x20 != 0 { 16 } else { 0 })?;
        header.skip(if flags & 0x10 != 0 { 4 } else { 0 })?;
        let len = header.uint(1 << (flags & 3))?;
        let ordered = if flags & 4 != 0 { 2 } else { 0 };
        let mut block = header.part(usize::try_from(len).map_err(|_| CUT)?)?;
        let (mut messages, mut others) = (Vec::new(), Vec::new());
        loop {
            while block.left() >= 4 + ordered {
                file.visit()?;
                let (kind, len, flags) = (block.byte()?.into(), block.short()?, block.byte()?);
                block.skip(ordered)?;
                let mut content = block.part(len)?;
                if kind == CONTINUATION {
                    push(&mut others, (content.offset()?.ok_or(CUT)?, content.length()?), "a MAT-file")?;
                } else {
                    push(&mut messages, Message { kind, shared: flags & 2 != 0, content }, "a MAT-file")?;
                }
            }
            let Some((address, len)) = others.pop() else { return Ok(Self { messages }) };
            let mut next = file.at(address)?;
            next.signature(b"OCHK")?;
            block = next.part(usize::try_from(len).ok().and_then(|len| len.checked_sub(8)).ok_or(CUT)?)?;
        }
    }

    /// The contents of all messages of a type.
    pub(super) fn all(&self, kind: u16) -> impl Iterator<Item = Parsed<Cursor<'a>>> + '_ {
        self.messages.iter().filter(move |message| message.kind == kind).map(|message| match message.shared {
            true => Err("a message of an object is shared, which is not read".into()),
            false => Ok(message.content),
        })
    }
    /// The content of the first message of a type.
    pub(super) fn one(&self, kind: u16) -> Parsed<Option<Cursor<'a>>> {
        self.all(kind).next().transpose()
    }
    /// Whether there is a message of a type.
    pub(super) fn has(&self, kind: u16) -> bool {
        self.messages.iter().any(|message| message.kind == kind)
    }
}
