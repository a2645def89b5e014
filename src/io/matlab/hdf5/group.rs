//! Groups: the names and addresses of their objects.

use super::bytes::{CUT, Cursor, File, Parsed};
use super::object::{LINK, LINK_INFO, Object, SYMBOL_TABLE};
use crate::io::text::push;

/// Maximum length of a name in bytes; MATLAB's names are shorter.
const LONGEST_NAME: usize = 255;

/// An error for an overlong name. Many links may share the bytes of one name, so copies of long names could exhaust
/// memory.
fn checked(name: &[u8]) -> Parsed<&[u8]> {
    if name.len() > LONGEST_NAME {
        Err(format!("a name of it is longer than {LONGEST_NAME} bytes").into())
    } else {
        Ok(name)
    }
}

/// Names and addresses of the objects of a group; soft and external links are ignored.
pub(super) fn links<'a>(file: &File<'a>, group: &Object<'a>) -> Parsed<Vec<(&'a [u8], u64)>> {
    let mut links = Vec::new();
    if let Some(mut table) = group.one(SYMBOL_TABLE)? {
        let (tree, heap) = (table.offset()?.ok_or(CUT)?, table.offset()?.ok_or(CUT)?);
        let mut heap = file.at(heap)?;
        heap.signature(b"HEAP")?;
        heap.skip(4)?;
        let (len, _) = (heap.length()?, heap.length()?);
        let names = match heap.offset()? {
            Some(address) => file.slice(address, len)?,
            None => &[],
        };
        symbols(file, names, tree, None, &mut links)?;
    }
    if let Some(mut info) = group.one(LINK_INFO)? {
        let flags = info.uint(2)? >> 8;
        info.skip(if flags & 1 != 0 { 8 } else { 0 })?;
        if info.offset()?.is_some() {
            return Err("a group of it keeps its links in a fractal heap, which is not read".into());
        }
    }
    for message in group.all(LINK) {
        if let Some(found) = link(message?)? {
            push(&mut links, found, "a MAT-file")?;
        }
    }
    Ok(links)
}

/// Address of the object of this name.
pub(super) fn find(links: &[(&[u8], u64)], name: &str) -> Option<u64> {
    links.iter().find(|(found, _)| *found == name.as_bytes()).map(|&(_, address)| address)
}

/// Appends the links below a node of the B-tree of a group; `above` is the level of the node above.
fn symbols<'a>(
    file: &File<'a>,
    names: &'a [u8],
    address: u64,
    above: Option<u8>,
    links: &mut Vec<(&'a [u8], u64)>,
) -> Parsed<()> {
    let mut node = file.at(address)?;
    if node.rest().starts_with(b"SNOD") {
        node.skip(6)?;
        for _ in 0..node.short()? {
            file.visit()?;
            let (name, header) = (node.offset()?.ok_or(CUT)?, node.offset()?);
            let cached = node.uint(4)?;
            node.skip(20)?;
            let name = usize::try_from(name).ok().and_then(|at| names.get(at..)).ok_or(CUT)?;
            let name = checked(name[..name.len().min(LONGEST_NAME + 1)].split(|&b| b == 0).next().unwrap_or_default())?;
            // Cache type 2 is a soft link, which refers to another name.
            if cached != 2
                && let Some(header) = header
            {
                push(links, (name, header), "a MAT-file")?;
            }
        }
        return Ok(());
    }
    node.signature(b"TREE")?;
    let (kind, level, children) = (node.byte()?, node.byte()?, node.short()?);
    if kind != 0 || above.is_some_and(|above| level >= above) {
        return Err(CUT.into());
    }
    // Left and right sibling.
    let _ = (node.offset()?, node.offset()?);
    for _ in 0..children {
        node.length()?;
        let child = node.offset()?.ok_or(CUT)?;
        symbols(file, names, child, Some(level), links)?;
    }
    Ok(())
}

/// Name and address of a link message; `None` for soft and external links.
fn link(mut message: Cursor<'_>) -> Parsed<Option<(&[u8], u64)>> {
    if message.byte()? != 1 {
        return Err(CUT.into());
    }
    let flags = message.byte()?;
    let kind = if flags & 8 != 0 { message.byte()? } else { 0 };
    // Creation order, and character set.
    message.skip(if flags & 4 != 0 { 8 } else { 0 })?;
    message.skip(if flags & 16 != 0 { 1 } else { 0 })?;
    let len = message.uint(1 << (flags & 3))?;
    let name = checked(message.take(usize::try_from(len).map_err(|_| CUT)?)?)?;
    Ok(if kind == 0 { message.offset()?.map(|address| (name, address)) } else { None })
}
