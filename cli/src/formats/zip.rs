//! Archives of files, as NumPy and SciPy write them: stored or deflated.

use std::io::{self, Cursor, Read, Write};

use zip::read::ZipArchive;
use zip::result::ZipError;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};
use zip::{CompressionMethod, DateTime};

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The content of the file called `wanted`, of no more than `most` bytes; `None` if there is none.
pub(super) fn entry(archive: &[u8], wanted: &str, most: usize) -> io::Result<Option<Vec<u8>>> {
    let archive = ZipArchive::new(Cursor::new(archive));
    let mut archive = archive.map_err(|e| damaged(&format!("it is no zip archive, or it was cut ({e})")))?;
    let mut file = match archive.by_name(wanted) {
        Err(ZipError::FileNotFound) => return Ok(None),
        file => file?,
    };
    let mut content = Vec::new();
    // Whatever is declared.
    if file.by_ref().take(most as u64 + 1).read_to_end(&mut content)? > most {
        return Err(damaged("what is in the archive is larger than allowed"));
    }
    Ok(Some(content))
}

/// An archive that is written file by file.
pub(super) struct Archive<'a>(ZipWriter<StreamWriter<&'a mut dyn Write>>);

impl<'a> Archive<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self(ZipWriter::new_stream(out))
    }
    pub(super) fn add(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(1))
            // The first day that there is, so that equal matrices are equal files.
            .last_modified_time(DateTime::default())
            // Sizes of 4 GiB and more need wider fields.
            .large_file(u32::try_from(content.len()).is_err());
        self.0.start_file(name, options)?;
        self.0.write_all(content)
    }
    pub(super) fn finish(self) -> io::Result<()> {
        self.0.finish()?;
        Ok(())
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
