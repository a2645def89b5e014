//! The loop for AVX-512.

use super::{PREFETCH_DISTANCE, Rows, SUMS, V4};
use crate::simd::prefetch_at;
use std::arch::x86_64::*;
use std::ops::Range;

macro_rules! float {
    ($t:ty, $vector:ty: $eight:ident $zero:ident $add:ident $mask_add:ident $mul:ident $load:ident $maskz_load:ident
     $gather:ident, $mask_gather:expr, $store:ident) => {
        impl V4 for $t {
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2")]
            unsafe fn v4<const GATHERS: bool>(
                matrix: Rows<'_, u32, Self>,
                x: &[Self],
                rows: Range<usize>,
                y: &mut [Self],
            ) {
                let Rows { row_ptr, columns, values } = matrix;
                let nnz = columns.len();
                let row = |i: usize| {
                    // SAFETY: the row exists.
                    let (start, end) = unsafe { (*row_ptr.get_unchecked(i), *row_ptr.get_unchecked(i + 1)) };
                    let (mut columns, mut values) =
                        (columns.as_ptr().wrapping_add(start), values.as_ptr().wrapping_add(start));
                    prefetch_at(columns.wrapping_add(PREFETCH_DISTANCE));
                    prefetch_at(values.wrapping_add(PREFETCH_DISTANCE));
                    let mut sums = $zero();
                    for _ in 0..(end - start) / SUMS {
                        prefetch_at(columns.wrapping_add(PREFETCH_DISTANCE));
                        prefetch_at(values.wrapping_add(PREFETCH_DISTANCE));
                        // SAFETY: eight more columns and values of the row exist; columns are indices of x.
                        let products = unsafe {
                            let at_columns = if GATHERS {
                                ($mask_gather)(0xFF, _mm256_loadu_si256(columns.cast()), x.as_ptr())
                            } else {
                                $gather(columns, x.as_ptr())
                            };
                            $mul($load(values), at_columns)
                        };
                        sums = $add(sums, products);
                        (columns, values) = (columns.wrapping_add(SUMS), values.wrapping_add(SUMS));
                    }
                    // No branch on the remainder: it varies between rows.
                    let mask = ((1u32 << ((end - start) % SUMS)) - 1) as __mmask8;
                    let products = if !GATHERS && nnz - end >= SUMS {
                        // SAFETY: at least eight entries follow, whose columns are indices of x as well.
                        unsafe { $mul($load(values), $gather(columns, x.as_ptr())) }
                    } else {
                        // SAFETY: the mask selects only the remaining entries of the row.
                        unsafe {
                            let ks = _mm256_maskz_loadu_epi32(mask, columns.cast());
                            $mul($maskz_load(mask, values), ($mask_gather)(mask, ks, x.as_ptr()))
                        }
                    };
                    $mask_add(sums, mask, sums, products)
                };
                let mut i = rows.start;
                let (eights, last) = y.as_chunks_mut::<8>();
                for y in eights {
                    let sums = $eight([
                        row(i),
                        row(i + 1),
                        row(i + 2),
                        row(i + 3),
                        row(i + 4),
                        row(i + 5),
                        row(i + 6),
                        row(i + 7),
                    ]);
                    // SAFETY: `y` has eight values.
                    unsafe { $store(y.as_mut_ptr(), sums) };
                    i += 8;
                }
                for y in last {
                    let mut sums = [0.0; 8];
                    // SAFETY: `sums` has eight values.
                    unsafe {
                        $store(
                            sums.as_mut_ptr(),
                            $eight([row(i), $zero(), $zero(), $zero(), $zero(), $zero(), $zero(), $zero()]),
                        )
                    };
                    *y = sums[0];
                    i += 1;
                }
            }
        }
    };
}
float!(f64, __m512d: eight_f64 _mm512_setzero_pd _mm512_add_pd _mm512_mask_add_pd _mm512_mul_pd _mm512_loadu_pd
    _mm512_maskz_loadu_pd
    gather_f64,
    |mask, ks, x| _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), mask, ks, x), _mm512_storeu_pd);
float!(f32, __m256: eight_f32 _mm256_setzero_ps _mm256_add_ps _mm256_mask_add_ps _mm256_mul_ps _mm256_loadu_ps
    _mm256_maskz_loadu_ps gather_f32,
    |mask, ks, x| _mm256_mmask_i32gather_ps::<4>(_mm256_setzero_ps(), mask, ks, x), _mm256_storeu_ps);

/// Eight values of `x` by one load each.
/// # Safety
/// `ks` must be valid for eight columns, which are indices of `x`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn gather_f64(ks: *const u32, x: *const f64) -> __m512d {
    // SAFETY: the caller's promise.
    let at = |t: usize| unsafe { x.add(*ks.add(t) as usize) };
    // SAFETY: as above.
    let two = |t: usize| unsafe { _mm_loadh_pd(_mm_load_sd(at(t)), at(t + 1)) };
    let four = |t: usize| _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(two(t)), two(t + 2));
    _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(four(0)), four(4))
}

/// The same for f32.
/// # Safety
/// Those of [`gather_f64`].
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn gather_f32(ks: *const u32, x: *const f32) -> __m256 {
    // SAFETY: the caller's promise.
    let at = |t: usize| unsafe { _mm_load_ss(x.add(*ks.add(t) as usize)) };
    let two = |t: usize| _mm_unpacklo_ps(at(t), at(t + 1));
    let four = |t: usize| _mm_movelh_ps(two(t), two(t + 2));
    _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(four(0)), four(4))
}

/// The sums of eight vectors, adding adjacent lanes first.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn eight_f64(rows: [__m512d; 8]) -> __m512d {
    let pairs = |a, b| _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
    // Adds the even and the odd quarters of two vectors.
    let quarters =
        |a, b| _mm512_add_pd(_mm512_shuffle_f64x2::<0b10_00_10_00>(a, b), _mm512_shuffle_f64x2::<0b11_01_11_01>(a, b));
    let [a, b, c, d, e, f, g, h] = rows;
    quarters(quarters(pairs(a, b), pairs(c, d)), quarters(pairs(e, f), pairs(g, h)))
}

/// The same for f32.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn eight_f32(rows: [__m256; 8]) -> __m256 {
    let [a, b, c, d, e, f, g, h] = rows;
    let low = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    let high = _mm256_hadd_ps(_mm256_hadd_ps(e, f), _mm256_hadd_ps(g, h));
    _mm256_add_ps(_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high))
}
