//! Lines of a plain file by their place in it, for threads that read different parts at once.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use super::cursor::LONGEST_LINE;
use crate::Result;
use crate::par::filled;

/// A plain file of a known size, that any thread reads anywhere.
pub(crate) struct Plain {
    file: File,
    size: u64,
}

/// Bytes that are read behind a part, in which its last line is to end.
const AHEAD: usize = 1 << 12;

impl Plain {
    /// The file at `path`, if it is plain, and can be read anywhere.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let about = file.metadata().ok()?;
        (cfg!(unix) && about.is_file()).then(|| Self { file, size: about.len() })
    }
    /// Bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }
    /// Fills `to` with the bytes at `from`.
    pub(crate) fn read(&self, from: u64, to: &mut [u8]) -> std::io::Result<()> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_exact_at(&self.file, to, from);
        #[cfg(not(unix))]
        {
            let _ = (from, to, &self.file);
            Err(std::io::ErrorKind::Unsupported.into())
        }
    }
    /// Memory in which [`lines`](Self::lines) has room for parts of so many bytes.
    pub(crate) fn room(&self, bytes: usize) -> Result<Vec<u8>> {
        filled(bytes.saturating_add(AHEAD + 1), 0, "a piece of a file")
    }
    /// The lines that begin in `part`, which is not empty; whether a line begins with it says `begins`. `None` if they
    /// cannot be read, or one is too long.
    pub(crate) fn lines<'a>(&self, part: Range<u64>, begins: bool, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        // With the byte before, which may end a line.
        let from = part.start - u64::from(!begins);
        let place = |at: u64| usize::try_from(at - from).ok();
        let line_end = |bytes: &[u8]| bytes.iter().position(|&b| b == b'\n');
        let mut len = place(self.size)?.min(place(part.end)?.checked_add(AHEAD)?);
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        self.read(from, &mut buffer[..len]).ok()?;
        // The line with the last byte of the part.
        let last = place(part.end)? - 1;
        let mut looked = last;
        let end = loop {
            match line_end(&buffer[looked..len]) {
                Some(n) => break looked + n + 1,
                None if place(self.size)? == len => break len,
                None if len - last > LONGEST_LINE => return None,
                None => {
                    let more = place(self.size)?.min(len.checked_mul(2)?);
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

    /// Parts of every size give every line once, in order.
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
    fn what_is_no_plain_file_is_left() {
        assert!(Plain::open(Path::new("/")).is_none() && Plain::open(Path::new("no such file")).is_none());
    }
}
