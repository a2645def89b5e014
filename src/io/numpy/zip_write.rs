//! Sequential writer of zip archives, without seeking.

use std::io::{self, Write};

use flate2::{Compression, Crc};

use super::zip::{CENTRAL, END, END_64, LOCAL, LOCATOR_64};
use crate::io::text::{Deflate, Stop};

/// Flags: sizes follow the content; names are UTF-8.
const FLAGS: u16 = 1 << 3 | 1 << 11;
const DEFLATED: u16 = 8;
/// The earliest date of the format, so that equal matrices give equal files.
const DATE: u16 = 1 << 5 | 1;
/// 32-bit marker of a number stored in a 64-bit field.
const WIDE: u64 = u32::MAX as u64;

/// A directory entry.
struct Member {
    name: String,
    crc: u32,
    packed: u64,
    size: u64,
    at: u64,
    wide: bool,
}

/// A writer that counts bytes.
struct Counted<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.bytes += n as u64;
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A deflating writer that tracks size and CRC of the content.
struct Summed<'a, 'b> {
    packing: Deflate<&'a mut Counted<'b>>,
    crc: Crc,
    size: u64,
}

impl Write for Summed<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.packing.write(bytes)?;
        self.crc.update(&bytes[..n]);
        self.size += n as u64;
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.packing.flush()
    }
}

/// An archive written member by member.
pub(super) struct Writer<'a> {
    out: Counted<'a>,
    members: Vec<Member>,
}

/// Concatenates little-endian numbers of various widths.
macro_rules! record {
    ($first:expr $(, $x:expr)* $(,)?) => {{
        let mut bytes = $first.to_vec();
        $(bytes.extend_from_slice(&$x.to_le_bytes());)*
        bytes
    }};
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out: Counted { out, bytes: 0 }, members: Vec::new() }
    }
    /// Adds a member of about `size` bytes, written by `body`.
    pub(super) fn add(
        &mut self,
        name: &str,
        size: u64,
        body: &mut dyn FnMut(&mut dyn Write) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let at = self.out.bytes;
        // Deflate may expand the content slightly.
        let wide = size >= WIDE / 4 * 3;
        let version = if wide { 45u16 } else { 20 };
        let (sizes, extra) = if wide { (u32::MAX, 20u16) } else { (0, 0) };
        let len = name.len() as u16;
        let header = record!(LOCAL, version, FLAGS, DEFLATED, 0u16, DATE, 0u32, sizes, sizes, len, extra);
        self.out.write_all(&header)?;
        self.out.write_all(name.as_bytes())?;
        if wide {
            self.out.write_all(&record!([1u8, 0], 16u16, 0u64, 0u64))?;
        }
        let start = self.out.bytes;
        let (crc, size, end) = {
            let packing = Deflate::new(&mut self.out, Compression::new(1)).map_err(Stop::Other)?;
            let mut content = Summed { packing, crc: Crc::new(), size: 0 };
            body(&mut content)?;
            let Summed { packing, crc, size } = content;
            (crc.sum(), size, packing.finish()?.bytes)
        };
        let packed = end - start;
        let sizes = if wide {
            record!(b"PK\x07\x08", crc, packed, size)
        } else {
            record!(b"PK\x07\x08", crc, packed as u32, size as u32)
        };
        self.out.write_all(&sizes)?;
        self.members.push(Member { name: name.to_owned(), crc, packed, size, at, wide });
        Ok(())
    }
    /// Writes the directory and the end record.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let start = self.out.bytes;
        for Member { name, crc, packed, size, at, wide } in &self.members {
            let far = *at >= WIDE;
            let narrow = |x: u64, wide: bool| if wide { u32::MAX } else { x as u32 };
            let mut extra = Vec::new();
            if *wide {
                extra.extend_from_slice(&record!([0u8; 0], size, packed));
            }
            if far {
                extra.extend_from_slice(&at.to_le_bytes());
            }
            if !extra.is_empty() {
                extra = [&record!([1u8, 0], extra.len() as u16)[..], &extra].concat();
            }
            let version = if *wide || far { 45u16 } else { 20 };
            let header = record!(
                CENTRAL,
                version,
                version,
                FLAGS,
                DEFLATED,
                0u16,
                DATE,
                crc,
                narrow(*packed, *wide),
                narrow(*size, *wide),
                name.len() as u16,
                extra.len() as u16,
                0u16,
                0u16,
                0u16,
                0u32,
                narrow(*at, far),
            );
            self.out.write_all(&header)?;
            self.out.write_all(name.as_bytes())?;
            self.out.write_all(&extra)?;
        }
        let (end, count) = (self.out.bytes, self.members.len() as u64);
        let size = end - start;
        let far = start >= WIDE || size >= WIDE || count >= 0xffff;
        if far {
            self.out.write_all(&record!(END_64, 44u64, 45u16, 45u16, 0u32, 0u32, count, count, size, start))?;
            self.out.write_all(&record!(LOCATOR_64, 0u32, end, 1u32))?;
        }
        let (short, size, start) =
            if far { (u16::MAX, u32::MAX, u32::MAX) } else { (count as u16, size as u32, start as u32) };
        self.out.write_all(&record!(END, 0u16, 0u16, short, short, size, start, 0u16))
    }
}

#[cfg(test)]
mod tests {
    use super::super::zip::Archive;
    use super::*;

    fn archive() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        writer.add("one", 0, &mut |_| Ok(())).unwrap_or_else(|_| panic!());
        // As if it were larger than 4 GiB.
        writer.add("two", u64::MAX, &mut |out| Ok(out.write_all(&[7; 1000])?)).unwrap_or_else(|_| panic!());
        writer.finish().unwrap();
        bytes
    }

    fn entry(bytes: &[u8], wanted: &str, most: u64) -> crate::Result<Option<Vec<u8>>> {
        Ok(Archive::open("a", bytes, most)?.find(wanted)?.map(|content| content.into_owned()))
    }

    #[test]
    fn what_is_added_is_found_and_damage_is_seen() {
        let bytes = archive();
        assert_eq!(entry(&bytes, "one", 0).unwrap(), Some(vec![]));
        assert_eq!(entry(&bytes, "two", 1000).unwrap(), Some(vec![7; 1000]));
        assert_eq!(entry(&bytes, "three", 1000).unwrap(), None);
        assert!(matches!(entry(&bytes, "two", 999), Err(crate::Error::Budget { bytes: 1000, budget: 999, .. })));
        for cut in 0..bytes.len() {
            assert!(entry(&bytes[..cut], "two", 1000).is_err(), "{cut}");
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x55;
            // Never other content, nor a panic.
            if let Ok(Some(found)) = entry(&flipped, "two", 1000) {
                assert_eq!(found, [7; 1000], "{at}");
            }
        }
    }

    #[test]
    fn a_declared_size_is_not_believed() {
        let mut bytes = archive();
        // The size of the first member, in the directory.
        let at = bytes.windows(4).position(|w| w == CENTRAL).unwrap() + 24;
        bytes[at..at + 4].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
        assert!(entry(&bytes, "one", u64::MAX).is_err());
    }
}
