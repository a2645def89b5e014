//! The positions of the entries of two sorted rows in their union.

use super::sort::Registers;
use crate::Index;

/// Entries of a row that are processed together.
const PART: usize = 1024;
/// Elements that a vector store may write beyond the last one.
const SLACK: usize = 32;
/// Flags the position of an entry that is in both rows.
const COMMON: u32 = 1 << 31;

/// Positions of entries in the union of two rows, or of several consecutive pairs of rows. One per thread.
pub(crate) struct RowUnion {
    a: [u32; PART + SLACK],
    b: [u32; PART + SLACK],
    /// Entries of either side processed so far.
    entries: (usize, usize),
    /// Entries of the union so far.
    len: usize,
    by: Registers,
}

impl RowUnion {
    /// For columns of type `I`.
    pub(crate) fn new<I: Index>() -> Self {
        Self { a: [0; PART + SLACK], b: [0; PART + SLACK], entries: (0, 0), len: 0, by: Registers::new::<I>() }
    }
    /// Forgets all rows.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        (self.entries, self.len) = ((0, 0), 0);
    }
    /// Entries of either side processed so far.
    #[inline(always)]
    pub(crate) fn entries(&self) -> (usize, usize) {
        self.entries
    }
    /// Entries of the union so far.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// The position of each entry of the first rows.
    #[inline(always)]
    pub(crate) fn of_a(&self) -> impl Iterator<Item = usize> {
        self.a[..self.entries.0].iter().map(|&p| p as usize)
    }
    /// The position of each entry of the second rows, and whether the first row has the column too.
    #[inline(always)]
    pub(crate) fn of_b(&self) -> impl Iterator<Item = (usize, bool)> {
        self.b[..self.entries.1].iter().map(|&p| ((p & !COMMON) as usize, p & COMMON != 0))
    }

    /// Writes the union of two sorted rows to the beginning of `cols` and `values`, whose contents are overwritten: an
    /// entry of one row unchanged, entries of both as `both(x, y)`. Returns the number of entries. `both` is called for
    /// other values as well, with its result ignored.
    ///
    /// Positions are computed first, by independent comparisons; then entries are scattered to them.
    /// # Panics
    /// If there is not enough room.
    #[inline(always)]
    pub(crate) fn rows<I: Index, T: Copy>(
        &mut self,
        (mut ja, mut xa): (&[I], &[T]),
        (mut jb, mut xb): (&[I], &[T]),
        (cols, values): (&mut [I], &mut [T]),
        both: impl Fn(T, T) -> T,
    ) -> usize {
        let mut at = 0;
        while !ja.is_empty() && !jb.is_empty() {
            let (m, n) = parts(ja, jb, PART);
            let ((ks, ja_rest), (ls, jb_rest)) = (ja.split_at(m), jb.split_at(n));
            let ((xs, xa_rest), (ys, xb_rest)) = (xa.split_at(m), xb.split_at(n));
            self.clear();
            self.append(ks, ls);
            let len = self.len;
            let (cols, values) = (&mut cols[at..at + len], &mut values[at..at + len]);
            for ((p, &k), &x) in self.of_a().zip(ks).zip(xs) {
                (cols[p], values[p]) = (k, x);
            }
            for (((p, common), &l), &y) in self.of_b().zip(ls).zip(ys) {
                let z = both(values[p], y);
                (cols[p], values[p]) = (l, if common { z } else { y });
            }
            (ja, xa, jb, xb, at) = (ja_rest, xa_rest, jb_rest, xb_rest, at + len);
        }
        for (js, xs) in [(ja, xa), (jb, xb)] {
            cols[at..at + js.len()].copy_from_slice(js);
            values[at..at + xs.len()].copy_from_slice(xs);
            at += js.len();
        }
        at
    }

    /// Computes the position of each entry of two rows, continuing after earlier rows.
    /// # Panics
    /// If there are more than 1,024 entries of either side.
    #[inline(always)]
    pub(crate) fn append<I: Index>(&mut self, ja: &[I], jb: &[I]) {
        let (to_a, to_b) = (self.entries.0, self.entries.1);
        assert!(ja.len() <= PART - to_a && jb.len() <= PART - to_b);
        self.entries = (to_a + ja.len(), to_b + jb.len());
        let (of_a, of_b) = (&mut self.a[to_a..], &mut self.b[to_b..]);
        #[cfg(target_arch = "x86_64")]
        if self.by == Registers::Sixteen {
            // SAFETY: the processor has AVX-512 and `I` is `u32`; the positions of all entries, and 32 more, have room.
            self.len = unsafe {
                let (ja, jb) = ((ja.as_ptr().cast(), ja.len()), (jb.as_ptr().cast(), jb.len()));
                v4::places(ja, jb, self.len, of_a.as_mut_ptr(), of_b.as_mut_ptr())
            };
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if self.by == Registers::Eight {
            // SAFETY: the processor has AVX2 and `I` is `u32`; the positions of all entries, and 32 more, have room.
            self.len = unsafe {
                let (ja, jb) = ((ja.as_ptr().cast(), ja.len()), (jb.as_ptr().cast(), jb.len()));
                v3::places(ja, jb, self.len, of_a.as_mut_ptr(), of_b.as_mut_ptr())
            };
            return;
        }
        let (mut p, mut q, mut n) = (0, 0, self.len as u32);
        while p < ja.len() && q < jb.len() {
            let (j, k) = (ja[p], jb[q]);
            of_a[p] = n;
            of_b[q] = if j == k { n | COMMON } else { n };
            (p, q, n) = (p + usize::from(j <= k), q + usize::from(k <= j), n + 1);
        }
        for (places, rest) in [(of_a, p..ja.len()), (of_b, q..jb.len())] {
            for place in &mut places[rest] {
                (*place, n) = (n, n + 1);
            }
        }
        self.len = n as usize;
    }
}

/// The number of entries of two rows to process together, at most `most` of each: all columns up to the lesser of the
/// two parts' last columns, so that one row is exhausted or one part is full.
#[inline(always)]
pub(crate) fn parts<I: Index>(ja: &[I], jb: &[I], most: usize) -> (usize, usize) {
    if ja.len() <= most && jb.len() <= most {
        return (ja.len(), jb.len());
    }
    let (a, b) = (&ja[..ja.len().min(most)], &jb[..jb.len().min(most)]);
    let (Some(&j), Some(&k)) = (a.last(), b.last()) else { return (a.len(), b.len()) };
    let last = j.min(k);
    (a.partition_point(|&j| j <= last), b.partition_point(|&j| j <= last))
}

#[cfg(target_arch = "x86_64")]
mod v3 {
    use super::COMMON;
    use std::arch::x86_64::{
        _mm256_add_epi32, _mm256_andnot_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32,
        _mm256_maskload_epi32, _mm256_movemask_ps, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_storeu_si256,
        _mm256_sub_epi32, _mm256_xor_si256,
    };

    /// Like [`super::RowUnion::append`], from position `first` on: each column of B is compared with eight of A at
    /// once. Columns of A behind it move up by one if A lacks it.
    /// # Safety
    /// The processor must have AVX2 and POPCNT; the rows must be valid for their lengths, `pa` and `pb` for as many
    /// positions and 7 more.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) unsafe fn places(
        (ja, len_a): (*const u32, usize),
        (jb, len_b): (*const u32, usize),
        first: usize,
        pa: *mut u32,
        pb: *mut u32,
    ) -> usize {
        let iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        // Columns are compared as signed numbers in the same order.
        let sign = _mm256_set1_epi32(i32::MIN);
        let (mut p, mut q, mut n) = (0, 0, first as u32);
        while p < len_a {
            let here = (len_a - p).min(8);
            let lanes = (1_u32 << here) - 1;
            // SAFETY: masked-out lanes are not read; p + here − 1 < len_a.
            let (eight, last) = unsafe {
                let mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(here as i32), iota);
                (_mm256_maskload_epi32(ja.add(p).cast(), mask), ja.add(p + here - 1).read())
            };
            let eight = _mm256_xor_si256(eight, sign);
            let mut places = _mm256_add_epi32(iota, _mm256_set1_epi32(n as i32));
            let mut new = 0;
            while q < len_b {
                // SAFETY: q < len_b.
                let k = unsafe { jb.add(q).read() };
                if k > last {
                    break;
                }
                let k = _mm256_set1_epi32((k as i32) ^ i32::MIN);
                let (behind, equal) = (_mm256_cmpgt_epi32(eight, k), _mm256_cmpeq_epi32(eight, k));
                let bits = |x| _mm256_movemask_ps(_mm256_castsi256_ps(x)) as u32 & lanes;
                let common = bits(equal) != 0;
                let before = here as u32 - bits(behind).count_ones() - u32::from(common);
                // SAFETY: as above.
                unsafe { pb.add(q).write((n + before + new) | if common { COMMON } else { 0 }) };
                let stay = _mm256_set1_epi32(-i32::from(common));
                places = _mm256_sub_epi32(places, _mm256_andnot_si256(stay, behind));
                new += 1 - u32::from(common);
                q += 1;
            }
            // SAFETY: p + 8 ≤ len_a + 7.
            unsafe { _mm256_storeu_si256(pa.add(p).cast(), places) };
            p += here;
            n += here as u32 + new;
        }
        while q < len_b {
            // SAFETY: q < len_b.
            unsafe { pb.add(q).write(n) };
            (q, n) = (q + 1, n + 1);
        }
        n as usize
    }
}

#[cfg(target_arch = "x86_64")]
mod v4 {
    use super::COMMON;
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_cmpeq_epu32_mask, _mm512_mask_cmplt_epu32_mask, _mm512_maskz_compress_epi32,
        _mm512_maskz_loadu_epi32, _mm512_set_epi32, _mm512_set1_epi32, _mm512_storeu_si512,
    };

    /// Like [`super::RowUnion::append`], from position `first` on: each column of B is compared with sixteen of A at
    /// once, which yields the number of columns before it.
    /// # Safety
    /// The processor must have AVX-512; the rows must be valid for their lengths, `pa` and `pb` for as many positions
    /// and 32 more.
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) unsafe fn places(
        (ja, len_a): (*const u32, usize),
        (jb, len_b): (*const u32, usize),
        first: usize,
        pa: *mut u32,
        pb: *mut u32,
    ) -> usize {
        let iota = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        let high = _mm512_add_epi32(iota, _mm512_set1_epi32(16));
        let (mut p, mut q, mut n) = (0, 0, first as u32);
        while p < len_a {
            let mut here = (len_a - p).min(16);
            let lanes = if here == 16 { u16::MAX } else { (1 << here) - 1 };
            // SAFETY: masked-out lanes are not read; p + here − 1 < len_a.
            let (sixteen, last) =
                unsafe { (_mm512_maskz_loadu_epi32(lanes, ja.add(p).cast()), ja.add(p + here - 1).read()) };
            // Positions from `n` on that only B has, and their number.
            let (mut only, mut new) = (0_u32, 0);
            while q < len_b {
                // SAFETY: q < len_b.
                let k = unsafe { jb.add(q).read() };
                if k > last {
                    break;
                }
                let k = _mm512_set1_epi32(k as i32);
                let before = _mm512_mask_cmplt_epu32_mask(lanes, sixteen, k).count_ones();
                if new == 16 {
                    // The masks are full: the rest is left to the next sixteen columns of A, which begin after those
                    // already placed.
                    here = before as usize;
                    break;
                }
                let common = _mm512_cmpeq_epu32_mask(sixteen, k) & lanes != 0;
                let place = before + new;
                // SAFETY: as above.
                unsafe { pb.add(q).write((n + place) | if common { COMMON } else { 0 }) };
                only |= u32::from(!common) << place;
                new += u32::from(!common);
                q += 1;
            }
            let places = !only;
            let at = _mm512_set1_epi32(n as i32);
            // SAFETY: at most p + 32 positions are written, of len_a + 32.
            unsafe {
                let low = _mm512_add_epi32(_mm512_maskz_compress_epi32(places as u16, iota), at);
                _mm512_storeu_si512(pa.add(p).cast(), low);
                let high = _mm512_add_epi32(_mm512_maskz_compress_epi32((places >> 16) as u16, high), at);
                _mm512_storeu_si512(pa.add(p + (places as u16).count_ones() as usize).cast(), high);
            }
            p += here;
            n += here as u32 + new;
        }
        while q < len_b {
            // SAFETY: q < len_b.
            unsafe { pb.add(q).write(n) };
            (q, n) = (q + 1, n + 1);
        }
        n as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Rows of any length and density, including disjoint ranges, of both index types, with and without vectors,
    /// compared with a map.
    #[test]
    fn agrees_with_a_map() {
        fn check<I: Index>(by: Registers) {
            let mut union = RowUnion::new::<I>();
            union.by = by;
            let mut seed = 0;
            let mut random = |below: usize| {
                seed += 1;
                sparring_generate::splitmix64(seed) as usize % below
            };
            let lens = [0, 1, 2, 5, 15, 16, 17, 31, 40, 100, 1023, 1024, 1025, 3000];
            for (t, &m) in lens.iter().enumerate() {
                for &n in &lens {
                    for width in [1, 2, 40] {
                        let mut row = |len: usize, mul: u64| {
                            let first = random(3) * (len / 2);
                            let cols: BTreeMap<usize, u64> = (0..len)
                                .map(|j| (first + j * width + random(width), mul * (1 + random(1000) as u64)))
                                .collect();
                            cols
                        };
                        let (a, b) = (row(m, 1), row(n, 1_000_000));
                        let mut want = a.clone();
                        b.iter().for_each(|(&j, y)| *want.entry(j).or_default() += y);
                        let split = |row: &BTreeMap<usize, u64>| -> (Vec<I>, Vec<u64>) {
                            row.iter().map(|(&j, &x)| (I::cast(j), x)).unzip()
                        };
                        let ((ja, xa), (jb, xb), want) = (split(&a), split(&b), split(&want));
                        let (mut cols, mut values) = (vec![I::cast(t); m + n], vec![7; m + n]);
                        let len =
                            union.rows((&ja, &xa), (&jb, &xb), (&mut cols, &mut values), |x, y| x.wrapping_add(y));
                        assert_eq!((&cols[..len], &values[..len]), (&want.0[..], &want.1[..]), "{m}, {n}, {width}");
                    }
                }
            }
            // The largest possible column.
            let (last, mut cols, mut values) = ([I::cast(u32::MAX as usize)], [I::cast(0); 2], [0; 2]);
            assert_eq!(union.rows((&last, &[1]), (&last, &[2]), (&mut cols, &mut values), |x, y| x + y), 1);
            assert_eq!((cols[0], values[0]), (last[0], 3));
        }
        check::<u32>(Registers::new::<u32>());
        if Registers::new::<u32>() == Registers::Sixteen {
            check::<u32>(Registers::Eight);
        }
        check::<u32>(Registers::None);
        check::<u64>(Registers::new::<u64>());
    }
}
