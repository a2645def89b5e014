//! A zstd writer.

use std::io::{self, Write};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::Result;
use crate::par::reserved;

/// Uncompressed bytes per frame.
const FRAME: usize = 1 << 20;
/// Minimum memory of the encoder for a frame: tables, window and output.
const STATE: usize = 2 << 20;

/// A writer that compresses by zstd. Its output is a sequence of frames of 1 MiB of input each, with checksums.
///
/// ```
/// use std::io::Write;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.mtx.zst");
/// let mut out = sparring::io::ZstdWriter::new(std::fs::File::create(&path)?)?;
/// out.write_all(b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.5\n")?;
/// out.finish()?;
/// assert_eq!(sparring::io::read_matrix_market(&path)?.csr::<f64>()?.values(), [0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ZstdWriter<W: Write> {
    out: W,
    /// Bytes of the incomplete frame.
    waiting: Vec<u8>,
    written: bool,
}

impl<W: Write> ZstdWriter<W> {
    /// A writer whose compressed output goes to `out`.
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new(out: W) -> Result<Self> {
        drop(reserved::<u8>(STATE, "compression")?);
        Ok(Self { out, waiting: reserved(FRAME, "compression")?, written: false })
    }
    /// Compresses the buffered bytes and writes them as a frame.
    fn frame(&mut self) -> io::Result<()> {
        // The encoder cannot report a failed allocation, so the allocation is tried first.
        drop(reserved::<u8>(STATE, "compression").map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?);
        self.out.write_all(&compress_to_vec(&self.waiting[..], CompressionLevel::Fastest))?;
        self.waiting.clear();
        self.written = true;
        Ok(())
    }
    /// Writes the remaining bytes, and returns the inner writer. Without this call, the end of the data is lost.
    /// # Errors
    /// Those of the inner writer; [`OutOfMemory`](io::ErrorKind::OutOfMemory).
    pub fn finish(mut self) -> io::Result<W> {
        // Empty input gives one empty frame.
        if !self.waiting.is_empty() || !self.written {
            self.frame()?;
        }
        Ok(self.out)
    }
}

impl<W: Write> Write for ZstdWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.waiting.len() == FRAME {
            self.frame()?;
        }
        let taken = bytes.len().min(FRAME - self.waiting.len());
        self.waiting.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }
    /// Ends the frame, so that everything written so far can be decompressed.
    fn flush(&mut self) -> io::Result<()> {
        if !self.waiting.is_empty() {
            self.frame()?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::text::{Limits, unpacked};

    #[test]
    fn what_is_compressed_comes_out_again() {
        let limits = Limits { what: "a file", max_bytes: 1 << 30, piece_bytes: Limits::PIECE, lenient: false };
        for len in [0, 1, 100, FRAME - 1, FRAME, FRAME + 1, 3 * FRAME + 77] {
            let mut state = 1u32;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if state >> 31 == 0 { b'0' } else { (state >> 24) as u8 }
            };
            let bytes: Vec<u8> = (0..len).map(|_| next()).collect();
            let mut out = ZstdWriter::new(Vec::new()).unwrap();
            for (k, part) in bytes.chunks(77_777).enumerate() {
                out.write_all(part).unwrap();
                if k == 2 {
                    out.flush().unwrap();
                }
            }
            let packed = out.finish().unwrap();
            assert!(packed.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]), "{len}");
            assert!(unpacked(&packed, "a", &limits, &|_| None).unwrap() == bytes, "{len}");
        }
    }
}
