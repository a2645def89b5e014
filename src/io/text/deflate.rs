//! Deflate and gzip writers that report allocation failures as errors.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use crate::Result;
use crate::par::{filled, out_of_memory, reserved};

/// A writer that deflates.
pub(crate) struct Deflate<W: Write> {
    out: W,
    packing: Compress,
    buffer: Vec<u8>,
}

impl<W: Write> Deflate<W> {
    pub(crate) fn new(out: W, level: Compression) -> Result<Self> {
        /// Minimum memory of the encoder.
        const STATE: usize = 1 << 19;
        const BUFFER: usize = 1 << 15;
        let buffer = filled(BUFFER, 0, "compression")?;
        drop(reserved::<u8>(STATE, "compression")?);
        // The encoder panics if its allocation fails.
        let packing = catch_unwind(AssertUnwindSafe(|| Compress::new(level, false)));
        let packing = packing.map_err(|_| out_of_memory::<u8>("compression", STATE))?;
        Ok(Self { out, packing, buffer })
    }
    /// Compresses part of `bytes` and writes the output; returns the bytes consumed, and whether the stream has ended.
    fn step(&mut self, bytes: &[u8], flush: FlushCompress) -> io::Result<(usize, bool)> {
        let (before, made) = (self.packing.total_in(), self.packing.total_out());
        let status = self.packing.compress(bytes, &mut self.buffer, flush).map_err(io::Error::other)?;
        let made = (self.packing.total_out() - made) as usize;
        self.out.write_all(&self.buffer[..made])?;
        Ok(((self.packing.total_in() - before) as usize, status == Status::StreamEnd))
    }
    /// Writes the remaining output, and returns the inner writer.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        while !self.step(&[], FlushCompress::Finish)?.1 {}
        Ok(self.out)
    }
}

impl<W: Write> Write for Deflate<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let taken = self.step(bytes, FlushCompress::None)?.0;
            if taken > 0 || bytes.is_empty() {
                return Ok(taken);
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A gzip writer.
pub(crate) struct Gzip<W: Write> {
    packing: Deflate<W>,
    crc: Crc,
}

impl<W: Write> Gzip<W> {
    pub(crate) fn new(mut out: W) -> Result<io::Result<Self>> {
        // Header: method deflate, no name, no time, unknown operating system.
        if let Err(e) = out.write_all(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]) {
            return Ok(Err(e));
        }
        Ok(Ok(Self { packing: Deflate::new(out, Compression::default())?, crc: Crc::new() }))
    }
    pub(crate) fn finish(self) -> io::Result<()> {
        let mut out = self.packing.finish()?;
        out.write_all(&self.crc.sum().to_le_bytes())?;
        out.write_all(&self.crc.amount().to_le_bytes())
    }
}

impl<W: Write> Write for Gzip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.packing.write(bytes)?;
        self.crc.update(&bytes[..n]);
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.packing.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::MultiGzDecoder;

    use super::*;

    #[test]
    fn what_is_compressed_comes_out_again() {
        for len in [0, 1, 100, 100_000, 1_000_000] {
            let mut state = 1u32;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if state >> 31 == 0 { b'0' } else { (state >> 24) as u8 }
            };
            let bytes: Vec<u8> = (0..len).map(|_| next()).collect();
            let mut packed = Vec::new();
            let mut out = Gzip::new(&mut packed).unwrap().unwrap();
            bytes.chunks(777).for_each(|part| out.write_all(part).unwrap());
            out.finish().unwrap();
            let mut again = Vec::new();
            MultiGzDecoder::new(&packed[..]).read_to_end(&mut again).unwrap();
            assert!(again == bytes, "{len}");
        }
    }
}
