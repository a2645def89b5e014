//! Uncompressed files, parsed while they are read: each thread reads pieces into its own buffer, which stays in cache.
//!
//! Nearly all files are valid. After an error, or for other kinds of files, the file is read whole, to find the first
//! error.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::assemble::MatrixFile;
use super::banner::Layout;
use super::block::Block;
use super::header::Header;
use super::options::ReadOptions;
use super::parse::{Parsed, Rules, Source, Wrong, parse_body, parse_piece};
use crate::Result;
use crate::io::text::{Plain, is_packed};
use crate::par::{Threads, collected, filled, for_each_part, reserved};

/// Maximum bytes of the header.
const HEADER: usize = 1 << 16;

/// The file at `path`, if it is uncompressed text of several pieces without errors.
pub(super) fn parse(path: &Path, options: &ReadOptions<'_>) -> Option<MatrixFile> {
    let file = Plain::open(path)?;
    if file.size() <= options.piece_bytes as u64 || file.size() > options.max_bytes {
        return None;
    }
    let mut head = filled(HEADER.min(usize::try_from(file.size()).ok()?), 0u8, "the header of a file").ok()?;
    file.read(0, &mut head).ok()?;
    if is_packed(&head) {
        return None;
    }
    let (header, start) = Header::parse(&head, options.lenient).ok()?;
    // The size line must end with a line end, not with the end of the buffer.
    if head.get(start.checked_sub(1)?) != Some(&b'\n') || header.layout != Layout::Coordinate {
        return None;
    }
    let here = Threads::current();
    let threads = options.threads.unwrap_or(&here);
    let rules = Rules { header, lenient: options.lenient };
    let body = Body { file: &file, start: start as u64, rules, threads, piece_bytes: options.piece_bytes };
    parse_body(&path.display().to_string(), rules, threads, &body).ok()
}

struct Body<'a> {
    file: &'a Plain,
    /// Offset of the entries.
    start: u64,
    rules: Rules,
    threads: &'a Threads,
    piece_bytes: usize,
}

impl Source for Body<'_> {
    type Error = Wrong;

    fn blocks(&self) -> Result<Vec<Block>, Wrong> {
        let (size, step) = (self.file.size(), self.piece_bytes as u64);
        let pieces = usize::try_from((size - self.start).div_ceil(step)).map_err(|_| Wrong)?;
        let mut blocks: Vec<Option<Block>> = reserved(pieces, "pieces of a file")?;
        blocks.resize_with(pieces, || None);
        let stored = self.rules.header.stored;
        let found = AtomicUsize::new(0);
        let parts = collected(pieces, (0u64..).zip(&mut blocks), "pieces of a file")?;
        for_each_part(
            self.threads,
            parts,
            || self.file.room(self.piece_bytes),
            |buffer, (p, block)| {
                // Entries beyond the declared number are discarded.
                if found.load(Ordering::Relaxed) > stored {
                    return Ok(());
                }
                let from = self.start + p * step;
                let Some(text) = self.file.lines(from..size.min(from + step), from == self.start, buffer) else {
                    found.store(usize::MAX / 2, Ordering::Relaxed);
                    return Ok(());
                };
                match parse_piece(text, &self.rules)? {
                    Parsed { block: parsed, bad: None } => {
                        found.fetch_add(parsed.len(), Ordering::Relaxed);
                        *block = Some(parsed);
                    }
                    Parsed { bad: Some(_), .. } => found.store(usize::MAX / 2, Ordering::Relaxed),
                }
                Ok(())
            },
        )?;
        if found.into_inner() != stored {
            return Err(Wrong);
        }
        blocks.into_iter().collect::<Option<_>>().ok_or(Wrong)
    }
    fn at_entry(&self, _: usize, _: String) -> Wrong {
        Wrong
    }
}
