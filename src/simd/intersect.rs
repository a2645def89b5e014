//! Intersections of rows stored as bitmaps: the inner loops of triangle counting.
//!
//! A packed row is one contiguous run of u64: as u32, the number p of its pairs and p column-set indices, padded to a
//! whole word; then p bit sets. A single address gives access to the whole row. The other operand of an intersection is
//! a dense bitmap, empty except for the current row.

use super::emit::SLACK;
use crate::Index;
use crate::par::out_of_memory;
use crate::{Error, Result};

/// `out = [label[j] for j in cols if label[j] < bound]`, in order; returns the number of labels.
/// # Panics
/// If `mask` is not an index of `label`, or `out` is shorter than `cols` and [`SLACK`].
#[inline(always)]
pub(crate) fn labels_below<I: Index>(cols: &[I], label: &[u32], mask: usize, bound: u32, out: &mut [u32]) -> usize {
    assert!(mask < label.len() && cols.len() + SLACK <= out.len());
    #[cfg(target_arch = "x86_64")]
    if mask <= i32::MAX as usize
        && let Some(cols) = v4::columns(cols)
    {
        // SAFETY: `v4::columns` checked for the instructions, and the lengths were checked above.
        return unsafe { v4::labels_below(cols, label, mask, bound, out) };
    }
    let mut n = 0;
    for j in cols {
        // SAFETY: the index is ≤ mask < label.len(); n counts columns passed, and `out` is longer than those.
        unsafe {
            let name = *label.get_unchecked(j.get() & mask);
            *out.get_unchecked_mut(n) = name;
            n += usize::from(name < bound);
        }
    }
    n
}

/// Sets the bit of each label in `words`, and lists the words that were zero before; returns their number.
/// # Panics
/// If `mask` is not an index of `words`, or `touched` is not longer than `names`.
#[inline(always)]
pub(crate) fn set_bits(names: &[u32], words: &mut [u64], mask: usize, touched: &mut [u32]) -> usize {
    assert!(mask < words.len() && names.len() < touched.len());
    let mut n = 0;
    for &b in names {
        let w = (b as usize >> 6) & mask;
        // SAFETY: w ≤ mask < words.len(); n counts labels passed, and `touched` is longer than those.
        unsafe {
            let word = words.get_unchecked_mut(w);
            *touched.get_unchecked_mut(n) = w as u32;
            n += usize::from(*word == 0);
            *word |= 1 << (b & 63);
        }
    }
    n
}

/// Appends the packed row of the words listed in `touched`, and clears them.
/// # Errors
/// [`Error::OutOfMemory`].
/// # Panics
/// If `touched` has an index out of range.
#[inline(always)]
pub(crate) fn push_packed(rows: &mut Vec<u64>, touched: &[u32], words: &mut [u64]) -> Result<()> {
    let (head, len) = (head_len(touched.len()), packed_len(touched.len()));
    let at = rows.len();
    rows.try_reserve(len).map_err(|_| out_of_memory::<u64>("rows of bits", at.saturating_add(len)))?;
    rows.resize(at + head, 0);
    let halves = halves_mut(&mut rows[at..]);
    halves[0] = u32::try_from(touched.len()).map_err(|_| too_long(touched.len()))?;
    halves[1..=touched.len()].copy_from_slice(touched);
    rows.extend(touched.iter().map(|&w| std::mem::take(&mut words[w as usize])));
    Ok(())
}

fn too_long(pairs: usize) -> Error {
    Error::IndexOverflow { what: "words of a row", needed: pairs as u128, max: u32::MAX.into() }
}

/// Words of a packed row's head: the number of pairs, and the indices.
#[inline(always)]
fn head_len(pairs: usize) -> usize {
    pairs / 2 + 1
}

/// Words of a packed row.
#[inline(always)]
fn packed_len(pairs: usize) -> usize {
    head_len(pairs) + pairs
}

/// Column-set indices and bit sets of the packed row at `rows[at]`, and the start of the next row.
/// # Panics
/// If no row begins there.
#[inline(always)]
pub(crate) fn packed_row(rows: &[u64], at: usize) -> (&[u32], &[u64], usize) {
    let pairs = halves(&rows[at..at + 1])[0] as usize;
    let row = &rows[at..at + packed_len(pairs)];
    let (head, bits) = row.split_at(head_len(pairs));
    (&halves(head)[1..=pairs], bits, at + row.len())
}

/// `words[set] = bits` for each pair of the packed row at `rows[at]`, or 0 with `clear`.
/// # Panics
/// If `mask` is not an index of `words`, or there is no such row.
#[inline(always)]
pub(crate) fn load_packed(rows: &[u64], at: usize, words: &mut [u64], mask: usize, clear: bool) {
    assert!(mask < words.len());
    let keep = if clear { 0 } else { u64::MAX };
    let (sets, bits, _) = packed_row(rows, at);
    for (&s, &b) in sets.iter().zip(bits) {
        // SAFETY: the index is ≤ mask < words.len().
        unsafe { *words.get_unchecked_mut(s as usize & mask) = b & keep };
    }
}

/// `Σ |R ∩ W|` over the packed rows R that begin at `starts`, where W is the set in `words`.
/// # Panics
/// If `mask` is not an index of `words`, or there is no such row.
pub(crate) fn count_intersections(rows: &[u64], starts: &[usize], words: &[u64], mask: usize) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if v4::counts() {
        // SAFETY: `v4::counts` checked for the instructions.
        return unsafe { v4::count_intersections(rows, starts, words, mask) };
    }
    super::dispatch(|| count_intersections_scalar(rows, starts, words, mask))
}

#[inline(always)]
fn count_intersections_scalar(rows: &[u64], starts: &[usize], words: &[u64], mask: usize) -> u64 {
    assert!(mask < words.len());
    let mut sum = 0u64;
    for &at in starts {
        let (sets, bits, _) = packed_row(rows, at);
        for (&s, &b) in sets.iter().zip(bits) {
            // SAFETY: the index is ≤ mask < words.len().
            let word = unsafe { *words.get_unchecked(s as usize & mask) };
            sum += u64::from((word & b).count_ones());
        }
    }
    sum
}

/// Words as pairs of u32, in memory order.
#[inline(always)]
fn halves(words: &[u64]) -> &[u32] {
    // SAFETY: a u64 is two u32, any bits are a valid u32, and u64 is aligned at least as strictly.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), 2 * words.len()) }
}

#[inline(always)]
fn halves_mut(words: &mut [u64]) -> &mut [u32] {
    // SAFETY: as in `halves`, and the borrow is unique.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 2 * words.len()) }
}

#[cfg(target_arch = "x86_64")]
mod v4 {
    use super::{Index, head_len, packed_row};
    use std::any::TypeId;
    use std::arch::x86_64::{
        _mm256_and_si256, _mm256_maskz_loadu_epi32, _mm256_set1_epi32, _mm512_add_epi64, _mm512_and_si512,
        _mm512_cmplt_epu32_mask, _mm512_i32gather_epi32, _mm512_mask_i32gather_epi64, _mm512_maskz_compress_epi32,
        _mm512_maskz_loadu_epi32, _mm512_maskz_loadu_epi64, _mm512_popcnt_epi64, _mm512_reduce_add_epi64,
        _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
    };

    /// `cols` as a slice of u32, if `I` is u32 and the processor has the instructions.
    #[inline(always)]
    pub(super) fn columns<I: Index>(cols: &[I]) -> Option<&[u32]> {
        if TypeId::of::<I>() == TypeId::of::<u32>() && crate::simd::has_v4() {
            // SAFETY: `I` is `u32`.
            Some(unsafe { &*(std::ptr::from_ref(cols) as *const [u32]) })
        } else {
            None
        }
    }

    /// Whether the processor has vector population counts.
    #[inline(always)]
    pub(super) fn counts() -> bool {
        crate::simd::has_vpopcntdq()
    }

    /// # Safety
    /// `mask < label.len()`, mask below 2³¹, and `out` is longer than `cols` by `SLACK`.
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) unsafe fn labels_below(cols: &[u32], label: &[u32], mask: usize, bound: u32, out: &mut [u32]) -> usize {
        let (within, bound) = (_mm512_set1_epi32(mask as i32), _mm512_set1_epi32(bound as i32));
        let mut n = 0;
        for sixteen in cols.chunks(16) {
            let lanes = (u32::MAX >> (32 - sixteen.len())) as u16;
            // SAFETY: 1. the load's lanes lie within the chunk; 2. indices are ≤ mask, thus within `label` and
            // nonnegative as i32; 3. n is at most the number of columns before this chunk, and SLACK elements fit
            // behind it.
            unsafe {
                let j = _mm512_and_si512(_mm512_maskz_loadu_epi32(lanes, sixteen.as_ptr().cast()), within);
                let names = _mm512_i32gather_epi32::<4>(j, label.as_ptr().cast());
                let keep = _mm512_cmplt_epu32_mask(names, bound) & lanes;
                _mm512_storeu_si512(out.as_mut_ptr().add(n).cast(), _mm512_maskz_compress_epi32(keep, names));
                n += keep.count_ones() as usize;
            }
        }
        n
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq")]
    pub(super) fn count_intersections(rows: &[u64], starts: &[usize], words: &[u64], mask: usize) -> u64 {
        assert!(mask < words.len());
        debug_assert!(head_len(1) == 1);
        // An index has 26 bits, so it is nonnegative as i32 unless the mask allows more.
        let within = _mm256_set1_epi32((mask & (i32::MAX as usize)) as i32);
        let mut sum = _mm512_setzero_si512();
        for &at in starts {
            let (sets, bits, _) = packed_row(rows, at);
            for (s, b) in sets.chunks(8).zip(bits.chunks(8)) {
                let lanes = (u32::MAX >> (32 - s.len())) as u8;
                // SAFETY: 1. the loaded lanes lie within the chunks, which have equal lengths; 2. an index is ≤ mask <
                // words.len().
                unsafe {
                    let s = _mm256_and_si256(_mm256_maskz_loadu_epi32(lanes, s.as_ptr().cast()), within);
                    let b = _mm512_maskz_loadu_epi64(lanes, b.as_ptr().cast());
                    let w = _mm512_mask_i32gather_epi64::<8>(_mm512_setzero_si512(), lanes, s, words.as_ptr().cast());
                    sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_and_si512(w, b)));
                }
            }
        }
        _mm512_reduce_add_epi64(sum) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generator(mut state: u64) -> impl FnMut(u64) -> u64 {
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        }
    }

    fn check_labels<I: Index>() {
        let mut next = generator(3);
        let label: Vec<u32> = (0..256).map(|_| next(1 << 32) as u32).collect();
        for len in (0..if cfg!(miri) { 20 } else { 70 }).chain([1000]) {
            let cols: Vec<I> = (0..len).map(|_| I::cast(next(256) as usize)).collect();
            for bound in [0, next(1 << 32) as u32, u32::MAX] {
                let want: Vec<u32> = cols.iter().map(|j| label[j.get()]).filter(|&b| b < bound).collect();
                let mut out = vec![7; len + SLACK];
                let n = labels_below(&cols, &label, 255, bound, &mut out);
                assert_eq!(&out[..n], &want[..]);
            }
        }
    }

    #[test]
    fn labels_below_a_bound_in_order() {
        check_labels::<u32>();
        check_labels::<u64>();
    }

    /// Rows of all lengths, with repeats: packed, read back, intersected with vectors and by the scalar loop.
    #[test]
    fn packed_rows_intersect_like_sets() {
        let mut next = generator(9);
        let (mut rows, mut starts, mut sets) = (vec![], vec![], vec![]);
        let (mut words, mut touched) = (vec![0u64; 64], vec![0; 5000]);
        for len in (0..if cfg!(miri) { 9 } else { 60 }).chain(if cfg!(miri) { [70, 80] } else { [500, 4000] }) {
            let names: Vec<u32> = (0..len).map(|_| next(4096) as u32).collect();
            let n = set_bits(&names, &mut words, 63, &mut touched);
            starts.push(rows.len());
            push_packed(&mut rows, &touched[..n], &mut words).unwrap();
            assert!(words.iter().all(|&w| w == 0));
            sets.push(names.into_iter().collect::<std::collections::BTreeSet<u32>>());
        }
        let mut at = 0;
        for (a, set) in sets.iter().enumerate() {
            assert_eq!(at, starts[a]);
            let (indices, bits, end) = packed_row(&rows, at);
            let names = |(&s, &b): (&u32, &u64)| (0..64).filter(move |i| b >> i & 1 == 1).map(move |i| 64 * s + i);
            assert_eq!(&indices.iter().zip(bits).flat_map(names).collect::<std::collections::BTreeSet<_>>(), set);

            load_packed(&rows, at, &mut words, 63, false);
            let want: usize = sets.iter().map(|other| other.intersection(set).count()).sum();
            assert_eq!(count_intersections(&rows, &starts, &words, 63), want as u64);
            assert_eq!(count_intersections_scalar(&rows, &starts, &words, 63), want as u64);
            load_packed(&rows, at, &mut words, 63, true);
            assert!(words.iter().all(|&w| w == 0));
            at = end;
        }
        assert_eq!(at, rows.len());
    }

    #[test]
    #[should_panic(expected = "range")]
    fn a_row_out_of_range_panics() {
        count_intersections(&[0, 3], &[1], &[0], 0);
    }
}
