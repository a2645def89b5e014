//! Text in pieces of whole lines, which threads parse in any order.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Result;
use crate::par::{Threads, for_each_part, reserved};

/// What text is read, and how much of it.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// What errors call the text.
    pub(crate) what: &'static str,
    /// Bytes of text at most, after decompression.
    pub(crate) max_bytes: u64,
    /// About so many bytes are a piece.
    pub(crate) piece_bytes: usize,
    /// Whether bytes behind gzip that are not gzip are left out.
    pub(crate) lenient: bool,
}

impl Limits {
    /// Bytes of a piece by default: pieces stay in the second-level cache and are many enough to share.
    pub(crate) const PIECE: usize = 1 << 20;
    /// Bytes of the largest piece. An entry takes two bytes or more, so that 32 bits are enough for the number of one
    /// in its piece.
    pub(crate) const LARGEST_PIECE: usize = 1 << 32;
}

/// Cuts `text[start..]` behind line ends, every `bytes` or more.
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

/// `parse` of every piece of `text`, in their order; behind the first that is `wrong`, or is an error, there may be
/// none.
pub(crate) fn parse_pieces<P: Send>(
    threads: &Threads,
    text: &[u8],
    pieces: &[Range<usize>],
    parse: impl Fn(&[u8]) -> Result<P> + Sync,
    wrong: impl Fn(&P) -> bool + Sync,
) -> Result<Vec<Result<P>>> {
    // Pieces behind one that is wrong need not be parsed.
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
