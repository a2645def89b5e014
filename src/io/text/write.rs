//! Writing text: threads make its parts, which go out in order.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::deflate::Gzip;
use crate::par::{Threads, out_of_memory, reserved};
use crate::replace::write_file;
use crate::{Error, Result};

/// Entries that one task turns into text.
pub(crate) const PART: usize = 1 << 15;

/// Bytes of a value's text at most: two numbers of 17 digits, with signs, points and exponents.
pub(crate) const LONGEST_VALUE: usize = 64;

/// What ends writing early.
pub(crate) enum Stop {
    Io(std::io::Error),
    /// Anything but the file system.
    Other(Error),
}
impl From<std::io::Error> for Stop {
    fn from(e: std::io::Error) -> Self {
        Self::Io(e)
    }
}
impl Stop {
    pub(crate) fn with_path(self, path: &str) -> Error {
        match self {
            Self::Io(source) => Error::Io { path: path.to_owned(), source },
            Self::Other(e) => e,
        }
    }
}

/// A file beside the one at `path`, compressed if that is to be, and in its place when it is complete.
pub(crate) fn to_file(path: &Path, body: &mut dyn FnMut(&mut dyn Write) -> Result<(), Stop>) -> Result<()> {
    let ends_in = |end: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(end));
    let written = write_file(path, |file| {
        if ends_in("zst") {
            return zstd(file, body);
        }
        if !ends_in("gz") {
            return body(file);
        }
        let mut out = Gzip::new(file).map_err(Stop::Other)??;
        body(&mut out)?;
        out.finish()?;
        Ok(())
    });
    written.map_err(|e| e.with_path(&path.display().to_string()))
}

/// What `body` writes, compressed by zstd.
#[cfg(feature = "zstd")]
fn zstd(file: &mut dyn Write, body: &mut dyn FnMut(&mut dyn Write) -> Result<(), Stop>) -> Result<(), Stop> {
    let mut out = super::zstd_write::ZstdWriter::new(file).map_err(Stop::Other)?;
    body(&mut out)?;
    out.finish()?;
    Ok(())
}
#[cfg(not(feature = "zstd"))]
fn zstd(_: &mut dyn Write, _: &mut dyn FnMut(&mut dyn Write) -> Result<(), Stop>) -> Result<(), Stop> {
    let why = "compressing by zstd needs the feature zstd; use .gz".into();
    Err(Stop::Other(Error::Unsupported { what: "a file that ends in .zst".into(), why }))
}

/// Writes each line of `text` that is not empty behind `mark`.
pub(crate) fn comment_lines(out: &mut dyn Write, mark: &str, text: &str) -> std::io::Result<()> {
    // A carriage return inside a comment would end the line for some readers.
    text.split(['\n', '\r']).filter(|line| !line.is_empty()).try_for_each(|line| writeln!(out, "{mark} {line}"))
}

/// Writes the text of all parts in their order; a few parts for each thread are in memory at a time. A part has no more
/// bytes than `room` says: what is not touched costs nothing, and what must grow could not be refused.
pub(crate) fn in_order(
    out: &mut dyn Write,
    threads: Option<&Threads>,
    parts: Vec<Range<usize>>,
    room: &(dyn Fn(&Range<usize>) -> usize + Sync),
    text_of: &(dyn Fn(Range<usize>, &mut Vec<u8>) + Sync),
) -> Result<(), Stop> {
    let here = Threads::current();
    let threads = threads.unwrap_or(&here);
    let mut texts: Vec<Vec<u8>> = reserved(4 * threads.count(), "text of a file").map_err(Stop::Other)?;
    texts.resize_with(4 * threads.count(), Vec::new);
    for wave in parts.chunks(texts.len()) {
        threads
            .install(|| {
                wave.par_iter().zip(&mut texts).try_for_each(|(part, text)| -> Result<()> {
                    text.clear();
                    let bytes = room(part);
                    text.try_reserve(bytes).map_err(|_| out_of_memory::<u8>("text of a file", bytes))?;
                    text_of(part.clone(), text);
                    Ok(())
                })
            })
            .map_err(Stop::Other)?;
        for text in &texts[..wave.len()] {
            out.write_all(text)?;
        }
    }
    Ok(())
}
