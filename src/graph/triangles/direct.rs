//! The count on the original rows: no relabeling, no L, symmetry tested on the fly.
//!
//! For graphs of small maximum degree: no hub has a row that is read again and again, so the order of the vertices does
//! not matter, and any preparation costs more than the count.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::par::{Threads, try_split};
use crate::simd::close_wedges;
use crate::{Index, Pattern, Result};

/// Minimum entries of A per block.
const BLOCK: usize = 1 << 13;
/// Maximum number of blocks.
const BLOCKS: usize = 256;

/// The number of triangles of a square `a`; `None` unless it is sorted and symmetric and no block of rows needs more
/// than `most` comparisons per entry beyond those of short rows.
pub(super) fn count<I: Index>(threads: &Threads, a: &Pattern<I>, most: u64) -> Result<Option<u64>> {
    if !a.is_sorted() {
        return Ok(None);
    }
    let (n, ptr) = (a.nrows(), a.row_ptr());
    let blocks = try_split(n, (a.nnz() / BLOCK).clamp(1, BLOCKS), |u| (ptr[u] + u) as u64)?;
    let [triangles, below, diagonal] = [const { AtomicU64::new(0) }; 3];
    let refused = AtomicBool::new(false);
    threads.for_each(
        blocks.len(),
        || Ok(()),
        |(), b| {
            if refused.load(Ordering::Relaxed) {
                return Ok(());
            }
            let block = blocks[b].clone();
            let entries = (ptr[block.end] - ptr[block.start]) as u64;
            match close_wedges(a, block, most.saturating_mul(entries)) {
                Some(found) => {
                    triangles.fetch_add(found.triangles, Ordering::Relaxed);
                    below.fetch_add(found.below, Ordering::Relaxed);
                    diagonal.fetch_add(found.diagonal, Ordering::Relaxed);
                }
                None => refused.store(true, Ordering::Relaxed),
            }
            Ok(())
        },
    )?;
    // Each entry below the diagonal has its mirror image; with equal numbers on both sides, A is symmetric.
    let symmetric = 2 * below.into_inner() + diagonal.into_inner() == a.nnz() as u64;
    Ok((symmetric && !refused.into_inner()).then(|| triangles.into_inner()))
}
