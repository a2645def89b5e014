//! Bitonic sorting networks on vectors of columns: sixteen lanes (AVX-512), or eight (AVX2).
//!
//! The macro defines the stages once; the two modules supply the instructions.

/// `merge` and `sort_dedup` with the instructions in scope, for at most `$n` vectors.
macro_rules! network {
    ($features:literal, $vector:ty, $n:literal) => {
        /// Merges sorted halves of `v[..n]` into one sorted list.
        #[target_feature(enable = $features)]
        #[inline]
        fn merge(v: &mut [$vector; $n], start: usize, n: usize) {
            // The second half reversed makes the whole bitonic.
            for i in 0..n / 2 {
                let (a, b) = (v[start + i], reversed(v[start + n - 1 - i]));
                v[start + i] = min(a, b);
                v[start + n - 1 - i] = reversed(max(a, b));
            }
            // Each half is bitonic now; the upper one was reversed back and remains so.
            let mut gap = n / 4;
            while gap > 0 {
                let mut i = 0;
                while i < n {
                    for q in i..i + gap {
                        let (a, b) = (v[start + q], v[start + q + gap]);
                        v[start + q] = min(a, b);
                        v[start + q + gap] = max(a, b);
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
        /// `from` must be valid for N vectors, `out` for the columns and one more vector.
        #[target_feature(enable = $features)]
        pub(in crate::simd) unsafe fn sort_dedup<const N: usize>(from: *const u32, out: *mut u32) -> usize {
            let last = all(u32::MAX);
            let mut v = [last; $n];
            for (i, x) in v[..N].iter_mut().enumerate() {
                // SAFETY: i < N.
                *x = sort1(unsafe { load(from.add(LANES * i)) });
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
                // SAFETY: `count` columns were written before this, and a store is one vector.
                count += unsafe { store_new(x, before, last, out.add(count)) };
                before = x;
            }
            count
        }
    };
}

pub(super) mod v4 {
    use super::v3;
    use std::arch::x86_64::{
        __m512i, _mm512_alignr_epi32, _mm512_and_si512, _mm512_castsi512_si256, _mm512_cmpeq_epi32_mask,
        _mm512_cmpneq_epi32_mask, _mm512_loadu_si512, _mm512_mask_expand_epi32, _mm512_mask_mov_epi32,
        _mm512_mask_or_epi32, _mm512_maskz_compress_epi32, _mm512_maskz_loadu_epi32, _mm512_max_epu32 as max,
        _mm512_min_epu32 as min, _mm512_permutexvar_epi32, _mm512_set1_epi32, _mm512_setr_epi32, _mm512_shuffle_epi32,
        _mm512_shuffle_i32x4, _mm512_slli_epi32, _mm512_srli_epi32, _mm512_storeu_si512, _mm512_zextsi256_si512,
    };

    /// Columns of a vector.
    pub(in crate::simd) const LANES: usize = 16;

    /// One compare-exchange stage: lanes set in `UP` keep the larger of themselves and their partner.
    macro_rules! stage {
        ($v:expr, $partner:expr, $up:literal) => {{
            let (v, p) = ($v, $partner);
            _mm512_mask_mov_epi32(min(v, p), $up, max(v, p))
        }};
    }

    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    fn by1(v: __m512i) -> __m512i {
        _mm512_shuffle_epi32::<0b10_11_00_01>(v)
    }
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    fn by2(v: __m512i) -> __m512i {
        _mm512_shuffle_epi32::<0b01_00_11_10>(v)
    }
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    fn by4(v: __m512i) -> __m512i {
        _mm512_shuffle_i32x4::<0b10_11_00_01>(v, v)
    }
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    fn by8(v: __m512i) -> __m512i {
        _mm512_shuffle_i32x4::<0b01_00_11_10>(v, v)
    }
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    fn reversed(v: __m512i) -> __m512i {
        _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), v)
    }

    /// Sorts a bitonic vector.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    fn merge1(v: __m512i) -> __m512i {
        let v = stage!(v, by8(v), 0xFF00);
        let v = stage!(v, by4(v), 0xF0F0);
        let v = stage!(v, by2(v), 0xCCCC);
        stage!(v, by1(v), 0xAAAA)
    }

    #[target_feature(enable = "avx512f,popcnt")]
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

    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    fn all(j: u32) -> __m512i {
        _mm512_set1_epi32(j as i32)
    }
    /// # Safety
    /// `from` must be valid for a vector.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    unsafe fn load(from: *const u32) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }
    /// Writes the lanes of `x` that differ from their predecessor (the first lane's is the last of `before`) and from
    /// `last`; returns their number.
    /// # Safety
    /// `out` must be valid for a vector.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    unsafe fn store_new(x: __m512i, before: __m512i, last: __m512i, out: *mut u32) -> usize {
        let keep =
            _mm512_cmpneq_epi32_mask(x, _mm512_alignr_epi32::<15>(x, before)) & _mm512_cmpneq_epi32_mask(x, last);
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(out.cast(), _mm512_maskz_compress_epi32(keep, x)) };
        keep.count_ones() as usize
    }
    network!("avx512f,popcnt", __m512i, 8);

    /// A vector without columns.
    /// # Safety
    /// The processor must have AVX-512.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    pub(in crate::simd) unsafe fn none() -> __m512i {
        all(u32::MAX)
    }
    /// `v`, whose first `len` lanes are columns, with `n` more columns appended.
    /// # Safety
    /// The processor must have AVX-512; `from` be valid for `n` columns, and `len + n` ≤ 16.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    pub(in crate::simd) unsafe fn push(v: __m512i, len: usize, from: *const u32, n: usize) -> __m512i {
        let lanes = (1u32 << n) - 1;
        // SAFETY: masked-out lanes are not read; the others are valid by the caller's promise.
        let cols = unsafe { _mm512_maskz_loadu_epi32(lanes as u16, from.cast()) };
        _mm512_mask_expand_epi32(v, (lanes << len) as u16, cols)
    }
    /// Whether one of the first `len` lanes of `v` is among `n` columns.
    /// # Safety
    /// The processor must have AVX-512; `from` be valid for `n` columns.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    pub(in crate::simd) unsafe fn has_any(v: __m512i, len: usize, from: *const u32, n: usize) -> bool {
        let mut same = 0;
        for c in 0..n {
            // SAFETY: c < n.
            same |= _mm512_cmpeq_epi32_mask(v, all(unsafe { from.add(c).read() }));
        }
        u32::from(same) & ((1u32 << len) - 1) != 0
    }
    /// Sorts `v`, whose lanes from `len` on are LAST. For up to eight columns only the lower half is sorted, in six
    /// stages instead of ten.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    fn sort_some(v: __m512i, len: usize) -> __m512i {
        if len <= v3::LANES {
            let half = _mm512_zextsi256_si512(v3::sort1(_mm512_castsi512_si256(v)));
            _mm512_mask_mov_epi32(half, 0xFF00, all(u32::MAX))
        } else {
            sort1(v)
        }
    }
    /// Sorts `v`, whose first `len` lanes are columns and the others LAST, and writes the distinct columns to `out`;
    /// returns their number.
    /// # Safety
    /// The processor must have AVX-512, and `out` be valid for a vector.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    pub(in crate::simd) unsafe fn sort_dedup_one(v: __m512i, len: usize, out: *mut u32) -> usize {
        // SAFETY: the caller's promise.
        unsafe { store_new(sort_some(v, len), all(u32::MAX), all(u32::MAX), out) }
    }
    /// Sorts the first `len` lanes of `v`, columns below 2²⁸, stably: writes the distinct ones to `out` and the
    /// original lane of each to `order` (15 from lane `len` on). Returns a bit for each lane whose column differs from
    /// its predecessor.
    /// # Safety
    /// The processor must have AVX-512, and `out` be valid for a vector.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    pub(in crate::simd) unsafe fn store_sorted(v: __m512i, len: usize, out: *mut u32, order: &mut [u32; LANES]) -> u32 {
        let (some, lanes) =
            ((1u32 << len) - 1, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
        let keys = _mm512_mask_or_epi32(all(u32::MAX), some as u16, _mm512_slli_epi32::<4>(v), lanes);
        let keys = sort_some(keys, len);
        let cols = _mm512_srli_epi32::<4>(keys);
        let new = _mm512_cmpneq_epi32_mask(cols, _mm512_alignr_epi32::<15>(cols, all(u32::MAX))) & some as u16;
        // SAFETY: `order` is a vector; `out` is valid by the caller's promise.
        unsafe {
            _mm512_storeu_si512(order.as_mut_ptr().cast(), _mm512_and_si512(keys, all(15)));
            _mm512_storeu_si512(out.cast(), _mm512_maskz_compress_epi32(new, cols));
        }
        u32::from(new)
    }
}

pub(super) mod v3 {
    use std::arch::x86_64::{
        __m256i, _mm_loadl_epi64, _mm256_blend_epi32, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cvtepu8_epi32,
        _mm256_loadu_si256, _mm256_max_epu32 as max, _mm256_min_epu32 as min, _mm256_movemask_ps, _mm256_or_si256,
        _mm256_permute2x128_si256, _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_setr_epi32,
        _mm256_shuffle_epi32, _mm256_storeu_si256,
    };

    /// Columns of a vector.
    pub(in crate::simd) const LANES: usize = 8;

    /// One compare-exchange stage: lanes set in `UP` keep the larger of themselves and their partner.
    macro_rules! stage {
        ($v:expr, $partner:expr, $up:literal) => {{
            let (v, p) = ($v, $partner);
            _mm256_blend_epi32::<$up>(min(v, p), max(v, p))
        }};
    }

    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    fn by1(v: __m256i) -> __m256i {
        _mm256_shuffle_epi32::<0b10_11_00_01>(v)
    }
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    fn by2(v: __m256i) -> __m256i {
        _mm256_shuffle_epi32::<0b01_00_11_10>(v)
    }
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    fn by4(v: __m256i) -> __m256i {
        _mm256_permute2x128_si256::<1>(v, v)
    }
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    fn reversed(v: __m256i) -> __m256i {
        _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0))
    }

    /// Sorts a bitonic vector.
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    fn merge1(v: __m256i) -> __m256i {
        let v = stage!(v, by4(v), 0xF0);
        let v = stage!(v, by2(v), 0xCC);
        stage!(v, by1(v), 0xAA)
    }

    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    pub(super) fn sort1(v: __m256i) -> __m256i {
        // Runs of 2 and 4 in alternating directions, then one bitonic merge.
        let v = stage!(v, by1(v), 0x66);
        let v = stage!(v, by2(v), 0x3C);
        let v = stage!(v, by1(v), 0x5A);
        merge1(v)
    }

    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    fn all(j: u32) -> __m256i {
        _mm256_set1_epi32(j as i32)
    }
    /// # Safety
    /// `from` must be valid for a vector.
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    unsafe fn load(from: *const u32) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }
    /// Writes the lanes of `x` that differ from their predecessor (the first lane's is the last of `before`) and from
    /// `last`; returns their number.
    /// # Safety
    /// `out` must be valid for a vector.
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    unsafe fn store_new(x: __m256i, before: __m256i, last: __m256i, out: *mut u32) -> usize {
        // Lane 7 of `before`, then lanes 0 … 6 of `x`.
        let turned = _mm256_permutevar8x32_epi32(
            _mm256_blend_epi32::<0x80>(x, before),
            _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6),
        );
        let skip = _mm256_or_si256(_mm256_cmpeq_epi32(x, turned), _mm256_cmpeq_epi32(x, last));
        let keep = !_mm256_movemask_ps(_mm256_castsi256_ps(skip)) as u8;
        // SAFETY: a row of the table has 8 bytes; the store is within `out` by the caller's promise.
        unsafe {
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(crate::simd::SET_BITS[usize::from(keep)].as_ptr().cast()));
            _mm256_storeu_si256(out.cast(), _mm256_permutevar8x32_epi32(x, lanes));
        }
        keep.count_ones() as usize
    }
    network!("avx2,popcnt", __m256i, 16);
}
