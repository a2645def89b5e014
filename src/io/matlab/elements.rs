//! Data elements: a tag of type and size, and the content, aligned to 8 bytes.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flate2::bufread::ZlibDecoder;

use crate::par::{out_of_memory, reserved};
use crate::{Error, Result};

/// Element types with special treatment.
pub(super) const MATRIX: u32 = 14;
pub(super) const COMPRESSED: u32 = 15;

/// An element: its type and its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    pub(super) kind: u32,
    pub(super) bytes: &'a [u8],
}

/// A reader of consecutive elements.
#[derive(Clone, Copy)]
pub(super) struct Elements<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    big_endian: bool,
}

/// The number of 32 bits at `at`.
fn word(bytes: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let word = *bytes.get(at..)?.first_chunk::<4>()?;
    Some(if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
}

impl<'a> Elements<'a> {
    /// The elements of `bytes` from offset `at` on.
    pub(super) fn new(bytes: &'a [u8], at: usize, big_endian: bool) -> Self {
        Self { bytes, at, big_endian }
    }
    /// The next element; `None` at the end. A truncated element is an error.
    pub(super) fn next(&mut self) -> Result<Option<Element<'a>>, &'static str> {
        const CUT: &str = "it was cut or damaged";
        if self.at >= self.bytes.len() {
            return Ok(None);
        }
        let first = word(self.bytes, self.at, self.big_endian).ok_or(CUT)?;
        // Small elements store up to four bytes in the tag itself.
        let (kind, tag, len) = match first >> 16 {
            0 => (first, 8, word(self.bytes, self.at + 4, self.big_endian).ok_or(CUT)? as usize),
            small => (first & 0xffff, 4, small as usize),
        };
        if tag == 4 && len > 4 {
            return Err(CUT);
        }
        let start = self.at + tag;
        let bytes = self.bytes.get(start..start + len).ok_or(CUT)?;
        let padded = if kind == COMPRESSED { tag + len } else { (tag + len).next_multiple_of(8) };
        self.at += padded;
        Ok(Some(Element { kind, bytes }))
    }
    /// The next element, which must be of this type.
    pub(super) fn take(&mut self, kind: u32) -> Result<Element<'a>, &'static str> {
        match self.next()? {
            Some(found) if found.kind == kind => Ok(found),
            _ => Err("a matrix is not built as it should be"),
        }
    }
}

/// 32-bit integers.
pub(super) fn words(bytes: &[u8], big_endian: bool) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
    bytes.chunks_exact(4).map(move |chunk| word(chunk, 0, big_endian).unwrap_or_default())
}

/// Numbers of any MATLAB storage type, as f64.
/// # Errors
/// [`Error::Unsupported`] if the storage type is not numeric.
pub(super) fn reals(element: Element<'_>, big_endian: bool) -> Result<Vec<f64>, Error> {
    macro_rules! of {
        ($($code:literal $t:ty),*) => {
            match element.kind {
                $($code => {
                    let chunks = element.bytes.chunks_exact(size_of::<$t>());
                    let mut list = reserved(chunks.len(), "values")?;
                    list.extend(chunks.map(|chunk| {
                        let mut bytes = [0; size_of::<$t>()];
                        bytes.copy_from_slice(chunk);
                        (if big_endian { <$t>::from_be_bytes(bytes) } else { <$t>::from_le_bytes(bytes) }) as f64
                    }));
                    Ok(list)
                })*
                other => Err(Error::Unsupported {
                    what: "a MAT-file".into(),
                    why: format!("its numbers are stored as type {other}, which is not one of numbers"),
                }),
            }
        };
    }
    of!(1 i8, 2 u8, 3 i16, 4 u16, 5 i32, 6 u32, 7 f32, 9 f64, 12 i64, 13 u64)
}

/// The content of a compressed element, at most `left` + 1 bytes; `None` if it is damaged.
pub(super) fn inflated(packed: &[u8], left: u64) -> Result<Option<Vec<u8>>> {
    /// Minimum memory of the decoder.
    const STATE: usize = 64 << 10;
    drop(reserved::<u8>(STATE, "decompression")?);
    let mut content = Vec::new();
    // The decoder panics if its allocation fails.
    let read = catch_unwind(AssertUnwindSafe(|| {
        ZlibDecoder::new(packed).take(left.saturating_add(1)).read_to_end(&mut content)
    }));
    match read {
        Err(_) => Err(out_of_memory::<u8>("decompression", STATE)),
        Ok(Err(e)) if e.kind() == std::io::ErrorKind::OutOfMemory => {
            Err(out_of_memory::<u8>("a MAT-file", packed.len()))
        }
        Ok(Err(_)) => Ok(None),
        Ok(Ok(_)) => Ok(Some(content)),
    }
}
