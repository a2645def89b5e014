//! Archives of files, as far as NumPy and SciPy write them: stored or deflated, below 4 GiB.
//!
//! Source: PKWARE, *.ZIP File Format Specification* (APPNOTE), §4.3.

use std::io::{self, Read, Write};

use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    Some(bytes.get(at..at.checked_add(width)?)?.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b)))
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The content of the file called `wanted`, of no more than `most` bytes; `None` if there is none.
pub(super) fn entry(archive: &[u8], wanted: &str, most: usize) -> io::Result<Option<Vec<u8>>> {
    let cut = || damaged("it is no zip archive, or it was cut");
    // The last record may have a comment behind it, of at most 65,535 bytes.
    let from = archive.len().saturating_sub(22 + 0xffff);
    let end = archive[from..].windows(4).rposition(|w| w == END.to_le_bytes()).ok_or_else(cut)? + from;
    let (count, mut at) =
        (number(archive, end + 10, 2).ok_or_else(cut)?, number(archive, end + 16, 4).ok_or_else(cut)?);
    if at == 0xffff_ffff {
        return Err(damaged("archives of 4 GiB and more are not read"));
    }
    for _ in 0..count {
        let field = |offset, width| number(archive, at + offset, width).ok_or_else(cut);
        if field(0, 4)? != CENTRAL as usize {
            return Err(cut());
        }
        let (method, crc, packed, size) = (field(10, 2)?, field(16, 4)?, field(20, 4)?, field(24, 4)?);
        let (name, extra, comment, local) = (field(28, 2)?, field(30, 2)?, field(32, 2)?, field(42, 4)?);
        if archive.get(at + 46..at + 46 + name) != Some(wanted.as_bytes()) {
            at += 46 + name + extra + comment;
            continue;
        }
        let skip = |offset| number(archive, local + offset, 2).ok_or_else(cut);
        let start = local + 30 + skip(26)? + skip(28)?;
        let bytes = archive.get(start..start.saturating_add(packed)).ok_or_else(cut)?;
        if size > most {
            return Err(damaged("what is in the archive is larger than allowed"));
        }
        let mut content = Vec::new();
        // No more than is declared, whatever is in there.
        let limit = size as u64 + 1;
        match method as u16 {
            STORED => bytes.take(limit).read_to_end(&mut content)?,
            DEFLATED => DeflateDecoder::new(bytes).take(limit).read_to_end(&mut content)?,
            _ => return Err(damaged("what is in the archive is compressed in another way than deflate")),
        };
        let mut found = Crc::new();
        found.update(&content);
        if content.len() != size || found.sum() as usize != crc {
            return Err(damaged("what is in the archive is damaged"));
        }
        return Ok(Some(content));
    }
    Ok(None)
}

/// An archive that is written file by file.
pub(super) struct Archive<'a> {
    out: &'a mut dyn Write,
    at: u32,
    central: Vec<u8>,
    count: u16,
}

impl<'a> Archive<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, at: 0, central: Vec::new(), count: 0 }
    }
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let len = u32::try_from(bytes.len()).ok().and_then(|len| self.at.checked_add(len));
        self.at = len.ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "an archive of 4 GiB or more"))?;
        self.out.write_all(bytes)
    }
    pub(super) fn add(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut crc = Crc::new();
        crc.update(content);
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(content)?;
        let packed = packed.finish()?;
        let size = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
        let mut about = Vec::new();
        // Version 2.0, no flags; made on 1 January 1980, the first day that there is, so that equal matrices are equal files.
        for word in [20, 0, DEFLATED, 0, 0x21] {
            about.extend_from_slice(&word.to_le_bytes());
        }
        for word in [crc.sum(), size(&packed)?, size(content)?] {
            about.extend_from_slice(&word.to_le_bytes());
        }
        about.extend_from_slice(&(name.len() as u16).to_le_bytes());
        about.extend_from_slice(&0u16.to_le_bytes());
        let at = self.at;
        self.put(&[&LOCAL.to_le_bytes()[..], &about, name.as_bytes(), &packed].concat())?;
        self.central.extend_from_slice(&CENTRAL.to_le_bytes());
        self.central.extend_from_slice(&20u16.to_le_bytes());
        self.central.extend_from_slice(&about);
        // No comment, first disk, no attributes.
        self.central.extend_from_slice(&[0; 10]);
        self.central.extend_from_slice(&at.to_le_bytes());
        self.central.extend_from_slice(name.as_bytes());
        self.count += 1;
        Ok(())
    }
    pub(super) fn finish(mut self) -> io::Result<()> {
        let (at, central) = (self.at, std::mem::take(&mut self.central));
        self.put(&central)?;
        let mut end = [&END.to_le_bytes()[..], &[0; 4]].concat();
        end.extend_from_slice(&self.count.to_le_bytes());
        end.extend_from_slice(&self.count.to_le_bytes());
        end.extend_from_slice(&(central.len() as u32).to_le_bytes());
        end.extend_from_slice(&at.to_le_bytes());
        end.extend_from_slice(&[0; 2]);
        self.put(&end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_found_and_damage_is_seen() {
        let mut bytes = Vec::new();
        let mut archive = Archive::new(&mut bytes);
        archive.add("one", b"").unwrap();
        archive.add("two", &[7; 1000]).unwrap();
        archive.finish().unwrap();
        assert_eq!(entry(&bytes, "one", 0).unwrap(), Some(vec![]));
        assert_eq!(entry(&bytes, "two", 1000).unwrap(), Some(vec![7; 1000]));
        assert_eq!(entry(&bytes, "three", 1000).unwrap(), None);
        assert!(entry(&bytes, "two", 999).is_err());
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
}
