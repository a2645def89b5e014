//! The loops for AVX2: the eight sums of a row in two registers of doubles, or in one of floats.
//!
//! A row of up to eight entries has at most one product in each sum, and is added as scalars. Where very short rows
//! vary in length, a loop over rows mispredicts every other one: their products are computed in one loop over
//! entries, across rows, and each row is then folded from them without a branch.

use super::{PREFETCH_DISTANCE, Rows, SUMS, V3};
use crate::simd::prefetch_at;
use std::arch::x86_64::*;
use std::ops::{Add, Range};

/// Masks of the first t of eight: `MASKS[8 - t..]`.
static MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

/// Rows with fewer entries than this on average are short.
const SHORT: usize = 16;
/// Rows of varying lengths with fewer entries than this on average go by entries, other short rows by rows.
/// Milliseconds of two threads, by entries and by rows, for random lengths of means 3 and 5: 2¹⁴ rows 0.09 and 0.16,
/// 0.11 and 0.15 on a Xeon, 0.11 and 0.15, 0.13 and 0.16 on an EPYC with AVX2; 2¹⁸ rows 1.4 and 2.1, 2.5 and 2.4 on
/// the Xeon, 2.1 and 2.1, 3.4 and 2.7 on the EPYC. A grid of 10⁶ rows of five takes 3.8 and 2.5, 7.4 and 4.2.
const VERY_SHORT: usize = 5;
/// Rows from which on an array of products pays; the lengths of as many are sampled.
const SEVERAL: usize = 64;
/// Products computed at a time; they stay in the first-level cache.
const PRODUCTS: usize = 1024;

macro_rules! float {
    ($t:ty: $sums:ident $zero:ident $full:ident $rest:ident $two:ident; $store:ident $plus:ident $some:ident) => {
        impl V3 for $t {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
            unsafe fn v3(matrix: Rows<'_, u32, Self>, x: &[Self], rows: Range<usize>, y: &mut [Self]) {
                let Rows { row_ptr, columns, values } = matrix;
                // SAFETY: the rows exist.
                let entries = unsafe { *row_ptr.get_unchecked(rows.end) - *row_ptr.get_unchecked(rows.start) };
                if entries < VERY_SHORT * rows.len()
                    && rows.len() >= SEVERAL
                    && is_varied(&row_ptr[rows.start..][..=SEVERAL])
                {
                    // SAFETY: the caller's promise.
                    return unsafe { <$t>::by_entries(matrix, x, rows, y) };
                } else if entries < SHORT * rows.len() {
                    // SAFETY: the caller's promise.
                    return unsafe { <$t>::by_rows(matrix, x, rows, y) };
                }
                let (nnz, x) = (columns.len(), x.as_ptr());
                let row = |i: usize| -> $sums {
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
                        sums = unsafe { $full(sums, columns, values, x) };
                        (columns, values) = (columns.wrapping_add(SUMS), values.wrapping_add(SUMS));
                    }
                    let left = (end - start) % SUMS;
                    if left == 0 {
                        return sums;
                    }
                    if nnz - end >= SUMS {
                        // SAFETY: at least eight entries follow, whose columns are indices of x as well.
                        return unsafe { $rest(sums, left, columns, values, x) };
                    }
                    let (mut last, mut of_last) = ([0; SUMS], [0.0; SUMS]);
                    for t in 0..left {
                        // SAFETY: `left` entries of the row remain.
                        (last[t], of_last[t]) = unsafe { (*columns.add(t), *values.add(t)) };
                    }
                    // SAFETY: eight columns, those beyond the row's being 0; x is not empty, as the row is not.
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
        impl Short for $t {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
            unsafe fn by_rows(matrix: Rows<'_, u32, Self>, x: &[Self], rows: Range<usize>, y: &mut [Self]) {
                let Rows { row_ptr, columns, values } = matrix;
                let mut start = row_ptr[rows.start];
                for (&end, y) in row_ptr[rows.start + 1..].iter().zip(y) {
                    let (ks, of_ks) = (columns.as_ptr().wrapping_add(start), values.as_ptr().wrapping_add(start));
                    prefetch_at(ks.wrapping_add(PREFETCH_DISTANCE));
                    prefetch_at(of_ks.wrapping_add(PREFETCH_DISTANCE));
                    // SAFETY: it is called for entries of the row, whose columns are indices of x.
                    let product = |t: usize| unsafe { *of_ks.add(t) * *x.get_unchecked(*ks.add(t) as usize) };
                    let n = end - start;
                    *y = if n <= SUMS {
                        few(n, product)
                    } else {
                        // SAFETY: eight columns and values of the row exist; columns are indices of x.
                        let mut sums = unsafe { $full($zero(), ks, of_ks, x.as_ptr()) };
                        let mut t = SUMS;
                        while t + SUMS <= n {
                            prefetch_at(ks.wrapping_add(PREFETCH_DISTANCE + t));
                            prefetch_at(of_ks.wrapping_add(PREFETCH_DISTANCE + t));
                            // SAFETY: eight more exist.
                            sums = unsafe { $full(sums, ks.wrapping_add(t), of_ks.wrapping_add(t), x.as_ptr()) };
                            t += SUMS;
                        }
                        // SAFETY: both are eight numbers, in order.
                        let mut sums = unsafe { std::mem::transmute::<$sums, [Self; SUMS]>(sums) };
                        // The check of the bound keeps the compiler from a wide loop for at most seven products.
                        for s in 0..n - t {
                            sums[s] += product(t + s);
                        }
                        let [a, b, c, d, e, f, g, h] = sums;
                        ((a + b) + (c + d)) + ((e + f) + (g + h))
                    };
                    start = end;
                }
            }
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
            unsafe fn by_entries(matrix: Rows<'_, u32, Self>, x: &[Self], rows: Range<usize>, y: &mut [Self]) {
                let Rows { row_ptr, columns, values } = matrix;
                let mut products = [0.0; PRODUCTS + SUMS];
                let (mut i, mut y) = (rows.start, y);
                while i < rows.end {
                    // As many rows as fit the array of products; the number of empty rows is bounded by its size.
                    let start = row_ptr[i];
                    let next = &row_ptr[i + 1..=rows.end.min(i + PRODUCTS)];
                    let count = next.partition_point(|&end| end - start <= PRODUCTS);
                    if count == 0 {
                        let (of_row, others) = std::mem::take(&mut y).split_at_mut(1);
                        // SAFETY: the caller's promise, for one of the rows.
                        unsafe { <$t>::v3(matrix, x, i..i + 1, of_row) };
                        (i, y) = (i + 1, others);
                        continue;
                    }
                    let len = row_ptr[i + count] - start;
                    let (mut ks, mut of_ks) =
                        (columns.as_ptr().wrapping_add(start), values.as_ptr().wrapping_add(start));
                    let (eights, last) = products[..len].as_chunks_mut::<SUMS>();
                    for to in eights {
                        prefetch_at(ks.wrapping_add(PREFETCH_DISTANCE));
                        prefetch_at(of_ks.wrapping_add(PREFETCH_DISTANCE));
                        // SAFETY: eight more columns and values of these rows exist; columns are indices of x.
                        unsafe { $store(to, ks, of_ks, x.as_ptr()) };
                        (ks, of_ks) = (ks.wrapping_add(SUMS), of_ks.wrapping_add(SUMS));
                    }
                    for (t, to) in last.iter_mut().enumerate() {
                        // SAFETY: as above, for one entry.
                        *to = unsafe { *of_ks.add(t) * *x.get_unchecked(*ks.add(t) as usize) };
                    }
                    let row = |i: usize| -> $sums {
                        // SAFETY: the row exists.
                        let (from, end) = unsafe { (*row_ptr.get_unchecked(i), *row_ptr.get_unchecked(i + 1)) };
                        let mut of_row = products.as_ptr().wrapping_add(from - start);
                        let mut sums = $zero();
                        for _ in 0..(end - from) / SUMS {
                            // SAFETY: eight more products of the row exist.
                            sums = unsafe { $plus(sums, of_row) };
                            of_row = of_row.wrapping_add(SUMS);
                        }
                        // SAFETY: the array has eight more elements behind all products.
                        unsafe { $some(sums, (end - from) % SUMS, of_row) }
                    };
                    let (of_rows, others) = std::mem::take(&mut y).split_at_mut(count);
                    let (pairs, last) = of_rows.as_chunks_mut::<2>();
                    for (t, y) in pairs.iter_mut().enumerate() {
                        *y = $two(row(i + 2 * t), row(i + 2 * t + 1));
                    }
                    for y in last {
                        [*y, _] = $two(row(i + count - 1), $zero());
                    }
                    (i, y) = (i + count, others);
                }
            }
        }
    };
}
float!(f64: Doubles zero_f64 full_f64 rest_f64 two_f64; store_f64 plus_f64 some_f64);
float!(f32: __m256 _mm256_setzero_ps full_f32 rest_f32 two_f32; store_f32 plus_f32 some_f32);

/// Whether more than one row in eight has another length than the row before; `row_ptr` delimits the rows.
fn is_varied(row_ptr: &[usize]) -> bool {
    let changes = row_ptr.windows(3).filter(|ends| ends[1] - ends[0] != ends[2] - ends[1]).count();
    changes > row_ptr.len() / 8
}

/// A row of `n` products, at most eight. The other sums are 0. Adding 0 changes a sum only if it is −0, which adding
/// the first product to 0 excludes, so other additions of 0 are omitted.
#[inline(always)]
fn few<T: Copy + Default + Add<Output = T>>(n: usize, product: impl Fn(usize) -> T) -> T {
    let two = |t| product(t) + product(t + 1);
    let first = || T::default() + product(0);
    let four = || (first() + product(1)) + two(2);
    match n {
        0 => T::default(),
        1 => first(),
        2 => first() + product(1),
        3 => (first() + product(1)) + product(2),
        4 => four(),
        5 => four() + product(4),
        6 => four() + two(4),
        7 => four() + (two(4) + product(6)),
        _ => four() + (two(4) + two(6)),
    }
}

/// Loops for rows that are short on average.
trait Short: Sized {
    /// Rows of predictable lengths, or long enough to hide mispredictions.
    /// # Safety
    /// Those of [`V3::v3`].
    unsafe fn by_rows(matrix: Rows<'_, u32, Self>, x: &[Self], rows: Range<usize>, y: &mut [Self]);
    /// Very short rows of varying lengths.
    /// # Safety
    /// Those of [`V3::v3`].
    unsafe fn by_entries(matrix: Rows<'_, u32, Self>, x: &[Self], rows: Range<usize>, y: &mut [Self]);
}

/// Sums 0 to 3 and 4 to 7.
type Doubles = [__m256d; 2];

#[inline]
#[target_feature(enable = "avx2")]
fn zero_f64() -> Doubles {
    [_mm256_setzero_pd(); 2]
}

/// Four values of `x` by one load each: the processor's gather is slower.
/// # Safety
/// `ks` must be valid for four columns, which are indices of `x`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn four_f64(ks: *const u32, x: *const f64) -> __m256d {
    // SAFETY: the caller's promise.
    let at = |t: usize| unsafe { x.add(*ks.add(t) as usize) };
    // SAFETY: as above.
    let two = |t: usize| unsafe { _mm_loadh_pd(_mm_load_sd(at(t)), at(t + 1)) };
    _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(two(0)), two(2))
}

/// The products of four entries.
/// # Safety
/// Those of [`four_f64`]; `values` must be valid for four.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn products_f64(ks: *const u32, values: *const f64, x: *const f64) -> __m256d {
    // SAFETY: the caller's promise.
    unsafe { _mm256_mul_pd(_mm256_loadu_pd(values), four_f64(ks, x)) }
}

/// # Safety
/// Those of [`products_f64`], for eight.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn full_f64([low, high]: Doubles, ks: *const u32, values: *const f64, x: *const f64) -> Doubles {
    // SAFETY: the caller's promise.
    unsafe {
        [
            _mm256_add_pd(low, products_f64(ks, values, x)),
            _mm256_add_pd(high, products_f64(ks.add(4), values.add(4), x)),
        ]
    }
}

/// The same for the first `left` of eight entries, 1 to 7; the other sums do not change.
/// # Safety
/// Those of [`full_f64`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn rest_f64([low, high]: Doubles, left: usize, ks: *const u32, values: *const f64, x: *const f64) -> Doubles {
    // The mask of `t` of four lanes.
    let mask = |t: usize| {
        // SAFETY: four values from there on are masks.
        let of_four = unsafe { _mm_loadu_si128(MASKS.as_ptr().add(8 - t).cast()) };
        _mm256_castsi256_pd(_mm256_cvtepi32_epi64(of_four))
    };
    // SAFETY: the caller's promise.
    unsafe {
        let some = |sums, t, q| {
            _mm256_blendv_pd(sums, _mm256_add_pd(sums, products_f64(ks.add(q), values.add(q), x)), mask(t))
        };
        [some(low, left.min(4), 0), if left > 4 { some(high, left - 4, 4) } else { high }]
    }
}

/// # Safety
/// Those of [`full_f64`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_f64(to: &mut [f64; SUMS], ks: *const u32, values: *const f64, x: *const f64) {
    let to = to.as_mut_ptr();
    // SAFETY: the caller's promise; `to` has room for eight.
    unsafe {
        _mm256_storeu_pd(to, products_f64(ks, values, x));
        _mm256_storeu_pd(to.add(4), products_f64(ks.add(4), values.add(4), x));
    }
}

/// # Safety
/// `products` must be valid for eight.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn plus_f64([low, high]: Doubles, products: *const f64) -> Doubles {
    // SAFETY: the caller's promise.
    unsafe { [_mm256_add_pd(low, _mm256_loadu_pd(products)), _mm256_add_pd(high, _mm256_loadu_pd(products.add(4)))] }
}

/// Adds the first `left` of eight products, 0 to 7. Other sums get 0 added, which does not change them: none of them is
/// −0.
/// # Safety
/// Those of [`plus_f64`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn some_f64([low, high]: Doubles, left: usize, products: *const f64) -> Doubles {
    // SAFETY: eight values from there on are masks; the rest is the caller's promise.
    unsafe {
        let masks = _mm256_loadu_si256(MASKS.as_ptr().add(8 - left).cast());
        let first = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(masks));
        let second = _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(masks));
        let some = |masks, from| _mm256_and_pd(_mm256_castsi256_pd(masks), _mm256_loadu_pd(from));
        [_mm256_add_pd(low, some(first, products)), _mm256_add_pd(high, some(second, products.add(4)))]
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
/// `ks` and `values` must be valid for eight; columns are indices of `x`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn products_f32(ks: *const u32, values: *const f32, x: *const f32) -> __m256 {
    // SAFETY: the caller's promise.
    let at = |t: usize| unsafe { _mm_load_ss(x.add(*ks.add(t) as usize)) };
    let two = |t: usize| _mm_unpacklo_ps(at(t), at(t + 1));
    let four = |t: usize| _mm_movelh_ps(two(t), two(t + 2));
    let eight = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(four(0)), four(4));
    // SAFETY: the caller's promise.
    unsafe { _mm256_mul_ps(_mm256_loadu_ps(values), eight) }
}

/// # Safety
/// Those of [`products_f32`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn full_f32(sums: __m256, ks: *const u32, values: *const f32, x: *const f32) -> __m256 {
    // SAFETY: the caller's promise.
    unsafe { _mm256_add_ps(sums, products_f32(ks, values, x)) }
}

/// The same for the first `left` of eight entries, 1 to 7; the other sums do not change.
/// # Safety
/// Those of [`products_f32`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn rest_f32(sums: __m256, left: usize, ks: *const u32, values: *const f32, x: *const f32) -> __m256 {
    // SAFETY: eight values from there on are masks; the rest is the caller's promise.
    unsafe {
        let mask = _mm256_loadu_si256(MASKS.as_ptr().add(8 - left).cast());
        let added = _mm256_add_ps(sums, products_f32(ks, values, x));
        _mm256_blendv_ps(sums, added, _mm256_castsi256_ps(mask))
    }
}

/// # Safety
/// Those of [`products_f32`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_f32(to: &mut [f32; SUMS], ks: *const u32, values: *const f32, x: *const f32) {
    // SAFETY: the caller's promise; `to` has room for eight.
    unsafe { _mm256_storeu_ps(to.as_mut_ptr(), products_f32(ks, values, x)) }
}

/// # Safety
/// `products` must be valid for eight.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn plus_f32(sums: __m256, products: *const f32) -> __m256 {
    // SAFETY: the caller's promise.
    unsafe { _mm256_add_ps(sums, _mm256_loadu_ps(products)) }
}

/// Like [`some_f64`].
/// # Safety
/// Those of [`plus_f32`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn some_f32(sums: __m256, left: usize, products: *const f32) -> __m256 {
    // SAFETY: eight values from there on are masks; the rest is the caller's promise.
    unsafe {
        let masks = _mm256_castsi256_ps(_mm256_loadu_si256(MASKS.as_ptr().add(8 - left).cast()));
        _mm256_add_ps(sums, _mm256_and_ps(masks, _mm256_loadu_ps(products)))
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
