//! The elements of a dataset: compact, contiguous, or in chunks with optional filters.

use std::borrow::Cow;

use super::bytes::{CUT, Cursor, File, Parsed};
use super::object::{DATATYPE, FILTERS, LAYOUT, Object};
use super::types::{Datatype, shape};
use crate::io::matlab::elements::inflated;
use crate::io::text::{check_size, push};
use crate::par::filled;

/// Maximum compression ratio of deflate: 258 bytes from two bits.
const DEFLATE_RATIO: u64 = 1032;
const DEFLATE: usize = 1;
const SHUFFLE: usize = 2;

/// Bytes allocated for chunked datasets so far, and their limit.
pub(super) struct Budget {
    pub(super) taken: u64,
    pub(super) most: u64,
}

impl Budget {
    /// Counts `bytes` before their allocation; an error if the limit is exceeded.
    fn take(&mut self, bytes: u64) -> Parsed<()> {
        self.taken = self.taken.saturating_add(bytes);
        Ok(check_size("a MAT-file", self.taken, self.most)?)
    }
}

/// The elements of a dataset as stored, in row-major order.
pub(super) struct Elements<'a> {
    pub(super) datatype: Datatype,
    pub(super) dims: Vec<u64>,
    pub(super) bytes: Cow<'a, [u8]>,
}

/// Reads a dataset; a chunked one must have one or two dimensions.
pub(super) fn read<'a>(file: &File<'a>, object: &Object<'a>, budget: &mut Budget) -> Parsed<Elements<'a>> {
    let dims = shape(object)?;
    let (datatype, size) = Datatype::read(&mut object.one(DATATYPE)?.ok_or(CUT)?)?;
    let len = dims.iter().try_fold(size as u64, |all, &n| all.checked_mul(n)).ok_or(CUT)?;
    let mut layout = object.one(LAYOUT)?.ok_or(CUT)?;
    let bytes =
        if len == 0 { Cow::Borrowed(&[][..]) } else { content(file, object, &mut layout, &dims, size, budget)? };
    if bytes.len() as u64 == len { Ok(Elements { datatype, dims, bytes }) } else { Err(CUT.into()) }
}

/// The bytes of a nonempty dataset.
fn content<'a>(
    file: &File<'a>,
    object: &Object<'a>,
    layout: &mut Cursor<'a>,
    dims: &[u64],
    size: usize,
    budget: &mut Budget,
) -> Parsed<Cow<'a, [u8]>> {
    const UNREAD: &str =
        "a dataset is stored in a way that is not read: neither in one piece nor in chunks of a B-tree";
    let len = dims.iter().product::<u64>() * size as u64;
    let (version, class) = (layout.byte()?, layout.byte()?);
    match (version, class) {
        (3 | 4, 0) => {
            layout.skip(2)?;
            Ok(Cow::Borrowed(layout.take(usize::try_from(len).map_err(|_| CUT)?)?))
        }
        (3 | 4, 1) => {
            let address = layout.offset()?.ok_or("a dataset of it was never written")?;
            Ok(Cow::Borrowed(file.slice(address, len)?))
        }
        (3, 2) => {
            let rank = layout.byte()?;
            let tree = layout.offset()?.ok_or("a dataset of it was never written")?;
            let mut chunk = [1; 2];
            // The last dimension of a chunk is the element size.
            if usize::from(rank) != dims.len() + 1 || dims.len() > 2 || dims.is_empty() {
                return Err(UNREAD.into());
            }
            for extent in &mut chunk[2 - dims.len()..] {
                *extent = layout.uint(4)?;
            }
            let mut whole = [1; 2];
            whole[2 - dims.len()..].copy_from_slice(dims);
            if chunk.contains(&0) || layout.uint(4)? != size as u64 {
                return Err(CUT.into());
            }
            let (deflate, shuffle) = filters(object)?;
            let chunks = Chunks { file, rank: dims.len(), whole, chunk, size, deflate, shuffle };
            Ok(Cow::Owned(chunks.read(tree, len, budget)?))
        }
        _ => Err(UNREAD.into()),
    }
}

/// Positions of deflate and shuffle in the filter pipeline.
fn filters(object: &Object<'_>) -> Parsed<(Option<usize>, Option<usize>)> {
    let mut found = (None, None);
    let Some(mut pipeline) = object.one(FILTERS)? else { return Ok(found) };
    let (version, count) = (pipeline.byte()?, pipeline.byte()?);
    pipeline.skip(if version == 1 { 6 } else { 0 })?;
    for position in 0..usize::from(count) {
        let id = pipeline.short()?;
        let name = if version == 1 || id >= 256 { pipeline.short()? } else { 0 };
        pipeline.skip(2)?;
        let values = pipeline.short()?;
        pipeline.skip(if version == 1 { name.next_multiple_of(8) } else { name })?;
        pipeline.skip(4 * if version == 1 { values.next_multiple_of(2) } else { values })?;
        let of = match id {
            DEFLATE => &mut found.0,
            SHUFFLE => &mut found.1,
            other => return Err(format!("a dataset is packed by filter {other}; deflate and shuffle are read").into()),
        };
        if of.replace(position).is_some() {
            return Err(CUT.into());
        }
    }
    match found {
        // The writer must shuffle before it compresses.
        (Some(deflate), Some(shuffle)) if deflate < shuffle => Err(CUT.into()),
        _ => Ok(found),
    }
}

/// A chunked dataset, treated as two-dimensional.
struct Chunks<'f, 'a> {
    file: &'f File<'a>,
    rank: usize,
    whole: [u64; 2],
    chunk: [u64; 2],
    /// Size of an element in bytes.
    size: usize,
    deflate: Option<usize>,
    shuffle: Option<usize>,
}

/// Address and stored size of a chunk.
struct Chunk {
    address: u64,
    stored: u64,
    /// Filter mask: a set bit means that this filter was skipped.
    skipped: u64,
}

impl Chunks<'_, '_> {
    /// Reads all elements, `len` bytes. The declared size of each chunk is checked against its stored size before
    /// memory is allocated.
    fn read(&self, tree: u64, len: u64, budget: &mut Budget) -> Parsed<Vec<u8>> {
        let Self { whole, chunk, size, .. } = *self;
        let chunk_len = (chunk[0] * chunk[1]).checked_mul(size as u64).ok_or(CUT)?;
        budget.take(len)?;
        check_size("a MAT-file", chunk_len, budget.most)?;
        let grid = [whole[0].div_ceil(chunk[0]), whole[1].div_ceil(chunk[1])];
        let mut list = Vec::new();
        self.walk(tree, None, grid, &mut list)?;
        if Some(list.len() as u64) != grid[0].checked_mul(grid[1]) {
            return Err("a dataset of it lacks chunks".into());
        }
        let mut stored = 0u64;
        for chunk in &list {
            let deflated = self.deflate.is_some_and(|position| chunk.skipped >> position & 1 == 0);
            let most = if deflated { chunk.stored.saturating_mul(DEFLATE_RATIO) } else { chunk.stored };
            stored = stored.saturating_add(chunk.stored);
            if most < chunk_len || stored > self.file.len() {
                return Err(CUT.into());
            }
        }
        let row = whole[1] as usize * size;
        let mut all = filled(usize::try_from(len).map_err(|_| CUT)?, 0u8, "a MAT-file")?;
        for (k, at) in list.iter().enumerate() {
            let content = self.unpacked(at, chunk_len)?;
            let (first, start) = (k as u64 / grid[1] * chunk[0], k as u64 % grid[1] * chunk[1]);
            let columns = chunk[1].min(whole[1] - start) as usize * size;
            let rows = chunk[0].min(whole[0] - first) as usize;
            let from = content.chunks_exact(chunk[1] as usize * size).take(rows);
            for (to, from) in all.chunks_exact_mut(row).skip(first as usize).zip(from) {
                to[start as usize * size..][..columns].copy_from_slice(&from[..columns]);
            }
        }
        Ok(all)
    }

    /// Appends the chunks below a node of the B-tree, which must be in row-major order of the grid.
    fn walk(&self, address: u64, above: Option<u8>, grid: [u64; 2], list: &mut Vec<Chunk>) -> Parsed<()> {
        let mut node = self.file.at(address)?;
        node.signature(b"TREE")?;
        let (kind, level, children) = (node.byte()?, node.byte()?, node.short()?);
        if kind != 1 || above.is_some_and(|above| level.checked_add(1) != Some(above)) {
            return Err(CUT.into());
        }
        // Left and right sibling.
        let _ = (node.offset()?, node.offset()?);
        for _ in 0..children {
            self.file.visit()?;
            let (stored, skipped) = (node.uint(4)?, node.uint(4)?);
            let mut position = [0; 2];
            for offset in &mut position[2 - self.rank..] {
                *offset = node.uint(8)?;
            }
            // Skips the offset in the last dimension, that of the element size.
            node.skip(8)?;
            let child = node.offset()?.ok_or(CUT)?;
            if level > 0 {
                self.walk(child, Some(level), grid, list)?;
                continue;
            }
            let k = list.len() as u64;
            let expected = [k / grid[1], k % grid[1]];
            if expected[0] >= grid[0] || [0, 1].iter().any(|&d| expected[d] * self.chunk[d] != position[d]) {
                return Err("the chunks of a dataset of it are not in order".into());
            }
            push(list, Chunk { address: child, stored, skipped }, "a MAT-file")?;
        }
        Ok(())
    }

    /// The elements of a chunk, `len` bytes, with filters reversed.
    fn unpacked(&self, chunk: &Chunk, len: u64) -> Parsed<Cow<'_, [u8]>> {
        let is_on = |position: Option<usize>| position.is_some_and(|position| chunk.skipped >> position & 1 == 0);
        let mut content = Cow::Borrowed(self.file.slice(chunk.address, chunk.stored)?);
        if is_on(self.deflate) {
            content = Cow::Owned(inflated(&content, len)?.ok_or(CUT)?);
        }
        if content.len() as u64 != len {
            return Err(CUT.into());
        }
        if is_on(self.shuffle) && self.size > 1 {
            // Shuffled data has the first bytes of all elements, then the second ones, and so on.
            let mut elements = filled(content.len(), 0u8, "a MAT-file")?;
            for (b, plane) in content.chunks_exact(content.len() / self.size).enumerate() {
                for (element, &byte) in elements.chunks_exact_mut(self.size).zip(plane) {
                    element[b] = byte;
                }
            }
            content = Cow::Owned(elements);
        }
        Ok(content)
    }
}
