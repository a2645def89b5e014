//! Splitting of text into pieces of whole lines, for parallel parsing.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Result;
use crate::par::{Threads, for_each_part, reserved};

/// Limits of a reader.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Name of the text in errors.
    pub(crate) what: &'static str,
    /// Maximum bytes of text, after decompression.
    pub(crate) max_bytes: u64,
    /// Approximate bytes per piece.
    pub(crate) piece_bytes: usize,
    /// Whether trailing bytes that are not gzip are ignored.
    pub(crate) lenient: bool,
}

impl Limits {
    /// Default bytes per piece: fits the second-level cache, and gives enough pieces for load balance.
    pub(crate) const PIECE: usize = 1 << 20;
    /// Maximum bytes per piece. An entry takes at least two bytes, so that 32 bits suffice for the number of an entry
    /// within its piece.
    pub(crate) const LARGEST_PIECE: usize = 1 << 32;
}

/// Splits `text[start..]` after line ends into pieces of at least `bytes` bytes.
pub(crate) fn pieces(text: &[u8], mut start: usize, bytes: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    while start < text.len() {
        let least = text.len().min(start.saturating_add(bytes)) - 1;
        let end = text[least..].iter().position(|&b| b == b'\n').map_or(text.len(), |p| least + p + 1);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// Parses all pieces of `text` in parallel; results are in order. The list may end after the first result that is
/// `wrong` or an error.
pub(crate) fn parse_pieces<P: Send>(
    threads: &Threads,
    text: &[u8],
    pieces: &[Range<usize>],
    parse: impl Fn(&[u8]) -> Result<P> + Sync,
    wrong: impl Fn(&P) -> bool + Sync,
) -> Result<Vec<Result<P>>> {
    // Pieces after an erroneous one need not be parsed.
    let first_wrong = AtomicUsize::new(usize::MAX);
    let mut parsed: Vec<Option<Result<P>>> = reserved(pieces.len(), "pieces of a file")?;
    parsed.resize_with(pieces.len(), || None);
    for_each_part(
        threads,
        parsed.iter_mut().zip(pieces).enumerate().collect(),
        || Ok(()),
        |(), (p, (parsed, piece)): (usize, (&mut Option<Result<P>>, &Range<usize>))| {
            if p <= first_wrong.load(Ordering::Relaxed) {
                let found = parse(&text[piece.clone()]);
                if !found.as_ref().is_ok_and(|found| !wrong(found)) {
                    first_wrong.fetch_min(p, Ordering::Relaxed);
                }
                *parsed = Some(found);
            }
            Ok(())
        },
    )?;
    let mut results = reserved(pieces.len(), "pieces of a file")?;
    results.extend(parsed.into_iter().map_while(|found| found));
    Ok(results)
}
