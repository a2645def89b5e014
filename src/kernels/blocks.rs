//! Results made block by block on all threads: the part of every operation that knows neither operator nor type.

use std::ops::Range;

use crate::Result;
use crate::algebra::words::{from_words, values_mut, word};
use crate::algebra::{Value, Word};
use crate::par::{Fresh, Threads};

/// Writes the results of a block: those of the range, over as many words that are there.
pub(crate) type WriteBlock<'a, W> = dyn Fn(Range<usize>, &mut [W]) + Sync + 'a;

/// The vector whose elements `start(block.start)..start(block.end)` are `first`, and then what `work(block, elements)`
/// makes of them.
pub(crate) fn fill<T: Value>(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    start: &dyn Fn(usize) -> usize,
    first: T,
    work: &WriteBlock<'_, T>,
) -> Result<Vec<T>> {
    let words = fill_words(threads, op, blocks, start, word(first), &|block, words| {
        // SAFETY: all are `first` at first.
        work(block, unsafe { values_mut::<T>(words) });
    })?;
    // SAFETY: all were `first`, and then what `work` wrote, which are values of this type.
    Ok(unsafe { from_words(words) })
}

/// [`fill`], compiled once for a size of value.
pub(crate) fn fill_words<W: Word>(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    start: &dyn Fn(usize) -> usize,
    first: W,
    work: &WriteBlock<'_, W>,
) -> Result<Vec<W>> {
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| start(blocks[b].end));
    Fresh::new(end(blocks.len()), op)?.fill(
        threads,
        op,
        blocks.len(),
        end,
        || Ok(()),
        |(), b, slots| {
            work(blocks[b].clone(), slots.rest(first));
            Ok(())
        },
    )
}

/// Writes the results of a block, and whether each is an entry, over words that are there and `false`.
pub(crate) type WriteFound<'a, W> = dyn Fn(Range<usize>, &mut [W], &mut [bool]) + Sync + 'a;

/// As [`fill`], with a flag for each element.
pub(crate) fn fill_found<T: Value>(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    first: T,
    work: &WriteFound<'_, T>,
) -> Result<(Vec<T>, Vec<bool>)> {
    let (words, found) = fill_found_words(threads, op, blocks, word(first), &|block, words, found| {
        // SAFETY: all are `first` at first.
        work(block, unsafe { values_mut::<T>(words) }, found);
    })?;
    // SAFETY: all were `first`, and then what `work` wrote, which are values of this type.
    Ok((unsafe { from_words(words) }, found))
}

/// [`fill_found`], compiled once for a size of value.
fn fill_found_words<W: Word>(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    first: W,
    work: &WriteFound<'_, W>,
) -> Result<(Vec<W>, Vec<bool>)> {
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end);
    let n = end(blocks.len());
    Fresh::new(n, op)?.fill_with(
        Fresh::new(n, op)?,
        threads,
        op,
        blocks.len(),
        end,
        || Ok(()),
        |(), b, slots, found| {
            work(blocks[b].clone(), slots.rest(first), found.rest(false));
            Ok(())
        },
    )
}
