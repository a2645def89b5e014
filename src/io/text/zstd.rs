//! Decompression of a zstd frame (RFC 8878).

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

use crate::par::reserved;

/// Largest accepted window, of which a decoder stores a copy: the default limit of the `zstd` program.
const WINDOW: u64 = (1 << 27) + 1;

/// A reader of one frame; skippable frames are empty.
pub(super) struct Frame<'a> {
    state: State<'a>,
}

enum State<'a> {
    Begin(&'a [u8]),
    Within(Box<StreamingDecoder<&'a [u8], ruzstd::decoding::FrameDecoder>>),
    End(&'a [u8]),
}

fn wrong(why: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("zstd: {}", why.to_string()))
}

/// Runs a decoder call, and turns its panic on allocation failure into an error.
fn tried<T>(body: impl FnOnce() -> T) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))
}

impl<'a> Frame<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { state: State::Begin(bytes) }
    }
    /// The bytes after the frame, once it has been read.
    pub(super) fn rest(&self) -> &'a [u8] {
        match &self.state {
            State::Begin(rest) | State::End(rest) => rest,
            State::Within(decoder) => decoder.get_ref(),
        }
    }
    fn begin(bytes: &'a [u8]) -> io::Result<State<'a>> {
        let room = || io::Error::from(io::ErrorKind::OutOfMemory);
        match tried(|| StreamingDecoder::new_with_max_window_size(bytes, WINDOW))? {
            Ok(decoder) => {
                // The decoder needs a window and a block.
                let window =
                    usize::try_from(decoder.decoder.content_size().clamp(1 << 17, WINDOW)).map_err(|_| room())?;
                drop(reserved::<u8>(window, "decompression").map_err(|_| room())?);
                Ok(State::Within(Box::new(decoder)))
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let rest = bytes.get(8 + length as usize..);
                rest.map(State::End).ok_or_else(|| wrong("the file ends within a frame to be skipped"))
            }
            Err(FrameDecoderError::ReadFrameHeaderError(e)) => {
                Err(wrong(format!("the header of a frame is wrong or cut off ({e})")))
            }
            Err(e) => Err(wrong(e)),
        }
    }
}

impl Read for Frame<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if let State::Begin(bytes) = self.state {
            self.state = Self::begin(bytes)?;
        }
        let State::Within(decoder) = &mut self.state else { return Ok(0) };
        let n = tried(|| decoder.read(to))?.map_err(wrong)?;
        if n == 0 && !to.is_empty() {
            let sums = (decoder.decoder.get_checksum_from_data(), decoder.decoder.get_calculated_checksum());
            if let (Some(told), Some(found)) = sums
                && told != found
            {
                return Err(wrong("the checksum is another one; the file is damaged"));
            }
            self.state = State::End(decoder.get_ref());
        }
        Ok(n)
    }
}
