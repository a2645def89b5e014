//! Lists the entries of rows whose columns lie in a range; no branch depends on how many entries of a short row do.

use std::any::TypeId;
use std::ops::Range;

use super::rows::RowsOf;
use crate::Index;

/// Capacity of a list.
const ROOM: usize = 1024;
/// Entries that a vector store may write beyond the last one.
const SLACK: usize = 8;
/// Prefetch distance, in rows.
const PREFETCH_DISTANCE: usize = 8;

/// Entries of some rows of A, each with the position of its row among these rows.
pub(crate) struct EntriesWithin {
    rows: [u16; ROOM + SLACK],
    entries: [usize; ROOM + SLACK],
    len: usize,
    by_registers: bool,
}

impl EntriesWithin {
    /// Longest row that is listed; a longer one is split by a search.
    pub(crate) const SHORT: usize = 64;

    /// An empty list, for a matrix with columns of type `I`.
    pub(crate) fn new<I: Index>() -> Self {
        #[cfg(target_arch = "x86_64")]
        let by_registers = TypeId::of::<I>() == TypeId::of::<u32>() && super::has_v3();
        #[cfg(not(target_arch = "x86_64"))]
        let by_registers = false;
        Self { rows: [0; ROOM + SLACK], entries: [0; ROOM + SLACK], len: 0, by_registers }
    }

    /// The row of each entry, and its position in A.
    pub(crate) fn list(&self) -> (&[u16], &[usize]) {
        (&self.rows[..self.len], &self.entries[..self.len])
    }

    /// Lists the entries of the rows `ks` of A whose columns lie in `cols`: for as many rows as fit, up to the first
    /// with more than [`SHORT`](Self::SHORT) entries. Returns the number of rows.
    /// # Panics
    /// If a row is out of range.
    pub(crate) fn fill<I: Index>(&mut self, a: &RowsOf<'_, I, ()>, ks: &[I], cols: &Range<usize>) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.by_registers && cols.end <= u32::MAX as usize {
            // SAFETY: the processor has AVX2, BMI and POPCNT, and `I` is `u32`.
            return unsafe { v3::fill(self, a, ks, cols) };
        }
        self.fill_by(a, ks, |list, row, first, r| {
            for (q, j) in (first..).zip(row) {
                (list.rows[list.len], list.entries[list.len]) = (r, q);
                list.len += usize::from(cols.contains(&j.get()));
            }
        })
    }

    /// [`fill`](Self::fill). `push` receives a row whose entries fit, its start, and its position.
    #[inline(always)]
    fn fill_by<I: Index>(
        &mut self,
        a: &RowsOf<'_, I, ()>,
        ks: &[I],
        push: impl Fn(&mut Self, &[I], usize, u16),
    ) -> usize {
        self.len = 0;
        let ks = &ks[..ks.len().min(usize::from(u16::MAX))];
        for (r, k) in ks.iter().enumerate() {
            if let Some(k) = ks.get(r + PREFETCH_DISTANCE) {
                a.prefetch(k.get());
            }
            let row = a.row(k.get()).0;
            if row.len() > Self::SHORT || self.len + row.len() > ROOM {
                return r;
            }
            push(self, row, a.start(k.get()), r as u16);
        }
        ks.len()
    }
}

#[cfg(target_arch = "x86_64")]
mod v3 {
    use super::{EntriesWithin, Index, ROOM, Range, RowsOf, SLACK};
    use crate::simd::SET_BITS;
    use std::arch::x86_64::{
        _mm_loadl_epi64, _mm_set1_epi16, _mm_srli_epi64, _mm_storeu_si128, _mm256_add_epi64, _mm256_andnot_si256,
        _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_cvtepu8_epi64, _mm256_maskload_epi32,
        _mm256_max_epu32, _mm256_movemask_ps, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi32,
        _mm256_storeu_si256, _mm256_sub_epi32,
    };

    /// Like [`EntriesWithin::fill`], eight entries at a time.
    /// # Safety
    /// The processor must have AVX2, BMI and POPCNT, and `I` be `u32`.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn fill<I: Index>(
        list: &mut EntriesWithin,
        a: &RowsOf<'_, I, ()>,
        ks: &[I],
        cols: &Range<usize>,
    ) -> usize {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        // Unsigned j − start < width.
        let (start, width) = (_mm256_set1_epi32(cols.start as i32), _mm256_set1_epi32(cols.len() as i32));
        list.fill_by(a, ks, |list, row, first, r| {
            let (mut q, mut n) = (0, list.len);
            // Processes empty rows, too: a branch on them would be unpredictable.
            loop {
                let left = row.len() - q;
                debug_assert!(n + left.min(8) <= ROOM && SLACK == 8);
                // SAFETY: 1. lanes of at most `left` columns are read; 2. the index is a byte; 3. n is at most `ROOM`,
                // as `fill_by` ensures, and eight more entries have room.
                unsafe {
                    let here = _mm256_cmpgt_epi32(_mm256_set1_epi32(left.min(8) as i32), lanes);
                    let js = _mm256_maskload_epi32(row.as_ptr().add(q).cast(), here);
                    let behind = _mm256_sub_epi32(js, start);
                    let outside = _mm256_cmpeq_epi32(_mm256_max_epu32(behind, width), behind);
                    let bits = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_andnot_si256(outside, here)));
                    let places = _mm_loadl_epi64(SET_BITS[bits as usize & 255].as_ptr().cast());
                    let at = _mm256_set1_epi64x((first + q) as i64);
                    let to = list.entries.as_mut_ptr().add(n);
                    _mm256_storeu_si256(to.cast(), _mm256_add_epi64(_mm256_cvtepu8_epi64(places), at));
                    let high = _mm256_cvtepu8_epi64(_mm_srli_epi64::<32>(places));
                    _mm256_storeu_si256(to.add(4).cast(), _mm256_add_epi64(high, at));
                    _mm_storeu_si128(list.rows.as_mut_ptr().add(n).cast(), _mm_set1_epi16(r.cast_signed()));
                    n += bits.count_ones() as usize;
                }
                q += 8;
                if q >= row.len() {
                    break;
                }
            }
            list.len = n;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;

    /// Rows of any length, including empty ones, in any order and repeated, within various ranges.
    #[test]
    fn lists_the_selected_columns() {
        fn check<I: Index>(by_registers: bool) {
            let mut seed = 0;
            let mut random = |below: usize| {
                seed += 1;
                sparring_generate::splitmix64(seed) as usize % below
            };
            let (mut ptr, mut cols) = (vec![0], vec![]);
            for _ in 0..300 {
                let (len, width) = ([0, 1, 3, 8, 9, 64, 65, 200][random(8)], 1 + random(9));
                cols.extend((0..len).map(|j| I::cast(j * width + random(width))));
                ptr.push(cols.len());
            }
            let a = Pattern::<I>::new(300, 2000, ptr, cols).unwrap();
            let ks: Vec<I> = (0..900).map(|_| I::cast(random(300))).collect();
            let mut list = EntriesWithin { by_registers, ..EntriesWithin::new::<I>() };
            for range in [0..2000, 0..0, 7..8, 3..300, 290..2000, 1999..2000] {
                let mut p = 0;
                while p < ks.len() {
                    let rows = list.fill(&RowsOf::without_values(&a), &ks[p..], &range);
                    let of_row = |r: usize| {
                        let k = ks[p + r].get();
                        (a.row_ptr()[k]..a.row_ptr()[k + 1]).map(move |q| (r as u16, q))
                    };
                    let want = (0..rows).flat_map(of_row).filter(|e| range.contains(&a.col_idx()[e.1].get()));
                    let (of, at) = list.list();
                    assert!(of.iter().copied().zip(at.iter().copied()).eq(want), "{range:?} {by_registers}");
                    p += rows;
                    if let Some(k) = ks.get(p) {
                        let len = a.row(k.get()).len();
                        assert!(len > EntriesWithin::SHORT || of.len() + len > ROOM);
                        p += usize::from(len > EntriesWithin::SHORT);
                    }
                }
            }
        }
        check::<u32>(false);
        check::<u64>(EntriesWithin::new::<u64>().by_registers);
        check::<u32>(EntriesWithin::new::<u32>().by_registers);
    }
}
