//! Transposition of square blocks.

use std::any::Any;

/// Transposes `block`: in registers for 8 × 8 of f64 and 16 × 16 of f32 on processors with AVX-512.
#[inline(always)]
pub(crate) fn transpose_block<T: Copy + 'static, const W: usize>(block: &mut [[T; W]; W]) {
    #[cfg(target_arch = "x86_64")]
    if super::has_v4() {
        let any: &mut dyn Any = block;
        if let Some(block) = any.downcast_mut::<[[f64; 8]; 8]>() {
            // SAFETY: the processor has AVX-512.
            return unsafe { v4::transpose_f64(block) };
        }
        if let Some(block) = any.downcast_mut::<[[f32; 16]; 16]>() {
            // SAFETY: the processor has AVX-512.
            return unsafe { v4::transpose_f32(block) };
        }
    }
    let from = *block;
    for (i, row) in block.iter_mut().enumerate() {
        for (x, line) in row.iter_mut().zip(&from) {
            *x = line[i];
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod v4 {
    use std::arch::x86_64::*;

    /// Selects lanes 0 and 2, or 1 and 3, of both operands.
    const EVEN: i32 = 0x88;
    const ODD: i32 = 0xdd;

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn transpose_f64(block: &mut [[f64; 8]; 8]) {
        let mut r = [_mm512_setzero_pd(); 8];
        for (r, row) in r.iter_mut().zip(&*block) {
            // SAFETY: a row is eight values.
            *r = unsafe { _mm512_loadu_pd(row.as_ptr()) };
        }
        // Interleaved pairs of rows: the even columns, the odd columns, each over four lanes.
        macro_rules! pairs {
            ($unpack:ident) => {
                [$unpack(r[0], r[1]), $unpack(r[2], r[3]), $unpack(r[4], r[5]), $unpack(r[6], r[7])]
            };
        }
        let halves = [pairs!(_mm512_unpacklo_pd), pairs!(_mm512_unpackhi_pd)];
        for (odd, [a, b, c, d]) in halves.into_iter().enumerate() {
            let (u, v) = (_mm512_shuffle_f64x2::<EVEN>(a, b), _mm512_shuffle_f64x2::<EVEN>(c, d));
            let (x, y) = (_mm512_shuffle_f64x2::<ODD>(a, b), _mm512_shuffle_f64x2::<ODD>(c, d));
            r[odd] = _mm512_shuffle_f64x2::<EVEN>(u, v);
            r[odd + 4] = _mm512_shuffle_f64x2::<ODD>(u, v);
            r[odd + 2] = _mm512_shuffle_f64x2::<EVEN>(x, y);
            r[odd + 6] = _mm512_shuffle_f64x2::<ODD>(x, y);
        }
        for (r, row) in r.iter().zip(block) {
            // SAFETY: a row is eight values.
            unsafe { _mm512_storeu_pd(row.as_mut_ptr(), *r) };
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn transpose_f32(block: &mut [[f32; 16]; 16]) {
        let zero = _mm512_setzero_ps();
        let mut quads = [[zero; 4]; 4];
        for (quad, rows) in quads.iter_mut().zip(block.as_chunks::<4>().0) {
            // SAFETY: a row is sixteen values.
            let [a, b, c, d] = rows.each_ref().map(|row| unsafe { _mm512_loadu_ps(row.as_ptr()) });
            // Column j of four rows in each lane, for j = 0 to 3.
            let low = (_mm512_castps_pd(_mm512_unpacklo_ps(a, b)), _mm512_castps_pd(_mm512_unpacklo_ps(c, d)));
            let high = (_mm512_castps_pd(_mm512_unpackhi_ps(a, b)), _mm512_castps_pd(_mm512_unpackhi_ps(c, d)));
            *quad = [
                _mm512_castpd_ps(_mm512_unpacklo_pd(low.0, low.1)),
                _mm512_castpd_ps(_mm512_unpackhi_pd(low.0, low.1)),
                _mm512_castpd_ps(_mm512_unpacklo_pd(high.0, high.1)),
                _mm512_castpd_ps(_mm512_unpackhi_pd(high.0, high.1)),
            ];
        }
        for j in 0..4 {
            let [a, b, c, d] = [quads[0][j], quads[1][j], quads[2][j], quads[3][j]];
            let (u, v) = (_mm512_shuffle_f32x4::<EVEN>(a, b), _mm512_shuffle_f32x4::<EVEN>(c, d));
            let (x, y) = (_mm512_shuffle_f32x4::<ODD>(a, b), _mm512_shuffle_f32x4::<ODD>(c, d));
            let columns = [
                _mm512_shuffle_f32x4::<EVEN>(u, v),
                _mm512_shuffle_f32x4::<EVEN>(x, y),
                _mm512_shuffle_f32x4::<ODD>(u, v),
                _mm512_shuffle_f32x4::<ODD>(x, y),
            ];
            for (lane, column) in columns.into_iter().enumerate() {
                // SAFETY: a row is sixteen values.
                unsafe { _mm512_storeu_ps(block[4 * lane + j].as_mut_ptr(), column) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Copy + PartialEq + std::fmt::Debug + 'static, const W: usize>(number: impl Fn(usize) -> T) {
        let mut block = [[number(0); W]; W];
        for (i, row) in block.iter_mut().enumerate() {
            for (j, x) in row.iter_mut().enumerate() {
                *x = number(100 * i + j);
            }
        }
        transpose_block(&mut block);
        for (i, row) in block.iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                assert_eq!(*x, number(100 * j + i), "{i}, {j} of {W}");
            }
        }
    }

    #[test]
    fn every_block_is_transposed() {
        check::<f64, 8>(|i| i as f64);
        check::<f32, 16>(|i| i as f32);
        check::<f64, 4>(|i| i as f64);
        check::<f32, 8>(|i| i as f32);
        check::<u64, 8>(|i| i as u64);
        check::<i16, 16>(|i| i as i16);
    }
}
