//! Records grouped by a key: the stable counting sort, by all threads, each record written once where it belongs.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::prefetch_at;
use super::{Slots, Threads, collected, for_each_part, reserved, zero_indices, zeros};
use crate::{Error, Index, Result};

/// Which part of the keys counts: `(key >> shift) & mask`, which is below `bins`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digit {
    pub(crate) shift: u32,
    pub(crate) mask: u64,
    pub(crate) bins: usize,
}

impl Digit {
    /// The keys themselves, all below `bins`.
    pub(crate) fn whole(bins: usize) -> Self {
        Self { shift: 0, mask: u64::MAX, bins }
    }
    fn is_whole(self) -> bool {
        self.shift == 0 && self.mask == u64::MAX
    }
    #[inline(always)]
    fn of<K: Index>(self, key: K) -> usize {
        ((key.get() as u64 >> self.shift) & self.mask) as usize
    }
}

/// Records in the order of their keys; those of bin k are `ptr[k]..ptr[k + 1]`.
#[derive(Debug)]
pub(crate) struct Grouped<A, T> {
    pub(crate) ptr: Vec<usize>,
    /// `stride` for each record.
    pub(crate) lists: Vec<A>,
    pub(crate) values: Vec<T>,
}

/// Orders the records 0..`keys.len()` by key, equal keys in their order. `put(e, list, value)` writes what record `e`
/// is: `stride` elements into `list`, one into `value`.
///
/// Cost: O(records + bins·threads), two passes over the keys. The result does not depend on the number of threads.
/// # Errors
/// [`Error::OutOfMemory`].
/// # Panics
/// If a key is not below `bins`, or `put` leaves something unwritten: bugs of callers in this crate.
pub(crate) fn grouped<K: Index, A: Copy + Send, T: Copy + Send>(
    threads: &Threads,
    keys: &[K],
    digit: Digit,
    stride: usize,
    put: impl Fn(usize, &mut Slots<'_, A>, &mut Slots<'_, T>) + Sync,
) -> Result<Grouped<A, T>> {
    let n = keys.len();
    let overflow = || Error::OutOfMemory { what: "grouped entries", bytes: n as u128 * stride as u128 };
    let elements = n.checked_mul(stride).ok_or_else(overflow)?;
    let (ptr, mut shares) = counted::<K, u64>(threads, keys, digit, false)?;
    let (mut lists, mut values) = (reserved(elements, "grouped entries")?, reserved(n, "grouped values")?);
    let to = Places { lists: lists.as_mut_ptr(), values: values.as_mut_ptr(), stride };
    each(threads, &mut shares, |Share { records, bins, places, .. }| {
        for (e, &key) in records.clone().zip(&keys[records.clone()]) {
            let place = &mut places[digit.of(key) - bins.start];
            // SAFETY: `places` of a share and its bin k began at the number of records of lower bins, and of bin k in
            // shares before, and moves on by one for each record of the share and bin k, of which there are as many as
            // were counted: the keys are borrowed, `Index` is sealed, and `Digit::of` is a function of the key alone.
            // So every place is below n and taken once.
            unsafe { to.put(place.get(), |list, value| put(e, list, value)) };
            *place += 1;
        }
        Ok(())
    })?;
    // SAFETY: room for so many was reserved; every record was put (n were counted in all shares, `each` went through
    // all, and a panic in one would have unwound through it), and `Places::put` ends only when all elements of a record
    // are written.
    unsafe {
        lists.set_len(elements);
        values.set_len(n);
    }
    Ok(Grouped { ptr, lists, values })
}

/// [`grouped`] where record `e` is the number of the list that it is in, `ptr[l]..ptr[l + 1]` being the records of list
/// l, and `values[e]`.
///
/// What is written at random are as many streams as there are bins: it is fast where neighbouring records have
/// neighbouring keys.
/// # Errors
/// [`Error::OutOfMemory`].
/// # Panics
/// If a key is not below `bins`, the lists are not those of all records, a list has not as many values as keys, or
/// there are more than 2³² − 1 records: bugs of callers in this crate.
pub(crate) fn binned<K: Index, A: Index, T: Copy + Send + Sync>(
    threads: &Threads,
    keys: &[K],
    bins: usize,
    ptr: &[usize],
    values: &[T],
) -> Result<Grouped<A, T>> {
    let n = keys.len();
    assert!(values.len() == n && n <= u32::MAX as usize && ptr.last() == Some(&n), "{n} records");
    let (ends, mut shares) = counted::<K, u32>(threads, keys, Digit::whole(bins), true)?;
    let (mut lists, mut found): (Vec<A>, Vec<T>) = (reserved(n, "grouped entries")?, reserved(n, "grouped values")?);
    let to = Places { lists: lists.as_mut_ptr(), values: found.as_mut_ptr(), stride: 1 };
    let write = |Share { records, bins, places, .. }: &mut Share<u32>, far: bool| {
        let (places, first, Range { start: mut at, end }) = (&mut places[..], bins.start, records.clone());
        // Of this loop alone, so that both addresses stay in registers while it writes.
        let to = to.again();
        // The list that holds the first record: the last one that starts at or before it.
        let mut list = ptr.partition_point(|&p| p <= at).saturating_sub(1);
        while at < end {
            let some = at..ptr[list + 1].min(end);
            at = some.end;
            let mut later = keys.get(some.start + AHEAD..).filter(|_| far).unwrap_or_default().iter();
            for (key, &value) in keys[some.clone()].iter().zip(&values[some]) {
                if far
                    && let Some(key) = later.next()
                    && let Some(place) = places.get(key.get().wrapping_sub(first))
                {
                    prefetch_at(to.lists.wrapping_add(place.get()));
                    prefetch_at(to.values.wrapping_add(place.get()));
                }
                let Some(place) = places.get_mut(key.get().wrapping_sub(first)) else { continue };
                // SAFETY: `place` is below n and taken once: as in `grouped`, by the keys alone.
                unsafe { to.put_one(place.get(), A::cast(list), value) };
                *place += 1;
            }
            list += 1;
        }
    };
    // A second-level cache has the fewer; of short lists most of the time is not the places.
    let far = n > 1 << 19 && n / ptr.len() > 5;
    // Two loops: the one that asks holds more than there are registers.
    each(threads, &mut shares, |share| {
        if far {
            write(share, true)
        } else {
            write(share, false)
        }
        Ok(())
    })?;
    // SAFETY: room for so many was reserved; n were counted in all shares, `each` went through all, each has written a
    // record for each of its keys, as its loop ends where they do, and a panic in one would have unwound through it.
    unsafe {
        lists.set_len(n);
        found.set_len(n);
    }
    Ok(Grouped { ptr: ends, lists, values: found })
}

/// Records ahead of the current one whose places are asked for.
const AHEAD: usize = 16;

/// Records that one thread takes, as far as they are in some bins; no others of these records, or of these bins, are in
/// them.
struct Share<P> {
    records: Range<usize>,
    bins: Range<usize>,
    /// The place of its first record of each of its bins. Memory of the thread that counts them: on glibc the caller's
    /// is then the result's alone, and what the next result takes.
    places: Vec<P>,
    /// How many records it has in each [`CHUNK`] of bins that has some of its own.
    sums: Vec<usize>,
}

impl<P> Share<P> {
    fn new(records: Range<usize>, bins: Range<usize>) -> Self {
        Self { records, bins, places: Vec::new(), sums: Vec::new() }
    }
    /// Its bins, cut where chunks end: the chunk, and which of its bins.
    fn pieces(&self) -> impl Iterator<Item = (usize, Range<usize>)> + use<P> {
        let Range { start, end } = self.bins;
        let piece = move |c| start.max(c * CHUNK) - c * CHUNK..end.min((c + 1) * CHUNK) - c * CHUNK;
        (start / CHUNK..end.div_ceil(CHUNK)).map(move |c| (c, piece(c)))
    }
}

/// Bins that are summed at a time.
const CHUNK: usize = 1 << 14;

/// Shares for all threads, blocks of records in their order. Each share has counts of its own, which together are to
/// stay below records and bins: where that leaves blocks all of the bins is not known before the bins of each block are
/// looked at; where keys come in order, as those of banded matrices do, a block has few.
///
/// Where there are too many bins even so, with `by_bins`, each thread may read all keys and take blocks of bins, which
/// is less work than the places of those in its bins if they mostly come in runs, as the columns of sorted rows do:
/// what is not foreseen of a key takes as long as its place.
fn shares<K: Index, P: Send>(threads: &Threads, keys: &[K], digit: Digit, by_bins: bool) -> Result<Vec<Share<P>>> {
    const SMALL: usize = 1 << 15;
    // Beyond so many reading would be most of the work.
    const READERS: usize = 8;
    // One thread writes fewer records than this sooner than several that take lines of memory from each other, unless
    // those have bins of their own. (Tried: each thread lists the records of some bins by registers; the lists take as
    // long as the lines.)
    const CROWDED: usize = 1 << 18;
    let (n, bins) = (keys.len(), digit.bins);
    let most = if n < SMALL { 1 } else { threads.count() };
    let blocks = |count: usize| {
        let len = n.div_ceil(count).max(1);
        move |b: usize| (b * len).min(n)..((b + 1) * len).min(n)
    };
    if by_bins && n < CROWDED && shares_bins(keys, digit, blocks(most), most) {
        return collected(1, [Share::new(0..n, 0..bins)], SHARES);
    }
    let count = (n / bins.max(1)).clamp(1, most);
    if count < most {
        let of = blocks(most);
        let mut shares = collected(most, (0..most).map(|b| Share::new(of(b), 0..bins)), SHARES)?;
        let bins_of = |share: &mut Share<P>| {
            let (mut first, mut last) = (usize::MAX, 0);
            for &key in &keys[share.records.clone()] {
                (first, last) = (first.min(digit.of(key)), last.max(digit.of(key)));
            }
            let end = last.saturating_add(1).min(bins);
            share.bins = first.min(end)..end;
            Ok(())
        };
        each(threads, &mut shares, bins_of)?;
        if shares.iter().map(|share| share.bins.len()).sum::<usize>() <= n.saturating_add(bins) {
            return Ok(shares);
        }
    }
    if count == 1 && by_bins {
        let readers = most.min(READERS);
        let len = bins.div_ceil(readers).max(1);
        let bins = |r: usize| (r * len).min(bins)..((r + 1) * len).min(bins);
        return collected(readers, (0..readers).map(|r| Share::new(0..n, bins(r))), SHARES);
    }
    let of = blocks(count);
    collected(count, (0..count).map(|b| Share::new(of(b), 0..bins)), SHARES)
}

/// Whether neighbours among so many blocks of records have more than an eighth of all bins in common, by a sample of
/// their keys.
fn shares_bins<K: Index>(keys: &[K], digit: Digit, block: impl Fn(usize) -> Range<usize>, blocks: usize) -> bool {
    const SAMPLES: usize = 64;
    let bounds = |b: usize| {
        let keys = &keys[block(b)];
        let some =
            keys.iter().step_by(keys.len().div_ceil(SAMPLES).max(1)).chain(keys.last()).map(|&key| digit.of(key));
        some.fold((usize::MAX, 0), |bounds, bin| (bounds.0.min(bin), bounds.1.max(bin)))
    };
    let apart = |b: usize| bounds(b - 1).1 <= bounds(b).0.saturating_add(digit.bins / 8);
    !(1..blocks).all(apart)
}

const SHARES: &str = "shares of a sort";

/// Runs `work` for each share.
fn each<P: Send>(
    threads: &Threads,
    shares: &mut [Share<P>],
    work: impl Fn(&mut Share<P>) -> Result<()> + Sync,
) -> Result<()> {
    for_each_part(threads, collected(shares.len(), shares, SHARES)?, || Ok(()), |(), share| work(share))
}

/// Some bins: where they end, the counts of the shares that have some of them, from the how-many-th of these bins on,
/// and how many records come before all of these.
type Chunk<'a, P> = (&'a mut [usize], Vec<(usize, &'a mut [P])>, usize);

/// Where the records of each bin go, in shares that each thread can take; with `by_bins` also where there are more bins
/// than records. `P` is to hold the number of records.
fn counted<K: Index, P: Index>(
    threads: &Threads,
    keys: &[K],
    digit: Digit,
    by_bins: bool,
) -> Result<(Vec<usize>, Vec<Share<P>>)> {
    let (n, bins) = (keys.len(), digit.bins);
    let mut shares = shares(threads, keys, digit, by_bins)?;
    for share in &mut shares {
        share.sums = reserved(share.pieces().count(), SHARES)?;
    }
    each(threads, &mut shares, |share| {
        let mut counts = zero_indices::<P>(share.bins.len(), "counts of a sort")?;
        let keys = &keys[share.records.clone()];
        // Two loops: shifts that do nothing take a third of the time.
        if digit.is_whole() {
            count(keys, &mut counts, |key| key.get().wrapping_sub(share.bins.start));
        } else {
            count(keys, &mut counts, |key| digit.of(key).wrapping_sub(share.bins.start));
        }
        let mut rest = &counts[..];
        share.sums.extend(share.pieces().map(|(_, piece)| {
            let (counts, after) = rest.split_at(piece.len());
            rest = after;
            counts.iter().map(|count| count.get()).sum::<usize>()
        }));
        share.places = counts;
        Ok(())
    })?;

    let mut ptr = zeros(bins.saturating_add(1), "pointers of a sort")?;
    let chunks = bins.div_ceil(CHUNK);
    let mut parts: Vec<Chunk<'_, P>> =
        collected(chunks, ptr[1..].chunks_mut(CHUNK).map(|ends| (ends, Vec::new(), 0)), SHARES)?;
    for share in &mut shares {
        let pieces = share.pieces();
        let Share { places, sums, .. } = share;
        let mut rest = &mut places[..];
        for ((chunk, piece), sum) in pieces.zip(&*sums) {
            let (_, counts, all) = &mut parts[chunk];
            counts.try_reserve(1).map_err(|_| super::out_of_memory::<usize>(SHARES, counts.len() + 1))?;
            counts.push((piece.start, rest.split_off_mut(..piece.len()).unwrap_or_default()));
            *all += sum;
        }
    }
    let mut before = 0;
    for (_, _, all) in &mut parts {
        before += std::mem::replace(all, before);
    }
    assert!(before == n, "{before} of {n} keys are below {bins}");
    let places_of = |(): &mut (), (ends, mut counts, mut before): Chunk<'_, P>| {
        for (first, counts) in &counts {
            ends[*first..].iter_mut().zip(counts.iter()).for_each(|(end, count)| *end += count.get());
        }
        for end in &mut *ends {
            before += std::mem::replace(end, before);
        }
        // What is a bin's first place becomes its first one after this share's records.
        for (first, counts) in &mut counts {
            for (place, count) in ends[*first..].iter_mut().zip(counts.iter_mut()) {
                *place += std::mem::replace(count, P::cast(*place)).get();
            }
        }
        Ok(())
    };
    for_each_part(threads, parts, || Ok(()), places_of)?;
    Ok((ptr, shares))
}

/// Counts the keys of each bin; a key of no bin counts nowhere.
#[inline(always)]
fn count<K: Index, P: Index>(keys: &[K], counts: &mut [P], bin: impl Fn(K) -> usize) {
    let one = P::cast(1);
    for &key in keys {
        if let Some(count) = counts.get_mut(bin(key)) {
            *count = count.wrapping_add(one);
        }
    }
}

/// The order of records by key alone.
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn order_by<K: Index, N: Index>(threads: &Threads, keys: &[K], bins: usize) -> Result<(Vec<usize>, Vec<N>)> {
    let grouped: Grouped<(), N> =
        grouped(threads, keys, Digit::whole(bins), 0, |e, _, value| value.copy(&[N::cast(e)]))?;
    Ok((grouped.ptr, grouped.values))
}

/// Memory that threads write at places of their own.
struct Places<A, T> {
    lists: *mut A,
    values: *mut T,
    stride: usize,
}
// SAFETY: the memory is written through `put` alone, whose contract keeps the places of threads apart.
unsafe impl<A: Send, T: Send> Sync for Places<A, T> {}

impl<A: Copy, T: Copy> Places<A, T> {
    /// The same memory.
    #[inline(always)]
    fn again(&self) -> Self {
        Self { ..*self }
    }
    /// Writes record number `place`, of one element.
    /// # Safety
    /// As for [`put`](Self::put); `stride` is 1.
    #[inline(always)]
    unsafe fn put_one(&self, place: usize, list: A, value: T) {
        // SAFETY: the memory is reserved for all records, and by the caller's promise nobody else has these elements.
        unsafe {
            self.lists.add(place).write(list);
            self.values.add(place).write(value);
        }
    }
    /// Writes record number `place` by `put`.
    /// # Safety
    /// `place` is below the number of records that there is room for, and is written by one call only.
    /// # Panics
    /// If `put` leaves elements unwritten.
    #[inline(always)]
    unsafe fn put(&self, place: usize, put: impl FnOnce(&mut Slots<'_, A>, &mut Slots<'_, T>)) {
        // SAFETY: the memory is reserved for all records, and by the caller's promise nobody else has these elements;
        // as `MaybeUninit` they need not be written yet.
        let (list, value) = unsafe {
            (
                std::slice::from_raw_parts_mut(
                    self.lists.add(place * self.stride).cast::<MaybeUninit<A>>(),
                    self.stride,
                ),
                std::slice::from_raw_parts_mut(self.values.add(place).cast::<MaybeUninit<T>>(), 1),
            )
        };
        let (mut list, mut value) = (Slots { free: list }, Slots { free: value });
        put(&mut list, &mut value);
        assert!(list.free.is_empty() && value.free.is_empty(), "a record was not written whole");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_stable_whatever_the_number_of_threads() {
        let n = 100_000usize;
        let keys: Vec<u32> = (0..n).map(|e| (e * 7919 % 257) as u32).collect();
        let mut expected: Vec<u32> = (0..n as u32).collect();
        expected.sort_by_key(|&e| keys[e as usize]);
        for count in [1, 2, 3, 8] {
            let threads = Threads::new(count).unwrap();
            let (ptr, order) = order_by::<u32, u32>(&threads, &keys, 300).unwrap();
            assert_eq!(order, expected, "{count} threads");
            assert!((0..300).all(|k| order[ptr[k]..ptr[k + 1]].iter().all(|&e| keys[e as usize] as usize == k)));
            let with = grouped(&threads, &keys, Digit { shift: 4, mask: 15, bins: 16 }, 2, |e, list, value| {
                list.copy(&[e as u32, keys[e]]);
                value.copy(&[e as u64]);
            })
            .unwrap();
            assert!(with.values.is_sorted_by_key(|&e| (keys[e as usize] >> 4 & 15, e)));
            assert!(with.lists.chunks(2).zip(&with.values).all(|(l, &e)| l == [e as u32, keys[e as usize]]));
        }
        // So many bins that threads share those out.
        let n = 3 * n;
        let each: Vec<usize> = (0..=n).collect();
        let keys: Vec<u32> = (0..n).map(|e| (e * 7919 % 196_613) as u32).collect();
        let mut expected: Vec<u32> = (0..n as u32).collect();
        expected.sort_by_key(|&e| keys[e as usize]);
        for (count, bins) in [(1, 196_613), (2, 196_613), (3, 299_999), (20, 196_613), (20, 3_000_000)] {
            let threads = Threads::new(count).unwrap();
            let (ptr, order) = order_by::<u32, u32>(&threads, &keys, bins).unwrap();
            assert!(order == expected && ptr.len() == bins + 1, "{count} threads, {bins} bins");
            let found = binned::<_, u32, _>(&threads, &keys, bins, &each, &keys).unwrap();
            assert!(found.ptr == ptr && found.lists == expected, "{count} threads, {bins} bins");
        }
        let threads = Threads::current();
        assert_eq!(order_by::<u32, u32>(&threads, &[], 0).unwrap(), (vec![0], vec![]));
        assert_eq!(order_by::<u32, u64>(&threads, &[1, 0], 2).unwrap(), (vec![0, 1, 2], vec![1, 0]));
    }

    /// Lists of 0 to 9 records, and one of half of all; few and so many that places are asked for.
    #[test]
    fn records_of_lists_are_grouped_alike() {
        for n in [100_000usize, 600_000] {
            let keys: Vec<u32> = (0..n).map(|e| (e * 7919 % 257) as u32).collect();
            let values: Vec<f64> = (0..n).map(|e| e as f64).collect();
            let mut ptr = vec![0, 0];
            for l in 0.. {
                let start = ptr[ptr.len() - 1];
                let len = if l == 700 { n / 2 } else { l * 7 % 10 };
                ptr.push((start + len).min(n));
                if start + len >= n {
                    break;
                }
            }
            let list_of = |e: usize| ptr.partition_point(|&p| p <= e) as u32 - 1;
            for count in [1, 2, 3, 8] {
                let threads = Threads::new(count).unwrap();
                let found: Grouped<u32, f64> = binned(&threads, &keys, 257, &ptr, &values).unwrap();
                let (ends, order) = order_by::<u32, u32>(&threads, &keys, 257).unwrap();
                assert!(found.ptr == ends && found.values.iter().zip(&order).all(|(&x, &e)| x == f64::from(e)));
                assert!(
                    found.lists.iter().zip(&order).all(|(&l, &e)| l == list_of(e as usize)),
                    "{n}, {count} threads"
                );
            }
        }
        let none: Grouped<u64, u8> = binned(&Threads::caller(), &[0u32; 0], 0, &[0], &[]).unwrap();
        assert!(none.ptr == [0] && none.values.is_empty());
    }

    /// Keys that come nearly in order: each block of records has few bins of its own, and neighbours share some.
    #[test]
    fn blocks_with_bins_of_their_own() {
        let (n, bins) = (200_000usize, 60_000);
        let each: Vec<usize> = (0..=n).collect();
        for spread in [1usize, 50, bins] {
            // The last are all over.
            let first = |e: usize| if spread < bins { e * 3 / 10 } else { 0 };
            let keys: Vec<u32> = (0..n).map(|e| (first(e) + e * 7919 % spread).min(bins - 1) as u32).collect();
            let mut expected: Vec<u32> = (0..n as u32).collect();
            expected.sort_by_key(|&e| keys[e as usize]);
            for count in [1, 2, 7, 20] {
                let threads = Threads::new(count).unwrap();
                let shares = shares::<_, u32>(&threads, &keys, Digit::whole(bins), false).unwrap();
                assert_eq!(shares.len(), if spread < bins { count } else { count.min(3) }, "{spread}, {count} threads");
                let (ptr, order) = order_by::<u32, u32>(&threads, &keys, bins).unwrap();
                assert!(order == expected && ptr.len() == bins + 1, "{spread}, {count} threads");
                assert!((0..bins).all(|k| order[ptr[k]..ptr[k + 1]].iter().all(|&e| keys[e as usize] as usize == k)));
                let found = binned::<_, u32, _>(&threads, &keys, bins, &each, &keys).unwrap();
                assert!(found.ptr == ptr && found.lists == expected, "{spread}, {count} threads");
            }
        }
    }

    /// Few records of all bins are one share; where they come in order, or are many, each thread has one.
    #[test]
    fn few_records_are_for_one_thread() {
        let threads = Threads::new(2).unwrap();
        let shares_of = |n: usize, key: &dyn Fn(usize) -> usize| {
            let keys: Vec<u32> = (0..n).map(|e| key(e) as u32).collect();
            shares::<_, u32>(&threads, &keys, Digit::whole(50_000), true).unwrap().len()
        };
        assert_eq!(shares_of(200_000, &|e| e * 7919 % 50_000), 1);
        assert_eq!(shares_of(200_000, &|e| e / 4), 2);
        assert_eq!(shares_of(200_000, &|e| (e / 4 + e * 7919 % 3000).min(49_999)), 2);
        assert_eq!(shares_of(400_000, &|e| e * 7919 % 50_000), 2);
        assert_eq!(shares_of(10, &|e| e), 1);
    }

    #[test]
    #[should_panic(expected = "2 records")]
    fn lists_of_fewer_records_are_seen() {
        let _ = binned::<_, u32, _>(&Threads::caller(), &[0u32, 1], 2, &[0, 1], &[0u8, 0]);
    }

    #[test]
    #[should_panic(expected = "2 records")]
    fn fewer_values_are_seen() {
        let _ = binned::<_, u32, _>(&Threads::caller(), &[0u32, 1], 2, &[0, 2], &[0u8]);
    }

    #[test]
    #[should_panic(expected = "0 of 1 keys are below 3")]
    fn a_key_beyond_the_bins_is_seen() {
        let _ = order_by::<u32, u32>(&Threads::caller(), &[3], 3);
    }

    #[test]
    #[should_panic(expected = "not written whole")]
    fn a_record_left_unwritten_is_seen() {
        let _ = grouped::<u32, u32, u32>(&Threads::caller(), &[0], Digit::whole(1), 1, |_, _, value| value.copy(&[1]));
    }
}
