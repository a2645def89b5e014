//! Rows equal to other rows shifted by some columns.

use super::sort::{Registers, spare};
use crate::{Index, Result};

/// Compares and shifts rows with the processor's vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shift {
    by: Registers,
}

impl Shift {
    /// For columns of type `I`.
    pub(crate) fn new<I: Index>() -> Self {
        Self { by: Registers::new::<I>() }
    }

    /// Whether each column of `row` is that of `before` plus `by`, modulo the size of their type.
    #[inline(always)]
    pub(crate) fn is<I: Index>(self, row: &[I], before: &[I], by: I) -> bool {
        if row.len() != before.len() {
            return false;
        }
        #[cfg(target_arch = "x86_64")]
        if self.by == Registers::Sixteen {
            // SAFETY: the processor has AVX-512, `I` is `u32`, and the rows have equal lengths.
            return unsafe { v4::is_shifted(row.as_ptr().cast(), before.as_ptr().cast(), row.len(), by.get() as u32) };
        }
        row.iter().zip(before).all(|(j, k)| *j == k.wrapping_add(by))
    }

    /// Appends the last `n` columns of `out` once more, each plus `by`, modulo the size of their type.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    /// # Panics
    /// If `out` has fewer columns.
    #[inline(always)]
    pub(crate) fn repeat<I: Index>(self, out: &mut Vec<I>, n: usize, by: I) -> Result<()> {
        assert!(n <= out.len());
        let to = spare(out, n)?;
        #[cfg(target_arch = "x86_64")]
        if self.by == Registers::Sixteen {
            // SAFETY: the processor has AVX-512 and `I` is `u32`; `to` has room for `n` columns, and as many precede
            // it.
            unsafe {
                v4::repeat(to.cast(), n, by.get() as u32);
                out.set_len(out.len() + n);
            }
            return Ok(());
        }
        let start = out.len();
        out.extend_from_within(start - n..);
        out[start..].iter_mut().for_each(|j| *j = j.wrapping_add(by));
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
mod v4 {
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_mask_cmpneq_epi32_mask, _mm512_mask_storeu_epi32, _mm512_maskz_loadu_epi32,
        _mm512_set1_epi32,
    };

    /// The mask of the first `n` lanes, or of all.
    #[inline(always)]
    fn lanes(n: usize) -> u16 {
        if n >= 16 { u16::MAX } else { (1 << n) - 1 }
    }

    /// Whether `row[q] = before[q] + by` for all q < n.
    /// # Safety
    /// The processor must have AVX-512, and both be valid for `n` columns.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) unsafe fn is_shifted(row: *const u32, before: *const u32, n: usize, by: u32) -> bool {
        let by = _mm512_set1_epi32(by as i32);
        let mut q = 0;
        while q < n {
            let mask = lanes(n - q);
            // SAFETY: lanes from n on are masked out, and not read.
            let (j, k) = unsafe {
                (
                    _mm512_maskz_loadu_epi32(mask, row.add(q).cast()),
                    _mm512_maskz_loadu_epi32(mask, before.add(q).cast()),
                )
            };
            if _mm512_mask_cmpneq_epi32_mask(mask, j, _mm512_add_epi32(k, by)) != 0 {
                return false;
            }
            q += 16;
        }
        true
    }

    /// Writes the `n` columns before `to` to `to`, each plus `by`.
    /// # Safety
    /// The processor must have AVX-512, and `to` be valid for `n` columns, with as many before it.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) unsafe fn repeat(to: *mut u32, n: usize, by: u32) {
        let by = _mm512_set1_epi32(by as i32);
        let mut q = 0;
        while q < n {
            let mask = lanes(n - q);
            // SAFETY: lanes from n on are masked out, and neither read nor written; all reads are before `to`, where
            // nothing is written.
            unsafe {
                let cols = _mm512_maskz_loadu_epi32(mask, to.sub(n).add(q).cast());
                _mm512_mask_storeu_epi32(to.add(q).cast(), mask, _mm512_add_epi32(cols, by));
            }
            q += 16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of any length, of both index types, with one column that differs: vectors agree with the scalar loop.
    #[test]
    fn agrees_with_a_plain_loop() {
        fn check<I: Index>(by: Shift) {
            for n in 0..70 {
                let row: Vec<I> = (0..n).map(|j| I::cast(j * j % 97)).collect();
                for off in [0usize, 1, 1000] {
                    let mut shifted: Vec<I> = row.iter().map(|j| I::cast(j.get() + off)).collect();
                    assert!(by.is(&shifted, &row, I::cast(off)));
                    assert!(by.is(&row, &shifted, I::cast(0).wrapping_sub(I::cast(off))));
                    for q in 0..n {
                        shifted[q] = shifted[q].wrapping_add(I::cast(1));
                        assert!(!by.is(&shifted, &row, I::cast(off)), "{n} columns, {q}");
                        shifted[q] = shifted[q].wrapping_sub(I::cast(1));
                    }
                    let mut out = vec![I::cast(5); 3];
                    out.extend(&row);
                    by.repeat(&mut out, n, I::cast(off)).unwrap();
                    assert_eq!(out[3 + n..], shifted);
                    by.repeat(&mut out, n, I::cast(0).wrapping_sub(I::cast(off))).unwrap();
                    assert_eq!(out[3 + 2 * n..], row);
                }
            }
            assert!(!by.is(&[I::cast(1)], &[], I::cast(0)));
        }
        for by in [Shift::new::<u32>(), Shift { by: Registers::None }] {
            check::<u32>(by);
        }
        check::<u64>(Shift::new::<u64>());
    }
}
