//! Short lists of columns: sorted and freed of repeats in registers.

use std::any::TypeId;

use crate::Index;

/// Longest list that [`sort_dedup`] takes.
pub(crate) const SHORT: usize = 128;

/// A list of columns on the stack, filled by [`push_all`](ShortList::push_all).
pub(crate) struct ShortList<I> {
    cols: [I; SHORT + LANES],
    len: usize,
}

/// Columns in a vector register.
const LANES: usize = 16;

impl<I: Index> ShortList<I> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { cols: [I::LAST; SHORT + LANES], len: 0 }
    }

    /// Empties the list.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends `row`, a part of `all`.
    /// # Panics
    /// If the list grows beyond [`SHORT`].
    #[inline(always)]
    pub(crate) fn push_all(&mut self, all: &[I], row: &[I]) {
        assert!(self.len + row.len() <= SHORT);
        let to = &mut self.cols[self.len..];
        let left = (all.as_ptr_range().end as usize).saturating_sub(row.as_ptr() as usize) / size_of::<I>();
        if row.len() <= LANES && left >= LANES && all.as_ptr() <= row.as_ptr() {
            // One whole vector: what it copies beyond the row is overwritten by the next row or by the padding.
            // SAFETY: the row lies in `all`, whose elements reach LANES beyond its start; the list has LANES of slack.
            unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), to.as_mut_ptr(), LANES) };
        } else {
            to[..row.len()].copy_from_slice(row);
        }
        self.len += row.len();
    }

    /// Writes the columns to `out` in increasing order, each once, and returns how many there are.
    /// # Panics
    /// If `out` is shorter than the list rounded up to whole vectors, and one vector more.
    #[inline(always)]
    pub(crate) fn sort_dedup(&mut self, out: &mut [I]) -> usize {
        #[cfg(target_arch = "x86_64")]
        if TypeId::of::<I>() == TypeId::of::<u32>() && super::has_v4() {
            self.cols[self.len..][..LANES].fill(I::LAST);
            let vectors = self.len.div_ceil(LANES).next_power_of_two();
            for v in self.len.div_ceil(LANES)..vectors {
                self.cols[v * LANES..][..LANES].fill(I::LAST);
            }
            assert!(out.len() >= self.len + 2 * LANES);
            let (from, to) = (self.cols.as_ptr().cast(), out.as_mut_ptr().cast());
            // SAFETY: 1. the processor has AVX-512; 2. `I` is `u32`, whose elements are read and written;
            // 3. `cols` holds `vectors` whole vectors, padded with LAST; 4. each store of `out` begins at a column
            // already counted, of which there are at most `len`, and is LANES long.
            return unsafe {
                match vectors {
                    0 => 0,
                    1 => v4::sort_dedup::<1>(from, to),
                    2 => v4::sort_dedup::<2>(from, to),
                    4 => v4::sort_dedup::<4>(from, to),
                    _ => v4::sort_dedup::<8>(from, to),
                }
            };
        }
        let list = &mut self.cols[..self.len];
        list.sort_unstable();
        let mut n = 0;
        for &j in &*list {
            if n == 0 || out[n - 1] != j {
                out[n] = j;
                n += 1;
            }
        }
        n
    }
}

#[cfg(target_arch = "x86_64")]
mod v4 {
    //! Bitonic sorting network on 1, 2, 4 or 8 vectors of sixteen columns.
    use std::arch::x86_64::{
        __m512i, _mm512_alignr_epi32, _mm512_cmpneq_epi32_mask, _mm512_loadu_si512, _mm512_mask_mov_epi32,
        _mm512_maskz_compress_epi32, _mm512_max_epu32, _mm512_min_epu32, _mm512_permutexvar_epi32, _mm512_set1_epi32,
        _mm512_setr_epi32, _mm512_shuffle_epi32, _mm512_shuffle_i32x4, _mm512_storeu_si512,
    };

    /// One compare-exchange stage: lanes set in `UP` keep the larger of themselves and their partner.
    macro_rules! stage {
        ($v:expr, $partner:expr, $up:literal) => {{
            let (v, p) = ($v, $partner);
            _mm512_mask_mov_epi32(_mm512_min_epu32(v, p), $up, _mm512_max_epu32(v, p))
        }};
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn by1(v: __m512i) -> __m512i {
        _mm512_shuffle_epi32::<0b10_11_00_01>(v)
    }
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn by2(v: __m512i) -> __m512i {
        _mm512_shuffle_epi32::<0b01_00_11_10>(v)
    }
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn by4(v: __m512i) -> __m512i {
        _mm512_shuffle_i32x4::<0b10_11_00_01>(v, v)
    }
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn by8(v: __m512i) -> __m512i {
        _mm512_shuffle_i32x4::<0b01_00_11_10>(v, v)
    }
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn reversed(v: __m512i) -> __m512i {
        _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), v)
    }

    /// Sorts a bitonic vector.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn merge1(v: __m512i) -> __m512i {
        let v = stage!(v, by8(v), 0xFF00);
        let v = stage!(v, by4(v), 0xF0F0);
        let v = stage!(v, by2(v), 0xCCCC);
        stage!(v, by1(v), 0xAAAA)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn sort1(v: __m512i) -> __m512i {
        // Runs of 2, 4, 8 in alternating directions, then one bitonic merge.
        let v = stage!(v, by1(v), 0x6666);
        let v = stage!(v, by2(v), 0x3C3C);
        let v = stage!(v, by1(v), 0x5A5A);
        let v = stage!(v, by4(v), 0x0FF0);
        let v = stage!(v, by2(v), 0x33CC);
        let v = stage!(v, by1(v), 0x55AA);
        merge1(v)
    }

    /// Merges sorted halves of `v[..n]` into one sorted list.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn merge(v: &mut [__m512i; 8], start: usize, n: usize) {
        // The second half reversed makes the whole bitonic.
        for i in 0..n / 2 {
            let (a, b) = (v[start + i], reversed(v[start + n - 1 - i]));
            v[start + i] = _mm512_min_epu32(a, b);
            v[start + n - 1 - i] = reversed(_mm512_max_epu32(a, b));
        }
        // Each half is bitonic now; the upper one was reversed back, which keeps that.
        let mut gap = n / 4;
        while gap > 0 {
            let mut i = 0;
            while i < n {
                for q in i..i + gap {
                    let (a, b) = (v[start + q], v[start + q + gap]);
                    v[start + q] = _mm512_min_epu32(a, b);
                    v[start + q + gap] = _mm512_max_epu32(a, b);
                }
                i += 2 * gap;
            }
            gap /= 2;
        }
        for x in &mut v[start..start + n] {
            *x = merge1(*x);
        }
    }

    /// Sorts `N` vectors at `from` and writes the distinct columns below LAST to `out`.
    /// # Safety
    /// `from` must be valid for N vectors, `out` for the columns and one vector more.
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) unsafe fn sort_dedup<const N: usize>(from: *const u32, out: *mut u32) -> usize {
        let last = _mm512_set1_epi32(-1);
        let mut v = [last; 8];
        for (i, x) in v[..N].iter_mut().enumerate() {
            // SAFETY: i < N.
            *x = sort1(unsafe { _mm512_loadu_si512(from.add(16 * i).cast()) });
        }
        let mut n = 2;
        while n <= N {
            let mut start = 0;
            while start < N {
                merge(&mut v, start, n);
                start += n;
            }
            n *= 2;
        }
        let mut count = 0;
        let mut before = last;
        for &x in &v[..N] {
            let shifted = _mm512_alignr_epi32::<15>(x, before);
            let keep = _mm512_cmpneq_epi32_mask(x, shifted) & _mm512_cmpneq_epi32_mask(x, last);
            // SAFETY: `count` columns were written before this, and a store is one vector.
            unsafe { _mm512_storeu_si512(out.add(count).cast(), _mm512_maskz_compress_epi32(keep, x)) };
            count += keep.count_ones() as usize;
            before = x;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_and_dedups_like_the_standard_library() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        };
        for len in 0..=SHORT {
            for bound in [1, 3, 50, 1 << 20, u64::from(u32::MAX) - 1] {
                let all: Vec<u32> = (0..len).map(|_| (next() % bound) as u32).collect();
                let mut list = ShortList::<u32>::new();
                let mut wide = ShortList::<u64>::new();
                let cut = if len == 0 { 0 } else { next() as usize % len };
                list.push_all(&all, &all[..cut]);
                list.push_all(&all, &all[cut..]);
                let all_wide: Vec<u64> = all.iter().map(|&j| u64::from(j)).collect();
                wide.push_all(&all_wide, &all_wide);
                let mut want = all.clone();
                want.sort_unstable();
                want.dedup();
                let mut out = vec![0; SHORT + 64];
                let n = list.sort_dedup(&mut out);
                assert_eq!(&out[..n], &want[..], "{len} columns below {bound}");
                let mut out = vec![0; SHORT + 64];
                let n = wide.sort_dedup(&mut out);
                assert!(out[..n].iter().copied().eq(want.iter().map(|&j| u64::from(j))));
            }
        }
    }
}
