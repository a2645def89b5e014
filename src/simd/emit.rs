//! Bitmaps to sorted column indices.

use std::any::TypeId;
use std::ops::Range;

use crate::Index;

/// Elements that a call may write beyond those it returns: vector stores are whole.
pub(crate) const SLACK: usize = 16;

/// Writes the columns of the set bits in the words of `span` to `out`, in increasing order, clears those words, and
/// returns the number of columns.
///
/// Word `w` holds columns 64 w … 64 w + 63. Words outside the span must be empty.
/// # Panics
/// If the span is not within `words`, or `out` is shorter than the columns and [`SLACK`].
#[inline(always)]
pub(crate) fn emit_columns<I: Index>(words: &mut [u64], span: Range<usize>, out: &mut [I]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(out) = v4::columns(out) {
        let lines = span.start & !7..span.end.next_multiple_of(8).min(words.len());
        // SAFETY: `v4::columns` checked for the instructions that the function needs.
        return unsafe { v4::emit_columns(&mut words[lines.clone()], lines.start, out) };
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(out) = v3::columns(out) {
        // SAFETY: `v3::columns` checked for the instructions that the function needs.
        return unsafe { v3::emit_columns(&mut words[span.clone()], span.start, out) };
    }
    let mut n = 0;
    let first = span.start;
    for (c, line) in words[span].chunks_mut(8).enumerate() {
        n += emit_line(line, first + 8 * c, &mut out[n..]);
    }
    n
}

/// Like [`emit_columns`], where `flags[l]` is 1 if one of the words 8 l … 8 l + 7 may have a bit; clears those flags.
/// # Panics
/// Those of [`emit_columns`]; there must be a flag for every eight words of the span.
#[inline(always)]
pub(crate) fn emit_flagged<I: Index>(words: &mut [u64], flags: &mut [u8], span: Range<usize>, out: &mut [I]) -> usize {
    let lines = span.start / 8..span.end.div_ceil(8);
    let first = lines.start;
    #[cfg(target_arch = "x86_64")]
    if let Some(out) = v4::columns(out) {
        // SAFETY: `v4::columns` checked for the instructions that the function needs.
        return unsafe { v4::emit_flagged(words, &mut flags[lines], first, out) };
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(out) = v3::columns(out) {
        // SAFETY: `v3::columns` checked for the instructions that the function needs.
        return unsafe { v3::emit_flagged(words, &mut flags[lines], first, out) };
    }
    let mut n = 0;
    take_flagged(&mut flags[lines], |l| {
        let w = 8 * (first + l);
        n += emit_line(&mut words[w..w + 8], w, &mut out[n..]);
    });
    n
}

/// Like [`emit_columns`], but only counts.
/// # Panics
/// If the span is not within `words`.
#[inline(always)]
pub(crate) fn take_count(words: &mut [u64], span: Range<usize>) -> usize {
    words[span].iter_mut().map(|w| std::mem::take(w).count_ones() as usize).sum()
}

/// Like [`emit_flagged`], but only counts.
/// # Panics
/// If there is not a flag for every eight words of the span.
#[inline(always)]
pub(crate) fn take_count_flagged(words: &mut [u64], flags: &mut [u8], span: Range<usize>) -> usize {
    let lines = span.start / 8..span.end.div_ceil(8);
    let (first, mut n) = (lines.start, 0);
    take_flagged(&mut flags[lines], |l| n += take_count(words, 8 * (first + l)..8 * (first + l) + 8));
    n
}

/// Calls `found` with the index of each set flag, in order, and clears it.
#[inline(always)]
fn take_flagged(flags: &mut [u8], mut found: impl FnMut(usize)) {
    for (c, eight) in flags.chunks_mut(8).enumerate() {
        let mut live = 0;
        if let Ok(all) = <&mut [u8; 8]>::try_from(&mut *eight) {
            live = u64::from_le_bytes(std::mem::take(all));
        } else {
            for (f, flag) in eight.iter_mut().enumerate() {
                live |= u64::from(std::mem::take(flag)) << (8 * f);
            }
        }
        while live != 0 {
            found(8 * c + live.trailing_zeros() as usize / 8);
            live &= live - 1;
        }
    }
}

/// Writes the columns of the bits `bits[p]` of word `sets[p]`, for each p in order, to `out`; returns their number.
/// # Panics
/// If lengths differ, or `out` is shorter than the columns and [`SLACK`].
#[inline(always)]
pub(crate) fn emit_sets(sets: &[u32], bits: &[u64], out: &mut [u32]) -> usize {
    assert!(sets.len() == bits.len());
    #[cfg(target_arch = "x86_64")]
    if let Some(out) = v4::columns(out) {
        // SAFETY: `v4::columns` checked for the instructions that the function needs.
        return unsafe { v4::emit_sets(sets, bits, out) };
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(out) = v3::columns(out) {
        // SAFETY: `v3::columns` checked for the instructions that the function needs.
        return unsafe { v3::emit_sets(sets, bits, out) };
    }
    let mut n = 0;
    for (&set, &word) in sets.iter().zip(bits) {
        n += emit_line(&mut [word], set as usize, &mut out[n..]);
    }
    n
}

/// Emits the columns of up to eight words, the first of which is word `first`.
#[inline(always)]
fn emit_line<I: Index>(line: &mut [u64], first: usize, out: &mut [I]) -> usize {
    if line.iter().fold(0, |any, w| any | w) == 0 {
        return 0;
    }
    let mut n = 0;
    for (w, word) in line.iter_mut().enumerate() {
        let mut bits = std::mem::take(word);
        let count = bits.count_ones() as usize;
        for slot in &mut out[n..n + count] {
            *slot = I::cast(((first + w) << 6) + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
        n += count;
    }
    n
}

/// `out` as a slice of u32, if `I` is u32.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn as_u32<I: Index>(out: &mut [I]) -> Option<&mut [u32]> {
    if TypeId::of::<I>() == TypeId::of::<u32>() {
        // SAFETY: `I` is `u32`.
        Some(unsafe { &mut *(std::ptr::from_mut(out) as *mut [u32]) })
    } else {
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod v3 {
    //! Converts a byte's bits to column indices by a table, eight to a vector, without a branch on their number.
    use super::{Index, SLACK, as_u32, take_flagged};
    use crate::simd::SET_BITS;
    use std::arch::x86_64::{
        _mm_loadl_epi64, _mm256_add_epi32, _mm256_cvtepu8_epi32, _mm256_loadu_si256, _mm256_or_si256,
        _mm256_set1_epi32, _mm256_storeu_si256, _mm256_testz_si256,
    };

    /// `out` as a slice of u32, if `I` is u32 and the processor has the instructions.
    #[inline(always)]
    pub(super) fn columns<I: Index>(out: &mut [I]) -> Option<&mut [u32]> {
        if crate::simd::has_v3() { as_u32(out) } else { None }
    }

    #[target_feature(enable = "avx2,popcnt,bmi1")]
    pub(super) fn emit_columns(words: &mut [u64], first: usize, out: &mut [u32]) -> usize {
        let mut n = 0;
        let (lines, rest) = words.as_chunks_mut::<8>();
        for (c, line) in lines.iter_mut().enumerate() {
            n = emit_line(line, first + 8 * c, out, n);
        }
        let first = first + 8 * lines.len();
        rest.iter_mut()
            .enumerate()
            .fold(n, |n, (w, word)| emit_word(std::mem::take(word), ((first + w) << 6) as u32, out, n))
    }

    #[target_feature(enable = "avx2,popcnt,bmi1")]
    pub(super) fn emit_flagged(words: &mut [u64], flags: &mut [u8], first: usize, out: &mut [u32]) -> usize {
        let mut n = 0;
        take_flagged(flags, |l| {
            let w = 8 * (first + l);
            if let Ok(line) = <&mut [u64; 8]>::try_from(&mut words[w..w + 8]) {
                n = emit_line(line, w, out, n);
            }
        });
        n
    }

    #[target_feature(enable = "avx2,popcnt,bmi1")]
    pub(super) fn emit_sets(sets: &[u32], bits: &[u64], out: &mut [u32]) -> usize {
        sets.iter().zip(bits).fold(0, |n, (&set, &word)| emit_word(word, set << 6, out, n))
    }

    /// Appends the columns of eight words to `out[..n]`.
    #[target_feature(enable = "avx2,popcnt,bmi1")]
    #[inline]
    fn emit_line(line: &mut [u64; 8], first: usize, out: &mut [u32], mut n: usize) -> usize {
        // SAFETY: a line is two vectors.
        let any = unsafe {
            let from = line.as_ptr().cast();
            _mm256_or_si256(_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)))
        };
        if _mm256_testz_si256(any, any) == 1 {
            return n;
        }
        for (w, word) in line.iter_mut().enumerate() {
            if *word != 0 {
                n = emit_word(std::mem::take(word), ((first + w) << 6) as u32, out, n);
            }
        }
        n
    }

    /// Appends the columns of one word to `out[..n]`.
    #[target_feature(enable = "avx2,popcnt,bmi1")]
    #[inline]
    fn emit_word(mut bits: u64, base: u32, out: &mut [u32], n: usize) -> usize {
        let count = bits.count_ones() as usize;
        assert!(n + count + SLACK <= out.len());
        let mut at = n;
        while bits != 0 {
            let shift = bits.trailing_zeros() & !7;
            let byte = (bits >> shift) as u8;
            // SAFETY: a row of the table has 8 bytes; a store begins at most `count` elements behind n, and is 8 ≤
            // SLACK elements long.
            unsafe {
                let places = _mm256_cvtepu8_epi32(_mm_loadl_epi64(SET_BITS[usize::from(byte)].as_ptr().cast()));
                let columns = _mm256_add_epi32(places, _mm256_set1_epi32((base + shift) as i32));
                _mm256_storeu_si256(out.as_mut_ptr().add(at).cast(), columns);
            }
            at += byte.count_ones() as usize;
            bits &= !(0xFF << shift);
        }
        n + count
    }
}

#[cfg(target_arch = "x86_64")]
mod v4 {
    //! Converts a word's bits to column indices by one byte compression, without a branch on their number.
    use super::{Index, SLACK, as_u32};
    use std::arch::x86_64::{
        __m128i, __m512i, _mm_loadu_si128, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_cvtepu8_epi32,
        _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
        _mm512_test_epi8_mask, _mm512_test_epi64_mask,
    };

    /// 0, 1, … 63.
    static IOTA: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut i = 0;
        while i < 64 {
            bytes[i] = i as u8;
            i += 1;
        }
        bytes
    };

    /// `out` as a slice of u32, if `I` is u32 and the processor has the instructions.
    #[inline(always)]
    pub(super) fn columns<I: Index>(out: &mut [I]) -> Option<&mut [u32]> {
        if crate::simd::has_vbmi2() { as_u32(out) } else { None }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1")]
    pub(super) fn emit_columns(words: &mut [u64], first: usize, out: &mut [u32]) -> usize {
        let mut n = 0;
        for (c, line) in words.chunks_exact_mut(8).enumerate() {
            n = emit_line(line, first + 8 * c, out, n);
        }
        n
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1")]
    pub(super) fn emit_flagged(words: &mut [u64], flags: &mut [u8], first: usize, out: &mut [u32]) -> usize {
        let mut n = 0;
        for (c, flags) in flags.chunks_mut(64).enumerate() {
            let mut live = if let Ok(all) = <&mut [u8; 64]>::try_from(&mut *flags) {
                // SAFETY: 64 bytes are read and written.
                unsafe {
                    let v = _mm512_loadu_si512(all.as_ptr().cast());
                    _mm512_storeu_si512(all.as_mut_ptr().cast(), _mm512_setzero_si512());
                    _mm512_test_epi8_mask(v, v)
                }
            } else {
                let mut live = 0;
                for (f, flag) in flags.iter_mut().enumerate() {
                    live |= u64::from(std::mem::take(flag)) << f;
                }
                live
            };
            while live != 0 {
                let w = 8 * (first + 64 * c + live.trailing_zeros() as usize);
                live &= live - 1;
                n = emit_line(&mut words[w..w + 8], w, out, n);
            }
        }
        n
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1")]
    pub(super) fn emit_sets(sets: &[u32], bits: &[u64], out: &mut [u32]) -> usize {
        sets.iter().zip(bits).fold(0, |n, (&set, &word)| emit_word(word, set << 6, out, n))
    }

    /// Appends the columns of eight words to `out[..n]`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1")]
    #[inline]
    fn emit_line(line: &mut [u64], first: usize, out: &mut [u32], mut n: usize) -> usize {
        assert!(line.len() == 8);
        // SAFETY: a line is 64 bytes.
        let v = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
        let mut live = _mm512_test_epi64_mask(v, v);
        while live != 0 {
            let w = live.trailing_zeros() as usize;
            live &= live - 1;
            n = emit_word(std::mem::take(&mut line[w]), ((first + w) << 6) as u32, out, n);
        }
        n
    }

    /// Appends the columns of one word to `out[..n]`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1")]
    #[inline]
    fn emit_word(bits: u64, base: u32, out: &mut [u32], n: usize) -> usize {
        let count = bits.count_ones() as usize;
        assert!(n + count + SLACK <= out.len());
        let base = _mm512_set1_epi32(base as i32);
        // SAFETY: 64 bytes are read.
        let positions: __m512i = _mm512_maskz_compress_epi8(bits, unsafe { _mm512_loadu_si512(IOTA.as_ptr().cast()) });
        // SAFETY: stores begin at most `count` elements behind n and are SLACK elements long.
        unsafe {
            let to = out.as_mut_ptr().add(n);
            let some = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(positions));
            _mm512_storeu_si512(to.cast(), _mm512_add_epi32(some, base));
            if count > 16 {
                let mut bytes = [0u8; 64];
                _mm512_storeu_si512(bytes.as_mut_ptr().cast(), positions);
                for at in (16..count).step_by(16) {
                    let some = _mm512_cvtepu8_epi32(_mm_loadu_si128(bytes.as_ptr().add(at).cast::<__m128i>()));
                    _mm512_storeu_si512(to.add(at).cast(), _mm512_add_epi32(some, base));
                }
            }
        }
        n + count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of every density; both index types, so vector and scalar code.
    fn cases() -> impl Iterator<Item = Vec<u64>> {
        let mut state = 7u64;
        let mut next = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state ^ (state >> 29)
        };
        // Each length with each density.
        let (lengths, cases) = if cfg!(miri) { (2, 10) } else { (7, 200) };
        (0..cases).map(move |case| {
            let words = 8usize << (case % lengths);
            (0..words)
                .map(|_| match (case / lengths) % 5 {
                    0 => 0,
                    1 => u64::MAX,
                    2 => next() & next() & next() & next() & next(),
                    3 => next(),
                    _ => {
                        if next() % 10 == 0 {
                            next() | next()
                        } else {
                            0
                        }
                    }
                })
                .collect()
        })
    }

    fn check<I: Index>() {
        for bits in cases() {
            let want: Vec<I> =
                (0..64 * bits.len()).filter(|j| bits[j >> 6] >> (j & 63) & 1 == 1).map(I::cast).collect();
            let used: Vec<usize> = (0..bits.len()).filter(|&w| bits[w] != 0).collect();
            let span = used.first().copied().unwrap_or(0)..used.last().map_or(1, |w| w + 1);
            let mut out = vec![I::cast(0); want.len() + SLACK];

            let mut words = bits.clone();
            let n = emit_columns(&mut words, span.clone(), &mut out);
            assert_eq!(&out[..n], &want[..]);
            assert!(words.iter().all(|&w| w == 0));

            let (mut words, mut flags) = (bits.clone(), vec![0u8; bits.len() / 8]);
            used.iter().for_each(|w| flags[w / 8] = 1);
            let n = emit_flagged(&mut words, &mut flags, span, &mut out);
            assert_eq!(&out[..n], &want[..]);
            assert!(words.iter().all(|&w| w == 0) && flags.iter().all(|&f| f == 0));

            let sets: Vec<u32> = used.iter().map(|&w| w as u32).collect();
            let words: Vec<u64> = used.iter().map(|&w| bits[w]).collect();
            let mut out = vec![0; want.len() + SLACK];
            let n = emit_sets(&sets, &words, &mut out);
            assert!(out[..n].iter().map(|&j| j as usize).eq(want.iter().map(|j| j.get())));
        }
    }

    #[test]
    fn bits_are_listed_as_columns_in_order() {
        check::<u32>();
        check::<u64>();
    }

    /// A processor with more instructions would not choose these.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn bits_are_listed_by_byte_tables() {
        if !crate::simd::has_v3() {
            return eprintln!("skipped: no AVX2");
        }
        for bits in cases() {
            let want: Vec<u32> =
                (0..64 * bits.len() as u32).filter(|j| bits[(j >> 6) as usize] >> (j & 63) & 1 == 1).collect();
            let mut out = vec![0; want.len() + SLACK];
            for first in [0, 3] {
                let mut words = bits.clone();
                // SAFETY: the processor has AVX2.
                let n = unsafe { v3::emit_columns(&mut words[first..], first, &mut out) };
                assert!(out[..n].iter().eq(want.iter().filter(|j| **j >= 64 * first as u32)));
                assert!(words[first..].iter().all(|&w| w == 0));
            }
            let (mut words, mut flags) = (bits.clone(), vec![1; bits.len() / 8]);
            // SAFETY: as above.
            let n = unsafe { v3::emit_flagged(&mut words, &mut flags, 0, &mut out) };
            assert!(out[..n] == want && words.iter().all(|&w| w == 0) && flags.iter().all(|&f| f == 0));
            let sets: Vec<u32> = (0..bits.len() as u32).collect();
            // SAFETY: as above.
            let n = unsafe { v3::emit_sets(&sets, &bits, &mut out) };
            assert_eq!(&out[..n], &want[..]);
        }
    }
}
