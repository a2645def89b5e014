//! The loops for AVX2 and AVX-512: up to eight sums of a row in registers while its entries are read.

use std::arch::x86_64::*;
use std::ops::Range;

/// Some rows of Y, or some columns of one row.
pub(crate) struct Task<'a, T> {
    pub(super) row_ptr: &'a [usize],
    pub(super) columns: &'a [u32],
    pub(super) values: &'a [T],
    pub(super) x: &'a [T],
    /// Columns of X and of Y.
    pub(super) n: usize,
    pub(super) rows: Range<usize>,
    /// The columns of Y to compute.
    pub(super) part: Range<usize>,
    /// The first value to compute; the next row is at distance `n`.
    pub(super) y: *mut T,
    /// Whether rows of X are prefetched.
    pub(super) prefetch: bool,
    /// Whether Y is written with non-temporal stores.
    pub(super) stream: bool,
}

/// f32 or f64.
pub(crate) trait Loops: Sized {
    /// The loop of AVX2.
    /// # Safety
    /// The processor has AVX2. `row_ptr` has the rows and delimits existing columns and values; the columns are rows of
    /// X, which has `n` columns. `part` is within `0..n`, and all of it for several rows; `y` points to memory for
    /// these values, which nobody else uses. With `stream`, rows are a multiple of 64 bytes, and `y` starts at a
    /// multiple of 16 bytes.
    unsafe fn v3(task: &Task<'_, Self>);
    /// The loop of AVX-512.
    /// # Safety
    /// Those of [`v3`](Self::v3), with AVX-512.
    unsafe fn v4(task: &Task<'_, Self>);
}

/// A vector of values.
trait Lanes: Copy {
    type T: Copy;
    type Mask: Copy;
    const LANES: usize;
    /// The first `n` lanes.
    unsafe fn mask(n: usize) -> Self::Mask;
    /// Masks of the first of `n` registers, from its lane `first` on, and of the last, up to its lane `last`.
    #[inline(always)]
    unsafe fn masks(n: usize, first: usize, last: usize) -> (Self::Mask, Self::Mask) {
        // SAFETY: the caller's promise.
        unsafe { (Self::without(Self::mask(if n == 1 { last } else { Self::LANES }), first), Self::mask(last)) }
    }
    /// The mask without the first `n` lanes; n = 0 except for registers as wide as a cache line.
    unsafe fn without(mask: Self::Mask, n: usize) -> Self::Mask;
    unsafe fn zero() -> Self;
    unsafe fn splat(a: Self::T) -> Self;
    /// `self + a·x`, the product rounded.
    unsafe fn add_product(self, a: Self, x: *const Self::T) -> Self;
    unsafe fn add_product_masked(self, a: Self, x: *const Self::T, mask: Self::Mask) -> Self;
    unsafe fn store(self, y: *mut Self::T);
    unsafe fn store_masked(self, y: *mut Self::T, mask: Self::Mask);
    /// A non-temporal store, at a multiple of 16 bytes, for AVX2 registers; others store like [`store`](Self::store).
    unsafe fn stream(self, y: *mut Self::T);
}

/// Implements [`Lanes`] for a register type, from its instructions and masks.
macro_rules! lanes {
    ($v:ty, $t:ty, $lanes:literal, $mask:ty: $first:expr, $without:expr;
     $zero:ident $set1:ident $add:ident $mul:ident $load:ident $store:ident;
     $load_masked:expr; $store_masked:expr; $stream:expr) => {
        // Not every instance needs it.
        #[allow(unused_unsafe)]
        impl Lanes for $v {
            type T = $t;
            type Mask = $mask;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn mask(n: usize) -> $mask {
                // SAFETY: the caller's promise: the processor has the instructions.
                unsafe { ($first)(n) }
            }
            #[inline(always)]
            unsafe fn without(mask: $mask, n: usize) -> $mask {
                ($without)(mask, n)
            }
            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: as above.
                unsafe { $zero() }
            }
            #[inline(always)]
            unsafe fn splat(a: $t) -> Self {
                // SAFETY: as above.
                unsafe { $set1(a) }
            }
            #[inline(always)]
            unsafe fn add_product(self, a: Self, x: *const $t) -> Self {
                // SAFETY: as above; the caller promises that many values.
                unsafe { $add(self, $mul(a, $load(x.cast()))) }
            }
            #[inline(always)]
            unsafe fn add_product_masked(self, a: Self, x: *const $t, mask: $mask) -> Self {
                // SAFETY: as above.
                unsafe { $add(self, $mul(a, ($load_masked)(x, mask))) }
            }
            #[inline(always)]
            unsafe fn store(self, y: *mut $t) {
                // SAFETY: as above.
                unsafe { $store(y.cast(), self) }
            }
            #[inline(always)]
            unsafe fn store_masked(self, y: *mut $t, mask: $mask) {
                // SAFETY: as above.
                unsafe { ($store_masked)(y, mask, self) }
            }
            #[inline(always)]
            unsafe fn stream(self, y: *mut $t) {
                // SAFETY: as above.
                unsafe { ($stream)(y, self) }
            }
        }
    };
}

lanes!(__m512d, f64, 8, __mmask8: |n| ((1u32 << n) - 1) as u8, |mask, n| mask & (u8::MAX << n);
_mm512_setzero_pd _mm512_set1_pd _mm512_add_pd _mm512_mul_pd _mm512_loadu_pd _mm512_storeu_pd;
|x, mask| _mm512_maskz_loadu_pd(mask, x); |y, mask, s| _mm512_mask_storeu_pd(y, mask, s);
|y, s| _mm512_storeu_pd(y, s));
lanes!(__m512, f32, 16, __mmask16: |n| ((1u32 << n) - 1) as u16, |mask, n| mask & (u16::MAX << n);
_mm512_setzero_ps _mm512_set1_ps _mm512_add_ps _mm512_mul_ps _mm512_loadu_ps _mm512_storeu_ps;
|x, mask| _mm512_maskz_loadu_ps(mask, x); |y, mask, s| _mm512_mask_storeu_ps(y, mask, s);
|y, s| _mm512_storeu_ps(y, s));
lanes!(__m256d, f64, 4, __m256i: |n: usize| _mm256_loadu_si256(MASKS.as_ptr().add(8 - 2 * n).cast()), |mask, _| mask;
_mm256_setzero_pd _mm256_set1_pd _mm256_add_pd _mm256_mul_pd _mm256_loadu_pd _mm256_storeu_pd;
|x, mask| _mm256_maskload_pd(x, mask); |y, mask, s| _mm256_maskstore_pd(y, mask, s);
|y: *mut f64, s| {
    _mm_stream_pd(y, _mm256_castpd256_pd128(s));
    _mm_stream_pd(y.add(2), _mm256_extractf128_pd::<1>(s));
});
lanes!(__m256, f32, 8, __m256i: |n: usize| _mm256_loadu_si256(MASKS.as_ptr().add(8 - n).cast()), |mask, _| mask;
_mm256_setzero_ps _mm256_set1_ps _mm256_add_ps _mm256_mul_ps _mm256_loadu_ps _mm256_storeu_ps;
|x, mask| _mm256_maskload_ps(x, mask); |y, mask, s| _mm256_maskstore_ps(y, mask, s);
|y: *mut f32, s| {
    _mm_stream_ps(y, _mm256_castps256_ps128(s));
    _mm_stream_ps(y.add(4), _mm256_extractf128_ps::<1>(s));
});
lanes!(__m128d, f64, 2, (): |_| (), |(), _| ();
_mm_setzero_pd _mm_set1_pd _mm_add_pd _mm_mul_pd _mm_loadu_pd _mm_storeu_pd;
    |x, ()| _mm_loadu_pd(x); |y, (), s| _mm_storeu_pd(y, s); |y, s| _mm_storeu_pd(y, s));
lanes!(__m128, f32, 4, __m128i: |n: usize| _mm_loadu_si128(MASKS.as_ptr().add(8 - n).cast()), |mask, _| mask;
    _mm_setzero_ps _mm_set1_ps _mm_add_ps _mm_mul_ps _mm_loadu_ps _mm_storeu_ps;
    |x, mask| _mm_maskload_ps(x, mask); |y, mask, s| _mm_maskstore_ps(y, mask, s); |y, s| _mm_storeu_ps(y, s));
lanes!(f64, f64, 1, (): |_| (), |(), _| (); zero itself plus times read write;
    |x: *const f64, ()| *x; |y: *mut f64, (), s| *y = s; |y: *mut f64, s| *y = s);
lanes!(f32, f32, 1, (): |_| (), |(), _| (); zero itself plus times read write;
    |x: *const f32, ()| *x; |y: *mut f32, (), s| *y = s; |y: *mut f32, s| *y = s);

#[inline(always)]
fn zero<T: Default>() -> T {
    T::default()
}
#[inline(always)]
fn itself<T>(x: T) -> T {
    x
}
#[inline(always)]
fn plus<T: std::ops::Add<Output = T>>(x: T, y: T) -> T {
    x + y
}
#[inline(always)]
fn times<T: std::ops::Mul<Output = T>>(x: T, y: T) -> T {
    x * y
}
/// # Safety
/// `x` points to a value.
#[inline(always)]
unsafe fn read<T: Copy>(x: *const T) -> T {
    // SAFETY: the caller's promise.
    unsafe { *x }
}
/// # Safety
/// `y` has room for the value.
#[inline(always)]
unsafe fn write<T: Copy>(y: *mut T, x: T) {
    // SAFETY: the caller's promise.
    unsafe { *y = x }
}

/// Masks of the first t of eight: `MASKS[8 - t..]`.
static MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

/// Prefetch distance for rows of X, in entries.
const PREFETCH_DISTANCE: usize = 16;
/// Prefetch distance for entries, once per row: the hardware prefetcher stops at page boundaries.
const ENTRY_PREFETCH_DISTANCE: usize = 384;

macro_rules! loops {
    ($t:ty: $v3:ty, $v4:ty; $($width:pat => $narrow:ty),+; $($width4:pat => $narrow4:ty),+) => {
        impl Loops for $t {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
            unsafe fn v3(task: &Task<'_, Self>) {
                // SAFETY: the caller's promise.
                unsafe {
                    match task.part.len() {
                        $($width => narrow::<$narrow>(task),)+
                        _ => wide::<$v3>(task),
                    }
                    if task.stream {
                        _mm_sfence();
                    }
                }
            }
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
            unsafe fn v4(task: &Task<'_, Self>) {
                // SAFETY: the caller's promise.
                unsafe {
                    match task.part.len() {
                        $($width4 => narrow::<$narrow4>(task),)+
                        // A half register crosses a line boundary half as often.
                        n if n == <$v4>::LANES && !task.x.as_ptr().addr().is_multiple_of(64) => {
                            columns::<$v3, 2, true, false>(task, task.rows.clone(), 0, (0, <$v3>::LANES));
                        }
                        // Streamed rows are split at the lines of Y rather than those of X.
                        _ if task.stream => Self::v3(task),
                        // Rows of whole half-lines that are not whole lines, or that start in the middle of a line.
                        n if n.is_multiple_of(<$v3>::LANES)
                            && n <= 4 * <$v4>::LANES
                            && (n % <$v4>::LANES > 0 || task.x.as_ptr().addr() % 64 == 32) =>
                        {
                            Self::v3(task);
                        }
                        _ => wide::<$v4>(task),
                    }
                    if task.stream {
                        _mm_sfence();
                    }
                }
            }
        }
    };
}
loops!(f64: __m256d, __m512d; 1 => f64, 2 => __m128d; 1 => f64, 2 => __m128d, 3..=4 => __m256d);
loops!(f32: __m256, __m512; 1 => f32, 2..=4 => __m128; 1 => f32, 2..=4 => __m128, 5..=8 => __m256);

/// At most one register of columns.
/// # Safety
/// As [`Loops::v3`].
#[inline(always)]
unsafe fn narrow<V: Lanes>(task: &Task<'_, V::T>) {
    let rows = task.rows.clone();
    // SAFETY: the caller's promise.
    unsafe {
        if task.part.len() == V::LANES {
            columns::<V, 1, true, false>(task, rows, 0, (0, V::LANES));
        } else {
            columns::<V, 1, false, false>(task, rows, 0, (0, task.part.len()));
        }
    }
}

/// Any number of columns.
/// # Safety
/// As [`Loops::v3`].
#[inline(always)]
unsafe fn wide<V: Lanes>(task: &Task<'_, V::T>) {
    // SAFETY: the caller's promise.
    unsafe {
        if task.prefetch && task.part.len() > V::LANES {
            all_columns::<V, true>(task);
        } else {
            all_columns::<V, false>(task);
        }
    }
}

/// # Safety
/// As [`Loops::v3`].
#[inline(always)]
unsafe fn all_columns<V: Lanes, const PREFETCH: bool>(task: &Task<'_, V::T>) {
    let (n, bytes) = (task.part.len(), V::LANES * size_of::<V::T>());
    // Lanes of the first register before the part, so that each register is one cache line.
    let off = if bytes == 64 && task.n.is_multiple_of(V::LANES) {
        (task.x.as_ptr().addr() / size_of::<V::T>() + task.part.start) % V::LANES
    } else {
        0
    };
    let registers = (off + n).div_ceil(V::LANES);
    let last = (off + n - 1) % V::LANES + 1;
    // Columns that do not fit the registers at once are computed row by row: a row of X then stays in the cache.
    let at_once = if matches!(registers, 1..=6 | 8 | 9) { task.rows.len() } else { 1 };
    let mut start = task.rows.start;
    while start < task.rows.end {
        let rows = start..start + at_once;
        start = rows.end;
        let mut v = 0;
        // SAFETY: the caller's promise; the registers from v on belong to `part`.
        unsafe {
            if off > 0 {
                while v < registers {
                    let left = registers - v;
                    let lanes =
                        |count: usize| (if v == 0 { off } else { 0 }, if left == count { last } else { V::LANES });
                    let at = (v * V::LANES) as isize - off as isize;
                    v += match left {
                        9 => columns::<V, 9, false, PREFETCH>(task, rows.clone(), at, lanes(9)),
                        8.. => columns::<V, 8, false, PREFETCH>(task, rows.clone(), at, lanes(8)),
                        5 => columns::<V, 5, false, PREFETCH>(task, rows.clone(), at, lanes(5)),
                        4.. => columns::<V, 4, false, PREFETCH>(task, rows.clone(), at, lanes(4)),
                        3 => columns::<V, 3, false, PREFETCH>(task, rows.clone(), at, lanes(3)),
                        2 => columns::<V, 2, false, PREFETCH>(task, rows.clone(), at, lanes(2)),
                        _ => columns::<V, 1, false, PREFETCH>(task, rows.clone(), at, lanes(1)),
                    };
                }
                continue;
            }
            while v < registers {
                let left = registers - v;
                let at = (v * V::LANES) as isize;
                let whole = last == V::LANES;
                let lanes = (0, last);
                let all = (0, V::LANES);
                v += match left {
                    9.. => columns::<V, 8, true, PREFETCH>(task, rows.clone(), at, all),
                    8 if whole => columns::<V, 8, true, PREFETCH>(task, rows.clone(), at, all),
                    6 if whole => columns::<V, 6, true, PREFETCH>(task, rows.clone(), at, all),
                    5 if whole => columns::<V, 5, true, PREFETCH>(task, rows.clone(), at, all),
                    5.. => columns::<V, 4, true, PREFETCH>(task, rows.clone(), at, all),
                    4 if whole => columns::<V, 4, true, PREFETCH>(task, rows.clone(), at, lanes),
                    3 if whole => columns::<V, 3, true, PREFETCH>(task, rows.clone(), at, lanes),
                    2 if whole => columns::<V, 2, true, PREFETCH>(task, rows.clone(), at, lanes),
                    1 if whole => columns::<V, 1, true, PREFETCH>(task, rows.clone(), at, lanes),
                    4 => columns::<V, 4, false, PREFETCH>(task, rows.clone(), at, lanes),
                    3 => columns::<V, 3, false, PREFETCH>(task, rows.clone(), at, lanes),
                    2 => columns::<V, 2, false, PREFETCH>(task, rows.clone(), at, lanes),
                    _ => columns::<V, 1, false, PREFETCH>(task, rows.clone(), at, lanes),
                };
            }
        }
    }
}

/// `N` registers of columns from `part.start + at` on: all their lanes if `FULL`, else from lane `first` of the first
/// register to lane `last` of the last. Returns `N`.
/// # Safety
/// Those of [`Loops::v3`], for rows of the task.
#[inline(always)]
unsafe fn columns<V: Lanes, const N: usize, const FULL: bool, const PREFETCH: bool>(
    task: &Task<'_, V::T>,
    rows: Range<usize>,
    at: isize,
    (first, last): (usize, usize),
) -> usize {
    let (n, nnz) = (task.n, task.columns.len());
    let x = task.x.as_ptr().wrapping_add(task.part.start).wrapping_offset(at);
    let mut y = task.y.wrapping_add((rows.start - task.rows.start) * n).wrapping_offset(at);
    // SAFETY: the caller's promise: the processor has the instructions; rows, entries, and values of X and Y exist.
    unsafe {
        let masks = V::masks(N, first, last);
        let mut entry = *task.row_ptr.get_unchecked(rows.start);
        for i in rows {
            let end = *task.row_ptr.get_unchecked(i + 1);
            _mm_prefetch::<_MM_HINT_T0>(task.columns.as_ptr().wrapping_add(entry + ENTRY_PREFETCH_DISTANCE).cast());
            _mm_prefetch::<_MM_HINT_T0>(task.values.as_ptr().wrapping_add(entry + ENTRY_PREFETCH_DISTANCE).cast());
            let mut sums = [V::zero(); N];
            while entry < end {
                if PREFETCH {
                    let k = *task.columns.get_unchecked((entry + PREFETCH_DISTANCE).min(nnz - 1)) as usize;
                    let line = 64 / size_of::<V::T>();
                    for l in 0..(N * V::LANES).div_ceil(line) {
                        _mm_prefetch::<_MM_HINT_T0>(x.wrapping_add(k * n + l * line).cast());
                    }
                }
                let k = *task.columns.get_unchecked(entry) as usize;
                let a = V::splat(*task.values.get_unchecked(entry));
                let x = x.wrapping_add(k * n);
                for (v, sum) in sums.iter_mut().enumerate() {
                    let x = x.wrapping_add(v * V::LANES);
                    *sum = if FULL || v > 0 && v + 1 < N {
                        sum.add_product(a, x)
                    } else {
                        sum.add_product_masked(a, x, if v == 0 { masks.0 } else { masks.1 })
                    };
                }
                entry += 1;
            }
            for (v, sum) in sums.into_iter().enumerate() {
                let y = y.wrapping_add(v * V::LANES);
                if FULL || v > 0 && v + 1 < N {
                    if task.stream { sum.stream(y) } else { sum.store(y) }
                } else {
                    sum.store_masked(y, if v == 0 { masks.0 } else { masks.1 })
                }
            }
            y = y.wrapping_add(n);
        }
    }
    N
}
