//! The loop for AVX2: the eight sums of a row in two registers of doubles, or in one of floats.

use super::{AHEAD, Rows, SUMS, V3};
use crate::simd::prefetch_at;
use std::arch::x86_64::*;
use std::ops::Range;

/// Masks of the first t of eight: `MASKS[8 - t..]`.
static MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

macro_rules! float {
    ($t:ty: $sums:ident $zero:ident $full:ident $rest:ident $two:ident) => {
        impl V3 for $t {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
            unsafe fn v3(matrix: Rows<'_, u32, Self>, x: &[Self], rows: Range<usize>, y: &mut [Self]) {
                let Rows { row_ptr, columns, values } = matrix;
                let (nnz, x) = (columns.len(), x.as_ptr());
                let row = |i: usize| -> $sums {
                    // SAFETY: there is such a row.
                    let (start, end) = unsafe { (*row_ptr.get_unchecked(i), *row_ptr.get_unchecked(i + 1)) };
                    let (mut columns, mut values) =
                        (columns.as_ptr().wrapping_add(start), values.as_ptr().wrapping_add(start));
                    prefetch_at(columns.wrapping_add(AHEAD));
                    prefetch_at(values.wrapping_add(AHEAD));
                    let mut sums = $zero();
                    for _ in 0..(end - start) / SUMS {
                        prefetch_at(columns.wrapping_add(AHEAD));
                        prefetch_at(values.wrapping_add(AHEAD));
                        // SAFETY: eight more columns and values of the row are there; columns lead into x.
                        sums = unsafe { $full(sums, columns, values, x) };
                        (columns, values) = (columns.wrapping_add(SUMS), values.wrapping_add(SUMS));
                    }
                    let left = (end - start) % SUMS;
                    if left == 0 {
                        return sums;
                    }
                    if nnz - end >= SUMS {
                        // SAFETY: so many entries come behind the row, whose columns lead into x as well.
                        return unsafe { $rest(sums, left, columns, values, x) };
                    }
                    let (mut last, mut of_last) = ([0; SUMS], [0.0; SUMS]);
                    for t in 0..left {
                        // SAFETY: so many are left of the row.
                        (last[t], of_last[t]) = unsafe { (*columns.add(t), *values.add(t)) };
                    }
                    // SAFETY: eight columns, of which those beside the row's are 0; x has a value, as the row has.
                    unsafe { $rest(sums, left, last.as_ptr(), of_last.as_ptr(), x) }
                };
                let (mut i, (pairs, last)) = (rows.start, y.as_chunks_mut::<2>());
                for y in pairs {
                    *y = $two(row(i), row(i + 1));
                    i += 2;
                }
                for y in last {
                    [*y, _] = $two(row(i), $zero());
                }
            }
        }
    };
}
float!(f64: Doubles zero_f64 full_f64 rest_f64 two_f64);
float!(f32: __m256 _mm256_setzero_ps full_f32 rest_f32 two_f32);

/// Sums 0 to 3 and 4 to 7.
type Doubles = [__m256d; 2];

#[inline]
#[target_feature(enable = "avx2")]
fn zero_f64() -> Doubles {
    [_mm256_setzero_pd(); 2]
}

/// Four of `x` by one load each: the processor's gather is slower.
/// # Safety
/// `ks` be valid for four columns, which lead into `x`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn four_f64(ks: *const u32, x: *const f64) -> __m256d {
    // SAFETY: the caller's.
    let at = |t: usize| unsafe { x.add(*ks.add(t) as usize) };
    // SAFETY: as above.
    let two = |t: usize| unsafe { _mm_loadh_pd(_mm_load_sd(at(t)), at(t + 1)) };
    _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(two(0)), two(2))
}

/// The products of four entries.
/// # Safety
/// As for [`four_f64`]; `values` be valid for four.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn products_f64(ks: *const u32, values: *const f64, x: *const f64) -> __m256d {
    // SAFETY: the caller's.
    unsafe { _mm256_mul_pd(_mm256_loadu_pd(values), four_f64(ks, x)) }
}

/// # Safety
/// As for [`products_f64`], of eight.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn full_f64([low, high]: Doubles, ks: *const u32, values: *const f64, x: *const f64) -> Doubles {
    // SAFETY: the caller's.
    unsafe {
        [
            _mm256_add_pd(low, products_f64(ks, values, x)),
            _mm256_add_pd(high, products_f64(ks.add(4), values.add(4), x)),
        ]
    }
}

/// The same for the first `left` of eight entries, 1 to 7; other sums stay.
/// # Safety
/// As for [`full_f64`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn rest_f64([low, high]: Doubles, left: usize, ks: *const u32, values: *const f64, x: *const f64) -> Doubles {
    // Of `t` of four.
    let mask = |t: usize| {
        // SAFETY: 4 to 8 values from there on are masks.
        let of_four = unsafe { _mm_loadu_si128(MASKS.as_ptr().add(8 - t).cast()) };
        _mm256_castsi256_pd(_mm256_cvtepi32_epi64(of_four))
    };
    // SAFETY: the caller's.
    unsafe {
        let some = |sums, t, q| {
            _mm256_blendv_pd(sums, _mm256_add_pd(sums, products_f64(ks.add(q), values.add(q), x)), mask(t))
        };
        [some(low, left.min(4), 0), if left > 4 { some(high, left - 4, 4) } else { high }]
    }
}

/// The sums of two rows.
#[inline]
#[target_feature(enable = "avx2")]
fn two_f64(a: Doubles, b: Doubles) -> [f64; 2] {
    let one = |[low, high]: Doubles| {
        // s₀ + s₁, s₄ + s₅, s₂ + s₃, s₆ + s₇.
        let pairs = _mm256_hadd_pd(low, high);
        _mm_add_pd(_mm256_castpd256_pd128(pairs), _mm256_extractf128_pd::<1>(pairs))
    };
    let sums = _mm_hadd_pd(one(a), one(b));
    [_mm_cvtsd_f64(sums), _mm_cvtsd_f64(_mm_unpackhi_pd(sums, sums))]
}

/// The products of eight entries.
/// # Safety
/// `ks` and `values` be valid for eight; columns lead into `x`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn products_f32(ks: *const u32, values: *const f32, x: *const f32) -> __m256 {
    // SAFETY: the caller's.
    let at = |t: usize| unsafe { _mm_load_ss(x.add(*ks.add(t) as usize)) };
    let two = |t: usize| _mm_unpacklo_ps(at(t), at(t + 1));
    let four = |t: usize| _mm_movelh_ps(two(t), two(t + 2));
    let eight = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(four(0)), four(4));
    // SAFETY: the caller's.
    unsafe { _mm256_mul_ps(_mm256_loadu_ps(values), eight) }
}

/// # Safety
/// As for [`products_f32`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn full_f32(sums: __m256, ks: *const u32, values: *const f32, x: *const f32) -> __m256 {
    // SAFETY: the caller's.
    unsafe { _mm256_add_ps(sums, products_f32(ks, values, x)) }
}

/// The same for the first `left` of eight entries, 1 to 7; other sums stay.
/// # Safety
/// As for [`products_f32`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn rest_f32(sums: __m256, left: usize, ks: *const u32, values: *const f32, x: *const f32) -> __m256 {
    // SAFETY: eight values from there on are masks; the rest is the caller's.
    unsafe {
        let mask = _mm256_loadu_si256(MASKS.as_ptr().add(8 - left).cast());
        let added = _mm256_add_ps(sums, products_f32(ks, values, x));
        _mm256_blendv_ps(sums, added, _mm256_castsi256_ps(mask))
    }
}

/// The sums of two rows.
#[inline]
#[target_feature(enable = "avx2")]
fn two_f32(a: __m256, b: __m256) -> [f32; 2] {
    let one = |sums| {
        // s₀ + s₁, s₂ + s₃ and s₄ + s₅, s₆ + s₇, each twice.
        let pairs = _mm256_hadd_ps(sums, sums);
        let fours = _mm256_hadd_ps(pairs, pairs);
        _mm_add_ss(_mm256_castps256_ps128(fours), _mm256_extractf128_ps::<1>(fours))
    };
    [_mm_cvtss_f32(one(a)), _mm_cvtss_f32(one(b))]
}
