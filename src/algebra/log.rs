//! Branch-free x ln x, so that loops over it vectorize.
//!
//! With x = 2ᵉ m and m in [√½, √2), ln x = e ln 2 + 2 artanh(s), s = (m − 1)/(m + 1), and |s| ≤ 0.172 makes the series
//! artanh s = s + s³/3 + s⁵/5 + … short. Source: the series of the inverse hyperbolic tangent.

macro_rules! x_ln_x {
    ($name:ident $t:ident $bits:ident $signed:ident, digits $digits:literal, half $half:literal, magic $magic:literal, tiny $tiny:literal $lift:literal,
        series [$($c:literal)*]) => {
        /// x ln x; 0 for 0, NaN below 0.
        #[inline(always)]
        pub(super) fn $name(x: $t) -> $t {
            // Subnormal numbers are scaled into the normal range.
            let tiny = x < $tiny;
            let lifted = if tiny { x * $lift } else { x };
            let bits = lifted.to_bits() as $signed;
            // $half is √½: the difference of the bits, shifted right by the mantissa width, is e.
            // Wrapping, for −0 and negative numbers close to it.
            let exponent = bits.wrapping_sub(($half as $t).to_bits() as $signed) >> $digits;
            let m = $t::from_bits(bits.wrapping_sub(exponent << $digits) as $bits);
            // Adding an integer below 2^22 to the mantissa bits of a large float adds the integer to its value.
            let e = $t::from_bits((($magic as $t).to_bits() as $signed + exponent) as $bits) - $magic;
            let e = if tiny { e - ($lift as $t).log2() } else { e };
            let s = (m - 1.0) / (m + 1.0);
            let z = s * s;
            let series = [$($c,)*].into_iter().rev().fold(0.0, |sum: $t, c: $t| sum * z + 1.0 / c);
            let ln = e * std::$t::consts::LN_2 + (s + s) * (1.0 + z * series);
            let ln = if x < 0.0 { $t::NAN } else { ln };
            x * ln
        }
    };
}
x_ln_x!(f64 f64 u64 i64, digits 52, half 0.707_106_781_186_547_5, magic 6_755_399_441_055_744.0, tiny 2.3e-308 18_014_398_509_481_984.0,
    series [3.0 5.0 7.0 9.0 11.0 13.0 15.0 17.0 19.0 21.0]);
x_ln_x!(f32 f32 u32 i32, digits 23, half 0.707_106_77, magic 12_582_912.0, tiny 1.2e-38 16_777_216.0, series [3.0 5.0 7.0 9.0 11.0]);

#[cfg(test)]
mod tests {
    #[test]
    fn close_to_the_logarithm() {
        assert_eq!(super::f64(0.0), 0.0);
        assert_eq!(super::f64(1.0), 0.0);
        assert_eq!(super::f32(0.0), 0.0);
        assert!((super::f64(-0.0), super::f32(-0.0)) == (0.0, 0.0));
        for x in [-5e-324, -1e-300, -1.0, f64::MIN, f64::NEG_INFINITY, f64::NAN] {
            assert!(super::f64(x).is_nan(), "{x:e}");
        }
        for x in [-1e-45, -1e-30, -1.0, f32::MIN, f32::NEG_INFINITY, f32::NAN] {
            assert!(super::f32(x).is_nan(), "{x:e}");
        }
        assert_eq!(super::f64(f64::INFINITY), f64::INFINITY);
        let mut x = 5e-324f64;
        while x < 1e308 {
            let (ours, exact) = (super::f64(x), x * x.ln());
            assert!(
                ours == exact || (ours - exact).abs() <= 4.0 * f64::EPSILON * exact.abs() + 1e-323,
                "{x:e}: {ours:e} {exact:e}"
            );
            let y = x as f32;
            let (ours, exact) = (super::f32(y), if y == 0.0 { 0.0 } else { y * y.ln() });
            let right = if exact.is_finite() {
                (ours - exact).abs() <= 4.0 * f32::EPSILON * exact.abs() + 1e-44
            } else {
                ours == exact
            };
            assert!(right, "{y:e}: {ours:e} {exact:e}");
            x = x * 1.0173 + 5e-324;
        }
    }
}
