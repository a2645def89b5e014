//! Conversion of unordered entries to compressed rows: a stable, deterministic counting sort in two steps.
//!
//! 1. Rows are grouped into up to a few hundred buckets of 2^s consecutive rows. Each thread counts, then scatters, its
//!    contiguous share of the entries. A bucket receives the shares in order, so the given order is preserved for any
//!    number of threads.
//! 2. Each bucket, now small enough for the cache, is counted by row and scattered into the result. Then each row is
//!    sorted by column if necessary, and repeats are folded in the given order.
//!
//! Cost: O(entries + nrows), plus O(d log d) for each unsorted row of d entries.
//! A plain counting sort by column, then by row, would touch a random cache line per entry, twice.

use std::ops::Range;

use super::parts::{SERIAL_WORK, cut};
use super::{Pattern, out_of_memory, reserved};
use crate::algebra::words::Fold;
use crate::par::{Threads, collected, filled, filled_by, for_each_part, try_split, zeros};
use crate::{Index, Result};

/// Target number of entries per bucket: at 16 bytes each half a megabyte, the size of a second-level cache.
const BUCKET: usize = 1 << 15;
/// With more output streams, the first step loses what the second one saves.
const MAX_BUCKETS: usize = 512;
const BUCKETS: &str = "buckets of rows";

/// A list of entries (row, column, value), readable from several threads.
pub(crate) trait Entries<T, I>: Sync {
    /// Number of entries.
    fn len(&self) -> usize;
    /// Calls `f` for the entries at the positions `range`, in order.
    fn visit(&self, range: Range<usize>, f: impl FnMut(I, I, T));
    /// Any value; `None` only if there are no entries.
    fn any(&self) -> Option<T>;
}

/// Compressed rows of `entries`, columns increasing; repeats are folded by `fold(x, y)` in the order given.
/// With `fold` = `None`, the first repeat by row and column is an error.
///
/// Every row index must be below nrows and every column below ncols.
pub(crate) fn to_rows<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    (nrows, ncols): (usize, usize),
    entries: &impl Entries<T, I>,
    fold: Option<Fold<'_, T>>,
) -> Result<(Pattern<I>, Vec<T>)> {
    let len = nrows.checked_add(1).ok_or_else(|| out_of_memory::<usize>("row pointers", nrows))?;
    let mut row_ptr = zeros(len, "row pointers")?;
    let m = entries.len();
    let Some(filler) = entries.any() else {
        return Ok((Pattern::from_parts(nrows, ncols, row_ptr, Vec::new(), true), Vec::new()));
    };
    let mut cols = filled_by(threads, m, I::default(), "column indices")?;
    let mut values = filled_by(threads, m, filler, "values")?;

    // Buckets of 2^shift rows.
    let wanted = (m / BUCKET).clamp(1, MAX_BUCKETS);
    let shift = (0..usize::BITS).find(|&s| (nrows - 1) >> s < wanted).unwrap_or(usize::BITS - 1);
    let buckets = ((nrows - 1) >> shift) + 1;
    let rows_of = |b: usize| (b << shift)..((b + 1) << shift).min(nrows);

    let (grouped, start) = if buckets > 1 {
        group(threads, entries, buckets, shift, filler)?
    } else {
        (vec![], collected(2, [0, m], BUCKETS)?)
    };
    let lens = || start.windows(2).map(|w| w[1] - w[0]);
    let mut kept = filled(buckets, 0usize, BUCKETS)?;
    let mut repeat = filled(buckets, None, BUCKETS)?;
    let mut parts = reserved(buckets, BUCKETS)?;
    {
        let mut ends = cut(&mut row_ptr[1..], buckets, (0..buckets).map(|b| rows_of(b).len()))?.into_iter();
        let mut cols = cut(&mut cols, buckets, lens())?.into_iter();
        let mut values = cut(&mut values, buckets, lens())?.into_iter();
        for (b, (kept, repeat)) in kept.iter_mut().zip(&mut repeat).enumerate() {
            let (Some(ends), Some(cols), Some(values)) = (ends.next(), cols.next(), values.next()) else { break };
            parts.push((b, Bucket { first_row: b << shift, ends, cols, values }, kept, repeat));
        }
    }
    for_each_part(
        threads,
        parts,
        || Ok(Scratch::default()),
        |scratch, (b, mut bucket, kept, repeat)| {
            if buckets > 1 {
                bucket.scatter(&Grouped(&grouped[start[b]..start[b + 1]]));
            } else {
                bucket.scatter(entries);
            }
            *kept = bucket.sort_rows(threads, ncols, scratch, fold, repeat)?;
            Ok(())
        },
    )?;
    drop(grouped);
    if let Some(&(row, column)) = repeat.iter().flatten().next() {
        return Err(crate::Error::Duplicate { row, column });
    }

    // Closes the gap that folding left at the end of each bucket.
    let mut end = 0;
    for b in 0..buckets {
        for e in &mut row_ptr[1..][rows_of(b)] {
            *e += end;
        }
        if end < start[b] {
            cols.copy_within(start[b]..start[b] + kept[b], end);
            values.copy_within(start[b]..start[b] + kept[b], end);
        }
        end += kept[b];
    }
    cols.truncate(end);
    values.truncate(end);
    Ok((Pattern::from_parts(nrows, ncols, row_ptr, cols, true), values))
}

/// Result of step 1: the entries grouped by bucket, in the given order within each, and the start of each bucket.
type Groups<T, I> = (Vec<(I, I, T)>, Vec<usize>);
fn group<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    entries: &impl Entries<T, I>,
    buckets: usize,
    shift: u32,
    filler: T,
) -> Result<Groups<T, I>> {
    let m = entries.len();
    let shares = try_split(m, threads.count().min(m / SERIAL_WORK + 1), |e| e as u64)?;
    let mut counts = filled(buckets * shares.len(), 0usize, BUCKETS)?;
    let parts = collected(shares.len(), shares.iter().zip(counts.chunks_mut(buckets)), BUCKETS)?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (share, counts): (&Range<usize>, &mut [usize])| {
            entries.visit(share.clone(), |i, _, _| counts[i.get() >> shift] += 1);
            Ok(())
        },
    )?;

    let mut grouped = filled_by(threads, m, (I::default(), I::default(), filler), "entries by bucket")?;
    let lens = (0..buckets).flat_map(|b| counts.iter().skip(b).step_by(buckets).copied());
    let mut start = filled(buckets + 1, 0, BUCKETS)?;
    let mut streams: Vec<Vec<std::slice::IterMut<'_, (I, I, T)>>> = reserved(shares.len(), BUCKETS)?;
    for _ in &shares {
        streams.push(reserved(buckets, BUCKETS)?);
    }
    for (k, part) in cut(&mut grouped, counts.len(), lens)?.into_iter().enumerate() {
        start[k / shares.len() + 1] += part.len();
        streams[k % shares.len()].push(part.iter_mut());
    }
    for b in 0..buckets {
        start[b + 1] += start[b];
    }
    let parts = collected(shares.len(), shares.iter().zip(streams), BUCKETS)?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (share, mut streams): (&Range<usize>, Vec<_>)| {
            entries.visit(share.clone(), |i, j, x| {
                if let Some(place) = streams[i.get() >> shift].next() {
                    *place = (i, j, x);
                }
            });
            Ok(())
        },
    )?;
    Ok((grouped, start))
}

/// The entries of one bucket.
struct Grouped<'a, T, I>(&'a [(I, I, T)]);
impl<T: Copy + Sync, I: Index> Entries<T, I> for Grouped<'_, T, I> {
    fn len(&self) -> usize {
        self.0.len()
    }
    #[inline(always)]
    fn visit(&self, range: Range<usize>, mut f: impl FnMut(I, I, T)) {
        for &(i, j, x) in &self.0[range] {
            f(i, j, x);
        }
    }
    fn any(&self) -> Option<T> {
        self.0.first().map(|e| e.2)
    }
}

/// Step 2: the rows of a bucket, from `first_row` on, and the output for their entries.
struct Bucket<'a, T, I> {
    first_row: usize,
    /// Initially zero; finally the end of each row, relative to the start of the bucket.
    ends: &'a mut [usize],
    cols: &'a mut [I],
    values: &'a mut [T],
}

impl<T: Copy + Send + Sync, I: Index> Bucket<'_, T, I> {
    /// Scatters the entries to their rows, in the order given.
    fn scatter(&mut self, entries: &impl Entries<T, I>) {
        let first = self.first_row;
        entries.visit(0..entries.len(), |i, _, _| self.ends[i.get() - first] += 1);
        let mut start = 0;
        for e in self.ends.iter_mut() {
            start += std::mem::replace(e, start);
        }
        entries.visit(0..entries.len(), |i, j, x| {
            let p = &mut self.ends[i.get() - first];
            self.cols[*p] = j;
            self.values[*p] = x;
            *p += 1;
        });
    }

    /// Sorts each row and folds repeats, compacting towards the front; returns the number of remaining entries.
    fn sort_rows(
        &mut self,
        threads: &Threads,
        ncols: usize,
        scratch: &mut Scratch<T>,
        fold: Option<Fold<'_, T>>,
        repeat: &mut Option<(usize, usize)>,
    ) -> Result<usize> {
        let (mut start, mut kept) = (0, 0);
        for r in 0..self.ends.len() {
            let end = self.ends[r];
            let (cols, values) = (&mut self.cols[start..end], &mut self.values[start..end]);
            let mut len = end - start;
            if cols.windows(2).any(|w| w[0] >= w[1]) {
                scratch.sort_row(threads, ncols, cols, values)?;
                if let Some(w) = cols.windows(2).find(|w| w[0] == w[1]) {
                    match fold {
                        Some(fold) => len = fold_repeats(cols, values, fold),
                        None => {
                            *repeat = Some((self.first_row + r, w[0].get()));
                            return Ok(kept);
                        }
                    }
                }
            }
            if kept < start {
                self.cols.copy_within(start..start + len, kept);
                self.values.copy_within(start..start + len, kept);
            }
            start = end;
            kept += len;
            self.ends[r] = kept;
        }
        Ok(kept)
    }
}

/// Folds runs of equal columns in place, from left to right; returns the number of remaining entries.
fn fold_repeats<T: Copy, I: Copy + PartialEq>(cols: &mut [I], values: &mut [T], fold: impl Fn(T, T) -> T) -> usize {
    let mut last = 0;
    for p in 1..cols.len() {
        if cols[p] == cols[last] {
            values[last] = fold(values[last], values[p]);
        } else {
            last += 1;
            (cols[last], values[last]) = (cols[p], values[p]);
        }
    }
    last + 1
}

/// Scratch memory to sort a row.
pub(crate) struct Scratch<T> {
    keys: Vec<u64>,
    wide: Vec<(u64, u64)>,
    values: Vec<T>,
}
impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self { keys: Vec::new(), wide: Vec::new(), values: Vec::new() }
    }
}

impl<T: Copy> Scratch<T> {
    /// Stable sort of a row by column.
    ///
    /// Column and position share one 64-bit key if their bits fit. Keys are then distinct, so an unstable sort yields
    /// the stable order.
    pub(crate) fn sort_row<I: Index>(
        &mut self,
        threads: &Threads,
        ncols: usize,
        cols: &mut [I],
        values: &mut [T],
    ) -> Result<()> {
        let bits = |n: usize| usize::BITS - n.saturating_sub(1).leading_zeros();
        let position = bits(cols.len());
        copy_to(&mut self.values, values, "sorting a row")?;
        if bits(ncols) + position <= 64 {
            room(&mut self.keys, cols.len())?;
            self.keys.extend(cols.iter().enumerate().map(|(p, j)| ((j.get() as u64) << position) | p as u64));
            threads.sort(&mut self.keys);
            for ((key, j), x) in self.keys.iter().zip(cols).zip(values) {
                *j = I::cast((key >> position) as usize);
                *x = self.values[(key & ((1 << position) - 1)) as usize];
            }
        } else {
            room(&mut self.wide, cols.len())?;
            self.wide.extend(cols.iter().enumerate().map(|(p, j)| (j.get() as u64, p as u64)));
            threads.sort(&mut self.wide);
            for ((key, j), x) in self.wide.iter().zip(cols).zip(values) {
                *j = I::cast(key.0 as usize);
                *x = self.values[key.1 as usize];
            }
        }
        Ok(())
    }
    /// [`sort_row`](Self::sort_row), unless columns already increase.
    pub(crate) fn sort_row_if_needed<I: Index>(
        &mut self,
        threads: &Threads,
        ncols: usize,
        cols: &mut [I],
        values: &mut [T],
    ) -> Result<()> {
        if cols.windows(2).all(|w| w[0] < w[1]) { Ok(()) } else { self.sort_row(threads, ncols, cols, values) }
    }
}

/// Clears `v` and reserves memory for `len` elements.
pub(crate) fn room<K>(v: &mut Vec<K>, len: usize) -> Result<()> {
    v.clear();
    v.try_reserve(len).map_err(|_| out_of_memory::<K>("sorting a row", len))
}

fn copy_to<T: Copy>(v: &mut Vec<T>, from: &[T], what: &'static str) -> Result<()> {
    v.clear();
    if v.capacity() < from.len() {
        *v = reserved(from.len(), what)?;
    }
    v.extend_from_slice(from);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_too_wide_for_64_bits_sort_alike() {
        let threads = Threads::current();
        let cols: Vec<u64> = vec![1 << 62, 3, (1 << 62) + 1, 3, 0];
        for ncols in [(1usize << 62) + 2, usize::MAX >> 1] {
            let (mut c, mut v) = (cols.clone(), vec![0, 1, 2, 3, 4]);
            Scratch::default().sort_row(&threads, ncols, &mut c, &mut v).unwrap();
            assert_eq!(c, [0, 3, 3, 1 << 62, (1 << 62) + 1]);
            assert_eq!(v, [4, 1, 3, 0, 2]);
        }
    }

    #[test]
    fn repeats_fold_from_left_to_right() {
        let (mut c, mut v) = ([1, 1, 1, 4, 5, 5], [1.0, 2.0, 4.0, 8.0, 3.0, 1.0]);
        let len = fold_repeats(&mut c, &mut v, |x, y| x - y);
        assert_eq!((&c[..len], &v[..len]), (&[1, 4, 5][..], &[-5.0, 8.0, 2.0][..]));
    }
}
