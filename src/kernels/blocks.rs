//! Block-parallel output: the part of every operation that depends on neither operator nor type.

use std::ops::Range;

use crate::Result;
use crate::algebra::words::{from_words, values_mut, word};
use crate::algebra::{Value, Word};
use crate::par::{Threads, UninitOutput};

/// Writes the results of a block of positions over as many initialized words.
pub(crate) type WriteBlock<'a, W> = dyn Fn(Range<usize>, &mut [W]) + Sync + 'a;

/// A vector filled with `first`, of which `work(block, elements)` overwrites the elements
/// `start(block.start)..start(block.end)`.
pub(crate) fn fill<T: Value>(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    start: &dyn Fn(usize) -> usize,
    first: T,
    work: &WriteBlock<'_, T>,
) -> Result<Vec<T>> {
    let words = fill_words(threads, op, blocks, start, word(first), &|block, words| {
        // SAFETY: every word is initialized to `first`.
        work(block, unsafe { values_mut::<T>(words) });
    })?;
    // SAFETY: each word is `first` or a value of this type written by `work`.
    Ok(unsafe { from_words(words) })
}

/// [`fill`], compiled once per value size.
pub(crate) fn fill_words<W: Word>(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    start: &dyn Fn(usize) -> usize,
    first: W,
    work: &WriteBlock<'_, W>,
) -> Result<Vec<W>> {
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| start(blocks[b].end));
    UninitOutput::new(end(blocks.len()), op)?.fill(
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

/// Writes the results of a block and, for each, whether it is an entry, over initialized words and `false` flags.
pub(crate) type WriteFound<'a, W> = dyn Fn(Range<usize>, &mut [W], &mut [bool]) + Sync + 'a;

/// [`fill`] with a presence flag for each element.
pub(crate) fn fill_found<T: Value>(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    first: T,
    work: &WriteFound<'_, T>,
) -> Result<(Vec<T>, Vec<bool>)> {
    let (words, found) = fill_found_words(threads, op, blocks, word(first), &|block, words, found| {
        // SAFETY: every word is initialized to `first`.
        work(block, unsafe { values_mut::<T>(words) }, found);
    })?;
    // SAFETY: each word is `first` or a value of this type written by `work`.
    Ok((unsafe { from_words(words) }, found))
}

/// [`fill_found`], compiled once per value size.
fn fill_found_words<W: Word>(
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    first: W,
    work: &WriteFound<'_, W>,
) -> Result<(Vec<W>, Vec<bool>)> {
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end);
    let n = end(blocks.len());
    UninitOutput::new(n, op)?.fill_with(
        UninitOutput::new(n, op)?,
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
