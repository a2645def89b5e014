//! C = A·B for small matrices of floats, in register tiles of C: eight rows by two registers with 32 registers, six by
//! two or four by three with 16. Columns beyond the last one are masked.
//!
//! The code that compilers generate for loops over arrays of sums depends on the arrays' size; these loops are
//! explicit.

use std::any::TypeId;
use std::array::from_fn;
use std::marker::PhantomData;

use super::prefetch_at;
use crate::algebra::{Arithmetic, PlusTimes, Value};

/// Matrices to multiply: C(l, i, j) = ⊕ₖ A(l, i, k) ⊗ B(l, k, j). Offsets are added modulo 2⁶⁴ and checked against the
/// arrays.
pub(crate) struct Matrices<'a, 'c, T> {
    pub(crate) a: &'a [T],
    pub(crate) b: &'a [T],
    pub(crate) c: &'c mut [T],
    /// Offsets of each matrix in A, B and C, relative to `base`.
    pub(crate) l: &'a [[usize; 3]],
    pub(crate) base: [usize; 3],
    /// Offsets of each row in A and C.
    pub(crate) m: &'a [[usize; 2]],
    /// Columns, contiguous in B and C.
    pub(crate) columns: usize,
    /// Terms of a sum, and their strides in A and B.
    pub(crate) terms: usize,
    pub(crate) steps: [usize; 2],
    /// A factor of the sum.
    pub(crate) alpha: Option<T>,
    /// Whether C is accumulated into, and with which factor.
    pub(crate) old: Option<Option<T>>,
    /// Distance from a matrix to the data that is prefetched meanwhile, and the size in values of the largest of A, B
    /// and C.
    pub(crate) ahead: ([usize; 3], usize),
}

/// Prefetch addresses in A, B and C.
pub(crate) struct CacheLines<T> {
    pub(crate) next: [*const T; 3],
    pub(crate) each: usize,
}

impl<T> CacheLines<T> {
    /// Prefetches a line of each.
    #[inline(always)]
    pub(crate) fn prefetch_next(&mut self) {
        for next in &mut self.next {
            prefetch_at(*next);
            *next = next.wrapping_add(self.each);
        }
    }
}

/// The range of row offsets within a matrix, in A and in C, as signed numbers.
#[cfg(target_arch = "x86_64")]
struct RowOffsets([[isize; 2]; 2]);

#[cfg(target_arch = "x86_64")]
impl RowOffsets {
    fn new<T>(matrices: &Matrices<'_, '_, T>) -> Self {
        Self(from_fn(|t| {
            let rows = matrices.m.iter().map(|row| row[t] as isize);
            rows.fold([isize::MAX, isize::MIN], |[least, most], row| [least.min(row), most.max(row)])
        }))
    }
    /// # Panics
    /// If a value of the matrices that begin at `start` is not within A, B or C.
    #[inline(always)]
    fn check<T>(&self, matrices: &Matrices<'_, '_, T>, start: [usize; 3]) {
        let Matrices { a, b, c, m, columns, terms, steps: [ka, kb], .. } = matrices;
        // Whether the range from `start` + [least, most] on, with `more` values each, is within `len`.
        let within = |start: usize, [least, most]: [isize; 2], more: Option<usize>, len: usize| {
            let first = isize::try_from(start).ok().and_then(|start| start.checked_add(least));
            let end = start.checked_add_signed(most).and_then(|last| last.checked_add(more?));
            first.is_some_and(|first| first >= 0) && end.is_some_and(|end| end <= len)
        };
        if m.is_empty() || *columns == 0 {
            return;
        }
        if let Some(last) = terms.checked_sub(1) {
            let [far_a, far_b] = [ka, kb].map(|step| last.checked_mul(*step));
            assert!(within(start[0], self.0[0], far_a.and_then(|far| far.checked_add(1)), a.len()), "rows of A");
            assert!(within(start[1], [0; 2], far_b.and_then(|far| far.checked_add(*columns)), b.len()), "rows of B");
        }
        assert!(within(start[2], self.0[1], Some(*columns), c.len()), "rows of C");
    }
}

/// Proof that loops for AVX-512 or AVX2 may run, and that T is f32 or f64 with + and ×.
#[derive(Clone, Copy)]
pub(crate) struct Tiles<T>(PhantomData<T>);

impl<T: Value> Tiles<T> {
    /// For this ring.
    pub(crate) fn new<A: Arithmetic<T>>(_: A) -> Option<Self> {
        let ring = TypeId::of::<A>();
        let floats = ring == TypeId::of::<PlusTimes<f32>>() || ring == TypeId::of::<PlusTimes<f64>>();
        (floats && super::register() >= 32).then_some(Self(PhantomData))
    }
    /// Whether there is a loop for contiguous 2×2 matrices.
    pub(crate) fn two_by_two(self) -> bool {
        super::register() == 64
    }
    /// Computes all products. With `beside`, all matrices are 2×2 and contiguous in all arrays.
    /// # Panics
    /// If a matrix does not lie within its array, or there is no loop for 2×2 matrices.
    pub(crate) fn multiply(self, matrices: &mut Matrices<'_, '_, T>, beside: bool) {
        #[cfg(target_arch = "x86_64")]
        {
            let (wide, double) = (super::has_v4(), TypeId::of::<T>() == TypeId::of::<f64>());
            assert!(wide || super::has_v3() && !beside);
            // SAFETY: 1. the processor has the instructions, checked above; 2. `new` checked for a ring of f64 or f32:
            // T is f64 if it compares equal, else f32.
            unsafe {
                if double {
                    let matrices = &mut *std::ptr::from_mut(matrices).cast();
                    match (wide, beside) {
                        (true, true) => v4::two_by_two_f64(matrices),
                        (true, false) => v4::multiply_f64(matrices),
                        _ => v3::multiply_f64(matrices),
                    }
                } else {
                    let matrices = &mut *std::ptr::from_mut(matrices).cast();
                    match (wide, beside) {
                        (true, true) => v4::two_by_two_f32(matrices),
                        (true, false) => v4::multiply_f32(matrices),
                        _ => v3::multiply_f32(matrices),
                    }
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (matrices, beside);
    }
}

#[cfg(target_arch = "x86_64")]
mod v4 {
    use super::*;
    use std::arch::x86_64::*;

    macro_rules! floats {
        ($($t:ty, $vector:ty, $mask:ty, $lanes:literal: $multiply:ident $tile:ident $two_by_two:ident $finish:ident
           $zero:ident $set:ident $load:ident $store:ident $fma:ident $mul:ident $add:ident $permute:ident;)*) => {$(
            #[target_feature(enable = "avx512f")]
            pub(super) fn $multiply(matrices: &mut Matrices<'_, '_, $t>) {
                let (rows, columns) = (matrices.m.len(), matrices.columns);
                let (next, size) = matrices.ahead;
                let steps = rows.div_ceil(8).saturating_mul(columns.div_ceil(2 * $lanes)).saturating_mul(matrices.terms);
                let each = size.div_ceil(steps.max(1));
                for l in matrices.l {
                    let start: [usize; 3] = from_fn(|t| matrices.base[t].wrapping_add(l[t]));
                    let arrays = [matrices.a.as_ptr(), matrices.b.as_ptr(), matrices.c.as_ptr()];
                    let mut lines =
                        CacheLines { next: from_fn(|t| arrays[t].wrapping_add(start[t].wrapping_add(next[t]))), each };
                    for column in (0..columns).step_by(2 * $lanes) {
                        let width = (columns - column).min(2 * $lanes);
                        let mut row = 0;
                        while row < rows {
                            let place = (start, row, column, width);
                            row += match (rows - row, width > $lanes) {
                                (5.., true) => $tile::<8, 2>(matrices, place, &mut lines),
                                (5.., false) => $tile::<8, 1>(matrices, place, &mut lines),
                                (3.., true) => $tile::<4, 2>(matrices, place, &mut lines),
                                (3.., false) => $tile::<4, 1>(matrices, place, &mut lines),
                                (_, true) => $tile::<2, 2>(matrices, place, &mut lines),
                                (_, false) => $tile::<2, 1>(matrices, place, &mut lines),
                            };
                        }
                    }
                }
            }

            /// As many matrices as a register holds: each term of all sums takes two permutations and one multiply-add.
            #[target_feature(enable = "avx512f")]
            pub(super) fn $two_by_two(matrices: &mut Matrices<'_, '_, $t>) {
                let Matrices { a, b, ref mut c, l, base, alpha, old, ahead: (next, _), .. } = *matrices;
                let Some(first) = l.first() else { return };
                let start: [usize; 3] = from_fn(|t| base[t].wrapping_add(first[t]));
                let values = 4 * l.len();
                let (a, b, c) = (&a[start[0]..][..values], &b[start[1]..][..values], &mut c[start[2]..][..values]);
                for at in (0..values).step_by($lanes) {
                    let mask = ((1u32 << (values - at).min($lanes)) - 1) as $mask;
                    let (a, b) = (a.as_ptr().wrapping_add(at), b.as_ptr().wrapping_add(at));
                    let c = c.as_mut_ptr().wrapping_add(at);
                    prefetch_at(a.wrapping_add(next[0]));
                    prefetch_at(b.wrapping_add(next[1]));
                    prefetch_at(c.wrapping_add(next[2]));
                    // SAFETY: all three have `values` values, and the mask selects no more.
                    unsafe {
                        let (a, b) = ($load(mask, a), $load(mask, b));
                        // Column 0 of A in both columns, row 0 of B in both rows; then column 1 and row 1.
                        let sum = $fma($permute::<0xa0>(a), $permute::<0x44>(b), $zero());
                        let sum = $fma($permute::<0xf5>(a), $permute::<0xee>(b), sum);
                        $finish(c, mask, sum, alpha, old);
                    }
                }
            }

            /// Writes a sum to C, scaled and accumulated as requested.
            /// # Safety
            /// The elements selected by the mask lie within C.
            #[inline]
            #[target_feature(enable = "avx512f")]
            unsafe fn $finish(c: *mut $t, mask: $mask, mut sum: $vector, alpha: Option<$t>, old: Option<Option<$t>>) {
                if let Some(alpha) = alpha {
                    sum = $mul($set(alpha), sum);
                }
                // SAFETY: as above.
                unsafe {
                    if let Some(beta) = old {
                        let mut old = $load(mask, c);
                        if let Some(beta) = beta {
                            old = $mul($set(beta), old);
                        }
                        sum = $add(old, sum);
                    }
                    $store(c, mask, sum);
                }
            }

            /// R rows of Q registers; returns R.
            #[target_feature(enable = "avx512f")]
            fn $tile<const R: usize, const Q: usize>(
                matrices: &mut Matrices<'_, '_, $t>,
                (start, first, column, width): ([usize; 3], usize, usize, usize),
                lines: &mut CacheLines<$t>,
            ) -> usize {
                let Matrices { a, b, ref mut c, m, terms, steps: [ka, kb], alpha, old, .. } = *matrices;
                let mask: [$mask; Q] = from_fn(|q| {
                    let columns = width.saturating_sub(q * $lanes).min($lanes);
                    ((1u32 << columns) - 1) as $mask
                });
                let mut sums: [[$vector; Q]; R] = [[$zero(); Q]; R];
                if let Some(last) = terms.checked_sub(1) {
                    // Beyond the last row, the last row is repeated.
                    let mut x: [*const $t; R] = from_fn(|r| {
                        let row = m[(first + r).min(m.len() - 1)][0].wrapping_add(start[0]);
                        let end = last.checked_mul(ka).and_then(|far| far.checked_add(row));
                        assert!(end.is_some_and(|end| end < a.len()), "a row of A");
                        a[row..].as_ptr()
                    });
                    let row = start[1].wrapping_add(column);
                    let end = last.checked_mul(kb).and_then(|far| far.checked_add(row)?.checked_add(width));
                    assert!(end.is_some_and(|end| end <= b.len()), "rows of B");
                    let mut y = b[row..].as_ptr();
                    for _ in 0..terms {
                        lines.prefetch_next();
                        // SAFETY: for term t, 0 ≤ t < terms, x is at row + t·ka and y at row + t·kb: the last of these
                        // is within A, and has `width` values in B; the masks select no more.
                        unsafe {
                            let y: [$vector; Q] = from_fn(|q| $load(mask[q], y.wrapping_add(q * $lanes)));
                            for r in 0..R {
                                let x = $set(*x[r]);
                                for q in 0..Q {
                                    sums[r][q] = $fma(x, y[q], sums[r][q]);
                                }
                            }
                        }
                        x = from_fn(|r| x[r].wrapping_add(ka));
                        y = y.wrapping_add(kb);
                    }
                }
                for (sums, row) in sums.iter().zip(&m[first..]) {
                    let at = start[2].wrapping_add(row[1]).wrapping_add(column);
                    let row = &mut c[at..][..width];
                    for (q, &sum) in sums.iter().enumerate() {
                        let c = row.as_mut_ptr().wrapping_add(q * $lanes);
                        // SAFETY: the row has `width` values, and the masks select no more.
                        unsafe { $finish(c, mask[q], sum, alpha, old) };
                    }
                }
                R
            }
        )*};
    }
    floats! {
        f32, __m512, __mmask16, 16: multiply_f32 tile_f32 two_by_two_f32 finish_f32 _mm512_setzero_ps _mm512_set1_ps _mm512_maskz_loadu_ps
            _mm512_mask_storeu_ps _mm512_fmadd_ps _mm512_mul_ps _mm512_add_ps _mm512_permute_ps;
        f64, __m512d, __mmask8, 8: multiply_f64 tile_f64 two_by_two_f64 finish_f64 _mm512_setzero_pd _mm512_set1_pd _mm512_maskz_loadu_pd
            _mm512_mask_storeu_pd _mm512_fmadd_pd _mm512_mul_pd _mm512_add_pd _mm512_permutex_pd;
    }
}

#[cfg(target_arch = "x86_64")]
mod v3 {
    use super::*;
    use std::arch::x86_64::*;

    macro_rules! floats {
        ($($t:ty, $vector:ty, $lanes:literal: $multiply:ident $tile:ident $iota:expr, $compare:ident $one:ident
           $zero:ident $set:ident $load:ident $store:ident $masked_load:ident $masked_store:ident $fma:ident $mul:ident
           $add:ident;)*) => {$(
            #[target_feature(enable = "avx2,fma")]
            pub(super) fn $multiply(matrices: &mut Matrices<'_, '_, $t>) {
                let (rows, columns) = (matrices.m.len(), matrices.columns);
                let (next, size) = matrices.ahead;
                let steps = rows.div_ceil(6).saturating_mul(columns.div_ceil(2 * $lanes)).saturating_mul(matrices.terms);
                // One line every few steps, if there are more steps than lines.
                let each = size.div_ceil(steps.max(1));
                let every = 1 << (64 / size_of::<$t>() / each.max(1)).max(1).ilog2();
                let row_offsets = RowOffsets::new(matrices);
                for l in matrices.l {
                    let start: [usize; 3] = from_fn(|t| matrices.base[t].wrapping_add(l[t]));
                    row_offsets.check(matrices, start);
                    let arrays = [matrices.a.as_ptr(), matrices.b.as_ptr(), matrices.c.as_ptr()];
                    let next = from_fn(|t| arrays[t].wrapping_add(start[t].wrapping_add(next[t])));
                    let mut lines = (CacheLines { next, each: each * every }, every - 1);
                    let mut column = 0;
                    while column < columns {
                        let left = columns - column;
                        // Three registers if two would leave one over.
                        let wide = match left.div_ceil($lanes) {
                            1 => 1,
                            n if n % 2 == 1 => 3,
                            _ => 2,
                        };
                        let width = left.min(wide * $lanes);
                        let full = width == wide * $lanes;
                        let mut row = 0;
                        while row < rows {
                            let place = (start, row, column, width);
                            macro_rules! tile {
                                ($r:literal, $q:literal) => {
                                    // SAFETY: the matrix lies within its arrays, as was checked; these are columns of
                                    // it.
                                    unsafe {
                                        if full {
                                            $tile::<$r, $q, true>(matrices, place, &mut lines)
                                        } else {
                                            $tile::<$r, $q, false>(matrices, place, &mut lines)
                                        }
                                    }
                                };
                            }
                            row += match (rows - row, wide) {
                                (5.., 1) => tile!(8, 1),
                                (3.., 1) => tile!(4, 1),
                                (_, 1) => tile!(2, 1),
                                // Eight rows are processed as twice four.
                                (5 | 6 | 9.., 2) => tile!(6, 2),
                                (3.., 2) => tile!(4, 2),
                                (_, 2) => tile!(2, 2),
                                (3.., _) => tile!(4, 3),
                                _ => tile!(2, 3),
                            };
                        }
                        column += width;
                    }
                }
            }

            /// R rows of Q registers, all full if `FULL`; returns R.
            /// # Safety
            /// All rows and terms of the matrix that begins at `start` lie within A, B and C ([`RowOffsets::check`]). It
            /// has a row `first` and `width` columns from `column` on: exactly as many as Q registers hold if `FULL`, else
            /// at most that many, but more than Q − 1 registers hold.
            #[target_feature(enable = "avx2,fma")]
            unsafe fn $tile<const R: usize, const Q: usize, const FULL: bool>(
                matrices: &mut Matrices<'_, '_, $t>,
                (start, first, column, width): ([usize; 3], usize, usize, usize),
                (lines, every): &mut (CacheLines<$t>, usize),
            ) -> usize {
                let Matrices { a, b, ref mut c, m, terms, steps: [ka, kb], alpha, old, .. } = *matrices;
                // The mask of the last register; the ones before are full.
                let mask = $compare($one((width - (Q - 1) * $lanes) as _), $iota);
                macro_rules! load {
                    ($q:ident, $at:expr) => {
                        if FULL || $q + 1 < Q { $load($at) } else { $masked_load($at, mask) }
                    };
                }
                let rows = (m.len() - first).min(R);
                let mut sums: [[$vector; Q]; R] = [[$zero(); Q]; R];
                // Beyond the last row, the last row is repeated.
                let x: [*const $t; R] =
                    from_fn(|r| a.as_ptr().wrapping_add(start[0].wrapping_add(m[first + r.min(rows - 1)][0])));
                let mut y = b.as_ptr().wrapping_add(start[1].wrapping_add(column));
                let mut at = 0usize;
                for t in 0..terms {
                    if t & *every == 0 {
                        lines.prefetch_next();
                    }
                    // SAFETY: the caller's promise, for term t, whose values are at x + t·ka and from y + t·kb on.
                    unsafe {
                        let row: [$vector; Q] = from_fn(|q| load!(q, y.wrapping_add(q * $lanes)));
                        for r in 0..R {
                            let x = $set(*x[r].wrapping_add(at));
                            for q in 0..Q {
                                sums[r][q] = $fma(x, row[q], sums[r][q]);
                            }
                        }
                    }
                    at = at.wrapping_add(ka);
                    y = y.wrapping_add(kb);
                }
                if let Some(alpha) = alpha {
                    sums.as_flattened_mut().iter_mut().for_each(|sum| *sum = $mul($set(alpha), *sum));
                }
                for (sums, row) in sums[..rows].iter().zip(&m[first..]) {
                    let row = c.as_mut_ptr().wrapping_add(start[2].wrapping_add(row[1]).wrapping_add(column));
                    for (q, &sum) in sums.iter().enumerate() {
                        let c = row.wrapping_add(q * $lanes);
                        // SAFETY: the caller's promise: the row has `width` values from here on, and no more are read
                        // or written.
                        unsafe {
                            let sum = match old {
                                None => sum,
                                Some(None) => $add(load!(q, c), sum),
                                Some(Some(beta)) => $add($mul($set(beta), load!(q, c)), sum),
                            };
                            if FULL || q + 1 < Q { $store(c, sum) } else { $masked_store(c, mask, sum) }
                        }
                    }
                }
                R
            }
        )*};
    }
    floats! {
        f32, __m256, 8: multiply_f32 tile_f32 _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_cmpgt_epi32 _mm256_set1_epi32
            _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_maskload_ps _mm256_maskstore_ps _mm256_fmadd_ps
            _mm256_mul_ps _mm256_add_ps;
        f64, __m256d, 4: multiply_f64 tile_f64 _mm256_setr_epi64x(0, 1, 2, 3), _mm256_cmpgt_epi64 _mm256_set1_epi64x
            _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_maskload_pd _mm256_maskstore_pd _mm256_fmadd_pd
            _mm256_mul_pd _mm256_add_pd;
    }
}
