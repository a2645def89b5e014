//! The list of products that a mask allows, compiled before they are computed.

use super::sort::Registers;
use crate::Index;
use crate::Result;
use crate::par::filled;

/// Capacity of the list.
const ROOM: usize = 1024;
/// Most entries of a row of B that are filtered together.
pub(crate) const MASKED_AT_ONCE: usize = ROOM / 2;
/// The slot of a column without one.
pub(crate) const NONE: u32 = u32::MAX;
/// Most allowed columns for which products are compared with all of them instead of being looked up in a table.
const COMPARED: usize = 16;
/// Elements that a vector store may write beyond the last one.
const LANES: usize = 16;

/// Some products of a row of A: entry `p` of that row, relative to its first, times entry `q` of B, added to slot `s`.
pub(crate) struct MaskedProducts {
    p: Vec<u32>,
    q: Vec<u32>,
    s: Vec<u32>,
    len: usize,
    by: Registers,
}

impl MaskedProducts {
    /// For columns of type `I`.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new<I: Index>() -> Result<Self> {
        let room = || filled(ROOM + LANES, 0, "products under a mask");
        Ok(Self { p: room()?, q: room()?, s: room()?, len: 0, by: Registers::new::<I>() })
    }
    /// Bytes that [`new`](Self::new) allocates.
    pub(crate) const BYTES: u128 = 3 * 4 * (ROOM + LANES) as u128;
    /// Empties the list.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }
    /// Whether there is no room for [`MASKED_AT_ONCE`] more products.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.len > ROOM - MASKED_AT_ONCE
    }
    /// `p`, `q` and `s` of each product, in order.
    #[inline(always)]
    pub(crate) fn each(&self) -> (&[u32], &[u32], &[u32]) {
        (&self.p[..self.len], &self.q[..self.len], &self.s[..self.len])
    }
    /// Adds `by` to each product's position in B, modulo 2³².
    #[inline(always)]
    pub(crate) fn move_by(&mut self, by: u32) {
        self.q[..self.len].iter_mut().for_each(|q| *q = q.wrapping_add(by));
    }
    /// Whether the number of allowed columns is so small that each is compared with the columns of all products,
    /// sixteen at once ([`list`](Self::list), then [`keep`](Self::keep)), instead of looking all of them up in a table
    /// ([`add`](Self::add)).
    #[inline(always)]
    pub(crate) fn compares(&self, cols: usize) -> bool {
        self.by == Registers::Sixteen && cols <= COMPARED
    }
    /// Appends the products of entry `p` of a row of A with consecutive entries of B, the first of which has position
    /// `q` and column `js[0]`; their columns are stored in place of slots.
    /// # Panics
    /// If the list is full, there are more than [`MASKED_AT_ONCE`] columns, or the list does not
    /// [compare](Self::compares).
    #[inline(always)]
    pub(crate) fn list<I: Index>(&mut self, p: u32, q: u32, js: &[I]) {
        assert!(self.compares(0) && !self.is_full() && js.len() <= MASKED_AT_ONCE);
        // SAFETY: the processor has AVX-512 and `I` is `u32`; all columns and LANES more have room.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            v4::list(self, p, q, (js.as_ptr().cast(), js.len()))
        };
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("{p} {q}: only registers of sixteen compare");
    }
    /// Of the [listed](Self::list) products, keeps those whose columns are in `cols`; their index there becomes their
    /// slot.
    /// # Panics
    /// If the list does not [compare](Self::compares).
    #[inline(always)]
    pub(crate) fn keep<I: Index>(&mut self, cols: &[I]) {
        assert!(self.compares(0));
        // SAFETY: the processor has AVX-512 and `I` is `u32`.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            v4::keep(self, (cols.as_ptr().cast(), cols.len()))
        };
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("{} columns: only registers of sixteen compare", cols.len());
    }
    /// Appends the products of entry `p` of a row of A with those of consecutive entries of B, the first of which has
    /// position `q` and column `js[0]`, whose columns have a slot: `table[j & (table.len() − 1)]`, if that is not
    /// [`NONE`].
    ///
    /// Branch-free.
    /// # Panics
    /// If the list is full, there are more than [`MASKED_AT_ONCE`] columns, or the table is empty or has more than 2³¹
    /// slots.
    #[inline(always)]
    pub(crate) fn add<I: Index>(&mut self, p: u32, q: u32, js: &[I], table: &[u32]) {
        assert!(!self.is_full() && js.len() <= MASKED_AT_ONCE && !table.is_empty() && table.len() <= 1 << 31);
        #[cfg(target_arch = "x86_64")]
        if self.by == Registers::Sixteen && js.len() >= FEW {
            // SAFETY: the processor has AVX-512 and `I` is `u32`; all columns and LANES more have room; the table is
            // not empty.
            unsafe { v4::add(self, p, q, (js.as_ptr().cast(), js.len()), table) };
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if self.by == Registers::Eight && js.len() >= 8 {
            // SAFETY: the same, for AVX2.
            let done = unsafe { v3::add(self, p, q, (js.as_ptr().cast(), js.len()), table) };
            self.add_each(p, q.wrapping_add(done as u32), &js[done..], table);
            return;
        }
        self.add_each(p, q, js, table);
    }
    /// Like [`add`](Self::add) or [`list`](Self::list), for increasing columns `js` and far fewer allowed columns
    /// `cols`, which are searched for: stores their slots, or their columns if `compares`.
    /// # Panics
    /// If the list is full, or there are more than [`MASKED_AT_ONCE`] of `cols`.
    #[inline(never)]
    pub(crate) fn search<I: Index>(&mut self, p: u32, q: u32, js: &[I], (cols, slot): (&[I], usize), compares: bool) {
        assert!(!self.is_full() && cols.len() <= MASKED_AT_ONCE);
        let mut n = self.len;
        search(js, cols, |at, s, found| {
            let value = if compares { cols[s].get() as u32 } else { (slot + s) as u32 };
            (self.p[n], self.q[n], self.s[n]) = (p, q.wrapping_add(at as u32), value);
            n += usize::from(found);
        });
        self.len = n;
    }
    /// Like [`add`](Self::add), one column after another.
    #[inline(always)]
    fn add_each<I: Index>(&mut self, p: u32, q: u32, js: &[I], table: &[u32]) {
        let (mask, mut n) = (table.len() - 1, self.len);
        for (t, j) in js.iter().enumerate() {
            // SAFETY: 1. an index & (length − 1) is less than the length; 2. n ≤ len + t < ROOM, the length of all
            // three.
            unsafe {
                let s = *table.get_unchecked(j.get() & mask);
                *self.p.get_unchecked_mut(n) = p;
                *self.q.get_unchecked_mut(n) = q.wrapping_add(t as u32);
                *self.s.get_unchecked_mut(n) = s;
                n += usize::from(s != NONE);
            }
        }
        self.len = n;
    }
}

/// Calls `found` for each of the increasing `cols`, with its position in the increasing `js`, its position in `cols`,
/// and whether `js` has it.
#[inline(always)]
fn search<I: Index>(js: &[I], cols: &[I], mut found: impl FnMut(usize, usize, bool)) {
    for (s, j) in cols.iter().enumerate() {
        // The last column that is no larger. Branch-free.
        let (mut at, mut len) = (0, js.len());
        while len > 1 {
            let half = len / 2;
            at = std::hint::select_unpredictable(js[at + half] <= *j, at + half, at);
            len -= half;
        }
        found(at, s, js.get(at) == Some(j));
    }
}

/// Columns from which on vectors look up sixteen at once.
#[cfg(target_arch = "x86_64")]
const FEW: usize = 6;

#[cfg(target_arch = "x86_64")]
mod v4 {
    use super::{MaskedProducts, NONE};
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_and_si512, _mm512_cmpeq_epi32_mask, _mm512_loadu_si512, _mm512_mask_cmpneq_epi32_mask,
        _mm512_mask_i32gather_epi32, _mm512_mask_mov_epi32, _mm512_maskz_compress_epi32, _mm512_maskz_loadu_epi32,
        _mm512_set_epi32, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
    };

    /// Like [`MaskedProducts::list`].
    /// # Safety
    /// The processor must have AVX-512; `js` must be valid for `len` columns, which and 16 more must have room.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) unsafe fn list(list: &mut MaskedProducts, p: u32, q: u32, (js, len): (*const u32, usize)) {
        let iota = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        let (ps, mut t) = (_mm512_set1_epi32(p as i32), 0);
        while t < len {
            let lanes = if len - t >= 16 { u16::MAX } else { (1 << (len - t)) - 1 };
            let (qs, n) = (_mm512_add_epi32(_mm512_set1_epi32(q.wrapping_add(t as u32) as i32), iota), list.len + t);
            // SAFETY: 1. masked-out lanes are not read; 2. n + 16 < len of list + len + 16.
            unsafe {
                _mm512_storeu_si512(list.p.as_mut_ptr().add(n).cast(), ps);
                _mm512_storeu_si512(list.q.as_mut_ptr().add(n).cast(), qs);
                _mm512_storeu_si512(
                    list.s.as_mut_ptr().add(n).cast(),
                    _mm512_maskz_loadu_epi32(lanes, js.add(t).cast()),
                );
            }
            t += 16;
        }
        list.len += len;
    }

    /// Like [`MaskedProducts::keep`].
    /// # Safety
    /// The processor must have AVX-512, and `cols` be valid for `slots` columns.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    pub(super) unsafe fn keep(list: &mut MaskedProducts, (cols, slots): (*const u32, usize)) {
        let (none, one) = (_mm512_set1_epi32(NONE as i32), _mm512_set1_epi32(1));
        let (mut n, mut t) = (0, 0);
        while t < list.len {
            let lanes = if list.len - t >= 16 { u16::MAX } else { (1 << (list.len - t)) - 1 };
            // SAFETY: 1. t < len, and 16 more elements follow; 2. `cols` has `slots` columns; 3. n ≤ t, so only
            // elements already read are overwritten.
            unsafe {
                let (ps, qs, js) = (list.p.as_ptr().add(t), list.q.as_ptr().add(t), list.s.as_ptr().add(t));
                let js = _mm512_loadu_si512(js.cast());
                let (mut s, mut slot) = (none, _mm512_setzero_si512());
                for c in 0..slots {
                    let same = _mm512_cmpeq_epi32_mask(js, _mm512_set1_epi32(cols.add(c).read() as i32));
                    s = _mm512_mask_mov_epi32(s, same, slot);
                    slot = _mm512_add_epi32(slot, one);
                }
                let found = _mm512_mask_cmpneq_epi32_mask(lanes, s, none);
                let (ps, qs) = (_mm512_loadu_si512(ps.cast()), _mm512_loadu_si512(qs.cast()));
                let packed = [ps, qs, s].map(|x| _mm512_maskz_compress_epi32(found, x));
                let to = [&mut list.p, &mut list.q, &mut list.s];
                for (to, x) in to.into_iter().zip(packed) {
                    _mm512_storeu_si512(to.as_mut_ptr().add(n).cast(), x);
                }
                n += found.count_ones() as usize;
            }
            t += 16;
        }
        list.len = n;
    }

    /// Like [`MaskedProducts::add`].
    /// # Safety
    /// The processor must have AVX-512; `js` must be valid for `len` columns, which and 16 more must have room; the
    /// table must not be empty or have more than 2³¹ slots.
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    pub(super) unsafe fn add(list: &mut MaskedProducts, p: u32, q: u32, (js, len): (*const u32, usize), table: &[u32]) {
        let iota = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        let (ps, none) = (_mm512_set1_epi32(p as i32), _mm512_set1_epi32(NONE as i32));
        let last = _mm512_set1_epi32((table.len() - 1) as i32);
        let (mut n, mut t) = (list.len, 0);
        while t < len {
            let lanes = if len - t >= 16 { u16::MAX } else { (1 << (len - t)) - 1 };
            let qs = _mm512_add_epi32(_mm512_set1_epi32(q.wrapping_add(t as u32) as i32), iota);
            // SAFETY: 1. masked-out lanes are not read; 2. indices are less than the length of the table; 3. n + 16 ≤
            // len of list before + len + 16.
            unsafe {
                let j = _mm512_and_si512(_mm512_maskz_loadu_epi32(lanes, js.add(t).cast()), last);
                let s = _mm512_mask_i32gather_epi32::<4>(none, lanes, j, table.as_ptr().cast());
                let found = _mm512_mask_cmpneq_epi32_mask(lanes, s, none);
                _mm512_storeu_si512(list.p.as_mut_ptr().add(n).cast(), ps);
                _mm512_storeu_si512(list.q.as_mut_ptr().add(n).cast(), _mm512_maskz_compress_epi32(found, qs));
                _mm512_storeu_si512(list.s.as_mut_ptr().add(n).cast(), _mm512_maskz_compress_epi32(found, s));
                n += found.count_ones() as usize;
            }
            t += 16;
        }
        list.len = n;
    }
}

#[cfg(target_arch = "x86_64")]
mod v3 {
    use super::{MaskedProducts, NONE};
    use crate::simd::SET_BITS;
    use std::arch::x86_64::*;

    /// Like [`MaskedProducts::add`], eight columns at a time; returns the number of columns processed.
    /// # Safety
    /// The processor must have AVX2; `js` must be valid for `len` columns, which and 16 more must have room; the table
    /// must not be empty or have more than 2³¹ slots.
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    pub(super) unsafe fn add(
        list: &mut MaskedProducts,
        p: u32,
        q: u32,
        (js, len): (*const u32, usize),
        table: &[u32],
    ) -> usize {
        let (ps, none) = (_mm256_set1_epi32(p as i32), _mm256_set1_epi32(NONE as i32));
        let (last, iota) = (_mm256_set1_epi32((table.len() - 1) as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        let (mut n, mut t) = (list.len, 0);
        while t + 8 <= len {
            // SAFETY: 1. eight columns exist; 2. indices are less than the length of the table; 3. n + 8 ≤ len of list
            // before + len + 8; 4. eight bits are an index of `SET_BITS`.
            unsafe {
                let j = _mm256_and_si256(_mm256_loadu_si256(js.add(t).cast()), last);
                let s = _mm256_i32gather_epi32::<4>(table.as_ptr().cast(), j);
                let missed = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(s, none))) as u32;
                // The common case for a row that is long compared with the mask.
                if missed != 255 {
                    let found = (missed ^ 255) as usize;
                    let order = _mm256_cvtepu8_epi32(_mm_loadl_epi64(SET_BITS[found].as_ptr().cast()));
                    let first = _mm256_set1_epi32(q.wrapping_add(t as u32) as i32);
                    let qs = _mm256_add_epi32(first, _mm256_permutevar8x32_epi32(iota, order));
                    _mm256_storeu_si256(list.p.as_mut_ptr().add(n).cast(), ps);
                    _mm256_storeu_si256(list.q.as_mut_ptr().add(n).cast(), qs);
                    _mm256_storeu_si256(list.s.as_mut_ptr().add(n).cast(), _mm256_permutevar8x32_epi32(s, order));
                    n += found.count_ones() as usize;
                }
            }
            t += 8;
        }
        list.len = n;
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of any length, of both index types, where some, all or no columns have slots.
    #[test]
    fn agrees_with_a_plain_loop() {
        fn check<I: Index>(by: Registers) {
            let mut list = MaskedProducts::new::<I>().unwrap();
            list.by = by;
            for every in [1, 2, 5, 1000] {
                let table: Vec<u32> = (0..256u32).map(|j| if j % every == 0 { j / every } else { NONE }).collect();
                list.clear();
                let mut want = Vec::new();
                for len in (0..40).chain([MASKED_AT_ONCE]) {
                    let js: Vec<I> = (0..len).map(|j| I::cast((j * 7 + len) % 256)).collect();
                    if list.is_full() {
                        list.clear();
                        want.clear();
                    }
                    list.add(len as u32, 1000 * len as u32, &js, &table);
                    for (t, j) in js.iter().enumerate().filter(|(_, j)| table[j.get()] != NONE) {
                        want.push((len as u32, (1000 * len + t) as u32, table[j.get()]));
                    }
                    let (p, q, s) = list.each();
                    let found: Vec<_> = p.iter().zip(q).zip(s).map(|((&p, &q), &s)| (p, q, s)).collect();
                    assert_eq!(found, want, "{len} columns, one in {every}");
                }
            }
        }
        check::<u32>(Registers::new::<u32>());
        #[cfg(target_arch = "x86_64")]
        if crate::simd::has_v3() {
            check::<u32>(Registers::Eight);
        }
        check::<u32>(Registers::None);
        check::<u64>(Registers::new::<u64>());
    }

    /// Rows of any length that have all, some or none of the allowed columns: the same result as with a table.
    #[test]
    fn searching_agrees_with_a_table() {
        fn check<I: Index>() {
            let (mut searched, mut looked_up) =
                (MaskedProducts::new::<I>().unwrap(), MaskedProducts::new::<I>().unwrap());
            for len in 0..40 {
                for (every, from) in [(1, 0), (3, 1), (7, 90), (200, 255)] {
                    let js: Vec<I> = (0..len).map(|j| I::cast(5 * j + len)).collect();
                    let cols: Vec<I> = (from..256).step_by(every).map(I::cast).collect();
                    let mut table = [NONE; 256];
                    (3..).zip(&cols).for_each(|(s, j)| table[j.get()] = s);
                    searched.clear();
                    looked_up.clear();
                    searched.search(2, 70, &js, (&cols, 3), false);
                    looked_up.add(2, 70, &js, &table);
                    assert_eq!(searched.each(), looked_up.each(), "{len} columns, one in {every} from {from}");
                    searched.clear();
                    searched.search(2, 70, &js, (&cols, 3), true);
                    let columns: Vec<u32> =
                        looked_up.each().2.iter().map(|&s| cols[s as usize - 3].get() as u32).collect();
                    assert_eq!(searched.each(), (looked_up.each().0, looked_up.each().1, &columns[..]));
                }
            }
        }
        check::<u32>();
        check::<u64>();
    }

    /// Few allowed columns, or none: the products kept are those that a table finds.
    #[test]
    fn comparing_agrees_with_a_table() {
        let (mut compared, mut looked_up) =
            (MaskedProducts::new::<u32>().unwrap(), MaskedProducts::new::<u32>().unwrap());
        if !compared.compares(COMPARED) {
            println!("skipped: no AVX-512");
            return;
        }
        assert!(!compared.compares(COMPARED + 1) && !MaskedProducts::new::<u64>().unwrap().compares(0));
        for slots in 0..=COMPARED {
            let cols: Vec<u32> = (0..slots as u32).map(|s| s * 5 % 64).collect();
            let mut table = [NONE; 64];
            for (s, &j) in (0..).zip(&cols) {
                table[j as usize] = s;
            }
            for rows in [0, 1, 3, 20] {
                compared.clear();
                looked_up.clear();
                for p in 0..rows {
                    let js: Vec<u32> = (0..p * 7 % 40).map(|j| (j * 3 + p) % 64).collect();
                    compared.list(p, 100 * p, &js);
                    looked_up.add(p, 100 * p, &js, &table);
                }
                compared.keep(&cols);
                assert_eq!(compared.each(), looked_up.each(), "{slots} columns, {rows} rows");
            }
        }
    }
}
