//! Random access to the lines of an uncompressed file, for threads that read different parts concurrently.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use super::cursor::LONGEST_LINE;
use crate::Result;
use crate::par::filled;

/// A regular file of known size, read at arbitrary offsets by any thread.
pub(crate) struct Plain {
    file: File,
    size: u64,
}

/// Bytes read beyond a part, to complete its last line.
const AHEAD: usize = 1 << 12;

impl Plain {
    /// The file at `path`, if it is a regular file with positioned reads.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let about = file.metadata().ok()?;
        (cfg!(unix) && about.is_file()).then(|| Self { file, size: about.len() })
    }
    /// Size in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }
    /// Fills `to` with the bytes at offset `from`.
    pub(crate) fn read(&self, from: u64, to: &mut [u8]) -> std::io::Result<()> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_exact_at(&self.file, to, from);
        #[cfg(not(unix))]
        {
            let _ = (from, to, &self.file);
            Err(std::io::ErrorKind::Unsupported.into())
        }
    }
    /// A buffer for [`lines`](Self::lines) with parts of `bytes` bytes.
    pub(crate) fn room(&self, bytes: usize) -> Result<Vec<u8>> {
        filled(bytes.saturating_add(AHEAD + 1), 0, "a piece of a file")
    }
    /// The lines that begin in `part`, which is not empty; `begins` tells that a line begins at its start. `None` if
    /// reading fails or a line is too long.
    pub(crate) fn lines<'a>(&self, part: Range<u64>, begins: bool, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        // Includes the byte before the part, which may be a line end.
        let from = part.start - u64::from(!begins);
        let offset = |at: u64| usize::try_from(at - from).ok();
        let line_end = |bytes: &[u8]| bytes.iter().position(|&b| b == b'\n');
        let mut len = offset(self.size)?.min(offset(part.end)?.checked_add(AHEAD)?);
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        self.read(from, &mut buffer[..len]).ok()?;
        // Finds the end of the line that contains the last byte of the part.
        let last = offset(part.end)? - 1;
        let mut looked = last;
        let end = loop {
            match line_end(&buffer[looked..len]) {
                Some(n) => break looked + n + 1,
                None if offset(self.size)? == len => break len,
                None if len - last > LONGEST_LINE => return None,
                None => {
                    let more = offset(self.size)?.min(len.checked_mul(2)?);
                    buffer.try_reserve(more.saturating_sub(buffer.len())).ok()?;
                    buffer.resize(more.max(buffer.len()), 0);
                    self.read(from + len as u64, &mut buffer[len..more]).ok()?;
                    (looked, len) = (len, more);
                }
            }
        };
        let start = if begins { 0 } else { line_end(&buffer[..last]).map_or(end, |n| n + 1) };
        Some(&buffer[start..end])
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;

    /// Parts of any size cover every line once, in order.
    #[test]
    fn each_line_is_in_one_part() {
        let long = "x".repeat(3 * AHEAD);
        for text in ["", "\n", "a", "a\n", "\n\na\n\n", "ab\ncde\r\n\nf", &format!("a\n{long}\nb\nc\n"), &long] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let plain = Plain::open(file.path()).unwrap();
            assert_eq!(plain.size(), text.len() as u64);
            for step in [1, 2, 3, 5, 4096, 100_000] {
                let (mut found, mut from, mut buffer) = (vec![], 0, plain.room(step as usize).unwrap());
                while from < plain.size() {
                    let part = from..plain.size().min(from + step);
                    found.extend_from_slice(plain.lines(part, from == 0, &mut buffer).unwrap());
                    from += step;
                }
                assert_eq!(found, text.as_bytes(), "{step}");
            }
        }
    }

    #[test]
    fn only_regular_files_are_opened() {
        assert!(Plain::open(Path::new("/")).is_none() && Plain::open(Path::new("no such file")).is_none());
    }
}
