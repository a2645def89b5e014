//! Where two sorted rows have a column in common.

use super::sort::Registers;
use crate::Index;

/// Finds the columns that two rows share. One per thread.
pub(crate) struct RowCommon {
    by: Registers,
}

impl RowCommon {
    /// For columns of type `I`.
    pub(crate) fn new<I: Index>() -> Self {
        Self { by: Registers::new::<I>() }
    }

    /// Writes the positions (p, q) of each column that two rows share, `ja[p] = jb[q]`, in order; how many there are.
    /// Columns increase in both.
    ///
    /// Each column of the shorter row is compared with as many of the longer as a register holds, and no comparison
    /// decides where the next one is made: O(|shorter| + |longer| / lanes).
    /// # Panics
    /// If `to` has no room for the shorter row.
    #[inline(always)]
    pub(crate) fn positions<I: Index>(&self, ja: &[I], jb: &[I], to: &mut [(u32, u32)]) -> usize {
        assert!(ja.len().min(jb.len()) <= to.len());
        #[cfg(target_arch = "x86_64")]
        if self.by != Registers::None {
            let swap = ja.len() < jb.len();
            let (long, short) = if swap { (jb, ja) } else { (ja, jb) };
            let (long, short) = ((long.as_ptr().cast(), long.len()), (short.as_ptr().cast(), short.len()));
            // SAFETY: `I` is `u32`, the processor has these registers, and there is room for a pair for each column of
            // the shorter row.
            let n = unsafe {
                match self.by {
                    Registers::Sixteen => x86::sixteen(long, short, to.as_mut_ptr()),
                    _ => x86::eight(long, short, to.as_mut_ptr()),
                }
            };
            if swap {
                to[..n].iter_mut().for_each(|pair| *pair = (pair.1, pair.0));
            }
            return n;
        }
        let (mut p, mut q, mut n) = (0, 0, 0);
        while p < ja.len() && q < jb.len() {
            let (j, k) = (ja[p], jb[q]);
            to[n] = (p as u32, q as u32);
            n += usize::from(j == k);
            (p, q) = (p + usize::from(j <= k), q + usize::from(k <= j));
        }
        n
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_maskload_epi32, _mm256_movemask_ps,
        _mm256_set1_epi32, _mm256_setr_epi32, _mm512_mask_cmpeq_epu32_mask, _mm512_maskz_loadu_epi32,
        _mm512_set1_epi32,
    };

    /// As [`super::RowCommon::positions`], of the longer row first.
    macro_rules! positions {
        ($name:ident, $features:literal, $lanes:literal, $load:expr, $equal:expr) => {
            /// # Safety
            /// The processor must have these instructions; the rows be valid for so many columns, and `to` for as many
            /// pairs as the shorter row has.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name(
                (long, len): (*const u32, usize),
                (short, n_short): (*const u32, usize),
                to: *mut (u32, u32),
            ) -> usize {
                let (mut p, mut q, mut n) = (0, 0, 0);
                while p < len && q < n_short {
                    let here = (len - p).min($lanes);
                    // SAFETY: `here` columns from p on are in the row, and p + here − 1 < len.
                    let (columns, last) = unsafe { ($load(long.add(p), here), long.add(p + here - 1).read()) };
                    while q < n_short {
                        // SAFETY: q < n_short.
                        let k = unsafe { short.add(q).read() };
                        if k > last {
                            break;
                        }
                        let equal: u32 = $equal(columns, k, here);
                        // SAFETY: n ≤ q < n_short.
                        unsafe { to.add(n).write(((p as u32).wrapping_add(equal.trailing_zeros()), q as u32)) };
                        n += usize::from(equal != 0);
                        q += 1;
                    }
                    p += here;
                }
                n
            }
        };
    }
    positions!(
        sixteen,
        "avx512f",
        16,
        |at: *const u32, here: usize| _mm512_maskz_loadu_epi32(((1_u32 << here) - 1) as u16, at.cast()),
        |columns, k: u32, here: usize| {
            u32::from(_mm512_mask_cmpeq_epu32_mask(((1_u32 << here) - 1) as u16, columns, _mm512_set1_epi32(k as i32)))
        }
    );
    positions!(
        eight,
        "avx2",
        8,
        |at: *const u32, here: usize| {
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            _mm256_maskload_epi32(at.cast(), _mm256_cmpgt_epi32(_mm256_set1_epi32(here as i32), lanes))
        },
        |columns, k: u32, here: usize| {
            let equal =
                _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(columns, _mm256_set1_epi32(k as i32))));
            equal as u32 & ((1 << here) - 1)
        }
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of any length and density, of both types, by registers and without: a search for each says the same.
    #[test]
    fn agrees_with_a_search() {
        fn check<I: Index>(by: Registers) {
            let common = RowCommon { by };
            let mut seed = 0;
            let mut random = |below: usize| {
                seed += 1;
                sparring_generate::splitmix64(seed) as usize % below
            };
            for m in [0, 1, 2, 7, 8, 9, 15, 16, 17, 33, 128] {
                for n in [0, 1, 3, 8, 16, 31, 40, 128] {
                    for width in [1, 2, 9] {
                        let mut row = |len: usize| -> Vec<I> {
                            let first = random(5);
                            (0..len).map(|j| I::cast(first + j * width + random(width))).collect()
                        };
                        let (a, b) = (row(m), row(n));
                        let want: Vec<(u32, u32)> = a
                            .iter()
                            .enumerate()
                            .filter_map(|(p, j)| b.binary_search(j).ok().map(|q| (p as u32, q as u32)))
                            .collect();
                        let mut to = vec![(9, 9); m.min(n)];
                        let len = common.positions(&a, &b, &mut to);
                        assert_eq!(&to[..len], &want[..], "{by:?} {m} {n} {width}");
                    }
                }
            }
            let last = [I::cast(0), I::cast(u32::MAX as usize)];
            let mut to = [(0, 0); 2];
            assert_eq!((common.positions(&last, &last, &mut to), to), (2, [(0, 0), (1, 1)]));
        }
        check::<u32>(Registers::None);
        check::<u64>(Registers::new::<u64>());
        #[cfg(target_arch = "x86_64")]
        {
            if crate::simd::has_v3() {
                check::<u32>(Registers::Eight);
            }
            if crate::simd::has_v4() {
                check::<u32>(Registers::Sixteen);
            }
        }
    }
}
