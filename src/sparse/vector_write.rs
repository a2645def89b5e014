//! Writes into a vector in place: entries that are put, and entries that a mask lets stay.
//!
//! Compiled once for a type of indices, whatever the values are: their type is forgotten.
//!
//! A list that is written pays for what an insert moves. It becomes a bitmap, which takes an entry in O(1), when one place in
//! [`DENSE`] has an entry, or when inserts have moved as many entries as one in [`MOVED`] places: that is what making the bitmap
//! costs, so writes cost O(entries written), amortized. A bitmap becomes a list where a pass over all of its words leaves an entry at
//! one place in [`SPARSE`] or fewer.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::MaskSpec;
use super::bitmap::{Bitmap, bit, ones, word_of_all};
use super::vector_pattern::{Form, Indices, VectorPattern};
use super::{copied, out_of_memory, reserved};
use crate::algebra::words::ValueVec;
use crate::algebra::{Array, Slice, SliceMut, Value};
use crate::par::{Threads, for_each_part, zero_values};
use crate::{Error, Index, Result};

/// A list of an entry at more than one place in so many becomes a bitmap.
const DENSE: usize = 8;
/// A list whose inserts have moved more entries than one in so many places becomes a bitmap.
const MOVED: usize = 16;
/// A bitmap of an entry at one place in so many, or fewer, becomes a list.
const SPARSE: usize = 32;
/// A bitmap's values take no more bytes than this where a list of few entries would do.
const LARGE: usize = 256 << 20;
/// Pairs of values that are combined at a time.
const BLOCK: usize = 128;
/// Words of a run that is combined at a time.
const RUN: usize = 32;
/// Values that are combined one by one: no buffers are made for them.
const FEW: usize = 4;
/// Entries written by one thread: more are shared out.
const WORK: usize = 1 << 15;

/// x(p) = x(p) ⊙ y(p), for arrays of one type and length.
pub(crate) type Combine<'a> = dyn Fn(&mut SliceMut<'_>, &Slice<'_>) + Sync + 'a;

/// The vector that is written.
pub(super) struct Target<'a, I: Index> {
    pub(super) pattern: &'a mut Arc<VectorPattern<I>>,
    pub(super) values: &'a mut dyn SharedValues,
    /// Entries of the list that inserts have moved.
    pub(super) moved: &'a mut usize,
}

/// What is written: values at the indices of a pattern, or one value at all of them.
pub(super) struct Source<'a, I: Index> {
    pub(super) pattern: &'a VectorPattern<I>,
    pub(super) values: Slice<'a>,
}

/// Values of a vector, which clones may share.
pub(super) trait SharedValues {
    /// The values, for change in place; copied first if a clone shares them.
    fn unshared(&mut self) -> Result<&mut dyn ValueVec>;
    /// The values.
    fn slice(&self) -> Slice<'_>;
    /// Takes `n` other values, zeros that `fill(old, new)` replaces.
    fn renew(&mut self, n: usize, fill: &mut dyn FnMut(Slice<'_>, &mut SliceMut<'_>)) -> Result<()>;
}
impl<T: Value> SharedValues for Arc<Vec<T>> {
    fn unshared(&mut self) -> Result<&mut dyn ValueVec> {
        if Arc::get_mut(self).is_none() {
            *self = Arc::new(copied(self, "values")?);
        }
        match Arc::get_mut(self) {
            Some(values) => Ok(values),
            None => Err(shared()),
        }
    }
    fn slice(&self) -> Slice<'_> {
        Slice::of(self)
    }
    fn renew(&mut self, n: usize, fill: &mut dyn FnMut(Slice<'_>, &mut SliceMut<'_>)) -> Result<()> {
        let mut values = zero_values::<T>(n, "values")?;
        fill(Slice::of(self), &mut SliceMut::of(&mut values));
        *self = Arc::new(values);
        Ok(())
    }
}

/// Nobody else has a copy that was made just now.
fn shared() -> Error {
    Error::Argument { name: "vector", message: "its entries are shared".into() }
}

/// The pattern, for change in place; copied first if someone shares it.
fn unshared<I: Index>(pattern: &mut Arc<VectorPattern<I>>) -> Result<&mut VectorPattern<I>> {
    if Arc::get_mut(pattern).is_none() {
        *pattern = Arc::new(pattern.try_clone()?);
    }
    Arc::get_mut(pattern).ok_or_else(shared)
}

/// c = c ⊙ t: where both have an entry, `combine` of both, or t's without it; elsewhere the one that is.
///
/// Cost: O(entries of t), amortized, beside copies of what is shared. c is as it was if there is an error.
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn put<I: Index>(
    threads: &Threads,
    c: Target<'_, I>,
    t: Source<'_, I>,
    combine: Option<&Combine<'_>>,
) -> Result<()> {
    // By index type, so that what is compiled in the library serves every program.
    let Target { pattern, values, moved } = c;
    if let (Some(to), Some(from)) = (same_mut(pattern), same(t.pattern)) {
        let (c, t) = (Target { pattern: to, values, moved }, Source { pattern: from, values: t.values });
        return put_u32(threads, c, t, combine);
    }
    match (same_mut(pattern), same(t.pattern)) {
        (Some(to), Some(from)) => {
            let (c, t) = (Target { pattern: to, values, moved }, Source { pattern: from, values: t.values });
            put_u64(threads, c, t, combine)
        }
        _ => unreachable!("indices are u32 or u64"),
    }
}
fn put_u32(threads: &Threads, c: Target<'_, u32>, t: Source<'_, u32>, combine: Option<&Combine<'_>>) -> Result<()> {
    put_of(threads, c, t, combine)
}
fn put_u64(threads: &Threads, c: Target<'_, u64>, t: Source<'_, u64>, combine: Option<&Combine<'_>>) -> Result<()> {
    put_of(threads, c, t, combine)
}

/// Keeps the entries that the mask, which has c's length, allows.
///
/// Cost: O(min(entries of c, entries of the mask)), amortized, beside copies of what is shared; O(n / 64) where a full vector becomes a
/// bitmap.
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn retain<I: Index>(c: Target<'_, I>, mask: MaskSpec<'_, VectorPattern<I>>) -> Result<()> {
    let (Target { pattern, values, moved }, complement) = (c, mask.complement);
    if let (Some(pattern), Some(allowed)) = (same_mut(pattern), same(mask.pattern)) {
        return retain_u32(Target { pattern, values, moved }, MaskSpec { pattern: allowed, complement });
    }
    match (same_mut(pattern), same(mask.pattern)) {
        (Some(pattern), Some(allowed)) => {
            retain_u64(Target { pattern, values, moved }, MaskSpec { pattern: allowed, complement })
        }
        _ => unreachable!("indices are u32 or u64"),
    }
}
fn retain_u32(c: Target<'_, u32>, mask: MaskSpec<'_, VectorPattern<u32>>) -> Result<()> {
    retain_of(c, mask)
}
fn retain_u64(c: Target<'_, u64>, mask: MaskSpec<'_, VectorPattern<u64>>) -> Result<()> {
    retain_of(c, mask)
}

/// The same thing, if `A` is `B`.
fn same<A: 'static, B: 'static>(x: &A) -> Option<&B> {
    (x as &dyn Any).downcast_ref()
}
fn same_mut<A: 'static, B: 'static>(x: &mut A) -> Option<&mut B> {
    (x as &mut dyn Any).downcast_mut()
}

fn put_of<I: Index>(
    threads: &Threads,
    mut c: Target<'_, I>,
    t: Source<'_, I>,
    combine: Option<&Combine<'_>>,
) -> Result<()> {
    if t.pattern.nnz() == 0 {
        return Ok(());
    }
    match (c.pattern.form(), t.pattern.indices()) {
        (Form::List(list), Indices::List(new)) => {
            let found = Found::new(list, new)?;
            let moves = found.moves(list.len());
            if !c.suits_bitmap(found.fresh.len(), moves) || c.spread().is_err() {
                return insert(c, new, &t, &found, combine);
            }
        }
        (Form::List(_), _) => c.spread()?,
        _ => {}
    }
    put_dense(threads, c, &t, combine)
}

impl<I: Index> Target<'_, I> {
    /// Whether a list that gets `fresh` entries, or loses some, and moves `moves`, is to become a bitmap.
    fn suits_bitmap(&self, fresh: usize, moves: usize) -> bool {
        let (len, nnz) = (self.pattern.len(), self.pattern.nnz() + fresh);
        let affordable = len.saturating_mul(self.values.slice().ty().size()) <= LARGE || nnz > len / 256;
        moves > 0 && affordable && (nnz > len / DENSE || self.moved.saturating_add(moves) > len / MOVED)
    }
    /// Makes a bitmap of a list.
    fn spread(&mut self) -> Result<()> {
        let Form::List(list) = self.pattern.form() else { return Ok(()) };
        let (len, bits) = (self.pattern.len(), self.pattern.to_bitmap()?);
        self.values.renew(len, &mut |old, new| new.scatter(&old, list.iter().map(|i| i.get())))?;
        *self.pattern = Arc::new(VectorPattern::bitmap(bits));
        *self.moved = 0;
        Ok(())
    }
    /// Keeps a list of the entries at `indices`, whose values stand at `at`.
    fn gather(&mut self, indices: Vec<I>, at: impl Iterator<Item = usize> + Clone) -> Result<()> {
        self.values.renew(indices.len(), &mut |old, new| new.gather(&old, at.clone()))?;
        *self.pattern = Arc::new(VectorPattern::list(self.pattern.len(), indices));
        *self.moved = 0;
        Ok(())
    }
    /// Makes a list of a bitmap of few entries.
    fn settle(&mut self) -> Result<()> {
        let Form::Bitmap(bits) = self.pattern.form() else { return Ok(()) };
        if bits.count() > self.pattern.len() / SPARSE {
            return Ok(());
        }
        let pattern = Arc::clone(self.pattern);
        self.gather(pattern.to_list()?, pattern.iter())
    }
}

/// Indices of one list in another: pairs of a position there and the position here.
struct Found {
    /// Those that it has.
    old: Vec<(usize, usize)>,
    /// Those that it has not: before which position each belongs.
    fresh: Vec<(usize, usize)>,
}

impl Found {
    /// Cost: O(m log(k / m)) comparisons for m indices and a list of k.
    fn new<I: Index>(list: &[I], indices: &[I]) -> Result<Self> {
        let pairs = || reserved(indices.len(), "positions");
        let (mut found, mut from) = (Self { old: pairs()?, fresh: pairs()? }, 0);
        for (p, i) in indices.iter().enumerate() {
            from += first_from(&list[from..], i);
            let pairs = if list.get(from) == Some(i) { &mut found.old } else { &mut found.fresh };
            pairs.push((from, p));
        }
        Ok(found)
    }
    /// Entries of a list of `nnz` that inserting moves, and those inserted.
    fn moves(&self, nnz: usize) -> usize {
        self.fresh.first().map_or(0, |&(at, _)| nnz - at + self.fresh.len())
    }
}

/// Position of the first index that is not below `i`, in steps that double.
fn first_from<I: Index>(list: &[I], i: &I) -> usize {
    let mut end = 1;
    while end < list.len() && list[end - 1] < *i {
        end *= 2;
    }
    let (start, end) = (end / 2, end.min(list.len()));
    start + list[start..end].partition_point(|j| j < i)
}

/// Puts entries into a list.
fn insert<I: Index>(
    c: Target<'_, I>,
    new: &[I],
    t: &Source<'_, I>,
    found: &Found,
    combine: Option<&Combine<'_>>,
) -> Result<()> {
    let Target { pattern, values, moved } = c;
    let (nnz, fresh) = (pattern.nnz(), found.fresh.len());
    // All that may fail comes before the first change.
    let mut writer = Writer::new(t, combine)?;
    let mut list = None;
    if fresh > 0 {
        let Form::List(indices) = unshared(pattern)?.form_mut() else { return Err(shared()) };
        indices.try_reserve(fresh).map_err(|_| out_of_memory::<I>("indices", nnz + fresh))?;
        list = Some(indices);
    }
    let values = values.unshared()?;
    if !values.try_reserve(fresh) {
        let bytes = (nnz + fresh) as u128 * t.values.ty().size() as u128;
        return Err(Error::OutOfMemory { what: "values", bytes });
    }
    writer.write(&mut values.slice_mut(), t.values, &found.old);
    let Some(list) = list else { return Ok(()) };
    *moved = moved.saturating_add(found.moves(nnz));
    list.resize(nnz + fresh, I::default());
    values.resize_zeroed(nnz + fresh);
    // From the last entry on, so that each moves once.
    let (mut end, mut values) = (nnz, values.slice_mut());
    for (left, &(at, p)) in found.fresh.iter().enumerate().rev() {
        list.copy_within(at..end, at + left + 1);
        values.copy_within(at..end, at + left + 1);
        list[at + left] = new[p];
        values.copy_pairs(&t.values, &[(at + left, writer.position(p))]);
        end = at;
    }
    Ok(())
}

/// Puts entries into a vector that has a value for each place.
fn put_dense<I: Index>(
    threads: &Threads,
    c: Target<'_, I>,
    t: &Source<'_, I>,
    combine: Option<&Combine<'_>>,
) -> Result<()> {
    let (len, count) = (c.pattern.len(), t.pattern.nnz());
    // A pattern that someone shares is not copied if no bit of it changes.
    let changes = match c.pattern.form() {
        Form::Bitmap(bits) if !std::ptr::eq(&**c.pattern, t.pattern) => {
            Arc::get_mut(c.pattern).is_some() || t.pattern.iter().any(|i| !bits.get(i))
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
            for_each_part(threads, tasks, || Ok(()), |(), task| {
                run(task);
                Ok(())
            })?;
        }
        Ok(added.into_inner())
    };
    match pattern.map(VectorPattern::form_mut) {
        Some(Form::Bitmap(bits)) => bits.insert_by(|words| write(Some(words))),
        _ => write(None).map(|_| debug_assert!(len > 0)),
    }
}

/// The ends of at most so many parts of the places, each of about as many of the indices, between words of a bitmap.
fn ranges<I: Index>(t: &VectorPattern<I>, parts: usize) -> Result<Vec<usize>> {
    let (len, mut ends) = (t.len(), reserved(parts, "parts of a vector")?);
    for p in 1..parts {
        let share = |n: usize| (n as u128 * p as u128 / parts as u128) as usize;
        let end = match t.indices() {
            Indices::List(indices) => indices[share(indices.len())].get(),
            _ => share(len),
        } / 64
            * 64;
        if end > ends.last().copied().unwrap_or(0) {
            ends.push(end);
        }
    }
    ends.push(len);
    Ok(ends)
}

/// Neighbouring places of a vector, the first of them a multiple of 64: a value for each, and bits unless none changes.
struct Part<'a> {
    first: usize,
    words: Option<&'a mut [u64]>,
    values: SliceMut<'a>,
}

impl Part<'_> {
    /// Puts the entries that belong here; how many were not there.
    fn put<I: Index>(&mut self, writer: &mut Writer<'_>, t: &Source<'_, I>) -> usize {
        let (first, end) = (self.first, self.first + self.values.len());
        match t.pattern.indices() {
            Indices::List(indices) => {
                let at = |place: usize| indices.partition_point(|i| i.get() < place);
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
    /// Entries at increasing indices, whose values stand from position `start` on.
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
    /// Entries where bits of `word(w)` are set, whose values stand at their indices.
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
                let full = |w: usize| {
                    word(w) == all(w) && self.words.as_deref().is_none_or(|words| words[w] == all(w))
                };
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

/// How values are written over values that are there.
struct Writer<'a> {
    combine: Option<&'a Combine<'a>>,
    /// Values that are combined, and those that they are combined with; none for a few.
    buffers: Option<[Array; 2]>,
    /// Copies of the one value that is written everywhere.
    copies: Option<Array>,
    /// Whether one value is written everywhere.
    same: bool,
    /// Words of neighbouring values that are combined at a time.
    run: usize,
}

impl<'a> Writer<'a> {
    fn new<I: Index>(t: &Source<'_, I>, combine: Option<&'a Combine<'a>>) -> Result<Self> {
        let (ty, count) = (t.values.ty(), t.pattern.nnz());
        let same = t.values.len() == 1 && t.pattern.values() != 1;
        let mut made = Self { combine, buffers: None, copies: None, same, run: if same { BLOCK / 64 } else { RUN } };
        if combine.is_some() && count > FEW {
            made.buffers = Some([Array::zeros(ty, BLOCK)?, Array::zeros(ty, BLOCK)?]);
        }
        if combine.is_some() && same {
            let mut copies = Array::zeros(ty, BLOCK)?;
            copies.slice_mut().copy_from(&t.values);
            made.copies = Some(copies);
        }
        Ok(made)
    }
    /// Position of the value of entry `p`.
    fn position(&self, p: usize) -> usize {
        if self.same { 0 } else { p }
    }
    /// Positions of the values of `n` entries from `p` on.
    fn span(&self, p: usize, n: usize) -> std::ops::Range<usize> {
        if self.same { 0..1 } else { p..p + n }
    }
    /// Writes `from[at]` over, or joins it to, value `to` for each pair (to, at).
    fn write(&mut self, values: &mut SliceMut<'_>, from: Slice<'_>, pairs: &[(usize, usize)]) {
        let Some(combine) = self.combine else { return values.copy_pairs(&from, pairs) };
        let Some([x, y]) = &mut self.buffers else {
            for &(to, at) in pairs {
                let at = if self.same { 0 } else { at };
                combine(&mut values.part(to..to + 1), &from.part(at..at + 1));
            }
            return;
        };
        for pairs in pairs.chunks(BLOCK) {
            let (n, same) = (pairs.len(), self.same);
            x.slice_mut().gather(&values.as_slice(), pairs.iter().map(|p| p.0));
            y.slice_mut().gather(&from, pairs.iter().map(|p| if same { 0 } else { p.1 }));
            combine(&mut x.slice_mut().part(0..n), &y.slice().part(0..n));
            values.scatter(&x.slice().part(0..n), pairs.iter().map(|p| p.0));
        }
    }
    /// Joins the `n` values from position `at` on to these.
    fn combine_run(&mut self, values: &mut SliceMut<'_>, from: Slice<'_>, at: usize, n: usize) {
        let Some(combine) = self.combine else { return };
        match &self.copies {
            Some(copies) => combine(values, &copies.slice().part(0..n)),
            None => combine(values, &from.part(at..at + n)),
        }
    }
}

fn retain_of<I: Index>(mut c: Target<'_, I>, mask: MaskSpec<'_, VectorPattern<I>>) -> Result<()> {
    let (len, keep) = (c.pattern.len(), !mask.complement);
    let all = match mask.pattern.indices() {
        Indices::All => Some(keep),
        _ if mask.pattern.nnz() == 0 => Some(!keep),
        _ if std::ptr::eq(&**c.pattern, mask.pattern) => Some(keep),
        _ => None,
    };
    match (all, c.pattern.form(), mask.pattern.indices()) {
        (Some(true), ..) => Ok(()),
        (Some(false), ..) => c.gather(Vec::new(), std::iter::empty()),
        (_, Form::List(list), Indices::List(allowed)) if keep && allowed.len() < list.len() => {
            let Found { old, .. } = Found::new(list, allowed)?;
            let mut indices = reserved(old.len(), "indices")?;
            indices.extend(old.iter().map(|&(at, _)| list[at]));
            c.gather(indices, old.iter().map(|&(at, _)| at))
        }
        (_, Form::List(list), Indices::List(removed)) if !keep && removed.len() < list.len() => {
            let Found { old, .. } = Found::new(list, removed)?;
            remove(c, &old)
        }
        (_, Form::List(list), allowed) => {
            let mut removed = reserved(list.len(), "positions")?;
            let mut from = 0;
            for (p, i) in list.iter().enumerate() {
                let among = match allowed {
                    Indices::List(allowed) => {
                        from += first_from(&allowed[from..], i);
                        allowed.get(from) == Some(i)
                    }
                    _ => allowed.contains(i.get()),
                };
                if among != keep {
                    removed.push((p, 0));
                }
            }
            remove(c, &removed)
        }
        // A bitmap or a full vector, of which a list of entries stays.
        (_, form, Indices::List(allowed)) if keep => {
            let mut indices = reserved(allowed.len(), "indices")?;
            match form {
                Form::Bitmap(bits) => indices.extend(allowed.iter().copied().filter(|i| bits.get(i.get()))),
                _ => indices.extend_from_slice(allowed),
            }
            let at = copied(&indices, "indices")?;
            c.gather(indices, at.iter().map(|i| i.get()))
        }
        (_, Form::Bitmap(_), allowed) => {
            let Form::Bitmap(bits) = unshared(c.pattern)?.form_mut() else { return Err(shared()) };
            match allowed {
                Indices::List(removed) => {
                    removed.iter().for_each(|i| _ = bits.remove(i.get()));
                    return Ok(());
                }
                Indices::Bitmap(words) => bits.map(|at, old| old & if keep { words[at] } else { !words[at] }),
                Indices::All => {}
            }
            c.settle()
        }
        (_, Form::Full, allowed) => {
            let mut bits = match allowed {
                Indices::Bitmap(words) => Bitmap::of(len, |at| if keep { words[at] } else { !words[at] })?,
                _ => Bitmap::of(len, |_| !0)?,
            };
            if let Indices::List(removed) = allowed {
                removed.iter().for_each(|i| _ = bits.remove(i.get()));
            }
            *c.pattern = Arc::new(VectorPattern::bitmap(bits));
            c.settle()
        }
    }
}

/// Takes the entries at increasing positions out of a list.
fn remove<I: Index>(mut c: Target<'_, I>, removed: &[(usize, usize)]) -> Result<()> {
    let Some(&(start, _)) = removed.first() else { return Ok(()) };
    let nnz = c.pattern.nnz();
    let moves = nnz - start;
    if c.suits_bitmap(0, moves) && removed.len() < nnz / 2 {
        let pattern = Arc::clone(c.pattern);
        let Form::List(list) = pattern.form() else { return Err(shared()) };
        if c.spread().is_ok() {
            let Form::Bitmap(bits) = unshared(c.pattern)?.form_mut() else { return Err(shared()) };
            removed.iter().for_each(|&(p, _)| _ = bits.remove(list[p].get()));
            return Ok(());
        }
    }
    let Form::List(list) = unshared(c.pattern)?.form_mut() else { return Err(shared()) };
    let values = c.values.unshared()?;
    *c.moved = c.moved.saturating_add(moves);
    let mut to = start;
    let ends = removed.iter().skip(1).map(|p| p.0).chain([nnz]);
    for (&(at, _), end) in removed.iter().zip(ends) {
        list.copy_within(at + 1..end, to);
        values.slice_mut().copy_within(at + 1..end, to);
        to += end - at - 1;
    }
    list.truncate(to);
    values.resize_zeroed(to);
    Ok(())
}
