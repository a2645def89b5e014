//! Streaming decompression: only a window of the text and a piece of the file are in memory.

use std::fs::File;
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use crate::wire::reserved;

/// Whether a file with these first bytes is in a supported compressed format.
pub(crate) fn is_packed(first: &[u8]) -> bool {
    first.starts_with(&[0x1f, 0x8b]) || (cfg!(feature = "zstd") && is_zstd(first))
}

/// Whether these are the first bytes of a zstd frame, skippable frames included.
fn is_zstd(first: &[u8]) -> bool {
    first.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || is_skipped(first)
}
fn is_skipped(first: &[u8]) -> bool {
    matches!(first, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Bytes read from a file at a time.
const PIECE: usize = 1 << 16;
/// Minimum memory of a decoder's window and tables.
#[cfg(not(feature = "zstd"))]
const STATE: usize = 1 << 16;
#[cfg(feature = "zstd")]
const STATE: usize = 1 << 20;
/// Largest accepted zstd window, of which a decoder stores a copy: the default limit of the `zstd` program.
#[cfg(feature = "zstd")]
const WINDOW: u64 = (1 << 27) + 1;

/// A file with lookahead.
struct Input {
    file: File,
    buffer: Vec<u8>,
    at: usize,
}

impl Input {
    /// The next bytes, at least `bytes` of them unless the file ends.
    fn peek(&mut self, bytes: usize) -> io::Result<&[u8]> {
        if self.buffer.len() - self.at < bytes {
            self.buffer.drain(..self.at);
            self.at = 0;
            while self.buffer.len() < bytes && (&mut self.file).take(PIECE as u64).read_to_end(&mut self.buffer)? > 0 {}
        }
        Ok(&self.buffer[self.at..])
    }
    /// Skips bytes.
    #[cfg(feature = "zstd")]
    fn skip(&mut self, mut bytes: usize) -> io::Result<()> {
        while bytes > 0 {
            let n = self.peek(1)?.len().min(bytes);
            if n == 0 {
                return Err(wrong("the file ends within a frame of zstd that is to be skipped"));
            }
            self.consume(n);
            bytes -= n;
        }
        Ok(())
    }
}

impl Read for Input {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let from = self.peek(1)?;
        let n = from.len().min(to.len());
        to[..n].copy_from_slice(&from[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek(1)
    }
    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

fn wrong(why: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_string())
}

enum Member {
    /// Before the first or next member.
    Between(Input),
    Gzip(Box<GzDecoder<Input>>),
    #[cfg(feature = "zstd")]
    Zstd(Box<ruzstd::decoding::StreamingDecoder<Input, ruzstd::decoding::FrameDecoder>>),
    /// After the last member, or after an error.
    Over,
}

/// The concatenated text of all members of a compressed file.
pub(crate) struct Unpacked(Member);

impl Unpacked {
    /// For a file whose first bytes satisfy [`is_packed`].
    pub(crate) fn new(file: File) -> io::Result<Self> {
        Ok(Self(Member::Between(Input { file, buffer: Vec::new(), at: 0 })))
    }
    /// Starts the next member. Only zeros may follow the last one: padding of tape and disk blocks.
    fn begin(mut input: Input) -> io::Result<Member> {
        let first = input.peek(4)?;
        if first.starts_with(&[0x1f, 0x8b]) {
            // The decoder panics if its allocation fails, so the allocation is tried first.
            drop(reserved::<u8>(STATE, "decompression").map_err(|_| io::ErrorKind::OutOfMemory)?);
            return Ok(Member::Gzip(Box::new(GzDecoder::new(input))));
        }
        #[cfg(feature = "zstd")]
        if is_skipped(first) {
            let length = input.peek(8)?.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
            input.skip(8 + length.ok_or_else(|| wrong("the file ends within a frame of zstd"))? as usize)?;
            return Ok(Member::Between(input));
        }
        #[cfg(feature = "zstd")]
        if is_zstd(first) {
            drop(reserved::<u8>(STATE, "decompression").map_err(|_| io::ErrorKind::OutOfMemory)?);
            let decoder = ruzstd::decoding::StreamingDecoder::new_with_max_window_size(input, WINDOW);
            return Ok(Member::Zstd(Box::new(decoder.map_err(|e| wrong(format!("zstd: {e}")))?)));
        }
        loop {
            let rest = input.peek(1)?;
            if rest.is_empty() {
                return Ok(Member::Over);
            }
            if rest.iter().any(|b| *b != 0) {
                return Err(wrong("bytes behind the compressed text are not compressed"));
            }
            let n = rest.len();
            input.consume(n);
        }
    }
}

impl Read for Unpacked {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match &mut self.0 {
                Member::Over => return Ok(0),
                Member::Between(_) => 0,
                Member::Gzip(decoder) => decoder.read(to)?,
                #[cfg(feature = "zstd")]
                Member::Zstd(decoder) => decoder.read(to).map_err(|e| wrong(format!("zstd: {e}")))?,
            };
            if read > 0 || to.is_empty() {
                return Ok(read);
            }
            self.0 = match std::mem::replace(&mut self.0, Member::Over) {
                Member::Over => return Ok(0),
                Member::Between(input) => Self::begin(input)?,
                Member::Gzip(decoder) => Member::Between(decoder.into_inner()),
                #[cfg(feature = "zstd")]
                Member::Zstd(decoder) => {
                    let sums = (decoder.decoder.get_checksum_from_data(), decoder.decoder.get_calculated_checksum());
                    if matches!(sums, (Some(stored), Some(computed)) if stored != computed) {
                        return Err(wrong("zstd: the checksum is another one; the file is damaged"));
                    }
                    Member::Between(decoder.into_inner())
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut to = GzEncoder::new(Vec::new(), Compression::fast());
        to.write_all(text).unwrap();
        to.finish().unwrap()
    }

    fn text_of(name: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let path = std::env::temp_dir().join(format!("sparring-unpack-{name}-{}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let mut text = Vec::new();
        let read = Unpacked::new(File::open(&path).unwrap()).unwrap().read_to_end(&mut text);
        std::fs::remove_file(path).unwrap();
        read.map(|_| text)
    }

    #[test]
    fn members_follow_each_other() {
        let long: Vec<u8> =
            (0..300_000u32).flat_map(|k| format!("{}\n", k.wrapping_mul(2_654_435_769)).into_bytes()).collect();
        let two = [gzip(&long), gzip(b""), gzip(b"end")].concat();
        let expected = [&long[..], b"end"].concat();
        assert!(text_of("two", &two).unwrap() == expected);
        assert!(text_of("zeros", &[&two[..], &[0; 100_000]].concat()).unwrap() == expected);
        assert!(text_of("cut", &two[..two.len() / 2]).is_err());
        assert!(text_of("more", &[&two[..], b"more"].concat()).unwrap_err().to_string().contains("behind"));
        let mut damaged = two.clone();
        damaged[200_000] ^= 4;
        assert!(text_of("damaged", &damaged).is_err());
        assert!(is_packed(&two) && !is_packed(b"%%MatrixMarket") && !is_packed(b""));
    }

    #[cfg(feature = "zstd")]
    #[test]
    fn frames_of_zstd_are_read() {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        let text: Vec<u8> = (0..90_000u32).flat_map(|k| format!("{k}\n").into_bytes()).collect();
        let frame = compress_to_vec(&text[..], CompressionLevel::Fastest);
        let skipped = [&[0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let all = [&skipped[..], &frame, &skipped, &frame].concat();
        assert!(text_of("zstd", &all).unwrap() == [&text[..], &text].concat());
        assert!(text_of("zstd-cut", &all[..all.len() - 9]).is_err());
        assert!(is_packed(&skipped) && is_packed(&frame));
    }
}
