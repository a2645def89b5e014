//! Short lists of columns: sorted and freed of repeats in registers.

#[cfg(target_arch = "x86_64")]
mod network;

use std::any::TypeId;

use crate::Index;

/// Longest list that [`sort_dedup`] takes.
pub(crate) const SHORT: usize = 128;

/// A list of columns on the stack, filled by [`push_all`](ShortList::push_all).
pub(crate) struct ShortList<I> {
    cols: [I; SHORT + LANES],
    len: usize,
}

/// Columns in the widest vector register.
const LANES: usize = 16;

impl<I: Index> ShortList<I> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { cols: [I::LAST; SHORT + LANES], len: 0 }
    }

    /// Empties the list.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends `row`, a part of `all`.
    /// # Panics
    /// If the list grows beyond [`SHORT`].
    #[inline(always)]
    pub(crate) fn push_all(&mut self, all: &[I], row: &[I]) {
        assert!(self.len + row.len() <= SHORT);
        let to = &mut self.cols[self.len..];
        let left = (all.as_ptr_range().end as usize).saturating_sub(row.as_ptr() as usize) / size_of::<I>();
        if row.len() <= LANES && left >= LANES && all.as_ptr() <= row.as_ptr() {
            // One whole vector: what it copies beyond the row is overwritten by the next row or by the padding.
            // SAFETY: the row lies in `all`, whose elements reach LANES beyond its start; the list has LANES of slack.
            unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), to.as_mut_ptr(), LANES) };
        } else {
            to[..row.len()].copy_from_slice(row);
        }
        self.len += row.len();
    }

    /// Writes the columns to `out` in increasing order, each once, and returns how many there are.
    /// # Panics
    /// If `out` is shorter than the list rounded up to whole vectors, and one vector more.
    #[inline(always)]
    pub(crate) fn sort_dedup(&mut self, out: &mut [I]) -> usize {
        #[cfg(target_arch = "x86_64")]
        if TypeId::of::<I>() == TypeId::of::<u32>() && super::has_v3() {
            // SAFETY: the processor has AVX2, and AVX-512 where that is said; `I` is `u32`.
            return unsafe { self.sort_in_registers(super::has_v4(), out) };
        }
        let list = &mut self.cols[..self.len];
        list.sort_unstable();
        let mut n = 0;
        for &j in &*list {
            if n == 0 || out[n - 1] != j {
                out[n] = j;
                n += 1;
            }
        }
        n
    }

    /// As [`sort_dedup`](Self::sort_dedup), by vectors of sixteen or eight columns.
    /// # Safety
    /// `I` must be `u32`, and the processor have AVX-512 if `wide`, else AVX2.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn sort_in_registers(&mut self, wide: bool, out: &mut [I]) -> usize {
        use network::{v3, v4};
        let lanes = if wide { v4::LANES } else { v3::LANES };
        let (used, vectors) = (self.len.div_ceil(lanes), self.len.div_ceil(lanes).next_power_of_two());
        // As many as fit in any case: a fill of a length that is known takes one instruction.
        self.cols[self.len..][..LANES].fill(I::LAST);
        for v in used..vectors {
            self.cols[v * lanes..][..lanes].fill(I::LAST);
        }
        assert!(out.len() >= self.len + 2 * LANES);
        let (from, to) = (self.cols.as_ptr().cast(), out.as_mut_ptr().cast());
        // SAFETY: 1. the instructions are there, and elements are u32 (the caller's); 2. `cols` holds `vectors` whole vectors,
        // padded with LAST; 3. each store of `out` begins at a column already counted, of which there are at most `len`,
        // and is at most LANES long.
        unsafe {
            match (used, vectors) {
                (0, _) => 0,
                (_, 1) if wide => v4::sort_dedup::<1>(from, to),
                (_, 2) if wide => v4::sort_dedup::<2>(from, to),
                (_, 4) if wide => v4::sort_dedup::<4>(from, to),
                _ if wide => v4::sort_dedup::<8>(from, to),
                (_, 1) => v3::sort_dedup::<1>(from, to),
                (_, 2) => v3::sort_dedup::<2>(from, to),
                (_, 4) => v3::sort_dedup::<4>(from, to),
                (_, 8) => v3::sort_dedup::<8>(from, to),
                _ => v3::sort_dedup::<16>(from, to),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_and_dedups_like_the_standard_library() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        };
        for len in (0..=SHORT).step_by(if cfg!(miri) { 9 } else { 1 }) {
            for bound in [1, 3, 50, 1 << 20, u64::from(u32::MAX) - 1] {
                let all: Vec<u32> = (0..len).map(|_| (next() % bound) as u32).collect();
                let mut list = ShortList::<u32>::new();
                let mut wide = ShortList::<u64>::new();
                let cut = if len == 0 { 0 } else { next() as usize % len };
                list.push_all(&all, &all[..cut]);
                list.push_all(&all, &all[cut..]);
                let all_wide: Vec<u64> = all.iter().map(|&j| u64::from(j)).collect();
                wide.push_all(&all_wide, &all_wide);
                let mut want = all.clone();
                want.sort_unstable();
                want.dedup();
                let mut out = vec![0; SHORT + 64];
                #[cfg(target_arch = "x86_64")]
                if crate::simd::has_v3() {
                    let mut narrow = ShortList { cols: list.cols, len };
                    // SAFETY: the processor has AVX2.
                    let n = unsafe { narrow.sort_in_registers(false, &mut out) };
                    assert_eq!(&out[..n], &want[..], "{len} columns below {bound}, eight at a time");
                    out.fill(0);
                }
                let n = list.sort_dedup(&mut out);
                assert_eq!(&out[..n], &want[..], "{len} columns below {bound}");
                let mut out = vec![0; SHORT + 64];
                let n = wide.sort_dedup(&mut out);
                assert!(out[..n].iter().copied().eq(want.iter().map(|&j| u64::from(j))));
            }
        }
    }
}
