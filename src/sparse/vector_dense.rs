//! Parallel writes into a bitmap or full vector.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::bitmap::{ones, word_of_all};
use super::reserved;
use super::vector_pattern::{Form, Indices, VectorPattern};
use super::vector_target::{Combine, Source, Target, unshared};
use super::vector_writer::{BLOCK, Writer};
use crate::algebra::{Slice, SliceMut};
use crate::par::{Threads, for_each_part};
use crate::{Index, Result};

/// Up to this many entries are written by one thread.
const WORK: usize = 1 << 15;

/// Writes entries into a bitmap or full vector.
pub(super) fn put_dense<I: Index>(
    threads: &Threads,
    c: Target<'_, I>,
    t: &Source<'_, I>,
    combine: Option<&Combine<'_>>,
) -> Result<()> {
    let count = t.pattern.nnz();
    // A shared pattern is copied only if a bit of it changes.
    let is_shared = Arc::get_mut(c.pattern).is_none();
    let changes = match c.pattern.form() {
        Form::Bitmap(bits) if !std::ptr::eq(&**c.pattern, t.pattern) => {
            !is_shared || t.pattern.iter().any(|i| !bits.get(i))
        }
        _ => false,
    };
    let pattern = if changes { Some(unshared(c.pattern)?) } else { None };
    let values = c.values.unshared()?;
    let parts = if count < WORK { 1 } else { 4 * threads.count() };
    let ranges = ranges(t.pattern, parts)?;
    let mut writers = reserved(ranges.len(), "parts of a vector")?;
    for _ in &ranges {
        writers.push(Writer::new(t, combine)?);
    }
    let mut write = |bits: Option<&mut [u64]>| -> Result<usize> {
        let (mut words, mut values, mut first) = (bits, values.slice_mut(), 0);
        let (mut tasks, added) = (reserved(ranges.len(), "parts of a vector")?, AtomicUsize::new(0));
        for (&end, writer) in ranges.iter().zip(writers.drain(..)) {
            let (of_part, later) = words.map(|words| words.split_at_mut((end - first).div_ceil(64))).unzip();
            let (now, rest) = values.split_at(end - first);
            tasks.push((Part { first, words: of_part, values: now }, writer));
            (words, values, first) = (later, rest, end);
        }
        let run = |(mut part, mut writer): (Part<'_>, Writer<'_>)| {
            added.fetch_add(part.put(&mut writer, t), Relaxed);
        };
        if let [_] = tasks[..] {
            tasks.into_iter().for_each(run);
        } else {
            for_each_part(
                threads,
                tasks,
                || Ok(()),
                |(), task| {
                    run(task);
                    Ok(())
                },
            )?;
        }
        Ok(added.into_inner())
    };
    match pattern.map(VectorPattern::form_mut) {
        Some(Form::Bitmap(bits)) => bits.insert_by(|words| write(Some(words))),
        _ => write(None).map(|_| ()),
    }
}

/// Ends of at most `parts` ranges of indices, with about equally many entries of t each, at word boundaries.
fn ranges<I: Index>(t: &VectorPattern<I>, parts: usize) -> Result<Vec<usize>> {
    let (len, mut ends) = (t.len(), reserved(parts, "parts of a vector")?);
    for p in 1..parts {
        let share = |n: usize| (n as u128 * p as u128 / parts as u128) as usize;
        let end = match t.indices() {
            Indices::List(indices) => indices[share(indices.len())].get(),
            _ => share(len),
        };
        let end = end / 64 * 64;
        if end > ends.last().copied().unwrap_or(0) {
            ends.push(end);
        }
    }
    ends.push(len);
    Ok(ends)
}

/// A contiguous range of a vector, starting at a multiple of 64: its values, and its bits unless no bit changes.
struct Part<'a> {
    first: usize,
    words: Option<&'a mut [u64]>,
    values: SliceMut<'a>,
}

impl Part<'_> {
    /// Writes the entries of t in this range; returns the number of new entries.
    fn put<I: Index>(&mut self, writer: &mut Writer<'_>, t: &Source<'_, I>) -> usize {
        let (first, end) = (self.first, self.first + self.values.len());
        match t.pattern.indices() {
            Indices::List(indices) => {
                let at = |index: usize| indices.partition_point(|i| i.get() < index);
                let range = at(first)..at(end);
                self.put_list(writer, t.values, range.start, &indices[range])
            }
            Indices::Bitmap(words) => {
                let words = &words[first / 64..end.div_ceil(64)];
                self.put_words(writer, t.values, |w| words[w])
            }
            Indices::All => {
                let len = self.values.len();
                self.put_words(writer, t.values, |w| word_of_all(len, w))
            }
        }
    }
    /// Writes entries at increasing indices, whose values start at position `start`.
    fn put_list<I: Index>(&mut self, writer: &mut Writer<'_>, values: Slice<'_>, start: usize, indices: &[I]) -> usize {
        let mut added = 0;
        for (chunk, indices) in indices.chunks(BLOCK).enumerate() {
            let ([mut old, mut fresh], [mut n, mut m]) = ([[(0, 0); BLOCK]; 2], [0; 2]);
            for (p, i) in indices.iter().enumerate() {
                let (i, p) = (i.get() - self.first, writer.position(start + chunk * BLOCK + p));
                let is_new = self.words.as_deref_mut().is_some_and(|words| {
                    let (word, bit) = (&mut words[i / 64], 1 << (i % 64));
                    let is_new = *word & bit == 0;
                    *word |= bit;
                    is_new
                });
                if is_new {
                    fresh[m] = (i, p);
                    m += 1;
                } else {
                    old[n] = (i, p);
                    n += 1;
                }
            }
            writer.write(&mut self.values, values, &old[..n]);
            self.values.copy_pairs(&values, &fresh[..m]);
            added += m;
        }
        added
    }
    /// Writes entries at the set bits of `word(w)`, whose values are stored at their indices.
    fn put_words(&mut self, writer: &mut Writer<'_>, values: Slice<'_>, word: impl Fn(usize) -> u64) -> usize {
        let (first, len) = (self.first, self.values.len());
        let (mut added, mut w, end) = (0, 0, len.div_ceil(64));
        while w < end {
            let new = word(w);
            let there = self.words.as_deref().map_or(word_of_all(len, w), |words| words[w]);
            let all = |w: usize| word_of_all(len, w);
            let old = if writer.combine.is_some() { new & there } else { 0 };
            let run = w;
            w += 1;
            if old == all(run) {
                let full = |w: usize| word(w) == all(w) && self.words.as_deref().is_none_or(|words| words[w] == all(w));
                while w < end && w - run < writer.run && full(w) {
                    w += 1;
                }
                let range = 64 * run..len.min(64 * w);
                let n = range.len();
                writer.combine_run(&mut self.values.part(range), values, first + 64 * run, n);
                continue;
            }
            let fresh = new & !old;
            if fresh == all(run) {
                let range = 64 * run..len.min(64 * run + 64);
                let from = writer.span(first + range.start, range.len());
                self.values.part(range).copy_from(&values.part(from));
            } else {
                for (bits, are_old) in [(old, true), (fresh, false)] {
                    let (mut pairs, mut n) = ([(0, 0); 64], 0);
                    for i in ones(&[bits]) {
                        pairs[n] = (64 * run + i, writer.position(first + 64 * run + i));
                        n += 1;
                    }
                    if are_old {
                        writer.write(&mut self.values, values, &pairs[..n]);
                    } else {
                        self.values.copy_pairs(&values, &pairs[..n]);
                    }
                }
            }
            if let Some(words) = self.words.as_deref_mut() {
                words[run] |= new;
                added += (new & !there).count_ones() as usize;
            }
        }
        added
    }
}
