//! Text output: threads format parts, which are written in order.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::deflate::Gzip;
use crate::par::{Threads, out_of_memory, reserved};
use crate::replace::write_file;
use crate::{Error, Result};

/// Entries formatted per task.
pub(crate) const PART: usize = 1 << 15;

/// Maximum bytes of a formatted value: two numbers of 17 digits, with signs, points and exponents.
pub(crate) const LONGEST_VALUE: usize = 64;

/// A reason to stop writing.
pub(crate) enum Stop {
    Io(std::io::Error),
    /// Any error that is not I/O.
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

/// Writes a temporary file next to `path`, compressed if the name ends in `.gz` or `.zst`, and renames it at the
/// end.
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

/// Compresses the output of `body` by zstd.
#[cfg(feature = "zstd")]
fn zstd(file: &mut dyn Write, body: &mut dyn FnMut(&mut dyn Write) -> Result<(), Stop>) -> Result<(), Stop> {
    let mut out = super::zstd_write::ZstdWriter::new(file).map_err(Stop::Other)?;
    body(&mut out)?;
    out.finish()?;
    Ok(())
}
#[cfg(not(feature = "zstd"))]
fn zstd(_: &mut dyn Write, _: &mut dyn FnMut(&mut dyn Write) -> Result<(), Stop>) -> Result<(), Stop> {
    let why = "compression by zstd needs the feature zstd; use .gz".into();
    Err(Stop::Other(Error::Unsupported { what: "a file that ends in .zst".into(), why }))
}

/// Writes each nonempty line of `text`, prefixed by `mark`.
pub(crate) fn comment_lines(out: &mut dyn Write, mark: &str, text: &str) -> std::io::Result<()> {
    // Some readers would take a carriage return inside a comment for a line end.
    text.split(['\n', '\r']).filter(|line| !line.is_empty()).try_for_each(|line| writeln!(out, "{mark} {line}"))
}

/// Formats all parts in parallel and writes them in order, with a few parts per thread in memory at a time. `room` is
/// an upper bound on the bytes of a part: untouched memory costs nothing, but growing a buffer could fail beyond
/// recovery.
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
