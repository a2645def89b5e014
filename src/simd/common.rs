//! Intersection of two sorted rows: the positions of their common columns.

use crate::Index;
use std::any::TypeId;

/// Pairs that a vector store may write beyond the last one.
pub(crate) const COMMON_SLACK: usize = 8;
/// Length ratio from which on the columns of the shorter row are searched for in the longer.
const RARE: usize = 64;
/// Most columns of a row, so that a position fits 32 bits.
const LONGEST: usize = u32::MAX as usize;

/// Finds the common columns of two rows. One per thread.
pub(crate) struct RowCommon {
    by_registers: bool,
}

/// Sorted rows: their row pointers, and the columns of the whole matrix.
pub(crate) type SortedRows<'a, I> = (&'a [usize], &'a [I]);

impl RowCommon {
    /// For columns of type `I`.
    pub(crate) fn new<I: Index>() -> Self {
        #[cfg(target_arch = "x86_64")]
        let by_registers = TypeId::of::<I>() == TypeId::of::<u32>() && super::has_v3();
        #[cfg(not(target_arch = "x86_64"))]
        let by_registers = false;
        Self { by_registers }
    }

    /// Writes the positions (p, q) of each common column of two rows, `ja[p] = jb[q]`, in order, and returns their
    /// number. Columns increase in both.
    ///
    /// Vectors of eight columns are compared all with all, and no branch depends on a comparison: O(|a| + |b|). If one
    /// row is 64 times as long as the other, O(|shorter| log |longer|).
    /// # Panics
    /// If `to` has no room for the shorter row and [`COMMON_SLACK`] more, or a row has more than 2³² − 1 columns.
    #[inline(always)]
    pub(crate) fn positions<I: Index>(&self, ja: &[I], jb: &[I], to: &mut [(u32, u32)]) -> usize {
        let mut lens = [0];
        let (rows, n) = self.rows((&[0, ja.len()], ja), (&[0, jb.len()], jb), &mut lens, to);
        assert!(rows == 1, "there is room");
        n
    }

    /// The same for the first of several pairs of rows, as many as `to` has room for: writes the number of common
    /// columns of each pair, and their positions relative to the start of the first rows. Returns the number of rows
    /// and of pairs.
    /// # Panics
    /// If a matrix has fewer rows than `lens` has elements, or its columns end before its rows.
    pub(crate) fn rows<I: Index>(
        &self,
        (a, ja): SortedRows<'_, I>,
        (b, jb): SortedRows<'_, I>,
        lens: &mut [usize],
        to: &mut [(u32, u32)],
    ) -> (usize, usize) {
        let (Some(a), Some(b)) = (a.get(..=lens.len()), b.get(..=lens.len())) else { panic!("rows of both matrices") };
        #[cfg(target_arch = "x86_64")]
        if self.by_registers {
            // SAFETY: `I` is `u32`, and the processor has AVX2, BMI and POPCNT.
            return unsafe {
                let words = |js: &[I]| std::slice::from_raw_parts(js.as_ptr().cast::<u32>(), js.len());
                v3::rows((a, words(ja)), (b, words(jb)), lens, to)
            };
        }
        by_rows((a, ja), (b, jb), lens, to, merged)
    }
}

/// [`RowCommon::rows`]. `merged` receives two rows of similar length, their positions, and the output, which has room
/// for the shorter row and [`COMMON_SLACK`].
#[inline(always)]
fn by_rows<I: Index>(
    (a, ja): SortedRows<'_, I>,
    (b, jb): SortedRows<'_, I>,
    lens: &mut [usize],
    to: &mut [(u32, u32)],
    merged: impl Fn(&[I], &[I], (u32, u32), &mut [(u32, u32)]) -> usize,
) -> (usize, usize) {
    let (mut n, first) = (0, (a[0], b[0]));
    let ends = a.windows(2).zip(b.windows(2));
    for (r, (len, ends)) in lens.iter_mut().zip(ends).enumerate() {
        let (&[p, p_end], &[q, q_end]) = ends else { unreachable!("windows of two") };
        let few = (p_end - p).min(q_end - q);
        *len = 0;
        if few == 0 {
            continue;
        }
        if p_end - first.0 > LONGEST || q_end - first.1 > LONGEST || few + COMMON_SLACK > to.len() - n {
            return (r, n);
        }
        let (x, y, at) = (&ja[p..p_end], &jb[q..q_end], ((p - first.0) as u32, (q - first.1) as u32));
        let to = &mut to[n..];
        *len = if x.len() / RARE > few {
            searched(y, x, (at.1, at.0), to, |(q, p)| (p, q))
        } else if y.len() / RARE > few {
            searched(x, y, at, to, |pair| pair)
        } else {
            merged(x, y, at, to)
        };
        n += *len;
    }
    (lens.len(), n)
}

/// Searches for each column of a row in a much longer one.
#[inline(never)]
fn searched<I: Index>(
    short: &[I],
    long: &[I],
    (p, q): (u32, u32),
    to: &mut [(u32, u32)],
    pair: impl Fn((u32, u32)) -> (u32, u32),
) -> usize {
    let (mut n, mut from) = (0, 0);
    for (k, j) in short.iter().enumerate() {
        from += long[from..].partition_point(|l| l < j);
        let Some(l) = long.get(from) else { break };
        to[n] = pair((p + k as u32, q + from as u32));
        n += usize::from(l == j);
    }
    n
}

/// Merges two rows without branching on their columns.
#[inline(always)]
fn merged<I: Index>(ja: &[I], jb: &[I], at: (u32, u32), to: &mut [(u32, u32)]) -> usize {
    let (mut p, mut q, mut n) = (0, 0, 0);
    while p < ja.len() && q < jb.len() {
        let (j, k) = (ja[p], jb[q]);
        to[n] = (at.0 + p as u32, at.1 + q as u32);
        n += usize::from(j == k);
        (p, q) = (p + usize::from(j <= k), q + usize::from(k <= j));
    }
    n
}

#[cfg(target_arch = "x86_64")]
mod v3 {
    use super::{COMMON_SLACK, SortedRows, by_rows};
    use crate::simd::SET_BITS;
    use std::arch::x86_64::{
        __m256i, _mm_loadl_epi64, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8, _mm256_castsi256_ps,
        _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_cvtepu8_epi32, _mm256_maskload_epi32, _mm256_min_epi32,
        _mm256_movemask_ps, _mm256_or_si256, _mm256_permute2x128_si256, _mm256_permutevar8x32_epi32, _mm256_set1_epi32,
        _mm256_setr_epi32, _mm256_setzero_si256, _mm256_shuffle_epi32, _mm256_storeu_si256, _mm256_unpackhi_epi32,
        _mm256_unpacklo_epi32, _mm256_xor_si256,
    };

    /// # Safety
    /// The processor must have AVX2, BMI and POPCNT.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn rows(
        a: SortedRows<'_, u32>,
        b: SortedRows<'_, u32>,
        lens: &mut [usize],
        to: &mut [(u32, u32)],
    ) -> (usize, usize) {
        // SAFETY: the processor has the instructions, and `by_rows` provides the room.
        by_rows(a, b, lens, to, |x, y, at, to| unsafe { eights(x, y, at, to) })
    }

    /// # Safety
    /// The processor must have AVX2, BMI and POPCNT, and `to` room for the shorter row and [`COMMON_SLACK`].
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    unsafe fn eights(ja: &[u32], jb: &[u32], at: (u32, u32), to: &mut [(u32, u32)]) -> usize {
        debug_assert!(ja.len().min(jb.len()) + COMMON_SLACK <= to.len());
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let (fours, threes) = (_mm256_set1_epi32(4), _mm256_set1_epi32(3));
        let numbers = |x: u32| _mm256_set1_epi32(x as i32);
        let (mut p, mut q, mut n) = (0, 0, 0);
        while p < ja.len() && q < jb.len() {
            let (here_a, here_b) = ((ja.len() - p).min(8), (jb.len() - q).min(8));
            let within = _mm256_cmpgt_epi32(numbers(here_a as u32), lanes);
            // SAFETY: masked-out lanes are not read; 1 ≤ here ≤ the remaining columns of each row.
            let (x, y, last_x, last_y) = unsafe {
                let (x, y) = (ja.as_ptr().add(p), jb.as_ptr().add(q));
                let of_b = _mm256_cmpgt_epi32(numbers(here_b as u32), lanes);
                let last_y = y.add(here_b - 1).read();
                // Lanes behind the last column of B repeat it.
                let y = _mm256_blendv_epi8(numbers(last_y), _mm256_maskload_epi32(y.cast(), of_b), of_b);
                (_mm256_maskload_epi32(x.cast(), within), y, x.add(here_a - 1).read(), last_y)
            };
            // Eight comparisons, each with a different permutation of B: the lanes of A that have matched, and the
            // number of comparisons from the match to the last, negated.
            let (mut found, mut since) = (_mm256_setzero_si256(), _mm256_setzero_si256());
            let mut look = |y: __m256i| {
                found = _mm256_or_si256(found, _mm256_cmpeq_epi32(x, y));
                since = _mm256_add_epi32(since, found);
            };
            let swapped = _mm256_permute2x128_si256::<1>(y, y);
            for y in [y, swapped] {
                look(y);
                look(_mm256_shuffle_epi32::<0b00_11_10_01>(y));
                look(_mm256_shuffle_epi32::<0b01_00_11_10>(y));
                look(_mm256_shuffle_epi32::<0b10_01_00_11>(y));
            }
            // Comparison t = 8 + since was with the lane at offset t, modulo 4, in the same half for t < 4 and in the
            // other half for t ≥ 4.
            let half = _mm256_and_si256(_mm256_xor_si256(lanes, _mm256_add_epi32(since, numbers(8))), fours);
            let lane = _mm256_or_si256(half, _mm256_and_si256(_mm256_add_epi32(lanes, since), threes));
            let lane = _mm256_min_epi32(lane, numbers(here_b as u32 - 1));
            let bits = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_and_si256(found, within))) as u32;
            // SAFETY: 1. the index is a byte; 2. n + the bits of `bits` are at most the columns passed of the shorter
            // row, and 8 more pairs have room.
            unsafe {
                let places = _mm256_cvtepu8_epi32(_mm_loadl_epi64(SET_BITS[bits as usize & 255].as_ptr().cast()));
                let ps = _mm256_add_epi32(places, numbers(at.0.wrapping_add(p as u32)));
                let qs = _mm256_permutevar8x32_epi32(lane, places);
                let qs = _mm256_add_epi32(qs, numbers(at.1.wrapping_add(q as u32)));
                let (low, high) = (_mm256_unpacklo_epi32(ps, qs), _mm256_unpackhi_epi32(ps, qs));
                let to = to.as_mut_ptr().add(n);
                _mm256_storeu_si256(to.cast(), _mm256_permute2x128_si256::<0x20>(low, high));
                _mm256_storeu_si256(to.add(4).cast(), _mm256_permute2x128_si256::<0x31>(low, high));
            }
            n += bits.count_ones() as usize;
            p += if last_x <= last_y { here_a } else { 0 };
            q += if last_y <= last_x { here_b } else { 0 };
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs = Vec<(u32, u32)>;

    fn searched_for<I: Index>(a: &[I], b: &[I], (p, q): (usize, usize)) -> Pairs {
        let pair = |(k, j)| b.binary_search(j).ok().map(|l| ((p + k) as u32, (q + l) as u32));
        a.iter().enumerate().filter_map(pair).collect()
    }

    /// Rows of any length and density, of both index types, with and without vectors, compared with a search for each
    /// column.
    #[test]
    fn agrees_with_a_search() {
        fn check<I: Index>(by_registers: bool) {
            let common = RowCommon { by_registers };
            let mut seed = 0;
            let mut random = |below: usize| {
                seed += 1;
                sparring_generate::splitmix64(seed) as usize % below
            };
            for m in [0, 1, 2, 7, 8, 9, 15, 16, 17, 33, 128, 1100] {
                for n in [0, 1, 3, 8, 16, 31, 40, 128, 900] {
                    for width in [1, 2, 9] {
                        let mut row = |len: usize| -> Vec<I> {
                            let first = random(5);
                            (0..len).map(|j| I::cast(first + j * width + random(width))).collect()
                        };
                        let (a, b) = (row(m), row(n));
                        let want = searched_for(&a, &b, (0, 0));
                        let mut to = vec![(9, 9); m.min(n) + COMMON_SLACK];
                        let len = common.positions(&a, &b, &mut to);
                        assert_eq!(&to[..len], &want[..], "{by_registers} {m} {n} {width}");
                    }
                }
            }
            let last = [I::cast(0), I::cast(u32::MAX as usize)];
            let mut to = [(0, 0); 2 + COMMON_SLACK];
            assert_eq!(common.positions(&last, &last, &mut to), 2);
            assert_eq!(to[..2], [(0, 0), (1, 1)]);
            // Consecutive rows, some empty, with too little room for all of them at once.
            let mut matrix = |n: usize| -> (Vec<usize>, Vec<I>) {
                let (mut ptr, mut cols) = (vec![3], vec![I::cast(0); 3]);
                for i in 0..n {
                    let (len, width) = ([0, 1, 3, 9, 70, 0][random(6)] * (i % 4), 1 + random(3));
                    cols.extend((0..len).map(|j| I::cast(j * width + random(width))));
                    ptr.push(cols.len());
                }
                (ptr, cols)
            };
            let (a, b) = (matrix(200), matrix(200));
            let (mut i, mut lens, mut to) = (0, [7; 200], [(0, 0); 210 + COMMON_SLACK]);
            while i < 200 {
                let (rows, n) = common.rows((&a.0[i..], &a.1), (&b.0[i..], &b.1), &mut lens[i..], &mut to);
                let (mut want, first) = (vec![], (a.0[i], b.0[i]));
                for (r, &len) in (i..).zip(&lens[i..i + rows]) {
                    let (x, y) = (&a.1[a.0[r]..a.0[r + 1]], &b.1[b.0[r]..b.0[r + 1]]);
                    let found = searched_for(x, y, (a.0[r] - first.0, b.0[r] - first.1));
                    assert_eq!(found.len(), len);
                    want.extend(found);
                }
                assert!(rows > 0 && to[..n] == want);
                i += rows;
            }
        }
        check::<u32>(false);
        check::<u64>(RowCommon::new::<u64>().by_registers);
        check::<u32>(RowCommon::new::<u32>().by_registers);
    }

    #[test]
    fn a_row_without_room_is_skipped() {
        let row = [1u32, 2, 3];
        let (common, mut lens, mut to) = (RowCommon::new::<u32>(), [5; 2], [(0, 0); 5 + COMMON_SLACK]);
        let rows: SortedRows<'_, u32> = (&[0, 3, 3], &row);
        assert_eq!(common.rows(rows, rows, &mut lens, &mut to[..2 + COMMON_SLACK]), (0, 0));
        assert_eq!(common.rows(rows, rows, &mut lens, &mut to), (2, 3));
        assert_eq!(lens, [3, 0]);
    }
}
