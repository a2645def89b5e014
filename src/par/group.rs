//! Grouping of records by key: a parallel stable counting sort that writes each record once, to its final position.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::prefetch_at;
use super::{OutputSlice, Threads, collected, for_each_part, reserved, zero_indices, zeros};
use crate::{Error, Index, Result};

/// The digit of a key to group by: `(key >> shift) & mask`, which is below `bins`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digit {
    pub(crate) shift: u32,
    pub(crate) mask: u64,
    pub(crate) bins: usize,
}

impl Digit {
    /// The whole key; all keys are below `bins`.
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

/// Records sorted by key; those of bin k are `ptr[k]..ptr[k + 1]`.
#[derive(Debug)]
pub(crate) struct Grouped<A, T> {
    pub(crate) ptr: Vec<usize>,
    /// `stride` elements for each record.
    pub(crate) lists: Vec<A>,
    pub(crate) values: Vec<T>,
}

/// Sorts the records 0..`keys.len()` by key, stably. `put(e, list, value)` writes record `e`: `stride` elements into
/// `list`, one into `value`.
///
/// Cost: O(records + bins·threads), two passes over the keys. The result does not depend on the number of threads.
/// # Errors
/// [`Error::OutOfMemory`].
/// # Panics
/// If a key is not below `bins`, or `put` leaves elements unwritten: bugs of callers in this crate.
pub(crate) fn grouped<K: Index, A: Copy + Send, T: Copy + Send>(
    threads: &Threads,
    keys: &[K],
    digit: Digit,
    stride: usize,
    put: impl Fn(usize, &mut OutputSlice<'_, A>, &mut OutputSlice<'_, T>) + Sync,
) -> Result<Grouped<A, T>> {
    let n = keys.len();
    let overflow = || Error::OutOfMemory { what: "grouped entries", bytes: n as u128 * stride as u128 };
    let elements = n.checked_mul(stride).ok_or_else(overflow)?;
    let (ptr, mut shares) = counted::<K, u64>(threads, keys, digit, false)?;
    let (mut lists, mut values) = (reserved(elements, "grouped entries")?, reserved(n, "grouped values")?);
    let to = OutputArrays { lists: lists.as_mut_ptr(), values: values.as_mut_ptr(), stride };
    each(threads, &mut shares, |Share { records, bins, cursors, .. }| {
        for (e, &key) in records.clone().zip(&keys[records.clone()]) {
            let position = &mut cursors[digit.of(key) - bins.start];
            // SAFETY: the cursor of a share and its bin k starts at the number of records of lower bins, plus those of
            // bin k in earlier shares, and advances by one for each record of the share in bin k. There are as many of
            // these as were counted: the keys are borrowed, `Index` is sealed, and `Digit::of` is a function of the key
            // alone. So every position is below n and is written once.
            unsafe { to.put(position.get(), |list, value| put(e, list, value)) };
            *position += 1;
        }
        Ok(())
    })?;
    // SAFETY: the capacity was reserved; every record was put (n were counted in all shares, `each` processed all of
    // them, and a panic in one would have unwound through it), and `OutputArrays::put` returns only when all elements
    // of a record are written.
    unsafe {
        lists.set_len(elements);
        values.set_len(n);
    }
    Ok(Grouped { ptr, lists, values })
}

/// [`grouped`], where record `e` consists of `values[e]` and the index of its list; list l has the records
/// `ptr[l]..ptr[l + 1]`.
///
/// It writes as many random streams as there are bins, so it is fast where neighboring records have neighboring keys.
/// # Errors
/// [`Error::OutOfMemory`].
/// # Panics
/// If a key is not below `bins`, the lists do not cover all records, there is not one value for each key, or there are
/// more than 2³² − 1 records: bugs of callers in this crate.
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
    let to = OutputArrays { lists: lists.as_mut_ptr(), values: found.as_mut_ptr(), stride: 1 };
    let write = |Share { records, bins, cursors, .. }: &mut Share<u32>, far: bool| {
        let (cursors, first, Range { start: mut at, end }) = (&mut cursors[..], bins.start, records.clone());
        // A copy local to this loop, so that both addresses stay in registers while it writes.
        let to = to.again();
        // The list of the first record: the last one that starts at or before it.
        let mut list = ptr.partition_point(|&p| p <= at).saturating_sub(1);
        while at < end {
            let some = at..ptr[list + 1].min(end);
            at = some.end;
            let mut later = keys.get(some.start + PREFETCH_DISTANCE..).filter(|_| far).unwrap_or_default().iter();
            for (key, &value) in keys[some.clone()].iter().zip(&values[some]) {
                if far
                    && let Some(key) = later.next()
                    && let Some(position) = cursors.get(key.get().wrapping_sub(first))
                {
                    prefetch_at(to.lists.wrapping_add(position.get()));
                    prefetch_at(to.values.wrapping_add(position.get()));
                }
                let Some(position) = cursors.get_mut(key.get().wrapping_sub(first)) else { continue };
                // SAFETY: `position` is below n and is written once, as in `grouped`, by the keys alone.
                unsafe { to.put_one(position.get(), A::cast(list), value) };
                *position += 1;
            }
            list += 1;
        }
    };
    // Fewer records fit the second-level cache; with short lists, writing does not dominate.
    let far = n > 1 << 19 && n / ptr.len() > 5;
    // Two loops: the prefetching one needs more values than there are registers.
    each(threads, &mut shares, |share| {
        if far {
            write(share, true)
        } else {
            write(share, false)
        }
        Ok(())
    })?;
    // SAFETY: the capacity was reserved; n records were counted in all shares, `each` processed all of them, each share
    // wrote a record for each of its keys, as its loop ends where they do, and a panic in one would have unwound
    // through it.
    unsafe {
        lists.set_len(n);
        found.set_len(n);
    }
    Ok(Grouped { ptr: ends, lists, values: found })
}

/// Prefetch distance, in records.
const PREFETCH_DISTANCE: usize = 16;

/// The records that one thread processes, restricted to a range of bins. No two shares overlap both in records and in
/// bins.
struct Share<P> {
    records: Range<usize>,
    bins: Range<usize>,
    /// The next position for each of its bins. Allocated by the thread that counts: on glibc the caller's arena then
    /// holds the result alone, whose memory the next result reuses.
    cursors: Vec<P>,
    /// Its number of records in each [`CHUNK`] of bins that it overlaps.
    sums: Vec<usize>,
}

impl<P> Share<P> {
    fn new(records: Range<usize>, bins: Range<usize>) -> Self {
        Self { records, bins, cursors: Vec::new(), sums: Vec::new() }
    }
    /// Its bins, split at chunk boundaries: the chunk, and the range within it.
    fn pieces(&self) -> impl Iterator<Item = (usize, Range<usize>)> + use<P> {
        let Range { start, end } = self.bins;
        let piece = move |c| start.max(c * CHUNK) - c * CHUNK..end.min((c + 1) * CHUNK) - c * CHUNK;
        (start / CHUNK..end.div_ceil(CHUNK)).map(move |c| (c, piece(c)))
    }
}

/// Bins that are summed at a time.
const CHUNK: usize = 1 << 14;

/// Shares for all threads: blocks of records, in order. Each share has its own counts, whose total must stay below the
/// number of records and bins. If not every block can have counts for all bins, the range of each block's bins decides;
/// it is known only after reading the keys. Where keys are nearly in order, as those of banded matrices, blocks have
/// few bins.
///
/// If there are still too many bins and `by_bins` is set, every thread may read all keys and process a range of bins.
/// Reading a key then costs less than writing its record if a thread's keys mostly come in runs, as the columns of
/// sorted rows do; a mispredicted branch costs as much as a write.
fn shares<K: Index, P: Send>(threads: &Threads, keys: &[K], digit: Digit, by_bins: bool) -> Result<Vec<Share<P>>> {
    const SMALL: usize = 1 << 15;
    // With more readers, reading would dominate.
    const READERS: usize = 8;
    // Below this number of records one thread is faster than several that contend for cache lines, unless the threads
    // have separate bins. (Tried: each thread lists the records of some bins in registers; building the lists takes as
    // long as the contention.)
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

/// Whether neighboring blocks of records overlap in more than an eighth of all bins, by a sample of their keys.
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

/// A chunk of bins: their ends, the counts of the shares that overlap it, each with its first bin within the chunk, and
/// the number of records in earlier chunks.
type Chunk<'a, P> = (&'a mut [usize], Vec<(usize, &'a mut [P])>, usize);

/// The position of each bin's records, and the shares of the threads; with `by_bins` also for more bins than records.
/// `P` must be able to hold the number of records.
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
        // Two loops: shifts by zero would take a third of the time.
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
        share.cursors = counts;
        Ok(())
    })?;

    let mut ptr = zeros(bins.saturating_add(1), "pointers of a sort")?;
    let chunks = bins.div_ceil(CHUNK);
    let mut parts: Vec<Chunk<'_, P>> =
        collected(chunks, ptr[1..].chunks_mut(CHUNK).map(|ends| (ends, Vec::new(), 0)), SHARES)?;
    for share in &mut shares {
        let pieces = share.pieces();
        let Share { cursors, sums, .. } = share;
        let mut rest = &mut cursors[..];
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
    let positions_of = |(): &mut (), (ends, mut counts, mut before): Chunk<'_, P>| {
        for (first, counts) in &counts {
            ends[*first..].iter_mut().zip(counts.iter()).for_each(|(end, count)| *end += count.get());
        }
        for end in &mut *ends {
            before += std::mem::replace(end, before);
        }
        // A bin's first position advances past this share's records.
        for (first, counts) in &mut counts {
            for (position, count) in ends[*first..].iter_mut().zip(counts.iter_mut()) {
                *position += std::mem::replace(count, P::cast(*position)).get();
            }
        }
        Ok(())
    };
    for_each_part(threads, parts, || Ok(()), positions_of)?;
    Ok((ptr, shares))
}

/// Counts the keys of each bin; keys out of range are not counted.
#[inline(always)]
fn count<K: Index, P: Index>(keys: &[K], counts: &mut [P], bin: impl Fn(K) -> usize) {
    let one = P::cast(1);
    for &key in keys {
        if let Some(count) = counts.get_mut(bin(key)) {
            *count = count.wrapping_add(one);
        }
    }
}

/// The permutation that sorts records by key.
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn order_by<K: Index, N: Index>(threads: &Threads, keys: &[K], bins: usize) -> Result<(Vec<usize>, Vec<N>)> {
    let grouped: Grouped<(), N> =
        grouped(threads, keys, Digit::whole(bins), 0, |e, _, value| value.copy(&[N::cast(e)]))?;
    Ok((grouped.ptr, grouped.values))
}

/// Output arrays that several threads write at disjoint positions.
struct OutputArrays<A, T> {
    lists: *mut A,
    values: *mut T,
    stride: usize,
}
// SAFETY: the memory is written through `put` and `put_one` alone, whose contracts keep the positions of threads
// disjoint.
unsafe impl<A: Send, T: Send> Sync for OutputArrays<A, T> {}

impl<A: Copy, T: Copy> OutputArrays<A, T> {
    /// Another handle to the same memory.
    #[inline(always)]
    fn again(&self) -> Self {
        Self { ..*self }
    }
    /// Writes record number `position`, of one element.
    /// # Safety
    /// As for [`put`](Self::put); `stride` is 1.
    #[inline(always)]
    unsafe fn put_one(&self, position: usize, list: A, value: T) {
        // SAFETY: the memory is reserved for all records, and by the caller's promise no other call has these elements.
        unsafe {
            self.lists.add(position).write(list);
            self.values.add(position).write(value);
        }
    }
    /// Writes record number `position` with `put`.
    /// # Safety
    /// `position` is below the number of records that the memory has room for, and is written by one call only.
    /// # Panics
    /// If `put` leaves elements unwritten.
    #[inline(always)]
    unsafe fn put(&self, position: usize, put: impl FnOnce(&mut OutputSlice<'_, A>, &mut OutputSlice<'_, T>)) {
        // SAFETY: the memory is reserved for all records, and by the caller's promise no other call has these elements;
        // as `MaybeUninit` they need not be initialized.
        let (list, value) = unsafe {
            (
                std::slice::from_raw_parts_mut(
                    self.lists.add(position * self.stride).cast::<MaybeUninit<A>>(),
                    self.stride,
                ),
                std::slice::from_raw_parts_mut(self.values.add(position).cast::<MaybeUninit<T>>(), 1),
            )
        };
        let (mut list, mut value) = (OutputSlice { free: list }, OutputSlice { free: value });
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
        // So many bins that threads divide them among themselves.
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

    /// Lists of 0 to 9 records, and one with half of all; with few records, and with enough for prefetching.
    #[test]
    fn records_of_lists_are_grouped_the_same_way() {
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

    /// Nearly sorted keys: each block of records has few bins, and neighbors share some.
    #[test]
    fn blocks_with_bins_of_their_own() {
        let (n, bins) = (200_000usize, 60_000);
        let each: Vec<usize> = (0..=n).collect();
        for spread in [1usize, 50, bins] {
            // The last ones are spread over all bins.
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

    /// Few records spread over all bins form one share; if they are nearly sorted or many, each thread has one.
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
    fn missing_records_panic() {
        let _ = binned::<_, u32, _>(&Threads::caller(), &[0u32, 1], 2, &[0, 1], &[0u8, 0]);
    }

    #[test]
    #[should_panic(expected = "2 records")]
    fn missing_values_panic() {
        let _ = binned::<_, u32, _>(&Threads::caller(), &[0u32, 1], 2, &[0, 2], &[0u8]);
    }

    #[test]
    #[should_panic(expected = "0 of 1 keys are below 3")]
    fn a_key_outside_the_bins_panics() {
        let _ = order_by::<u32, u32>(&Threads::caller(), &[3], 3);
    }

    #[test]
    #[should_panic(expected = "not written whole")]
    fn an_unwritten_record_panics() {
        let _ = grouped::<u32, u32, u32>(&Threads::caller(), &[0], Digit::whole(1), 1, |_, _, value| value.copy(&[1]));
    }
}
